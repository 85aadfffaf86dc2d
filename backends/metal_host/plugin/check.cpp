// A plugin of clang 19: rules of the Metal Shading Language that its OpenCL mode does not have. It reads the lowered
// text, and says what it finds in Metal's words.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

namespace {
using namespace clang;

constexpr unsigned kThreadgroupBytes = 32768;

/// Whether the expression asks the runtime for a threadgroup array.
bool asks_for_threadgroup_memory(const Stmt* s) {
  if (!s) return false;
  if (const auto* r = dyn_cast<DeclRefExpr>(s))
    if (const auto* f = dyn_cast<FunctionDecl>(r->getDecl()))
      if (f->getDeclName().isIdentifier() && f->getName() == "msl_rt_threadgroup") return true;
  for (const Stmt* child : s->children())
    if (asks_for_threadgroup_memory(child)) return true;
  return false;
}

class Visitor : public RecursiveASTVisitor<Visitor> {
 public:
  explicit Visitor(CompilerInstance& compiler)
      : context_(compiler.getASTContext()),
        sources_(compiler.getSourceManager()),
        diagnostics_(compiler.getDiagnostics()) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return false; }

  bool VisitImplicitCastExpr(ImplicitCastExpr* e) {
    if (e->getCastKind() == CK_FloatingCast && is_bfloat(e->getType()) && !e->isPartOfExplicitCast())
      error(e->getExprLoc(),
            "no implicit conversion from '" + name(e->getSubExpr()->getType()) + "' to 'bfloat'; write bfloat(...)");
    return true;
  }

  bool VisitCompoundAssignOperator(CompoundAssignOperator* e) {
    const QualType computed = e->getComputationResultType();
    if (is_bfloat(e->getLHS()->getType()) && computed->isRealFloatingType() && !is_bfloat(computed))
      error(e->getOperatorLoc(), "no implicit conversion from '" + name(computed) + "' to 'bfloat'; write bfloat(...)");
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator* e) {
    if (!e->isAdditiveOp() && !e->isMultiplicativeOp() && !e->isComparisonOp()) return true;
    const QualType l = e->getLHS()->IgnoreParenImpCasts()->getType(), r = e->getRHS()->IgnoreParenImpCasts()->getType();
    if ((is_bfloat(l) && r->isHalfType()) || (is_bfloat(r) && l->isHalfType()))
      error(e->getOperatorLoc(), "arithmetic between '" + name(l) + "' and '" + name(r) + "'; convert one of them");
    return true;
  }

  bool VisitVarDecl(VarDecl* d) {
    if (d->isImplicit() || d->isInvalidDecl()) return true;
    const QualType t = d->getType();
    if (t->isDependentType()) return true;
    const bool shared = d->hasGlobalStorage() && t.getAddressSpace() == LangAS::opencl_global &&
                        d->getStorageClass() != SC_Extern && !annotated(d);
    if (shared && d->isStaticLocal())
      error(d->getLocation(), "static variable '" + d->getName().str() + "' must be in the constant address space");
    else if (shared && d->isFileVarDecl() && !d->isStaticDataMember())
      error(d->getLocation(),
            "program scope variable '" + d->getName().str() + "' must be in the constant address space");
    if (d->hasInit() && !isa<ParmVarDecl>(d)) bind(t, d->getInit());
    if (!d->isInitCapture()) space_given(t, d->getLocation());
    if (function_ && d->hasInit() && t->isReferenceType() &&
        t->getPointeeType().getAddressSpace() == LangAS::opencl_local && asks_for_threadgroup_memory(d->getInit()))
      threadgroup_bytes_ += static_cast<uint64_t>(context_.getTypeSizeInChars(t->getPointeeType()).getQuantity());
    return true;
  }

  bool VisitFieldDecl(FieldDecl* d) {
    const auto* record = dyn_cast<CXXRecordDecl>(d->getDeclContext());
    if (!d->isImplicit() && !(record && record->isLambda())) space_given(d->getType(), d->getLocation());
    return true;
  }

  bool VisitReturnStmt(ReturnStmt* s) {
    if (function_ && lambdas_ == 0 && s->getRetValue()) bind(function_->getReturnType(), s->getRetValue());
    return true;
  }
  bool TraverseLambdaExpr(LambdaExpr* e) {
    ++lambdas_;
    const bool go_on = RecursiveASTVisitor::TraverseLambdaExpr(e);
    --lambdas_;
    return go_on;
  }

  bool VisitCallExpr(CallExpr* e) {
    const FunctionDecl* f = e->getDirectCallee();
    if (!f) return true;
    if (is_user(f->getLocation()) && !isa<CXXOperatorCallExpr>(e))
      for (unsigned i = 0; i < e->getNumArgs() && i < f->getNumParams(); ++i)
        bind(f->getParamDecl(i)->getType(), e->getArg(i));
    if (function_) calls_[function_->getCanonicalDecl()].insert(f->getCanonicalDecl());
    return true;
  }

  bool TraverseFunctionDecl(FunctionDecl* f) {
    return in_function(f, [&] { return RecursiveASTVisitor::TraverseFunctionDecl(f); });
  }
  bool TraverseCXXMethodDecl(CXXMethodDecl* f) {
    return in_function(f, [&] { return RecursiveASTVisitor::TraverseCXXMethodDecl(f); });
  }

