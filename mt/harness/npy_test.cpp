#include "mt/harness/npy.h"

#include <gtest/gtest.h>

#include "mt/base/error.h"

namespace mt {
namespace {

std::string sentence(const std::string& bytes) {
  try {
    parse_npy(bytes, "x.npy");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// A file with this header.
std::string with_header(std::string header, const std::string& data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(i == 0 ? header.size() & 0xff : i == 1 ? header.size() >> 8 : 0);
  return bytes + header + data;
}

TEST(Npy, TensorsComeBack) {
  for (int t = 0; t < kDTypeCount; ++t)
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{}, {5}, {2, 3}, {0, 4}, {1, 1, 1, 7}}) {
      HostTensor x("x", static_cast<DType>(t), shape);
      for (std::int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i % 2));
      const std::string bytes = npy_bytes(x);
      const HostTensor y = parse_npy(bytes, "x.npy");
      EXPECT_EQ(y.dtype, x.dtype);
      EXPECT_EQ(y.shape, x.shape);
      EXPECT_EQ(y.data, x.data);
      EXPECT_EQ((bytes.size() - x.bytes()) % 64, 0u);
    }
}

TEST(Npy, ReadsWhatNumpyWrites) {
  const HostTensor x = parse_npy(
      with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }     \n", std::string(8, '\0')), "x");
  EXPECT_EQ(x.shape, (std::vector<std::int64_t>{2}));
  const HostTensor y = parse_npy(with_header("{\"shape\":(1,2),'fortran_order':False,'descr':'|u1'}", "ab", 2), "y");
  EXPECT_EQ(y.int_at(1), 'b');
  EXPECT_EQ(npy_bytes(x).substr(10, 55), "{'descr': '<f4', 'fortran_order': False, 'shape': (2,),");
}

TEST(Npy, DamageIsNamed) {
  const std::string good = npy_bytes(HostTensor("x", DType::F32, {3}));
  EXPECT_EQ(sentence(""), "x.npy: is no .npy file");
  for (std::size_t cut = 0; cut < good.size(); ++cut) EXPECT_NE(sentence(good.substr(0, cut)), "") << cut;
  EXPECT_EQ(sentence(good + "x"), "x.npy: holds 13 bytes after its header; its shape needs 12");
  EXPECT_NE(sentence(with_header("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "1234")).find("type >f4"),
            std::string::npos);
  EXPECT_NE(sentence(with_header("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "12345678")).find("type <f8"),
            std::string::npos);
  EXPECT_NE(sentence(with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1)}", "1234")).find("Fortran"),
            std::string::npos);
  EXPECT_NE(sentence(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999)}", ""))
                .find("larger than memory"),
            std::string::npos);
  EXPECT_NE(
      sentence(with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "1234")).find("fields"),
      std::string::npos);
  EXPECT_NE(sentence(with_header("{'descr': '<f4', 'shape': ()}", "1234")).find("lacks"), std::string::npos);
  EXPECT_NE(sentence(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "1234")).find("damaged"),
            std::string::npos);
}

}  // namespace
}  // namespace mt
