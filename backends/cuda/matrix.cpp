#include "backends/cuda/matrix.h"

#include <fmt/format.h>

#include "backends/cuda/dialect.h"

namespace mt::cuda {
namespace {

using clike::Needs;

constexpr const char* kFunction = "static __device__ __forceinline__ ";

std::string joined(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, ", ")); }
const char* ptx_name(DType t) { return t == DType::F16 ? "f16" : "bf16"; }

/// One step of a product of a team: wgmma with the lhs in registers, the rhs in panels of 128-byte rows, swizzled.
std::string wgmma(DType t, int columns, bool by, bool down) {
  const int sums = columns / 2;  // of a lane
  std::string parameters, registers, outputs;
  for (int n = 0; n < sums; ++n) {
    parameters += fmt::format("float& c{}, ", n);
    registers += fmt::format("{}%{}", n ? ", " : "", n);
    outputs += fmt::format("{}\"+f\"(c{})", n ? ", " : "", n);
  }
  return fmt::format(
      "// Begins c += a b of 64 x 16 and 16 x {1} elements for four warps.\n"
      "{0}void wgmma_{2}_{3}{1}({4}{5}, u64 b) {{\n"
      "  asm volatile(\n"
      "      \"wgmma.mma_async.sync.aligned.m64n{1}k16.f32.{6}.{6} {{{7}}}, \"\n"
      "      \"{8}, 1, 1, 1, {9};\"\n"
      "      : {10}\n"
      "      : {11}, \"l\"(b));\n"
      "}}\n",
      kFunction, columns, name_of(t), std::string(by ? "by_" : "") + (down ? "down_" : ""), parameters,
      by ? "u64 a" : "uint a0, uint a1, uint a2, uint a3", ptx_name(t), registers,
      by ? fmt::format("%{}, %{}", sums, sums + 1)
         : fmt::format("{{%{}, %{}, %{}, %{}}}, %{}", sums, sums + 1, sums + 2, sums + 3, sums + 4),
      // of an lhs in panels, which runs along their rows, there is a word, too
      fmt::format("{}{}", by ? "0, " : "", down ? 0 : 1), outputs,
      by ? "\"l\"(a)" : "\"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3)");
}

std::string products() {
  return fmt::format(
      "// Products run beside the warps that begin them.\n"
      "{0}void products_begin() {{ asm volatile(\"wgmma.fence.sync.aligned;\" : : : \"memory\"); }}\n"
      "{0}void products_commit() {{ asm volatile(\"wgmma.commit_group.sync.aligned;\" : : : \"memory\"); }}\n"
      "// What the thread has written to shared memory is seen by products behind the next barrier.\n"
      "{0}void products_fence() {{ asm volatile(\"fence.proxy.async.shared::cta;\" : : : \"memory\"); }}\n"
      "{0}void keep(float& x) {{ asm volatile(\"\" : \"+f\"(x) : : \"memory\"); }}\n"
      "{0}void hold_word(uint x) {{ asm volatile(\"\" : : \"r\"(x) : \"memory\"); }}\n"
      "template <class... T>\n"
      "{0}void hold(T... x) {{ (hold_word(x), ...); }}\n"
      "// Panels as wgmma takes them: 128-byte rows, swizzled, 1024 bytes from 8 rows to the next 8.\n"
      "{0}u64 panels(const void* p) {{\n"
      "  return u64((shared_address(p) & 0x3ffff) >> 4) | u64(1) << 16 | u64(64) << 32 | u64(1) << 62;\n"
      "}}\n",
      kFunction);
}

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

std::vector<std::string> CudaDialect::mma_team(const clike::TeamProduct& p, Needs& needs) const {
  constexpr std::size_t kWords = 4, kElements = 4;  // of an lhs block and of an acc block
  const auto deep = static_cast<std::size_t>(p.deep);
  const bool by = !p.rows.empty();
  const std::size_t rows = by ? 1 : p.lhs.size() / kWords / deep, row = p.sums.size() / rows;
  const int columns = static_cast<int>(row / kElements) * 8;
  // 16 elements of depth further, in units of 16 bytes: along a row of the panel, or down 16 of its rows.
  const int step = p.transposed ? 2 : 128;
  needs.insert({"wgmma", {p.operands}, columns * 4 + (by ? 2 : 0) + (p.transposed ? 1 : 0)});
  needs.insert({"products", {DType::U32}});
  std::vector<std::string> list = {"mt::products_begin()"};
  for (std::size_t k = 0; k < deep; ++k)
    for (std::size_t r = 0; r < rows; ++r) {
      const auto sums = p.sums.begin() + static_cast<std::ptrdiff_t>(r * row);
      std::vector<std::string> arguments(sums, sums + static_cast<std::ptrdiff_t>(row));
      if (by) {  // the team's rows begin with those of its first simdgroup
        arguments.push_back(fmt::format("mt::panels({} - (threadIdx.x >> 5 & 3) * 1024) + {}", p.rows, k * 2));
      } else {
        const auto words = p.lhs.begin() + static_cast<std::ptrdiff_t>((r * deep + k) * kWords);
        arguments.insert(arguments.end(), words, words + kWords);
      }
      list.push_back(fmt::format("mt::wgmma_{}_{}{}{}({}, mt::panels({}) + {})", name_of(p.operands), by ? "by_" : "",
                                 p.transposed ? "down_" : "", columns, joined(arguments), p.panels,
                                 static_cast<int>(k) * step));
    }
  list.push_back("mt::products_commit()");
  return list;
}

std::vector<std::string> CudaDialect::mma_wait(int pending, const std::vector<std::string>& sums,
                                               const std::vector<std::string>& held, Needs& needs) const {
  needs.insert({"products", {DType::U32}});
  needs.insert({"products_wait", {DType::U32}, pending});
  std::vector<std::string> list = {fmt::format("mt::products_wait_{}({})", pending, joined(sums))};
  if (!held.empty()) list.push_back(fmt::format("mt::hold({})", joined(held)));
  return list;
}

std::string CudaDialect::copy_group(const Inst& inst, Needs& needs) const {
  if (inst.op == Op::MmaFence) {
    needs.insert({"products", {DType::U32}});
    return "mt::products_fence()";
  }
  const bool commit = inst.op == Op::CopyCommit;
  needs.insert({commit ? "copy_commit" : "copy_wait", {DType::U32}, inst.index});
  return commit ? "mt::copy_commit()" : fmt::format("mt::copy_wait_{}()", inst.index);
}

std::string matrix_helper(const clike::Need& need, Needs& needs) {
  const DType t = need.type.dtype;
  if (need.name == "wgmma") {
    needs.insert({"type", {DType::U64}});
    return wgmma(t, need.variant / 4, need.variant / 2 % 2 == 1, need.variant % 2 == 1);
  }
  if (need.name == "products") {
    needs.insert({"type", {DType::U64}});
    needs.insert({"shared_address", {DType::U32}});
    return products();
  }
  if (need.name == "products_wait")
    return fmt::format(
        "// All but the last {1} products have ended; x are the sums of some.\n"
        "template <class... F>\n"
        "{0}void products_wait_{1}(F&... x) {{\n"
        "  asm volatile(\"wgmma.wait_group.sync.aligned {1};\" : : : \"memory\");\n"
        "  (keep(x), ...);\n"
        "}}\n",
        kFunction, need.variant);
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
