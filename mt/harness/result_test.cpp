#include "mt/harness/result.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <stdexcept>

#include "mt/harness/verified.h"

namespace mt {
namespace {

struct Outcome {
  std::string error;
};

TEST(Result, WhatFailsBecomesASentenceAndTheRestPasses) {
  Outcome r;
  note_failure(r, [] {});
  EXPECT_EQ(r.error, "");
  note_failure(r, [] { throw Error("the first"); });
  note_failure(r, [] { throw std::bad_alloc(); });
  EXPECT_EQ(r.error, "the first; not enough memory for this problem");
  EXPECT_THROW(note_failure(r, [] { throw std::runtime_error("Ctrl-C"); }), std::runtime_error);
}

TEST(Result, ElementsDifferByTheirBits) {
  HostTensor a("a", DType::F32, {3}), b("b", DType::F32, {3});
  const auto set = [](HostTensor& t, int i, std::uint32_t bits) { t.as<std::uint32_t>()[i] = bits; };
  EXPECT_EQ(different_element(a, b), std::nullopt);
  set(a, 2, 0x80000000u);
  EXPECT_EQ(different_element(a, b), 2) << "-0 is not 0";
  set(a, 1, 0x7fc00000u);
  set(b, 1, 0xffc00001u);
  EXPECT_EQ(different_element(a, b), 1) << "another NaN";
  EXPECT_EQ(different_element(a, b, true), 2) << "NaNs are alike, zeros are not";
  set(b, 1, 0x3f800000u);
  EXPECT_EQ(different_element(a, b, true), 1) << "one NaN";
  EXPECT_EQ(different_element(a, HostTensor("c", DType::F32, {2})), 0) << "another size";
}

}  // namespace
}  // namespace mt
