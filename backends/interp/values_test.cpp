#include <random>

#include "backends/interp/loops.h"
#include "backends/interp/testing.h"

namespace mt::interp {
namespace {

/// Edge values and random bits of a dtype.
std::vector<std::uint64_t> samples(DType t, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> v;
  const std::uint64_t mask = size_of(t) == 8 ? ~0ull : (1ull << (8 * size_of(t))) - 1;
  for (const double x : {0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, 31.0, 32.0, 33.0, 63.0, 64.0, 1e-40, 1e9, -1e9, 3e38})
    v.push_back(t == DType::Bool ? x != 0 : bits_of(t, is_float(t) || std::abs(x) < 1e10 ? x : 7) & mask);
  if (is_float(t))
    for (const double x : {1.0 / 0.0, -1.0 / 0.0}) v.push_back(bits_of(t, x));
  else
    for (const std::uint64_t x : {mask, mask >> 1, (mask >> 1) + 1}) v.push_back(t == DType::Bool ? 1 : x);
  if (t == DType::F32) v.push_back(0x7fc12345u);
  while (v.size() < count) {
    const std::uint64_t bits = random();
    v.push_back(t == DType::Bool          ? bits & 1
                : is_float(t) && bits % 2 ? bits_of(t, static_cast<double>(random() % 2000) / 64 - 15)
                                          : bits & mask);
  }
  std::shuffle(v.begin(), v.end(), random);
  return v;
}

HostTensor tensor(const char* name, DType t, const std::vector<std::uint64_t>& bits) {
  HostTensor h(name, t, {static_cast<std::int64_t>(bits.size())});
  for (std::size_t i = 0; i < bits.size(); ++i) put_bits(h.data.data(), size_of(t), i, bits[i]);
  return h;
}

constexpr std::size_t kCount = 512;

/// out[i] = f(a[i], b[i], c[i]) with 64 threads that hold `lanes` elements each.
template <class F>
Launch elementwise(DType in, DType out, int lanes, F make) {
  Kernel k;
  k.name = "elementwise";
  k.threads = 64;
  for (const char* name : {"a", "b", "c"})
    k.memories.push_back({.name = name, .dtype = in, .access = Access::In, .shape = {"n"}});
  k.memories.push_back({.name = "out", .dtype = out, .access = Access::Out, .shape = {"n"}});
  Builder b(k);
  const ValueId group = b.value({.op = Op::GroupId}, {DType::U32}),
                thread = b.value({.op = Op::ThreadId}, {DType::U32});
  const ValueId at =
      b.binary(Op::Mul, b.binary(Op::Add, b.binary(Op::Mul, group, b.constant_int(DType::U32, 64)), thread),
               b.constant_int(DType::U32, lanes));
  const auto load = [&](int m) { return b.load(static_cast<MemoryId>(m), at, lanes); };
  const ValueId x = load(0), y = load(1), z = load(2);
  b.store(static_cast<MemoryId>(3), at, make(b, x, y, z));
  Launch l{.kernel = k};
  for (unsigned i = 0; i < 3; ++i) l.tensors.push_back(tensor("in", in, samples(in, kCount, i)));
  l.tensors.emplace_back("out", out, std::vector<std::int64_t>{kCount});
  l.groups = {static_cast<std::int64_t>(kCount) / (64 * lanes), 1, 1};
  return l;
}
std::uint64_t element(const HostTensor& t, std::size_t i) { return bits_at(t.data.data(), size_of(t.dtype), i); }

TEST(Values, EveryPureOpGivesWhatEvaluateGives) {
  int ops = 0;
  for (int o = 0; o < op_count(); ++o)
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto op = static_cast<Op>(o);
      const auto t = static_cast<DType>(d);
      const OpInfo& row = info(op);
      if (row.effect != Effect::Pure || !admits(row.on, t) || !evaluate(op, t, 1, 1, 1)) continue;
      const DType out = row.type == TypeRule::Pred ? DType::Bool : t;
      for (const int lanes : {1, 4}) {
        Launch l = elementwise(t, out, lanes, [&](Builder& b, ValueId x, ValueId y, ValueId z) {
          return row.arity == 1 ? b.unary(op, x) : row.arity == 2 ? b.binary(op, x, y) : b.fma(x, y, z);
        });
        ASSERT_EQ(l.run(), "");
        for (std::size_t i = 0; i < kCount; ++i) {
          const std::uint64_t x = element(l.tensors[0], i), y = element(l.tensors[1], i), z = element(l.tensors[2], i);
          const std::uint64_t want = *evaluate(op, t, x, y, z), got = element(l.tensors[3], i);
          const bool both_nan = is_float(out) && std::isnan(value_of(out, want)) && std::isnan(value_of(out, got));
          ASSERT_TRUE(got == want || both_nan) << row.name << " " << name_of(t) << "x" << lanes << " of " << x << ", "
                                               << y << ", " << z << " gives " << got << ", not " << want;
        }
      }
      ++ops;
    }
  EXPECT_GT(ops, 250);
}

TEST(Values, EveryCastGivesWhatConvertGives) {
  for (int f = 0; f < kDTypeCount; ++f)
    for (int to = 0; to < kDTypeCount; ++to) {
      const auto from = static_cast<DType>(f), out = static_cast<DType>(to);
      if (from == out) continue;
      Launch l = elementwise(from, out, 2, [&](Builder& b, ValueId x, ValueId, ValueId) { return b.cast(x, out); });
      ASSERT_EQ(l.run(), "");
      for (std::size_t i = 0; i < kCount; ++i) {
        const std::uint64_t x = element(l.tensors[0], i);
        ASSERT_EQ(element(l.tensors[3], i), convert(from, out, x))
            << name_of(from) << " to " << name_of(out) << " of " << x;
      }
    }
}

TEST(Values, SelectBitcastSplatPackExtractReduce) {
  Launch l = elementwise(DType::F32, DType::F32, 4, [](Builder& b, ValueId x, ValueId y, ValueId z) {
    const ValueId each = b.select(b.binary(Op::Lt, x, y), y, z);                                // a condition a lane
    const ValueId all = b.select(b.binary(Op::Lt, b.extract(x, 2), b.extract(y, 2)), x, each);  // one for all lanes
    const ValueId bits = b.bitcast(b.bitcast(all, DType::U32), DType::F32);
    const ValueId last = b.splat(b.extract(bits, 3), 4);
    const ValueId least = b.value({.op = Op::VectorReduce, .combine = Combine::Min, .in = {bits}}, {DType::F32});
    return b.value({.op = Op::Pack, .in = {b.extract(bits, 1), b.extract(bits, 0), b.extract(last, 2), least}},
                   {DType::F32, 4});
  });
  ASSERT_EQ(l.run(), "");
  for (std::size_t i = 0; i < kCount; i += 4) {
    std::uint64_t v[4];
    const auto less = [&](std::size_t e) {
      return *evaluate(Op::Lt, DType::F32, element(l.tensors[0], i + e), element(l.tensors[1], i + e)) != 0;
    };
    for (std::size_t e = 0; e < 4; ++e) v[e] = element(l.tensors[less(2) ? 0 : less(e) ? 1 : 2], i + e);
    std::uint64_t least = v[0];
    for (std::size_t e = 1; e < 4; ++e) least = *evaluate(Op::Min, DType::F32, least, v[e]);
    const std::uint64_t want[4] = {v[1], v[0], v[3], least};
    for (std::size_t e = 0; e < 4; ++e) ASSERT_EQ(element(l.tensors[3], i + e), want[e]) << i + e;
  }
}

TEST(Values, IndicesOfThreadsAndGroups) {
  Kernel k = parsed(R"(kernel @ids threads 64 {
  device out %o: u64 [n]
  scalar %unused: f32
  scalar %base: u64
  %t: u32 = thread_id
  %l: u32 = lane_id
  %s: u32 = simd_id
  %x: u32 = group_id 0
  %y: u32 = group_id 1
  %z: u32 = group_id 2
  %b: u64 = param %base
  %c10: u32 = const 10
  %c100: u32 = const 100
  %c6: u32 = const 6
  %c2: u32 = const 2
  %c64: u32 = const 64
  %1: u32 = mul %s, %c100
  %2: u32 = add %1, %l
  %3: u32 = mul %z, %c6
  %4: u32 = mul %y, %c2
  %5: u32 = add %3, %4
  %6: u32 = add %5, %x
  %7: u32 = mul %6, %c64
  %8: u32 = add %7, %t
  %9: u64 = cast %2
  %v: u64 = add %9, %b
  store %o[%8], %v
})");
  Launch l{.kernel = k,
           .tensors = {HostTensor("o", DType::U64, {64 * 2 * 3 * 4})},
           .scalars = {0, 1ull << 40},
           .groups = {2, 3, 4}};
  ASSERT_EQ(l.run(), "");
  for (std::int64_t i = 0; i < l.tensors[0].count(); ++i)
    ASSERT_EQ(l.tensors[0].int_at(i), (1ll << 40) + i % 64 / 32 * 100 + i % 32) << i;
}

}  // namespace
}  // namespace mt::interp
