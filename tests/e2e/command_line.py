#!/usr/bin/env python3
"""Drives tile as a user would: exit codes, sentences, files that are whole or absent.

Exit code: 0 all expectations hold, 1 some do not. Every expectation is one line; those that fail show what came instead.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TILE = "tile"
checks = failures = 0


def tile(*arguments, env=None, stdin=subprocess.DEVNULL, timeout=120):
    """Runs tile; gives exit code, standard output and standard error."""
    environment = dict(os.environ, **(env or {}))
    done = subprocess.run([TILE, *map(str, arguments)], capture_output=True, text=True, stdin=stdin, timeout=timeout,
                          env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def expect(what, holds, seen=""):
    global checks, failures
    checks += 1
    if not holds:
        failures += 1
        print(f"failed: {what}\n    {seen}".rstrip())


def expect_run(arguments, code, *sentences, env=None):
    """tile with these arguments ends with `code` and its output holds the sentences."""
    got, out, err = tile(*arguments, env=env)
    name = "tile " + " ".join(map(str, arguments))
    expect(f"{name}: exit code {code}", got == code, f"{got}: {err}{out[-500:]}")
    for s in sentences:
        expect(f"{name}: says {s!r}", s in out + err, err + out[-500:])
    return out, err


def entries(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def wrong_use(kernel):
    expect_run([], 2, "tile", "bench")
    expect_run(["--help"], 0, "Exit codes")
    expect_run(["--version"], 0)
    expect_run(["bnech"], 2, "unknown verb 'bnech'", "bench")
    expect_run(["frobnicate"], 2, "unknown verb")
    expect_run(["test", "--no-such-flag"], 2, "--no-such-flag", "--help")
    for verb in ("bench", "build", "check", "device", "diff", "inspect", "list", "snap", "test"):
        expect_run([verb, "--help"], 0, "Examples:", "Exit codes")
    typo = kernel[:-2] + kernel[-1] + kernel[-2]
    for verb in (["list"], ["test"], ["bench"], ["check"], ["inspect"]):
        expect_run([*verb, typo], 2, f"'{typo}'", kernel)
    expect_run(["test", "zzzzzzzzzzzz"], 2, "no kernel matches")
    expect_run(["test", kernel, "--dtype", "f17"], 2, "unknown dtype 'f17'", "bf16")
    expect_run(["test", kernel, "--device", "tpu"], 2, "unknown device 'tpu'", "interp")
    expect_run(["inspect", kernel, "--target", "spirv"], 2, "unknown target 'spirv'", "metal")
    expect_run(["inspect", kernel, "--pass", "magic"], 2, "no pass 'magic'", "mem2reg")
    expect_run(["inspect", kernel, "--size", "bogus=3"], 2, "'bogus'", "known:")
    expect_run(["inspect", kernel, "--size", "n=three"], 2, "no whole number")
    expect_run(["inspect", kernel, "--size", "n"], 2, "name=value")
    expect_run(["inspect", kernel, "--set", "bogus=3"], 2, "tunable 'bogus'")
    expect_run(["test", kernel, "--set", "threads=100"], 2, "--set threads=100: threads is one of 32, 64")
    expect_run(["list", "attention"], 0, "sdpa")
    expect_run(["inspect", kernel, "--size", "n=3", "--size", "n=4"], 2, "--size n is given twice")
    expect_run(["inspect", kernel, "--size", "eps=1", "--size", "eps=2"], 2, "--size eps is given twice")
    expect_run(["inspect", kernel, "--set", "threads=32", "--set", "threads=64"], 2, "--set threads is given twice")
    for value in ("-1", "0", "nan", "inf", "1s"):
        expect_run(["bench", kernel, "--seconds", value], 2, f"--seconds: {value} is no number above 0")
    expect_run(["bench", kernel, "--peer", "abacus"], 2, "no peer 'abacus'", "torch")
    for value, sentence in (("rows", "name=1,2,4"), ("rows=1,x", "'x' is no whole number"), ("rows=4", "one value is no sweep"),
                            ("rows=4,4", "4 stands there twice"), ("bogus=1,2", f"{kernel}/f32 has no such size; it has ")):
        expect_run(["bench", kernel, "--dtype", "f32", "--sweep", value], 2, f"--sweep {value.split('=')[0]}", sentence)
    expect_run(["bench", kernel, "--sweep", "rows=1,2", "--size", "rows=3"], 2, "rows has a value by --size")
    expect_run(["bench", kernel, "--sweep", "rows=1,2", "--peer", "torch"], 2, "without --peer")
    expect_run(["bench", kernel, "--sweep", "rows=1,2", "--reference", "mlx"], 2, "--reference; give one of them")
    expect_run(["bench", "--sweep", "n=1,2"], 2, "name them")
    expect_run(["bench", "[a-z]*", "--sweep", "n=1,2"], 2, "at most 8 kernels")
    expect_run(["build", kernel, "--target", "interp", "--out", "unused"], 1, "no text form")
    expect("a failed build makes no folder", not pathlib.Path("unused").exists())


def bad_problems(kernel):
    for value, sentence in (("-1", "must not be negative"), ("4294967296", "does not fit"), ("4000000000000000000", "fit")):
        out, _ = expect_run(["test", kernel, "--size", f"n={value}", "--device", "interp"], 1, sentence)
        expect(f"n={value} names the kernel", f"[{kernel}/" in out, out[-300:])


def listing(kernel):
    out, err = expect_run(["list", "--json"], 0)
    kernels = json.loads(out)
    expect("list --json names kernels with dtypes", all(k["name"] and k["dtypes"] for k in kernels))
    expect("notes do not go to stdout", err == "", err)
    out, _ = expect_run(["list", "--markdown"], 0, "# Kernels", kernel)
    expect_run(["list", "--json", "--markdown"], 2)
    _, out, _ = tile("list", env={"NO_COLOR": "1"})
    expect("no escape codes in a pipe", "\033" not in out)
    for _ in range(3):
        start = time.monotonic()
        tile("list")
        seconds = time.monotonic() - start
        if seconds < 0.03:
            break
    print(f"tile list: {1000 * seconds:.1f} ms")


def testing(kernel, folder):
    lines = folder / "t.jsonl"
    expect_run(["test", kernel, "--device", "interp", "--json", lines], 0, "0 failed", "compared")
    cases = [json.loads(line) for line in lines.read_text().splitlines()]
    keys = {"kernel", "dtype", "case", "device", "passed", "compared", "max_error", "bound"}
    expect("one JSON object a case, with all keys", cases and all(keys <= set(c) for c in cases))
    expect("every case compared or was of size zero", all(c["compared"] > 0 or c.get("empty") for c in cases))
    expect("no error is above its bound", all(c["max_error"] <= c["bound"] for c in cases))
    expect("nothing else is left in the folder", entries(folder) == ["t.jsonl"], entries(folder))
    out, _ = expect_run(["test", kernel, "--device", "interp", "--json", "-"], 0)
    expect("--json - puts only JSON on stdout", all(json.loads(line) for line in out.splitlines()))
    expect_run(["check", kernel, "--dtype", "f32"], 0, "interp")
    missing = folder / "missing" / "t.jsonl"
    expect_run(["test", kernel, "--dtype", "f32", "--device", "interp", "--json", missing], 1, "can't write", "No such file")
    if pathlib.Path("/dev/full").exists():
        expect_run(["test", kernel, "--dtype", "f32", "--device", "interp", "--json", "/dev/full"], 1, "No space left")
    # Only a case of size zero: nothing compared is no pass.
    expect_run(["test", kernel, "--dtype", "f32", "--device", "interp", "--size", "rows=0"], 3, "UNCHECKED", "nothing was compared")


def unwritable_outputs(kernel, folder):
    if pathlib.Path("/dev/full").exists():
        for verb in (["list"], ["list", "--json"], ["inspect", kernel], ["test", kernel, "--device", "interp", "-v"], ["device", "--no-measure"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TILE, *verb], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            expect(f"{verb} into a full disk: code 1 and a sentence", done.returncode == 1 and "can't write the standard output: No space" in done.stderr,
                   f"{done.returncode}: {done.stderr}")
    def at_most_1k():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    done = subprocess.run([TILE, "test", kernel, "--device", "interp", "--json", folder / "long.jsonl"], capture_output=True, text=True,
                          timeout=120, preexec_fn=at_most_1k, check=False)
    expect("a file above the size limit: code 1 and a sentence", done.returncode == 1 and "File too large" in done.stderr, f"{done.returncode}: {done.stderr}")
    expect("nothing is left of it", entries(folder) == [], entries(folder))


def inspecting(kernel):
    out, _ = expect_run(["inspect", kernel, "--target", "msl", "--dtype", "bf16"], 0, "kernel", kernel)
    again, _ = expect_run(["inspect", kernel, "--target", "metal", "--dtype", "bf16"], 0)
    expect("text is deterministic, and msl is metal", out == again)
    expect_run(["inspect", kernel, "--target", "cuda"], 0, "__global__")
    expect_run(["inspect", kernel, "--ir"], 0, kernel)
    expect_run(["inspect", kernel, "--pass", "all", "--stats"], 0, "after mem2reg", "instructions", "threads")
    expect_run(["inspect", "mt_flash_decode", "--target", "cpu", "--dtype", "bf16", "--stats"], 0, "tiles\n", "the right operand is read where it lies", "bytes for the tiles of a simdgroup")
    expect_run(["inspect", kernel, "--pass", "trace"], 0, "after trace")


def building(kernel, folder):
    out = folder / "out"
    expect_run(["build", kernel, "--target", "msl", "cuda", "--out", out], 0, "manifest")
    files = entries(out)
    expect("files for both targets and a manifest", "manifest.json" in files and f"metal/{kernel}_f32.metal" in files
           and f"cuda/{kernel}_bf16.cu" in files, files)
    expect("no temporary file is left", not any(f.endswith(".tmp") for f in files), files)
    manifest = json.loads((out / "manifest.json").read_text())
    named = {b["file"] for k in manifest["kernels"] for b in k["builds"]}
    expect("the manifest names every file", named == set(files) - {"manifest.json"}, sorted(named ^ set(files)))
    expect_run(["build", kernel, "--target", "cuda", "--out", out], 0)
    blocked = folder / "blocked"
    blocked.write_text("a file")
    expect_run(["build", kernel, "--target", "cuda", "--out", blocked], 1, "can't")
    expect("the file in the way is untouched", blocked.read_text() == "a file")
    full = pathlib.Path("/dev/full")
    if full.exists():
        expect_run(["build", kernel, "--target", "cuda", "--out", "/dev/full"], 1, "can't")
    expect_run(["build", kernel, "--out", out], 2, "--target")
    expect_run(["build", kernel, "--target", "cuda", "--out", ""], 2, "name a folder")
    building_a_library(kernel, folder)


def building_a_library(kernel, folder):
    """With a stand-in for Xcode's xcrun: it joins the texts."""
    tools, out = folder / "tools", folder / "library"
    tools.mkdir()
    command = ["build", kernel, "--target", "metallib", "--out", out]
    expect_run(command, 1, "there is no xcrun here", "Xcode", env={"PATH": str(tools)})
    expect("nothing was written", not out.exists())
    path = {"PATH": f"{tools}:/usr/bin:/bin"}
    xcrun = tools / "xcrun"
    xcrun.write_text("#!/bin/sh\necho 'x.metal:1:1: error: no' >&2\nexit 1\n")
    xcrun.chmod(0o755)
    expect_run(command, 1, "x.metal:1:1: error: no", f"{kernel}_", env=path)
    expect("nothing was written", not out.exists())
    xcrun.write_text("#!/bin/sh\nfor last; do :; done\n[ $3 = metal ] && exec cp \"$7\" \"$last\"\n"
                     "shift 3\nfor air; do [ \"$air\" = -o ] && break; cat \"$air\"; done > \"$last\"\n")
    expect_run(command, 0, "kernels.metallib", "manifest", env=path)
    manifest = json.loads((out / "manifest.json").read_text())
    builds = [b for k in manifest["kernels"] for b in k["builds"]]
    library = (out / "metal/kernels.metallib").read_text()
    expect("the library holds every text", builds and all((out / b["file"]).read_text() in library for b in builds))
    expect("the manifest names it", all(b["library"] == "metal/kernels.metallib" for b in builds), builds[:1])
    expect("and the texts are metal's", all(b["target"] == "metal" for b in builds), builds[:1])
    both = folder / "both"
    expect_run(["build", kernel, "--target", "msl", "metallib", "cuda", "--out", both], 0, env=path)
    builds = [b for k in json.loads((both / "manifest.json").read_text())["kernels"] for b in k["builds"]]
    expect("only metal's texts are in it", all(("library" in b) == (b["target"] == "metal") for b in builds), builds[:2])


