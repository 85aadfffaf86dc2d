#include "backends/cuda/matrix.h"

#include <fmt/format.h>

#include "backends/cuda/dialect.h"

namespace mt::cuda {
namespace {

using clike::Needs;

constexpr const char* kFunction = "static __device__ __forceinline__ ";

std::string joined(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, ", ")); }
const char* ptx_name(DType t) { return t == DType::F16 ? "f16" : "bf16"; }

}  // namespace

std::string CudaDialect::mma(const Inst&, DType operands, const std::vector<std::string>& in, Needs& needs) const {
  needs.insert({"mma", {operands}});
  return fmt::format("mt::mma_{}({})", name_of(operands), joined(in));
}

std::string CudaDialect::word(DType t, bool rounds, const std::string& low, const std::string& high,
                              Needs& needs) const {
  needs.insert({rounds ? "to_word" : "word", {t}});
  return fmt::format("mt::{}({}, {})", rounds ? fmt::format("to_{}x2", name_of(t)) : "word", low, high);
}

std::string CudaDialect::load_matrix(const Inst& inst, const std::vector<std::string>& out, const std::string& from,
                                     Needs& needs) const {
  needs.insert({"load_matrix", {DType::U32}, inst.transposed ? 1 : 0});
  return fmt::format("mt::load_matrix{}({}, {})", inst.transposed ? "_transposed" : "", joined(out), from);
}

std::string CudaDialect::copy_async(int bytes, const std::string& to, const std::string& from, const std::string& exist,
                                    Needs& needs) const {
  needs.insert({"copy_async", {DType::U32}, bytes * 2 + (exist.empty() ? 0 : 1)});
  return fmt::format("mt::copy_async_{}({}, {}{}{})", bytes, to, from, exist.empty() ? "" : ", ", exist);
}

std::string CudaDialect::copy_group(const Inst& inst, Needs& needs) const {
  const bool commit = inst.op == Op::CopyCommit;
  needs.insert({commit ? "copy_commit" : "copy_wait", {DType::U32}, inst.index});
  return commit ? "mt::copy_commit()" : fmt::format("mt::copy_wait_{}()", inst.index);
}

std::string matrix_helper(const clike::Need& need, Needs& needs) {
  const DType t = need.type.dtype;
  if (need.name == "mma")
    return fmt::format(
        "// c += a b of 16 x 16 and 16 x 8 elements that a warp holds together.\n"
        "{0}void mma_{1}(float& c0, float& c1, float& c2, float& c3, uint a0, uint a1, uint a2, uint a3, uint b0,\n"
        "    uint b1) {{\n"
        "  asm volatile(\n"
        "      \"mma.sync.aligned.m16n8k16.row.col.f32.{1}.{1}.f32 {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, \"\n"
        "      \"{{%8, %9}}, {{%0, %1, %2, %3}};\"\n"
        "      : \"+f\"(c0), \"+f\"(c1), \"+f\"(c2), \"+f\"(c3)\n"
        "      : \"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3), \"r\"(b0), \"r\"(b1));\n"
        "}}\n",
        kFunction, ptx_name(t));
  if (need.name == "to_word")
    return fmt::format(
        "// Two elements in a word, rounded to nearest even.\n"
        "{0}uint to_{1}x2(float low, float high) {{\n  uint w;\n"
        "  asm(\"cvt.rn.{1}x2.f32 %0, %1, %2;\" : \"=r\"(w) : \"f\"(high), \"f\"(low));\n  return w;\n}}\n",
        kFunction, ptx_name(t));
  if (need.name == "word") {
    needs.insert({"type", {t}});
    return fmt::format(
        "{0}uint word({1} low, {1} high) {{\n  uint w;\n"
        "  asm(\"mov.b32 %0, {{%1, %2}};\" : \"=r\"(w) : \"h\"(low.bits), \"h\"(high.bits));\n  return w;\n}}\n",
        kFunction, CudaDialect{}.type({t}));
  }
  if (need.name == "shared_address")
    return fmt::format("{}uint shared_address(const void* p) {{ return uint(__cvta_generic_to_shared(p)); }}\n",
                       kFunction);
  if (need.name == "load_matrix") {
    needs.insert({"shared_address", {DType::U32}});
    return fmt::format(
        "// Four 8 x 8 matrices of 16-bit elements; lane l gives the place of row l % 8 of matrix l / 8.\n"
        "{}void load_matrix{}(uint& w0, uint& w1, uint& w2, uint& w3, const void* row) {{\n"
        "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{%0, %1, %2, %3}}, [%4];\"\n"
        "               : \"=r\"(w0), \"=r\"(w1), \"=r\"(w2), \"=r\"(w3)\n"
        "               : \"r\"(shared_address(row)));\n"
        "}}\n",
        kFunction, need.variant ? "_transposed" : "", need.variant ? ".trans" : "");
  }
  if (need.name == "copy_async") {
    needs.insert({"shared_address", {DType::U32}});
    const int bytes = need.variant / 2;
    const bool part = need.variant % 2 == 1;
    return fmt::format(
        "{}{}void copy_async_{}(void* to, const void* from{}) {{\n"
        "  asm volatile(\"cp.async.{}.shared.global [%0], [%1], {}{};\" : : \"r\"(shared_address(to)), \"l\"(from){} "
        ": \"memory\");\n"
        "}}\n",
        part ? "// `exist` bytes exist; the others become 0.\n" : "", kFunction, bytes, part ? ", uint exist" : "",
        bytes == 16 ? "cg" : "ca", bytes, part ? ", %2" : "", part ? ", \"r\"(exist)" : "");
  }
  if (need.name == "copy_commit")
    return fmt::format("{}void copy_commit() {{ asm volatile(\"cp.async.commit_group;\" : : : \"memory\"); }}\n",
                       kFunction);
  if (need.name == "copy_wait")
    return fmt::format("{0}void copy_wait_{1}() {{ asm volatile(\"cp.async.wait_group {1};\" : : : \"memory\"); }}\n",
                       kFunction, need.variant);
  return "";
}

}  // namespace mt::cuda
