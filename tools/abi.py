#!/usr/bin/python3
"""Prints python/src/cull/_abi.py: what libcull_select offers, as ctypes sees it.

    tools/abi.py HEADER > python/src/cull/_abi.py
    tools/abi.py --check CC HEADER PAGE LIBRARY   PAGE is what would be printed, lays structs out and
                                                  numbers constants as a C compiler does, and declares
                                                  every function that LIBRARY exports

Made from cull.h alone, of whose sections libcull leaves some to itself. Layouts are those of
layout.py, whose expressions are used; what they do not understand fails.
"""
import ctypes
import pathlib
import re
import subprocess
import sys

import layout

# Sections of the header that libcull_select does not have: this one, and all from that one on.
LEFT_OUT, LAST = "arrays on disk", "data sets"
SCALARS = {"char": "c_char", "bool": "c_bool", "uint8_t": "c_uint8", "uint16_t": "c_uint16", "int": "c_int",
           "unsigned": "c_uint", "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64",
           "uint64_t": "c_uint64", "size_t": "c_size_t", "double": "c_double", "float": "c_float"}
HEAD = '''"""What libcull_select offers, as ctypes sees it. Printed by tools/abi.py from cull.h: not to be edited.

Structs are laid out as the header says, constants have its names, and `declare` gives a library's functions their
types. Those that take a varying number of arguments are left out.
"""
from __future__ import annotations

from ctypes import (CDLL, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p)
'''


def sections(path):
    """The text of the header that is about libcull_select, without comments."""
    parts = re.split(r"^/\* ---- ([^:\n]*?)(?::[^\n]*)? -+ \*/$", path.read_text(), flags=re.M)
    named = list(zip(parts[1::2], parts[2::2]))
    names = [name for name, _ in named]
    if LEFT_OUT not in names or LAST not in names:
        sys.exit(f"{path} has no section '{LEFT_OUT}' or '{LAST}'")
    text = parts[0] + "".join(body for name, body in named[:names.index(LAST)] if name != LEFT_OUT)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def statuses(text):
    return [(name, int(number)) for name, number in re.findall(r'X\((\w+), (\d+), "', text)]


def pointer(kind, stars, fixed, known):
    """The ctypes name of a pointer, as a member or an argument."""
    if stars == 1 and kind == "char" and fixed:
        return "c_char_p"
    if stars == 1 and kind in known:
        return f"POINTER({kind})"
    if stars == 2:
        return "POINTER(c_char_p)" if kind == "char" else "POINTER(c_void_p)"
    return "c_void_p"


def member(kind, fixed, lengths, number, known, enums):
    if kind.endswith("*"):
        return pointer(kind.rstrip("*"), 1, fixed or kind == "char*", known)
    name = "c_int" if kind in enums else SCALARS.get(kind, kind)
    for length in lengths:
        name = f"{name} * {length if length.isdigit() else number[length]}"
    return name


def structures(text):
    """(name, [(member, ctypes name)]) of each struct, in their order."""
    number, enums = layout.constants(text), set(re.findall(r"\benum\b[^{;]*\{[^}]*\}\s*(\w+);", text))
    known = []
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\n\} (\w+);", text, re.S):
        rows = [(row, member(kind, False, lengths, number, known, enums))
                for kind, row, lengths in layout.members(body)]
        known.append(name)
        yield name, rows


def argument(text, known, enums):
    """The ctypes name of one argument or result."""
    fixed, stars = "const" in text, text.count("*")
    words = [w for w in re.findall(r"\w+", text) if w not in ("const", "struct", "enum")]
    if "[" in text:
        stars += 1
    if stars:
        return pointer(words[0], stars, fixed, known)
    return "c_int" if words[0] in enums else SCALARS.get(words[0], words[0])


def functions(text, known):
    """(name, result, [arguments]) of every function that ctypes can call."""
    enums = set(re.findall(r"\benum\b[^{;]*\{[^}]*\}\s*(\w+);", text))
    code = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    for line in re.findall(r"\bCULL_API\b([^;]*);", code):
        result, name, rest = re.match(r"\s*(.*?)(\w+)\s*\((.*)\)", re.sub(r"\s+", " ", line)).groups()
        if "..." in rest:
            continue
        given = [] if rest.strip() == "void" else [argument(a, known, enums) for a in rest.split(",")]
        yield name, None if result.strip() == "void" else argument(result, known, enums), given


