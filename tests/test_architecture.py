"""Who may look at whom, what loading costs, and that values stay what they are."""

import ast
import dataclasses
import inspect
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tercet as tc

PACKAGE = Path(tc.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py"))

# The layers: a package may import the ones before it; names in one tuple do not see each other.
LAYERS = [
    ("errors", "_typing"), ("_views",), ("_numeric",), ("trials",), ("application",), ("datasets",), ("metrics",),
    ("decision", "recognizers"), ("calibration",), ("uncertainty",), ("io",), ("outofcore",), ("evaluation",),
    ("conditions",), ("deployment",), ("report",), ("biometrics",), ("forensics", "nist", "spoofing"), ("sklearn",),
    ("cli",), ("__main__",),
]  # fmt: skip
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# Narrower views than the layers allow.
SEES = {
    "testing": set(),  # the slow references share nothing with what they check
    "io": {"errors", "_typing", "_numeric", "trials", "metrics"},
}
BACK = {
    "_repr_html_",
    "metrics",
    "page",
    "plot",
    "to_frame",
    "to_html",
}  # methods that may import report, the only arrows back
HEAVY = [
    "scipy", "pandas", "polars", "pyarrow", "hypothesis", "sklearn", "matplotlib", "duckdb", "dask", "rich", "torch",
]  # fmt: skip


def module_of(path):
    """The top-level name that a file belongs to: a package is one."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@dataclasses.dataclass(frozen=True)
class Import:
    module: str  # the top-level name that imports
    name: str  # what it imports, dotted
    inside: str | None  # the function it stands in
    where: str


def imports_of(path):
    """Every import statement that runs, with the function it stands in; those under TYPE_CHECKING do not run."""
    found = []

    def visit(node, inside):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = node.name
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} line {node.lineno}: imports are written in full"
            names = [node.module]
            if node.module == "tercet":
                names = [f"tercet.{alias.name}" for alias in node.names if alias.name != "__version__"]
        where = f"{path.relative_to(PACKAGE)} line {getattr(node, 'lineno', 0)}"
        found.extend(Import(module_of(path), name, inside, where) for name in names)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text(encoding="utf-8")), None)
    return found


IMPORTS = [one for path in FILES for one in imports_of(path)]
WITHIN = [
    (one, one.name.split(".")[1])
    for one in IMPORTS
    if one.name.startswith("tercet.") and one.module != "__init__" and one.name.split(".")[1] != one.module
]


def test_the_package_was_found_and_its_imports_were_seen():
    assert {"trials", "metrics", "evaluation"} <= {module_of(path) for path in FILES}
    assert any(one.module == "metrics" and one.name == "tercet._numeric.exact" for one in IMPORTS)
    assert any(one.module == "metrics" and one.name.startswith("scipy") and one.inside == "_probits" for one in IMPORTS)


def test_every_module_has_its_layer():
    assert {module_of(path) for path in FILES} <= {*LEVEL, *SEES, "__init__"}


def test_the_top_level_has_at_most_sixteen_modules():
    assert len(list(PACKAGE.glob("*.py"))) <= 16


def test_imports_follow_the_layers():
    wrong = []
    for one, name in WITHIN:
        allowed = name in SEES[one.module] if one.module in SEES else LEVEL[name] < LEVEL[one.module]
        if not allowed and not (name == "report" and one.inside in BACK):
            wrong.append(f"{one.where}: {one.module} must not see {name}")
    assert wrong == []


def test_nobody_imports_the_command_line():
    assert [one.where for one, name in WITHIN if name == "cli" and one.module != "__main__"] == []


def test_only_the_outermost_modules_enter_through_the_front_door():
    assert {one.module for one in IMPORTS if one.name == "tercet"} <= {"cli", "__main__", "report", "sklearn"}


def test_reports_never_see_trials():
    seen = [one.where for one, name in WITHIN if one.module == "report" and name == "trials"]
    allowed = ("report/packing.py", "report/plots/displays.py")  # rows by name; displays are made from trials
    assert [where for where in seen if not where.startswith(allowed)] == []


def test_up_to_evaluate_only_numpy_is_loaded_and_scipy_when_a_function_needs_it():
    core = {name for name, level in LEVEL.items() if level <= LEVEL["evaluation"]} - {"io", "outofcore"}
    wrong = []
    for one in IMPORTS:
        top = one.name.split(".")[0]
        if one.module not in core or top in sys.stdlib_module_names or top == "tercet":
            continue
        if top not in ("numpy", "scipy") or (top == "scipy" and one.inside is None):
            wrong.append(f"{one.where}: {one.name}")
    assert wrong == []


@pytest.mark.parametrize("heavy", HEAVY)
def test_no_module_loads_a_heavy_library_before_it_needs_it(heavy):
    """Modules reached by `import tercet` may name them inside functions only."""
    optional = {"sklearn", "outofcore", "cli", "testing", "__main__"}
    assert [
        one.where
        for one in IMPORTS
        if one.name.split(".")[0] == heavy and one.inside is None and one.module not in optional
    ] == []


def test_importing_tercet_loads_nothing_heavy():
    code = f"import sys, tercet; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stdout


def test_evaluating_loads_nothing_heavy_either():
    code = (
        "import sys, tercet as tc\n"
        "tc.evaluate(tc.Trials.of_llr([2., 1., 0.], [1, 0, 1]), ['sre08']).to_dict()\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stdout


# The front door


def test_the_names_at_the_door_are_sorted_unique_and_there():
    assert list(tc.__all__) == sorted(set(tc.__all__))
    for name in tc.__all__:
        assert getattr(tc, name) is not None, name
        assert name in dir(tc), name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError):
        tc.no_such_name  # noqa: B018


def test_every_error_is_a_tercet_error_and_of_a_kind_that_python_knows():
    assert issubclass(tc.InputError, tc.TercetError)
    assert issubclass(tc.InputError, ValueError)
    assert issubclass(tc.UndefinedError, tc.TercetError)
    assert issubclass(tc.UndefinedError, ArithmeticError)
    assert issubclass(tc.CalibrationError, tc.TercetError)


def undocumented(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if ast.get_docstring(tree) is None:
        yield f"{path.name}: the module"

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.ClassDef) or child.name.startswith("_"):
                continue
            if any(isinstance(one, ast.Name) and one.id == "overload" for one in child.decorator_list):
                continue  # the function itself has the docstring
            if ast.get_docstring(child) is None:
                yield f"{path.name} line {child.lineno}: {prefix}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from visit(child, f"{child.name}.")

    yield from visit(tree, "")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_everything_public_says_what_it_is(path):
    assert list(undocumented(path)) == []


def test_every_name_at_the_door_has_a_docstring_of_its_own():
    for name in tc.__all__:
        value = getattr(tc, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            doc = inspect.getdoc(value)
            assert doc, name
            assert not doc.startswith(f"{name}("), f"{name} has only the docstring that Python made"


# Frozen values


def values():
    two = tc.Trials.of_llr(
        [2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0], ids=list("abcdef"), groups={"speaker": list("xxyyzz")}
    )
    weighted = tc.Trials.of_lr([2.0, 1.0, 0.5, 0.3], [1, 1, 0, 0], weights=[0.5, 1, 2, 1])
    rows = [[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0]]
    three = tc.Trials.of_log_likelihoods(rows, [0, 1, 2, 0])
    sure = tc.Trials.of_posteriors([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]], [1, 0, 0], trained_prior=[0.5, 0.5])
    app = tc.Application.multiclass([0.2, 0.3, 0.5], "ordinal")
    tally = tc.Tally.of(two)
    curve = tc.Curve.of(tally)
    evaluation, many = tc.evaluate(two, ["sre08", (0.5, 1, 0)]), tc.evaluate(three, [app])
    made = [
        two, weighted, three, sure, two.select(slice(0, 2)), three.versus("1"), tc.Application(0.1), app, tally,
        tally + tally, tc.Tally.of(weighted), tc.Tally.of(weighted).as_llr(), tally.targets,
        tc.Tally.of(weighted).targets, tc.Confusion([[1, 2], [3, 4]]), tc.confusion_of(three, app),
        tc.Confusion([[1, 2], [3, 4]]) + tc.Confusion([[1, 2], [3, 4.5]]), curve, curve.hull,
        tc.Curve.of(tc.Tally.of(weighted)), tc.Curve.of(tc.Tally.of(weighted)).hull, curve.eer(), curve.min_dcf(0.5),
        tc.neyman_pearson(curve, 0.1), evaluation, evaluation.bayes_plot, *evaluation.applications, many,
        *many.applications, tc.k_sigma(1, 3), tc.brier_parts(curve), *tc.useful_priors(curve), *tc.best_rules({}),
    ]  # fmt: skip
    return [pytest.param(value, id=f"{place}-{type(value).__name__}") for place, value in enumerate(made)]


def field_names(value):
    return [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else value._fields


def public_arrays(value):
    """The arrays that an object hands out, each read twice."""
    for name in dir(type(value)):
        if name.startswith("_") or (inspect.isroutine(getattr(type(value), name)) and name not in field_names(value)):
            continue
        try:
            first, second = getattr(value, name), getattr(value, name)
        except tc.TercetError:
            continue
        if isinstance(first, np.ndarray):
            yield name, first, second


@pytest.mark.parametrize("value", values())
def test_no_attribute_of_a_value_can_be_set_or_deleted(value):
    for name in (*field_names(value), "a_new_attribute"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(value, name, None)
    for name in field_names(value):
        with pytest.raises((AttributeError, TypeError)):
            delattr(value, name)


@pytest.mark.parametrize("value", values())
def test_an_array_that_a_value_keeps_cannot_be_written(value):
    for name, first, second in public_arrays(value):
        if first.size and np.shares_memory(first, second):
            with pytest.raises(ValueError, match="read-only"):
                first[...] = first
            assert not first.flags.writeable, name


def test_the_groups_of_trials_cannot_be_changed():
    trials = tc.Trials.of_llr([1.0, 2.0], groups={"speaker": ["a", "b"]})
    with pytest.raises(TypeError):
        trials.groups["speaker"] = None
    with pytest.raises(ValueError, match="read-only"):
        trials.groups["speaker"][0] = "z"


def test_trials_can_travel_between_processes():
    import copy
    import pickle

    trials = tc.Trials.of_llr([1.0, 2.0], [1, 0], groups={"speaker": ["a", "b"]})
    for twin in (pickle.loads(pickle.dumps(trials)), copy.deepcopy(trials)):
        assert twin.scores.tolist() == [1.0, 2.0]
        assert twin.groups["speaker"].tolist() == ["a", "b"]


# The JSON


def strict(value):
    return json.loads(json.dumps(value, allow_nan=False))


TWO_CLASS_KEYS = {
    "meaning", "input", "eer", "auc", "cllr", "min_cllr", "applications", "bayes_plot", "curve", "histogram",
}  # fmt: skip
RESULT_KEYS = {
    "prior", "cost_fn", "cost_fp", "effective_prior", "threshold", "confusion", "fnr", "fpr", "dcf_u", "dcf",
    "min_dcf", "min_dcf_u", "min_threshold",
}  # fmt: skip


@pytest.mark.parametrize(
    "trials",
    [
        tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0], [1, 1, 1, 0, 0], name="a system"),
        tc.Trials.of_llr([math.inf, -math.inf, math.inf, -math.inf], [1, 1, 0, 0], name="a system"),
        tc.Trials.of_scores([2.0, 1.0, -0.5], [1, 0, 0], name="a system"),
        tc.Trials.of_lr([0.0, 1.0, math.inf], [1, 0, 0], weights=[0.5, 0.25, 3], name="a system"),
        tc.Trials.of_llr([5.0, 5.0], [1, 0], name="a system"),
        tc.Trials.of_llr([1e308, -1e308], np.array([1, 0], np.uint8), name="a system"),
    ],
)
def test_a_two_class_evaluation_is_strict_json_with_the_promised_keys(trials):
    ev = tc.evaluate(trials, [(0.5, 1, 1), "sre08", (0.5, 0, 1), (0.5, 1, 0), (1e-300, 1, 1)])
    plain = strict(ev.to_dict())
    assert TWO_CLASS_KEYS | {"name"} <= set(plain)
    assert {"trials", "targets", "nontargets"} <= set(plain["input"])
    assert {"value", "threshold", "definition"} <= set(plain["eer"])
    assert {"log_odds", "dcf", "min_dcf"} <= set(plain["bayes_plot"])
    for result in plain["applications"]:
        assert set(result) >= RESULT_KEYS
        for key in RESULT_KEYS:
            assert result[key] is not None or key in result["reasons"], key
    for key in ("auc", "cllr", "min_cllr"):
        assert plain[key] is not None or key in plain["reasons"], key
    assert [result["threshold"] for result in plain["applications"][2:4]] == ["inf", "-inf"]
    assert plain == strict(ev.to_dict())


def test_the_json_says_what_the_attributes_say():
    ev = tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0], [1, 1, 1, 0, 0]), [(0.5, 1, 1)])
    plain = strict(ev.to_dict())
    assert plain["eer"]["value"] == ev.eer.value
    assert (plain["auc"], plain["cllr"], plain["min_cllr"]) == (ev.auc, ev.cllr, ev.min_cllr)
    for key in RESULT_KEYS:
        assert plain["applications"][0][key] == getattr(ev.applications[0], key), key
    assert plain["applications"][0] == strict(ev.applications[0].to_dict())
    assert plain["bayes_plot"]["min_dcf"] == ev.bayes_plot.min_dcf.tolist()


def test_the_thinned_curve_holds_its_ends_and_the_whole_hull():
    ev = tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0], [1, 1, 1, 0, 0]))
    curve = strict(ev.to_dict())["curve"]
    assert curve["thresholds"][0] == "-inf"
    assert (curve["misses"][0], curve["misses"][-1]) == (0, 3)
    assert (curve["false_alarms"][0], curve["false_alarms"][-1]) == (2, 0)
    assert curve["hull"]["misses"] == ev.curve.hull.misses.tolist()
    assert curve["misses"] == ev.curve.misses.tolist()  # so few scores are all kept


def test_the_histogram_counts_every_trial_once():
    scores = np.r_[np.random.default_rng(0).normal(size=500), math.inf, -math.inf, 1e9]
    ev = tc.evaluate(tc.Trials.of_llr(scores, np.arange(503) % 2))
    histogram = strict(ev.to_dict())["histogram"]
    for side, total in (("targets", 251), ("nontargets", 252)):
        kept = histogram[side]
        assert kept["below"] + sum(kept["bins"]) + kept["above"] == total
        assert len(kept["bins"]) == len(histogram["edges"]) - 1


def test_a_multiclass_evaluation_is_strict_json_with_the_promised_keys():
    rows = [[0.0, -math.inf, 2.0], [1.0, 0.0, 0.5], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0]]
    trials = tc.Trials.of_log_likelihoods(rows, [1, 0, 2, 0], name="a system")
    plain = strict(tc.evaluate(trials, [tc.Application.multiclass([0.2, 0.3, 0.5])]).to_dict())
    assert {"name", "meaning", "input", "classes", "log_loss", "accuracy", "applications"} <= set(plain)
    assert plain["log_loss"] == "inf"
    assert set(plain["applications"][0]) >= {"priors", "costs", "confusion", "risk", "dcf"}
    assert plain["classes"] == ["0", "1", "2"]
