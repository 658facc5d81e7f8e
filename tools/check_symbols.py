#!/usr/bin/python3
"""Checks what the libraries give and take: exports against the headers, and what they depend on.

    tools/check_symbols.py INCLUDE_DIR BUILD_DIR

libcull.so exports exactly the functions marked CULL_API in cull.h and cull_lab.h; libcull_select.so
none but of cull.h, and it needs nothing beyond libc and libm; every global name in the static libraries carries the prefix.
"""
import pathlib
import re
import subprocess
import sys

ALONE = re.compile(r"^(libc|libm|libpthread|libdl|ld-linux.*)\.so")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared(header):
    """The functions a header marks CULL_API."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    return {re.search(r"(\w+)\s*\(", rest).group(1) for rest in re.findall(r"\bCULL_API\b([^;]*);", text)}


def defined(library, *flags):
    return {line.split()[-1].split("@")[0]
            for line in run("nm", "-g", "--defined-only", *flags, str(library)).splitlines()
            if len(line.split()) == 3}


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", str(library)))


def main():
    include, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    main_header, problems = declared(include / "cull.h"), []
    public = main_header | declared(include / "cull_lab.h")
    whole, small = defined(build / "libcull.so", "-D"), defined(build / "libcull_select.so", "-D")
    problems += [f"libcull.so: {name} is declared and not exported" for name in sorted(public - whole)]
    problems += [f"libcull.so: {name} is exported and not declared" for name in sorted(whole - public)]
    problems += [f"libcull_select.so: {name} is not in cull.h" for name in sorted(small - main_header)]
    problems += [f"libcull_select.so needs {name}" for name in needed(build / "libcull_select.so")
                 if not ALONE.match(name)]
    if not {"cull_selector_create", "cull_select", "cull_omp"} <= small:
        problems.append("libcull_select.so does not select")
    for archive in ("libcull.a", "libcull_select.a"):
        problems += [f"{archive}: {name} lacks the prefix cull_"
                     for name in sorted(defined(build / archive)) if not name.startswith("cull_")]
    print("\n".join(problems) or f"{len(public)} declared, {len(whole)} exported, {len(small)} of them "
          "in libcull_select")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
