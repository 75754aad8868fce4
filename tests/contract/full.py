"""The full matrix: every public callable x argument x hostile value, and what of it is not allowed.

    python tests/contract/full.py [pattern] [--part K/N] [--every M]

The calls are made in processes that gave up root where they had it, one per callable, inside a temporary folder.
"""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import re
import sys
import tempfile
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness


def main() -> int:
    """Prints what is not allowed, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--part", default="0/1", help="the K-th of N parts of the callables, from 0")
    parser.add_argument("--every", type=int, default=1, help="a sample of 1 in M calls")
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="tercet-contract-") as name:
        os.chmod(name, 0o777)
        folder = pathlib.Path(name)
        found = [one for one in harness.targets(folder) if re.search(given.pattern, one.name)][part::parts]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for target in found:  # loads every module, which an unprivileged child may not be able to read
                harness.clean_call(target)
        for target in found:
            began = time.monotonic()
            one = harness.in_child(lambda target=target: harness.outcomes(target, folder, given.every), folder)
            counts += harness.count(one)
            for outcome in one:
                if not outcome.allowed:
                    print(outcome, flush=True)
            if time.monotonic() - began > 20:
                print(f"# {target.name}: {len(one)} calls in {time.monotonic() - began:.0f} s", flush=True)
    for called, reason in harness.WITHOUT_VALUES.items():
        print(f"not called: {called}: {reason}")
    print(f"{len(found)} callables, {sum(counts.values())} calls: {dict(counts)}")
    return int(any(kind not in ("fine", "refused") for kind in counts) or bool(harness.WITHOUT_VALUES))


if __name__ == "__main__":
    sys.exit(main())