  /// Once everything was visited.
  void report_recursion() {
    for (const auto& [start, direct] : calls_) {
      std::set<const FunctionDecl*> seen;
      std::vector<const FunctionDecl*> left(direct.begin(), direct.end());
      while (!left.empty()) {
        const FunctionDecl* f = left.back();
        left.pop_back();
        if (f == start) {
          error(f->getLocation(),
                "recursive function '" + f->getNameAsString() + "'; the Metal Shading Language has no recursion");
          break;
        }
        if (!seen.insert(f).second) continue;
        const auto it = calls_.find(f);
        if (it != calls_.end()) left.insert(left.end(), it->second.begin(), it->second.end());
      }
    }
  }

 private:
  template <class F>
  bool in_function(FunctionDecl* f, F traverse) {
    const FunctionDecl* outer = function_;
    const uint64_t outer_bytes = threadgroup_bytes_;
    function_ = f;
    threadgroup_bytes_ = 0;
    const bool go_on = traverse();
    if (threadgroup_bytes_ > kThreadgroupBytes)
      report(DiagnosticsEngine::Warning, f->getLocation(),
             "kernel '" + f->getNameAsString() + "' has " + std::to_string(threadgroup_bytes_) +
                 " bytes of threadgroup memory, more than 32768");
    function_ = outer;
    threadgroup_bytes_ = outer_bytes;
    return go_on;
  }

  bool is_user(SourceLocation l) const {
    return l.isValid() && sources_.getFileID(sources_.getExpansionLoc(l)) == sources_.getMainFileID();
  }
  static bool is_bfloat(QualType t) { return !t.isNull() && t->isSpecificBuiltinType(BuiltinType::BFloat16); }
  static bool annotated(const VarDecl* d) {
    for (const auto* a : d->specific_attrs<AnnotateAttr>())
      if (a->getAnnotation() == "msl_constant") return true;
    return false;
  }
  std::string name(QualType t) const { return t.getUnqualifiedType().getAsString(context_.getPrintingPolicy()); }

  void report(DiagnosticsEngine::Level level, SourceLocation l, const std::string& text) {
    if (!is_user(l) || !said_.insert({l.getRawEncoding(), text}).second) return;
    diagnostics_.Report(l, level == DiagnosticsEngine::Error
                               ? diagnostics_.getCustomDiagID(DiagnosticsEngine::Error, "%0")
                               : diagnostics_.getCustomDiagID(DiagnosticsEngine::Warning, "%0"))
        << text;
  }
  void error(SourceLocation l, const std::string& text) { report(DiagnosticsEngine::Error, l, text); }

  /// A pointer or reference without an address space points to thread memory; a reference to const is also made where
  /// the text says `const thread`.
  void space_given(QualType t, SourceLocation l) {
    if (t.isNull() || t->isDependentType() || !(t->isPointerType() || t->isReferenceType())) return;
    const QualType to = t->getPointeeType();
    if (to.getAddressSpace() != LangAS::opencl_generic || to->isFunctionType()) return;
    if (t->isReferenceType() && to.isConstQualified()) return;
    report(DiagnosticsEngine::Warning, l,
           std::string(t->isPointerType() ? "pointer" : "reference") + " of type '" + name(t) +
               "' has no address space; it is taken as thread");
  }

  /// Memory of the device or the threadgroup does not bind to what is taken as thread.
  void bind(QualType to, const Expr* from) {
    if (!(to->isPointerType() || to->isReferenceType())) return;
    if (to->getPointeeType().getAddressSpace() != LangAS::opencl_generic) return;
    const Expr* e = from->IgnoreParenImpCasts();
    const QualType t = e->getType();
    LangAS space = LangAS::Default;
    if (to->isReferenceType() || t->isArrayType())
      space = t.getAddressSpace();
    else if (t->isPointerType())
      space = t->getPointeeType().getAddressSpace();
    if (space == LangAS::opencl_global || space == LangAS::opencl_local)
      error(e->getExprLoc(), std::string("no conversion from the ") +
                                 (space == LangAS::opencl_global ? "device" : "threadgroup") +
                                 " address space to the thread address space of '" + name(to) + "'");
  }

  ASTContext& context_;
  SourceManager& sources_;
  DiagnosticsEngine& diagnostics_;
  std::set<std::pair<unsigned, std::string>> said_;
  std::map<const FunctionDecl*, std::set<const FunctionDecl*>> calls_;
  const FunctionDecl* function_ = nullptr;
  uint64_t threadgroup_bytes_ = 0;
  int lambdas_ = 0;  // around what is visited: their returns are not the function's
};

class Consumer : public ASTConsumer {
 public:
  explicit Consumer(CompilerInstance& compiler) : compiler_(compiler) {}
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) decls_.push_back(d);
    return true;
  }
  void HandleTranslationUnit(ASTContext&) override {
    if (compiler_.getDiagnostics().hasErrorOccurred()) return;
    Visitor visitor(compiler_);
    const std::vector<Decl*> all = std::move(decls_);  // while it reads precompiled ones, more are handed in
    for (Decl* d : all) visitor.TraverseDecl(d);
    visitor.report_recursion();
  }

 private:
  CompilerInstance& compiler_;
  std::vector<Decl*> decls_;  // of the text; what was precompiled is not among them
};

class Action : public PluginASTAction {
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, StringRef) override {
    return std::make_unique<Consumer>(compiler);
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<Action> registered("msl-check", "rules of the Metal Shading Language");

}  // namespace
