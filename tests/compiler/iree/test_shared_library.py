"""The linker of libraries of kernels, beside the one that comes with IREE."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler.iree import kernel_cache, shared_library
from irax_compiler.iree.linking import Linker
from irax_compiler.iree.objects import Object

X = np.random.default_rng(0).normal(size=(40, 40))


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache of its own."""
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path))
    irax.clear_caches()
    return tmp_path


def arithmetic(x: Any) -> Any:
    return jnp.tanh(x * 2 + 1)


def library_functions(x: Any) -> Any:
    """Functions of C's mathematics, and of BLAS."""
    return jnp.sin(x) @ x + jnp.arctan2(x, 2.0)


def halves(x: Any) -> Any:
    return jnp.sort(x.astype(jnp.float16), 0).astype(x.dtype)


def constants(x: Any) -> Any:
    return x[:, ::-1] * np.linspace(0, 1, 40) + np.arange(40)[:, None]


def neighbours(x: Any) -> Any:
    """The kernel has pieces, of which a workgroup chooses one by a table of addresses."""
    cubes = jnp.stack([x * i for i in range(12)])
    return sum(jnp.roll(cubes, by, axis) for by in (1, -1) for axis in range(3))


PROGRAMS = [
    library_functions,
    neighbours,
    *(pytest.param(x, marks=pytest.mark.slow) for x in (arithmetic, halves, constants)),
]


def refused(*given: Any) -> Any:
    raise shared_library.Refused("everything")


def results(function: Callable[[Any], Any]) -> np.ndarray:
    irax.clear_caches()
    kernel_cache._forget()
    with irax.enable_x64(True):
        return np.asarray(irax.jit(function)(X))


@pytest.mark.slow
@pytest.mark.parametrize("function", PROGRAMS)
def test_libraries_do_what_those_of_another_linker_do(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patches:
        if platform.machine() == "x86_64":  # elsewhere there is just the other linker
            patches.setattr(Linker, "_by_command", refused)
        own = results(function)
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path / "other"))
    monkeypatch.setattr(shared_library, "link", refused)
    np.testing.assert_array_equal(own, results(function))


@pytest.mark.slow
def test_two_objects_may_have_the_same_kernel(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the other linker, too."""

    def of(*functions: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: [f(x) for f in functions]

    parts = [lambda x: jnp.tanh(x).sum(0), lambda x: jnp.cumsum(x, 1), lambda x: jnp.exp(x) + 1]
    monkeypatch.setattr(shared_library, "link", refused)
    for i, functions in enumerate((parts[:2], parts[1:])):
        monkeypatch.setenv("IRAX_CACHE_DIR", str(kept / f"of {i}"))
        irax.jit(of(*functions))(X)
        kernel_cache._forget()
    for folder in ("of 0", "of 1"):
        for path in (kept / folder).iterdir():
            shutil.copy(path, kept)
    monkeypatch.setenv("IRAX_CACHE_DIR", str(kept))
    jitted = irax.jit(of(*parts))
    found = jitted(X)
    new, known = irax.explain(jitted)[-1].kernels
    assert new == 0 < known
    expected = [np.tanh(X).sum(0), np.cumsum(X, 1), np.exp(X) + 1]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_what_is_unknown_is_refused(kept: Path) -> None:
    results(arithmetic)
    (path,) = kept.glob("object-*")
    data = path.read_bytes()[32:]
    with pytest.raises(shared_library.Refused, match="query"):
        shared_library.link([Object(data)])
    with pytest.raises(shared_library.Refused, match="no-such-file"):
        shared_library.name_of(kept / "no-such-file")
