"""The reference: public functions have examples, and these do what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import typing

import numpy as np
import pytest
from website import reference

import irax

GLOBALS = {
    "irax": irax,
    "jnp": irax.numpy,
    "lax": irax.lax,
    "np": np,
    "jit": irax.jit,
    "stats": irax.scipy.stats,
}
COMPLETE = ("irax", "irax.numpy", "irax.numpy.fft", "irax.numpy.linalg", "irax.lax")
COMPLETE += ("irax.lax.linalg", "irax.nn", "irax.nn.initializers", "irax.random", "irax.tree")
COMPLETE += ("irax.tree_util", "irax.image", "irax.ops", "irax.scipy.special", "irax.scipy.linalg")
NO_EXAMPLE = {"fromfile", "fromiter", "save", "savez", "ragged_dot_general"}
"""Refused by name, or with the arguments of a function that has an example."""


def members(module: str) -> dict[str, object]:
    """The public functions and classes of a module, by their names."""
    found = importlib.import_module(module)
    values = {name: getattr(found, name) for name in reference.names(found)}
    return {name: value for name, value in values.items() if callable(value)}


def is_function(value: object) -> bool:
    """True for functions, ufuncs too, and False for classes and aliases of types."""
    return not inspect.isclass(value) and typing.get_origin(value) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("module", reference.MODULES)
def test_examples_run(module: str) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    parser = doctest.DocTestParser()
    for name, value in members(module).items():
        home = getattr(value, "__module__", None) or ""
        if home.startswith("irax") and (doc := inspect.getdoc(value)):
            known = {**vars(importlib.import_module(home)), **GLOBALS}
            runner.run(parser.get_doctest(doc, known, f"{module}.{name}", None, 0))
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("module", COMPLETE)
def test_every_function_has_an_example(module: str) -> None:
    without = {
        name
        for name, value in members(module).items()
        if is_function(value) and ">>>" not in (inspect.getdoc(value) or "")
    }
    assert without <= NO_EXAMPLE


@pytest.mark.parametrize("module", reference.MODULES)
def test_names_are_those_of_the_module(module: str) -> None:
    """Imports of a module are not part of the reference."""
    assert {"Any", "Callable", "Sequence", "annotations", "as_array"}.isdisjoint(members(module))
