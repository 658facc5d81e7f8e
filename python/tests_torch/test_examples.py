"""The gallery runs at a small setting, without files and without a network."""
import pathlib
import re
import subprocess
import sys
import unittest

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"
LINES = 60


def run(name, *options):
    """The test accuracies that an example prints."""
    made = subprocess.run([sys.executable, str(EXAMPLES / name), *options], capture_output=True, text=True,
                          timeout=120)
    if made.returncode:
        raise AssertionError(made.stdout + made.stderr)
    return [float(found) for found in re.findall(r"test accuracy ([\d.]+) %", made.stdout)], made.stdout


class Gallery(unittest.TestCase):
    def test_each_fits_a_page(self):
        for path in EXAMPLES.glob("*.py"):
            if path.name != "sets.py":
                self.assertLess(len(path.read_text().splitlines()), LINES, path.name)

    def test_fashion_mnist(self):
        found, told = run("fashion_mnist.py", "--limit", "600", "--epochs", "4", "--data", "nowhere")
        self.assertIn("made up", told)
        self.assertEqual(len(found), 4)
        self.assertGreater(found[-1], 50)

    def test_fashion_mnist_by_gradient_matching(self):
        found, _ = run("fashion_mnist.py", "--limit", "300", "--epochs", "1", "--data", "nowhere", "--strategy",
                       "gradmatch")
        self.assertEqual(len(found), 1)

    def test_cifar_resnet(self):
        found, told = run("cifar_resnet.py", "--limit", "600", "--epochs", "8", "--width", "4", "--keep", "0.6",
                          "--data", "nowhere")
        self.assertIn("made up", told)
        self.assertGreater(found[-1], 20)      # ten classes

    def test_text_classifier(self):
        found, told = run("text_classifier.py", "--limit", "200", "--epochs", "2", "--data", "nowhere")
        self.assertIn("made up", told)
        self.assertGreater(found[-1], 80)      # two


if __name__ == "__main__":
    unittest.main()
