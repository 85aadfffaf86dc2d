// Every pure op on every dtype and every cast against the table's own semantics, on edge values and random bits.
#include <fmt/format.h>

#include <random>

#include "backends/cpu/testing.h"

namespace mt::cpu {
namespace {

constexpr std::int64_t kCount = 1024;

std::vector<std::uint64_t> samples(DType t, unsigned seed) {
  std::vector<std::uint64_t> v;
  const auto width = static_cast<unsigned>(bits_of(t));
  const std::uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
  for (const double e : {0.0,  1.0,   2.0, 3.0, 5.0, 7.0,     8.0,     31.0, 32.0, 33.0, 63.0,
                         64.0, 100.0, 0.5, 1.5, 2.5, 65504.0, 70000.0, 3e9,  1e19, 1e30})
    for (const double s : {e, -e})
      if (is_float(t) || s == std::floor(s))
        v.push_back(is_float(t) ? bits_of(t, s)
                                : static_cast<std::uint64_t>(static_cast<std::int64_t>(std::fmod(s, 9e18))) & mask);
  if (is_float(t))
    for (const double e : {HUGE_VAL, -HUGE_VAL, static_cast<double>(NAN), 1e-45, -1e-41, 6e-8, 2147483648.0,
                           -2147483904.0, 4294967296.0})
      v.push_back(bits_of(t, e));
  v.push_back(mask >> 1);
  v.push_back((mask >> 1) + 1);
  v.push_back(mask);
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> all;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::uint64_t r = random();
    const std::uint64_t some =
        is_float(t) && r % 3
            ? bits_of(t, std::ldexp(static_cast<double>(r % 4096) - 2048, static_cast<int>(r >> 58) - 32))
            : r;
    all.push_back((r >> 40) % 2 ? v[(r >> 20) % v.size()] : some & mask);
  }
  if (t == DType::Bool)
    for (auto& b : all) b &= 1;
  return all;
}

HostTensor tensor_of(const char* name, DType t, const std::vector<std::uint64_t>& bits) {
  HostTensor h(name, t, {static_cast<std::int64_t>(bits.size())});
  for (std::size_t i = 0; i < bits.size(); ++i)
    std::memcpy(h.data.data() + i * static_cast<std::size_t>(size_of(t)), &bits[i],
                static_cast<std::size_t>(size_of(t)));
  return h;
}
std::uint64_t bits_at(const HostTensor& h, std::size_t i) {
  std::uint64_t b = 0;
  std::memcpy(&b, h.data.data() + i * static_cast<std::size_t>(size_of(h.dtype)),
              static_cast<std::size_t>(size_of(h.dtype)));
  return b;
}
bool same_bits(DType t, std::uint64_t a, std::uint64_t b) {
  return a == b || (is_float(t) && std::isnan(value_of(t, a)) && std::isnan(value_of(t, b)));
}

using Make = std::function<ValueId(Builder&, const std::vector<ValueId>&)>;

/// out[i] = make(in0[i], in1[i], ...) on vectors of `lanes`; `uniform` computes on scalars of the simdgroup instead.
std::vector<HostTensor> apply(const std::vector<HostTensor>& in, DType to, int lanes, bool uniform, const Make& make) {
  Kernel k;
  k.name = "ops";
  k.threads = 32;
  Builder b(k);
  Launch l;
  for (const HostTensor& t : in) {
    k.memories.push_back({.name = t.name, .dtype = t.dtype, .access = Access::In, .shape = {"n"}});
    l.tensors.push_back(t);
  }
  k.memories.push_back({.name = "out", .dtype = to, .access = Access::Out, .shape = {"n"}});
  l.tensors.emplace_back("out", to, std::vector<std::int64_t>{kCount});
  const ValueId group = b.value({.op = Op::GroupId}, {DType::U32}), lane = b.value({.op = Op::LaneId}, {DType::U32});
  ValueId i = uniform ? group : b.binary(Op::Add, b.binary(Op::Mul, group, b.constant_int(DType::U32, 32)), lane);
  i = b.binary(Op::Mul, i, b.constant_int(DType::U32, lanes));
  std::vector<ValueId> operands;
  for (std::size_t n = 0; n < in.size(); ++n) operands.push_back(b.load(static_cast<MemoryId>(n), i, lanes));
  b.store(static_cast<MemoryId>(in.size()), i, make(b, operands));
  l.kernel = k;
  l.groups = {kCount / lanes / (uniform ? 1 : 32), 1, 1};
  return l.run("cpu");
}

class Ops : public ::testing::TestWithParam<Op> {};

TEST_P(Ops, MatchesTheTable) {
  const Op op = GetParam();
  const OpInfo& row = info(op);
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto t = static_cast<DType>(d);
    if (!admits(row.on, t)) continue;
    std::vector<HostTensor> in;
    std::vector<std::vector<std::uint64_t>> bits;
    for (int a = 0; a < row.arity; ++a) {
      bits.push_back(samples(t, static_cast<unsigned>(17 * d + a)));
      in.push_back(tensor_of(a == 0 ? "a" : a == 1 ? "b" : "c", t, bits.back()));
    }
    if (!evaluate(op, t, 0, 0, 0)) continue;
    const bool predicate = row.type == TypeRule::Pred;
    const DType to = predicate ? DType::Bool : t;
    for (const int form : {4, 0}) {
      const int lanes = form ? form : 1;
      SCOPED_TRACE(fmt::format("{} on {}x{}{}", row.name, name_of(t), lanes, form ? "" : " uniform"));
      const auto out = apply(in, to, lanes, form == 0, [&](Builder& b, const std::vector<ValueId>& v) {
        return b.value({.op = op, .in = v}, b.kernel.type(v[0]).with(to));
      });
      int wrong = 0;
      for (std::size_t i = 0; i < kCount; ++i) {
        std::uint64_t x[3] = {};
        for (std::size_t a = 0; a < bits.size(); ++a) x[a] = bits[a][i];
        const std::uint64_t want = *evaluate(op, t, x[0], x[1], x[2]), got = bits_at(out.back(), i);
        if (same_bits(to, want, got)) continue;
        // libm tells a signalling NaN, whose power of 0 is NaN, from a quiet one.
        if (op == Op::Pow && std::isnan(value_of(t, x[0]))) continue;
        const bool either_zero = op == Op::Fmin || op == Op::Fmax;
        if (either_zero && value_of(t, want) == 0 && value_of(t, got) == 0) continue;
        if (row.ulp > 0 && is_float(to)) {
          const double w = value_of(to, want), g = value_of(to, got);
          const double unit =
              t == DType::F32 ? std::max(std::fabs(w) * 0x1p-23, 0x1p-149) * row.ulp : 2.1 * half_ulp(t, w);
          if (std::fabs(w - g) <= unit || (std::isinf(w) && std::fabs(g) > 3e38)) continue;
        }
        if (++wrong <= 3)
          ADD_FAILURE() << std::hex << "operands " << x[0] << " " << x[1] << " " << x[2] << ": " << got << ", want "
                        << want;
      }
      EXPECT_EQ(wrong, 0);
    }
  }
}

