#include "backends/cpu/tile_notes.h"

#include <fmt/format.h>

#include "backends/cpu/tile_plan.h"
#include "backends/cpu/tile_products.h"
#include "mt/ir/edit.h"

namespace mt::cpu {
namespace {

std::string note(const Inst& i, Type t, const std::string& how) {
  const std::string place = to_string(i.loc);
  return fmt::format("{}{}{} {}: {}", place, place.empty() ? "" : ": ", info(i.op).name, to_string(t), how);
}

std::string buffer(const TilePlan& plan, const Kernel& k, const Inst& load) {
  const ValueId tile = load.out[0];
  const Type t = k.type(tile);
  const char* const order = load.transposed != plan.by_column(tile) ? ", turned by blocks of 8 x 8" : "";
  return fmt::format("{} bytes of f32{}{}", t.elements() * 4, plan.by_column(tile) ? " by columns" : "", order);
}

}  // namespace

std::vector<std::string> tile_notes(const Kernel& kernel, const EmitOptions& options) {
  const TileProducts products(kernel);
  const TilePlan plan(kernel, products);
  std::vector<std::string> notes;
  if (plan.bytes() == 0) return notes;
  walk(kernel, RegionId::Root, [&](InstId id) {
    const Inst& i = kernel.at(id);
    if (i.op == Op::TileLoad) {
      const bool lies = products.in_place(i.out[0]);
      notes.push_back(note(i, kernel.type(i.out[0]), lies ? "no buffer" : buffer(plan, kernel, i)));
    }
    if (i.op != Op::TileMma) return;
    const Type sum = kernel.type(i.out[0]), rhs = kernel.type(i.in[2]);
    const Inst* load = products.in_place(i);
    const int rows = load ? products.rows(i) : products.rows(i.out[0]);
    const std::string asked = rows < sum.rows ? fmt::format("{} of {} rows, ", rows, sum.rows) : "";
    std::string how;
    if (!load) {
      const Block b = packed_block(options.avx512, rows);
      how = fmt::format("blocks of {} x {}; the right operand is packed: {}", b.rows, b.cols, products.why(i));
    } else if (load->transposed) {
      const Block b = dots_block(options.avx512, rows);
      how = fmt::format("{} x {} dot products at a time along {}; the right operand is read where it lies: {}", b.rows,
                        b.cols, rhs.rows, products.why(i));
    } else {
      const Block b = lines_block(options.avx512, rows, rhs.cols);
      how = fmt::format("blocks of {} x {}; the right operand is read where it lies: {}", b.rows, b.cols,
                        products.why(i));
    }
    notes.push_back(note(i, sum, asked + how));
  });
  notes.push_back(fmt::format("{} bytes for the tiles of a simdgroup", plan.bytes()));
  return notes;
}

}  // namespace mt::cpu
