// Prefix sums (or products, maxima, minima) of each row: inclusive, or exclusive with the identity first.
//
// Long rows, where they are few, are shared by several threadgroups: a first launch leaves what each piece of a row
// adds up to, and in the second every threadgroup begins its piece with what the pieces before it make.
#include "kernels/lib/reductions.h"
#include "kernels/lib/row.h"

namespace mt {
namespace {

template <Storage T>
struct Scan {
  In<T> x{"x", {"rows", "n"}};
  Out<T> out{"out", {"rows", "n"}};
  static constexpr int kMostPieces = 1024;
  Temp<f32> piece_totals{"piece_totals", {"rows", kMostPieces}};
  Size n{"n"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};                    // neighbouring elements of a thread
  Tunable pieces{"pieces", 1, {1, 2, 4, 16, 64, 256, 1024}};  // of a row, a threadgroup each
  Combine combine = Combine::Sum;
  oracle::Reduction meaning = oracle::Reduction::Sum;
  bool exclusive = false;

  void plan(const Problem& p, TargetTraits traits) {
    threads = row_threads(p["n"], traits);
    width = traits.gpu ? 16 / size_of(dtype_of<T>) : 4;
    // A large GPU takes some 500 threadgroups at once, a CPU some 16; a piece must be worth the second launch.
    const std::int64_t wanted = (traits.gpu ? 512 : 16) / std::max<std::int64_t>(p["rows"], 1);
    const std::int64_t least = traits.gpu ? std::int64_t{8} * threads * width : 16384;
    int count = 1;
    for (const int more : {2, 4, 16, 64, 256}) count = more <= wanted && p["n"] / more >= least ? more : count;
    pieces = count;
  }
  Stages<Scan> stages() const {
    if (pieces == 1) return {{"", &Scan::launch, &Scan::body}};
    return {{"totals", &Scan::launch, &Scan::total}, {"", &Scan::launch, &Scan::body}};
  }
  Launch launch(const Problem& p) const {
    Launch l = row_launch(p, threads);
    if (pieces > 1) l.groups = {pieces, p["rows"]};
    return l;
  }
  U32 row_index() const { return pieces == 1 ? group_id() : group_id(1); }

  /// The part of the row that is this threadgroup's.
  struct Piece {
    U32 begin, end;
  };
  Piece piece() const {
    if (pieces == 1) return {U32(0), U32(n)};
    const u32 run = static_cast<u32>(threads * width);
    const U32 runs = (n + (run - 1)) / run, each = (runs + static_cast<u32>(pieces - 1)) / static_cast<u32>(pieces);
    const U32 begin = min(group_id() * each, runs) * run;
    return {begin, min(begin + each * run, n)};
  }
  /// What the piece adds up to.
  void total() const {
    const auto row = x.row(row_index());
    const Piece own = piece();
    RowAccumulator part(combine, width, identity_f32(combine));
    for_(own.begin + thread_id() * static_cast<u32>(width), own.end, static_cast<u32>(threads * width), [&](U32 first) {
      if_(first + static_cast<u32>(width) <= n, [&] { part.add(row.load(first, width)); }).else_([&] {
        for (int e : unroll(width)) if_(first + e < n, [&] { part.add(row.load(first + e, 1)); });
      });
    });
    const F32 all = group_reduce(combine, part.total());
    if_(thread_id() == 0, [&] { piece_totals.at(row_index()).store(group_id(), all); });
  }
  /// What the pieces before this threadgroup's make; every thread has it.
  F32 before() const {
    Var<f32> part(identity_f32(combine));
    if (pieces > 1) {
      const auto totals = piece_totals.at(row_index());
      for_(thread_id(), group_id(), static_cast<u32>(threads), [&](U32 i) { part = apply(part, totals.load(i)); });
      return group_reduce(combine, part);
    }
    return part;
  }

  F32 apply(const F32& a, const F32& b) const {
    switch (combine) {
      case Combine::Prod:
        return a * b;
      case Combine::Max:
        return max(a, b);
      case Combine::Min:
        return min(a, b);
      default:
        return a + b;
    }
  }

