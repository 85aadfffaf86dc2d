#!/usr/bin/env python3
"""Code in the documentation is the code that is compiled: each block after `<!-- file: PATH -->` equals that file, and
every `./tile VERB` and every relative link names something that exists."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```", re.S)


def check(page: pathlib.Path, verbs: set[str]) -> tuple[list[str], int]:
    text, name, wrong, looked = page.read_text(), page.relative_to(ROOT), [], 0
    for path, code in BLOCK.findall(text):
        looked += 1
        if (ROOT / path).read_text() != code:
            wrong.append(f"{name}: the block after 'file: {path}' differs from that file; paste the file again")
    for verb in re.findall(r"\./tile ([a-z]+)", text):
        looked += 1
        if verb not in verbs:
            wrong.append(f"{name}: './tile {verb}' is no command; there are {', '.join(sorted(verbs))}")
    for target in re.findall(r"\]\(([^)#\s]+)\)", text):
        if "://" in target:
            continue
        looked += 1
        if not (page.parent / target).exists():
            wrong.append(f"{name}: the link to {target} leads nowhere")
    return wrong, looked


def main() -> int:
    verbs = {p.stem for p in (ROOT / "cli").glob("*.cpp")} - {"main", "verb"}
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    results = [check(page, verbs) for page in pages]
    wrong = [sentence for sentences, _ in results for sentence in sentences]
    looked = sum(count for _, count in results)
    print("\n".join(wrong + [f"{looked} blocks, commands and links checked, {len(wrong)} wrong"]))
    return 1 if wrong or looked < 20 else 0


sys.exit(main())
