#!/usr/bin/env python3
"""Names of device values from the kernels' C++ source.

    source_names.py OUT.cpp ROOT FILE...

Finds declarations of one value (`const F32 mean = …;`, `Var<f32> total(0.f);`) and writes a table of file, lines and
name, so that IR and generated text can call a value what its author called it. A line it does not understand gives no
name: the table is for readers, never for meaning.
"""
import pathlib
import re
import sys

TYPE = r"(?:auto|F32|I32|U32|I64|U64|Bool|(?:Vec|Value|Var|VecVar)<\s*\w+\s*>)"
DECLARATION = re.compile(rf"^\s*(?:const\s+)?{TYPE}\s+(\w+)\s*[=({{]")


def declarators(statement: str) -> int:
    """Commas outside brackets, plus one."""
    depth, count = 0, 1
    for c in re.sub(r"<[^<>;]*>", "", statement):
        depth += (c in "([{") - (c in ")]}")
        count += c == "," and depth == 0
    return count


def names(path: pathlib.Path) -> list[tuple[int, int, str]]:
    lines, found = path.read_text().splitlines(), []
    for at, line in enumerate(lines):
        match = DECLARATION.match(line)
        if not match or "[&]" in line or "[=]" in line:
            continue
        end = at
        while not lines[end].split("//")[0].rstrip().endswith(";") and end < min(at + 6, len(lines) - 1):
            end += 1
        statement = " ".join(part.split("//")[0] for part in lines[at : end + 1])
        if declarators(statement) == 1 and "[&]" not in statement:
            found.append((at + 1, end + 1, match.group(1)))
    return found


def main() -> int:
    out, root, *files = sys.argv[1:]
    rows = []
    for file in sorted(files):
        path = pathlib.Path(file)
        rows += [f'    {{"{path.relative_to(root)}", {a}, {b}, "{name}"}},' for a, b, name in names(path)]
    text = "\n".join(
        ["// Made from the kernels' sources by tools/source_names.py.", '#include "mt/dsl/source_names.h"', "",
         "namespace mt {", "namespace {", "const SourceName kNames[] = {", *rows, '    {"", 0, 0, ""},', "};",
         "const bool registered = register_source_names(kNames);", "}  // namespace", "}  // namespace mt", ""]
    )
    target = pathlib.Path(out)
    if not target.exists() or target.read_text() != text:
        temporary = target.with_suffix(".tmp")
        temporary.write_text(text)
        temporary.replace(target)
    return 0


sys.exit(main())
