#error "no system calls by number on macOS"
