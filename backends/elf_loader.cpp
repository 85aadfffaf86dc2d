#include "backends/elf_loader.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "backends/elf_format.h"

namespace mt {
namespace {

struct External {
  std::string_view name;
  void* address;
};
template <class F>
void* address_of(F* f) {
  return reinterpret_cast<void*>(f);
}
/// What generated code may call.
const External kExternals[] = {
    {"memset", address_of(&std::memset)},
    {"memcpy", address_of(&std::memcpy)},
    {"memmove", address_of(&std::memmove)},
    {"fmodf", address_of<float(float, float)>(&::fmodf)},
    {"fmod", address_of<double(double, double)>(&::fmod)},
    {"fmaf", address_of<float(float, float, float)>(&::fmaf)},
    {"fma", address_of<double(double, double, double)>(&::fma)},
    {"fmaxf", address_of<float(float, float)>(&::fmaxf)},
    {"fminf", address_of<float(float, float)>(&::fminf)},
    {"fmax", address_of<double(double, double)>(&::fmax)},
    {"fmin", address_of<double(double, double)>(&::fmin)},
    {"roundevenf", address_of<float(float)>(&::rintf)},  // rounding is to nearest even throughout
    {"nearbyintf", address_of<float(float)>(&::nearbyintf)},
    {"sqrtf", address_of<float(float)>(&::sqrtf)},
    {"roundeven", address_of<double(double)>(&::rint)},
    {"nearbyint", address_of<double(double)>(&::nearbyint)},
    {"sqrt", address_of<double(double)>(&::sqrt)},
    {"ceil", address_of<double(double)>(&::ceil)},
    {"floorf", address_of<float(float)>(&::floorf)},
    {"ceilf", address_of<float(float)>(&::ceilf)},
    {"truncf", address_of<float(float)>(&::truncf)},
    {"rintf", address_of<float(float)>(&::rintf)},
    {"sin", address_of<double(double)>(&::sin)},
    {"cos", address_of<double(double)>(&::cos)},
    {"tan", address_of<double(double)>(&::tan)},
    {"floor", address_of<double(double)>(&::floor)},
    {"rint", address_of<double(double)>(&::rint)},
    {"trunc", address_of<double(double)>(&::trunc)},
};

#if defined(__x86_64__)
constexpr int kMachine = elf::kX86_64;
#elif defined(__aarch64__)
constexpr int kMachine = elf::kAArch64;
#else
constexpr int kMachine = 0;
#endif

constexpr std::size_t kStub = 16;  // bytes of a jump to an external function

class Loader {
 public:
  explicit Loader(std::string_view object, const ResolveExternal* resolve = nullptr)
      : object_(object), resolve_(resolve) {}
  ~Loader() {
    if (memory_) munmap(memory_, total_);
  }
  std::unique_ptr<Code> run(const char* symbol);
  LoadedObject run();

 private:
  /// `count` objects at `offset` of the file; throws where they do not lie in it.
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
    if (offset > object_.size() || count > (object_.size() - offset) / sizeof(T)) throw Error("object file: truncated");
    if (reinterpret_cast<std::uintptr_t>(object_.data() + offset) % alignof(T))
      throw Error("object file: misaligned table");
    return reinterpret_cast<const T*>(object_.data() + offset);
  }
  const char* text(const elf::Section& strings, std::uint64_t offset) const {
    if (offset >= strings.size) throw Error("object file: a name outside its table");
    const char* s = at<char>(strings.offset + offset, strings.size - offset);
    if (!std::memchr(s, 0, strings.size - offset)) throw Error("object file: an endless name");
    return s;
  }
  const elf::Section& section(std::size_t n) const {
    if (n >= count_) throw Error("object file: no such section");
    return sections_[n];
  }
  void open();
  void place();
  void finish();
  void relocate(const elf::Section& table);
  void apply(std::uint32_t type, unsigned char* where, std::uint64_t target, std::int64_t addend, std::size_t room);
  std::uint64_t address(const elf::Symbol& s, std::uint32_t relocation);
  std::uint64_t external(std::string_view name, bool called);
  std::uint64_t slot(std::uint64_t target);

