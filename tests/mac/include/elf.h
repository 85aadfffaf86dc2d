#error "macOS has no <elf.h>"
