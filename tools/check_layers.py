#!/usr/bin/env python3
"""Checks that rooms depend on each other in one direction only, by reading the #include lines.

base <- ir <- passes <- backends <- harness <- cli;  ir <- faults <- harness;  base <- ir <- dsl <- kernels;  base <- oracle <- kernels.
Prints `file:line: what is wrong; what to write instead` for each violation. Exit code: 0 none, 1 some, 3 no file was read.
--self-test plants violations in a scratch tree and insists that each one is found.
"""

import argparse
import pathlib
import re
import sys
import tempfile

FOLDERS = ("mt", "backends", "kernels", "cli", "tests", "tools", "examples", "python")
CODE = {".cpp", ".h", ".def", ".c", ".cu", ".py", ".sh", ".cmake"}
CXX = {".cpp", ".h", ".def", ".c"}
MAX_LINES = 600
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')

# What each room may include. "backends" is the contract in backends/backend.h; a folder below it is backends/<name>.
MAY_USE = {
    "mt/base": {"mt/base"},
    "mt/ir": {"mt/base", "mt/ir"},
    "mt/passes": {"mt/base", "mt/ir", "mt/passes"},
    "mt/faults": {"mt/base", "mt/ir", "mt/faults"},
    "mt/dsl": {"mt/base", "mt/ir", "mt/dsl"},
    "mt/oracle": {"mt/base", "mt/oracle"},
    "mt/harness": {"mt/base", "mt/ir", "mt/faults", "mt/passes", "mt/dsl", "mt/oracle", "backends", "mt/harness"},
    "backends": {"mt/base", "mt/ir", "mt/passes", "backends"},
    "kernels": {"mt/base", "mt/dsl", "mt/oracle", "kernels/lib"},
    "kernels/lib": {"mt/base", "mt/dsl", "mt/oracle", "kernels/lib"},
    "cli": {"mt/base", "mt/ir", "mt/faults", "mt/passes", "mt/dsl", "mt/oracle", "mt/harness", "backends", "cli"},
    "tools": {"mt/base", "mt/ir"},
    "tests": {"mt/base", "mt/ir", "mt/faults", "mt/passes", "mt/dsl", "mt/oracle", "mt/harness", "backends", "kernels/lib", "tests"},
}
# Printers of C-like text share backends/clike; metal_host executes the text that metal prints and checks accesses by
# the rules of interp.
BACKEND_EXTRA = {
    "metal": {"backends/clike"},
    "cuda": {"backends/clike"},
    "metal_host": {"backends/clike", "backends/metal", "backends/interp"},
}
WHY = {
    "mt/oracle": "a reference that shares code with what it judges proves nothing",
    "mt/harness": "the harness walks the registry and the list of backends and names neither a kernel nor a backend",
    "kernels": "a kernel is written once for all backends",
    "kernels/lib": "a kernel is written once for all backends",
    "cli": "verbs reach kernels through the registry and devices through backends/backend.h",
}
# Headers of a library that only one folder may see.
PRIVATE_LIBRARIES = {"clang/": "backends/metal_host", "Metal/": "backends/metal", "Foundation/": "backends/metal", "llvm/": "backends/cpu", "llvm-c/": "backends/cpu", "cuda.h": "backends/cuda", "nvrtc.h": "backends/cuda"}


def room_of(path):
    """The room of a path relative to the root, or None for a path that lies in no room."""
    parts = path.split("/")
    if len(parts) < 2:
        return None
    top = parts[0]
    if top == "mt" and len(parts) > 2:
        return f"mt/{parts[1]}"
    if top == "backends":
        return f"backends/{parts[1]}" if len(parts) > 2 else "backends"
    if top == "kernels":
        if len(parts) > 2:
            return f"kernels/{parts[1]}"
        return "kernels"
    return top if top in ("cli", "tests", "tools", "examples") else None


def allowed(room):
    """The rooms that files of `room` may include."""
    if room.startswith("backends/"):
        return MAY_USE["backends"] | {room} | BACKEND_EXTRA.get(room.split("/")[1], set())
    if room.startswith("kernels/") and room != "kernels/lib":
        return MAY_USE["kernels"] | {room}
    if room == "examples":
        return MAY_USE["kernels"] | {"examples"}
    return MAY_USE.get(room)


def check_include(room, quoted, angled):
    """A sentence about what is wrong with one include, or None."""
    target = quoted if quoted is not None else angled
    for prefix, owner in PRIVATE_LIBRARIES.items():
        if target.startswith(prefix) and not room.startswith(owner):
            return f"only {owner} may include <{target}>"
    there = room_of(target)
    if there is None:
        if quoted is not None:
            return f'"{target}" is not a path from the root; write it as "mt/room/file.h", or <{target}> for a library'
        return None
    may = allowed(room)
    if may is None:
        return f"room {room} is unknown to tools/check_layers.py; add it to MAY_USE"
    if there in may:
        return None
    reason = WHY.get(room, WHY["kernels"] if room.startswith("kernels/") else None)
    because = f" ({reason})" if reason else ""
    return f"{room} must not include {there}{because}; it may use {', '.join(sorted(may))}"


