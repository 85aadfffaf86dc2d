#!/usr/bin/env python3
"""Writes docs/performance.md from the raw results of `tile bench` under docs/results.

  tools/performance.py             prints the page
  tools/performance.py --write     writes it
  tools/performance.py --check     fails where the page is not what this prints, or a result can't stand in it

Every *.json there with `context` and `benchmarks` is read. A problem that several runs measured stands with its newest
run; what a run measured again with chosen tunables is a variant, and no row. What `tile bench --sweep` measured makes
tables of its own, values down and kernels across, each of the newest run that swept these kernels over that size.
"""

import argparse
import collections
import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DETAILS = ["compiler", "driver", "isa", "cores", "multiprocessors"]
NAMED = {"compiler", "driver", "isa"}  # details that say themselves what they are
HEAD = """# Performance

Written by `tools/performance.py` from the runs in [docs/results](results); don't edit it. Every row was verified in full before it was timed and compared
with that after. A time is the median of the samples, spread their interquartile range over it. % roof: the least time in which memory (or arithmetic, where that takes
longer) could serve the call, over the time, with the roofs measured between the samples of the same row. Peers: their time over ours in the
same run, so above 1 ours is faster; where the newest run had no peers beside it, the run that had is named.
"""


class Bad(Exception):
    """A sentence about a file of results."""


