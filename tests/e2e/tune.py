#!/usr/bin/env python3
"""tile tune as a user meets it: what it says and keeps, that bench and test run with it, and what is left of a process
that was killed."""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

checks, failures = 0, []
# The plan takes 256 threads, of which one group of 32 codes keeps 8 busy; on the reference device each of them costs the
# same, so that 32 take a fraction of the time.
SIZES = ["--device", "interp", "--size", "n_groups=1", "--size", "group_size=32", "--size", "words=4"]
KERNEL = "mt_affine_dequantize_int4"
CASE = [KERNEL, "--dtype", "f32", *SIZES]


def expect(what, holds, seen=""):
    global checks
    checks += 1
    if not holds:
        failures.append(f"failed: {what}\n    {seen}".rstrip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tile", required=True)
    program = parser.parse_args().tile
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, MT_CACHE_DIR=home, MT_TUNED=home + "/shipped")
        kept = pathlib.Path(home) / "tuned"

        def tile(*arguments, code=0):
            done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
            expect(f"tile {' '.join(arguments)}: exit code {code}", done.returncode == code, done.stdout + done.stderr)
            return done.stdout, done.stderr

        def files():
            return sorted(kept.rglob("*")) if kept.exists() else []

        out, _ = tile("tune", *CASE, "--set", "threads=32", "--dry-run", "--seconds", "0.05", "--json", "-")
        result, = json.loads(out)
        expect("the plan and what --set leaves", all(c["chosen"].get("threads", 32) == 32 for c in result["candidates"]), out)
        expect("--dry-run keeps nothing", not files(), files())

        out, _ = tile("tune", *CASE, "--seconds", "0.05", "--jobs", "2", "-v")
        expect("a faster choice", "less time; kept in" in out, out)
        expect("one file", len(files()) == 1, files())
        if len(files()) != 1:
            return
        choice = json.loads(files()[0].read_text())
        expect("for this problem", choice["kernel"] == KERNEL + "/f32" and "group_size:32" in choice["problem"] and choice["tuned_ns"] < choice["planned_ns"], choice)
        out, _ = tile("tune", "--list")
        expect("--list shows it", KERNEL + "/f32" in out and "stale" not in out, out)

        out, _ = tile("test", *CASE)
        expect("test says so", "ran with what tile tune chose" in out, out)
        out, _ = tile("test", *CASE, "--as-planned")
        expect("--as-planned is without", "tune" not in out, out)
        out, _ = tile("bench", *CASE, "--seconds", "0.05", "--json", home + "/bench.json")
        row = json.loads(pathlib.Path(home, "bench.json").read_text())["benchmarks"][0]
        expect("bench says so", "as tile tune chose: " in out and row.get("tuned") == choice["chosen"], out)
        tile("bench", *CASE, "--seconds", "0.05", "--set", "threads=64", "--json", home + "/bench.json")
        row = json.loads(pathlib.Path(home, "bench.json").read_text())["benchmarks"][0]
        expect("--set is stronger", row.get("chosen") == {"threads": 64} and "tuned" not in row, row)

        whole = files()[0].read_text()
        files()[0].write_text(whole[:40])
        out, err = tile("test", *CASE)
        expect("a damaged file is passed by with a sentence", "is passed by" in err and files()[0].name in err and "tune chose" not in out, err)
        files()[0].write_text(whole.replace('"threads":', '"sides":'))
        out, err = tile("test", *CASE)
        expect("a choice that is none is passed by with a sentence", "is passed by" in err and "0 failed" in out, err + out)
        files()[0].write_text(whole)
        out, _ = tile("tune", "--forget", KERNEL)
        expect("--forget removes it", out.startswith("1 choice removed") and not files(), out)
        tile("tune", "--forget", code=2)
        tile("tune", *CASE, "--set", "threads=33", code=2)
        tile("tune", "no_such_kernel", code=2)
        tile("tune", *[word.replace("n_groups=1", "n_groups=0") for word in CASE], code=1)

        out, _ = tile("tune", *CASE, "--seconds", "0.05", "--defaults")
        expect("--defaults is the folder that ships", str(pathlib.Path(home, "shipped")) in out and not files(), out)
        out, _ = tile("test", *CASE)
        expect("what ships is used", "ran with what tile tune chose" in out, out)

        killed = subprocess.Popen([program, "tune", "int4", *SIZES, "--seconds", "0.02"], env=environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        for _ in range(300):
            if files() or killed.poll() is not None:
                break
            time.sleep(0.05)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        expect("it was at work", bool(files()), "nothing was kept within 15 s")
        for file in files():
            json.loads(file.read_text())
        out, err = tile("tune", "--list")
        expect("what a killed process kept is whole", "is passed by" not in err, err)


main()
print("\n".join(failures + [f"{checks} checks of tile tune, {len(failures)} failed"]))
sys.exit(bool(failures) or checks < 20)
