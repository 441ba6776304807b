"""Docstrings name every parameter, and the errors that they name are raised.

Each function is called as in its first example, with one argument after the other replaced by
something else, until each kind of error that its docstring names has been raised.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import doctest
import functools
import importlib
import inspect
import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.frontend.error_table import NOT_HERE, PROVOKED
from tests.test_reference import GLOBALS, is_function, members
from website import reference

import irax
from irax import errors
from irax.core.dtypes import lattice as dtype_lattice
from irax_compiler.ops import core

SECTIONS = re.compile(r"^(Args|Returns|Raises|Yields|Attributes):\n", re.MULTILINE)
PARAMETER = re.compile(r"^    ([\w*`][\w*`, ]*?): ", re.MULTILINE)
ERRORS = re.compile(r"^    ([A-Z]\w+(?:, [A-Z]\w+)*): ", re.MULTILINE)
WRONG: list[Any] = [
    *("text", object(), None, -9, 1.5, np.float32(1), -1, True, (), 3, 100),
    *(np.ones(2, kind) for kind in (np.complex64, np.bool, np.int32, np.float32)),
    *(np.ones((2, 3), kind) for kind in (np.complex64, np.int32, np.float32)),
    *(np.ones(0, np.float32), np.ones(5, np.float32), np.ones((3, 3), np.float32)),
    *([np.ones(2, np.float32), np.ones((2, 3), np.float32)], "bool", "int32", [], [1, [2]]),
    *(np.ones((4, 7), np.float32), np.ones((4, 7), np.int32)),
]


FILES = {"file", "filename", "path", "log_dir", "port"}
"""Parameters that would write a file, close a file descriptor or open a port."""


def public(module: str) -> Iterator[tuple[str, Any]]:
    """The functions of a module that irax defines, once each, by their own names."""
    found = importlib.import_module(module)
    for name, value in members(module).items():
        home = getattr(value, "__module__", None) or ""
        own = getattr(value, "__name__", name)
        is_alias = own != name and getattr(found, own, None) is value
        if is_function(value) and home.startswith("irax") and not is_alias:
            yield name, value


def section(doc: str, title: str) -> str | None:
    """The text of a section of a docstring; None if it has none."""
    parts = SECTIONS.split(doc)
    if title not in parts[1::2]:
        return None
    body = parts[2 * parts[1::2].index(title) + 2]
    return body.partition("\n\n")[0] if body.startswith("    ") else None


def named_errors(doc: str) -> set[str]:
    """The names of the errors that a docstring tells of."""
    found = ERRORS.findall(section(doc, "Raises") or "")
    return {name for names in found for name in names.split(", ")}


def kind(name: str, module: str) -> type[BaseException]:
    homes = (importlib.import_module(module), builtins, errors, dtype_lattice, core)
    return next(getattr(home, name) for home in homes if hasattr(home, name))


@pytest.mark.parametrize("module", reference.MODULES)
def test_arguments_are_named(module: str) -> None:
    for name, value in public(module):
        text = section(inspect.getdoc(value) or "", "Args") or ""
        named = [
            each.strip("*` ") for names in PARAMETER.findall(text) for each in names.split(",")
        ]
        parameters = [p for p in inspect.signature(value).parameters if p in named or p[0] != "_"]
        assert named == parameters, name


def example(value: Any) -> inspect.BoundArguments | None:
    """The arguments of a function in the first call of it in its docstring."""
    known = {**vars(importlib.import_module(value.__module__)), **GLOBALS}
    for each in doctest.DocTestParser().get_examples(inspect.getdoc(value) or ""):
        tree = ast.parse(each.source)
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute):
                with contextlib.suppress(Exception):
                    if is_same(evaluated(call.func, known), value):
                        positional = [evaluated(a, known) for a in call.args]
                        named = {k.arg: evaluated(k.value, known) for k in call.keywords if k.arg}
                        return inspect.signature(value).bind(*positional, **named)
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(each.source, known)
    return None


def is_same(x: Any, value: Any) -> bool:
    """Return True if two functions are one but for their names."""
    codes = [getattr(f, "__code__", getattr(f, "__wrapped__", f)) for f in (x, value)]
    return x is value or (codes[0] is codes[1] and x.__doc__ == value.__doc__)


def evaluated(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "", "eval"), names)


def nothing(function: Any, call: inspect.BoundArguments) -> None:
    """Call a function, whose result may be anything."""
    function(*call.args, **call.kwargs)


def provoked(value: Any, example: inspect.BoundArguments) -> Iterator[Exception]:
    """Yield the errors of calls with one argument replaced."""
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        for wrong in [object()] if parameter.name in FILES else WRONG:
            call = inspect.signature(value).bind(*example.args, **example.kwargs)
            rest = call.arguments.get(parameter.name, ())[1:] if "*" in str(parameter)[:1] else None
            call.arguments[parameter.name] = wrong if rest is None else (wrong, *rest)
            try:
                irax.eval_shape(functools.partial(nothing, value, call))
            except Exception as error:
                yield error


def raised(source: str) -> Exception:
    """The error of an expression."""
    try:
        eval(source, {**GLOBALS, "io": io})
    except Exception as error:
        return error
    raise AssertionError(f"{source} raises nothing")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("module", reference.MODULES)
@pytest.mark.filterwarnings("ignore")
def test_errors_are_raised(module: str) -> None:
    missing: dict[str, set[str]] = {}
    for name, value in public(module):
        expected = named_errors(inspect.getdoc(value) or "") - NOT_HERE.get(
            f"{module}.{name}", set()
        )
        given = [raised(source) for source in PROVOKED.get(f"{module}.{name}", ())]
        expected -= {
            each for each in expected for error in given if isinstance(error, kind(each, module))
        }
        call = example(value) if expected else None
        for error in provoked(value, call) if call is not None else ():
            expected = {each for each in expected if not isinstance(error, kind(each, module))}
            if not expected:
                break
        if expected:
            missing[name] = expected
    assert not missing
