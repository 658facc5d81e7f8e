#!/usr/bin/python3
"""Checks that nothing is decided by words that are made for people.

    tools/check_words.py [ROOT]

No code of the library or the program takes a failure's sentence apart: its status and
cull_last_subject() say what happened. And no strategy is known by its name outside of src/select:
its traits say what it is. Naming one as a value (a recipe's default, a control) is no decision.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
LOOKS = re.compile(r"\b(?:strn?cmp|strn?casecmp|strstr|strcasestr|strchr|strrchr|strspn|strcspn|strpbrk|memcmp|memchr|"
                   r"sscanf|strtok_r)\s*\(")
SENTENCE = re.compile(r"cull_last_error\(\)|\b(?:why|sentence|because|complaint)\b")
# dlerror() is all that the system says of a shared object; it only chooses a remark.
SYSTEM = {"src/select/plugin.c"}


def files():
    for folder in ("src", "programs"):
        yield from sorted(p for p in (ROOT / folder).rglob("*.[ch]"))


def code_of(path):
    """The text without comments, lines kept."""
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), path.read_text(), flags=re.S)


def strategies():
    names = {n for p in (ROOT / "src/select").glob("*.c") for n in re.findall(r'\.name = "([\w-]+)"', p.read_text())}
    if "random" not in names:
        sys.exit("src/select names no strategies: the check looks in the wrong place")
    return names


def calls(text):
    """(line, arguments) of every call that looks into a text."""
    for m in LOOKS.finditer(text):
        depth, end = 1, m.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[:m.start()].count("\n") + 1, text[m.start():end]


def main():
    known = re.compile('"(?:' + "|".join(map(re.escape, strategies())) + ')"')
    problems = []
    for path in files():
        where = str(path.relative_to(ROOT))
        for line, call in calls(code_of(path)):
            what = None
            if SENTENCE.search(call) and where not in SYSTEM:
                what = "reads a sentence"
            elif known.search(call) and not where.startswith("src/select/") and not re.search(r"\brole\b", call):
                what = "knows a strategy by its name"
            if what:
                problems.append(f"{where}:{line}: {what}: {' '.join(call.split())}")
    print("\n".join(problems) or "no sentence is read, no strategy known by its name")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
