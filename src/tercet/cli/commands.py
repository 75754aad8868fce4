"""What the commands do: read, call, render, and return the exit code. Parsing lives in tercet.cli.main."""

from __future__ import annotations

import json
import math
import operator
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tercet
from tercet._numeric.validation import shown
from tercet.application import Application, MulticlassApplication
from tercet.decision import decisions, neyman_pearson
from tercet.errors import InputError, TercetError
from tercet.evaluation import Evaluation
from tercet.metrics.confusion import Confusion, as_matrix
from tercet.metrics.costs import useful_priors
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.report import text
from tercet.report.terminal import print_table
from tercet.trials import MATRIX_MEANINGS, Trials

Facts = dict[str, Any]
DEFAULT_PRIORS = (0.001, 0.01, 0.1, 0.5)
METHODS = ("logistic", "isotonic", "gaussian", "gaussian-own-variances", "affine", "temperature", "matrix")
_CONDITION = re.compile(r"\s*([a-z_]+)\s*(<=|>=|<|>|==)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf)\s*")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip
_PATIENCE = 2.0  # seconds before a progress bar appears


# evaluate


def evaluate(
    paths: Sequence[str],
    output: str | None,
    *,
    bayes_plot: str,
    eer: str,
    ci: float | None,
    resamples: int,
    seed: int,
    bands: bool | None,
    sigma: float | None,
    condition_columns: Sequence[str],
    engine: str | None,
    scheduler: str | None,
    memory_limit: str,
    resume: str | None,
    report: str | None,
    open_page: bool,
    plots: str | None,
    plot_formats: Sequence[str],
    with_posteriors: bool,
    **options: Any,
) -> int:
    """Reads one system a file, evaluates each for every application and prints the result."""
    apps = applications(**{key: options.pop(key) for key in ("apps", "priors", "costs", "actions")})
    low, high, count = _numbers(bayes_plot, "--bayes-plot", 3)
    output = output or ("table" if sys.stdout.isatty() else "tsv")
    training = {key: options.pop(f"calibrate_{key}") for key in ("on", "with", "prior", "labels", "key")}
    source = _source(options)
    in_memory = engine is None and source["meaning"] != "decisions"
    _check_doubts(in_memory, ci, bands, sigma, plots, condition_columns, training)
    if with_posteriors and (engine is not None or source["meaning"] not in MATRIX_MEANINGS):
        raise InputError("--with-posteriors is for scores of several classes (--meaning), read whole (no --engine).")
    if source["meaning"] == "decisions":
        if report is not None or plots is not None:
            raise InputError("--report and --plots need scores: decided labels have no curve to draw.")
        return _evaluate_decisions(paths, apps, output, source)
    _check_resume(engine, resume)
    grid = (low, high, int(count))
    if engine is not None:
        asked = apps or [Application(p) for p in DEFAULT_PRIORS]
        limits = _limits(engine, scheduler, memory_limit, resume)
        found = [_evaluate_parts(paths, asked, source, bayes_plot=grid, eer=eer, **limits)]
        _deliver([found[0].to_dict()], found, output, report, open_page, plots, drawing={"formats": plot_formats})
        return 0
    asked = apps or ([] if source["meaning"] in MATRIX_MEANINGS else [Application(p) for p in DEFAULT_PRIORS])
    from tercet.cli.uncertainty import Resampling, conditions_of, with_doubts

    draws = None if ci is None else Resampling(_level(ci), resamples, seed, _by(source))
    split = {**source, "group_columns": [*dict.fromkeys([*source.get("group_columns", ()), *condition_columns])]}
    calibration = _calibration(source, **training)
    with _files(paths) as files:
        loaded = [_read(path, split) for path in files]
        scored = loaded if calibration is None else calibration.applied(loaded)
        settings: Facts = {"bayes_plot": grid, "eer": eer, "one_vs_rest": report is not None}
        found = [tercet.evaluate(trials, asked, **settings) for trials in scored]
        systems = [_system(ev.to_dict(), path, source) for ev, path in zip(found, files, strict=True)]
    if calibration is not None:
        systems = [system | _trained(path, **training) for system, path in zip(systems, training["on"], strict=True)]
    curves: list[Any] = [None] * len(systems)
    if draws is not None:
        wanted = bands if bands is not None else report is not None or plots is not None
        settings = {"drawn_bands": wanted, "calibration": calibration, "bayes_plot": grid, "eer": eer}
        systems, curves = with_doubts(systems, found, loaded, asked, draws, **settings)
    if with_posteriors:
        from tercet.report.embedded_rows import with_rows

        systems = [with_rows(system, trials, seed=seed) for system, trials in zip(systems, scored, strict=True)]
    order = sorted(range(len(systems)), key=lambda place: _cost(systems[place]))
    systems, found = [systems[k] for k in order], [found[k] for k in order]
    scored, curves = [scored[k] for k in order], [curves[k] for k in order]
    names = [str(system.get("name") or "system") for system in systems]
    conditions = conditions_of(scored, names, condition_columns, asked, draws, eer)
    if output == "tsv":  # the other forms say it themselves
        for line in (line for entry in conditions for line in text.reasons(entry)):
            _say(line)
    drawing = {"bands": curves, "sigma": sigma, "formats": plot_formats}
    _deliver(systems, found, output, report, open_page, plots, conditions=conditions, drawing=drawing)
    if not apps and output == "table" and isinstance(found[0], Evaluation):
        _first_minute(found[0], scored[0])
    return 0


