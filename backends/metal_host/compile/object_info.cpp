#include "backends/metal_host/compile/object_info.h"

#include <cstring>

#include "backends/elf_format.h"
#include "backends/metal_host/shim/msl_info.h"

namespace mt::metal_host {
namespace {

/// A copy of the T at `offset`, or zeros beyond the end.
template <class T>
T read_at(std::string_view bytes, std::uint64_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T))
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

class Writer {
 public:
  void number(std::int64_t n) { out.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void text(std::string_view t) {
    number(static_cast<std::int64_t>(t.size()));
    out += t;
  }
  std::string out;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::int64_t number() {
    if (bytes_.size() < sizeof(std::int64_t)) {
      good = false;
      return 0;
    }
    const auto n = read_at<std::int64_t>(bytes_, 0);
    bytes_.remove_prefix(sizeof n);
    return n;
  }
  std::string text() {
    const std::int64_t n = number();
    if (n < 0 || static_cast<std::uint64_t>(n) > bytes_.size()) {
      good = false;
      return "";
    }
    std::string t(bytes_.substr(0, static_cast<std::size_t>(n)));
    bytes_.remove_prefix(static_cast<std::size_t>(n));
    return t;
  }
  template <class E>
  E choice() {
    return static_cast<E>(number());
  }
  int integer() { return static_cast<int>(number()); }
  std::size_t size() { return static_cast<std::size_t>(number()); }
  /// A count of what takes at least a byte each.
  std::size_t count() {
    const std::int64_t n = number();
    if (n < 0 || static_cast<std::uint64_t>(n) > bytes_.size()) good = false;
    return good ? static_cast<std::size_t>(n) : 0;
  }
  bool at_end() const { return bytes_.empty(); }
  bool good = true;

 private:
  std::string_view bytes_;
};

}  // namespace

std::string_view variable_bytes(std::string_view object, std::string_view symbol) {
  const auto head = read_at<elf::Header>(object, 0);
  if (std::memcmp(head.ident, elf::kMagic, sizeof elf::kMagic) != 0) return {};
  const auto section = [&](std::uint64_t n) {
    return read_at<elf::Section>(object, head.section_offset + n * sizeof(elf::Section));
  };
  for (std::uint64_t n = 0; n < head.section_count; ++n) {
    const elf::Section table = section(n);
    if (table.type != elf::kSymbols) continue;
    const elf::Section names = section(table.link);
    for (std::uint64_t k = 0; k < table.size / sizeof(elf::Symbol); ++k) {
      const auto s = read_at<elf::Symbol>(object, table.offset + k * sizeof(elf::Symbol));
      if (s.type() != elf::kObject || s.section == elf::kUndefined || s.section >= head.section_count) continue;
      const std::uint64_t at = names.offset + s.name;
      if (at > object.size() || object.substr(at, symbol.size()) != symbol || read_at<char>(object, at + symbol.size()))
        continue;
      const elf::Section data = section(s.section);
      const std::uint64_t from = data.offset + s.value;
      if (data.type == elf::kNoBits || from > object.size() || s.size > object.size() - from) return {};
      return object.substr(from, s.size);
    }
  }
  return {};
}

void read_parameter_info(MslObject& object) {
  for (MslKernel& k : object.kernels) {
    const std::string name = "msl_info_" + k.entry.substr(std::strlen("msl_entry_"));
    const std::string_view bytes = variable_bytes(object.object, name);
    for (std::size_t i = 0; i < k.parameters.size(); ++i) {
      if (bytes.size() < (i + 1) * sizeof(msl_info)) break;
      const auto info = read_at<msl_info>(bytes, i * sizeof(msl_info));
      MslParameter& p = k.parameters[i];
      p.space = static_cast<MslSpace>(info.space);
      p.read_only = info.is_const != 0;
      p.pointer = info.pointer != 0;
      p.scalar = static_cast<MslScalar>(info.scalar);
      p.components = static_cast<int>(info.components);
      p.element_bytes = info.bytes;
      p.element_align = info.align;
    }
  }
  for (MslConstant& c : object.constants) {
    const std::string_view bytes = variable_bytes(object.object, "msl_info_fc_" + std::to_string(c.index));
    const auto info = read_at<msl_info>(bytes, 0);
    c.scalar = static_cast<MslScalar>(info.scalar);
    c.components = static_cast<int>(info.components);
    c.bytes = info.bytes;
  }
}

std::string pack(const MslObject& object) {
  Writer w;
  w.number(static_cast<std::int64_t>(object.kernels.size()));
  for (const MslKernel& k : object.kernels) {
    w.text(k.name), w.text(k.entry), w.number(k.max_threads), w.number(k.line);
    w.number(static_cast<std::int64_t>(k.parameters.size()));
    for (const MslParameter& p : k.parameters) {
      w.number(static_cast<int>(p.kind)), w.number(p.index), w.text(p.attribute), w.number(static_cast<int>(p.space));
      w.number(p.read_only), w.number(p.pointer), w.number(static_cast<std::int64_t>(p.element_bytes));
      w.number(static_cast<std::int64_t>(p.element_align)), w.number(static_cast<int>(p.scalar)),
          w.number(p.components);
      w.text(p.name), w.text(p.type), w.number(p.function_constant), w.number(p.line);
    }
  }
  w.number(static_cast<std::int64_t>(object.constants.size()));
  for (const MslConstant& c : object.constants) {
    w.number(c.index), w.text(c.name), w.text(c.type), w.number(static_cast<int>(c.scalar)), w.number(c.components);
    w.number(static_cast<std::int64_t>(c.bytes)), w.text(c.symbol), w.text(c.defined_symbol);
  }
  w.text(object.warnings);
  w.text(object.object);
  return w.out;
}

std::optional<MslObject> unpack(std::string_view bytes) {
  Reader r(bytes);
  MslObject object;
  object.kernels.resize(r.count());
  for (MslKernel& k : object.kernels) {
    k.name = r.text(), k.entry = r.text(), k.max_threads = r.integer(), k.line = r.integer();
    k.parameters.resize(r.count());
    for (MslParameter& p : k.parameters) {
      p.kind = r.choice<MslKind>(), p.index = r.integer(), p.attribute = r.text(), p.space = r.choice<MslSpace>();
      p.read_only = r.number() != 0, p.pointer = r.number() != 0, p.element_bytes = r.size(),
      p.element_align = r.size();
      p.scalar = r.choice<MslScalar>(), p.components = r.integer(), p.name = r.text(), p.type = r.text();
      p.function_constant = r.integer(), p.line = r.integer();
    }
  }
  object.constants.resize(r.count());
  for (MslConstant& c : object.constants) {
    c.index = r.integer(), c.name = r.text(), c.type = r.text(), c.scalar = r.choice<MslScalar>();
    c.components = r.integer(), c.bytes = r.size(), c.symbol = r.text(), c.defined_symbol = r.text();
  }
  object.warnings = r.text();
  object.object = r.text();
  if (!r.good || !r.at_end()) return std::nullopt;
  return object;
}

}  // namespace mt::metal_host