  /// What the simdgroups before this one add up to, and what all of them do.
  std::pair<F32, F32> across_simds(const F32& mine, const F32& identity, const Shared<f32>& totals) const {
    if (simd_count() == 1) return {identity, mine};
    const U32 lane = lane_id(), simds = static_cast<u32>(simd_count());
    // Equivalent if constant_above: every lane has the total.
    if_(lane == 0, [&] { totals[simd_id()] = mine; });
    barrier();
    // Equivalent if select_first in mt_scan_m*, or_equal in mt_scan_m*: the last one twice changes no extreme.
    const F32 theirs = select(lane < simds, totals.load(min(lane, simds - 1)), identity);
    barrier();  // the next chunk writes totals again
    return {simd_reduce(combine, select(lane < simd_id(), theirs, identity)), simd_reduce(combine, theirs)};
  }

  void body() const {
    const auto row = x.row(row_index());
    const auto result = out.row(row_index());
    const F32 identity(identity_f32(combine));
    const Shared<f32> totals("totals", simd_count());
    const Piece own_piece = piece();
    Var<f32> carry(before());

    // Equivalent if loop_beyond_last: nothing of the row is left there.
    for_(own_piece.begin, own_piece.end, static_cast<u32>(threads * width), [&](U32 start) {
      const U32 first = start + thread_id() * static_cast<u32>(width);
      // Equivalent if constant_above, or_equal: a whole run one by one gives the same.
      const Bool whole = first + static_cast<u32>(width) <= n;
      auto prefix = vars<f32>(width, identity);
      // Equivalent if never: a whole run one by one gives the same.
      if_(whole, [&] {
        const auto v = row.load(first, width);
        for (int e : unroll(width)) prefix[e] = v[e];
      }).else_([&] {
        // Equivalent if constant_above in *_exclusive: the last element is in no prefix of its row.
        for (int e : unroll(width)) if_(first + e < n, [&] { prefix[e] = row.load(first + e); });
      });

      // Prefixes inside the thread, then over the lanes, then over the simdgroups, then over the chunks.
      for (int e = 1; e < width; ++e) prefix[e] = apply(prefix[e - 1], prefix[e]);
      const F32 own = prefix[width - 1];
      const auto [earlier, all] = across_simds(simd_reduce(combine, own), identity, totals);
      const F32 base = apply(carry, apply(earlier, simd_scan_exclusive(combine, own)));
      const auto scanned = each(width, [&](int e) {
        return !exclusive ? apply(base, prefix[e]) : e == 0 ? base : apply(base, prefix[e - 1]);
      });
      // Equivalent if never: a whole run one by one gives the same.
      if_(whole, [&] { result.store(first, pack(width, [&](int e) { return scanned[e]; })); }).else_([&] {
        for (int e : unroll(width)) if_(first + e < n, [&] { result.store(first + e, scanned[e]); });
      });
      carry = apply(carry, all);
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    const auto kind = exclusive ? oracle::ScanKind::Exclusive : oracle::ScanKind::Inclusive;
    return {{"out", oracle::scan(meaning, kind, in["x"])}};
  }
  Problems tests() const {
    const bool extreme = combine == Combine::Max || combine == Combine::Min;
    Problems shared;
    for (const auto& [count, length] : {std::pair{2, 255}, {4, 9001}, {64, 4096}})
      shared.push_back(Problem{{"rows", 2}, {"n", length}}.with_tunable("pieces", count));
    shared.push_back(Problem{{"rows", 1}, {"n", 40000}}.with_tunable("pieces", 1024).with_tunable("threads", 32));
    if (extreme) shared.push_back(Problem{{"rows", 5}, {"n", 3000}}.with_tunable("pieces", 16).with_edges());
    return row_tests() + shared + Problems{{{"rows", 2}, {"n", 9001}}} +
           (extreme ? over(Problem{{"rows", 37}}.with_edges(), "n", {100, 2100}) : Problems{});
  }
  Problems benches() const {
    return {{{"rows", 4096}, {"n", 4096}}, {{"rows", 1024}, {"n", 4096}}, {{"rows", 1}, {"n", 1 << 22}}};
  }
  Work work(const Problem& p) const { return row_work<T>(p, true, 0, 1); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = [] {
  for (const ReductionRow& row : kReductions)
    for (const bool exclusive : {false, true})
      kernel<Scan>(std::string("mt_scan") + row.suffix + (exclusive ? "_exclusive" : ""), Floats{}, [=](auto& k) {
        set_reduction(k, row);
        k.exclusive = exclusive;
      });
  return true;
}();

}  // namespace
}  // namespace mt
