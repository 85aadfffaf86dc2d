#include "mt/harness/memory.h"

#include <gtest/gtest.h>

namespace mt {
namespace {

TensorParam tensor(Access access, bool temporary = false) {
  TensorParam t;
  t.name = "t";
  t.dtype = DType::F16;
  t.access = access;
  t.temporary = temporary;
  return t;
}

TEST(Memory, CountsCopiesAndExpectations) {
  const TensorParam in = tensor(Access::In), out = tensor(Access::Out), temporary = tensor(Access::InOut, true);
  EXPECT_EQ(verified_bytes({{&in, {100}, 100, 200}}), 400);
  EXPECT_EQ(verified_bytes({{&out, {100}, 100, 200}}), 400 + 1600);
  EXPECT_EQ(verified_bytes({{&temporary, {100}, 100, 200}}), 200);
}

TEST(Memory, TooMuchIsRefusedWithASentence) {
  const TensorParam in = tensor(Access::In);
  const std::vector<TensorSlot> slots = {{&in, {1 << 30}, 1 << 30, std::size_t{2} << 30}};
  EXPECT_NO_THROW(check_memory(slots, 4.0 * (1 << 30)));
  EXPECT_NO_THROW(check_memory(slots, std::nullopt));
  try {
    check_memory(slots, 1.0 * (1 << 30));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("take 4 GiB, but 1 GiB of memory are free; give smaller sizes"),
              std::string::npos)
        << e.what();
  }
}

TEST(Memory, TheSystemSaysWhatIsFree) {
  const std::optional<double> free = free_memory();
#ifdef __linux__
  ASSERT_TRUE(free);
#endif
  if (free) {
    EXPECT_GT(*free, 1e6);
  }
}

}  // namespace
}  // namespace mt