def _check_doubts(
    in_memory: bool, ci: float | None, bands: bool | None, sigma: float | None, plots: str | None,
    condition_columns: Sequence[str], training: Facts,
) -> None:  # fmt: skip
    """Refuses questions about uncertainty that would get no answer, or a wrong one."""
    if bands and ci is None:
        raise InputError("--bands needs --ci LEVEL: the level of the intervals along the curves.")
    if sigma is not None and plots is None:
        raise InputError("--sigma needs --plots DIR: the boxes are drawn in figures.")
    if not in_memory and (ci is not None or condition_columns or training["on"]):
        raise InputError(
            "--ci, --condition-column and --calibrate-on need scores that are read whole: no --engine, no decisions."
        )
    if training["on"] and condition_columns and ci is not None:
        raise InputError(
            "--condition-column with --ci takes calibrated scores: write them by `tercet calibrate apply`."
        )


def _deliver(
    systems: list[Facts],
    found: list[Any],
    output: str,
    page: str | None,
    open_page: bool,
    plots: str | None,
    *,
    conditions: Sequence[Facts] = (),
    drawing: Facts | None = None,
) -> None:
    """Prints the result, and writes the page and the figures that were asked for."""
    if page is not None:
        _write_page(document(systems, conditions), page, None, open_page)
    elif open_page:
        raise InputError("--open needs --report FILE.html: the page to open.")
    if plots is not None:
        from tercet.report.plots import save_all

        made = save_all(found, plots, **(drawing or {}))
        _say(f"{len(made)} figures are in {plots}.")
    _show(systems, output, conditions)


def _write_page(result: Facts, path: str, title: str | None, open_page: bool) -> None:
    from tercet.io import write_text_atomically
    from tercet.report.page import page

    write_text_atomically(path, page(result, title))
    _say(f"the page is in {path}.")
    if open_page:
        import webbrowser

        webbrowser.open(Path(path).absolute().as_uri())


def _evaluate_parts(paths: Sequence[str], asked: Sequence[Any], source: Facts, **limits: Any) -> Any:
    """All files as parts of one system, in bounded memory."""
    from tercet.outofcore.scan import evaluate_files

    with _Bar(" ".join(paths)) as bar:
        return evaluate_files(list(paths), asked, progress=bar, **_part_columns(source), **limits)


def _part_columns(source: Facts) -> Facts:
    """The reading options of files that are parts of one system; others are refused."""
    known = ("score_column", "label_column", "target", "meaning", "trained_prior")
    others = sorted(set(source) - {*known, "missing"})
    if others:
        raise InputError(f"--engine does not go with --{others[0].replace('_', '-')}: leave one of them out.")
    return {key: value for key, value in source.items() if key in known}


def _check_resume(engine: str | None, resume: str | None) -> None:
    if resume is not None and engine is None:
        raise InputError("--resume keeps parts of a run in bounded memory: it needs --engine.")


def _limits(engine: str, scheduler: str | None, memory_limit: str, resume: str | None) -> Facts:
    """Where the parts of one system are read, how much memory that may take, and where finished ones are kept."""
    return {"engine": engine, "scheduler": scheduler, "memory_limit": _bytes(memory_limit), "resume": resume}


