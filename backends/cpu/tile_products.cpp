#include "backends/cpu/tile_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mt/ir/edit.h"

namespace mt::cpu {
namespace {

// Rows up to which a product reads its right operand where it lies: what is converted again for every block of rows,
// and summed across vectors, then costs less than packing.
constexpr int kMostRows = 32;
constexpr int kVector = 16;  // elements that divide a line

std::optional<std::uint64_t> constant(const Kernel& k, ValueId v) {
  const Inst* def = k.def(v);
  if (def && def->op == Op::Const) return def->bits;
  return std::nullopt;
}

/// How many rows of each tile reach memory, or any row of another tile. Rows never meet but in a right operand.
class Demand {
 public:
  explicit Demand(const Kernel& k) : k_(k), wanted_(k.values.size(), 0) {
    do {
      changed_ = false;
      walk(k_, RegionId::Root, [&](InstId i) { visit(k_.at(i)); });
    } while (changed_);
  }
  std::vector<int> take() { return std::move(wanted_); }

 private:
  void want(ValueId v, int rows) {
    if (!k_.type(v).is_tile()) return;
    int& w = wanted_[index_of(v)];
    if (w >= rows) return;
    w = rows;
    changed_ = true;
  }
  int of(ValueId v) const { return wanted_[index_of(v)]; }
  void flow(ValueId from, ValueId to) { want(from, of(to)); }

  void visit(const Inst& i) {
    switch (i.op) {
      case Op::TileStore: {
        const std::uint64_t all = static_cast<std::uint64_t>(k_.type(i.in[4]).rows);
        return want(i.in[4], static_cast<int>(std::min(all, constant(k_, i.in[2]).value_or(all))));
      }
      case Op::TileMma:
        flow(i.in[0], i.out[0]);
        flow(i.in[1], i.out[0]);
        return want(i.in[2], k_.type(i.in[2]).rows);
      case Op::TileCast:
      case Op::TileReduce:
      case Op::TileMap:
        for (const ValueId v : i.in) flow(v, i.out[0]);
        return;
      case Op::If:
        for (const RegionId r : i.regions)
          for (std::size_t n = 0; n < i.out.size(); ++n) flow(k_.at(r).yields[n], i.out[n]);
        return;
      case Op::For: {
        const Region& body = k_.at(i.regions[0]);
        for (std::size_t n = 0; n < i.out.size(); ++n)
          for (const ValueId to : {body.args[n + 1], i.out[n]}) {
            flow(i.in[n + 3], to);
            flow(body.yields[n], to);
          }
        return;
      }
      case Op::While: {
        const Region &test = k_.at(i.regions[0]), &body = k_.at(i.regions[1]);
        for (std::size_t n = 0; n < i.in.size(); ++n) flow(i.in[n], test.args[n]);
        for (std::size_t n = 0; n < i.out.size(); ++n)
          for (const ValueId to : {body.args[n], i.out[n]}) flow(test.yields[n + 1], to);
        for (std::size_t n = 0; n < test.args.size(); ++n) flow(body.yields[n], test.args[n]);
        return;
      }
      default:
        for (const ValueId v : i.in)
          if (k_.type(v).is_tile()) want(v, k_.type(v).rows);
    }
  }

