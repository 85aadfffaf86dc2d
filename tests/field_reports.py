#!/usr/bin/env python3
"""Every case that docs/field-reports.md names exists: unit tests in the sources, programs in tests/nocompile, and
problems of kernels in what `tile list --cases` prints. And the reverse: a case that was added for a report is named in
one of its rows."""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "field-reports.md"
LEAST_WITH_CASES = 200
ROW = re.compile(r"^\| ([A-Z]-\d\d) \| ([^|]+) \| ([^|]+) \| ([^|]*) \| ([^|]+) \|$")
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.M)


def unit_tests() -> set[str]:
    rooms = ["mt", "backends", "kernels", "tests"]
    sources = [path for room in rooms for path in (ROOT / room).rglob("*.cpp")]
    return {f"{suite}.{name}" for path in sources for suite, name in TEST.findall(path.read_text())}


def kernel_cases(tile: str) -> dict[str, list[str]]:
    """Case, as `kernel problem`, to the reports that it was added for."""
    lines = subprocess.run([tile, "list", "--cases"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {" ".join(line.split()[:2]): line.split()[2:] for line in lines}


def exists(case: str, tests: set[str], cases: dict[str, list[str]]) -> bool:
    if case.startswith("nocompile/"):
        return (ROOT / "tests" / f"{case}.cpp").exists()
    return case in cases if " " in case else case in tests


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tile", required=True)
    parser.add_argument("--page", default=PAGE, type=pathlib.Path)
    arguments = parser.parse_args()
    tests, cases = unit_tests(), kernel_cases(arguments.tile)
    wrong, with_cases, rows, named = [], 0, 0, set()
    for number, line in enumerate(arguments.page.read_text().splitlines(), 1):
        if not re.match(r"^\| [A-Z]-\d", line):
            continue
        rows += 1
        row = ROW.match(line)
        if not row:
            wrong.append(f"line {number}: no row of five cells")
            continue
        report, cells = row.group(1), re.findall(r"`([^`]+)`", row.group(4))
        with_cases += bool(cells)
        for case in cells:
            named.add((report, case))
            if not exists(case, tests, cases):
                wrong.append(f"line {number}: {report} names '{case}', which is no test, program or case of a kernel")
    for case, reports in cases.items():
        for report in reports:
            if not any(id_ == report for id_, _ in named):
                wrong.append(f"'{case}' stands for report {report}, which has no row")
    stated = re.search(r"^(\d+) reports with cases, (\d+) with an answer only\.$", arguments.page.read_text(), re.M)
    if not stated or (int(stated.group(1)), int(stated.group(2))) != (with_cases, rows - with_cases):
        wrong.append(f"the page must say '{with_cases} reports with cases, {rows - with_cases} with an answer only.'")
    if with_cases < LEAST_WITH_CASES:
        wrong.append(f"{with_cases} reports with cases; there must be {LEAST_WITH_CASES} or more")
    print("\n".join(wrong + [f"{rows} reports, {with_cases} with cases, {len(wrong)} wrong"]))
    return 1 if wrong else 0


sys.exit(main())
