"""The calls of docs/differences.md have the values, or kinds of errors, that it says."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import irax

DOCUMENT = Path(__file__).parents[2] / "docs" / "differences.md"
ROWS = [
    [cell.strip(" `") for cell in line.split("|")[1:4]]
    for line in DOCUMENT.read_text("utf-8").splitlines()
    if line.startswith("| `")
]


def outcome(library, call):
    """The numbers that a call gives, or the name of its error."""
    for module in ("image", "scipy.signal", "scipy.special", "scipy.stats"):
        importlib.import_module(f"{library.__name__}.{module}")
    names = vars(library) | {"ones": library.numpy.ones, "zeros": library.numpy.zeros}
    try:
        found = eval(call, names)
    except Exception as error:
        return type(error).__name__
    return ", ".join(f"{x:g}" for x in np.ravel(found))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call, ours, theirs", ROWS)
def test_outcomes(call, ours, theirs):
    assert outcome(irax, call) == ours
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    assert outcome(jax, call) == theirs
