"""Poisson laws as mixtures: the tables add up to the laws, and what is drawn follows them."""

import numpy as np
import pytest

from tercet.uncertainty._kernel.drawn_runs import MOST, Kinds, poisson_laws, random_bytes
from tercet.uncertainty._kernel.draws import generator

MEANS = (0.0, 0.3, 0.996, 1.0, 2.0, 3.1, 17.5, 32.0)


def mixtures(laws):
    """P(0), P(1), ... of each law, put together from its tables."""
    cells, kept, other = laws.cells.reshape(-1, 256), laws.kept.reshape(-1, 128), laws.other.reshape(-1, 128)
    for row, columns, own, hits in zip(cells, kept, other, laws.hits, strict=True):
        rest = (columns + np.bincount(own, weights=1.0 - columns, minlength=128)) / 128.0
        yield np.exp(-hits) * np.bincount(row, minlength=128) / 256.0 - np.expm1(-hits) * rest


def test_the_two_parts_of_a_mixture_are_the_poisson_law():
    from scipy.stats import poisson

    laws = poisson_laws(MEANS)
    assert (laws.hits < 0.07).all()  # most counts are decided by one byte
    for mean, mixture in zip(MEANS, mixtures(laws), strict=True):
        assert np.allclose(mixture[:MOST], poisson.pmf(np.arange(MOST), mean), rtol=0, atol=1e-14)
        assert not mixture[MOST:].any()


@pytest.mark.parametrize("mean", MEANS[1:])
def test_counts_follow_their_law_wherever_their_neighbours_have_others(mean):
    from scipy.stats import chi2, poisson

    laws, n = poisson_laws(MEANS), 400_000
    law = np.resize(np.arange(len(MEANS)), n)
    rng = generator(0, 0, 0, 0)
    counts = laws.cells.take(256 * law + random_bytes(rng, n))
    laws.hit(rng, counts, Kinds.of(law, len(MEANS)))
    own = counts[law == MEANS.index(mean)]
    expected = len(own) * poisson.pmf(np.arange(MOST), mean)
    often = expected >= 5
    seen = np.bincount(own, minlength=MOST)
    statistic = ((seen - expected)[often] ** 2 / expected[often]).sum()
    assert chi2.sf(statistic, often.sum() - 1) > 1e-3
    assert not counts[law == 0].any()
