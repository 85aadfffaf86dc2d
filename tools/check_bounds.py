#!/usr/bin/env python3
"""Bounds of oracles that are far too wide hide errors: of each kernel in the results of `tile test --json`, some f32
result uses at least a thousandth of what it is allowed, or all of them are exact."""
import collections
import json
import pathlib
import sys

LEAST = 1e-3


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: check_bounds.py RESULTS.jsonl", file=sys.stderr)
        return 2
    used, allowed = collections.defaultdict(float), collections.defaultdict(float)
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        case = json.loads(line)
        if case["dtype"] != "f32" or not case["passed"] or not case["compared"]:
            continue
        used[case["kernel"]] = max(used[case["kernel"]], case["bound_used"] or 0)
        if case["max_error"]:
            allowed[case["kernel"]] = max(allowed[case["kernel"]], case["bound"] or 0)
    wide = [f"{kernel}: no f32 case uses more than {used[kernel]:.2g} of its bound; tighten it in mt/oracle"
            for kernel in sorted(allowed) if used[kernel] < LEAST]
    print("\n".join(wide + [f"bounds of {len(used)} kernels, {len(allowed)} with errors, {len(wide)} too wide"]))
    return 1 if wide or not used else 0


sys.exit(main())
