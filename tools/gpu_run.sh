#!/usr/bin/env bash
# Builds MetalTile on a machine with an NVIDIA GPU and runs there what must hold on it. Needs a compiler, cmake, ninja,
# python3 and NVRTC; LLVM and a package registry are not needed (MT_DEPS_DIR, see tools/pack_deps.sh).
#   tools/gpu_run.sh OUT [STEP...]      steps: device unit test bench sanitize; all where none is given
# OUT receives device.json, unit.json, test.jsonl, bench.json, sanitize.txt and a log. Every step runs even after one
# failed; the last line is `N steps passed, N failed`.
# BUILD names the build folder, LIMIT the seconds that tests and benches may take each, PARTS the processes that share
# the tests, BENCH_LIST a file with the arguments of one `tile bench` a line (tools/gpu_bench.txt), BENCH_ARGS what each
# of them gets besides (`--peer torch`). PREBUILT names a folder with tile and test_cuda made elsewhere, and the libraries
# they need: nothing is built then.
set -uo pipefail
cd "$(dirname "$0")/.."

out=${1:?usage: tools/gpu_run.sh OUT [STEP...]}
shift
steps=("$@")
((${#steps[@]})) || steps=(device unit test bench sanitize)
build=${PREBUILT:-${BUILD:-build/gpu}}
[[ -z "${PREBUILT:-}" ]] || export LD_LIBRARY_PATH=$PREBUILT${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} MT_PEERS=$PWD/tools/peers MT_TUNED=$PWD/tuned
cores=$(nproc)
parts=${PARTS:-$cores}
mkdir -p "$out"
export MT_CACHE_DIR=${MT_CACHE_DIR:-$PWD/$build/cache}

# NVRTC where it lies in no usual place: beside nvcc, or in Python's packages.
if [[ -z "${MT_NVRTC:-}" ]] && ! ls /usr/local/cuda/lib64/libnvrtc.so.1[23] >/dev/null 2>&1; then
  nvcc=$(command -v nvcc || true)
  MT_NVRTC=$(find ${nvcc:+"$(dirname "$(readlink -f "$nvcc")")/.."} /usr/local /opt /usr/lib -name 'libnvrtc.so.1[23]' 2>/dev/null | head -n 1)
  [[ -n "$MT_NVRTC" ]] && export MT_NVRTC || unset MT_NVRTC
fi

passed=0 failed=0
step() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  if ((status == 0)); then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  echo "== $name: $( ((status == 0)) && echo ok || echo "failed ($status)"), $((SECONDS - start)) s"
}

make_tile() {
  [[ -n "${PREBUILT:-}" ]] && { "$build/tile" --version >/dev/null; return; }
  cmake -S . -B "$build" -G Ninja ${MT_DEPS_DIR:+-DMT_DEPS_DIR="$MT_DEPS_DIR"} ${CMAKE_ARGS:-} >"$out/build.log" 2>&1 &&
    cmake --build "$build" -j "$cores" --target tile test_cuda >>"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log"
    return 1
  }
}

device() {
  "$build/tile" device && "$build/tile" device --json >"$out/device.json"
}

unit() {
  GTEST_OUTPUT=json:$out/unit.json timeout 300 "$build/test_cuda" --gtest_brief=1
}

# The whole registry, shared among processes: compiling takes most of the time and NVRTC works on one text at a time.
registry() {
  local ids=() status=0 n
  for ((n = 1; n <= parts; ++n)); do
    timeout "${LIMIT:-540}" "$build/tile" test --device cuda --part "$n/$parts" --json "$out/test.$n.jsonl" >"$out/test.$n.txt" 2>&1 &
    ids+=($!)
  done
  for n in "${!ids[@]}"; do
    wait "${ids[$n]}" || status=1
    cat "$out/test.$((n + 1)).txt"
  done
  cat "$out"/test.*.jsonl >"$out/test.jsonl"
  rm -f "$out"/test.*.txt "$out"/test.*.jsonl
  python3 - "$out/test.jsonl" <<'PY' || status=1
import json, sys
cases = [json.loads(line) for line in open(sys.argv[1])]
wrong = [c for c in cases if not c["passed"]]
compared = sum(c["compared"] for c in cases)
kernels = {(c["kernel"], c["dtype"]) for c in cases}
print(f"{len(kernels)} kernels with their dtypes, {len(cases)} cases, {len(wrong)} failed, {compared:,} elements compared")
sys.exit(bool(wrong) or not cases)
PY
  return $status
}

# One `tile bench` a line of BENCH_LIST; what they measured ends up in one file.
bench() {
  local status=0 n=0 line words
  rm -f "$out"/bench.*.json
  while read -r -a words; do
    [[ ${#words[@]} == 0 || ${words[0]} == \#* ]] && continue
    n=$((n + 1))
    # shellcheck disable=SC2086
    (set -f; timeout "${LIMIT:-580}" "$build/tile" bench "${words[@]}" --device cuda ${BENCH_ARGS:-} --json "$out/bench.$n.json") || status=1
  done <"${BENCH_LIST:-tools/gpu_bench.txt}"
  python3 - "$out" <<'PY' || status=1
import glob, json, os, sys
files = sorted(glob.glob(sys.argv[1] + "/bench.*.json"), key=os.path.getmtime)
all = None
for file in files:
    one = json.load(open(file))
    os.remove(file)
    all = one if all is None else {**all, "benchmarks": all["benchmarks"] + one["benchmarks"]}
if all:
    json.dump(all, open(sys.argv[1] + "/bench.json", "w"), indent=1)
sys.exit(all is None)
PY
  return $status
}

# One case of every kernel in its first dtype, a large one among those that the tests ran, under memcheck and under
# racecheck (threadgroup memory).
sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "sanitize: compute-sanitizer is not here"; return 1; }
  [[ -e "$out/test.jsonl" ]] || { echo "sanitize: takes its cases from the step test; run it too"; return 1; }
  python3 - "$out/test.jsonl" >"$out/cases.txt" <<'PY'
import json, sys
best = {}
for line in open(sys.argv[1]):
    c = json.loads(line)
    if "edges" in c["case"] or not 0 < c["compared"] <= 20000:
        continue
    # Its sizes are laid over every case; with a size of zero the elements that some cases set would be nowhere.
    c["rank"] = (not any(part.endswith(":0") for part in c["case"].split("/")), c["compared"])
    old = best.get(c["kernel"])
    if old is None or (old["dtype"] == c["dtype"] and old["rank"] < c["rank"]):
        best[c["kernel"]] = c
for c in best.values():
    sizes = [part.replace(":", "=", 1) for part in c["case"].split("/") if not part.startswith("seed:")]
    # As a glob, so that it is no substring of other names.
    print(f"[{c['kernel'][0]}]{c['kernel'][1:]}", "--dtype", c["dtype"], *(word for s in sizes for word in ("--size", s)))
PY
  one() {
    local tool=$1 build=$2 log status=0
    shift 2
    # shellcheck disable=SC2086
    log=$(set -f; timeout 150 compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/tile" test $* --device cuda 2>&1) || status=$?
    echo "$tool $1/$3 exit $status $(grep -oE '[0-9]+ cases on cuda' <<<"$log"), $(grep -oE '(ERROR|RACECHECK) SUMMARY:.*' <<<"$log" | tail -n 1)"
    ((status == 0)) || grep -E '=========|FAIL|tile:' <<<"$log" | head -n 12 | sed 's/^/  /'
  }
  export -f one
  for tool in ${SANITIZERS:-memcheck racecheck}; do sed "s|^|$tool $build |" "$out/cases.txt"; done |
    xargs -P "$parts" -d '\n' -I{} bash -c 'one {}' >"$out/sanitize.txt" 2>&1
  local clean all
  clean=$(grep -cE ' exit 0 .*SUMMARY: 0 (errors|hazards)' "$out/sanitize.txt")
  all=$(($(wc -l <"$out/cases.txt") * $(wc -w <<<"${SANITIZERS:-memcheck racecheck}")))
  rm -f "$out/cases.txt"
  grep -vE ' exit 0 .*SUMMARY: 0 (errors|hazards)' "$out/sanitize.txt" | head -n 60
  echo "sanitize: $clean of $all runs clean"
  ((clean == all && all > 0))
}

step build make_tile
for name in "${steps[@]}"; do
  case "$name" in
    device | unit | bench | sanitize) step "$name" "$name" ;;
    test) step test registry ;;
    *) echo "gpu_run: no step '$name'" >&2; failed=$((failed + 1)) ;;
  esac
done
echo "$passed steps passed, $failed failed"
((failed == 0))
