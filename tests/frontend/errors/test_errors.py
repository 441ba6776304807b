"""Bad input: the type and the words of each error. Traced code's errors name this file."""

from __future__ import annotations

import copy
import functools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import errors, lax
from irax.sparse import jacobian

X = jnp.arange(3.0)


def leak():
    kept = []
    irax.jit(lambda x: kept.append(x) or x)(1.0)
    return kept[0] + 1.0


def leak_into_jit():
    leaked = []
    irax.jit(lambda x: leaked.append(x) or x)(1.0)
    irax.jit(lambda x: x + 1)(leaked[0])


def leak_of_a_failed_trace():
    kept = []

    def f(x):
        kept.append(jnp.sin(x))
        raise KeyError

    with pytest.raises(KeyError):
        irax.jit(f)(1.0)
    return jnp.cos(kept[0])


def leak_out_of_vmap():
    kept = []

    def f(x):
        irax.vmap(lambda lane: kept.append(lane * 2.0) or lane)(x)
        return kept[0] + 1.0

    irax.jit(f)(X)


def leak_that_is_printed():
    kept = []
    irax.jit(lambda x: kept.append(x) or x)(1.0)
    print(kept[0].sum())


def leak_for_numpy():
    kept = []
    irax.jit(lambda x: kept.append(x) or x)(1.0)
    return np.asarray(kept[0])


def leak_of(use):
    kept = []
    irax.jit(lambda x: kept.append(x * 2.0) or x)(1.0)
    return use(kept[0])


USES_OF_LEAKS = {
    "device_put": irax.device_put,
    "device_put on a device": lambda x: irax.device_put(x, irax.devices()[0]),
    "device_put of a tree": lambda x: irax.device_put({"a": [x]}),
    "copy": copy.copy,
    "deepcopy": lambda x: copy.deepcopy([x]),
    "method copy": lambda x: x.copy(),
    "array": jnp.array,
    "stop_gradient": irax.lax.stop_gradient,
}


def made_and_used(function):
    """The lines of this file that make and use what leaks from a function of it."""
    first = function.__code__.co_firstlineno
    text = Path(__file__).read_text().splitlines()[first : first + 12]
    made = next(i for i, line in enumerate(text) if "kept.append(" in line)
    used = next(i for i, line in enumerate(text) if "kept[0]" in line)
    return [rf"test_errors\.py:{first + 1 + n}\b" for n in (made, used)]


def unhashable():
    return irax.jit(lambda x, n: x, static_argnums=1)(1.0, [1])


def assign():
    X[0] = 1.0


