#include "backends/cpu/tile_plan.h"

#include <algorithm>
#include <numeric>

#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::cpu {
namespace {

constexpr std::size_t kPad = 128;  // bytes behind a buffer that whole vectors may read

/// Times at which a value must be kept, ends included. An instruction reads at an even time and writes at the next one.
struct Span {
  int from = 0, to = 0;
};

std::size_t bytes_of(Type t) { return static_cast<std::size_t>(t.elements()) * sizeof(float); }

/// Classes of values that one buffer serves.
class Classes {
 public:
  explicit Classes(std::size_t n) : parent_(n), spans_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void add(std::size_t v, Span s) { spans_[v].push_back(s); }
  /// Makes one class of both unless they are kept at one time.
  bool join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return true;
    for (const Span& x : spans_[a])
      for (const Span& y : spans_[b])
        if (x.from <= y.to && y.from <= x.to) return false;
    spans_[a].insert(spans_[a].end(), spans_[b].begin(), spans_[b].end());
    parent_[b] = a;
    return true;
  }

 private:
  std::vector<std::size_t> parent_;
  std::vector<std::vector<Span>> spans_;  // by root
};

class Planner {
 public:
  Planner(const Kernel& k, const TileProducts& products)
      : k_(k),
        products_(products),
        open_(k.insts.size()),
        close_(k.regions.size()),
        spans_(k.values.size()),
        whole_(k.values.size()) {
    number(RegionId::Root);
    walk(k, RegionId::Root, [&](InstId i) { writes(k.at(i), 2 * open_[index_of(i)]); });
    walk(k, RegionId::Root, [&](InstId i) { reads(k.at(i), 2 * open_[index_of(i)]); });
  }

  const std::vector<ValueId>& tiles() const { return tiles_; }
  /// From before the first write until after the last read, also by copies.
  Span whole(ValueId v) const { return whole_[index_of(v)]; }
  /// Elements of the largest tile that moves together with another one.
  int most_moved() const { return most_moved_; }

  /// A number for each value, equal where they share a buffer.
  std::vector<std::size_t> classes() const {
    Classes c(k_.values.size());
    for (const ValueId v : tiles_)
      for (const Span& s : spans_[index_of(v)]) c.add(index_of(v), s);
    for (const auto& [a, b] : one_)
      MT_ASSERT(c.join(index_of(a), index_of(b)), "a tile that a loop carries is kept while the loop's result is");
    for (const auto& [a, b] : flows_) c.join(index_of(a), index_of(b));
    std::vector<std::size_t> of(k_.values.size());
    for (const ValueId v : tiles_) of[index_of(v)] = c.root(index_of(v));
    return of;
  }

  /// By value: whether an lhs is kept by columns, which holds for all that flow into each other or for none.
  std::vector<char> by_column() const {
    Classes c(k_.values.size());
    const auto is_lhs = [&](ValueId v) { return k_.type(v).role == TileRole::Lhs; };
    for (const auto* list : {&one_, &flows_})
      for (const auto& [a, b] : *list)
        if (is_lhs(a) && is_lhs(b)) c.join(index_of(a), index_of(b));
    std::vector<char> by_row(k_.values.size(), 0), result(k_.values.size(), 0);
    for (const ValueId v : tiles_) {
      const Inst* def = k_.def(v);
      if (def && def->regions.empty() && !def->transposed) by_row[c.root(index_of(v))] = 1;
    }
    for (const ValueId v : tiles_) result[index_of(v)] = is_lhs(v) && !by_row[c.root(index_of(v))];
    return result;
  }

 private:
  void number(RegionId r) {
    for (const InstId i : k_.at(r).insts) {
      open_[index_of(i)] = clock_++;
      for (const RegionId inner : k_.at(i).regions) {
        number(inner);
        close_[index_of(inner)] = clock_++;
      }
    }
  }
  int close(RegionId r) const { return 2 * close_[index_of(r)]; }
  bool is_tile(ValueId v) const { return k_.type(v).is_tile() && !products_.in_place(v); }

