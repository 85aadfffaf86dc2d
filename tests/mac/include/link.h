#error "macOS has no <link.h>"
