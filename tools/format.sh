#!/usr/bin/env bash
# Formats every C++ file of the repository with clang-format 14; --check only says which files differ.
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=""
for candidate in clang-format-14 clang-format; do
  if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q "version 14\."; then
    formatter=$candidate
    break
  fi
done
if [[ -z "$formatter" ]]; then
  echo "format: clang-format 14 is not here (other versions format differently); run tools/setup.sh --dev" >&2
  exit 2
fi

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.cpp' '*.h' | sort -u | while read -r f; do [[ -f "$f" ]] && echo "$f"; done)
if ((${#files[@]} == 0)); then
  echo "format: found no C++ file" >&2
  exit 3
fi
case "${1:-}" in
  "") "$formatter" -i "${files[@]}" ;;
  --check) "$formatter" --dry-run --Werror "${files[@]}" ;;
  *) echo "format: unknown argument '$1'; the only one is --check" >&2; exit 2 ;;
esac
echo "format: ${#files[@]} files" >&2
