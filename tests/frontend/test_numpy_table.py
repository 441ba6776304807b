"""Every function of irax.numpy by its cases: values, the same inside a trace, derivatives, dtypes.

A case is a line in `numpy_cases.py`.
"""

import inspect
import os
import warnings

import numpy as np
import pytest
from tests.frontend.numpy_cases import spacing32
from tests.frontend.numpy_helpers import run, tolerance, wide
from tests.frontend.numpy_operands import CASES, Operand

import irax
import irax.numpy as jnp
from irax import tree_util
from irax.array import as_array
from irax.test_util import check_grads

NAMES = sorted({c.name for c in CASES})


def bound(case, choice, to_float64=False):
    """The function with all that is no array put in; its arrays, in the dtypes of one choice."""
    arrays = []

    def visit(x):
        if isinstance(x, Operand):
            dtype = np.dtype(x.dtypes[choice % len(x.dtypes)])
            if to_float64:
                dtype = {"f": np.float64, "V": np.float64, "c": np.complex128}.get(
                    dtype.kind, dtype
                )
            arrays.append(x(dtype, seed=len(arrays)))
        elif isinstance(x, np.ndarray):
            arrays.append(x)
        elif isinstance(x, list | tuple):
            return type(x)(visit(part) for part in x)
        elif isinstance(x, dict):
            return {key: visit(part) for key, part in x.items()}
        else:
            return x
        return _Place(len(arrays) - 1)

    operands, options = visit(case.operands), visit(case.options)

    def put_in(x, given):
        if isinstance(x, _Place):
            return given[x.number]
        if isinstance(x, list | tuple):
            return type(x)(put_in(part, given) for part in x)
        if isinstance(x, dict):
            return {key: put_in(part, given) for key, part in x.items()}
        return x

    def call(function, given):
        return function(*put_in(operands, given), **put_in(options, given))

    return call, arrays


class _Place:
    def __init__(self, number):
        self.number = number


def choices(case):
    """How many dtypes the case has."""
    found = [1]

    def visit(x):
        if isinstance(x, Operand):
            found.append(len(x.dtypes))
        elif isinstance(x, list | tuple):
            for part in x:
                visit(part)

    visit((case.operands, list(case.options.values())))
    return max(found)


def leaves(x):
    """The arrays of a result of NumPy's."""
    return [y for part in x for y in leaves(part)] if isinstance(x, list | tuple) else [x]


def expected(case, call, arrays):
    """What NumPy computes, from floats in float64."""
    function = case.reference or getattr(np, case.name, None)
    if function is None:
        pytest.skip(f"NumPy {np.__version__} has no {case.name}")
    given = [x if x.dtype.kind in "iub" else wide(x) for x in arrays]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return leaves(call(function, given))


@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    for case in CASES:
        if case.name != name:
            continue
        for choice in range(choices(case)):
            call, arrays = bound(case, choice)
            function = getattr(jnp, name)
            if case.traced:
                results = run(lambda *given, call=call, f=function: call(f, given), *arrays)
            else:
                results = leaves(call(function, [as_array(x) for x in arrays]))
            for result, value in zip(results, expected(case, call, arrays), strict=True):
                compare(case, result, value)


@pytest.mark.parametrize("name", NAMES)
def test_values_in_64_bits(name):
    for case in CASES:
        if case.name != name or case.reference is spacing32:
            continue
        with irax.enable_x64(True):
            call, arrays = bound(case, 0, to_float64=True)
            results = leaves(call(getattr(jnp, name), [as_array(x) for x in arrays]))
            for result, value in zip(results, expected(case, call, arrays), strict=True):
                compare(case, result, value)


def compare(case, result, value):
    if isinstance(result, str):
        assert result == value
        return
    result, value = np.asarray(result), np.asarray(value)
    which = f"{case.name} {case.options}"
    assert result.shape == value.shape, which
    if result.dtype.kind in "iub":
        np.testing.assert_array_equal(result, value.astype(result.dtype), err_msg=which)
    else:
        close = {key: number * case.loose for key, number in tolerance(result.dtype).items()}
        np.testing.assert_allclose(wide(result), wide(value), **close, err_msg=which)


@pytest.mark.parametrize("name", sorted({c.name for c in CASES if c.traced and c.smooth}))
def test_derivatives(name):
    for case in CASES:
        if case.name != name or not (case.traced and case.smooth):
            continue
        with irax.enable_x64(True):
            call, arrays = bound(case, 0, to_float64=True)
            places = [i for i, x in enumerate(arrays) if x.dtype.kind in "fc" and x.size]

            def function(*given, call=call, arrays=arrays, places=places):
                operands = list(arrays)
                for place, x in zip(places, given, strict=True):
                    operands[place] = x
                results = tree_util.tree_leaves(call(getattr(jnp, name), operands))
                return [x for x in map(as_array, results) if x.dtype.kind in "fc"]

            points = [arrays[i] for i in places]
            if points and function(*points):
                check_grads(function, points, order=1)


