"""How long modules and functions are, in lines of code without docstrings, comments and blank lines; and no `Any`."""

import ast
import importlib
import inspect
import io
import re
import tokenize
from pathlib import Path

import tercet as tc

FILES = sorted(Path(tc.__file__).parent.rglob("*.py"))


def code_lines(path):
    """The numbers of the lines that hold code."""
    text = path.read_text(encoding="utf-8")
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            lines.update(range(token.start[0], token.end[0] + 1) if token.string else ())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


CODE = {path: code_lines(path) for path in FILES}
FUNCTIONS = [
    (path, node)
    for path in FILES
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.FunctionDef)
]


def test_no_module_has_more_than_500_lines_of_code():
    sizes = {path.relative_to(FILES[0].parent).as_posix(): len(lines) for path, lines in CODE.items()}
    assert {name: size for name, size in sizes.items() if size > 500} == {}


def test_no_function_has_more_than_40_lines_of_code():
    """Its arguments included."""
    sizes = {
        f"{path.name} {node.name}": len(CODE[path].intersection(range(node.lineno, node.end_lineno + 1)))
        for path, node in FUNCTIONS
    }
    assert {name: size for name, size in sizes.items() if size > 40} == {}


def test_only_public_functions_and_commands_take_more_than_ten_arguments():
    modules = [tc, *(importlib.import_module(f"tercet.{name}") for name in tc._MODULES)]
    public = {name: getattr(module, name) for module in modules for name in getattr(module, "__all__", ())}
    methods = {name for value in public.values() if isinstance(value, type) for name in dir(value) if name[0] != "_"}
    wrong = [
        f"{path.name} {node.name}"
        for path, node in FUNCTIONS
        if len(node.args.args) + len(node.args.kwonlyargs) > 10
        and node.name not in {*public, *methods}
        and "cli" not in path.relative_to(FILES[0].parent).parts
    ]
    assert wrong == []


def test_source_says_any_at_most_200_times():
    """Imports counted; docs/architecture.md says where it is still the right type."""
    assert sum(len(re.findall(r"\bAny\b", path.read_text(encoding="utf-8"))) for path in FILES) <= 200


def _annotations(thing):
    """Each annotation that a user of a public object can see, as it is written, with its place."""
    for name, said in getattr(thing, "__annotations__", {}).items():
        yield name, said
    if not isinstance(thing, type):
        return
    for base in thing.__mro__:
        if base.__module__.startswith("tercet"):
            for name, value in vars(base).items():
                inner = getattr(value, "__func__", getattr(value, "fget", value))
                if (name[0] != "_" or name in ("__init__", "__call__")) and inspect.isfunction(inner):
                    yield from ((f"{name} {key}", said) for key, said in inner.__annotations__.items())


def test_no_public_object_names_any():
    """Everything in the `__all__` of a module whose name does not begin with an underscore."""
    paths = [path.relative_to(FILES[0].parent).with_suffix("").parts for path in FILES]
    named = {".".join(("tercet", *parts)).removesuffix(".__init__") for parts in paths if parts[0] != "cli"}
    modules = [importlib.import_module(name) for name in sorted(named) if "._" not in name]
    public = {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in modules
        for name in getattr(module, "__all__", ())
    }
    assert len(public) > 200
    wrong = {
        f"{name}: {place}"
        for name, thing in public.items()
        for place, said in _annotations(thing)
        if isinstance(said, str) and re.search(r"\b(Any|Value)\b", said)
    }
    assert wrong == set()
