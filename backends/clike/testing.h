// Kernels that the tests of the text backends print: one per op and dtype, and a few hand-made ones.
#pragma once
#include <fmt/format.h>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "mt/ir/edit.h"
#include "mt/ir/op_kernels.h"

namespace mt::clike::testing {

inline MemoryId add_memory(Kernel& k, std::string name, DType t, Access access, std::vector<Dim> shape = {"n"}) {
  k.memories.push_back({.name = std::move(name), .dtype = t, .access = access, .shape = std::move(shape)});
  return static_cast<MemoryId>(k.memories.size() - 1);
}
inline ValueId id(Builder& b, Op op, int axis = 0) { return b.value({.op = op, .index = axis}, {DType::U32}); }

/// An `if` without results.
inline void if_then(Builder& b, ValueId condition, const std::function<void(Builder&)>& body) {
  const InstId made = b.add({.op = Op::If, .in = {condition}}, {});
  Builder inner(b.kernel, add_region(b.kernel, made));
  add_region(b.kernel, made);
  inner.loc = b.loc;
  body(inner);
}

/// A collective on one element a thread: out[i] = op(x[i]).
struct CollectiveCase {
  Op op;
  DType on;
  Combine combine = Combine::Sum;
  bool exclusive = false;
  int index = 0;
  std::string name() const {
    return fmt::format("{}_{}_{}{}_{}", info(op).name, name_of(on), name_of(combine), exclusive ? "_exclusive" : "",
                       index);
  }
};

inline std::vector<CollectiveCase> collective_cases() {
  std::vector<CollectiveCase> cases;
  for (int t = 0; t < kDTypeCount; ++t) {
    const DType on = static_cast<DType>(t);
    for (const Combine c :
         {Combine::Sum, Combine::Prod, Combine::Min, Combine::Max, Combine::And, Combine::Or, Combine::Xor})
      if (admits(info(op_of(c)).on, on)) {
        cases.push_back({Op::SimdReduce, on, c});
        cases.push_back({Op::SimdScan, on, c, false});
        cases.push_back({Op::SimdScan, on, c, true});
      }
    cases.push_back({.op = Op::SimdShuffle, .on = on});
    for (const int by : {1, 5, 16, 31}) {
      cases.push_back({.op = Op::SimdShuffleXor, .on = on, .index = by});
      cases.push_back({.op = Op::SimdShuffleUp, .on = on, .index = by});
      cases.push_back({.op = Op::SimdShuffleDown, .on = on, .index = by});
      cases.push_back({.op = Op::SimdBroadcast, .on = on, .index = by});
    }
  }
  return cases;
}

/// One simdgroup; a shuffle by value reads lane 3 * i + 40.
inline Kernel collective_kernel(const CollectiveCase& c) {
  Kernel k;
  k.name = c.name();
  k.threads = 32;
  const MemoryId x = add_memory(k, "x", c.on, Access::In, {32}), out = add_memory(k, "out", c.on, Access::Out, {32});
  Builder b(k);
  const ValueId i = id(b, Op::ThreadId);
  Inst op{.op = c.op, .combine = c.combine, .exclusive = c.exclusive, .index = c.index, .in = {b.load(x, i)}};
  if (c.op == Op::SimdShuffle)
    op.in.push_back(
        b.binary(Op::Add, b.binary(Op::Mul, i, b.constant_int(DType::U32, 3)), b.constant_int(DType::U32, 40)));
  b.store(out, i, b.value(std::move(op), {c.on}));
  return k;
}

/// An atomic on out[i % 4] in device or threadgroup memory; its old value goes to old[i].
struct AtomicCase {
  DType on;
  Combine combine;
  Space space;
  std::string name() const {
    return fmt::format("atomic_{}_{}_{}", name_of(on), name_of(combine),
                       space == Space::Device ? "device" : "threadgroup");
  }
};
inline std::vector<AtomicCase> atomic_cases(const std::vector<DType>& types) {
  std::vector<AtomicCase> cases;
  for (const DType t : types)
    for (int c = 0; c <= static_cast<int>(Combine::Exchange); ++c) {
      const auto combine = static_cast<Combine>(c);
      if (combine != Combine::Exchange && !admits(info(op_of(combine)).on, t)) continue;
      for (const Space s : {Space::Device, Space::Threadgroup}) cases.push_back({t, combine, s});
    }
  return cases;
}
inline Kernel atomic_kernel(const AtomicCase& c) {
  Kernel k;
  k.name = c.name();
  k.threads = 32;
  const MemoryId x = add_memory(k, "x", c.on, Access::In, {32});
  const MemoryId out = add_memory(k, "out", c.on, Access::InOut, {4});
  const MemoryId old = add_memory(k, "old", c.on, Access::Out, {32});
  k.memories.push_back({.name = "cells", .space = Space::Threadgroup, .dtype = c.on, .count = 4});
  const auto cells = static_cast<MemoryId>(3);
  Builder b(k);
  const ValueId i = id(b, Op::ThreadId), cell = b.binary(Op::And, i, b.constant_int(DType::U32, 3));
  const bool shared = c.space == Space::Threadgroup;
  if (shared) {
    if_then(b, b.binary(Op::Lt, i, b.constant_int(DType::U32, 4)),
            [&](Builder& in) { in.store(cells, i, in.load(out, i)); });
    b.add({.op = Op::Barrier}, {});
  }
  b.store(old, i,
          b.value({.op = Op::Atomic, .combine = c.combine, .memory = shared ? cells : out, .in = {cell, b.load(x, i)}},
                  {c.on}));
  if (shared) {
    b.add({.op = Op::Barrier}, {});
    if_then(b, b.binary(Op::Lt, i, b.constant_int(DType::U32, 4)),
            [&](Builder& in) { in.store(out, i, in.load(cells, i)); });
  }
  return k;
}

/// Compares `text` with tests/golden/<file>, or writes it there when MT_BLESS=1. Returns the difference's sentence.
inline std::string golden(const std::string& file, const std::string& text) {
  const std::string path = std::string(MT_SOURCE_DIR) + "/tests/golden/" + file;
  if (const char* bless = std::getenv("MT_BLESS"); bless && std::string(bless) == "1") {
    std::ofstream(path) << text;
    return "";
  }
  std::ifstream in(path);
  if (!in) return path + " is missing; run with MT_BLESS=1 to write it";
  std::stringstream want;
  want << in.rdbuf();
  if (want.str() == text) return "";
  return path + " differs; if this is meant, run with MT_BLESS=1. Printed now:\n" + text;
}

}  // namespace mt::clike::testing