  std::string_view object_;
  const ResolveExternal* resolve_;
  const elf::Section* sections_ = nullptr;
  std::size_t count_ = 0;
  std::vector<std::size_t> offset_;  // by section: where it lies, plus one; 0: not placed
  const elf::Symbol* symbols_ = nullptr;
  std::size_t symbol_count_ = 0;
  const elf::Section* names_ = nullptr;
  unsigned char* memory_ = nullptr;
  // Behind the sections lie a jump for each external function that is called and the addresses that the code loads.
  std::size_t total_ = 0, tail_ = 0;
  std::map<std::uint64_t, std::uint64_t> stub_of_, slot_of_;  // by what they lead to
};

/// Whether the relocation asks for the place of an address instead of the address.
bool wants_slot(std::uint32_t type) {
#if defined(__x86_64__)
  return type == elf::kGotPc32 || type == elf::kGotPcX32 || type == elf::kRexGotPcX32;
#elif defined(__aarch64__)
  return type == elf::kArmGotPage || type == elf::kArmGotLow12;
#else
  return type != type;
#endif
}

void Loader::place() {
  std::size_t top = 0;
  for (std::size_t n = 0; n < count_; ++n) {
    const elf::Section& s = sections_[n];
    if (!(s.flags & elf::kAllocated) || s.type == elf::kUnwind) continue;
    if (std::string_view(text(section(at<elf::Header>(0)->section_names), s.name)).starts_with(".eh_frame")) continue;
    const std::size_t align = s.align ? s.align : 1;
    if (align > 4096 || (align & (align - 1)) || s.size > (1u << 28)) throw Error("object file: an odd section");
    top = (top + align - 1) / align * align;
    offset_[n] = top + 1;
    top += s.size;
  }
  tail_ = (top + kStub - 1) / kStub * kStub;
  std::size_t end = tail_;
  for (std::size_t n = 0; n < symbol_count_; ++n) end += symbols_[n].section == elf::kUndefined ? kStub : 0;
  for (std::size_t n = 0; n < count_; ++n) {
    if (sections_[n].type != elf::kWithAddends) continue;
    const std::size_t entries = sections_[n].size / sizeof(elf::Relocation);
    const auto* r = at<elf::Relocation>(sections_[n].offset, entries);
    for (std::size_t k = 0; k < entries; ++k) end += wants_slot(r[k].type()) ? sizeof(std::uint64_t) : 0;
  }
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  total_ = (std::max<std::size_t>(end, 1) + page - 1) / page * page;
  void* m = mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m == MAP_FAILED) throw Error("object file: no memory for code");
  memory_ = static_cast<unsigned char*>(m);
  for (std::size_t n = 0; n < count_; ++n)
    if (offset_[n] && sections_[n].type != elf::kNoBits)
      std::memcpy(memory_ + offset_[n] - 1, at<char>(sections_[n].offset, sections_[n].size), sections_[n].size);
}

/// The function's address, or where it is called a jump to it beside the code, so that it may be anywhere.
std::uint64_t Loader::external(std::string_view name, bool called) {
  void* found = resolve_ ? (*resolve_)(name) : nullptr;
  for (std::size_t n = 0; n < std::size(kExternals) && !found; ++n)
    if (kExternals[n].name == name) found = kExternals[n].address;
  if (!found) throw Error(fmt::format("object file: it wants '{}', which generated code may not call", name));
  const auto target = reinterpret_cast<std::uint64_t>(found);
  if (!called) return target;
  const auto [it, made] = stub_of_.try_emplace(target, 0);
  if (!made) return it->second;
  unsigned char* stub = memory_ + tail_;
  tail_ += kStub;
#if defined(__x86_64__)
  const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip)
  std::memcpy(stub, jump, sizeof jump);
  std::memcpy(stub + sizeof jump, &target, sizeof target);
#else
  const std::uint32_t jump[] = {0x58000050, 0xd61f0200};  // ldr x16, #8; br x16
  std::memcpy(stub, jump, sizeof jump);
  std::memcpy(stub + sizeof jump, &target, sizeof target);
#endif
  return it->second = reinterpret_cast<std::uint64_t>(stub);
}