def benching(kernel, folder):
    first, second = folder / "a.json", folder / "b.json"
    command = ["bench", kernel, "--dtype", "f32", "--quick", "--size", "rows=64"]
    expect_run([*command, "--json", first], 0, "verified", "GB/s", "ceilings")
    expect_run([*command, "--json", second], 0)
    document = json.loads(first.read_text())
    b = document["benchmarks"][0]
    expect("bench is verified with a roof", b["verified"] and b["compared"] > 0 and b["roof_fraction"] > 0, b)
    paths = {k: v for k, v in document["context"].items() if str(v).startswith("/")}
    expect("bench says nothing of this machine's folders", not paths, paths)
    out, _ = expect_run(["bench", kernel, "[m]t_softmax", "--dtype", "f32", "--quick", "--size", "n=256", "--sweep", "rows=64,3", "--json", second], 0,
                        f"{kernel}/f32", "mt_softmax/f32", "x first", "4 benchmarks verified, 0 failed")
    rows = json.loads(second.read_text())["benchmarks"]
    expect("a sweep goes up, in the order of the filters", [(r["kernel"], "rows:3" in r["name"]) for r in rows] ==
           [(k, low) for low in (True, False) for k in (kernel, "mt_softmax")], rows)
    expect("each is verified and compared with the first", all(r["verified"] and r["swept"] == "rows" for r in rows) and
           [r["times_first"] == 1 for r in rows] == [True, False] * 2, rows)
    expect_run([*command, "--json", second], 0)
    got, _, err = tile("diff", first, second, "--threshold", "9")
    expect("diff of two runs within a huge threshold is good", got == 0, err)
    b["verified"] = False
    second.write_text(json.dumps(document))
    expect_run(["diff", first, second], 1, "BROKEN")
    (folder / "c.json").write_text("{")
    expect_run(["diff", first, folder / "c.json"], 1, "no output of `tile bench --json`")
    expect_run(["diff", first, folder / "none.json"], 1, "can't read")


