"""Tables to try things on: Fisher's Iris, a medical screening table, simulated tasks and files whose truth is known."""

from __future__ import annotations

import lzma
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from tercet._numeric.records import check_fields
from tercet._numeric.validation import class_codes, frozen, number, positive, same_length, seed_number, shown, whole
from tercet._typing import Array, Floats
from tercet.errors import InputError
from tercet.trials import Trials, logit, probability

__all__ = ["Detection", "Table", "detection", "example", "iris", "screening"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """Samples with their features and labels.

    Attributes
    ----------
    samples : numpy.ndarray of shape (n, features)
        One row per sample.
    labels : numpy.ndarray of shape (n,)
        Each sample's place in `classes`.
    classes : tuple of str
        Class names.
    features : tuple of str
        Feature names.

    Examples
    --------
    >>> table = iris()
    >>> table.samples.shape, len(table.classes)
    ((150, 4), 3)
    """

    samples: Floats
    labels: Array
    classes: tuple[str, ...]
    features: tuple[str, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        if self.samples.ndim != 2 or self.samples.shape[1] != len(self.features):
            raise InputError(f"samples must have a column for each of the {len(self.features)} features.")
        object.__setattr__(self, "labels", class_codes(self.labels, self.classes, None))
        same_length(len(self.samples), {"labels": self.labels})

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        sizes = np.bincount(self.labels, minlength=len(self.classes)).tolist()
        parts = ", ".join(f"{size} {name}" for size, name in zip(sizes, self.classes, strict=True))
        return f"{type(self).__name__}: {len(self)} samples ({parts}), {len(self.features)} features"


@cache
def iris() -> Table:
    """Fisher's 150 flowers of three species, four lengths each in centimetres (1936; public domain).

    >>> iris()
    Table: 150 samples (50 setosa, 50 versicolor, 50 virginica), 4 features
    >>> iris().samples[0].tolist()
    [5.1, 3.5, 1.4, 0.2]
    """
    head, *rows = (line.split(",") for line in _content("iris.csv").decode().splitlines())
    species = ("setosa", "versicolor", "virginica")
    labels = np.array([species.index(row.pop()) for row in rows])
    return Table(frozen(np.array(rows, np.float64)), frozen(labels), species, tuple(head[:-1]))


@cache
def screening() -> Table:
    """Breast masses: 30 measurements of the cell nuclei in a fine needle aspirate; class 1, malignant, is the target.

    Breast Cancer Wisconsin (Diagnostic), W. H. Wolberg, W. N. Street, O. L. Mangasarian (1995), UCI Machine Learning
    Repository, doi 10.24432/C5DW2B, licence CC BY 4.0.

    >>> screening()
    Table: 569 samples (357 benign, 212 malignant), 30 features
    """
    head, _, numbers = lzma.decompress(_content("screening.xz")).partition(b"\n")
    features = tuple(head.decode().split(","))
    labels, columns = np.split(np.frombuffer(numbers, "<u2").reshape(1 + 2 * len(features), -1), [1])
    places, digits = np.split(columns, 2)
    samples = (digits / 10.0**places).T  # the doubles nearest to the published decimals
    return Table(frozen(samples.copy()), frozen(labels[0].astype(np.intp)), ("benign", "malignant"), features)


def _content(name: str) -> bytes:
    """The bytes of a table of ours."""
    return (files("tercet") / "data" / name).read_bytes()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Detection(Table):
    """A simulated detection task whose true error rates are known; its only feature is the llr itself.

    llr ~ N(mean, 2 mean) for targets and N(-mean, 2 mean) for the others. The ratio of these two densities at x is
    e^x, so that the llrs are perfectly calibrated; a target occurs with probability `prior`.

    Attributes
    ----------
    samples : numpy.ndarray of shape (n, 1)
        The llrs.
    labels : numpy.ndarray of shape (n,)
        1 for a target, else 0.
    classes : tuple of str
        ("nontarget", "target").
    features : tuple of str
        ("llr",).
    prior : float
        Probability of a target.
    mean : float
        Mean llr of targets.

    Examples
    --------
    >>> task = detection(4, seed=0)
    >>> task.features, len(task)
    (('llr',), 4)
    """

    prior: float
    mean: float

    @property
    def llr(self) -> Floats:
        """The true log-likelihood ratio of each sample."""
        return frozen(self.samples[:, 0])

    @property
    def trials(self) -> Trials:
        """The calibrated llrs with their labels."""
        return Trials.of_llr(self.llr, self.labels, name="calibrated")

    def miscalibrated(self, scale: float = 1.0, shift: float = 0.0) -> Trials:
        """The same ranks with other claims: scale x llr + shift.

        Parameters
        ----------
        scale : float, default 1.0
            Above 1 the llrs are over-confident.
        shift : float, default 0.0
            Off 0 they are biased.

        Returns
        -------
        Trials
            The trials with the changed llrs.

        Examples
        --------
        >>> task = detection(10, seed=0)
        >>> float(task.miscalibrated(2.0).llr[0] / task.llr[0])
        2.0
        """
        scale, shift = number(scale, "scale"), number(shift, "shift")
        if not (0.0 < scale < math.inf and math.isfinite(shift)):
            raise InputError(f"scale must be positive and shift finite, not {shown(scale)} and {shown(shift)}.")
        with np.errstate(over="ignore"):
            llr = scale * self.llr + shift
        if not np.isfinite(llr).all():
            raise InputError(f"scale={scale:g} and shift={shift:g} leave the range of 64-bit floating point.")
        return Trials.of_llr(llr, self.labels, name=f"{scale:g} x llr {shift:+g}")

    @property
    def posteriors(self) -> Floats:
        """The true probability of being a target: 1 / (1 + e^-(llr + logit prior))."""
        odds = self.llr + logit(self.prior)
        small = np.exp(-np.abs(odds))
        return np.asarray(np.where(odds >= 0.0, 1.0, small) / (1.0 + small))

    @property
    def true_eer(self) -> float:
        """The equal error rate of infinitely many trials: Phi(-sqrt(mean / 2)).

        >>> round(detection(2, mean=2.0).true_eer, 4)
        0.1587
        """
        return self.true_rates(0.0)[0]

    def true_rates(self, threshold: float) -> tuple[float, float]:
        """Error rates of infinitely many trials when llrs above a threshold are accepted.

        Parameters
        ----------
        threshold : float
            The threshold.

        Returns
        -------
        tuple of float
            FNR and FPR.

        Examples
        --------
        >>> fnr, fpr = detection(10).true_rates(0.0)
        >>> fnr == fpr
        True
        """
        threshold = number(threshold, "threshold")
        width = 2.0 * math.sqrt(self.mean)  # sqrt 2 x the standard deviation
        return (
            0.5 * math.erfc((self.mean - threshold) / width),
            0.5 * math.erfc((self.mean + threshold) / width),
        )


def detection(n: int = 10_000, prior: float = 0.1, mean: float = 3.0, seed: int = 0) -> Detection:
    """A detection task of n trials drawn from known densities; the same seed gives the same trials.

    Parameters
    ----------
    n : int, default 10000
        Number of trials.
    prior : float, default 0.1
        Probability of a target.
    mean : float, default 3.0
        Mean llr of targets; the variance is twice the mean.
    seed : int, default 0
        Seed of the draws.

    Returns
    -------
    Detection
        The trials, with their truth.

    Examples
    --------
    >>> task = detection(1000, prior=0.5, mean=2.0, seed=1)
    >>> task.classes, task.samples.shape
    (('nontarget', 'target'), (1000, 1))
    """
    n, mean = whole(n, "n", 1, 10**9), positive(mean, "mean")
    share = probability(prior, "prior")
    random = np.random.default_rng(seed_number(seed))
    labels = (random.random(n) < share).astype(np.intp)
    llr = np.where(labels == 1, mean, -mean) + math.sqrt(2.0 * mean) * random.standard_normal(n)
    return Detection(frozen(llr[:, None]), frozen(labels), ("nontarget", "target"), ("llr",), share, float(mean))


def example(name: str) -> dict[str, dict[str, Array]]:
    """Simulated files for the tutorials: for each file name its columns.

    Parameters
    ----------
    name : str
        `"speech"`: three speaker-verification systems on development and evaluation trials; `"attacks"`: presentation
        attacks of three species; `"forensics"`: comparison scores of a laboratory; `"payments"`: probabilities of fraud
        with the amount at stake; `"clinic"`: a diagnostic model at three sites; `"genres"`: log-likelihoods of four
        classes.

    Returns
    -------
    dict of str to dict
        Columns by file name, the same for everyone: the seeds are fixed. `tercet.io.write_table` writes them, as
        `tercet demo --files NAME` does.

    Examples
    --------
    >>> files = example("attacks")
    >>> list(files), list(files["pad.csv"]), len(files["pad.csv"]["score"])
    (['pad.csv'], ['score', 'label', 'pai'], 1800)
    """
    if not isinstance(name, str) or name not in EXAMPLES:
        raise InputError(f"name must be one of {', '.join(EXAMPLES)}, not {shown(name)}.")
    return EXAMPLES[name](np.random.default_rng(list(name.encode())))


def _speech(random: np.random.Generator) -> dict[str, dict[str, Array]]:
    """Each speaker has 30 target and 60 non-target trials; some are harder to recognise than others."""
    tables = {}
    for part, speakers in (("dev", 30), ("eval", 40)):
        rows = np.arange(90 * speakers)
        labels = (rows % 3 == 0).astype(np.intp)
        speaker = np.array([f"{part}{k:02d}" for k in rows // 90])
        shared = random.normal(size=len(rows)) + random.normal(0.0, 0.5, speakers)[rows // 90]
        columns = {"trial": np.array([f"{part}-{k:04d}" for k in rows])}
        for system, distance in (("a", 2.6), ("b", 3.0), ("c", 3.4)):
            score = np.round(2.0 * (distance * labels + 0.7 * shared + random.normal(size=len(rows))) + 1.0, 4)
            kind = np.where(labels == 1, "target", "nontarget")
            tables[f"{part}-{system}.csv"] = columns | {"score": score, "label": kind, "speaker": speaker}
    return tables


def _attacks(random: np.random.Generator) -> dict[str, dict[str, Array]]:
    labels = np.arange(1800) % 2
    species = np.array(["print", "video", "mask"])[np.arange(1800) // 2 % 3]
    harder = np.array([0.0, 0.3, 0.9])[np.arange(1800) // 2 % 3]
    score = np.round(random.normal(size=1800) + np.where(labels == 1, 3.5, harder), 4)
    kind = np.where(labels == 1, "bonafide", "attack")
    return {"pad.csv": {"score": score, "label": kind, "pai": np.where(labels == 1, "none", species)}}


def _forensics(random: np.random.Generator) -> dict[str, dict[str, Array]]:
    tables = {}
    for name in ("scores.csv", "case.csv"):
        rows = np.arange(1200)
        same = rows % 4 == 0
        score = np.round(3.0 + 1.5 * random.normal(size=1200) + 4.0 * same, 4)
        source = np.array([f"{name[0]}{k:02d}" for k in rows // 40])
        tables[name] = {"score": score, "label": np.where(same, "same", "different"), "source": source}
    return tables


def _payments(random: np.random.Generator) -> dict[str, dict[str, Array]]:
    task = detection(20_000, prior=0.05, mean=2.5, seed=11)
    amount = np.round(np.exp(random.normal(4.0, 1.2, len(task))), 2)
    kind = np.where(task.labels == 1, "fraud", "ok")
    columns = {"score": task.posteriors, "label": kind, "amount": amount, "fee": np.full(len(task), 4.0)}
    return {"payments.csv": columns}


def _clinic(random: np.random.Generator) -> dict[str, dict[str, Array]]:
    """Three sites; at the third the model's llrs are biased."""
    task = detection(3000, prior=0.2, mean=1.5, seed=7)
    site = np.array(["north", "south", "west"])[random.integers(0, 3, len(task))]
    score = np.round(task.llr + np.where(site == "west", 1.5, 0.0), 4)
    kind = np.where(task.labels == 1, "sick", "healthy")
    patient = np.array([f"p{k:04d}" for k in range(len(task))])
    return {"clinic.csv": {"patient": patient, "score": score, "label": kind, "site": site}}


def _genres(random: np.random.Generator) -> dict[str, dict[str, Array]]:
    """Log-likelihoods of Gaussian classes in a plane: two of the four lie close together."""
    centres = {"folk": (0.0, 0.0), "jazz": (3.0, 0.0), "rock": (0.0, 3.0), "pop": (1.0, 3.4)}
    place = random.integers(0, 4, 2000)
    points = np.array(list(centres.values()))[place] + random.normal(size=(2000, 2))
    tables: dict[str, Array] = {"label": np.array(list(centres))[place]}
    for called, centre in centres.items():
        tables[called] = np.round(-0.5 * np.square(points - centre).sum(axis=1), 4)
    return {"genres.csv": tables}


EXAMPLES: dict[str, Callable[[np.random.Generator], dict[str, dict[str, Array]]]] = {
    "speech": _speech,
    "attacks": _attacks,
    "forensics": _forensics,
    "payments": _payments,
    "clinic": _clinic,
    "genres": _genres,
}
