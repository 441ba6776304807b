"""The checks of each case of the tables: values, derivatives, batches, dtypes, and all that on
IREE.

A case is a line in `numpy_cases.py` or its kin.
"""

import contextlib
import pkgutil
import warnings

import numpy as np
import pytest
from tests.frontend.numpy_helpers import run, tolerance, wide
from tests.frontend.numpy_operands import Operand

import irax
from irax import tree_util
from irax.core.array import as_array
from irax.test_util import check_grads


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
    """The number of dtypes of the case."""
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
    """NumPy's results, from floats in float64."""
    function = case.reference or getattr(np, case.name, None)
    if function is None:
        pytest.skip(f"NumPy {np.__version__} has no {case.name}")
    given = [x if x.dtype.kind in "iub" else wide(x) for x in arrays]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return leaves(call(function, given))


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


def check_values(case, kinds=None):
    """Values are those of the reference, and the same in a trace: for `kinds` of dtypes, or all."""
    for choice in range(min(choices(case), kinds or choices(case))):
        call, arrays = bound(case, choice)
        if case.traced:
            results = run(lambda *given, call=call: call(case.function, given), *arrays)
        else:
            results = leaves(call(case.function, [as_array(x) for x in arrays]))
        for result, value in zip(results, expected(case, call, arrays), strict=True):
            compare(case, result, value)


def check_values_in_64_bits(case):
    """Check values for float64 and complex128."""
    with irax.enable_x64(True):
        call, arrays = bound(case, 0, to_float64=True)
        results = leaves(call(case.function, [as_array(x) for x in arrays]))
        for result, value in zip(results, expected(case, call, arrays), strict=True):
            compare(case, result, value)


def check_derivatives(case):
    """Derivatives, forward and reverse, are those that finite differences give."""
    with irax.enable_x64(True):
        call, arrays = bound(case, 0, to_float64=True)
        places = [i for i, x in enumerate(arrays) if x.dtype.kind in "fc" and x.size]

        def function(*given):
            operands = list(arrays)
            for place, x in zip(places, given, strict=True):
                operands[place] = x
            results = tree_util.tree_leaves(call(case.function, operands))
            return [x for x in map(as_array, results) if x.dtype.kind in "fc"]

        points = [arrays[i] for i in places]
        if points and function(*points):
            check_grads(function, points, order=1)


def check_batches(case):
    """Two lanes with the same numbers, in another order where any order will do."""
    call, arrays = bound(case, 0)
    if not arrays:
        return

    def function(*given):
        return call(case.function, given)

    sides = [arrays, [x if is_fixed(case) else np.flip(x) for x in arrays]]
    batched = irax.vmap(function)(*(np.stack(lanes) for lanes in zip(*sides, strict=True)))
    for lane, given in enumerate(sides):
        single = tree_util.tree_leaves(function(*given))
        for result, value in zip(tree_util.tree_leaves(batched), single, strict=True):
            compare(case, np.asarray(result)[lane], np.asarray(value))


def check_types(case, x64, kinds=None):
    """Shapes and dtypes are JAX's."""
    jax = pytest.importorskip("jax", reason="compares with JAX")
    module = pkgutil.resolve_name(f"jax.{case.module}")
    if not hasattr(module, case.name):
        return
    for choice in range(min(choices(case), kinds or choices(case))):
        call, arrays = bound(case, choice, to_float64=x64)

        def there(*given, call=call):
            return call(getattr(module, case.name), given)

        def here(*given, call=call):
            return call(case.function, given)

        with jax.enable_x64(x64), irax.enable_x64(x64):
            wanted = jax.tree_util.tree_leaves(jax.eval_shape(there, *arrays))
            got = tree_util.tree_leaves(irax.eval_shape(here, *arrays))
        types = [(x.shape, x.dtype) for x in got]
        assert types == [(x.shape, x.dtype) for x in wanted], case


def check_on_iree(case):
    """Compiled, the results are those outside of traces."""
    call, arrays = bound(case, 0)

    def function(*given):
        return call(case.function, given)

    eager = [np.asarray(x) for x in tree_util.tree_leaves(function(*arrays))]
    compiled = [np.asarray(x) for x in tree_util.tree_leaves(irax.jit(function)(*arrays))]
    for result, value in zip(compiled, eager, strict=True):
        compare(case, result, value)


