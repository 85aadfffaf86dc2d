#include "backends/elf_loader.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

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
    {"roundevenf", address_of<float(float)>(&::roundevenf)},
    {"nearbyintf", address_of<float(float)>(&::nearbyintf)},
    {"sqrtf", address_of<float(float)>(&::sqrtf)},
    {"roundeven", address_of<double(double)>(&::roundeven)},
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
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
constexpr int kMachine = EM_NONE;
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
  const char* text(const Elf64_Shdr& strings, std::uint64_t offset) const {
    if (offset >= strings.sh_size) throw Error("object file: a name outside its table");
    const char* s = at<char>(strings.sh_offset + offset, strings.sh_size - offset);
    if (!std::memchr(s, 0, strings.sh_size - offset)) throw Error("object file: an endless name");
    return s;
  }
  const Elf64_Shdr& section(std::size_t n) const {
    if (n >= count_) throw Error("object file: no such section");
    return sections_[n];
  }
  void open();
  void place();
  void finish();
  void relocate(const Elf64_Shdr& table);
  void apply(std::uint32_t type, unsigned char* where, std::uint64_t target, std::int64_t addend, std::size_t room);
  std::uint64_t address(const Elf64_Sym& s, std::uint32_t relocation);
  std::uint64_t external(std::string_view name, bool called);
  std::uint64_t slot(std::uint64_t target);

  std::string_view object_;
  const ResolveExternal* resolve_;
  const Elf64_Shdr* sections_ = nullptr;
  std::size_t count_ = 0;
  std::vector<std::size_t> offset_;  // by section: where it lies, plus one; 0: not placed
  const Elf64_Sym* symbols_ = nullptr;
  std::size_t symbol_count_ = 0;
  const Elf64_Shdr* names_ = nullptr;
  unsigned char* memory_ = nullptr;
  // Behind the sections lie a jump for each external function that is called and the addresses that the code loads.
  std::size_t total_ = 0, tail_ = 0;
  std::map<std::uint64_t, std::uint64_t> stub_of_, slot_of_;  // by what they lead to
};

/// Whether the relocation asks for the place of an address instead of the address.
bool wants_slot(std::uint32_t type) {
#if defined(__x86_64__)
  return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
#elif defined(__aarch64__)
  return type == R_AARCH64_ADR_GOT_PAGE || type == R_AARCH64_LD64_GOT_LO12_NC;
#else
  return type != type;
#endif
}

void Loader::place() {
  std::size_t top = 0;
  for (std::size_t n = 0; n < count_; ++n) {
    const Elf64_Shdr& s = sections_[n];
    if (!(s.sh_flags & SHF_ALLOC) || s.sh_type == SHT_X86_64_UNWIND) continue;
    if (std::string_view(text(section(at<Elf64_Ehdr>(0)->e_shstrndx), s.sh_name)).starts_with(".eh_frame")) continue;
    const std::size_t align = s.sh_addralign ? s.sh_addralign : 1;
    if (align > 4096 || (align & (align - 1)) || s.sh_size > (1u << 28)) throw Error("object file: an odd section");
    top = (top + align - 1) / align * align;
    offset_[n] = top + 1;
    top += s.sh_size;
  }
  tail_ = (top + kStub - 1) / kStub * kStub;
  std::size_t end = tail_;
  for (std::size_t n = 0; n < symbol_count_; ++n) end += symbols_[n].st_shndx == SHN_UNDEF ? kStub : 0;
  for (std::size_t n = 0; n < count_; ++n) {
    if (sections_[n].sh_type != SHT_RELA) continue;
    const std::size_t entries = sections_[n].sh_size / sizeof(Elf64_Rela);
    const auto* r = at<Elf64_Rela>(sections_[n].sh_offset, entries);
    for (std::size_t k = 0; k < entries; ++k)
      end += wants_slot(static_cast<std::uint32_t>(ELF64_R_TYPE(r[k].r_info))) ? sizeof(std::uint64_t) : 0;
  }
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  total_ = (std::max<std::size_t>(end, 1) + page - 1) / page * page;
  void* m = mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m == MAP_FAILED) throw Error("object file: no memory for code");
  memory_ = static_cast<unsigned char*>(m);
  for (std::size_t n = 0; n < count_; ++n)
    if (offset_[n] && sections_[n].sh_type != SHT_NOBITS)
      std::memcpy(memory_ + offset_[n] - 1, at<char>(sections_[n].sh_offset, sections_[n].sh_size),
                  sections_[n].sh_size);
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