def check_tree(root):
    """All violations below root as text lines, and the number of files read."""
    problems, count = [], 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if not path.is_file() or (path.suffix not in CODE and path.name != "CMakeLists.txt"):
                continue
            count += 1
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            if len(lines) > MAX_LINES:
                problems.append(f"{name}:{len(lines)}: {len(lines)} lines, more than {MAX_LINES}; split it by concept")
            if path.suffix not in CXX:
                continue
            room = room_of(name)
            if room is None:
                problems.append(f"{name}:1: lies in no room; move it into one, or add its folder to tools/check_layers.py")
                continue
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                sentence = match and check_include(room, match.group(1), match.group(2))
                if sentence:
                    problems.append(f"{name}:{number}: {sentence}")
    return problems, count


GOOD = {
    "mt/base/a.h": "#include <string>\n",
    "mt/ir/a.h": '#include "mt/base/a.h"\n',
    "mt/passes/a.cpp": '#include "mt/ir/a.h"\n#include "mt/passes/a.h"\n',
    "mt/dsl/a.h": '#include "mt/ir/ops.def"\n',
    "mt/oracle/a.h": '#include "mt/base/a.h"\n',
    "mt/harness/a.cpp": '#include "backends/backend.h"\n#include "mt/dsl/a.h"\n#include "mt/oracle/a.h"\n',
    "backends/backend.h": '#include "mt/passes/a.h"\n',
    "backends/metal/a.cpp": '#include "backends/clike/a.h"\n#include "backends/metal/a.h"\n#include "backends/backend.h"\n',
    "backends/cpu/plugin/a.cpp": '#include <llvm-c/Core.h>\n#include "backends/cpu/a.h"\n',
    "kernels/lib/a.h": '#include "mt/dsl/a.h"\n',
    "kernels/norm/a.cpp": '#include "kernels/lib/a.h"\n#include "mt/oracle/a.h"\n#include "kernels/norm/b.h"\n',
    "cli/test.cpp": '#include "mt/harness/a.h"\n#include "cli/verb.h"\n#include <CLI/CLI.hpp>\n',
}
BAD = {
    "mt/base/b.h": '#include "mt/ir/a.h"\n',
    "mt/ir/b.h": '#include "mt/passes/a.h"\n',
    "mt/passes/b_test.cpp": '#include "backends/interp/a.h"\n',
    "mt/passes/c.h": '#include "mt/dsl/a.h"\n',
    "mt/dsl/b.h": '#include "mt/passes/a.h"\n',
    "mt/oracle/b.h": '#include "mt/ir/a.h"\n',
    "mt/oracle/c.h": '# include  "mt/dsl/a.h"\n',
    "mt/harness/b.h": '#include "kernels/norm/b.h"\n',
    "mt/harness/c.h": '#include "backends/interp/a.h"\n',
    "mt/harness/d.h": '#include "cli/verb.h"\n',
    "backends/b.cpp": '#include "backends/cpu/a.h"\n',
    "backends/cpu/b.h": '#include "backends/clike/a.h"\n',
    "backends/metal/b.h": '#include "backends/cuda/a.h"\n',
    "backends/interp/b.h": '#include "mt/harness/a.h"\n',
    "backends/cuda/b.h": "#include <llvm-c/Core.h>\n",
    "kernels/lib/b.h": '#include "kernels/norm/b.h"\n',
    "kernels/norm/c.cpp": '#include "backends/backend.h"\n',
    "kernels/norm/d.cpp": '#include "mt/ir/a.h"\n',
    "kernels/norm/e.cpp": '#include "kernels/attention/b.h"\n',
    "kernels/norm/f.cpp": '#include "mt/harness/a.h"\n',
    "cli/b.cpp": '#include "backends/metal/a.h"\n',
    "cli/c.cpp": '#include "kernels/norm/b.h"\n',
    "tools/b.cpp": '#include "mt/harness/a.h"\n',
    "cli/d.cpp": '#include "verb.h"\n',
    "mt/ir/long.cpp": "// line\n" * (MAX_LINES + 1),
    "mt/stray.h": "#pragma once\n",
    "mt/newroom/a.h": '#include "mt/base/a.h"\n',
}


def plant(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def self_test():
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        plant(root, GOOD)
        problems, count = check_tree(root)
        failures += [f"a correct file is reported: {p}" for p in problems]
        if count != len(GOOD):
            failures.append(f"read {count} files of {len(GOOD)}")
        plant(root, BAD)
        found = {p.split(":")[0] for p in check_tree(root)[0]}
        failures += [f"not found: {name}: {BAD[name].splitlines()[0]}" for name in BAD if name not in found]
    for failure in failures:
        print(f"self-test: {failure}")
    print(f"self-test: {len(BAD)} planted violations, {len(GOOD)} correct files, {len(failures)} wrong verdicts", file=sys.stderr)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    problems, count = check_tree(args.root)
    for problem in problems:
        print(problem)
    print(f"layers: {count} files, {len(problems)} violations", file=sys.stderr)
    if count == 0:
        return 3
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
