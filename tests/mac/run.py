#!/usr/bin/env python3
"""Reads the product's sources as a Mac's compiler would, as far as Linux can: clang 19 for an Apple target, with libc++,
without the names that only Linux's headers have. Nothing is linked or run.

The headers of the C library are glibc's, with stand-ins beside this file for what libc++ wants of a Mac: a name that a
Mac has and glibc lacks cannot be found here, and a name that only Linux has is found only where not_there.h lists it.

  run.py            sources that touch the system
  run.py --all      every source of the product
  run.py FILE...    these
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
SYSTEM = re.compile(
    r"#include <(sys/|linux/|elf|ucontext|sched|link\.h|malloc|dlfcn|fcntl|unistd|pthread|poll|spawn|signal|csignal|"
    r"cstdlib)|/proc|__linux__|__APPLE__"
)
# Built on Linux only, or by other means there: CMake says so.
ELSEWHERE = re.compile(r"_test\.cpp$|/testing/|/fuzz/|/platform/linux_|/metal/device/apple/|/plugin/|/llvm/")


def sources(everything):
    found = []
    for room in ("mt", "backends", "kernels", "cli"):
        for path in sorted((ROOT / room).rglob("*.cpp")):
            name = path.relative_to(ROOT).as_posix()
            if not ELSEWHERE.search("/" + name) and (everything or SYSTEM.search(path.read_text())):
                found.append(name)
    return found


def command(clang, libcxx, source):
    system = [d for d in ("/usr/include/x86_64-linux-gnu", "/usr/include") if os.path.isdir(d)]
    isystem = [str(HERE / "include"), str(ROOT / "backends/metal/device/testing"), libcxx, *system]
    return [
        clang,
        "-target", "x86_64-apple-macos14", "-fsyntax-only", "-std=c++20", "-nostdinc++", "-nostdlibinc",
        "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Wno-missing-field-initializers", "-Werror",
        "-fno-caret-diagnostics", "-ferror-limit=5",
        # glibc has functions of its own by this name and hides some of POSIX without the other.
        "-U__nonnull", "-D_GNU_SOURCE", '-DMT_LLVM_VERSION="none"', '-DMT_VERSION="0"', '-DMT_PEERS="."', '-DMT_TUNED="."',
        *[word for d in isystem for word in ("-isystem", d)],
        "-I", str(ROOT), "-include", str(HERE / "not_there.h"), source,
    ]  # fmt: skip


def complaints(clang, libcxx, source):
    done = subprocess.run(command(clang, libcxx, source), cwd=ROOT, capture_output=True, text=True, timeout=300)
    return "" if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"


MISTAKES = {
    "#include <sched.h>\nint f() { cpu_set_t s; return sched_getaffinity(0, sizeof s, &s); }\n": "poisoned",
    "#include <elf.h>\n": "no <elf.h>",
    "#include <sys/mman.h>\nint f() { return MADV_HUGEPAGE; }\n": "MADV_HUGEPAGE",
    "#include <sys/socket.h>\nint f() { return SOCK_CLOEXEC; }\n": "poisoned",
    "#include <cmath>\nfloat f(float x) { return ::exp10f(x); }\n": "poisoned",
    "int f() { return 1.5f; }\n": "-Wliteral-conversion",
}


def self_test(clang, libcxx):
    """Every mistake is seen, and a good source is taken."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "x.cpp")
        good = "#include <fmt/format.h>\n#include <unistd.h>\nlong f() { return sysconf(_SC_PAGESIZE); }\n"
        for text, expected in {good: "", **MISTAKES}.items():
            with open(file, "w") as out:
                out.write(text)
            said = complaints(clang, libcxx, file)
            if (expected == "") != (said == "") or expected not in said:
                wrong.append(f"expected {expected or 'nothing'!r} of\n{text}got {said or 'nothing'}")
    return wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*")
    options.add_argument("--all", action="store_true")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--libcxx", default="/usr/lib/llvm-19/include/c++/v1")
    given = options.parse_args()
    clang = shutil.which("clang++-19")
    if not clang or not os.path.isfile(os.path.join(given.libcxx, "vector")):
        print("NO SOURCE WAS READ AS ON A MAC: that takes clang-19 and libc++-19-dev (apt-get install)")
        return SKIPPED
    wrong = self_test(clang, given.libcxx)
    for w in wrong:
        print("self test:", w)
    files = given.files or sources(given.all)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for file, said in zip(files, pool.map(lambda f: complaints(clang, given.libcxx, f), files)):
            if said:
                wrong.append(file)
                print(f"== {file}\n{said}", flush=True)
    print(f"{len(files)} sources read, {len(wrong)} complaints")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