std::uint64_t Loader::address(const Elf64_Sym& s, std::uint32_t relocation) {
  if (s.st_shndx == SHN_UNDEF) {
#if defined(__x86_64__)
    const bool called = relocation != R_X86_64_64 && !wants_slot(relocation);
#else
    const bool called = relocation == R_AARCH64_CALL26 || relocation == R_AARCH64_JUMP26;
#endif
    return external(text(*names_, s.st_name), called);
  }
  if (s.st_shndx >= count_ || !offset_[s.st_shndx] || s.st_value > section(s.st_shndx).sh_size)
    throw Error("object file: a symbol in a section that is not loaded");
  return reinterpret_cast<std::uint64_t>(memory_ + offset_[s.st_shndx] - 1 + s.st_value);
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
    case R_X86_64_64:
      return put(value);
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: {
      const auto distance = static_cast<std::int64_t>(value - here);
      if (distance != static_cast<std::int32_t>(distance)) throw Error("object file: a jump too far");
      return put(static_cast<std::int32_t>(distance));
    }
    case R_X86_64_PC64:
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
    case R_AARCH64_ABS64:
      return put(value);
    case R_AARCH64_PREL32:
      return put(static_cast<std::int32_t>(value - here));
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26: {
      const auto distance = static_cast<std::int64_t>(value - here);
      if (distance >= (1ll << 27) || distance < -(1ll << 27)) throw Error("object file: a jump too far");
      word = (word & 0xfc000000u) | (static_cast<std::uint32_t>(distance >> 2) & 0x03ffffffu);
      return put(word);
    }
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_ADR_PREL_PG_HI21: {
      const auto pages = static_cast<std::int64_t>((value & ~0xfffull) - (here & ~0xfffull)) >> 12;
      if (pages >= (1 << 20) || pages < -(1 << 20)) throw Error("object file: an address too far");
      const auto bits = static_cast<std::uint32_t>(pages);
      word = (word & 0x9f00001fu) | ((bits & 3u) << 29) | (((bits >> 2) & 0x7ffffu) << 5);
      return put(word);
    }
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return low12(0);
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return low12(1);
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return low12(2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return low12(3);
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return low12(4);
    default:
      break;
  }
#endif
  throw Error(fmt::format("object file: relocation {} is not known", type));
}

void Loader::relocate(const Elf64_Shdr& table) {
  const std::size_t into = table.sh_info;
  if (into >= count_ || !offset_[into]) return;
  const std::size_t n = table.sh_size / sizeof(Elf64_Rela), size = section(into).sh_size;
  const auto* entries = at<Elf64_Rela>(table.sh_offset, n);
  for (std::size_t k = 0; k < n; ++k) {
    const Elf64_Rela& r = entries[k];
    if (ELF64_R_SYM(r.r_info) >= symbol_count_) throw Error("object file: no such symbol");
    if (r.r_offset >= size) throw Error("object file: a relocation outside its section");
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(r.r_info));
    std::uint64_t target = address(symbols_[ELF64_R_SYM(r.r_info)], type);
    if (wants_slot(type)) target = slot(target);
    apply(type, memory_ + offset_[into] - 1 + r.r_offset, target, r.r_addend, size - r.r_offset);
  }
}

void Loader::open() {
  const auto& head = *at<Elf64_Ehdr>(0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_type != ET_REL || head.e_machine != kMachine || head.e_shentsize != sizeof(Elf64_Shdr))
    throw Error("object file: not a relocatable object for this machine");
  count_ = head.e_shnum;
  sections_ = at<Elf64_Shdr>(head.e_shoff, count_);
  offset_.assign(count_, 0);
  for (std::size_t n = 0; n < count_; ++n) {
    if (sections_[n].sh_type != SHT_SYMTAB) continue;
    symbol_count_ = sections_[n].sh_size / sizeof(Elf64_Sym);
    symbols_ = at<Elf64_Sym>(sections_[n].sh_offset, symbol_count_);
    names_ = &section(sections_[n].sh_link);
  }
  if (!symbols_) throw Error("object file: it has no symbols");
  place();
}

void Loader::finish() {
  for (std::size_t n = 0; n < count_; ++n) {
    if (sections_[n].sh_type == SHT_RELA) relocate(sections_[n]);
    if (sections_[n].sh_type == SHT_REL) throw Error("object file: relocations without addends");
  }
  if (mprotect(memory_, total_, PROT_READ | PROT_EXEC) != 0)
    throw Error("object file: memory cannot be made executable");
  __builtin___clear_cache(reinterpret_cast<char*>(memory_), reinterpret_cast<char*>(memory_ + total_));
}

std::unique_ptr<Code> Loader::run(const char* symbol) {
  open();
  void* entry = nullptr;
  for (std::size_t n = 0; n < symbol_count_; ++n)
    if (ELF64_ST_TYPE(symbols_[n].st_info) == STT_FUNC && std::strcmp(text(*names_, symbols_[n].st_name), symbol) == 0)
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
    const Elf64_Sym& s = symbols_[n];
    const auto type = ELF64_ST_TYPE(s.st_info);
    if (s.st_shndx == SHN_UNDEF || ELF64_ST_BIND(s.st_info) == STB_LOCAL || (type != STT_FUNC && type != STT_OBJECT))
      continue;
    result.symbols.emplace_back(text(*names_, s.st_name), reinterpret_cast<void*>(address(s, 0)));
  }
  const Elf64_Shdr& names = section(at<Elf64_Ehdr>(0)->e_shstrndx);
  for (std::size_t n = 0; n < count_; ++n)
    if (offset_[n])
      result.sections.push_back({text(names, sections_[n].sh_name),
                                 reinterpret_cast<const std::byte*>(memory_ + offset_[n] - 1), sections_[n].sh_size});
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