def interrupting(folder):
    lines = folder / "i.jsonl"
    running = subprocess.Popen([TILE, "check", "--json", lines], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.0)
    running.send_signal(signal.SIGINT)
    try:
        _, err = running.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        running.kill()
        running.communicate()
        expect("Ctrl-C ends tile check", False, "still running a minute later")
        return
    expect("Ctrl-C ends with code 130 and a sentence", running.returncode == 130 and b"interrupted" in err,
           f"{running.returncode}: {err[-300:]}")
    expect("Ctrl-C leaves no file", entries(folder) == [], entries(folder))


def device():
    out, _ = expect_run(["device"], 0, "interp", "(default)")
    document = json.loads(expect_run(["device", "--json", "--no-measure"], 0)[0])
    expect("device --json lists backends", any(d["name"] == "interp" for d in document))


def readme():
    """The text that README shows is what the command beside it prints."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text()
    shown = re.search(r"`\./tile (inspect [^`]*)` prints the Metal text.*?```metal\n(.*?)```", page, re.DOTALL)
    expect("README shows the Metal text of a command", shown)
    if shown:
        code, out, _ = tile(*shown.group(1).split())
        expect("README's Metal text is current", code == 0 and out.strip() == shown.group(2).strip(), out)


def in_folders_of_their_own(steps, name):
    """Calls each step with an empty working folder; prints the count of expectations and gives the exit code."""
    for step in steps:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tile_e2e_"))
        os.chdir(folder)
        try:
            step(folder)
        finally:
            os.chdir("/")
            shutil.rmtree(folder)
    print(f"{name}: {checks} expectations, {failures} failed")
    return 1 if failures else 0


def main():
    global TILE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tile", required=True)
    parser.add_argument("--kernel", default="mt_rms_norm", help="a kernel over rows of n")
    arguments = parser.parse_args()
    TILE = str(pathlib.Path(arguments.tile).resolve())
    steps = [
        lambda _: wrong_use(arguments.kernel),
        lambda _: bad_problems(arguments.kernel),
        lambda _: listing(arguments.kernel),
        lambda folder: testing(arguments.kernel, folder),
        lambda folder: unwritable_outputs(arguments.kernel, folder),
        lambda _: inspecting(arguments.kernel),
        lambda folder: building(arguments.kernel, folder),
        lambda folder: benching(arguments.kernel, folder),
        interrupting,
        lambda _: device(),
        lambda _: readme(),
    ]
    return in_folders_of_their_own(steps, "command line")


if __name__ == "__main__":
    sys.exit(main())
