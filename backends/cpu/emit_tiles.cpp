// Tiles: what is done element by element, and calls of the functions that do it.
#include "backends/cpu/emitter.h"
#include "mt/base/error.h"

namespace mt::cpu {
namespace {

Ref pointer(const char* name) { return {name, El::Ptr, 1}; }
Ref i64(std::int64_t v) { return Writer::integer(El::I64, v); }
/// The widest vector of f32 that a line of that many elements is made of.
int width_of(int elements) { return elements % kLanes == 0 ? kLanes : elements % 16 == 0 ? 16 : 8; }

}  // namespace

bool is_tile_op(Op op) {
  switch (op) {
    case Op::TileFill:
    case Op::TileLoad:
    case Op::TileStore:
    case Op::TileMma:
    case Op::TileCast:
    case Op::TileReduce:
    case Op::TileMap:
      return true;
    default:
      return false;
  }
}

/// Whether tiles are made or handed on by it: all lanes take part then, and its conditions are equal on all of them.
bool Emitter::holds_tiles(const Inst& i) const {
  if (is_tile_op(i.op)) return true;
  for (const ValueId v : i.out)
    if (type(v).is_tile()) return true;
  for (const RegionId r : i.regions)
    for (const InstId inner : kernel_.at(r).insts)
      if (holds_tiles(kernel_.at(inner))) return true;
  return false;
}

Ref Emitter::scalar(ValueId v) {
  const Val& x = get(v);
  return x.pattern == kVarying ? w_.extract(wide(v), 0) : x.ref;
}
Ref Emitter::scalar_index(ValueId v) {
  if (shapes_.of(v).uniform()) return base_index(v);
  const Ref r = scalar(v);
  return w_.cast(is_unsigned(type(v).dtype) ? "zext" : "sext", r, El::I64);
}

Ref Emitter::tile_pointer(std::size_t place) {
  Ref at = i64(static_cast<std::int64_t>(tiles_at_ + place));
  if (kernel_.simds() > 1) at = w_.bin("add", at, w_.bin("mul", simd_, i64(static_cast<std::int64_t>(tiles_.bytes()))));
  return w_.element({"%scratch", El::Ptr, 1}, El::I8, at);
}

void Emitter::helper(const std::string& name, std::string_view parameters, const std::function<void()>& body) {
  if (!w_.first_use(name)) return;
  Writer::Frame outer = w_.enter();
  body();
  w_.line("ret void");
  w_.leave(std::move(outer), fmt::format("internal void @{}({})", name, parameters), "#1");
}

void Emitter::call_helper(const std::string& name, const std::vector<Ref>& args) {
  std::string list;
  for (const Ref& a : args) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", type_name(a), a.name);
  w_.line(fmt::format("call void @{}({})", name, list));
}

void Emitter::tile(const Inst& i) {
  MT_ASSERT(!mask_, "a tile where lanes are apart");
  switch (i.op) {
    case Op::TileFill:
      return tile_fill(i);
    case Op::TileLoad:
    case Op::TileStore:
      return tile_access(i);
    case Op::TileMma:
      return tile_mma(i);
    case Op::TileCast:
      return tile_cast(i);
    case Op::TileReduce:
      return tile_reduce(i);
    case Op::TileMap:
      return tile_map(i);
    default:
      MT_ICE("not an op of tiles");
  }
}

void Emitter::tile_fill(const Inst& i) {
  const int n = type(i.out[0]).elements(), width = width_of(n);
  const std::string name = fmt::format("mt_fill_{}", n);
  helper(name, "ptr noalias %to, float %value", [&] {
    const Ref v = w_.splat({"%value", El::F32, 1}, width);
    count_up(n, width, [&](const Ref& at) { w_.store(v, w_.element(pointer("%to"), El::F32, at), 4); });
  });
  call_helper(name, {tile_pointer(i.out[0]), scalar(i.in[0])});
}

/// Copies `n` elements, each rounded to `t` on the way. The places are equal or apart.
std::string Emitter::tile_copier(int n, DType t) {
  const int width = width_of(n);
  const std::string name = fmt::format("mt_copy_{}_{}", n, name_of(t));
  helper(name, "ptr %to, ptr %from", [&] {
    count_up(n, width, [&](const Ref& at) {
      const Ref v = w_.load(El::F32, width, w_.element(pointer("%from"), El::F32, at), 4);
      w_.store(to_f32(from_f32(v, t), t), w_.element(pointer("%to"), El::F32, at), 4);
    });
  });
  return name;
}

void Emitter::tile_cast(const Inst& i) {
  const Type t = type(i.out[0]);
  const std::size_t from = tiles_.at(i.in[0]), to = tiles_.at(i.out[0]);
  if (from == to && t.dtype == DType::F32) return;
  call_helper(tile_copier(t.elements(), t.dtype), {tile_pointer(to), tile_pointer(from)});
}

void Emitter::move_tiles(const std::vector<std::pair<ValueId, ValueId>>& moves) {
  for (const TileCopy& c : tiles_.copies(moves))
    call_helper(tile_copier(c.elements, DType::F32), {tile_pointer(c.to), tile_pointer(c.from)});
}

void Emitter::tile_reduce(const Inst& i) {
  const Type t = type(i.in[0]);
  const int width = width_of(t.cols);
  const int rows = products_.rows(i.out[0]);
  const std::string name = fmt::format("mt_reduce_{}_{}x{}", name_of(i.combine), rows, t.cols);
  helper(name, "ptr noalias %to, ptr noalias %from", [&] {
    count_up(rows, 1, [&](const Ref& r) {
      const Ref row = w_.element(pointer("%from"), El::F32, linear(r, t.cols, 0));
      const Ref sum = w_.stack(El::F32, width);
      w_.set(sum, w_.load(El::F32, width, row, 4));
      if (t.cols > width)
        count_up(i64(t.cols - width), width, [&](const Ref& c) {
          const Ref v = w_.load(El::F32, width, w_.element(row, El::F32, linear(c, 1, width)), 4);
          w_.set(sum, combine(i.combine, DType::F32, w_.get(sum, El::F32, width), v));
        });
      const Ref all = reduce(i.combine, DType::F32, w_.get(sum, El::F32, width), 1);
      w_.store(all, w_.element(pointer("%to"), El::F32, r), 4);
    });
  });
  call_helper(name, {tile_pointer(i.out[0]), tile_pointer(i.in[0])});
}

/// 32 columns of a row at a time, or 32 rows of a rows tile. Of the last ones some may not exist: their elements are
/// whatever lies behind the buffer, and the mask keeps their loads from memory.
void Emitter::tile_map(const Inst& i) {
  const Type t = type(i.out[0]);
  const Region& body = kernel_.at(i.regions[0]);
  const bool by_row = t.role == TileRole::Rows;
  const int length = by_row ? t.rows : t.cols;
  const std::size_t tiles = i.in.size();
  const auto some = [&](const Ref& line, const Ref& first, int count) {
    const auto element = [&](ValueId v) {
      return w_.element(tile_pointer(v), El::F32, by_row ? first : w_.bin("add", linear(line, t.cols, 0), first));
    };
    if (count < kLanes) {
      std::vector<std::int64_t> on;
      for (int l = 0; l < kLanes; ++l) on.push_back(l < count);
      mask_ = Writer::integers(El::I1, on);
    }
    scope([&] {
      for (std::size_t n = 0; n < tiles; ++n) {
        const bool one = !by_row && type(i.in[n]).role == TileRole::Rows;
        const Ref at = one ? w_.element(tile_pointer(i.in[n]), El::F32, line) : element(i.in[n]);
        define(body.args[n], {{DType::F32}, one ? kUniform : kVarying, w_.load(El::F32, one ? 1 : kLanes, at, 4)});
      }
      const Ref across = w_.cast("trunc", first, El::I32), down = w_.cast("trunc", line, El::I32);
      const ValueId row = body.args[tiles], col = body.args[tiles + 1];
      define(row, {{DType::U32}, shapes_.of(row).pattern, by_row ? across : down});
      define(col, {{DType::U32}, shapes_.of(col).pattern, by_row ? Writer::zero(El::I32) : across});
      region(i.regions[0]);
      w_.store(w_.slice(wide(body.yields[0]), 0, count), element(i.out[0]), 4);
    });
    mask_.reset();
  };
  count_up(by_row ? 1 : products_.rows(i.out[0]), 1, [&](const Ref& line) {
    const int whole = length / kLanes * kLanes;
    if (whole) count_up(whole, kLanes, [&](const Ref& first) { some(line, first, kLanes); });
    if (whole < length) some(line, i64(whole), length - whole);
  });
}

}  // namespace mt::cpu
