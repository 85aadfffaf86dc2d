#include "mt/harness/buffer_spec.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "mt/harness/file.h"
#include "mt/harness/npy.h"
#include "mt/harness/select.h"

namespace mt {
namespace {

TEST(BufferSpec, GeneratesData) {
  const HostTensor zeros = make_buffer("zeros:f16:4x128");
  EXPECT_EQ(zeros.dtype, DType::F16);
  EXPECT_EQ(zeros.shape, (std::vector<std::int64_t>{4, 128}));
  EXPECT_EQ(zeros.at(511), 0);
  EXPECT_EQ(make_buffer("ones:bf16:3").at(2), 1);
  EXPECT_EQ(make_buffer("arange:u32:1000").int_at(999), 999);
  EXPECT_EQ(make_buffer("u32:7").int_at(0), 7);
  EXPECT_EQ(make_buffer("u32:7").count(), 1);
  EXPECT_EQ(make_buffer("f32:-1.5").at(0), -1.5);
  EXPECT_EQ(make_scalar("true:bool").int_at(0), 1);
  EXPECT_EQ(make_scalar("18446744073709551615:u64").int_at(0), -1);
  const HostTensor a = make_buffer("random:f32:64"), b = make_buffer("random:f32:64:1"),
                   c = make_buffer("random:f32:64:2");
  EXPECT_EQ(a.data, b.data);
  EXPECT_NE(a.data, c.data);
  const HostTensor i = make_buffer("random:u8:1000");
  for (std::int64_t k = 0; k < 1000; ++k) EXPECT_LE(i.int_at(k), 200);
}

TEST(BufferSpec, ReadsFiles) {
  const auto folder = std::filesystem::temp_directory_path() / ("mt_spec_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string raw = folder / "a:b.bin", npy = folder / "x.npy";
  write_file(raw, std::string("\1\0\2\0\3\0\4\0", 8));
  EXPECT_EQ(make_buffer(raw + ":u16:2x2").int_at(3), 4);
  EXPECT_THROW(make_buffer(raw + ":u16:5"), Error);
  write_file(npy, npy_bytes(make_buffer("arange:i32:5")));
  EXPECT_EQ(make_buffer(npy).int_at(4), 4);
  std::filesystem::remove_all(folder);
  EXPECT_THROW(make_buffer(npy), Error);
}

TEST(BufferSpec, RefusesWhatDescribesNothing) {
  for (const char* spec : {"", "zeros", "zeros:f32", "zeros:f99:4", "zeros:f32:4x", "zeros:f32:x4", "zeros:f32:-1",
                           "zeros:f32:4:5", "random:f32:4:x", "u8:256", "i8:-129", "u32:1.5", "f32:abc",
                           "u32:", "zeros:f32:99999999999x99999999999", "a:b"})
    EXPECT_THROW(make_buffer(spec), UsageError) << spec;
  EXPECT_THROW(make_scalar("7"), UsageError);
}

TEST(BufferSpec, Summaries) {
  EXPECT_EQ(summary(make_buffer("arange:f32:2x4")), "f32 [2, 4]: 0 to 7, mean 3.5; first 0, 1, 2, 3, 4, 5, …");
  EXPECT_EQ(summary(make_buffer("zeros:u8:0")), "u8 [0]");
  HostTensor x("x", DType::F32, {2});
  x.set(0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(summary(x), "f32 [2]: 0 to 0, mean 0, 1 NaN; first nan, 0");
}

}  // namespace
}  // namespace mt
