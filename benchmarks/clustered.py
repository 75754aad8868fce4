"""How often equal systems are told apart where their errors cluster within speakers: python benchmarks/clustered.py

Two systems err on equally many trials in expectation. Each speaker has a rate of trials that only one system gets wrong
(gamma) and a preference for one of the systems (beta, mean 1/2); both vary more the larger `rho` is. Printed are the
shares of sets told apart at 5 %: by MOVER over the discordant trials, by the paired jackknife, by the wider of both (as
compare does), and by flipping the signs of whole speakers.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from tercet.uncertainty._clusters import Clusters
from tercet.uncertainty._differences import Losses, PairedTrials
from tercet.uncertainty._limits import Mean

TRIALS = 60  # of each speaker, on average


def drawn(
    rng: np.random.Generator, speakers: int, discordant: int, rho: float, unequal: bool
) -> tuple[np.ndarray, ...]:
    """The errors of both systems, trial by trial, and the speakers."""
    sizes = np.full(speakers, TRIALS)
    if unequal:
        sizes = np.maximum(rng.poisson(rng.gamma(1.0, TRIALS, speakers)), 1)
    rates = np.minimum(discordant / (speakers * TRIALS) * rng.gamma(1.0 / rho, rho, speakers), 0.9)
    either = rng.binomial(sizes, rates)
    own = rng.binomial(either, rng.beta(0.5 / rho, 0.5 / rho, speakers))
    place = np.concatenate([np.arange(size) for size in sizes])
    firsts, both = np.repeat(own, sizes), np.repeat(either, sizes)
    speaker = np.repeat(np.arange(speakers), sizes)
    return (place < firsts) * 1.0, ((place >= firsts) & (place < both)) * 1.0, speaker


def told_apart(first: np.ndarray, second: np.ndarray, speaker: np.ndarray) -> dict[str, bool]:
    """Which ways tell the systems apart at 5 %."""
    ones = np.ones(len(first))
    rows = PairedTrials((np.arange(len(first)),), (ones,), Clusters.of([[speaker]], [ones]), True)
    pair = [Losses((0,), (1.0,), (errors,), is_rate=True) for errors in (first, second)]
    spread = rows._jackknifed(*pair)
    return {
        "MOVER": _leaves_out_0(rows._of_discordant(*pair)),
        "jackknife": isinstance(spread, Mean) and _leaves_out_0(spread),
        "wider": _leaves_out_0(rows.difference(*pair)),
        "sign flip": rows.sign_flip(*pair) <= 0.05,
    }


def _leaves_out_0(estimate: object) -> bool:
    low, high = estimate.limits(0.95)
    return bool(low > 0.0 or high < 0.0)


def main() -> None:
    """One line for each design."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    sets = parser.parse_args().sets
    print("speakers discordant  rho sizes    MOVER  jackknife  wider  sign flip   (% of sets)")
    for speakers, discordant, rho, unequal in product(
        (20, 30, 100), (4, 12, 24, 60, 120), (0.1, 1.0, 2.0), (False, True)
    ):
        rng = np.random.default_rng(99)
        rows = [told_apart(*drawn(rng, speakers, discordant, rho, unequal)) for _ in range(sets)]
        shares = "  ".join(f"{100 * np.mean([row[name] for row in rows]):6.1f}" for name in rows[0])
        print(f"{speakers:8} {discordant:10} {rho:4} {'unequal' if unequal else 'equal':8} {shares}", flush=True)


if __name__ == "__main__":
    main()
