"""The plain solvers, beside what numpy says."""
import itertools
import unittest

import numpy

import cull
from support import M, signals

try:
    import torch
except ImportError:
    torch = None


def gradients(h, p):
    """p (x) [h; 1] of each example, as rows."""
    wide = numpy.concatenate([h, numpy.ones((len(h), 1))], 1)
    return numpy.einsum("nc,nd->ncd", p, wide).reshape(len(h), -1)


class Pursuit(unittest.TestCase):
    def setUp(self):
        given = signals()
        self.h, self.p = given["h"], given["p"]
        self.g = gradients(self.h, self.p)

    def by_hand(self, budget, target):
        """Textbook OMP by least squares."""
        picked, rest = [], target.copy()
        for _ in range(budget):
            correlation = numpy.abs(self.g @ rest)
            correlation[picked] = -1
            picked.append(int(correlation.argmax()))
            weights = numpy.linalg.lstsq(self.g[picked].T, target, rcond=None)[0]
            rest = target - self.g[picked].T @ weights
        return picked, weights, numpy.linalg.norm(rest) / numpy.linalg.norm(target)

    def test_all_three_forms_find_what_least_squares_finds(self):
        rows, weights, residual = self.by_hand(8, self.g.mean(0))
        k, t, b2 = cull.gram(self.h, self.p)
        numpy.testing.assert_allclose(k, self.g @ self.g.T, rtol=1e-12, atol=1e-14)
        for name, found in {"g": cull.omp(g=self.g, budget=8), "k": cull.omp(k, t, 8, b2=b2),
                            "h, p": cull.omp(h=self.h, p=self.p, budget=8)}.items():
            with self.subTest(name):
                self.assertEqual(found.rows.tolist(), rows)
                numpy.testing.assert_allclose(found.weights, weights, rtol=1e-8)
                self.assertAlmostEqual(found.residual, residual, places=9)
                self.assertEqual((found.stop, found.rows.dtype, found.weights.dtype), ("budget", "int64", "float64"))

    def test_a_target_block_is_what_is_matched(self):
        goal = signals()["target"]
        mean = gradients(goal["h"], goal["p"]).mean(0)
        k, t, b2 = cull.gram(self.h, self.p, target=goal)
        numpy.testing.assert_allclose(t, self.g @ mean, rtol=1e-10, atol=1e-14)
        self.assertAlmostEqual(b2, mean @ mean)
        found = cull.omp(h=self.h, p=self.p, b=mean.reshape(3, 7), budget=5)
        self.assertEqual(cull.omp(k, t, 5, b2=b2).rows.tolist(), found.rows.tolist())

    def test_a_planted_mix_is_found(self):
        target = 2 * self.g[5] + 0.5 * self.g[30]
        found = cull.omp(g=self.g, b=target, budget=20)
        self.assertLessEqual({5, 30}, set(found.rows.tolist()))
        self.assertEqual(found.stop, "fit")
        self.assertLess(found.residual, 1e-6)
        same = cull.omp(h=self.h, p=self.p, b=target.reshape(3, 7), budget=20)
        self.assertEqual(same.rows.tolist(), found.rows.tolist())

    def test_rows_and_a_column_are_part_of_the_gradient(self):
        rows = numpy.arange(3, 33, 2)
        part = gradients(self.h[rows], self.p[rows, 1:2])
        found = cull.omp(h=self.h, p=self.p, rows=rows, column=1, budget=5)
        again = cull.omp(g=part, budget=5)
        self.assertEqual(found.rows.tolist(), again.rows.tolist())
        numpy.testing.assert_allclose(found.weights, again.weights, rtol=1e-8)

    def test_options_do_what_they_say(self):
        free = cull.omp(g=self.g, b=-self.g[3] + self.g[7], budget=10)
        self.assertTrue((free.weights < 0).any())
        kept = cull.omp(g=self.g, b=-self.g[3] + self.g[7], budget=10, nonnegative=True, pick="signed")
        self.assertTrue((kept.weights >= 0).all())
        ridged = cull.omp(g=self.g, budget=8, ridge=0.5)
        self.assertAlmostEqual(ridged.ridge, 0.5 * (self.g ** 2).sum(1).mean())
        drawn = [cull.omp(g=self.g, budget=8, pick="sample", step=i).rows.tolist() for i in (1, 1, 2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        self.assertEqual(cull.omp(g=self.g, b=numpy.zeros(21), budget=8).stop, "zero target")

    def test_what_cannot_be_is_refused(self):
        for words, call in ((r"takes k and t, or g", lambda: cull.omp(budget=2)),
                            ("takes k and t, or g", lambda: cull.omp(self.g, g=self.g, budget=2)),
                            ("k goes with t", lambda: cull.omp(self.g @ self.g.T, budget=2)),
                            ("needs a budget", lambda: cull.omp(g=self.g)),
                            ("a budget of 49 for 48", lambda: cull.omp(g=self.g, budget=49)),
                            ("not square", lambda: cull.omp(self.g, numpy.zeros(M), 2)),
                            ("t has the shape", lambda: cull.omp(self.g @ self.g.T, numpy.zeros(3), 2)),
                            ("h and p go together", lambda: cull.omp(h=self.h, budget=2)),
                            ("p has 47", lambda: cull.omp(h=self.h, p=self.p[1:], budget=2)),
                            ("b has the shape", lambda: cull.omp(h=self.h, p=self.p, b=numpy.zeros(3), budget=2)),
                            ("column=3", lambda: cull.omp(h=self.h, p=self.p, column=3, budget=2)),
                            ("rows has 48", lambda: cull.omp(h=self.h, p=self.p, rows=[48], budget=1)),
                            ("pick='best'", lambda: cull.omp(g=self.g, budget=2, pick="best")),
                            ("g has NaN", lambda: cull.omp(g=self.g * numpy.nan, budget=2)),
                            ("ridge", lambda: cull.omp(g=self.g, budget=2, ridge=-1)),
                            ("tolerance='x'", lambda: cull.omp(g=self.g, budget=2, tolerance="x"))):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                call()
        with self.assertRaises(MemoryError):
            cull.omp(h=self.h, p=self.p, budget=8, memory=100)

    @unittest.skipIf(torch is None, "torch is not there")
    def test_bfloat16_is_refused_with_what_to_do(self):
        g = torch.eye(3)
        with self.assertRaisesRegex(ValueError, r"g\.float\(\)"):
            cull.omp(g=g.bfloat16(), budget=1)
        self.assertEqual(cull.omp(g=g.half(), b=g[1], budget=1).rows.tolist(), [1])

    @unittest.skipIf(torch is None, "torch is not there")
    def test_tensors_give_tensors(self):
        h, p = torch.from_numpy(self.h).float(), torch.from_numpy(self.p).float()
        found = cull.omp(h=h, p=p, budget=8)
        self.assertEqual((found.rows.dtype, found.weights.dtype), (torch.int64, torch.float32))
        self.assertEqual(cull.omp(g=torch.from_numpy(self.g), budget=8).weights.dtype, torch.float64)
        self.assertEqual(cull.facility(h=h, p=p, budget=4).rows.dtype, torch.int64)


class Facility(unittest.TestCase):
    def test_it_is_as_good_as_greedy_can_be(self):
        rng = numpy.random.default_rng(3)
        near = rng.uniform(size=(10, 10))
        near = near + near.T
        found = cull.facility(near, 3)
        best = max(near[list(rows)].max(0).sum() for rows in itertools.combinations(range(10), 3))
        self.assertAlmostEqual(found.value, near[found.rows].max(0).sum())
        self.assertGreaterEqual(found.value, (1 - 1 / numpy.e) * best)
        owner = found.rows[near[found.rows].argmax(0)]
        self.assertEqual(found.weights.tolist(), [float((owner == row).sum()) for row in found.rows])
        self.assertEqual(cull.facility(near, 3, greedy="naive").rows.tolist(), found.rows.tolist())

    def test_gradients_by_factors_are_as_near_as_they_are(self):
        given = signals()
        g = gradients(given["h"], given["p"])
        apart = numpy.linalg.norm(g[:, None] - g[None], axis=2)
        plain = cull.facility(apart.max() - apart, 6)
        found = cull.facility(h=given["h"], p=given["p"], budget=6)
        self.assertEqual(found.rows.tolist(), plain.rows.tolist())
        self.assertEqual(found.weights.sum(), M)
        part = cull.facility(h=given["h"], p=given["p"], rows=[1, 3, 5], budget=3)
        self.assertEqual(sorted(part.rows.tolist()), [0, 1, 2])

    def test_what_cannot_be_is_refused(self):
        given = signals()
        for words, call in (("takes similarity, or h", lambda: cull.facility(budget=2)),
                            ("needs a budget", lambda: cull.facility(numpy.eye(3))),
                            ("not square", lambda: cull.facility(numpy.ones((2, 3)), 1)),
                            ("a budget of 4 for 3", lambda: cull.facility(numpy.eye(3), 4)),
                            ("similarity", lambda: cull.facility(-numpy.eye(3), 1)),
                            ("greedy='eager'", lambda: cull.facility(numpy.eye(3), 1, greedy="eager")),
                            ("h and p", lambda: cull.facility(h=given["h"], budget=1))):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                call()


if __name__ == "__main__":
    unittest.main()
