#!/usr/bin/env python3
"""Counts what .ci/run left in its folder and ends with `N passed, N failed`.

Read are steps.tsv (name, exit status), <build>.xml (what ctest started), <build>/*.json (single tests in GoogleTest's form)
and test.jsonl (one case of a kernel a line). A test that crashed before it could write counts as failed, and so does a
source file whose tests did not run. Exit code: 0 all passed, 1 something failed, 3 no test ran.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST_MACRO = re.compile(r"^\s*(TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], 0

    def add(self, name, ok):
        if ok:
            self.passed += 1
        else:
            self.failed.append(name)


def single_tests(folder):
    """Tests by executable: {executable: [(suite.name, verdict)]}, verdict True, False or None where it was skipped."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        tests = found.setdefault(path.stem, [])
        for suite in json.loads(path.read_text(encoding="utf-8"))["testsuites"]:
            for case in suite["testsuite"]:
                skipped = case.get("result") == "SKIPPED" or case.get("status") == "NOTRUN"
                tests.append((f"{suite['name']}.{case['name']}", None if skipped else not case.get("failures")))
    return found


def count_build(results, build, tally):
    """Adds what ctest started in one build tree; returns the names of the single tests that ran."""
    listing = results / f"{build}.xml"
    if not listing.exists():
        tally.add(f"{build}: ctest left no report", False)
        return set()
    single, names = single_tests(results / build), set()
    for entry in xml.parse(listing).getroot().iter("testcase"):
        name, ok = entry.get("name"), entry.get("status") == "run"
        if any("SKIP_RETURN_CODE" in (e.get("message") or "") for e in entry.iter("skipped")):
            tally.skipped += 1
            print(f"skipped: {build}: {name}")
            continue
        tests = single.get(f"test_{name}", single.get(name))
        if tests is None:
            tally.add(f"{build}: {name}", ok)
            continue
        for test, verdict in tests:
            if verdict is None:
                tally.skipped += 1
                print(f"skipped: {build}: {test}")
            else:
                tally.add(f"{build}: {test}", verdict)
            names.add(test)
        if not ok and all(verdict is not False for _, verdict in tests):
            tally.add(f"{build}: {name} (after its tests)", False)
    return names


def count_kernels(path, tally):
    """Adds the cases of `tile test`; that each kernel compared something is a step of its own."""
    if not path.exists():
        tally.add("tile test left no report", False)
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        case = json.loads(line)
        tally.add("tile test: {kernel}/{dtype} {case}".format(**case), case["passed"] is True)


def missing_tests(names):
    """Unit tests that stand in a source file and did not run in the release build."""
    for path in sorted(p for top in ("mt", "backends", "kernels", "cli") for p in (ROOT / top).rglob("*_test.cpp")):
        for _, suite, name in TEST_MACRO.findall(path.read_text(encoding="utf-8")):
            pattern = re.compile(rf"(.*/)?{suite}(/\w+)?\.{name}(/.*)?$")
            if not any(pattern.match(n) for n in names):
                yield f"{path.relative_to(ROOT)}: {suite}.{name} did not run"


def main():
    results, tally = pathlib.Path(sys.argv[1]), Tally()
    for line in (results / "steps.tsv").read_text(encoding="utf-8").splitlines():
        name, status = line.split("\t")
        tally.add(f"step {name}", status == "0")
    before = tally.passed + len(tally.failed)
    names = count_build(results, "release", tally)
    count_build(results, "asan", tally)
    count_build(results, "tsan", tally)
    count_kernels(results / "test.jsonl", tally)
    ran = tally.passed + len(tally.failed) - before
    for sentence in missing_tests(names):
        tally.add(sentence, False)
    for name in tally.failed:
        print(f"failed: {name}")
    if tally.skipped:
        print(f"{tally.skipped} skipped")
    print(f"{tally.passed} passed, {len(tally.failed)} failed")
    return 3 if ran == 0 else 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
