// One walk over a kernel, in order, that rebuilds every region's list: what passes with local rewrites share.
#pragma once
#include <optional>
#include <vector>

#include "mt/ir/edit.h"

namespace mt {

class Rewriter {
 public:
  explicit Rewriter(Kernel& k) : k_(k) {}
  virtual ~Rewriter() = default;
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  /// Whether anything changed.
  bool run();

 protected:
  /// Sees every instruction in order, its operands already replaced and its regions not yet walked. False drops it; its
  /// results must then have been replaced. May emit before it through here(), which moves the instruction table.
  virtual bool visit(InstId i) = 0;
  /// After the regions of a kept control instruction.
  virtual void leave(InstId) {}
  virtual void enter_region(RegionId) {}
  virtual void leave_region(RegionId) {}

  /// All later uses of `from` become `to`.
  void replace(ValueId from, ValueId to);
  ValueId resolve(ValueId v) const;
  /// Emits at the place of the walk, with the source place of the instruction being visited.
  Builder here() const;
  /// Walks the instructions of `r` into the place of the walk; its yields can be resolved afterwards.
  void inline_region(RegionId r);
  /// Turns an instruction into a constant.
  void make_constant(InstId i, std::uint64_t bits);

  /// Bits of a constant (of every lane), else nothing.
  std::optional<std::uint64_t> constant(ValueId v) const {
    const Inst* def = k_.def(v);
    return def && def->op == Op::Const ? std::optional(def->bits) : std::nullopt;
  }

  Kernel& k_;
  RegionId region_ = RegionId::Root;
  bool changed_ = false;

 private:
  void walk_region(RegionId r);
  void walk_list(const std::vector<InstId>& list);

  std::vector<ValueId> instead_;
  Loc loc_;
};

}  // namespace mt
