#!/usr/bin/env python3
"""Drives `tile test|bench --reference mlx` as a user would.

Without --mlx only what needs none of MLX's kernels is expected: sentences and exit codes. With it (the include folder of
the PyPI package mlx-metal, or MLX's source tree) a slice of its kernels is run and compared.
Exit code: 0 all expectations hold, 1 some do not, 77 MLX or clang 19 is not here (with --need-mlx).
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

import command_line
from command_line import expect, expect_run, tile

KERNELS = "mlx/backend/metal/kernels"


def reference(*arguments):
    return ["test", "--reference", "mlx", *arguments]


def wrong_use(folder):
    """What is said about folders that are not MLX, and options that do not go together."""
    env = {"MT_MLX": ""}
    expect_run(reference("softmax"), 2, "needs --mlx DIR, or MT_MLX", env=env)
    expect_run(reference("--mlx", f"{folder}/nothing", "softmax"), 2, "no such folder", "mlx-metal", env=env)
    expect_run(reference("--mlx", folder, "softmax"), 2, f"no {KERNELS}/utils.h in it", env=env)
    expect_run(["test", "--reference", "cublas", "softmax"], 2, "cublas", "mlx")
    expect_run(["test", "--mlx", folder, "softmax"], 2, "--reference")
    expect_run(reference("--mlx", folder, "--cases", "-1", "softmax"), 2, "--cases")
    expect_run(reference("--mlx", folder, "--part", "1/2", "softmax"), 2, "--part")
    expect_run(["bench", "--reference", "mlx", "--peer", "torch", "softmax"], 2, "give one of them")


def without_kernels(folder, can_run):
    """A folder that could be MLX, of a version that lacks everything."""
    kernels = pathlib.Path(folder, "hollow", KERNELS)
    kernels.mkdir(parents=True)
    (kernels / "utils.h").write_text("")
    expect_run(reference("--mlx", f"{folder}/hollow", "softmax"), 2, "apt-get install clang-19", env={"MT_CLANG": f"{folder}/no-clang"})
    expect_run(["bench", *reference("--mlx", f"{folder}/hollow", "softmax", "--device", "interp")[1:]], 2, "device interp can't run MLX's")
    if not can_run:
        return
    expect_run(reference("--mlx", f"{folder}/hollow", "mt_softmax", "mt_logsumexp"), 3, "has no softmax.h", "has no logsumexp.h",
               "of unknown version", "0 comparisons", "nothing was compared")
    (kernels / "softmax.h").write_text("// softmax_other\n")
    expect_run(reference("--mlx", f"{folder}/hollow", "mt_softmax"), 3, "softmax.h of MLX of unknown version has no kernel")
    # Nothing of ours is in MLX.
    expect_run(reference("--mlx", f"{folder}/hollow", "mt_random_hash"), 3, "no counterpart in MLX is known of: mt_random_hash")


def slice_of(mlx, folder):
    """Kernels of MLX run and agree; one that is broken on purpose is found; one that is not there is named."""
    lines = f"{folder}/mlx.jsonl"
    run = expect_run(reference("--mlx", mlx, "--cases", "1", "--json", lines, "mt_softmax", "mt_sdpa_vector", "mt_qmv", "mt_sort",
                               "ffai_sdpa_decode_d64", "ffai_gather", "mt_affine_quantize_int4", "mt_rms_norm", "--dtype", "f16"), 0, "all agree", "ours on metal-host")
    rows = [json.loads(line) for line in pathlib.Path(lines).read_text().splitlines()]
    ran = [row for row in rows if "missing" not in row]
    expect("kernels of MLX were compared", len(ran) >= 6 and all(row["verdict"] == "agree" for row in ran), run)
    expect("elements were compared", all(row["compared"] > 0 for row in ran), rows)
    expect("ours was compared with MLX's",
           any(row.get("different", 1) < row["compared"] for row in ran if "difference" in row), rows)
    names = " ".join(row["mlx_kernel"] for row in ran)
    for part in ("_bool_mask", "_float_mask_sinks", "steel_gemm_splitk", "gemv", "sort_mbsort", "gather_front"):
        expect(f"{part} was run", part in names, names)
    expect("another definition is stated", any("differs" in row for row in ran), rows)
    expect_run(["bench", "--reference", "mlx", "--mlx", mlx, "mt_softmax", "--dtype", "f32", "--seconds", "0.1"], 0,
               "say nothing about a GPU", "(emulated)")

    root = pathlib.Path(mlx)
    root = next(r for r in (root, root / "include", root / "mlx/include") if (r / KERNELS / "utils.h").is_file())
    broken = pathlib.Path(folder, "broken")
    shutil.copytree(root / "mlx", broken / "mlx")
    text = (broken / KERNELS / "softmax.h").read_text()
    good, bad = "normalizer = 1 / ", "normalizer = 1.001f / "
    expect("softmax.h has the place to break", good in text)
    (broken / KERNELS / "softmax.h").write_text(text.replace(good, bad))
    (broken / KERNELS / "logsumexp.h").unlink()
    expect_run(reference("--mlx", str(broken), "--cases", "1", "mt_softmax", "mt_logsumexp", "--dtype", "f32"), 1,
               "MLX is wrong: mt_softmax/f32", "not compared: mt_logsumexp", "has no logsumexp.h")
    attention = broken / KERNELS / "sdpa_vector.h"
    attention.write_text(attention.read_text().replace("has_sinks", "has_others"))
    expect_run(reference("--mlx", str(broken), "--cases", "1", "ffai_sdpa_decode_d64", "--dtype", "f32"), 0,
               "knows of no has_sinks, so sdpa_vector cannot be asked for it", "all agree")
    (broken / KERNELS / "softmax.h").write_text(text.replace(good, "normalizer = missing / "))
    expect_run(reference("--mlx", str(broken), "--cases", "1", "mt_softmax", "--dtype", "f32"), 1, "missing", "softmax.h")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tile", required=True)
    parser.add_argument("--need-mlx", metavar="DIR", help="only the slice, with MLX's kernels in this folder")
    args = parser.parse_args()
    command_line.TILE = str(pathlib.Path(args.tile).resolve())
    can_run = "apt-get install clang-19" not in tile("device", "--no-measure")[1]
    with tempfile.TemporaryDirectory() as folder:
        if args.need_mlx:
            if not can_run or not pathlib.Path(args.need_mlx).is_dir():
                print(f"MLX'S KERNELS WERE NOT COMPARED: {args.need_mlx} or clang-19 is not here; tools/setup.sh --dev fetches both")
                return 77
            slice_of(args.need_mlx, folder)
        else:
            wrong_use(folder)
            without_kernels(folder, can_run)
    print(f"MLX as reference: {command_line.checks} expectations, {command_line.failures} failed")
    return 1 if command_line.failures else 0


if __name__ == "__main__":
    sys.exit(main())