def _bytes(words: str) -> int:
    parsed = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kKMGT]?)(i?)[bB]?\s*", words, re.ASCII)
    if parsed is None:
        raise InputError(f"--memory-limit is a size such as 500MB or 2GB, not {shown(words)}.")
    return int(float(parsed[1]) * (1024 if parsed[3] else 1000) ** " KMGT".index(parsed[2].upper() or " "))


def _by(source: Facts) -> Any:
    """The grouping to resample by: none, one column, or two crossed ones."""
    groups = source.get("group_columns", ())
    if len(groups) > 2:
        raise InputError("At most two --group-column can be resampled by.")
    return None if not groups else groups[0] if len(groups) == 1 else tuple(groups)


def _calibration(source: Facts, **training: Any) -> Any:
    """The calibration sets of the systems, read like the scores, but with labels of their own; None without."""
    from tercet.cli.uncertainty import Calibration

    if not training["on"]:
        if any(value for key, value in training.items() if key != "with"):
            raise InputError("--calibrate-prior, --calibrate-labels and --calibrate-key need --calibrate-on FILE.")
        return None
    own = {key: value for key, value in source.items() if key not in ("labels", "key")}
    own |= {key: training[key] for key in ("labels", "key") if training[key] is not None}
    maker, settings = _method(training["with"])
    return Calibration(maker, settings, _prior(training["prior"]), [_read(path, own) for path in training["on"]])


def compare(
    paths: Sequence[str], as_json: bool, *, ci: float, resamples: int, seed: int, unpaired: bool, **options: Any
) -> int:
    """Prints which system is better, by how much and how surely."""
    from tercet.uncertainty import compare as compare_systems
    from tercet.uncertainty import progress_bar

    apps = applications(**{key: options.pop(key) for key in ("apps", "priors", "costs", "actions")})
    source = _source(options)
    if len(paths) < 2:
        raise InputError("compare takes at least two files of scores.")
    loaded = [_read(path, source) for path in paths]
    asked = apps or ([] if source["meaning"] in MATRIX_MEANINGS else [Application(0.5)])
    found = compare_systems(
        *loaded, applications=asked, names=_distinct_names(paths), level=_level(ci), resamples=resamples, seed=seed,
        by=_by(source), unpaired=unpaired, progress=progress_bar(),
    )  # fmt: skip
    print(json.dumps(found.to_dict(), allow_nan=False) if as_json else text.harmless_lines(repr(found)))
    return 0


def _trained(path: str, **training: Any) -> Facts:
    """How a system's scores were calibrated: by which method, on which files."""
    from tercet.io import fingerprint

    files = [path, *(training[key] for key in ("labels", "key") if training[key] is not None)]
    return {"calibration": {"method": training["with"], "files": [fingerprint(file) for file in files]}}


def sample_size(
    result: str | None, apps: Sequence[str], fnr: float | None, fpr: float | None, half_width: float, ci: float
) -> int:
    """Prints how many targets and non-targets give the normalised cost an interval of +- half_width."""
    from tercet.uncertainty import sample_size as trials_needed

    rates = [("as expected", app, fnr, fpr) for app in applications(apps, None, None, None)]
    if result is not None:
        rates += [
            (text.harmless(system.get("name") or "system"), (app["prior"], app["cost_fn"], app["cost_fp"]), *ends)
            for system in saved_document(result)["systems"]
            for app in system["applications"]
            if (ends := (app.get("fnr"), app.get("fpr")))
        ]
    if not rates or (result is None and (fnr is None or fpr is None)):
        raise InputError(
            "sample-size takes RESULT.json, or the operating point and expected rates: --app, --fnr and --fpr."
        )
    print("system\tprior\tcost_fn\tcost_fp\tfnr\tfpr\ttargets\tnontargets\ttargets_for\tnontargets_for")
    for name, app, miss, alarm in rates:
        point = Application.of(app)
        if miss is None or alarm is None:
            raise InputError(f"{name} has no error rates at prior {point.prior:g}: calibrate its scores first.")
        found = trials_needed(miss, alarm, point, half_width, _level(ci))
        print("\t".join(map(str, (name, point.prior, point.cost_fn, point.cost_fp, miss, alarm, *found))))
    return 0


