"""Every pair of options of every command, each called in this process: what breaks the contract, and the counts.

    python tests/cli/pairs.py [evaluate rule.fit ...] [--seconds 600] [--first N] [--figures]

All pairs take half an hour of one processor. Those of a command come in a random order that is the same in every run,
so that `--seconds` gives a sample and `--first` the rest of it. Each command runs in a process of its own inside a
temporary folder; a call that takes more than a minute of the processor hangs. `--figures` adds the options that draw,
which take seconds per call.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
if "--figures" in sys.argv:
    os.environ["TERCET_FULL"] = "1"
import test_contract as contract

HANG = 60  # seconds of the processor, however busy the machine is; ten times as many by the clock


def _hangs(*_: object) -> None:
    raise AssertionError("the call hangs")


def checked(words, pairs, own, deadline):
    """What became of each pair until the deadline: (refused, taken or broken, the words of what is broken)."""
    signal.signal(signal.SIGALRM, _hangs)
    signal.signal(signal.SIGPROF, _hangs)
    for base, first, second in pairs:
        if time.monotonic() > deadline:
            return
        signal.alarm(10 * HANG)
        signal.setitimer(signal.ITIMER_PROF, HANG)
        try:
            yield contract.check_pair(words, base, first, second, own), ""
        except AssertionError as error:
            yield "broken", str(error)
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)


def of_command(words, first, deadline):
    """The outcomes of a command's pairs, from a process of its own."""
    pairs, own = contract.pairs_of(words)
    random.Random(0).shuffle(pairs)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reader)
            with os.fdopen(writer, "w") as out:
                for one in checked(words, pairs[first:], own, deadline):
                    out.write(json.dumps(one) + "\n")
                    out.flush()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)  # the folder is the parent's to remove
    os.close(writer)
    with os.fdopen(reader) as lines:
        yield from (json.loads(line) for line in lines)
    _, status = os.waitpid(child, 0)
    if status:
        yield "broken", f"the process of {' '.join(words)} ended with {status}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", help="such as evaluate or rule.fit; all without")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--first", type=int, default=0, help="begin at this pair of each command")
    parser.add_argument("--figures", action="store_true")
    given = parser.parse_args()
    chosen = [tuple(word.split(".")) for word in given.commands] or list(contract.LEAVES)
    total: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + given.seconds
    with tempfile.TemporaryDirectory(prefix="tercet-pairs-") as name:
        os.chdir(name)
        contract.write_files(Path(name))
        sizes = [len(contract.pairs_of(words)[0]) for words in chosen]
        for place, words in enumerate(chosen):
            now = time.monotonic()
            share = (end - now) * (sizes[place] / sum(sizes[place:]))
            counts: collections.Counter[str] = collections.Counter()
            for kind, why in of_command(words, given.first, now + share):
                counts[kind] += 1
                if kind == "broken":
                    print(why[:500], flush=True)
            total += counts
            print(f"# {' '.join(words)}: {sum(counts.values())} of {sizes[place]} pairs, {dict(counts)}", flush=True)
        os.chdir("/")
    print(f"{sum(total.values())} of {sum(sizes)} pairs: {dict(total)}")
    return int(total["broken"] > 0)


if __name__ == "__main__":
    sys.exit(main())