/// Where `target` lies as eight bytes.
std::uint64_t Loader::slot(std::uint64_t target) {
  const auto [it, made] = slot_of_.try_emplace(target, 0);
  if (!made) return it->second;
  std::memcpy(memory_ + tail_, &target, sizeof target);
  it->second = reinterpret_cast<std::uint64_t>(memory_ + tail_);
  tail_ += sizeof target;
  return it->second;
}

std::uint64_t Loader::address(const elf::Symbol& s, std::uint32_t relocation) {
  if (s.section == elf::kUndefined) {
#if defined(__x86_64__)
    const bool called = relocation != elf::kAbs64 && !wants_slot(relocation);
#else
    const bool called = relocation == elf::kArmCall26 || relocation == elf::kArmJump26;
#endif
    return external(text(*names_, s.name), called);
  }
  if (s.section >= count_ || !offset_[s.section] || s.value > section(s.section).size)
    throw Error("object file: a symbol in a section that is not loaded");
  return reinterpret_cast<std::uint64_t>(memory_ + offset_[s.section] - 1 + s.value);
}

void Loader::apply(std::uint32_t type, unsigned char* where, std::uint64_t target, std::int64_t addend,
                   std::size_t room) {
  const std::uint64_t value = target + static_cast<std::uint64_t>(addend),
                      here = reinterpret_cast<std::uint64_t>(where);
  const auto put = [&](const auto& bytes) {
    if (room < sizeof bytes) throw Error("object file: a relocation outside its section");
    std::memcpy(where, &bytes, sizeof bytes);
  };
#if defined(__x86_64__)
  switch (type) {
    case elf::kAbs64:
      return put(value);
    case elf::kPc32:
    case elf::kPlt32:
    case elf::kGotPc32:
    case elf::kGotPcX32:
    case elf::kRexGotPcX32: {
      const auto distance = static_cast<std::int64_t>(value - here);
      if (distance != static_cast<std::int32_t>(distance)) throw Error("object file: a jump too far");
      return put(static_cast<std::int32_t>(distance));
    }
    case elf::kPc64:
      return put(value - here);
    default:
      break;
  }
#elif defined(__aarch64__)
  std::uint32_t word = 0;
  if (room < 4) throw Error("object file: a relocation outside its section");
  std::memcpy(&word, where, 4);
  const auto low12 = [&](int shift) {
    word = (word & ~(0xfffu << 10)) | static_cast<std::uint32_t>(((value & 0xfff) >> shift) << 10);
    return put(word);
  };
  switch (type) {
    case elf::kArmAbs64:
      return put(value);
    case elf::kArmPrel32:
      return put(static_cast<std::int32_t>(value - here));
    case elf::kArmCall26:
    case elf::kArmJump26: {
      const auto distance = static_cast<std::int64_t>(value - here);
      if (distance >= (1ll << 27) || distance < -(1ll << 27)) throw Error("object file: a jump too far");
      word = (word & 0xfc000000u) | (static_cast<std::uint32_t>(distance >> 2) & 0x03ffffffu);
      return put(word);
    }
    case elf::kArmGotPage:
    case elf::kArmPage: {
      const auto pages = static_cast<std::int64_t>((value & ~0xfffull) - (here & ~0xfffull)) >> 12;
      if (pages >= (1 << 20) || pages < -(1 << 20)) throw Error("object file: an address too far");
      const auto bits = static_cast<std::uint32_t>(pages);
      word = (word & 0x9f00001fu) | ((bits & 3u) << 29) | (((bits >> 2) & 0x7ffffu) << 5);
      return put(word);
    }
    case elf::kArmAddLow12:
    case elf::kArmLoad8Low12:
      return low12(0);
    case elf::kArmLoad16Low12:
      return low12(1);
    case elf::kArmLoad32Low12:
      return low12(2);
    case elf::kArmLoad64Low12:
    case elf::kArmGotLow12:
      return low12(3);
    case elf::kArmLoad128Low12:
      return low12(4);
    default:
      break;
  }
#endif
  throw Error(fmt::format("object file: relocation {} is not known", type));
}

