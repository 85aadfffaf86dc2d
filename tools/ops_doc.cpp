// Prints docs/ops.md from the op table.
#include <fmt/format.h>

#include "mt/ir/opcode.h"

namespace mt {
namespace {

std::string_view text_of(DTypeClass c) {
  switch (c) {
    case kAny:
      return "any";
    case kNumber:
      return "numbers";
    case kFloat:
      return "floats";
    case kInt:
      return "integers";
    case kIntBool:
      return "integers, bool";
    case kUnsigned32:
      return "u32";
    case kBoolFirst:
      return "bool first";
  }
  return "";
}

std::string_view text_of(TypeRule r) {
  switch (r) {
    case TypeRule::Given:
      return "own";
    case TypeRule::Same:
      return "same";
    case TypeRule::Pred:
      return "bool";
    case TypeRule::Void:
      return "none";
  }
  return "";
}

std::string_view text_of(Effect e) {
  switch (e) {
    case Effect::Pure:
      return "";
    case Effect::Reads:
      return "reads";
    case Effect::Writes:
      return "writes";
    case Effect::ReadsWrites:
      return "reads, writes";
    case Effect::Allocs:
      return "allocates";
    case Effect::Converges:
      return "lanes meet";
    case Effect::Syncs:
      return "threads meet";
    case Effect::Control:
      return "control";
  }
  return "";
}

std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? "\\|" : std::string(1, c);
  return safe;
}

void print_page() {
  fmt::print(
      "# Operations\n\nMade by `tools/gen_docs.sh` from `mt/ir/ops.def`; edit the table, not this page.\n\n"
      "{} ops. *On* says which dtypes the first operand may have, *result* whether the result has its type. *ULP* "
      "bounds "
      "the f32\nerror of every target; 0 is exact or correctly rounded. An op without an effect is pure.\n\n"
      "`tests/conformance` holds every op and dtype to that on the interpreter, the CPU, and the Metal and CUDA text "
      "as "
      "the host runs\nit, against a reference in double that shares nothing with the table: all 65,536 values of f16 "
      "and bf16 and values of every\nexponent of f32 for ops of one operand, edge values crossed with each other for "
      "the rest. A function of f16 or bf16 is computed in\nf32 within its bound and rounded once more, so that it is "
      "off by half a unit of its own last place and ULP / 8192 (f16) or\nULP / 65536 (bf16) of one at most. NaN gives "
      "NaN, and a result that is exactly zero has its sign.\n\n"
      "| Op | Operands | On | Result | Effect | ULP | Meaning |\n| :-- | --: | :-- | :-- | :-- | --: | :-- |\n",
      op_count());
  for (int i = 0; i < op_count(); ++i) {
    const OpInfo& op = info(static_cast<Op>(i));
    std::string meaning = op.c ? fmt::format("`{}`", op.c) : "";
    if (!op.doc.empty()) meaning += (meaning.empty() ? "" : ": ") + std::string(op.doc);
    fmt::print("| `{}` | {} | {} | {} | {} | {} | {} |\n", op.name, op.arity < 0 ? "any" : std::to_string(op.arity),
               text_of(op.on), text_of(op.type), text_of(op.effect), op.ulp, cell(meaning));
  }
}

}  // namespace
}  // namespace mt

int main() {
  mt::print_page();
  return 0;
}
