// A strided view of up to 8 dimensions made contiguous: out[i0, i1, …] = src[offset + i0 * s0 + i1 * s1 + …].
#include "kernels/lib/row.h"
#include "mt/oracle/movement.h"

namespace mt {
namespace {

constexpr int kMostDims = 8;
const char* const kSizes[] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};
const char* const kStrides[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};

/// Sizes d0 … d(rank-1), strides s0 … in elements (0 repeats), `offset` of the first element, `src_size` and `n` of the
/// two buffers. The last dimension is walked by the threads of one threadgroup. On GPUs a transpose, where the last but
/// one stride is 1, goes through tiles in threadgroup memory, so that neighbouring threads read neighbours and write
/// neighbours.
template <Storage T>
struct StridedCopy {
  static constexpr int kTile = 32, kWideTile = 64;

  In<T> src{"src", {"src_size"}};
  Out<T> out{"out", {"n"}};
  Size sizes[kMostDims] = {Size(kSizes[0]), Size(kSizes[1]), Size(kSizes[2]), Size(kSizes[3]),
                           Size(kSizes[4]), Size(kSizes[5]), Size(kSizes[6]), Size(kSizes[7])};
  LargeSize strides[kMostDims] = {LargeSize(kStrides[0]), LargeSize(kStrides[1]), LargeSize(kStrides[2]),
                                  LargeSize(kStrides[3]), LargeSize(kStrides[4]), LargeSize(kStrides[5]),
                                  LargeSize(kStrides[6]), LargeSize(kStrides[7])};
  LargeSize offset{"offset"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};  // elements a thread takes at a time, where rows are dense here or there
  int rank = 1;
  bool dense = true;   // the last stride is 1
  bool tiled = false;  // in tiles of the last two dimensions
  int side = kTile;    // of a tile
  int unit = 1;        // every row starts at a multiple of it, here and there, and has whole ones

  void plan(const Problem& p, TargetTraits traits) {
    rank = static_cast<int>(std::clamp<std::int64_t>(p["rank"], 1, kMostDims));
    dense = p[kStrides[rank - 1]] == 1;
    tiled = traits.gpu && !dense && rank >= 2 && p[kStrides[rank - 2]] == 1 && p[kSizes[rank - 2]] >= kTile &&
            p[kSizes[rank - 1]] >= kTile;
    threads = tiled ? 256 : row_threads(p[kSizes[rank - 1]], traits);
    width = dense || tiled ? 16 / size_of(dtype_of<T>) : 1;
    unit = width;
    const auto whole = [&](std::int64_t n) { unit = n % unit == 0 ? unit : 1; };
    whole(p["offset"]);
    whole(p[kSizes[rank - 1]]);
    const int contiguous = tiled ? rank - 2 : rank - 1;  // the dimension of stride 1
    for (int d = 0; d < rank; ++d)
      if (d != contiguous) whole(p[kStrides[d]]);
    if (tiled) whole(p[kSizes[rank - 2]]);
    side = tiled && unit > 1 ? kWideTile : kTile;
  }
  Launch launch(const Problem& p) const {
    require(p["rank"] >= 1 && p["rank"] <= kMostDims, "rank must be 1 to 8");
    std::int64_t count = 1, last = p["offset"];
    bool fits = true, empty = false;  // fits: all places are numbers of 64 bits
    for (int d = 0; d < rank; ++d) {
      const std::int64_t size = p[kSizes[d]];
      std::int64_t reach = 0;
      empty = empty || size == 0;
      fits = !__builtin_mul_overflow(size - 1, p[kStrides[d]], &reach) && fits;
      fits = !__builtin_add_overflow(last, reach, &last) && !__builtin_mul_overflow(count, size, &count) && fits;
    }
    require(p["n"] == (empty ? 0 : count), "n must be the product of the sizes d0, d1, …");
    require(empty || (fits && p["offset"] >= 0 && last < p["src_size"]),
            "the last element read must lie inside src: offset + sum of (d - 1) * s < src_size");
    const std::int64_t inner = p[kSizes[rank - 1]];
    if (tiled) {
      const std::int64_t rows = p[kSizes[rank - 2]];
      return {.groups = {empty ? 0 : count / (inner * rows) * ceil_div(rows, side) * ceil_div(inner, side)},
              .threads = threads};
    }
    return {.groups = {empty ? 0 : count / inner}, .threads = threads};
  }

  /// Where the part of the view starts that the `outer` first dimensions say, given by its number in row-major order.
  U64 start_of(const U32& number, int outer) const {
    // Counted in units, so that the compiler sees what places are multiples of.
    const u64 step = static_cast<u64>(unit);
    Var<u32> rest(number);
    Var<u64> from(U64(offset) / step);
    for (int d = outer - 1; d >= 0; --d) {
      from += U64(d > 0 ? rest % sizes[d] : rest) * (U64(strides[d]) / step);
      if (d > 0) rest = rest / sizes[d];
    }
    return from * step;
  }

