"""Functions of lax, nn, linalg, fft and scipy by their cases; NumPy's are in `test_numpy_table.py`.

By default each function has its values in one dtype, and some have their derivatives and types
looked at; all of all in `make fuzz`.
"""

import inspect
import zlib

import pytest
from tests.frontend import case_checks, lax_cases, linalg_cases, nn_cases, scipy_cases
from tests.frontend.numpy_operands import CASES as ALL
from tests.sampling import ALL_FORMS

from irax import lax
from irax.lax import elementwise

TABLES = (lax_cases, linalg_cases, nn_cases, scipy_cases)
CASES = [c for c in ALL if c.module != "numpy"]


def names(share, **settings):
    """Functions that have cases with these settings: one out of `share`, or all."""
    found = {c.full_name for c in CASES if all(getattr(c, k) == v for k, v in settings.items())}
    return sorted(n for n in found if ALL_FORMS or not zlib.crc32(n.encode()) % share)


def of(name, **settings):
    """The cases of a function that have these settings: all, or one from the middle."""
    found = [c for c in CASES if c.full_name == name]
    found = [c for c in found if all(getattr(c, k) == v for k, v in settings.items())]
    return found if ALL_FORMS else [found[len(found) // 2]]


def test_every_elementwise_function_is_public_and_has_a_case():
    functions = {
        name
        for name, value in vars(elementwise).items()
        if getattr(value, "__module__", "") == lax.__name__ and not name.startswith("_")
        if inspect.isfunction(value)
    }
    assert functions
    hidden = functions - set(dir(lax))
    assert not hidden, f"import {sorted(hidden)} in irax/lax/__init__.py"
    untested = {name for name in functions if f"lax.{name}" not in names(1)}
    assert not untested, f"lax_cases.py has no case of {sorted(untested)}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", names(1))
def test_values(name):
    for case in of(name):
        case_checks.check_values(case, kinds=None if ALL_FORMS else 1)


@pytest.mark.parametrize("name", names(12))
def test_values_in_64_bits(name):
    for case in of(name):
        case_checks.check_values_in_64_bits(case)


@pytest.mark.parametrize("name", names(12, traced=True, smooth=True))
def test_derivatives(name):
    for case in of(name, traced=True, smooth=True):
        case_checks.check_derivatives(case)


@pytest.mark.parametrize("name", names(12, traced=True))
def test_batches(name):
    for case in of(name, traced=True):
        case_checks.check_batches(case)


@pytest.mark.parametrize("name", names(8, traced=True, jax=True))
def test_types_are_those_of_jax(name):
    for case in of(name, traced=True, jax=True):
        case_checks.check_types(case, x64=False, kinds=None if ALL_FORMS else 1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", names(1))
def test_where_promotion_is_minded(name):
    for case in of(name):
        case_checks.check_strictly(case, kinds=None if ALL_FORMS else 1)


@pytest.mark.parametrize("name", names(16, traced=True, jax=True))
def test_mixtures_are_judged_as_in_jax(name):
    if name in case_checks.JUDGED_BY_THEIR_INSIDES:
        pytest.skip("JAX's function mixes what it computes")
    for case in of(name, traced=True, jax=True):
        case_checks.check_mixtures(case)


@pytest.mark.parametrize("name", names(200, traced=True))
def test_on_iree(name):
    for case in of(name, traced=True):
        case_checks.check_on_iree(case)
