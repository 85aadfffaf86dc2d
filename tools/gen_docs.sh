#!/usr/bin/env bash
# Writes docs/kernels.md from the registry and docs/ops.md from the op table; --check only says whether they are current.
# PRESET names the build tree, release where unset.
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
case "${1:-}" in
  "") ;;
  --check) check=true ;;
  *) echo "gen_docs: unknown argument '$1'; the only one is --check" >&2; exit 2 ;;
esac
build=build/${PRESET:-release}
cmake --build "$build" --target tile ops_doc >/dev/null

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$build/tile" list --markdown >"$scratch/kernels.md"
"$build/ops_doc" >"$scratch/ops.md"

stale=0
for page in kernels ops; do
  if cmp -s "$scratch/$page.md" "docs/$page.md"; then
    continue
  elif $check; then
    echo "docs/$page.md is not current; run tools/gen_docs.sh" >&2
    diff "docs/$page.md" "$scratch/$page.md" | head -20 >&2 || true
    stale=1
  else
    mkdir -p docs
    mv "$scratch/$page.md" "docs/$page.md"
    echo "gen_docs: wrote docs/$page.md" >&2
  fi
done
exit $stale
