#!/usr/bin/env python3
"""Checks that `tile test --json` compared every kernel and dtype that `tile list --json` promises.

usage: check_coverage.py LIST.json TEST.jsonl
Exit code: 0 every pair has a case that compared elements, 1 some pair has none, 2 wrong use, 3 the registry is empty.
"""

import json
import sys


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        kernels = json.load(file)
    promised = {(kernel["name"], dtype) for kernel in kernels for dtype in kernel["dtypes"]}
    compared = set()
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in filter(str.strip, file):
            case = json.loads(line)
            if case["compared"] > 0:
                compared.add((case["kernel"], case["dtype"]))
    missing = sorted(promised - compared)
    for kernel, dtype in missing:
        print(f"{kernel}/{dtype}: no case compared an element; give its tests() a case of a size above zero")
    print(f"coverage: {len(promised) - len(missing)} of {len(promised)} kernel and dtype pairs compared", file=sys.stderr)
    if not promised:
        return 3
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
