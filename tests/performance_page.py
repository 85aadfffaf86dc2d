#!/usr/bin/env python3
"""docs/performance.md is what tools/performance.py makes of docs/results, and the tool notices where it is not."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
failures = []


def run(*arguments):
    done = subprocess.run([sys.executable, str(ROOT / "tools/performance.py"), *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def expect(what, holds, text):
    if not holds:
        failures.append(f"{what}: {text.strip()[-400:]}")


status, text = run("--check")
expect("the page follows from the results", status == 0, text)

with tempfile.TemporaryDirectory() as folder:
    results, page = pathlib.Path(folder) / "results", pathlib.Path(folder) / "page.md"
    shutil.copytree(ROOT / "docs/results", results)
    here = ("--results", results, "--page", page)
    status, text = run("--check", *here)
    expect("a page that is not there", status == 1 and "--write" in text, text)
    run("--write", *here)
    status, text = run("--check", *here)
    expect("what was written", status == 0, text)

    newest = max(results.glob("h200-*.json"), key=lambda path: json.loads(path.read_text())["context"]["date"])
    document = json.loads(newest.read_text())
    row = document["benchmarks"][0]

    def changed(**changes):
        row.update(changes)
        newest.write_text(json.dumps(document))
        return run("--check", *here)
    before = row["real_time"]
    status, text = changed(real_time=before * 2)
    expect("another time", status == 1, text)
    status, text = changed(real_time=before)
    expect("the time as it was", status == 0, text)
    status, text = changed(chosen={"threads": 64})
    expect("a row measured with chosen tunables is none of the page", status == 1, text)
    row.pop("chosen")
    status, text = changed(verified=False)
    expect("a row that was not verified is none of the page", status == 1, text)
    status, text = changed(verified=True)
    expect("the row as it was", status == 0, text)
    swept = {name: value for name, value in row.items() if name not in ("peers", "tuned")}
    document["benchmarks"] += [{**swept, "kernel": kernel, "name": f"{kernel}/{row['dtype']}/k:64/m:{m}", "swept": "m", "real_time": 1000. * m * scale,
                                "times_first": scale, **({"cliff": "why"} if m == 17 else {})} for m in (16, 17) for kernel, scale in (("b", 1), ("a", 2.5))]
    newest.write_text(json.dumps(document))
    status, text = run(*here[:2])
    expect("a sweep is a table of its own", f"### Over m: {row['dtype']}, k 64" in text and "| m | `b` | `a` |" in text, text)
    share = f"{100 * row['roof_fraction']:.0f} %"
    expect("values down, kernels across", f"| 16 | 16 µs, {share} | 40 µs, {share}, 2.50× |" in text, text)
    expect("cliffs are marked", f"| 17 | 17 µs, {share} **cliff** | 42.5 µs, {share}, 2.50× **cliff** |" in text, text)
    expect("and no rows of the other one", f"| `b` | {row['dtype']} |" not in text, text)
    newest.write_text("{")
    status, text = run("--check", *here)
    expect("a file that is no JSON", status == 1 and newest.name in text and "Traceback" not in text, text)
    newest.write_text('{"benchmarks": []}')
    status, text = run("--check", *here)
    expect("a run without its date", status == 1 and "names no date" in text, text)

print("\n".join(failures + [f"performance page: {len(failures)} failed"]))
sys.exit(bool(failures))