  void write(ValueId v, int time, int again = 0) {
    if (!is_tile(v)) return;
    tiles_.push_back(v);
    spans_[index_of(v)] = {{time, time}};
    whole_[index_of(v)] = {time - 1, std::max(time, again)};
  }
  void writes(const Inst& i, int now) {
    if (i.op == Op::For) {
      const std::vector<ValueId>& args = k_.at(i.regions[0]).args;
      for (std::size_t n = 1; n < args.size(); ++n) write(args[n], now + 1, close(i.regions[0]) + 1);
    } else if (i.op == Op::While) {
      for (const ValueId v : k_.at(i.regions[0]).args) write(v, now + 1, close(i.regions[1]) + 1);
      for (const ValueId v : k_.at(i.regions[1]).args) write(v, close(i.regions[0]) + 1);
    }
    const int done = i.regions.empty() ? now : close(i.regions.back());
    for (const ValueId v : i.out) write(v, done + 1);
  }

  /// A read in region `where`: at `time`, or until the end of the outermost loop that repeats it. Copies of what is
  /// read with it end at `held`. In the first branch of an if, what only the second one reads need not be kept.
  void read(ValueId v, RegionId where, int time, int held = 0) {
    if (!is_tile(v)) return;
    std::vector<Span> holes;  // the last one comes first
    for (RegionId r = where; r != k_.home(v); r = k_.parent(r)) {
      const InstId owner = k_.at(r).owner;
      const Inst& i = k_.at(owner);
      if (i.op == Op::For || i.op == Op::While) {
        time = std::max(time, close(i.regions.back()));
        holes.clear();
      } else if (i.op == Op::If && r == i.regions[1]) {
        holes.push_back({2 * open_[index_of(owner)] + 1, close(i.regions[0])});
      }
    }
    std::vector<Span>& spans = spans_[index_of(v)];
    int from = spans[0].from;
    for (auto hole = holes.rbegin(); hole != holes.rend(); ++hole) {
      spans.push_back({from, hole->from - 1});
      from = hole->to + 1;
    }
    spans.push_back({from, time});
    Span& w = whole_[index_of(v)];
    w.to = std::max({w.to, time, held});
  }
  /// The yields of a region, from the `first` on, become the values `to`.
  void yields(RegionId r, std::size_t first, const std::vector<ValueId>& to, std::size_t first_to, int held = 0) {
    for (std::size_t n = first_to; n < to.size(); ++n) {
      const ValueId y = k_.at(r).yields[n - first_to + first];
      read(y, r, close(r), held);
      flow(y, to[n]);
    }
    moved_together(to);
  }
  void flow(ValueId a, ValueId b) {
    if (is_tile(a)) flows_.emplace_back(a, b);
  }
  void moved_together(const std::vector<ValueId>& values) {
    int count = 0, most = 0;
    for (const ValueId v : values)
      if (is_tile(v)) {
        ++count;
        most = std::max(most, k_.type(v).elements());
      }
    if (count > 1) most_moved_ = std::max(most_moved_, most);
  }

  void reads(const Inst& i, int now) {
    for (const ValueId v : i.in) read(v, i.home, now);
    if (i.op == Op::If) {
      for (const RegionId r : i.regions) yields(r, 0, i.out, 0, close(i.regions[1]));
    } else if (i.op == Op::For) {
      const Region& body = k_.at(i.regions[0]);
      for (std::size_t n = 0; n < i.out.size(); ++n) {
        if (is_tile(i.out[n])) one_.emplace_back(body.args[n + 1], i.out[n]);
        flow(i.in[n + 3], body.args[n + 1]);
      }
      yields(i.regions[0], 0, body.args, 1);
    } else if (i.op == Op::While) {
      const Region &test = k_.at(i.regions[0]), &body = k_.at(i.regions[1]);
      for (std::size_t n = 0; n < i.in.size(); ++n) flow(i.in[n], test.args[n]);
      for (std::size_t n = 0; n < i.out.size(); ++n)
        if (is_tile(i.out[n])) one_.emplace_back(body.args[n], i.out[n]);
      yields(i.regions[0], 1, i.out, 0);
      yields(i.regions[1], 0, test.args, 0);
    } else if (i.op == Op::TileMma || i.op == Op::TileCast) {
      flow(i.in[0], i.out[0]);
    } else if (i.op == Op::TileMap) {
      for (const ValueId v : i.in)
        if (k_.type(v) == k_.type(i.out[0])) flow(v, i.out[0]);
    }
  }

