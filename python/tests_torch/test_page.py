"""docs/python-torch.md prints what it says."""
import contextlib
import io
import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python-torch.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


class Page(unittest.TestCase):
    def test_every_chapter_prints_what_it_says(self):
        ran = 0
        for chapter in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
            names = {}
            blocks = BLOCK.findall(chapter)
            for (kind, code), (after, expected) in zip(blocks, blocks[1:] + [("", "")]):
                if kind != "python":
                    continue
                printed = io.StringIO()
                with self.subTest(chapter.split("\n", 1)[0]), contextlib.redirect_stdout(printed):
                    exec(compile(code, PAGE.name, "exec"), names)
                self.assertEqual((after, printed.getvalue()), ("text", expected))
                ran += 1
        self.assertGreaterEqual(ran, 7)


if __name__ == "__main__":
    unittest.main()