  /// A thread reads `unit` elements along the rows of the source and writes as many along those of the result.
  void body_tiled() const {
    const u32 edge = static_cast<u32>(side), lanes = static_cast<u32>(unit), step = lanes;
    const u32 pitch = edge + 1;  // a column of the tile then lies in as many banks as a row
    const U32 rows = sizes[rank - 2] / step * step, inner = sizes[rank - 1] / step * step;
    const U32 across = (inner + (edge - 1)) / edge, down = (rows + (edge - 1)) / edge;
    const U32 left = group_id() % across * edge, line = group_id() / across;
    const U32 top = line % down * edge, plane = line / down;
    const auto source = src.from(start_of(plane, rank - 2));
    const auto result = out.from(U64(plane) * U64(rows) * U64(inner));
    const U64 stride = U64(strides[rank - 1]) / u64{step} * u64{step};
    const Shared<f32> tile("tile", std::int64_t{edge} * pitch);
    const u32 runs = edge / lanes, at_once = std::max(static_cast<u32>(threads) / runs, 1u);  // of a line; lines
    const U32 along = thread_id() % runs * lanes, first = thread_id() / runs;
    const auto each_line = [&](auto&& move) {
      if (at_once > edge)
        if_(first < edge, [&] { move(first); });
      else
        for (u32 k = 0; k < edge; k += at_once) move(first + k);
    };
    each_line([&](const U32& other) {
      const U32 row = top + along, column = left + other;
      if_((row < rows) & (column < inner),
          [&] { tile.store(other * pitch + along, source.load(U64(row) + U64(column) * stride, unit)); });
    });
    barrier();
    each_line([&](const U32& other) {
      const U32 row = top + other, column = left + along;
      if_((row < rows) & (column < inner), [&] {
        const Vec<f32> v = pack(unit, [&](int k) { return tile.load((along + static_cast<u32>(k)) * pitch + other); });
        result.store(U64(row) * U64(inner) + U64(column), v);
      });
    });
  }

  void body() const {
    if (tiled) return body_tiled();
    const U32 inner = sizes[rank - 1];
    const u64 step = static_cast<u64>(unit);
    const auto source = src.from(start_of(group_id(), rank - 1));
    const auto result = out.from(U64(group_id()) * (U64(inner) / step) * step);
    const U64 stride = strides[rank - 1];
    for_row_(inner, width, dense && unit == width, [&](U32 i, int lanes) {
      if (dense)
        result.store(i, source.load(i, lanes));
      else
        result.store(i, source.load(U64(i) * stride));
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    std::vector<std::int64_t> shape, step;
    for (int d = 0; d < in.size("rank"); ++d) {
      shape.push_back(in.size(kSizes[d]));
      step.push_back(in.size(kStrides[d]));
    }
    return {{"out", oracle::strided_copy(in["src"], shape, step, in.size("offset"))}};
  }

  /// A view of the given sizes and strides over a source that just holds it.
  static Problem view(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& step,
                      std::int64_t offset = 0) {
    std::int64_t count = 1, last = offset;
    Problem p{{"rank", static_cast<std::int64_t>(shape.size())}, {"offset", offset}};
    for (std::size_t d = 0; d < kMostDims; ++d) {
      const bool used = d < shape.size();
      p = p.with(kSizes[d], used ? shape[d] : 1).with(kStrides[d], used ? step[d] : 0);
      if (!used) continue;
      count *= shape[d];
      last += (shape[d] - 1) * step[d];
    }
    return p.with("n", count).with("src_size", std::max<std::int64_t>(last + 1, 1));
  }
  Problems tests() const {
    return {view({1}, {1}),
            view({33}, {2}, 3),
            view({5, 70}, {80, 1}),
            view({3, 700}, {704, 1}),
            view({5, 72}, {80, 1}, 8),
            view({64}, {1}, 4),
            view({96, 64}, {1, 96}),
            view({40, 33}, {1, 64}, 5),
            view({70, 5}, {1, 80}),
            view({70, 90}, {1, 70}),
            view({72, 136}, {1, 80}, 8),
            view({2, 3, 40, 72}, {8960, 2888, 1, 40}, 8),
            view({64, 128}, {1, 64}).with_tunable("threads", 1024),
            view({2, 3, 33, 40}, {5000, 1500, 1, 35}, 7),
            view({4, 9}, {0, 1}),
            view({4, 9}, {1, 0}),
            view({3, 4, 5}, {20, 5, 1}),
            view({5, 4, 3}, {1, 5, 20}),
            view({2, 3, 2, 3, 2, 3, 2, 3}, {648, 216, 108, 36, 18, 6, 3, 1}, 1),
            view({0, 8}, {8, 1}),
            view({1000, 1025}, {1100, 1})};
  }
  Problems benches() const { return {view({1024, 4096}, {4096 + 128, 1}), view({4096, 4096}, {1, 4096})}; }
  Work work(const Problem& p) const {
    const double bytes = static_cast<double>(p["n"]) * size_of(dtype_of<T>);
    return {.read = bytes, .written = bytes};
  }
};

const bool registered = kernel<StridedCopy>("mt_strided_copy_nd", Floats{});

}  // namespace
}  // namespace mt
