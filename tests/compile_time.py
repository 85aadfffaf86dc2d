#!/usr/bin/env python3
"""Compiles a few kernels' Metal text for metal-host, a small, a middling and one of the longest, into an empty cache, and holds
the median times that `tile test --timings` prints to a bound. Exit code 77: no clang 19 here."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
# Kernel, a problem of it, and ten times the milliseconds that a quiet machine takes. The first one's first text also
# precompiles the headers, which the median leaves out.
CASES = [
    ("mt_softmax", [], 700),
    ("mt_argmax", [], 1000),
    ("mt_sdpa_prefill", ["head_dim=128"], 4000),
]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tile", required=True)
    tile = options.parse_args().tile
    wrong = 0
    with tempfile.TemporaryDirectory() as cache:
        for kernel, sizes, bound in CASES:
            command = [tile, "test", "--device", "metal-host", "--timings", "--dtype", "f16", "--jobs", "1", kernel]
            for size in sizes:
                command += ["--size", size]
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MT_CACHE_DIR": cache})
            if "clang 19 is not here" in done.stderr:
                print("NO METAL TEXT WAS COMPILED: clang 19 is not here")
                return SKIPPED
            found = re.search(r"(\d+) compiled: median (\d+) ms, longest (\d+) ms", done.stdout)
            if done.returncode != 0 or not found:
                print(f"{kernel}: status {done.returncode}\n{done.stdout}{done.stderr}")
                wrong += 1
                continue
            count, median, longest = map(int, found.groups())
            print(f"{kernel}: {count} compiled, median {median} ms, longest {longest} ms; median at most {bound}")
            wrong += median > bound or median == 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
