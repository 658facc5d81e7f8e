"""What the documents show is what happens: docstrings, docs/python.md, the README."""
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import tempfile
import unittest

import cull
from support import ROOT

try:
    import torch
except ImportError:
    torch = None

BLOCK = re.compile(r"(?P<skip><!-- not run -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


def chapters(page):
    """(title, [(code, what it prints or None)]) of each chapter with code to run."""
    for part in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)[1:]:
        blocks = [m for m in BLOCK.finditer(part) if not m["skip"]]
        code = [(m["text"], following["text"] if following is not None and following["kind"] == "text" else None)
                for m, following in zip(blocks, blocks[1:] + [None]) if m["kind"] == "python"]
        if code:
            yield part.split("\n", 1)[0], code


class Documents(unittest.TestCase):
    def run_page(self, page):
        ran = 0
        for title, code in chapters(page):
            if torch is None and any("import torch" in text for text, _ in code):
                continue
            names = {"__name__": "__page__"}
            with self.subTest(title), tempfile.TemporaryDirectory() as folder:
                here = os.getcwd()
                os.chdir(folder)
                try:
                    for text, expected in code:
                        printed = io.StringIO()
                        with contextlib.redirect_stdout(printed):
                            exec(compile(text, f"{page.name}, {title}", "exec"), names)
                        if expected is not None:
                            self.assertEqual(printed.getvalue(), expected)
                        ran += 1
                finally:
                    os.chdir(here)
        return ran

    def test_the_page_about_python_prints_what_it_says(self):
        self.assertGreaterEqual(self.run_page(ROOT / "docs" / "python.md"), 6)

    def test_the_readmes_run(self):
        self.assertGreaterEqual(self.run_page(ROOT / "README.md"), 1)

    def test_the_examples_of_docstrings_hold(self):
        tried = 0
        for found in pkgutil.walk_packages(cull.__path__, "cull."):
            if "libcull" in found.name or found.name.startswith("cull.torch") and torch is None:
                continue
            result = doctest.testmod(importlib.import_module(found.name))
            self.assertEqual(result.failed, 0, found.name)
            tried += result.attempted
        self.assertEqual(doctest.testmod(cull).failed, 0)
        self.assertGreater(tried, 15)

    def test_whatever_is_public_has_a_docstring(self):
        for name in cull.__all__:
            self.assertTrue(getattr(cull, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