def runs(folder):
    """Files of results, oldest first: (name, document)."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            document = json.loads(path.read_text())
        except ValueError as error:
            raise Bad(f"{path.name} is no JSON: {error}") from error
        if not isinstance(document, dict) or "benchmarks" not in document:
            continue  # another kind of record
        context = document.get("context", {})
        for key in ("date", "device", "device_name"):
            if key not in context:
                raise Bad(f"{path.name}: its context names no {key}")
        found.append((path.stem, document))
    return sorted(found, key=lambda run: run[1]["context"]["date"])


def planned(document):
    """Rows by name: what ran as planned, and is right."""
    rows = {}
    for row in document["benchmarks"]:
        if right(row) and "swept" not in row:
            rows.setdefault(row["name"], row)
    return rows


def right(row):
    return not row.get("error_occurred") and row.get("verified") and not row.get("chosen")


def sizes(row):
    """Of its problem, by name, as text."""
    return dict(part.split(":", 1) for part in row["name"].split("/")[2:])


def sweeps(document):
    """Rows of each sweep of a run, by (size, kernels in order, sizes that stay): {value: {kernel: row}}."""
    found = collections.OrderedDict()
    for size in dict.fromkeys(row["swept"] for row in document["benchmarks"] if "swept" in row):
        rows = [row for row in document["benchmarks"] if row.get("swept") == size and right(row)]
        kernels = tuple(dict.fromkeys((row["kernel"], row["dtype"]) for row in rows))
        values = collections.defaultdict(set)
        for row in rows:
            for name, value in sizes(row).items():
                values[name].add(value)
        kept = tuple((name, *value) for name, value in sorted(values.items()) if len(value) == 1)  # of all kernels that have it
        if not rows:
            continue
        table = found.setdefault((size, kernels, kept), {})
        for row in rows:
            table.setdefault(int(sizes(row)[size]), {})[row["kernel"], row["dtype"]] = row
    return found


def sweep_lines(key, table, run):
    size, kernels, kept = key
    dtypes = list(dict.fromkeys(dtype for _, dtype in kernels))
    known = dtypes if len(dtypes) == 1 else []
    lines = [f"\n### Over {size}: {', '.join(known + [f'{name} {value}' for name, value in kept])}\n"]
    lines.append(f"Samples in turns ({run}): time, share of the roof, and time over that of the first kernel; **cliff** where a time grows by more than its work.\n")
    lines.append(f"| {size} | " + " | ".join(f"`{kernel}`" + ("" if known else f" {dtype}") for kernel, dtype in kernels) + " |")
    lines.append("|---" * (1 + len(kernels)) + "|")
    for value, rows in sorted(table.items()):
        cells = []
        for kernel in kernels:
            row = rows.get(kernel)
            parts = [time_text(row["real_time"])] if row else []
            if row and "roof_fraction" in row:
                parts.append(f"{100 * row['roof_fraction']:.0f} %")
            if row and "times_first" in row and kernel != kernels[0]:
                parts.append(f"{row['times_first']:.2f}×")
            cells.append(", ".join(parts) + (" **cliff**" if row and "cliff" in row else ""))
        lines.append(f"| {value} | " + " | ".join(cells) + " |")
    return lines


def time_text(ns):
    for unit, scale in (("ns", 1), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)):
        if ns < 1000 * scale or unit == "s":
            return f"{ns / scale:.3g} {unit}" if ns < 100 * scale else f"{ns / scale:.0f} {unit}"
    raise AssertionError


def problem_text(name):
    """`n 8192, rows 4096`; of a kernel with a rank, no axes beyond it."""
    parts = [part.split(":", 1) for part in name.split("/")[2:]]
    rank = next((int(value) for key, value in parts if key == "rank"), None)
    kept = []
    for key, value in parts:
        axis = re.fullmatch(r"[a-z]+(\d)", key)
        if rank is None or not axis or int(axis[1]) < rank:
            kept.append(f"{key} {float(value):.4g}" if "." in value else f"{key} {value}")
    return ", ".join(kept)


def peers_text(row, run, newest):
    """`torch compiled 1.09`, the fastest first."""
    timed = sorted((p["real_time"] / row["real_time"], p["name"]) for p in row.get("peers", []) if "real_time" in p)
    others = [f"{p['name']} {'disagrees' if 'disagree' in p['error'] else 'none'}" for p in row.get("peers", []) if "error" in p]
    text = ", ".join([f"{name} {ratio:.2f}" for ratio, name in timed] + [o for o in others if not o.endswith("none")])
    return text + (f" ({run})" if text and run != newest else "")


def section(name, documents):
    newest, with_peers, named, swept = {}, {}, collections.OrderedDict(), {}
    for run, document in documents:
        for key, table in sweeps(document).items():
            swept[key] = (run, table)
            named[run] = document["context"]
        for key, row in planned(document).items():
            newest[key] = (run, row)
            if any("real_time" in p for p in row.get("peers", [])):
                with_peers[key] = (run, row)
            named[run] = document["context"]
    lines = [f"\n## {name}\n"]
    context = documents[-1][1]["context"]
    known = [context["device_" + d] if d in NAMED else f"{context['device_' + d]} {d}" for d in DETAILS if "device_" + d in context]
    every = [row for _, row in newest.values()] + [row for _, table in swept.values() for rows in table.values() for row in rows.values()]
    roofs = [row for row in every if "copy_bytes_per_second" in row]
    if roofs:
        def roof(key, unit, scale):
            return f"{statistics.median(r[key] for r in roofs if key in r) / scale:.5g} {unit}"
        measured = [f"copy {roof('copy_bytes_per_second', 'GB/s', 1e9)}", f"read {roof('read_bytes_per_second', 'GB/s', 1e9)}",
                    f"write {roof('write_bytes_per_second', 'GB/s', 1e9)}", f"{roof('roof_flops_per_second', 'GFLOP/s', 1e9)} f32"]
        if any("launch_ns" in r for r in roofs):
            measured.append(f"an empty launch {roof('launch_ns', 'ns', 1)}")
        known.append("medians of the roofs: " + ", ".join(measured))
    lines += ["; ".join(known) + ".\n"] if known else []
    if newest:
        lines.append("| kernel | dtype | problem | time | spread | GB/s | % roof | peers | run |")
        lines.append("|---|---|---|---|---|---|---|---|---|")

    def order(item):
        return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", item[0])]
    for key, (run, row) in sorted(newest.items(), key=order):
        beside, peers = with_peers.get(key, (run, row))
        share = f"{100 * row['roof_fraction']:.1f}" if "roof_fraction" in row else ""
        if row.get("roof_bound") == "compute":
            share += " of arithmetic"
        if row.get("cached"):
            share += " (in cache)"
        lines.append(f"| `{row['kernel']}` | {row['dtype']} | {problem_text(key)} | {time_text(row['real_time'])} | {100 * row['spread']:.1f} % "
                     f"| {row['bytes_per_second'] / 1e9:.0f} | {share} | {peers_text(peers, beside, run)} | {run} |")
    for key, (run, table) in sorted(swept.items()):
        lines += sweep_lines(key, table, run)
    lines.append("\nRuns:\n")
    used = {run for found in (newest, with_peers, swept) for run, _ in found.values()}
    for run, about in named.items():
        if run in used:
            command = f", `{about['command']}`" if "command" in about else ""
            lines.append(f"- [{run}](results/{run}.json): {about['date'][:10]}{command}")
    return lines, len(newest) + sum(len(rows) for _, table in swept.values() for rows in table.values())


def page(folder):
    devices = collections.OrderedDict()
    for run, document in runs(folder):
        context = document["context"]
        devices.setdefault(f"{context['device_name']}, device {context['device']}", []).append((run, document))
    lines, rows = [HEAD.rstrip()], 0
    for name, documents in sorted(devices.items(), reverse=True):
        more, count = section(name, documents)
        lines += more
        rows += count
    if not rows:
        raise Bad(f"{folder} has no verified row of tile bench")
    return "\n".join(lines) + "\n", rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs/results")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/performance.md")
    arguments = parser.parse_args()
    try:
        text, rows = page(arguments.results)
    except Bad as bad:
        print(f"performance: {bad}", file=sys.stderr)
        return 1
    if arguments.write:
        arguments.page.write_text(text)
    elif arguments.check:
        if not arguments.page.exists() or arguments.page.read_text() != text:
            print(f"performance: {arguments.page.name} is not what the results say; run tools/performance.py --write")
            return 1
        print(f"{rows} rows of {arguments.page.name} follow from {arguments.results.name}")
    else:
        print(text, end="")
    return 0


sys.exit(main())
