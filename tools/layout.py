#!/usr/bin/python3
"""Sizes and offsets of the public structs, for bindings, which know them by layout.

    tools/layout.py HEADER...              a line for each struct and member
    tools/layout.py --check CC HEADER...   holds them against what a C compiler says, and cull.h's
                                           against its rule: a struct is sized or fixed

The layout is that of 64-bit systems. What the expressions below do not understand fails the check:
the headers are written so that they do. `structs` gives the same to a program.
"""
import pathlib
import re
import subprocess
import sys

SIZES = {"char": 1, "bool": 1, "uint8_t": 1, "uint16_t": 2, "int": 4, "unsigned": 4, "int32_t": 4, "uint32_t": 4,
         "int64_t": 8, "uint64_t": 8, "size_t": 8, "double": 8, "float": 4}
POINTER = 8
# As they are for good, or covered by CULL_STRATEGY_ABI; cull.h says so under "Sizes".
FIXED = set("""cull_allocator cull_device cull_tensor cull_array cull_target cull_option cull_option_spec
    cull_self cull_strategy cull_key cull_calls cull_window""".split())


def constants(text):
    """{name: number} of enumerations and simple #defines."""
    found = {name: int(number) for name, number in re.findall(r"^#define (CULL_\w+)\s+(\d+)\b", text, re.M)}
    for body in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", text):
        number = 0
        for name, given in re.findall(r"(CULL_\w+)\s*(?:=\s*(\w+))?\s*(?:,|$)", body):
            number = (int(given) if given.isdigit() else found.get(given, 0)) if given else number
            found[name] = number
            number += 1
    return found


def members(body):
    """(type, name, lengths of an array) of each member; a type with a star is a pointer."""
    for line in re.sub(r"\s+CULL_PRINTF\([^)]*\)", "", body).split(";"):
        line = re.sub(r"\b(const|struct|enum)\b", "", line).strip()
        call = re.match(r"\w+[\s*]+\(\*(\w+)\)\(", line)
        if call:
            yield "()*", call[1], []
            continue
        kind, rest = (re.match(r"(\w+)\s*(.*)", line, re.S).groups()) if line else ("", "")
        for one in filter(None, (part.strip() for part in rest.split(","))):
            star = "*" if "*" in one else ""
            yield kind + star, re.search(r"(\w+)\s*(?:\[|$)", one)[1], re.findall(r"\[(\w+)\]", one)


def structs(headers):
    """{name: (size, [(member, offset, size, type)])}, in the order of the headers."""
    text = "\n".join(re.sub(r"/\*.*?\*/", "", pathlib.Path(h).read_text(), flags=re.S) for h in headers)
    number, sizes, found = constants(text), {name: (size, size) for name, size in SIZES.items()}, {}
    sizes.update({name: (4, 4) for name in re.findall(r"\benum\b[^{;]*\{[^}]*\}\s*(\w+);", text)})
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\n\} (\w+);", text, re.S):
        at, border, rows = 0, 1, []
        for kind, member, lengths in members(body):
            size, align = (POINTER, POINTER) if kind.endswith("*") else sizes[kind]
            for length in lengths:
                size *= int(length) if length.isdigit() else number[length]
            at = -(-at // align) * align
            rows.append((member, at, size, kind))
            at, border = at + size, max(border, align)
        found[name] = (-(-at // border) * border, rows)
        sizes[name] = (found[name][0], border)
    return found


def check(compiler, headers):
    """Whether a C compiler agrees, offset by offset."""
    found = structs(headers)
    lines = [f'#include "{pathlib.Path(h).resolve()}"' for h in headers]
    for name, (size, rows) in found.items():
        lines.append(f'_Static_assert(sizeof({name}) == {size}, "{name}");')
        for member, at, bytes_, _ in rows:
            lines.append(f'_Static_assert(offsetof({name}, {member}) == {at} && '
                         f'sizeof((({name} *)0)->{member}) == {bytes_}, "{name}.{member}");')
    declared = set(re.findall(r"typedef struct (\w+) \{", "".join(pathlib.Path(h).read_text() for h in headers)))
    if declared != set(found):
        sys.exit(f"not understood: {', '.join(sorted(declared ^ set(found)))}")
    flags = ["-std=c17", "-fsyntax-only", "-x", "c", "-"]
    if subprocess.run([compiler, *flags], input="\n".join(lines) + "\n", text=True, check=False).returncode:
        sys.exit("the layout is not the compiler's")
    sized = {name for name, (_, rows) in found.items() if rows[0] == ("size", 0, 8, "size_t")}
    open_ended = set(structs(h for h in headers if pathlib.Path(h).name == "cull.h")) - sized - FIXED
    if open_ended:
        sys.exit(f"neither sized nor fixed: {', '.join(sorted(open_ended))}")
    print(f"{len(found)} structs, {len(sized)} of them sized, {sum(len(rows) for _, rows in found.values())} members")


def main():
    if sys.argv[1:2] == ["--check"]:
        check(sys.argv[2], sys.argv[3:])
        return
    for name, (size, rows) in structs(sys.argv[1:]).items():
        print(f"{name} {size}")
        for row in rows:
            print("   ", *row)


if __name__ == "__main__":
    main()