void Loader::relocate(const elf::Section& table) {
  const std::size_t into = table.info;
  if (into >= count_ || !offset_[into]) return;
  const std::size_t n = table.size / sizeof(elf::Relocation), size = section(into).size;
  const auto* entries = at<elf::Relocation>(table.offset, n);
  for (std::size_t k = 0; k < n; ++k) {
    const elf::Relocation& r = entries[k];
    if (r.symbol() >= symbol_count_) throw Error("object file: no such symbol");
    if (r.offset >= size) throw Error("object file: a relocation outside its section");
    const auto type = r.type();
    std::uint64_t target = address(symbols_[r.symbol()], type);
    if (wants_slot(type)) target = slot(target);
    apply(type, memory_ + offset_[into] - 1 + r.offset, target, r.addend, size - r.offset);
  }
}

void Loader::open() {
  const auto& head = *at<elf::Header>(0);
  if (std::memcmp(head.ident, elf::kMagic, sizeof elf::kMagic) != 0 || head.ident[elf::kClassAt] != elf::kClass64 ||
      head.type != elf::kRelocatable || head.machine != kMachine || head.section_bytes != sizeof(elf::Section))
    throw Error("object file: not a relocatable object for this machine");
  count_ = head.section_count;
  sections_ = at<elf::Section>(head.section_offset, count_);
  offset_.assign(count_, 0);
  for (std::size_t n = 0; n < count_; ++n) {
    if (sections_[n].type != elf::kSymbols) continue;
    symbol_count_ = sections_[n].size / sizeof(elf::Symbol);
    symbols_ = at<elf::Symbol>(sections_[n].offset, symbol_count_);
    names_ = &section(sections_[n].link);
  }
  if (!symbols_) throw Error("object file: it has no symbols");
  place();
}

void Loader::finish() {
  for (std::size_t n = 0; n < count_; ++n) {
    if (sections_[n].type == elf::kWithAddends) relocate(sections_[n]);
    if (sections_[n].type == elf::kWithoutAddends) throw Error("object file: relocations without addends");
  }
  if (mprotect(memory_, total_, PROT_READ | PROT_EXEC) != 0)
    throw Error("object file: memory cannot be made executable");
  __builtin___clear_cache(reinterpret_cast<char*>(memory_), reinterpret_cast<char*>(memory_ + total_));
}

std::unique_ptr<Code> Loader::run(const char* symbol) {
  open();
  void* entry = nullptr;
  for (std::size_t n = 0; n < symbol_count_; ++n)
    if (symbols_[n].type() == elf::kFunction && std::strcmp(text(*names_, symbols_[n].name), symbol) == 0)
      entry = reinterpret_cast<void*>(address(symbols_[n], 0));
  if (!entry) throw Error(fmt::format("object file: no function '{}'", symbol));
  finish();
  auto code = std::make_unique<Code>(memory_, total_, entry);
  memory_ = nullptr;
  return code;
}

LoadedObject Loader::run() {
  open();
  LoadedObject result;
  for (std::size_t n = 0; n < symbol_count_; ++n) {
    const elf::Symbol& s = symbols_[n];
    const auto type = s.type();
    if (s.section == elf::kUndefined || s.binding() == elf::kLocal || (type != elf::kFunction && type != elf::kObject))
      continue;
    result.symbols.emplace_back(text(*names_, s.name), reinterpret_cast<void*>(address(s, 0)));
  }
  const elf::Section& names = section(at<elf::Header>(0)->section_names);
  for (std::size_t n = 0; n < count_; ++n)
    if (offset_[n])
      result.sections.push_back({text(names, sections_[n].name),
                                 reinterpret_cast<const std::byte*>(memory_ + offset_[n] - 1), sections_[n].size});
  finish();
  result.code = std::make_unique<Code>(memory_, total_, result.symbols.empty() ? nullptr : result.symbols[0].second);
  memory_ = nullptr;
  return result;
}

}  // namespace

Code::~Code() { munmap(memory_, bytes_); }

Result<std::unique_ptr<Code>> load_object(std::string_view object, const char* symbol) {
  try {
    return Loader(object).run(symbol);
  } catch (const Error& e) {
    return e;
  }
}

Result<LoadedObject> load_object(std::string_view object, const ResolveExternal& external) {
  try {
    return Loader(object, &external).run();
  } catch (const Error& e) {
    return e;
  }
}

}  // namespace mt
