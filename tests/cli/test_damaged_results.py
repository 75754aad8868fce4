"""Damaged and hostile results: report, check and sample-size answer in a sentence, never with a traceback.

python tests/cli/test_damaged_results.py 2500 runs the long version.
"""

import copy
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from tercet.cli.main import main

HOSTILE = [
    None, True, "", "inf", "-inf", "nan", -1, 0, 1e308, -1e308, 10**30, 1e-320, [], {}, [[]], "x" * 1000, "<script>",
    {"a": 1}, 0.5, 2, [1, "a"], "\u202e", -0.0,
]  # fmt: skip
FAULT = "a fault in tercet itself"


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def sound_results(folder):
    """A two-class result with everything, a multiclass one, and one of decided labels."""
    two, many, decided = (folder / f"{name}.csv" for name in ("two", "many", "decided"))
    two.write_text(
        "score,label,channel\n"
        + "".join(f"{((i * 37) % 19) / 3 - 3 + (i % 2) * 1.5},{i % 2},{'ab'[i // 2 % 2]}\n" for i in range(80))
    )
    rows = [(i % 3, [((i * 7 + k * 5) % 11) / 4 + 2 * (k == i % 3) for k in range(3)]) for i in range(60)]
    many.write_text("a,b,c,label\n" + "".join(f"{s[0]},{s[1]},{s[2]},{'abc'[y]}\n" for y, s in rows))
    decided.write_text("decision,label\n" + "".join(f"{'ab'[i % 5 == 0]},{'ab'[i % 2]}\n" for i in range(40)))
    ways = [
        [two, "--app", "0.1,10,1", "--app", "0.5", "--ci", 95, "--bootstrap", 39, "--bands",
         "--condition-column", "channel"],
        [many, "--meaning", "log-likelihoods", "--class-columns", "a,b,c", "--priors", ".3,.4,.3", "--with-posteriors",
         "--report", folder / "page.html"],
        [decided, "--meaning", "decisions", "--target", "b", "--app", "0.5"],
    ]  # fmt: skip
    found = [run("evaluate", *way, "--json") for way in ways]
    assert [one.exit_code for one in found] == [0, 0, 0], [one.stderr for one in found]
    return [json.loads(one.stdout) for one in found]


def places(value, path=()):
    """Where something can be changed: every key, and the first entries of every list."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def damaged(document, rng, where):
    """The document as bytes with one to three fields deleted, replaced, cut or repeated, and perhaps a byte flipped."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        path = rng.choice(where)
        try:
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            _change(holder, path[-1], rng)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    words = json.dumps(changed).encode()
    if rng.random() < 0.1:
        at = rng.randrange(len(words))
        words = words[:at] + bytes([rng.randrange(256)]) + words[at + rng.randrange(3) :]
    return words


def _change(holder, key, rng):
    kind = rng.random()
    if kind < 0.25:
        del holder[key]
    elif kind < 0.35 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[-1]))
    elif kind < 0.45 and isinstance(holder[key], list):
        holder[key] = holder[key][: len(holder[key]) // 2]
    else:
        holder[key] = rng.choice(HOSTILE)


def faults(count, seed, folder):
    """How often each command failed in another way than by a sentence."""
    rng, found = random.Random(seed), Counter()
    documents = [(one, list(places(one))) for one in sound_results(folder)]
    path = folder / "result.json"
    for _ in range(count):
        path.write_bytes(damaged(*_pick(documents, rng)))
        for words in (
            ("report", path, "-o", folder / "page.html"),
            ("check", path, "--fail-if", "dcf>0.3"),
            ("sample-size", path, "--half-width", 0.1),
        ):
            answer = run(*words)
            if answer.exit_code not in (0, 1, 2, 3) or FAULT in answer.stderr:
                found[words[0], answer.stderr[:300] or repr(answer.exception)] += 1
            elif answer.exit_code == 1 and not answer.stderr.startswith("tercet: "):
                found[words[0], "no sentence"] += 1
    return found


def _pick(documents, rng):
    document, where = rng.choice(documents)
    return document, rng, where


@pytest.mark.parametrize("seed", range(2))
def test_a_damaged_result_is_answered_in_a_sentence(seed, tmp_path):
    assert faults(40, seed, tmp_path) == Counter()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x00\xff\x93NUMPY", b"[" * 100_000, b"{}", b"[1, 2]", b"null", b'{"schema_version": 2, "systems": []}',
        b'{"schema_version": 1, "systems": [{}], "systems": []}', b'{"schema_version": NaN, "systems": []}',
        b'{"schema_version": true, "systems": []}', b"9" * 10_000, b'{"schema_version": 1, "systems": {"a": 1}}',
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "words", [("report", "-o", "page.html"), ("check", "--fail-if", "dcf>1"), ("sample-size", "--half-width", "0.1")]
)
def test_what_is_no_result_is_refused_in_a_sentence(content, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "result.json"
    path.write_bytes(content)
    found = run(words[0], path, *words[1:])
    assert found.exit_code == 1
    assert found.stderr.startswith("tercet: ")
    assert FAULT not in found.stderr
    assert not (tmp_path / "page.html").exists()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        result = faults(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, Path(name))
    print(f"{sum(result.values())} of {sys.argv[1]} damaged results were answered otherwise than by a sentence")
    for one, times in result.most_common():
        print(times, one)
