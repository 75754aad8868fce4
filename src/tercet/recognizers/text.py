"""Texts as counts of words: one multinomial per class."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tercet._numeric import serialization as saved
from tercet._numeric.serialization import Model
from tercet._numeric.validation import chosen, column, frozen, function, not_negative, same_index, shown, shown_path
from tercet._numeric.validation import listed as entries
from tercet._numeric.validation import path as checked_path
from tercet._numeric.validation import text as checked_text
from tercet._typing import Facts, Floats
from tercet.errors import InputError
from tercet.recognizers._classes import Ints, Readers, as_trials, check_classes, check_size, labelled
from tercet.trials import Trials

Splitter = Callable[[str], Iterable[str]]

_TEXTS = 1 << 6  # texts cut into words at a time: the words stay in the cache


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextRecognizer(Model):
    """Word counts per class: ln P(text | class) for words drawn independently, up to a constant of the text.

    ln f_kw = ln(n_kw + e) - ln(n_k + e V): n_kw counts word w in the training texts of class k, n_k all their words, V
    is the size of the vocabulary (the words of all training texts), e the pseudo-count.

    Attributes
    ----------
    classes : tuple of str
        Class names.
    vocabulary : tuple of str
        The words, sorted.
    counts : numpy.ndarray of shape (V, K)
        How often each word occurs in each class.
    pseudo_count : float
        Added to every count.
    training : mapping
        "texts": how many of each class; "splitter": "blanks" or "own".
    splitter : callable
        Cuts a text into words.

    Examples
    --------
    >>> model = TextRecognizer.fit(["a a b", "b"], ["x", "y"], pseudo_count=1)
    >>> model.vocabulary, model.counts.tolist()
    (('a', 'b'), [[2, 0], [1, 1]])
    >>> np.exp(model.log_likelihoods(["a", "b a", "unknown"])).round(4).tolist()  # 3/5, 1/3; 6/25, 2/9; 1, 1
    [[0.6, 0.3333], [0.24, 0.2222], [1.0, 1.0]]
    """

    method = "text-recognizer"
    _parameters: ClassVar[Readers] = {
        "classes": saved.words,
        "vocabulary": saved.words,
        "counts": lambda value, name: _stored_counts(value, name),
        "pseudo_count": saved.finite,
    }
    _facts = ("texts", "splitter")

    classes: tuple[str, ...]
    vocabulary: tuple[str, ...]
    counts: NDArray[np.int64]
    pseudo_count: float
    training: Facts  # texts: how many of each class; splitter: "blanks" or "own"
    splitter: Splitter = str.split
    _codes: dict[str, int] = field(init=False)
    _logs: Floats = field(init=False)

    def _check(self) -> None:
        not_negative(self.pseudo_count, "pseudo_count")
        _stored_counts(self.counts, "counts")
        check_classes(self.classes, self.counts.shape[1])
        codes = dict(zip(self.vocabulary, range(len(self.vocabulary)), strict=True))
        if len(codes) < len(self.vocabulary) or len(codes) != len(self.counts):
            raise saved.damaged(f"vocabulary must be {len(self.counts)} distinct words, one per row of counts")
        _check_words(self.counts, self.classes)
        frozen(self.counts)
        unknown = np.zeros((1, len(self.classes)))  # the row of words outside the vocabulary: they add nothing
        object.__setattr__(self, "_codes", codes)
        object.__setattr__(self, "_logs", np.concatenate((self.log_frequencies, unknown)))

    def __reduce__(self) -> tuple[object, ...]:
        stored = (self.classes, self.vocabulary, self.counts, self.pseudo_count, self.training, self.splitter)
        return type(self), stored

    @classmethod
    def fit(
        cls,
        texts: Iterable[str],
        labels: object,
        pseudo_count: float = 0.001,
        splitter: Splitter = str.split,
        classes: Sequence[object] | None = None,
    ) -> TextRecognizer:
        """Count the words of labelled texts.

        Without pseudo-count a word that a class never used makes a text impossible there (-inf).

        Parameters
        ----------
        texts : iterable of str
            The training texts.
        labels : array_like of shape (n,)
            The class of each text.
        pseudo_count : float, default 0.001
            Added to every count.
        splitter : callable, default str.split
            Cuts a text into words.
        classes : sequence, optional
            The order of the classes; by default sorted.

        Returns
        -------
        TextRecognizer
            The recognizer.

        Examples
        --------
        >>> TextRecognizer.fit(["a a b", "b"], ["x", "y"]).vocabulary
        ('a', 'b')
        """
        extra = not_negative(pseudo_count, "pseudo_count")
        same_index({"texts": texts, "labels": labels})
        values = _texts(texts)
        named, codes, sizes = labelled(len(values), labels, classes)
        rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
        function(splitter, "splitter")
        own = [_word_counts([values[i] for i in part.tolist()], splitter) for part in rows]
        vocabulary = tuple(sorted(set().union(*own)))
        check_size(len(vocabulary) * len(named), "words x classes")
        counts = _count_table(own, vocabulary)
        facts = {"texts": sizes.tolist(), "splitter": "blanks" if splitter is str.split else "own"}
        return cls(named, vocabulary, counts, extra, facts, splitter)

    def __repr__(self) -> str:
        return f"TextRecognizer: {len(self.classes)} classes, {len(self.vocabulary)} words"

    @property
    def log_frequencies(self) -> Floats:
        """ln(n_kw + e) - ln(n_k + e V), words x classes."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.counts + self.pseudo_count)
        totals = self.counts.sum(axis=0) + self.pseudo_count * len(self.vocabulary)
        return np.asarray(logs - np.log(totals))

    def log_likelihoods(self, texts: Iterable[str]) -> Floats:
        """Sum of ln f_kw over a text's known words, texts x classes.

        Unknown words are dropped. A text without a known word gets log-likelihoods of 0 (see `known_words`).

        Parameters
        ----------
        texts : iterable of str
            The texts.

        Returns
        -------
        numpy.ndarray of shape (n, K)
            One column per class.
        """
        values = _texts(texts)
        result = np.empty((len(values), len(self.classes)))
        for start in range(0, len(values), _TEXTS):
            rows, codes = self._coded_words(values[start : start + _TEXTS])
            part = result[start : start + _TEXTS]
            for k in range(len(self.classes)):
                part[:, k] = np.bincount(rows, self._logs[codes, k], minlength=len(part))
        return result

    def known_words(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """How many words of each text are in the vocabulary.

        Parameters
        ----------
        texts : iterable of str
            The texts.

        Returns
        -------
        numpy.ndarray of shape (n,)
            The number of known words per text.

        Examples
        --------
        >>> TextRecognizer.fit(["a a b", "b"], ["x", "y"]).known_words(["a z a", "", "z"]).tolist()
        [2, 0, 0]
        """
        values = _texts(texts)
        rows, codes = self._coded_words(values)
        return np.bincount(rows[codes < len(self.vocabulary)], minlength=len(values))

    def _coded_words(self, texts: list[str]) -> tuple[Ints, Ints]:
        """Each word's text and its place in the vocabulary (one past the end for unknown ones)."""
        words, lengths = _words(texts, self.splitter)
        found = map(self._codes.get, words, itertools.repeat(len(self.vocabulary)))
        return np.repeat(np.arange(len(texts)), lengths), np.fromiter(found, np.intp, len(words))

    def trials(self, texts: Iterable[str], labels: object = None) -> Trials:
        """The log-likelihoods as Trials, with labels where they are known.

        Parameters
        ----------
        texts : iterable of str
            The texts.
        labels : array_like of shape (n,), optional
            The class of each text.

        Returns
        -------
        Trials
            K-class trials of log-likelihoods.
        """
        same_index({"texts": texts, "labels": labels})
        return as_trials(self.log_likelihoods(texts), labels, self.classes)

    @classmethod
    def from_json(cls, text: str | bytes, splitter: Splitter | None = None) -> TextRecognizer:
        """Read a model that `to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            The JSON text.
        splitter : callable, optional
            The splitter that the model was trained with, if it was not str.split.

        Returns
        -------
        TextRecognizer
            The recognizer.
        """
        model = super(TextRecognizer, cls).from_json(text)
        cut = chosen(model.training["splitter"], "splitter", ("blanks", "own"))
        if (cut == "own") != (splitter is not None):
            how, wanted = ("its own", "give it again") if cut == "own" else ("the usual", "give no other one")
            raise InputError(f"The model was trained with {how} splitter: {wanted} (splitter=...).")
        return model if splitter is None else replace(model, splitter=splitter)


def read_texts(path: str | PathLike[str], encoding: str = "utf-8") -> list[str]:
    r"""Read the lines of a text file, without their ends.

    Parameters
    ----------
    path : path
        The file.
    encoding : str, default "utf-8"
        Its encoding; the first byte that is not in it is named in the error.

    Returns
    -------
    list of str
        One text per line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "texts.txt")
    ...     _ = path.write_text("line 1\nline 2\n")
    ...     read_texts(path)
    ['line 1', 'line 2']
    """
    encoding, name = checked_text(encoding, "encoding"), Path(checked_path(path, "path")).name
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"path={shown_path(path)} cannot be read: {error.strerror}.") from None
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4096]
    if wide and not encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):
        raise InputError(f"{name} looks like UTF-16, not {encoding}: say encoding='utf-16', or convert the file.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name} is not {encoding}: line {line}, byte 0x{data[error.start]:02x} at {error.start}. Say its "
            f"encoding, such as encoding='latin-1', or convert it: iconv -f latin1 -t utf-8."
        ) from None
    except (LookupError, ValueError):
        raise InputError(f"encoding={shown(encoding)} is not known to Python.") from None
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _texts(texts: object) -> list[str]:
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(f"texts must be a sequence of strings, not {shown(texts)}: put a single text into a list.")
    listed = getattr(texts, "tolist", None) or getattr(texts, "to_list", None)
    values = listed() if listed is not None else entries(texts, "texts")
    if not isinstance(values, list):
        raise InputError(f"texts must be a sequence of strings, not {shown(texts)}: put a single text into a list.")
    for place, kind in enumerate(map(type, values)):
        if kind is not str and not issubclass(kind, str):
            what = "bytes: decode them first" if kind is bytes else f"{kind.__name__}: drop it or write it as text"
            raise InputError(f"texts must be strings: entry {place} (counting from 0) is {what}.")
    return values