def page(header):
    text = sections(header)
    structs = list(structures(text))
    number = layout.constants(text)
    lines = [HEAD]
    lines += [f"CULL_{name} = {value}" for name, value in statuses(text)]
    skip = {f"CULL_{name}" for name, _ in statuses(text)} | {"CULL_STATUS_ENUM"}
    lines += [f"{name} = {value}" for name, value in number.items() if name not in skip]
    lines += ["", "STATUS_NAMES = {" + ", ".join(f'{value}: "{name}"' for name, value in statuses(text)) + "}"]
    for name, rows in structs:
        lines += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        lines += [f'        ("{row}", {kind}),' for row, kind in rows]
        lines += ["    ]"]
    lines += ["", "", "FUNCTIONS: dict[str, tuple[object, list[object]]] = {"]
    for name, result, given in functions(text, [n for n, _ in structs]):
        lines.append(f'    "{name}": ({result}, [{", ".join(given)}]),')
    lines += ["}", "", "", "def declare(library: CDLL) -> CDLL:",
              '    """Give the functions of a library their types."""',
              "    for name, (result, arguments) in FUNCTIONS.items():",
              "        function = getattr(library, name)",
              "        function.restype = result",
              "        function.argtypes = arguments",
              "    return library", ""]
    return wrapped("\n".join(lines))


def wrapped(text):
    """Long lines of the tables, broken behind a comma."""
    out = []
    for line in text.split("\n"):
        while len(line) > 120 and ", " in line[:120]:
            at = line.rindex(", ", 0, 120) + 1
            out.append(line[:at])
            line = " " * 8 + line[at:].strip()
        out.append(line)
    return "\n".join(out)


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {line.split()[2] for line in lines if len(line.split()) == 3}


def asserted(module):
    """What the page says of structs and constants, as assertions for a C compiler."""
    for name, value in vars(module).items():
        if name.startswith("CULL_"):
            yield f'_Static_assert({name} == {value}, "{name}");'
        if not isinstance(value, type) or not issubclass(value, ctypes.Structure) or value is ctypes.Structure:
            continue
        yield f'_Static_assert(sizeof({name}) == {ctypes.sizeof(value)}, "{name}");'
        for row, _ in value._fields_:
            field = getattr(value, row)
            yield (f'_Static_assert(offsetof({name}, {row}) == {field.offset} && '
                   f'sizeof((({name} *)0)->{row}) == {field.size}, "{name}.{row}");')


def compiled(compiler, header, path):
    """How many assertions a C compiler agreed with."""
    module = type(sys)("abi")
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    lines = list(asserted(module))
    text = "\n".join([f'#include "{header.resolve()}"', *lines, ""])
    if subprocess.run([compiler, "-std=c17", "-fsyntax-only", "-x", "c", "-"], input=text, text=True,
                      check=False).returncode:
        sys.exit(f"{path} is not what the compiler says")
    return len(lines)


def check(compiler, header, path, library):
    made = page(header)
    if path.read_text() != made:
        sys.exit(f"{path} is not what tools/abi.py prints of {header.name}: print it anew (make docs)")
    declared = set(re.findall(r'^    "(cull_\w+)": \(', made, re.M))
    variadic = set(re.findall(r"\b(cull_\w+)\([^;]*?\.\.\.\)", sections(header)))
    wrong = declared ^ (exported(library) - variadic)
    if wrong:
        sys.exit(f"declared or exported, and not both: {', '.join(sorted(wrong))}")
    print(f"{len(declared)} functions, {compiled(compiler, header, path)} sizes, offsets and constants")


def main():
    if sys.argv[1:2] == ["--check"]:
        check(sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4]), sys.argv[5])
    else:
        print(page(pathlib.Path(sys.argv[1])), end="")


if __name__ == "__main__":
    main()