  const Kernel& k_;
  std::vector<int> wanted_;
  bool changed_ = false;
};

bool waits(const Kernel& k, const Inst& i) {
  if (i.op == Op::Barrier || i.op == Op::GroupReduce) return true;
  return std::any_of(i.regions.begin(), i.regions.end(), [&](RegionId r) {
    const std::vector<InstId>& insts = k.at(r).insts;
    return std::any_of(insts.begin(), insts.end(), [&](InstId inner) { return waits(k, k.at(inner)); });
  });
}

/// Whether the threadgroup waits between two instructions of a region.
bool apart(const Kernel& k, const Inst& first, const Inst& second) {
  bool between = false;
  for (const InstId id : k.at(first.home).insts) {
    const Inst& i = k.at(id);
    if (&i == &second) return false;
    if (between && waits(k, i)) return true;
    between = between || &i == &first;
  }
  return true;
}

}  // namespace

Block packed_block(bool avx512, int rows) {
  // Better all blocks alike.
  return avx512 ? Block{8, 32} : Block{rows % 6 == 0 ? 6 : 4, 16};
}
Block lines_block(bool avx512, int rows, int cols) {
  const int vector = avx512 ? 16 : 8, tall = std::min(vector / 2, rows);
  int vectors = vector;  // 16 or 8 vectors of sums
  while (vectors * tall > vector || vectors * vector > cols) vectors /= 2;
  return {tall, vectors * vector};
}
Block dots_block(bool avx512, int rows) {
  const int vector = avx512 ? 16 : 8, tall = std::min(vector / 2, rows);
  int together = 8;
  while (together * tall > vector) together /= 2;
  return {tall, together};
}

TileProducts::TileProducts(const Kernel& kernel)
    : kernel_(kernel), in_place_(kernel.values.size(), 0), why_(kernel.values.size()) {
  wanted_ = Demand(kernel).take();
  struct Uses {
    const Inst* last = nullptr;
    int products = 0, all = 0, rows = 0;
    bool row_lhs = true;
  };
  std::vector<Uses> uses(kernel.values.size());
  const std::vector<int> counts = count_uses(kernel);
  std::vector<const Inst*> loads;
  walk(kernel, RegionId::Root, [&](InstId id) {
    const Inst& i = kernel.at(id);
    if (i.op == Op::TileLoad && kernel.type(i.out[0]).role == TileRole::Rhs) loads.push_back(&i);
    if (i.op != Op::TileMma) return;
    Uses& u = uses[index_of(i.in[2])];
    u.last = &i;
    ++u.products;
    u.rows += rows(i);
    const Inst* lhs = kernel.def(i.in[1]);
    u.row_lhs = u.row_lhs && lhs && !(lhs->op == Op::TileLoad && lhs->transposed) && lhs->regions.empty();
  });
  for (const Inst* load : loads) {
    const ValueId v = load->out[0];
    const Uses& u = uses[index_of(v)];
    const Type t = kernel.type(v);
    const Memory& m = kernel.at(load->memory);
    const int length = load->transposed ? t.rows : t.cols;
    const std::uint64_t exist = constant(kernel, load->in[load->transposed ? 2 : 3]).value_or(0);
    std::string& why = why_[index_of(v)];
    if (m.space != Space::Device || m.access != Access::In)
      why = "its memory may change";
    else if (u.products == 0 || u.products != counts[index_of(v)] || u.last->home != load->home ||
             apart(kernel, *load, *u.last))
      why = "it is used elsewhere, or again";
    else if (u.rows > kMostRows)
      why = fmt::format("{} rows use it again", u.rows);
    else if (!u.row_lhs)
      why = "the left operand may lie by columns";
    else if (length % kVector != 0 || exist < static_cast<std::uint64_t>(length))
      why = "its lines may end within a vector";
    else
      in_place_[index_of(v)] = 1,
      why = fmt::format("for {} row{} packing does not pay", u.rows, u.rows == 1 ? "" : "s");
  }
}

const Inst* TileProducts::in_place(const Inst& mma) const {
  return in_place(mma.in[2]) ? kernel_.def(mma.in[2]) : nullptr;
}
int TileProducts::rows(ValueId tile) const { return std::max(1, wanted_[index_of(tile)]); }
int TileProducts::rows(const Inst& mma) const {
  const int asked = rows(mma.out[0]);
  const Inst* lhs = kernel_.def(mma.in[1]);
  if (!lhs || lhs->op != Op::TileLoad) return asked;
  const auto exist = constant(kernel_, lhs->in[2]);
  return exist && *exist < static_cast<std::uint64_t>(asked) ? std::max(1, static_cast<int>(*exist)) : asked;
}
std::string TileProducts::why(const Inst& mma) const {
  const std::string& known = why_[index_of(mma.in[2])];
  return known.empty() ? "it is handed on" : known;
}

}  // namespace mt::cpu
