#!/usr/bin/env python3
"""Compiles every file of this folder twice: as it stands it must compile; with -DMISUSE the compiler must refuse it.

A case starts with the fragment that the author has to see, in an error or a note of the compiler:
    // expect: fragment              for every compiler
    // expect-gcc: / expect-clang:   where the two say it in different words
What stands after `#else` is what to write instead. The refusal must name a line of the case, so that the author finds it;
where a compiler does not, the case says why in `// no-place-gcc:` or `// no-place-clang:`.
control.cpp has no misuse: it shows that the rest of the file that all cases share compiles.

Exit code: 0 all as expected, 1 some not, 2 wrong use, 3 no case ran.
With GTEST_OUTPUT=json:FOLDER/ the verdicts are written there in GoogleTest's form.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = "tests/nocompile/case.h"
FLAGS = ["-std=c++20", "-Wall", "-Wextra", f"-I{ROOT}"]
SECONDS = 180


class Compiler:
    """One compiler with the shared header precompiled, so that a case takes a fraction of a second."""

    def __init__(self, command, scratch):
        self.command = command
        version = self.call(["--version"])
        if version.returncode != 0:
            raise SystemExit(f"nocompile: {command} does not run: {version.stdout}")
        self.family = "clang" if "clang" in version.stdout else "gcc"
        pch = pathlib.Path(scratch) / ("case.h.pch" if self.family == "clang" else "case.h.gch")
        built = self.call(FLAGS + ["-x", "c++-header", str(ROOT / SHARED), "-o", str(pch)])
        if built.returncode != 0:
            raise SystemExit(f"nocompile: {SHARED} does not compile with {command}:\n{built.stdout}")
        self.use = ["-include-pch", str(pch)] if self.family == "clang" else ["-include", str(pch.with_suffix(""))]

    def call(self, arguments):
        return subprocess.run(
            [self.command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )

    def compile(self, path, misuse):
        return self.call(FLAGS + self.use + ["-fsyntax-only"] + (["-DMISUSE"] if misuse else []) + [str(path)])


def expectation(text, family):
    """The fragment for that compiler, or None."""
    for key in (f"expect-{family}", "expect"):
        match = re.search(rf"^// {key}: (.+)$", text, re.MULTILINE)
        if match:
            return match.group(1).strip()
    return None


def judge(compiler, path):
    """What is wrong with the compiler's verdict on one case, as a list of sentences."""
    text = path.read_text(encoding="utf-8")
    wrong = []
    right = compiler.compile(path, misuse=False)
    if right.returncode != 0:
        wrong.append(f"the right form does not compile:\n{right.stdout}")
    if path.stem == "control":
        return wrong
    fragment = expectation(text, compiler.family)
    if fragment is None or "MISUSE" not in text:
        return wrong + ["no `// expect:` line or no `#ifdef MISUSE` block"]
    refused = compiler.compile(path, misuse=True)
    if refused.returncode == 0:
        return wrong + ["the misuse compiles"]
    if refused.returncode != 1:
        return wrong + [f"the compiler died with {refused.returncode}:\n{refused.stdout}"]
    said = [line for line in refused.stdout.splitlines() if re.search(r"(error|note): ", line)]
    if not any(fragment in line for line in said):
        wrong.append(f"the message lacks '{fragment}':\n{refused.stdout}")
    unplaced = f"// no-place-{compiler.family}: " in text
    if not unplaced and f"{path.name}:" not in refused.stdout:
        wrong.append(f"the message names no line of the case:\n{refused.stdout}")
    return wrong


def report(name, verdicts):
    """Writes the verdicts where GoogleTest would write its own."""
    kind, _, folder = os.environ.get("GTEST_OUTPUT", "").partition(":")
    if kind != "json" or not folder.endswith("/"):
        return
    cases = [{"name": case, "status": "RUN", "failures": [{"failure": w} for w in wrong]} for case, wrong in verdicts]
    body = {"name": name, "testsuites": [{"name": name, "testsuite": cases}]}
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", type=pathlib.Path, help="case files; default: all of this folder")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print the first error of every case")
    args = parser.parse_args()
    cases = args.cases or sorted(HERE.glob("*.cpp"))
    if not cases:
        print("nocompile: no case found", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as scratch:
        compiler = Compiler(args.compiler, scratch)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            verdicts = list(zip([c.stem for c in cases], pool.map(lambda c: judge(compiler, c), cases)))
        if args.verbose:
            for case in cases:
                said = compiler.compile(case, misuse=True).stdout
                print(f"{case.stem}: " + next((line for line in said.splitlines() if "error: " in line), "accepted"))
    for case, wrong in verdicts:
        for sentence in wrong:
            print(f"{case}: {sentence}")
    failed = sum(1 for _, wrong in verdicts if wrong)
    print(f"nocompile with {args.compiler}: {len(cases) - failed} of {len(cases)} cases as expected", file=sys.stderr)
    report(f"nocompile_{pathlib.Path(args.compiler).name}", verdicts)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
