// Read before a source: names of Linux's headers that macOS has not. What uses one does not compile there.
#pragma once
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
// Objects as macros would pass for absent under #ifdef, as they are there.
#undef CPU_COUNT
#undef CPU_SET
#undef CPU_ZERO
#undef MADV_HUGEPAGE
#undef MADV_POPULATE_WRITE
#undef MAP_HUGETLB
#undef MAP_POPULATE
#undef MFD_CLOEXEC
#undef MSG_NOSIGNAL
#undef O_PATH
#undef REG_RIP
#undef REG_RSP
#undef SIGEV_THREAD_ID
#undef O_TMPFILE
#undef SIGRTMIN
#undef SI_KERNEL
#undef SOCK_CLOEXEC
#undef SOCK_NONBLOCK
#undef _SC_LEVEL1_DCACHE_SIZE
#undef _SC_LEVEL2_CACHE_SIZE
#undef _SC_LEVEL3_CACHE_SIZE
// What macOS has in their place.
#define SO_NOSIGPIPE 0x1022
#pragma clang poison cpu_set_t sched_getaffinity sched_setaffinity pthread_setaffinity_np
#pragma clang poison timer_t timer_create timer_settime timer_delete
#pragma clang poison MSG_NOSIGNAL SI_KERNEL SOCK_CLOEXEC SOCK_NONBLOCK memfd_create accept4 dup3 epoll_create eventfd \
    gettid mremap pipe2 prctl signalfd syscall timerfd_create
#pragma clang poison gregs greg_t execvpe secure_getenv canonicalize_file_name roundevenf exp10f
