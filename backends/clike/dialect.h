// What differs between the C-like languages: names of types, spellings that the op table does not give, the head of a
// kernel and the helpers that it may call.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "backends/clike/legalise.h"
#include "mt/base/error.h"
#include "mt/ir/kernel.h"

namespace mt::clike {

/// A function or type that printed text needs: an entry of the dialect's prelude for one type.
struct Need {
  std::string name;
  Type type;
  int variant = 0;  // Combine of a collective or atomic, Space of an atomic, source dtype of a bitcast
  auto operator<=>(const Need& o) const {
    const auto key = [](const Need& n) { return std::tuple(n.type.dtype, n.type.lanes, n.variant); };
    if (const auto by_name = name.compare(o.name); by_name != 0) return by_name <=> 0;
    return key(*this) <=> key(o);
  }
  bool operator==(const Need& o) const { return (*this <=> o) == 0; }
};
using Needs = std::set<Need>;

/// An expression and how tightly its outermost operator binds.
struct Expr {
  std::string text;
  int level = 0;       // one of Level
  bool reads = false;  // contains a load
};
enum Level : int {
  kTernary = 3,
  kLogicalOr = 4,
  kLogicalAnd = 5,
  kBitOr = 6,
  kBitXor = 7,
  kBitAnd = 8,
  kEquality = 9,
  kRelational = 10,
  kShift = 11,
  kSum = 12,
  kProduct = 13,
  kUnary = 15,
  kPrimary = 16
};

/// A product of a team, in text: the address of its rhs, words of lhs blocks and elements of acc blocks row by row.
struct TeamProduct {
  DType operands;
  int deep;                            // lhs blocks of a row
  bool transposed;                     // the rhs runs down the rows of its panels
  std::string panels = {}, rows = {};  // rows: the address of an lhs that lies in panels, each simdgroup's own
  std::vector<std::string> lhs = {}, sums = {};
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  virtual LegaliseOptions legalise_options() const = 0;
  virtual const std::set<std::string, std::less<>>& reserved() const = 0;

  virtual std::string type(Type t) const = 0;
  /// Suffix of an integer literal of a 32- or 64-bit type.
  virtual std::string_view suffix(DType t) const = 0;
  /// The word for infinity; empty where its bits must do.
  virtual std::string infinity() const { return ""; }
  /// Name of a maths function that the op table spells as a call, or that it leaves to the dialect; empty where the
  /// prelude has it (as mt::<op name>).
  virtual std::string function(Op op, Type t) const = 0;
  virtual std::string bitcast(Type from, Type to, const std::string& x, Needs& needs) const = 0;
  /// A conversion that C's own cast makes exactly, except narrow floats where the dialect has no such type.
  virtual std::string convert(Type from, Type to, const std::string& x, Needs& needs) const = 0;
  virtual std::string vector_of(Type t, const std::vector<std::string>& lanes, Needs& needs) const = 0;
  virtual std::string lane(const std::string& vector, int index) const = 0;
  /// `*(...)` for a vector access at `memory + index`.
  virtual std::string vector_access(const Memory& m, Type t, const std::string& address, bool write) const = 0;

  virtual std::string group_id(int axis) const = 0;
  virtual std::string thread_id() const = 0;
  virtual std::string simd_id() const = 0;
  virtual std::string lane_id() const = 0;

  /// The call of a collective on `x`; `other` is the second operand of a shuffle by value.
  virtual std::string collective(const Inst& inst, DType t, const std::string& x, const std::string& other,
                                 Needs& needs) const = 0;
  /// The call of an atomic on `target`, an lvalue. Throws Error where the language has none.
  virtual std::string atomic(const Kernel& k, const Inst& inst, const std::string& target, const std::string& value,
                             Needs& needs) const = 0;
  virtual std::string barrier(bool simd) const = 0;

  /// The call of an mma_block; with matrix_words a statement that changes the first operands, which are variables.
  virtual std::string mma(const Inst& inst, DType operands, const std::vector<std::string>& in, Needs& needs) const = 0;
  // What only languages with matrix_words, or with copies behind the work, have.
  virtual std::string word(DType, bool rounds, const std::string& low, const std::string& high, Needs&) const {
    (void)rounds, (void)low, (void)high;
    MT_ICE("a word of two elements in a language that has none");
  }
  virtual std::string load_matrix(const Inst&, const std::vector<std::string>& out, const std::string& from,
                                  Needs&) const {
    (void)out, (void)from;
    MT_ICE("load_matrix in a language that has none");
  }
  /// `exist`: bytes, or empty where all do.
  virtual std::string copy_async(int bytes, const std::string& to, const std::string& from, const std::string& exist,
                                 Needs&) const {
    (void)bytes, (void)to, (void)from, (void)exist;
    MT_ICE("copy_async in a language that has none");
  }
  /// Statements that begin the product and change its sums, which are variables.
  virtual std::vector<std::string> mma_team(const TeamProduct&, Needs&) const {
    MT_ICE("a product of a team in a language that has none");
  }
  /// `held`: registers that must stay as they are until then.
  virtual std::vector<std::string> mma_wait(int pending, const std::vector<std::string>& sums,
                                            const std::vector<std::string>& held, Needs&) const {
    (void)pending, (void)sums, (void)held;
    MT_ICE("a wait for products in a language that has none");
  }
  virtual std::string copy_group(const Inst& inst, Needs&) const {
    (void)inst;
    MT_ICE("groups of copies in a language that has none");
  }

  /// Everything before the kernel's statements, with the opening brace; `names` gives memories, then scalars.
  virtual std::string head(const Kernel& k, const std::vector<std::string>& names, const std::vector<Op>& ids,
                           const std::vector<bool>& vector_memories, Needs& needs) const = 0;
  /// First lines of an artefact.
  virtual std::string preamble() const = 0;
  /// Text of one prelude entry; adds what it needs itself. Empty where the language has it.
  virtual std::string helper(const Need& need, Needs& needs) const = 0;
};

/// Text of all kernels with one prelude that holds what they use. `places` receives the place in the kernels' source of
/// each line of the text, unknown for the prelude and for heads; the text is the same without it.
std::string print_text(const std::vector<Kernel>& kernels, const Dialect& dialect, std::vector<Loc>* places = nullptr);

}  // namespace mt::clike