@pytest.mark.parametrize("name", sorted({c.name for c in CASES if c.traced}))
def test_batches(name):
    for case in CASES:
        if case.name != name or not case.traced:
            continue
        call, arrays = bound(case, 0)
        if not arrays:
            continue

        def function(*given, call=call):
            return call(getattr(jnp, name), given)

        # Two lanes with the same numbers, in another order where any order will do.
        sides = [arrays, [x if is_fixed(case) else np.flip(x) for x in arrays]]
        batched = irax.vmap(function)(*(np.stack(lanes) for lanes in zip(*sides, strict=True)))
        for lane, given in enumerate(sides):
            single = tree_util.tree_leaves(function(*given))
            for result, value in zip(tree_util.tree_leaves(batched), single, strict=True):
                compare(case, np.asarray(result)[lane], np.asarray(value))


def is_fixed(case):
    """Whether an operand has an order, or is a number of something."""
    flat = tree_util.tree_leaves((case.operands, case.options), is_leaf=is_operand)
    return any(isinstance(x, np.ndarray) or (is_operand(x) and x.ascending) for x in flat)


def is_operand(x):
    return isinstance(x, Operand)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("name", sorted({c.name for c in CASES if c.traced and c.jax}))
def test_types_are_those_of_jax(name, x64):
    jax = pytest.importorskip("jax", reason="compares with JAX")
    if not hasattr(jax.numpy, name):
        pytest.skip(f"JAX has no jax.numpy.{name}")
    for case in CASES:
        if case.name != name or not (case.traced and case.jax):
            continue
        for choice in range(choices(case)):
            call, arrays = bound(case, choice, to_float64=x64)

            def there(*given, call=call):
                return call(getattr(jax.numpy, name), given)

            def here(*given, call=call):
                return call(getattr(jnp, name), given)

            with jax.enable_x64(x64), irax.enable_x64(x64):
                wanted = jax.tree_util.tree_leaves(jax.eval_shape(there, *arrays))
                got = tree_util.tree_leaves(irax.eval_shape(here, *arrays))
            types = [(x.shape, x.dtype) for x in got]
            assert types == [(x.shape, x.dtype) for x in wanted], case


# ---- completeness --------------------------------------------------------------------------------

ELSEWHERE = {
    *("array", "asarray"),  # test_numpy_creation.py
    *(
        "can_cast",
        "isdtype",
        "promote_types",
        "result_type",
    ),  # test_dtypes.py, test_numpy_others.py
    "iterable",  # NumPy's own
    *("array_repr", "get_printoptions", "printoptions", "set_printoptions"),  # test_numpy_others.py
    *("from_dlpack", "frombuffer", "fromfile", "fromiter", "fromstring", "load", "save", "savez"),
    *("einsum_path", "frompyfunc", "vectorize"),  # test_numpy_ufunc_objects.py, too
}
"""What a line cannot say, tested in other files."""


def test_every_function_has_a_case():
    functions = {
        name
        for name in dir(jnp)
        if not name.startswith("_")
        for value in [getattr(jnp, name)]
        if inspect.isfunction(value) or isinstance(value, jnp.ufunc)
    }
    assert functions - set(NAMES) == ELSEWHERE


# ---- compiled ------------------------------------------------------------------------------------

SAMPLE = ("quantile", "unwrap", "histogram2d", "frexp", "insert", "piecewise")
COMPILED = NAMES if os.environ.get("IRAX_ALL_FORMS") else SAMPLE


@pytest.mark.parametrize("name", COMPILED)
def test_on_iree(name):
    """Compiled, the results are those outside of traces: for a sample; for all in `make fuzz`."""
    for case in CASES:
        if case.name != name or not case.traced:
            continue
        call, arrays = bound(case, 0)

        def function(*given, call=call):
            return call(getattr(jnp, name), given)

        eager = [np.asarray(x) for x in tree_util.tree_leaves(function(*arrays))]
        compiled = [np.asarray(x) for x in tree_util.tree_leaves(irax.jit(function)(*arrays))]
        for result, value in zip(compiled, eager, strict=True):
            compare(case, result, value)
        if not os.environ.get("IRAX_ALL_FORMS"):
            break
