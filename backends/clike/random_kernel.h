// Random structured kernels for differential tests of the text backends.
#pragma once
#include <random>

#include "backends/clike/testing.h"

namespace mt::clike::testing {

/// A kernel of 32 threads that computes on u32: `x` (In) and `y` (InOut) hold 32 elements each, `n` is a scalar
/// below 8. Every thread reads x anywhere, and reads and writes only its own y. Control flow nests; loop-carried
/// values, results of ifs and values passed by whiles are used in all the ways that structure allows.
class RandomKernel {
 public:
  explicit RandomKernel(std::uint64_t seed) : random_(seed), b_(kernel_) {
    kernel_.name = "random_kernel";
    kernel_.threads = 32;
    kernel_.scalars = {{.name = "n"}};
    x_ = add_memory(kernel_, "x", DType::U32, Access::In, {32});
    y_ = add_memory(kernel_, "y", DType::U32, Access::InOut, {32});
    thread_ = id(b_, Op::ThreadId);
    pool_ = {thread_, b_.value({.op = Op::Param}, {DType::U32}), b_.constant_int(DType::U32, 3)};
    block(b_, 0, 12);
    b_.store(y_, thread_, pick());
  }
  const Kernel& kernel() const { return kernel_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  /// Recent values more often, so that chains form and values die early.
  ValueId pick() {
    const int n = static_cast<int>(pool_.size());
    return pool_[static_cast<std::size_t>(below(2) ? n - 1 - below(std::min(n, 4)) : below(n))];
  }
  ValueId small(Builder& b, int limit) { return b.binary(Op::And, pick(), b.constant_int(DType::U32, limit)); }
  ValueId condition(Builder& b) { return b.binary(below(2) ? Op::Lt : Op::Eq, small(b, 7), small(b, 7)); }

  void block(Builder& b, int depth, int length) {
    for (int k = 0; k < length; ++k) statement(b, depth);
  }
  void statement(Builder& b, int depth) {
    const int kind = below(depth < 3 ? 12 : 8);
    if (kind < 4) {
      constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Xor, Op::Or, Op::Max, Op::Shr, Op::Div};
      pool_.push_back(b.binary(ops[below(8)], pick(), pick()));
      if (below(4) == 0) kernel_.at(pool_.back()).name = below(2) ? "value" : "x";
    } else if (kind == 4) {
      pool_.push_back(b.load(x_, small(b, 31)));
    } else if (kind == 5) {
      pool_.push_back(b.load(y_, thread_));
    } else if (kind == 6) {
      b.store(y_, thread_, pick());
    } else if (kind == 7) {
      pool_.push_back(b.select(condition(b), pick(), pick()));
    } else if (kind == 8 || kind == 9) {
      conditional(b, depth);
    } else if (kind == 10) {
      loop(b, depth);
    } else {
      while_loop(b, depth);
    }
  }
  std::vector<ValueId> picks(int count) {
    std::vector<ValueId> list;
    for (int k = 0; k < count; ++k) list.push_back(pick());
    return list;
  }
  Builder inside(InstId owner) { return Builder(kernel_, add_region(kernel_, owner)); }
  void keep(InstId made, std::size_t before) {
    pool_.resize(before);
    for (const ValueId v : kernel_.at(made).out) pool_.push_back(v);
  }

  void conditional(Builder& b, int depth) {
    const int results = below(4);
    const ValueId c = condition(b);
    const std::size_t before = pool_.size();
    const InstId made =
        b.add({.op = Op::If, .in = {c}}, std::vector<Type>(static_cast<std::size_t>(results), {DType::U32}));
    for (int side = 0; side < 2; ++side) {
      Builder inner = inside(made);
      block(inner, depth + 1, below(side ? 2 : 4));
      kernel_.at(inner.region).yields = picks(results);
      pool_.resize(before);
    }
    keep(made, before);
  }
  void loop(Builder& b, int depth) {
    const int carried = below(4);
    const ValueId end = small(b, 3), begin = b.constant_int(DType::U32, below(2)),
                  step = b.constant_int(DType::U32, 1 + below(2));
    std::vector<ValueId> in = {begin, end, step};
    for (const ValueId v : picks(carried)) in.push_back(v);
    const std::size_t before = pool_.size();
    const InstId made =
        b.add({.op = Op::For, .in = in}, std::vector<Type>(static_cast<std::size_t>(carried), {DType::U32}));
    Builder inner = inside(made);
    for (int k = 0; k <= carried; ++k) pool_.push_back(add_arg(kernel_, inner.region, {DType::U32}));
    block(inner, depth + 1, 1 + below(4));
    kernel_.at(inner.region).yields = picks(carried);
    keep(made, before);
  }
  /// Counts down from a small number; whatever else it carries is arbitrary.
  void while_loop(Builder& b, int depth) {
    const int carried = below(3), passed = below(3);
    std::vector<ValueId> in = {small(b, 3)};
    for (const ValueId v : picks(carried)) in.push_back(v);
    const std::size_t before = pool_.size();
    const std::vector<Type> types(static_cast<std::size_t>(passed) + 1, {DType::U32});
    const InstId made = b.add({.op = Op::While, .in = in}, types);
    Builder test = inside(made);
    for (int k = 0; k <= carried; ++k) pool_.push_back(add_arg(kernel_, test.region, {DType::U32}));
    const ValueId left = kernel_.at(test.region).args[0];
    block(test, depth + 1, below(3));
    std::vector<ValueId> yields = {test.binary(Op::Gt, left, test.constant_int(DType::U32, 0)), left};
    for (const ValueId v : picks(passed)) yields.push_back(v);
    kernel_.at(test.region).yields = yields;
    pool_.resize(before);
    Builder body = inside(made);
    for (int k = 0; k <= passed; ++k) pool_.push_back(add_arg(kernel_, body.region, {DType::U32}));
    const ValueId count = kernel_.at(body.region).args[0];
    block(body, depth + 1, below(3));
    std::vector<ValueId> next = {body.binary(Op::Sub, count, body.constant_int(DType::U32, 1))};
    for (const ValueId v : picks(carried)) next.push_back(v);
    kernel_.at(body.region).yields = next;
    keep(made, before);
  }

  std::mt19937_64 random_;
  Kernel kernel_;
  Builder b_;
  MemoryId x_, y_;
  ValueId thread_;
  std::vector<ValueId> pool_;
};

}  // namespace mt::clike::testing