def _word_counts(texts: list[str], splitter: Splitter) -> Counter[str]:
    """How often each word occurs in some texts; on blanks, one cut for many texts is the same and faster."""
    counts: Counter[str] = Counter()
    for start in range(0, len(texts), _TEXTS):
        some = texts[start : start + _TEXTS]
        counts.update(" ".join(some).split() if splitter is str.split else _words(some, splitter)[0])
    return counts


def _count_table(own: list[Counter[str]], vocabulary: tuple[str, ...]) -> NDArray[np.int64]:
    """The classes' counts side by side, words x classes."""
    place = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    table = np.zeros((len(vocabulary), len(own)), np.int64)
    for k, counts in enumerate(own):
        rows = np.fromiter(map(place.__getitem__, counts), np.intp, len(counts))
        table[rows, k] = np.fromiter(counts.values(), np.int64, len(counts))
    return table


def _words(texts: list[str], splitter: Splitter) -> tuple[list[str], Ints]:
    """All words in a row, and how many each text has."""
    if splitter is str.split:
        parts = [text.split() for text in texts]
    else:
        parts = [entries(splitter(text), "splitter (what it returns)") for text in texts]
    words = list(itertools.chain.from_iterable(parts))
    if splitter is not str.split and not all(issubclass(kind, str) for kind in set(map(type, words))):
        raise InputError("splitter must cut a text into strings.")
    return words, np.fromiter(map(len, parts), np.intp, len(parts))


def _check_words(counts: NDArray[np.int64], classes: tuple[str, ...]) -> None:
    empty = np.flatnonzero(counts.sum(axis=0) == 0)
    if len(empty):
        raise InputError(
            f"Class {shown(classes[empty[0]])} has no words in its training texts, so no frequencies: "
            f"give it texts, or leave the class out."
        )


def _stored_counts(value: object, name: str) -> NDArray[np.int64]:
    array = column(value, name)
    if array.ndim != 2 or array.dtype.kind != "i" or array.min(initial=0) < 0:
        raise InputError(f"{name} must be whole numbers of at least 0, one row per word and one column per class.")
    return array.astype(np.int64)