def _level(ci: float) -> float:
    """A level in per cent as a share."""
    if not 1.0 < ci < 100.0:
        raise InputError(f"--ci is a level in per cent, such as 95, not {ci:g}.")
    return ci / 100.0


def _distinct_names(paths: Sequence[str]) -> list[str]:
    names = [_name(path) for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def report(path: str, out: str, title: str | None, open_page: bool) -> int:
    """Writes the page of a saved result."""
    _write_page(saved_document(path), out, title, open_page)
    return 0


def applications(apps: Sequence[str], priors: str | None, costs: str | None, actions: str | None) -> list[Any]:
    """The applications of the command line: triples or names, and at most one multiclass one."""
    asked: list[Application | MulticlassApplication] = [
        Application.of(tuple(_numbers(app, "--app", 3)) if "," in app else app) for app in apps
    ]
    if priors is None:
        if costs is not None:
            raise InputError("--costs needs --priors: the class priors of the application.")
        return asked
    matrix: Any = costs or "0-1"
    if ";" in matrix or "," in matrix:
        matrix = [_numbers(row, "--costs", None) for row in matrix.split(";")]
    named = None if actions is None else actions.split(",")
    return [*asked, Application.multiclass(_numbers(priors, "--priors", None), matrix, actions=named)]


def _numbers(words: str, name: str, count: int | None) -> list[float]:
    try:
        values = [float(word) for word in words.split(",")]
    except ValueError:
        raise InputError(f"{name} must be numbers separated by commas, not {shown(words)}.") from None
    if count is not None and len(values) != count:
        raise InputError(f"{name} takes {count} numbers separated by commas, not {shown(words)}.")
    return values


def _source(options: Facts) -> Facts:
    """The reading options as read() takes them."""
    known = {key: value for key, value in options.items() if value is not None and value != ()}
    if "trained_prior" in known:
        values = _numbers(known["trained_prior"], "--trained-prior", None)
        known["trained_prior"] = values[0] if len(values) == 1 else values
    for key in ("columns", "class_columns"):
        if key in known:
            known[key] = known[key].split(",")
    return known


@contextmanager
def _files(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths, standard input spilled to a file that can be read and then hashed."""
    from tercet.io import stdin_file

    with ExitStack() as stack:
        yield [str(stack.enter_context(stdin_file())) if path == "-" else path for path in paths]


def _read(path: str, source: Facts) -> Trials:
    from tercet.io import read

    with _Bar(path) as bar:
        return read(path, progress=bar, notes=_say, **source)


def _read_chunks(path: str, source: Facts) -> Iterator[Trials]:
    from tercet.io import read_chunks

    with _Bar(path) as bar:
        yield from read_chunks(path, progress=bar, notes=_say, **source)


def _say(words: str) -> None:
    print(f"tercet: {words}", file=sys.stderr)


def _name(path: str) -> str:
    return "stdin" if path == "-" else Path(path).name.split(".")[0]


def _system(facts: Facts, path: str, source: Facts) -> Facts:
    """The facts with the files that they came from, by name and hash."""
    from tercet.io import fingerprint

    files = [path, *(source[key] for key in ("labels", "key") if key in source)]
    facts["input"] = {"files": [fingerprint(file) for file in files], **facts["input"]}
    return facts


def _cost(system: Facts) -> float:
    """What systems are sorted by: the actual cost at the first application, else the minimum."""
    first = (system["applications"] or [{}])[0]
    values = [first.get("dcf"), first.get("min_dcf"), system.get("log_loss")]
    return next((float(value) for value in values if value is not None), math.inf)


def _show(systems: list[Facts], output: str, conditions: Sequence[Facts] = ()) -> None:
    if output == "json":
        print(json.dumps(document(systems, conditions), allow_nan=False))
    elif output == "tsv":
        print(text.tsv(systems, conditions))
    elif output == "md":
        print(text.markdown(systems, conditions))
    else:
        print_table(systems, conditions)


def document(systems: list[Facts], conditions: Sequence[Facts] = ()) -> Facts:
    """The result as it is saved: everything that `check` and `report` need."""
    facts = {"schema_version": 1, "tercet": tercet.__version__, "command": sys.argv[1:], "systems": systems}
    return facts | ({"conditions": list(conditions)} if conditions else {})


def _first_minute(ev: Evaluation, trials: Trials) -> None:
    """Without an application: the Bayes error plot, where the system is worth using, and what to type next."""
    print("\n" + "\n".join(text.block_plot(ev.to_dict()["bayes_plot"])) + "\n")
    if trials.meaning == "raw":
        print("These are raw scores: they rank, but no threshold comes with them. Calibrate them first.")
    else:
        print(text.worth_sentence(useful_priors(ev.curve)))
    print(_savings(ev, trials))
    asked = " ".join(word for word in sys.argv[2:] if word not in ("--format", "table"))
    print(f"Calibrate:           tercet calibrate fit {asked} -o calibrator.json")
    print(f"Your own use:        tercet evaluate {asked} --app PRIOR,COST_OF_A_MISS,COST_OF_A_FALSE_ALARM")


def _savings(ev: Evaluation, trials: Trials) -> str:
    """What logistic calibration would save where it saves most, judged by five folds."""
    from tercet.calibration.cross_fit import cross_fit
    from tercet.calibration.two_class import Logistic

    try:
        fitted = cross_fit(Logistic, trials, 0.5, folds=5).scores
    except TercetError as error:
        return f"What calibration would save could not be judged by 5 folds: {error}"
    after = tercet.evaluate(fitted, [Application(prior) for prior in DEFAULT_PRIORS]).applications
    pairs = [(1.0 if old.dcf is None else old.dcf, new) for old, new in zip(ev.applications, after, strict=True)]
    before, best = max(pairs, key=lambda pair: min(pair[0], 1.0) - pair[1].dcf)
    if min(before, 1.0) - best.dcf < 0.01:
        return "Calibration (logistic, judged by 5 folds) would make these scores no more useful at these priors."
    old = "blind decisions at 1.000" if trials.meaning == "raw" else f"{before:.3f}"
    where = text.frequency(best.prior)
    return f"Calibration (logistic, judged by 5 folds) would bring the cost at {where} from {old} to {best.dcf:.3f}."


def _evaluate_decisions(paths: Sequence[str], apps: Sequence[Any], output: str, source: Facts) -> int:
    """Decided labels have a confusion matrix and costs, and nothing that needs a threshold."""
    from tercet.io import read_decisions

    wanted = {key: value for key, value in source.items() if key not in ("meaning", "score_column", "trained_prior")}
    systems = [_decided(path, read_decisions(path, **wanted), apps, source) for path in paths]
    if output in ("json", "tsv"):
        _show(systems, output)
        return 0
    for system in systems:
        print(Confusion(system["confusion"], classes=system["classes"], actions=system["actions"]))
        print(", ".join(text.summaries([system])))
    if apps:
        _show(systems, output)
    return 0


def _decided(path: str, table: Confusion, apps: Sequence[Any], source: Facts) -> Facts:
    facts: Facts = {
        "name": _name(path),
        "meaning": "decisions",
        "input": {"trials": sum(map(sum, table.matrix))},
        "classes": list(table.classes),
        "actions": list(table.actions),
        "confusion": table.matrix,
        "accuracy": table.accuracy,
    }
    facts["applications"] = [
        {
            "priors": as_matrix(app).prior.tolist(),
            "costs": as_matrix(app).costs.tolist(),
            "confusion": table.matrix,
            "risk": table.risk(app),
            "dcf": table.normalised_risk(app),
            "dummy_cost": as_matrix(app).dummy_cost,
            "dummy_action": as_matrix(app).renamed(table.classes).dummy_action,
        }
        for app in apps
    ]
    return _system(facts, path, source)


# decide


def decide(path: str, out: str, *, fpr_at_most: float | None, seed: int, calibrator: str | None, **options: Any) -> int:
    """Writes one decision a trial: its name, the expected cost and the margin to the second best."""
    from tercet.io import write_table

    apps = applications(**{key: options.pop(key) for key in ("apps", "priors", "costs", "actions")})
    if (len(apps) == 1) == (fpr_at_most is not None) or len(apps) > 1:
        raise InputError("decide takes exactly one application, or --fpr-at-most.")
    trials = _read(path, _source(options))
    if calibrator is not None:
        trials = _model(calibrator)(trials)
    columns = _trial_column(trials)
    if fpr_at_most is not None:
        rule = neyman_pearson(Curve.of(Tally.of(trials)), fpr_at_most)
        columns["decision"] = _called(rule(trials, seed=seed), trials.classes)
        below = "everything below" if rule.lower is None else f"the scores above {rule.lower:.17g}"
        _say(
            f"accepting above {rule.upper:.17g}, and of {below} with probability {rule.probability:.6g}: "
            f"FPR {rule.fpr:.6g}, TPR {rule.tpr:.6g} on these trials."
        )
    else:
        chosen = decisions(trials, apps[0])
        columns["decision"] = _called(chosen.actions, as_matrix(apps[0]).renamed(trials.classes).actions)
        columns |= {"expected_cost": chosen.expected_cost, "margin": chosen.margin}
    write_table(out, columns)
    return 0


def _trial_column(trials: Trials, before: int = 0) -> Facts:
    return {"trial": np.arange(before, before + len(trials)) if trials.ids is None else trials.ids}


def _called(actions: Any, names: Sequence[str]) -> Any:
    return np.array(names, np.object_)[actions.astype(np.intp)]


# calibrate and fuse


def calibrate_fit(
    paths: Sequence[str],
    out: str,
    *,
    method: str,
    prior: str | None,
    folds: int | None,
    by: str | None,
    engine: str | None = None,
    scheduler: str | None = None,
    memory_limit: str = "1GB",
    resume: str | None = None,
    **options: Any,
) -> int:
    """Trains a calibrator (or, on several files, a fusion), says what it does to costs by folds, and saves it."""
    from tercet.calibration.cross_fit import cross_fit
    from tercet.io import write_text_atomically

    source = _source(options)
    maker, settings = _method(method)
    _check_resume(engine, resume)
    if engine is not None:
        if folds is not None or by is not None:
            raise InputError("--folds and --by judge a map in memory; --engine only trains it: leave them out.")
        limits = _limits(engine, scheduler, memory_limit, resume)
        model = _fit_parts(maker, paths, _prior(prior), settings, source, **limits)
        write_text_atomically(out, model.to_json())
        _say(f"the model, trained on all {model.training['trials']} trials and not judged by folds, is in {out}.")
        return 0
    if len(paths) > 1 and method != "fusion":
        raise InputError(
            f"calibrate fit was given {len(paths)} files: fuse combines systems, --engine takes the parts of one."
        )
    systems = [_read(path, source) for path in paths]
    given: Any = systems[0] if method != "fusion" else systems
    fitted = cross_fit(maker, given, _prior(prior), folds=5 if folds is None else folds, by=by, **settings)
    _print_before_and_after(systems, fitted.scores)
    write_text_atomically(out, fitted.model.to_json())
    _say(f"the model, trained on all {len(systems[0])} trials, is in {out}.")
    return 0


def _fit_parts(maker: Any, paths: Sequence[str], prior: Any, settings: Facts, source: Facts, **limits: Any) -> Any:
    """Trains on all files as parts of one system, in bounded memory."""
    from tercet.outofcore.fit import fit_files

    at = {} if prior is None else {"prior": prior}
    with _Bar(" ".join(paths)) as bar:
        return fit_files(maker, list(paths), progress=bar, **at, **settings, **_part_columns(source), **limits)


def _prior(words: str | None) -> Any:
    if words is None:
        return None
    values = _numbers(words, "--prior", None)
    return values[0] if len(values) == 1 else values


def _method(name: str) -> tuple[Any, Facts]:
    from tercet.calibration.fusion import Fusion
    from tercet.calibration.multiclass import Affine
    from tercet.calibration.two_class import Gaussian, Isotonic, Logistic

    methods: dict[str, tuple[Any, Facts]] = {
        "logistic": (Logistic, {}),
        "isotonic": (Isotonic, {}),
        "gaussian": (Gaussian, {"shared_variance": True}),
        "gaussian-own-variances": (Gaussian, {"shared_variance": False}),
        "affine": (Affine, {"kind": "offsets"}),
        "temperature": (Affine, {"kind": "temperature"}),
        "matrix": (Affine, {"kind": "matrix"}),
        "fusion": (Fusion, {}),
    }
    return methods[name]


def _print_before_and_after(systems: Sequence[Trials], after: Trials) -> None:
    """The costs of the systems as they came and of the new scores, which no fold's own model gave."""
    apps = [] if len(after.classes) > 2 else [Application(prior) for prior in DEFAULT_PRIORS]
    named = [(trials, trials.name or "before") for trials in systems] + [(after, "after, by folds")]
    found = [tercet.evaluate(trials, apps, name=name).to_dict() for trials, name in named]
    if len(after.classes) > 2:
        print("\n".join(text.summaries(found)))
    else:
        print_table(found) if sys.stdout.isatty() else print(text.tsv(found))


def calibrate_apply(path: str, paths: Sequence[str], out: str, **options: Any) -> int:
    """Writes the calibrated (or fused) scores of each trial, with what is known of it."""
    from tercet.io import write_tables

    model = _model(path)
    source = _source(options)
    fusion = "systems" in model.training
    if not fusion and len(paths) > 1:
        raise InputError(f"{path} calibrates one system and was given {len(paths)} files.")
    if fusion or out == "-":  # a pipe cannot take back what was written before an error
        trials = [_read(one, source) for one in paths]
        results = iter([model(trials if fusion else trials[0])])
    else:
        results = map(model, _read_chunks(paths[0], source))
    write_tables(out, _scored(results))
    return 0


def _scored(results: Iterable[Trials]) -> Iterator[Facts]:
    """The columns of scored trials, piece by piece."""
    before = 0
    for result in results:
        columns = _trial_column(result, before)
        if result.is_matrix:
            columns |= {name: result.scores[:, place] for place, name in enumerate(result.classes)}
        else:
            columns["score"] = result.scores
        if result.labels is not None:
            columns["label"] = _called(result.labels, result.classes)
        yield columns
        before += len(result)


def _model(path: str) -> Any:
    from tercet.calibration.fusion import load_model

    try:
        return load_model(Path(path).read_text(encoding="utf-8"))
    except (InputError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a saved calibrator: {error}") from error


# check


def check(path: str, conditions: Sequence[str]) -> int:
    """3 if any condition holds for any system and application, or what it asks for is undefined."""
    result = saved_document(path)
    failed = [line for condition in conditions for line in _violations(result, condition)]
    for line in failed:
        _say(line)
    return 3 if failed else 0


def saved_document(path: str) -> Facts:
    """A result of `tercet evaluate --json`, refused if it is anything else."""
    words = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    try:
        result = json.loads(words)
        sound = result["schema_version"] == 1 and all(isinstance(one["input"], dict) for one in result["systems"])
    except (ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        raise InputError(f"{path} is not a result of `tercet evaluate --json` (schema version 1).")
    return dict(result)


def _violations(result: Facts, condition: str) -> list[str]:
    parsed = _CONDITION.fullmatch(condition)
    if parsed is None:
        raise InputError(f"A condition is NAME OP NUMBER, such as dcf>0.3, not {shown(condition)}.")
    key, sign, bound = parsed.groups()
    found = _values(result, key)
    if not found:
        raise InputError(f"No system in the result has a number called {shown(key)}.")
    return [
        f"{where}: {key} is {'undefined' if value is None else value}, so {condition.strip()} fails the check."
        for where, value in found
        if value is None or _COMPARE[sign](float(value), float(bound))
    ]


def _values(result: Facts, key: str) -> list[tuple[str, Any]]:
    """Every number of that name: of a system, or of its applications."""
    found = []
    for system in result["systems"]:
        name = text.harmless(system.get("name", "system"))
        value = system.get(key, "")
        value = value.get("value", "") if isinstance(value, dict) else value
        if _is_number(value):
            found.append((name, value))
        for place, app in enumerate(system.get("applications", [])):
            if _is_number(app.get(key, "")):
                found.append((f"{name}, application {place}", app[key]))
    return found


def _is_number(value: object) -> bool:
    return value is None or value in ("inf", "-inf") or (isinstance(value, int | float) and not isinstance(value, bool))


class _Bar:
    """A progress bar on a terminal's stderr, with rate and time left, for what takes more than two seconds."""

    def __init__(self, path: str) -> None:
        self.label, self.started = text.harmless(path), time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> _Bar:
        return self

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None:
            if not sys.stderr.isatty() or time.monotonic() - self.started < _PATIENCE or done >= total:
                return
            self._begin(total)
        self.bar.update(self.task, completed=done, total=total)

    def _begin(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.progress import TransferSpeedColumn as Speed

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), Speed())
        self.bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self.bar.start()
        self.task = self.bar.add_task(self.label, total=total)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
