#!/usr/bin/python3
"""Checks who includes whom: the table of rooms in docs/architecture.md, held against the sources.

    tools/check_includes.py [ROOT]

A room may include its own files, cull.h, libc, and what its row of the table allows (cull_lab.h too
must stand there). The folders of a backend (ref, cpu, cuda) may not look into each other; only
registry.c sees them all. File names are unique in src/ and programs/, outside those folders.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
TABLE = "docs/architecture.md"
DEVICES = {"ref", "cpu", "cuda"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
LIBC = set("""
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
    stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar
    wchar wctype dirent dlfcn fcntl libgen pthread sched spawn strings unistd sys/mman sys/resource
    sys/file sys/ioctl sys/prctl sys/stat sys/statvfs sys/time sys/types sys/utsname sys/wait
""".split())


def read_table():
    """{room: (names it may include, library headers it may include)} from the rows `| `room` |`."""
    rooms = {}
    rows = re.findall(r"^\| `(\w+)`[^|]*\|([^|]*)\|([^|]*)\|$", (ROOT / TABLE).read_text(), re.M)
    for room, inner, outer in rows:
        rooms[room] = (re.findall(r"`([\w/.]+)`", inner), re.findall(r"`([\w/.*]+)`", outer))
    return rooms


def room_of(parts):
    return "programs" if parts[0] == "programs" else parts[1]


def device_of(parts):
    """"cpu" for src/backend/cpu/x.c or backend/cpu/x.h, else None."""
    inside = parts[1:] if parts[0] == "src" else parts
    return inside[1] if len(inside) > 2 and inside[0] == "backend" and inside[1] in DEVICES else None


def resolve(path, name):
    """Where a quoted include leads, relative to src/, or None."""
    for base in (path.parent, ROOT / "src", ROOT / "programs/cull"):
        if (base / name).is_file():
            found = (base / name).resolve()
            return found.relative_to(ROOT / "src") if found.is_relative_to(ROOT / "src") else found
    return None


def complaint(path, bracket, name, rooms):
    """What is wrong with one #include of one file, or None."""
    parts = path.relative_to(ROOT).parts
    room, device = room_of(parts), device_of(parts)
    allowed, libraries = rooms[room]
    if name == "cull.h":
        return None
    if name == "cull_lab.h":
        return None if name in allowed else f'"{name}" is not in {room}\'s row'
    if bracket == "<":
        vendor = device in {"cpu", "cuda"}
        known = name.removesuffix(".h") in LIBC or name in libraries
        return None if known or vendor else f"<{name}> is neither libc nor in {room}'s row"
    target = resolve(path, name)
    if target is None:
        return f'"{name}" does not exist'
    if target.is_absolute():
        return None if room == "programs" and target.is_relative_to(ROOT / "programs") else \
            f'"{name}" lies outside src/'
    other, other_device = target.parts[0], device_of(target.parts)
    if other == room:
        crossing = other_device not in (None, device) and path.name != "registry.c"
        return f'"{name}" belongs to another backend' if crossing else None
    if other in allowed or str(target) in allowed:
        return None
    return f'"{name}": {room} may not include {other}'


def main():
    rooms = read_table()
    if len(rooms) < 5:
        sys.exit(f"{TABLE}: no table of rooms found")
    sources = sorted(p for folder in ("src", "programs") for p in (ROOT / folder).rglob("*.[ch]"))
    problems, names = [], collections.defaultdict(list)
    for path in sources:
        parts = path.relative_to(ROOT).parts
        if room_of(parts) not in rooms:
            problems.append(f"{'/'.join(parts)}: room {room_of(parts)} is not in {TABLE}")
            continue
        if device_of(parts) is None:
            names[path.name].append("/".join(parts))
        for bracket, name in INCLUDE.findall(path.read_text()):
            wrong = complaint(path, bracket, name, rooms)
            if wrong:
                problems.append(f"{'/'.join(parts)}: {wrong}")
    problems += [f"the same name twice: {', '.join(same)}" for same in names.values() if len(same) > 1]
    print("\n".join(problems) or f"{len(sources)} files include only what {TABLE} allows")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
