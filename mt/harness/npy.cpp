#include "mt/harness/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>

#include "mt/base/error.h"

namespace mt {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// The largest array in elements; far beyond what fits into memory and below what could overflow a size.
constexpr std::int64_t kMost = std::int64_t{1} << 46;

std::string_view descr_of(DType t) {
  constexpr std::string_view names[kDTypeCount] = {"<f4", "<f2", "<V2", "|i1", "|u1", "<i2",
                                                   "<u2", "<i4", "<u4", "<i8", "<u8", "|b1"};
  return names[static_cast<int>(t)];
}

struct Header {
  std::string descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::int64_t>> shape;
};

/// The Python dictionary of literals at the head of a file.
class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header run() {
    Header h;
    want('{');
    while (!take('}')) {
      const std::string key = word();
      want(':');
      if (key == "descr")
        h.descr = word();
      else if (key == "fortran_order")
        h.fortran = flag();
      else if (key == "shape")
        h.shape = shape();
      else
        fail(fmt::format("its header has a key '{}'", key));
      if (!take(',')) {
        want('}');
        break;
      }
    }
    return h;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("{}: {}", name_, what)); }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void want(char c) {
    if (!take(c)) fail(fmt::format("its header has no '{}' where one belongs", c));
  }
  std::string word() {
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("its header is damaged, or its elements have fields");
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("its header is damaged");
    const std::string w(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return w;
  }
  bool flag() {
    blanks();
    for (const bool value : {false, true}) {
      const std::string_view w = value ? "True" : "False";
      if (text_.substr(at_).starts_with(w)) {
        at_ += w.size();
        return value;
      }
    }
    fail("its header says neither True nor False for fortran_order");
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> all;
    std::int64_t count = 1;
    want('(');
    while (!take(')')) {
      blanks();
      std::int64_t n = -1;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
      if (error != std::errc{} || n < 0) fail("its shape is damaged");
      at_ = static_cast<std::size_t>(end - text_.data());
      if (n > 0 && count > kMost / n) fail("its shape is larger than memory can be");
      count *= n;
      all.push_back(n);
      if (!take(',')) {
        want(')');
        break;
      }
    }
    return all;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

std::optional<DType> dtype_of(std::string descr) {
  if (descr.size() > 1 && (descr[0] == '=' || descr[0] == '|')) descr[0] = '<';
  for (int i = 0; i < kDTypeCount; ++i) {
    std::string known(descr_of(static_cast<DType>(i)));
    known[0] = '<';
    if (descr == known) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace

HostTensor parse_npy(std::string_view bytes, const std::string& name) {
  const auto fail = [&](const std::string& what) { throw Error(fmt::format("{}: {}", name, what)); };
  if (!bytes.starts_with(kMagic) || bytes.size() < 12) fail("is no .npy file");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) fail(fmt::format("is a .npy file of version {}; 1 to 3 are known", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[8 + i]);
  const std::size_t start = 8 + length_bytes;
  if (length > bytes.size() - start) fail("ends within its header");
  const Header h = Parser(bytes.substr(start, length), name).run();
  if (h.descr.empty() || !h.fortran || !h.shape) fail("its header lacks descr, fortran_order or shape");
  const auto dtype = dtype_of(h.descr);
  if (!dtype)
    fail(fmt::format(
        "holds elements of type {}; known are little-endian f2, f4, i1 to i8, u1 to u8, b1, and V2 for bf16", h.descr));
  if (*h.fortran && h.shape->size() > 1) fail("is in Fortran order; store it with numpy.ascontiguousarray");
  std::int64_t count = 1;
  for (const std::int64_t n : *h.shape) count *= n;
  const std::string_view data = bytes.substr(start + length);
  if (data.size() != static_cast<std::size_t>(count) * static_cast<std::size_t>(size_of(*dtype)))
    fail(fmt::format("holds {} bytes after its header; its shape needs {}", data.size(), count * size_of(*dtype)));
  HostTensor tensor(name, *dtype, *h.shape);
  if (!data.empty()) std::memcpy(tensor.data.data(), data.data(), data.size());
  return tensor;
}

std::string npy_bytes(const HostTensor& tensor) {
  std::string shape;
  for (const std::int64_t n : tensor.shape) shape += fmt::format("{},{}", n, tensor.shape.size() > 1 ? " " : "");
  if (tensor.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr_of(tensor.dtype), shape);
  // The data begin at a multiple of 64.
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  return bytes;
}

}  // namespace mt