  const Kernel& k_;
  const TileProducts& products_;
  std::vector<int> open_, close_;  // by instruction, by region
  int clock_ = 1;
  std::vector<std::vector<Span>> spans_;  // by value; the first one is the write
  std::vector<Span> whole_;               // by value
  std::vector<ValueId> tiles_;
  std::vector<std::pair<ValueId, ValueId>> one_, flows_;  // must share a buffer; better do
  int most_moved_ = 0;
};

}  // namespace

std::vector<TileCopy> in_order(std::vector<TileCopy> moves, std::size_t spare) {
  std::erase_if(moves, [](const TileCopy& m) { return m.from == m.to; });
  std::vector<TileCopy> order;
  while (!moves.empty()) {
    const auto free = std::find_if(moves.begin(), moves.end(), [&](const TileCopy& m) {
      return std::none_of(moves.begin(), moves.end(), [&](const TileCopy& other) { return other.from == m.to; });
    });
    if (free != moves.end()) {
      order.push_back(*free);
      moves.erase(free);
      continue;
    }
    // Only rings are left: what the first one overwrites waits in the spare place.
    const std::size_t place = moves[0].to;
    order.push_back({place, spare, moves[0].elements});
    for (TileCopy& m : moves)
      if (m.from == place) m.from = spare;
  }
  return order;
}

TilePlan::TilePlan(const Kernel& kernel, const TileProducts& products) : kernel_(kernel), at_(kernel.values.size()) {
  const Planner plan(kernel, products);
  by_column_ = plan.by_column();
  const std::vector<std::size_t> classes = plan.classes();
  struct Buffer {
    Span span;
    std::size_t bytes = 0, at = 0;
    bool used = false;
  };
  std::vector<Buffer> buffers(kernel.values.size());
  for (const ValueId v : plan.tiles()) {
    Buffer& b = buffers[classes[index_of(v)]];
    const Span s = plan.whole(v);
    b.span = b.used ? Span{std::min(b.span.from, s.from), std::max(b.span.to, s.to)} : s;
    b.bytes = (bytes_of(kernel.type(v)) + kPad + 63) / 64 * 64;
    b.used = true;
  }
  // The lowest place that no buffer has which is kept at the same time.
  std::vector<Buffer*> order, placed;
  for (Buffer& b : buffers)
    if (b.used) order.push_back(&b);
  std::stable_sort(order.begin(), order.end(), [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
  for (Buffer* b : order) {
    for (const Buffer* other : placed)  // by place
      if (b->span.from <= other->span.to && other->span.from <= b->span.to && other->at < b->at + b->bytes)
        b->at = std::max(b->at, other->at + other->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), b,
                                   [](const Buffer* x, const Buffer* y) { return x->at < y->at; }),
                  b);
    bytes_ = std::max(bytes_, b->at + b->bytes);
  }
  for (const ValueId v : plan.tiles()) at_[index_of(v)] = buffers[classes[index_of(v)]].at;
  spare_ = bytes_;
  bytes_ += (static_cast<std::size_t>(plan.most_moved()) * sizeof(float) + 63) / 64 * 64;
}

std::vector<TileCopy> TilePlan::copies(const std::vector<std::pair<ValueId, ValueId>>& moves) const {
  std::vector<TileCopy> tiles;
  for (const auto& [from, to] : moves)
    if (kernel_.type(to).is_tile()) tiles.push_back({at(from), at(to), kernel_.type(to).elements()});
  return in_order(std::move(tiles), spare_);
}

}  // namespace mt::cpu
