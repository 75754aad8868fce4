"""Costs per case against the ordinary evaluation: ratios of times at a million rows, measured in turns."""

import time

import numpy as np

import tercet as tc


def best_of(function, others, rounds=7):
    """The least time of each function, taken in turns so that load falls on all alike."""
    least = [float("inf")] * (1 + len(others))
    for _ in range(rounds):
        for place, call in enumerate((function, *others)):
            start = time.perf_counter()
            call()
            least[place] = min(least[place], time.perf_counter() - start)
    return least


def main(rows=1_000_000):
    rng = np.random.default_rng(0)
    labels = rng.random(rows) < 0.1
    scores = rng.normal(np.where(labels, 2.0, -2.0), 2.0)
    amounts, fees = rng.lognormal(4.0, 1.5, rows), rng.uniform(1.0, 5.0, rows)
    app = (0.02, 100.0, 5.0)
    ordinary, differing, one_column = best_of(
        lambda: tc.evaluate(tc.Trials.of_llr(scores, labels), [app]),
        [
            lambda: tc.evaluate_case_costs(
                tc.Trials.of_llr(scores, labels), tc.CaseCosts(0.02, cost_fn=amounts, cost_fp=fees)
            ),
            lambda: tc.evaluate_case_costs(
                tc.Trials.of_llr(scores, labels), tc.CaseCosts(0.02, cost_fn=amounts, cost_fp=5.0)
            ),
        ],
    )
    print(f"ordinary evaluation of {rows} rows: {ordinary * 1e3:.0f} ms")
    print(f"both costs per case: {differing / ordinary:.2f} x; one per case: {one_column / ordinary:.2f} x")


if __name__ == "__main__":
    main()