std::vector<Op> table_ops() {
  std::vector<Op> all;
  for (int i = 0; i < op_count(); ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (row.effect == Effect::Pure && (row.f || row.u || row.s) && row.arity > 0) all.push_back(static_cast<Op>(i));
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, Ops, ::testing::ValuesIn(table_ops()),
                         [](const auto& p) { return std::string(mt::info(p.param).name); });

TEST(Casts, BetweenAllTypes) {
  for (int f = 0; f < kDTypeCount; ++f) {
    const auto from = static_cast<DType>(f);
    const auto bits = samples(from, static_cast<unsigned>(f));
    for (int g = 0; g < kDTypeCount; ++g) {
      const auto to = static_cast<DType>(g);
      for (const int form : {4, 0}) {
        const auto out = apply({tensor_of("a", from, bits)}, to, form ? form : 1, form == 0,
                               [&](Builder& b, const std::vector<ValueId>& v) { return b.cast(v[0], to); });
        int wrong = 0;
        for (std::size_t i = 0; i < kCount; ++i) {
          const std::uint64_t want = convert(from, to, bits[i]), got = bits_at(out.back(), i);
          if (!same_bits(to, want, got) && ++wrong <= 3)
            ADD_FAILURE() << name_of(from) << " to " << name_of(to) << (form ? " vector " : " uniform ") << std::hex
                          << bits[i] << ": " << got << ", want " << want;
        }
        EXPECT_EQ(wrong, 0);
      }
    }
  }
}

TEST(Shapes, SelectBitcastSplatPackExtract) {
  const auto a = samples(DType::F32, 1), c = samples(DType::Bool, 2);
  for (const int lanes : {1, 2, 4, 8}) {
    const auto out = apply(
        {tensor_of("a", DType::F32, a), tensor_of("c", DType::Bool, c)}, DType::F32, lanes, false,
        [&](Builder& b, const std::vector<ValueId>& v) {
          const ValueId bits = b.bitcast(v[0], DType::I32);
          const ValueId flipped = b.bitcast(b.unary(Op::Not, bits), DType::F32);
          const ValueId picked = b.select(v[1], v[0], flipped);
          if (lanes == 1) return picked;
          std::vector<ValueId> parts;
          for (int e = lanes - 1; e >= 0; --e) parts.push_back(b.extract(picked, e));
          const ValueId turned = b.value({.op = Op::Pack, .in = parts}, {DType::F32, static_cast<std::uint8_t>(lanes)});
          const ValueId first = b.splat(b.extract(v[0], 0), lanes);
          const ValueId scalar = b.extract(v[1], 0);
          return b.select(scalar, turned, first);
        });
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto n = static_cast<std::size_t>(lanes);
      const std::size_t start = i / n * n, from = start + (n - 1 - (i - start));
      const std::uint64_t picked = c[from] ? a[from] : ~a[from] & 0xffffffffu;
      const std::uint64_t want = lanes == 1 ? picked : c[start] ? picked : a[start];
      ASSERT_TRUE(same_bits(DType::F32, bits_at(out.back(), i), want)) << lanes << " lanes, element " << i;
    }
  }
}

}  // namespace
}  // namespace mt::cpu