CASES = {
    "dot shapes": (
        lambda: jnp.dot(jnp.ones((3, 4)), jnp.ones(5)),
        TypeError,
        [r"\(3, 4\)", r"\(5,\)"],
    ),
    "add shapes": (lambda: X + jnp.ones(4), (TypeError, ValueError), [r"\(3,\)", r"\(4,\)"]),
    "list operand": (lambda: jnp.sin([1.0]), TypeError, ["sin", "list"]),
    "grad of a vector": (lambda: irax.grad(jnp.sin)(X), TypeError, ["scalar", r"\(3,\)", "jacrev"]),
    "grad of an integer": (
        lambda: irax.grad(lambda x: x * 1.0)(3),
        TypeError,
        [r"grad: x has", "int32", "floating-point"],
    ),
    "grad of an integer result": (
        lambda: irax.grad(lambda x: 3)(1.0),
        TypeError,
        ["real floating-point", "int32"],
    ),
    "grad of a tuple": (lambda: irax.grad(lambda x: (x, x))(1.0), TypeError, ["has_aux=True"]),
    "has_aux of no pair": (
        lambda: irax.grad(lambda x: x, has_aux=True)(1.0),
        TypeError,
        [r"pair \(result, aux\)"],
    ),
    "argnums": (
        lambda: irax.grad(lambda x: x, argnums=2)(1.0),
        TypeError,
        ["argnums=2", "1 positional"],
    ),
    "grad of no function": (lambda: irax.grad(3.0), TypeError, ["grad: expected a function"]),
    "jit of no function": (
        lambda: irax.jit(None),
        TypeError,
        ["jit: expected a function, got None"],
    ),
    "make_jaxpr of no function": (
        lambda: irax.make_jaxpr(3),
        TypeError,
        ["make_jaxpr: expected a function, got 3"],
    ),
    "vmap sizes": (
        lambda: irax.vmap(jnp.add)(X, jnp.ones(4)),
        ValueError,
        ["3 for x1 of", "4 for x2 of", "same size"],
    ),
    "vmap in_axes": (
        lambda: irax.vmap(jnp.add, in_axes=(0,))(X, X),
        ValueError,
        ["in_axes has 1", "2 positional"],
    ),
    "vmap axis": (
        lambda: irax.vmap(jnp.sin, in_axes=1)(X),
        ValueError,
        ["in_axes of x", "axis 1", "out of range"],
    ),
    "vmap of nothing": (
        lambda: irax.vmap(jnp.sin, in_axes=None)(X),
        ValueError,
        ["no argument is mapped"],
    ),
    "vmap of a scalar": (lambda: irax.vmap(jnp.sin)(1.0), ValueError, ["scalar has no axes"]),
    "vmap out_axes": (
        lambda: irax.vmap(lambda x: x, out_axes=None)(X),
        ValueError,
        ["out_axes", "depends on a mapped argument"],
    ),
    "static list": (unhashable, ValueError, ["static argument 1", "hashable", "tuple"]),
    "static_argnums": (
        lambda: irax.jit(lambda x: x, static_argnums=3),
        ValueError,
        ["static_argnums=3", "1 positional"],
    ),
    "static_argnames": (
        lambda: irax.jit(lambda x: x, static_argnames="y"),
        ValueError,
        ["static_argnames='y'", "by name it takes x"],
    ),
    "jit of a string": (
        lambda: irax.jit(lambda x: x)("text"),
        TypeError,
        ["lambda: x", "'text'", "static_argnums"],
    ),
    "jit returns a string": (
        lambda: irax.jit(lambda x: {"a": "text"})(1.0),
        TypeError,
        [r"result\['a'\]", "'text'"],
    ),
    "leaked tracer": (leak, errors.UnexpectedTracerError, [r"test_errors\.py:\d+", "leaked"]),
    "leak of a failed trace": (
        leak_of_a_failed_trace,
        errors.UnexpectedTracerError,
        made_and_used(leak_of_a_failed_trace),
    ),
    "leak out of vmap": (
        leak_out_of_vmap,
        errors.UnexpectedTracerError,
        [*made_and_used(leak_out_of_vmap), "vmap traced"],
    ),
    "leak that is printed": (
        leak_that_is_printed,
        errors.UnexpectedTracerError,
        made_and_used(leak_that_is_printed),
    ),
    "leak for NumPy": (leak_for_numpy, errors.UnexpectedTracerError, made_and_used(leak_for_numpy)),
    "leaked into jit": (
        leak_into_jit,
        errors.UnexpectedTracerError,
        [r"test_errors\.py:\d+", "leaked"],
    ),
    "if under jit": (
        lambda: irax.jit(lambda x: x if x > 0 else -x)(1.0),
        errors.TracerBoolConversionError,
        [r"test_errors\.py:\d+", "jit", "lambda: x", "where", "static_argnums"],
    ),
    "if under vmap": (
        lambda: irax.vmap(lambda x: x if x > 0 else -x)(X),
        errors.ConcretizationTypeError,
        [r"test_errors\.py:\d+", "vmap"],
    ),
    "if under grad under jit": (
        lambda: irax.jit(irax.grad(lambda x: x if x > 0 else -x))(1.0),
        errors.ConcretizationTypeError,
        [r"test_errors\.py:\d+", "jit"],
    ),
    "float under jit": (
        lambda: irax.jit(lambda x: float(x))(1.0),
        errors.ConcretizationTypeError,
        [r"test_errors\.py:\d+"],
    ),
    "range under jit": (
        lambda: irax.jit(lambda n: list(range(n)))(3),
        errors.TracerIntegerConversionError,
        [r"test_errors\.py:\d+", "static_argnums"],
    ),
    "NumPy under jit": (
        lambda: irax.jit(lambda x: np.sin(x))(1.0),
        errors.TracerArrayConversionError,
        [r"test_errors\.py:\d+", "irax.numpy"],
    ),
    "mask under jit": (
        lambda: irax.jit(lambda x: x[x > 1])(X),
        errors.NonConcreteBooleanIndexError,
        ["where"],
    ),
    "assignment": (assign, TypeError, [r"\.at\["]),
    "cotangent structure": (
        lambda: irax.vjp(lambda x: (x, x), 1.0)[1](1.0),
        ValueError,
        ["cotangent", "structure"],
    ),
    "cotangent shape": (
        lambda: irax.vjp(jnp.sin, X)[1](jnp.ones(2)),
        ValueError,
        [r"float32\[2\]", r"float32\[3\]"],
    ),
    "tangent count": (
        lambda: irax.jvp(jnp.sin, (X,), ()),
        TypeError,
        ["1 primals and 0 tangents"],
    ),
    "tangent shape": (
        lambda: irax.jvp(jnp.sin, (X,), (jnp.ones(2),)),
        ValueError,
        [r"tangents\[0\] has type float32\[2\]; expected float32\[3\]"],
    ),
    "branch": (
        lambda: irax.lax.cond(True, 1, 2),
        TypeError,
        ["true_fun must be a function, got 1"],
    ),
    "key": (lambda: irax.random.normal(3), TypeError, ["^normal: expected a key"]),
    "shape of numbers": (
        lambda: irax.random.normal(irax.random.key(0), "x"),
        TypeError,
        ["^normal: expected a shape of ints"],
    ),
    "classes": (
        lambda: irax.nn.one_hot(1, "a"),
        TypeError,
        ["num_classes must be an int, got 'a'"],
    ),
    "format": (lambda: irax.debug.print("{} {}", 1), IndexError, ["asks for more than the 1 arg"]),
    "mask": (
        lambda: jnp.nansum(X, where=np.ones((2, 3), bool)),
        ValueError,
        [r"where of shape \(2, 3\) does not broadcast to the array's shape \(3,\)"],
    ),
    "dtype of a variance": (lambda: jnp.std(X, dtype=int), ValueError, ["dtype must be of floats"]),
    "deleted places": (lambda: jnp.delete(X, 1.5), ValueError, ["obj must be integers"]),
    "places along an axis": (
        lambda: jnp.take_along_axis(X, np.ones((2, 2)), 0),
        TypeError,
        ["indices must be integers, got float32"],
    ),
    "tangent of an integer": (
        lambda: irax.jvp(jnp.sin, (1,), (1.0,)),
        TypeError,
        ["float0"],
    ),
    "loaded text": (lambda: irax.ir.load("func.func @f( {"), ValueError, ["not a valid MLIR"]),
    "loaded function": (
        lambda: irax.ir.load("func.func @f() { return }", func="main"),
        ValueError,
        ["no function @main; it has @f"],
    ),
    "loaded device": (
        lambda: irax.ir.load("func.func @main() { return }", device="toaster"),
        RuntimeError,
        ["'toaster'"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_error(case):
    call, kind, words = CASES[case]
    with pytest.raises(kind) as raised:
        call()
    for word in words:
        assert raised.match(word)


@pytest.mark.parametrize("use", USES_OF_LEAKS)
def test_leaks_are_found_where_arrays_are_copied_or_placed(use):
    with pytest.raises(errors.UnexpectedTracerError, match=r"used at .*test_errors\.py:") as found:
        leak_of(USES_OF_LEAKS[use])
    assert "leaked out through" in str(found.value)
    assert float(irax.jit(USES_OF_LEAKS["method copy"])(3.0)) == 3


def test_tracing_goes_on_after_an_error():
    with pytest.raises(errors.ConcretizationTypeError):
        irax.jit(lambda x: bool(x))(1.0)
    assert float(irax.grad(lambda x: x * x)(3.0)) == 6.0


def test_failure_inside_a_nested_trace_leaves_the_outer_module_whole():
    def f(x):
        try:
            irax.vmap(lambda y: bool(y > 0))(jnp.stack([x, x]))
        except errors.ConcretizationTypeError:
            return x * 2.0
        return x

    assert float(irax.grad(f)(1.0)) == 2.0
    assert float(irax.jit(f)(1.0)) == 2.0


STATIC = {
    "axis": lambda n: jnp.sum(X, axis=n),
    "keepdims": lambda n: jnp.max(X, keepdims=n),
    "shape": lambda n: jnp.zeros((n, 2)),
    "new_sizes": lambda n: irax.lax.reshape(X, (n,)),
    "num": lambda n: jnp.linspace(0, 1, n),
    "k": lambda n: jnp.diag(X, n),
    "y": lambda n: irax.lax.integer_pow(X, n),
    "n": lambda n: jnp.fft.fft(X, n),
    "ndim": lambda n: jnp.diag_indices(2, n),
    "indices_or_sections": lambda n: jnp.split(X, [n]),
    "length": lambda n: jnp.bincount(jnp.arange(3), length=n),
    "num_classes": lambda n: irax.nn.one_hot(jnp.arange(3), n),
    "num_segments": lambda n: irax.ops.segment_sum(X, jnp.arange(3), n),
    "bucket_size": lambda n: irax.ops.segment_sum(X, jnp.arange(3), 3, bucket_size=n),
    "d": lambda n: irax.random.ball(irax.random.key(0), n),
    "subset_by_index": lambda n: irax.lax.linalg.svd(jnp.eye(3), subset_by_index=(0, n)),
    "axes": lambda n: irax.scipy.fft.dctn(jnp.eye(3), axes=(0, n)),
    "nperseg": lambda n: irax.scipy.signal.stft(X, nperseg=n),
    "max_squarings": lambda n: irax.scipy.linalg.expm(jnp.eye(2), max_squarings=n),
}


@pytest.mark.parametrize("name", STATIC)
def test_traced_arguments_that_must_be_static_are_named(name):
    with pytest.raises(errors.ConcretizationTypeError) as found:
        irax.jit(STATIC[name])(1)
    told = str(found.value)
    assert f"the argument {name!r}, a traced array of type int32[]" in told
    assert "static_argnums=...) or jit(f, static_argnames=...)" in told
    assert "test_errors.py" in told


def test_axes_and_sizes_that_are_traced_have_the_classes_of_both_of_jax_errors():
    with pytest.raises(errors.TracerIntegerConversionError, match="argument 'axis'"):
        irax.jit(lambda n: jnp.sum(X, axis=n))(0)
    with pytest.raises(errors.TracerIntegerConversionError) as found:
        irax.jit(lambda n: [1, 2][n])(0)
    assert not isinstance(found.value, errors.ConcretizationTypeError)
    with pytest.raises(errors.ConcretizationTypeError) as found:
        irax.jit(int)(0)
    assert "the argument" not in str(found.value).split("Declare")[0].split("Keep")[0]


@pytest.mark.skipif(
    sys.version_info[:3] == (3, 13, 0), reason="NumPy cannot be imported there by this Python"
)
def test_the_working_directory_may_be_gone(tmp_path):
    program = f"""
import os, shutil
os.chdir({str(tmp_path)!r})
shutil.rmtree({str(tmp_path)!r})
import irax
print(irax.jit(lambda x: x * 2)(1.5))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr


@pytest.mark.parametrize("jit", [lambda f: f, lambda f: lambda: irax.jit(lambda x: f())(1.0)])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("zeros", lambda n: jnp.zeros((n, n))),
        ("broadcast_to", lambda n: jnp.broadcast_to(jnp.ones(1), (n, n))),
        ("broadcasted_iota", lambda n: lax.broadcasted_iota("int32", (n, n), 0)),
        ("normal", lambda n: irax.random.normal(irax.random.key(0), (n, n))),
        ("eye", lambda n: jnp.eye(n)),
    ],
)
def test_more_elements_than_any_memory_holds(name, function, jit):
    with pytest.raises(ValueError, match=rf"{name}: no memory holds the \d+ elements of shape"):
        jit(lambda: function(2**40))()


def test_shapes_that_fit_but_not_into_memory():
    with pytest.raises(ValueError, match="no memory holds the"):
        jnp.broadcast_shapes((2**40, 1), (1, 2**40))


def weighted(w, x, *, scale=1.0):
    return jnp.sum(w["a"] * x) * scale


def chosen(w, n):
    return w if n > 2 else -w


doubled = irax.custom_vjp(lambda w, x: w * x)
doubled.defvjp(lambda w, x: (w * x, x), lambda x, ct: (ct * x, jnp.ones(3)))
W = {"a": jnp.ones(3)}
INTEGERS = {"a": jnp.arange(3)}

NAMED = {
    "grad": (lambda: irax.grad(weighted)(INTEGERS, X), "grad: w['a'] has type int32[3]"),
    "jacrev": (lambda: irax.jacrev(weighted, (1, 0))(INTEGERS, X), "jacrev: w['a'] has type"),
    "jacfwd": (lambda: irax.jacfwd(weighted)(INTEGERS, X), "jacfwd: w['a'] has type"),
    "sparse": (lambda: jacobian(weighted, 1)(W, jnp.arange(3)), "jacobian: x has type int32[3]"),
    "vjp": (lambda: irax.vjp(weighted, W, "a"), "vjp: x: expected an array"),
    "jvp": (lambda: irax.jvp(weighted, (W, "a"), (W, X)), "jvp: x: expected an array"),
    "linearize": (lambda: irax.linearize(weighted, W, "a"), "linearize: x: expected"),
    "vmap": (lambda: irax.vmap(weighted)(W, jnp.ones(4)), "3 for w['a'] of type"),
    "vmap of names": (lambda: irax.vmap(weighted)(W, X, scale=1.0), "in_axes of scale with"),
    "vmap of a partial": (
        lambda: irax.vmap(functools.partial(weighted, W), in_axes=1)(X),
        "in_axes of x with",
    ),
    "vmap of others": (lambda: irax.vmap(lambda *rest: rest)(X, jnp.ones(4)), "4 for rest[1] of"),
    "checkpoint": (
        lambda: irax.checkpoint(weighted, static_argnums=0)(W, "a"),
        "checkpoint: x: expected",
    ),
    "make_jaxpr": (
        lambda: irax.make_jaxpr(weighted, static_argnums=0)(3, "a"),
        "x: expected an array",
    ),
    "linear_transpose": (
        lambda: irax.linear_transpose(lambda w, x: w, 1.0, "a"),
        "linear_transpose: x: expected",
    ),
    "custom_vjp": (lambda: irax.grad(doubled)(1.0, 2.0), "a cotangent of x of type float32[3]"),
    "compiled": (
        lambda: irax.jit(weighted).lower(W, X, scale=1.0).compile()(W, X, scale=1),
        "weighted: scale is int32[] (weak); compiled for float32[]",
    ),
    "compiled for others": (
        lambda: irax.jit(weighted).lower(W, X, scale=1.0).compile()(W, X),
        "differs first at [1]:\n  expected dict with keys 'scale', got",
    ),
    "a branch in lanes": (lambda: irax.vmap(chosen)(X, X), "chosen: n. Use irax.numpy.where"),
    "a branch in a gradient": (
        lambda: irax.jit(irax.vmap(irax.grad(chosen)))(X, X),
        "it depends on chosen: n. Use",
    ),
    "a branch in a gradient of jit": (
        lambda: irax.jit(irax.grad(chosen))(1.0, 1.0),
        "while jit traces the function; it depends on chosen: n. Use",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_arguments_are_called_by_their_names(name):
    call, words = NAMED[name]
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        call()


@pytest.mark.parametrize(
    ("transform", "cure"),
    [
        (lambda f: irax.jit(f)(3), "or declare the argument static: jit(f, static_argnums=...)"),
        (lambda f: irax.make_jaxpr(f)(3), "static: make_jaxpr(f, static_argnums=...)"),
        (lambda f: irax.vmap(f)(X), "or map no axis of the argument: in_axes=None"),
        (lambda f: irax.lax.map(f, X), "or take a number of Python's, from outside of the func"),
    ],
)
def test_cures_are_those_of_the_transformation(transform, cure):
    with pytest.raises(irax.errors.TracerBoolConversionError, match=re.escape(cure)):
        transform(lambda n: n if n > 2 else -n)
