"""Every function of irax.numpy by its cases: values, the same inside a trace, derivatives, dtypes.

A case is a line in `numpy_cases.py`.
"""

import ast
import inspect

import pytest
from tests.frontend import case_checks, numpy_cases
from tests.frontend.numpy_operands import CASES as ALL
from tests.sampling import ALL_FORMS

import irax.numpy as jnp
from irax.numpy import families, ufuncs

CASES = [c for c in ALL if c.module == "numpy"]
NAMES = sorted({c.name for c in CASES})


def of(name, **settings):
    """The cases of a function that have these settings."""
    found = [c for c in CASES if c.name == name]
    return [c for c in found if all(getattr(c, k) == v for k, v in settings.items())]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    for case in of(name):
        case_checks.check_values(case)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_values_in_64_bits(name):
    for case in of(name):
        if case.reference is not numpy_cases.spacing32:
            case_checks.check_values_in_64_bits(case)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted({c.name for c in CASES if c.traced and c.smooth}))
def test_derivatives(name):
    for case in of(name, traced=True, smooth=True):
        case_checks.check_derivatives(case)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted({c.name for c in CASES if c.traced}))
def test_batches(name):
    for case in of(name, traced=True):
        case_checks.check_batches(case)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("name", sorted({c.name for c in CASES if c.traced and c.jax}))
def test_types_are_those_of_jax(name, x64):
    for case in of(name, traced=True, jax=True):
        case_checks.check_types(case, x64)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_where_promotion_is_minded(name):
    for case in of(name):
        case_checks.check_strictly(case, kinds=None if ALL_FORMS else 1)


@pytest.mark.parametrize("name", sorted({c.name for c in CASES if c.traced and c.jax}))
def test_mixtures_are_judged_as_in_jax(name):
    if f"numpy.{name}" in case_checks.JUDGED_BY_THEIR_INSIDES:
        pytest.skip("JAX's function mixes what it computes")
    for case in of(name, traced=True, jax=True)[: None if ALL_FORMS else 1]:
        case_checks.check_mixtures(case)


# ---- completeness --------------------------------------------------------------------------------

ELSEWHERE = {
    *("array", "asarray"),  # test_numpy_creation.py
    *(
        "can_cast",
        "isdtype",
        "issubdtype",
        "promote_types",
        "result_type",
    ),  # test_dtypes.py, test_numpy_others.py
    "iterable",  # NumPy's own
    *("array_repr", "get_printoptions", "printoptions", "set_printoptions"),  # test_numpy_others.py
    *("from_dlpack", "frombuffer", "fromfile", "fromiter", "fromstring", "load", "save", "savez"),
    *("einsum_path", "frompyfunc", "vectorize"),  # test_numpy_ufunc_objects.py, too
}
"""Functions that a line of the table cannot test; other files do."""


def test_every_function_has_a_case():
    functions = {
        name
        for name in dir(jnp)
        if not name.startswith("_")
        for value in [getattr(jnp, name)]
        if inspect.isfunction(value) or isinstance(value, jnp.ufunc)
    }
    assert functions - set(NAMES) == ELSEWHERE


def test_every_function_of_a_table_is_public():
    functions = {
        name
        for name, value in vars(ufuncs).items()
        if getattr(value, "__module__", "") == jnp.__name__ and not name.startswith("_")
    }
    assert functions
    hidden = functions - set(dir(jnp))
    assert not hidden, f"import {sorted(hidden)} in irax/numpy/__init__.py"


def test_type_checkers_see_the_functions_of_all_families():
    blocks = [
        node
        for node in ast.parse(inspect.getsource(jnp)).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "_TYPE_CHECKING"
    ]
    seen = {
        (alias.name, node.module)
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    expected = {
        *((name, f"irax.numpy.{family}") for name, family in families.FAMILY_OF.items()),
        *((name, "irax.numpy") for name in families.MODULES),
    }
    differing = sorted(name for name, _ in seen ^ expected)
    assert not differing, f"families.py and `if _TYPE_CHECKING` of __init__.py differ: {differing}"


# ---- compiled ------------------------------------------------------------------------------------

SAMPLE = ("quantile", "unwrap", "histogram2d", "frexp", "insert", "piecewise")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES if ALL_FORMS else SAMPLE)
def test_on_iree(name):
    """For a sample; for all in `make fuzz`."""
    for case in of(name, traced=True)[: None if ALL_FORMS else 1]:
        case_checks.check_on_iree(case)