def is_fixed(case):
    """Return True if an operand has an order, or is a number of something."""
    flat = tree_util.tree_leaves((case.operands, case.options), is_leaf=is_operand)
    return any(isinstance(x, np.ndarray) or (is_operand(x) and x.ascending) for x in flat)


def is_operand(x):
    return isinstance(x, Operand)


# ---- strictness ----------------------------------------------------------------------------------


JUDGED_BY_THEIR_INSIDES = {
    *("lax.index_take", "nn.softmax", "scipy.special.owens_t", "scipy.special.hyp1f1"),
    *("numpy.geomspace", "numpy.setdiff1d", "numpy.cov"),
}
"""Functions of which JAX's minds what it makes itself of operands of one kind, or not at all what
it need not compute.
"""


@contextlib.contextmanager
def strictness(library):
    """The options that mind promotion, of irax or of JAX, set to raise errors."""
    with library.numpy_dtype_promotion("strict"), library.numpy_rank_promotion("raise"):
        yield


def judgement(library, function, arrays, traced):
    """The error that promotion raises; None where it raises none."""
    try:
        with strictness(library):
            if traced:
                library.eval_shape(function, *arrays)
            else:
                function(*map(library.numpy.asarray, arrays))
    except ValueError as error:
        about_types = type(error).__name__ == "TypePromotionError"
        if about_types or "rank_promotion" in str(error):
            return error
        raise
    return None


def check_strictly(case, kinds=None):
    """Values are the same where the options mind promotion; operands are judged as JAX judges."""
    for choice in range(min(choices(case), kinds or choices(case))):
        call, arrays = bound(case, choice)
        given = [as_array(x) for x in arrays]
        lenient = tree_util.tree_leaves(call(case.function, given))
        try:
            with strictness(irax):
                strict = tree_util.tree_leaves(call(case.function, given))
                differentiate(case, call, given)
        except ValueError:
            check_judgement(case, call, arrays)
            continue
        for x, y in zip(strict, lenient, strict=True):
            values = map(np.asarray, (x, y))
            narrow = (wide(z) if z.dtype.kind == "V" else z for z in values)  # where nan is nan
            np.testing.assert_array_equal(*narrow, err_msg=str(case))
        kinds_of_operands = {x.dtype for x in arrays}, {x.ndim for x in arrays if x.ndim}
        if any(len(found) > 1 for found in kinds_of_operands):
            check_judgement(case, call, arrays)


def differentiate(case, call, arrays):
    """Trace the derivative of a case, if it has one, with the options that are set."""
    if case.smooth and case.traced:
        irax.eval_shape(lambda: irax.vjp(lambda *given: call(case.function, given), *arrays)[1])


def check_judgement(case, call, arrays):
    """Check that strict promotion refuses the operands that JAX refuses, and no others."""
    jax = pytest.importorskip("jax", reason="compares with JAX")
    module = pkgutil.resolve_name(f"jax.{case.module}")
    if not hasattr(module, case.name):
        return
    try:
        theirs = judgement(
            jax, lambda *given: call(getattr(module, case.name), given), arrays, case.traced
        )
    except (TypeError, ValueError, NotImplementedError, AssertionError):  # JAX has it not
        return
    ours = judgement(irax, lambda *given: call(case.function, given), arrays, case.traced)
    types = [(x.shape, x.dtype) for x in arrays]
    assert (ours is None) == (theirs is None), (case, types, ours, theirs)


def mixtures(case):
    """The arrays of a case, with one in another dtype, or of one more dimension."""
    call, arrays = bound(case, 0)
    for i, x in enumerate(arrays if len(arrays) > 1 else ()):
        others = {"f": ("float16", "int32"), "i": ("int8",)}.get(x.dtype.kind, ())
        with np.errstate(over="ignore", invalid="ignore"):
            cast = [x.astype(dtype) for dtype in others]
        for changed in (*cast, x[None]):
            yield call, [*arrays[:i], changed, *arrays[i + 1 :]]


def check_mixtures(case):
    """Operands of several dtypes or ranks are judged as JAX judges them, if they can be mixed."""
    for call, arrays in mixtures(case):
        try:
            irax.eval_shape(lambda *given, call=call: call(case.function, given), *arrays)
        except (TypeError, ValueError, NotImplementedError):
            continue
        check_judgement(case, call, arrays)
