#!/usr/bin/env python3
"""Write tests/golden/omp_cases.txt: picks and weights of scikit-learn's _gram_omp.

    /usr/bin/python3 tools/make_golden_omp.py > tests/golden/omp_cases.txt

Needs numpy and scikit-learn (made with 1.2.1). A case is a line

    seed M m index:weight index:weight ...            m pairs, in the order picked

and its matrix is made again from the seed, by integers alone, so that both sides see the
same bits:

    splitmix64   state starts at the seed; a number is state += 0x9e3779b97f4a7c15, then
                 z = state; z = (z ^ z>>30) * 0xbf58476d1ce4e5b9;
                 z = (z ^ z>>27) * 0x94d049bb133111eb; z ^ z>>31     (all modulo 2^64)
    G (M, 2M)    row by row, each entry (number >> 51) - 4096, so from -4096 to 4095
    y (2M)       next, each (number >> 57) - 64
    K = G G^T    its diagonal is about 2^22.4 times 2M: beyond float32's 24 bits, exact in
                 float64
    t            even seed: row sums of K, the target being the sum of the atoms;
                 odd seed: G y, the target being y

M is log-uniform from 8 to 512, m uniform from 1 to M/2. A seed is passed over when at some pick the two largest correlations come within a
relative 1e-5 of each other: there rounding may rightly decide otherwise (K rounded to
float32 is one of the tests).
"""
import sys
import warnings

import numpy
from sklearn.linear_model._omp import _gram_omp

CASES = 1000
LARGEST = 512
CLOSE = 1e-5


def splitmix(seed, count, start=0):
    """Numbers start .. start + count of the seed's stream."""
    steps = numpy.arange(start + 1, start + count + 1, dtype=numpy.uint64)
    z = numpy.uint64(seed) + steps * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def sizes(seed):
    """M and m, from a stream of their own."""
    first, second = splitmix(seed ^ 0xC0FFEE, 2)
    n = int(8 * (LARGEST / 8) ** (int(first >> numpy.uint64(11)) / 2**53))
    m = 1 + int(second) % (n // 2)
    return n, m


def problem(seed, n):
    d = 2 * n
    numbers = splitmix(seed, n * d + d)
    g = (numbers[: n * d] >> numpy.uint64(51)).astype(numpy.int64).reshape(n, d) - 4096
    y = (numbers[n * d :] >> numpy.uint64(57)).astype(numpy.int64) - 64
    k = g @ g.T
    t = k.sum(axis=1) if seed % 2 == 0 else g @ y
    assert max(abs(k).max(), abs(t).max()) < 2**53
    return k.astype(float), t.astype(float)


def closest_call(k, t, index):
    """The smallest relative gap between the two best correlations over all picks."""
    alpha, gap = t, 1.0
    for step in range(len(index)):
        score = abs(alpha)
        score[index[:step]] = 0
        second, best = numpy.partition(score, -2)[-2:]
        gap = min(gap, 1 - second / best)
        picked = index[: step + 1]
        alpha = t - k[:, picked] @ numpy.linalg.solve(k[numpy.ix_(picked, picked)], t[picked])
    return gap


def main():
    warnings.simplefilter("error")
    made, seed, passed = 0, 0, 0
    print(f"# seed M m index:weight ... ({CASES} cases, see tools/make_golden_omp.py)")
    while made < CASES:
        seed += 1
        n, m = sizes(seed)
        k, t = problem(seed, n)
        weight, index, _ = _gram_omp(k, t, m)
        if closest_call(k, t, index) < CLOSE:
            passed += 1
            continue
        made += 1
        print(seed, n, m, *(f"{i}:{w:.12g}" for i, w in zip(index, weight)))
    print(f"{passed} seeds passed over", file=sys.stderr)


if __name__ == "__main__":
    main()
