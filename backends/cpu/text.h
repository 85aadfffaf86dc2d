// Writes LLVM IR as text: operands with their types, fresh names, blocks, stack slots.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mt/base/dtype.h"

namespace mt::cpu {

/// Element types of the text. f16 and bf16 values travel as I16 and are widened where they are computed with.
enum class El : std::uint8_t { I1, I8, I16, I32, I64, F32, F64, F16, BF16, Ptr };
std::string_view name_of(El e);
int bytes_of(El e);

/// An operand: a constant or a named value of `n` elements (1: a scalar, not a vector).
struct Ref {
  std::string name;
  El el = El::I32;
  int n = 1;
  bool operator==(const Ref&) const = default;
};

/// Element type that holds a value of the dtype in a register, and in memory.
El el_of(DType t);
El memory_el_of(DType t);
std::string type_name(El e, int n);
inline std::string type_name(const Ref& r) { return type_name(r.el, r.n); }

class Writer {
 public:
  /// The target has AVX-512 F and DQ.
  bool avx512 = false;

  // Constants; n > 1 repeats them.
  static Ref integer(El el, std::int64_t v, int n = 1);
  static Ref f32(float v, int n = 1);
  static Ref f64(double v, int n = 1);
  static Ref zero(El el, int n = 1);
  /// `bits` of a dtype as a constant of its register type.
  static Ref constant(DType t, std::uint64_t bits, int n = 1);
  static Ref integers(El el, const std::vector<std::int64_t>& values);

  Ref bin(std::string_view op, const Ref& a, const Ref& b);
  Ref cmp(std::string_view op, const Ref& a, const Ref& b);  // op: "icmp ult", "fcmp oeq", ...
  Ref neg(const Ref& a);
  Ref cast(std::string_view op, const Ref& a, El to);
  /// Reinterprets a whole operand as `n` elements of `to`.
  Ref bitcast(const Ref& a, El to, int n);
  Ref select(const Ref& condition, const Ref& a, const Ref& b);
  /// An intrinsic overloaded on its first argument's type, with a result of that type.
  Ref call(std::string_view intrinsic, const std::vector<Ref>& args);
  /// A call of any function; `result` gives the type.
  Ref call_as(std::string_view function, El el, int n, const std::vector<Ref>& args);
  Ref shuffle(const Ref& a, const Ref& b, const std::vector<int>& mask);
  Ref splat(const Ref& scalar, int n);
  Ref extract(const Ref& v, int lane);
  Ref insert(const Ref& v, const Ref& scalar, int lane);
  /// Calls a function of `piece` elements on each piece of longer operands; constant operands follow as they are.
  Ref call_pieces(std::string_view function, El el, int piece, const std::vector<Ref>& args,
                  const std::vector<Ref>& constants = {});
  /// Elements [from, from + count) of v.
  Ref slice(const Ref& v, int from, int count);
  /// a and b end to end; they must be equally long.
  Ref join(const Ref& a, const Ref& b);
  /// All of them end to end: a power of two, equally long.
  Ref join(std::vector<Ref> parts);

  /// Address of element `index` (any integer operand, taken as is) of an array of `el` at `pointer`.
  Ref element(const Ref& pointer, El el, const Ref& index);
  Ref load(El el, int n, const Ref& pointer, int align, std::string_view metadata = "");
  void store(const Ref& v, const Ref& pointer, int align, std::string_view metadata = "");
  /// A slot of the stack frame, aligned to 64.
  Ref stack(El el, int n);
  Ref get(const Ref& slot, El el, int n) { return load(el, n, slot, 64); }
  void set(const Ref& slot, const Ref& v) { store(v, slot, 64); }

  std::string label(std::string_view hint);
  void place(const std::string& label);  // starts a block; falls through from an open one
  void jump(const std::string& label);
  void branch(const Ref& condition, const std::string& then, const std::string& other);
  void line(std::string_view text);
  Ref emit(El el, int n, std::string_view text);

  /// Adds a definition or declaration outside the function, once per text.
  void outside(const std::string& text);
  /// Whether a helper of that name has been asked for before; remembers it.
  bool first_use(const std::string& name);
  /// Body of the function so far, stack slots first.
  std::string function(std::string_view head, std::string_view attributes) const;
  std::string others() const;
  /// Starts a function outside of the one being written, and ends it again.
  struct Frame {
    std::string body, slots;
    bool open = true;
  };
  Frame enter();
  void leave(Frame outer, std::string_view head, std::string_view attributes);

 private:
  struct TypeOf {  // spelled as a type
    El el;
    int n;
  };
  void add(std::string_view text) { body_ += text; }
  void add(int number) { body_ += std::to_string(number); }
  void add(TypeOf t);
  /// A typed operand.
  void add(const Ref& r) {
    add(TypeOf{r.el, r.n});
    body_ += ' ';
    body_ += r.name;
  }
  /// Appends an instruction piece by piece; texts are long enough for formatting to matter.
  template <class... Piece>
  Ref made(El el, int n, const Piece&... pieces) {
    Ref r{"%v" + std::to_string(next_++), el, n};
    start();
    body_ += r.name;
    body_ += " = ";
    (add(pieces), ...);
    body_ += '\n';
    return r;
  }
  void start();
  std::string body_, slots_;
  std::vector<std::string> outside_, used_;
  int next_ = 0;
  bool open_ = true;  // the current block has no terminator yet
};

}  // namespace mt::cpu
