// The part of the ELF64 format that relocatable objects use, as the System V ABI and its supplements for x86-64 and
// AArch64 number it. Systems whose own objects have another format lack <elf.h>.
#pragma once
#include <cstdint>

namespace mt::elf {

struct Header {
  unsigned char ident[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, program_offset, section_offset;
  std::uint32_t flags;
  std::uint16_t header_bytes, program_bytes, program_count, section_bytes, section_count, section_names;
};
static_assert(sizeof(Header) == 64);

struct Section {
  std::uint32_t name, type;
  std::uint64_t flags, address, offset, size;
  std::uint32_t link, info;
  std::uint64_t align, entry_bytes;
};
static_assert(sizeof(Section) == 64);

struct Symbol {
  std::uint32_t name;
  unsigned char info, other;
  std::uint16_t section;
  std::uint64_t value, size;
  constexpr int type() const { return info & 15; }
  constexpr int binding() const { return info >> 4; }
};
static_assert(sizeof(Symbol) == 24);

struct Relocation {
  std::uint64_t offset, info;
  std::int64_t addend;
  constexpr std::uint64_t symbol() const { return info >> 32; }
  constexpr std::uint32_t type() const { return static_cast<std::uint32_t>(info); }
};
static_assert(sizeof(Relocation) == 24);

inline constexpr char kMagic[] = {0x7f, 'E', 'L', 'F'};
inline constexpr int kClassAt = 4, kClass64 = 2;    // in Header::ident
inline constexpr int kRelocatable = 1;              // Header::type
inline constexpr int kX86_64 = 62, kAArch64 = 183;  // Header::machine
enum SectionType : std::uint32_t {
  kSymbols = 2,
  kWithAddends = 4,
  kNoBits = 8,
  kWithoutAddends = 9,
  kUnwind = 0x70000001
};
inline constexpr std::uint64_t kAllocated = 2;    // Section::flags
inline constexpr int kUndefined = 0;              // Symbol::section
inline constexpr int kLocal = 0;                  // Symbol::binding
inline constexpr int kObject = 1, kFunction = 2;  // Symbol::type

/// Relocation types: S is the symbol, A the addend, P the place, G the place of the symbol's address.
enum X86 : std::uint32_t {
  kAbs64 = 1,        // S + A
  kPc32 = 2,         // S + A - P
  kPlt32 = 4,        // S or a jump to it, + A - P
  kGotPc32 = 9,      // G + A - P
  kPc64 = 24,        // S + A - P
  kGotPcX32 = 41,    // G + A - P
  kRexGotPcX32 = 42  // G + A - P
};
enum Arm64 : std::uint32_t {
  kArmAbs64 = 257,
  kArmPrel32 = 261,
  kArmPage = 275,      // page of S + A, less that of P
  kArmAddLow12 = 277,  // lower 12 bits of S + A, of an add and of loads and stores of 1 to 16 bytes
  kArmLoad8Low12 = 278,
  kArmJump26 = 282,
  kArmCall26 = 283,
  kArmLoad16Low12 = 284,
  kArmLoad32Low12 = 285,
  kArmLoad64Low12 = 286,
  kArmLoad128Low12 = 299,
  kArmGotPage = 311,
  kArmGotLow12 = 312
};

}  // namespace mt::elf
