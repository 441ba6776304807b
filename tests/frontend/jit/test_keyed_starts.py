"""Starts without a trace: programs that an earlier process traced, by the user's key."""

import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

import irax
import irax.numpy as jnp

X = np.arange(3, dtype="float32")
TRACES: list[str] = []


class Pair(NamedTuple):
    """Results of a class of the user's."""

    first: Any
    second: Any


@pytest.fixture(autouse=True)
def kept(tmp_path):
    """A cache for each test."""
    irax.config.update("compilation_cache_dir", str(tmp_path))
    TRACES.clear()
    yield
    irax.config.update("compilation_cache_dir", None)


def shifted(x, by=1.0, *, name="shifted"):
    TRACES.append(name)
    table = jnp.asarray(np.float32([2.0, 3.0, 4.0]))
    return Pair({"sum": (x + by).sum()}, (x * table, None))


def afresh(key="v1", function=shifted, **options):
    """Return the function as another process would jit it: without what this one has traced."""
    irax.clear_caches()
    return irax.jit(function, cache_key=key, **options)


def check(found, by=1.0):
    assert type(found) is Pair
    np.testing.assert_array_equal(found.first["sum"], (X + by).sum())
    np.testing.assert_array_equal(found.second[0], X * np.float32([2, 3, 4]))
    assert found.second[1] is None


def test_an_earlier_trace_is_used():
    check(afresh()(X))
    again = afresh()
    check(again(X))
    check(again(X))
    assert TRACES == ["shifted"]
    assert "runs without a trace" in str(irax.explain(again))


@pytest.mark.slow
def test_another_process_uses_it(tmp_path):
    code = f"""
import irax, numpy as np
irax.config.update("compilation_cache_dir", {str(tmp_path)!r})
@irax.jit(cache_key="v1")
def f(x):
    print("traced")
    return irax.numpy.sin(x) + 1
print(f(np.zeros(2, "f")))
"""
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout for run in runs] == ["traced\n[1. 1.]\n", "[1. 1.]\n"]


def other(x, by=1.0, *, name="other"):
    return shifted(x, by, name=name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "call",
    [
        lambda: afresh("v2")(X),
        lambda: afresh(None)(X),
        lambda: afresh(function=other)(X),
        lambda: afresh()(X.astype("int32")),
        lambda: afresh()(X, np.float32(1)),
        lambda: afresh(static_argnames="name")(X, name="named"),
        lambda: afresh(donate_argnums=0)(jnp.asarray(X)),
    ],
    ids=["key", "no key", "function", "dtype", "structure", "static", "donated"],
)
def test_what_is_compared(call):
    afresh()(X)
    before = len(TRACES)
    call()
    assert len(TRACES) == before + 1


def test_static_arguments_are_told_by_their_text():
    for name, traces in (("a", 1), ("b", 2), ("a", 2)):
        check(afresh(static_argnames="name")(X, name=name))
        assert len(TRACES) == traces
    jitted = afresh(static_argnames="name")
    jitted(X, name=object())
    assert "has its address" in str(irax.explain(jitted))


def test_donated_arguments_are_deleted():
    for _ in range(2):
        x = jnp.asarray(X)
        check(afresh(donate_argnums=0)(x))
        assert x.is_deleted()


def test_what_depends_on_the_process_is_traced():
    def printed(x):
        irax.debug.print("{}", x)
        TRACES.append("printed")
        return x

    for traces in (1, 2):
        jitted = afresh(function=printed)
        jitted(X)
        assert len(TRACES) == traces
    assert "is traced by each process: the program has side effects" in str(irax.explain(jitted))


def test_traces_after_a_start_are_traces():
    afresh()(X)
    again = afresh()
    check(again(X))
    assert "stablehlo" in again.lower(X).as_text()
    np.testing.assert_array_equal(irax.grad(lambda x: again(x).first["sum"])(X), np.ones(3))


def test_keys_are_texts():
    with pytest.raises(TypeError, match="jit: cache_key: expected a text or None, got 1"):
        irax.jit(shifted, cache_key=1)
