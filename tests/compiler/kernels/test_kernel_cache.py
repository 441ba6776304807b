"""Kernels whose machine code other programs had, too."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import cache
from irax_compiler.iree import kernel_cache, local
from irax_compiler.iree.objects import Object

X = np.random.default_rng(0).normal(size=(70, 70)).astype(np.float32)


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache of its own."""
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path))
    irax.clear_caches()
    return tmp_path


def kernels(function: Callable[..., Any], *arguments: Any) -> tuple[list[np.ndarray], int, int]:
    """Return what a function gives, and how many of its kernels were new, and known."""
    jitted = irax.jit(function)
    found = jitted(*arguments)
    return [np.asarray(x) for x in found], *irax.explain(jitted)[-1].kernels


def first(x: Any, y: Any) -> Any:
    return jnp.tanh(x + y).sum(1), jnp.cumsum(x, 0) @ y


def edited(x: Any, y: Any) -> Any:
    return jnp.sin(x), jnp.tanh(x + y).sum(1), jnp.cumsum(x, 0) @ y


def check(found: list[np.ndarray]) -> None:
    np.testing.assert_allclose(found[-2], np.tanh(X + X).sum(1), rtol=1e-5)
    np.testing.assert_allclose(found[-1], np.cumsum(X, 0) @ X, rtol=1e-3, atol=1e-3)
    if len(found) == 3:
        np.testing.assert_allclose(found[0], np.sin(X), rtol=1e-5)


@pytest.mark.slow
def test_an_edited_program_compiles_new_kernels_alone() -> None:
    found, new, known = kernels(first, X, X)
    check(found)
    assert known == 0 < new
    found, more, known = kernels(edited, X, X)
    check(found)
    assert (more, known) == (1, new)


@pytest.mark.slow
def test_kernels_of_other_processes_are_found_on_disk(kept: Path) -> None:
    _, new, _ = kernels(first, X, X)
    kernel_cache._forget()
    found, more, known = kernels(edited, X, X)
    check(found)
    assert (more, known) == (1, new)
    kinds = [entry.kind for entry in cache.entries()]
    assert (kinds.count("kernel"), kinds.count("object")) == (new + 1, 2)
    labels = [kernel_cache.label(x.read()) for x in cache.entries() if x.kind == "kernel"]
    assert any(x.startswith("first: ") for x in labels)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"damaged")])
@pytest.mark.parametrize("kind", ["kernel", "object"])
def test_what_is_missing_is_compiled_again(
    kind: str, damage: Callable[[Path], Any], kept: Path
) -> None:
    _, new, _ = kernels(first, X, X)
    kernel_cache._forget()
    for path in list(kept.glob(f"{kind}-*")):
        damage(path)
    found, more, known = kernels(edited, X, X)
    check(found)
    assert (more, known) == (new + 1, 0)


@pytest.mark.slow
def test_nothing_is_kept_where_the_cache_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    for function in (first, edited):
        found, new, known = kernels(function, X, X)
        check(found)
        assert (new, known) == (0, 0)


@pytest.mark.slow
def test_deeper_networks_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def network(x: Any, weights: Any) -> Any:
        for w in weights:
            x = x + jnp.tanh(x @ w) / (1 + jnp.square(x).sum(-1, keepdims=True))
        return (x,)

    for depth in (3, 5):
        x, expected = X, X.astype(np.float64)
        for _ in range(depth):
            folded = 1 + np.square(expected).sum(-1, keepdims=True)
            expected = expected + np.tanh(expected @ X) / folded
        (found,), new, known = kernels(network, x, [X] * depth)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
        monkeypatch.setattr(local, "_machine_code", None)
    assert new == 0 < known


@pytest.mark.slow
def test_kernels_that_call_other_functions() -> None:
    """Functions of C's, of BLAS, and of the kernels' own."""
    x = np.abs(X).astype(np.float64) + 0.5

    def functions(x: Any, *more: Any) -> Any:
        return jnp.cos(x), irax.lax.digamma(x), irax.lax.lgamma(x) @ x, jnp.fmod(x, 0.3)

    with irax.enable_x64(True):
        first, new, _ = kernels(functions, x)
        again, more, known = kernels(lambda x: (*functions(x), x * 2), x)
    assert (more, known) == (1, new)
    for a, b in zip(first, again, strict=False):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(first[0], np.cos(x), rtol=1e-12)


@pytest.mark.slow
def test_other_constants_and_sizes_are_other_kernels() -> None:
    for function, arguments in [
        (lambda x: (jnp.sin(x) * 2,), [X]),
        (lambda x: (jnp.sin(x) * 3,), [X]),
        (lambda x: (jnp.sin(x) * 2,), [X[:, :60]]),
    ]:
        _, new, known = kernels(function, *arguments)
        assert (new, known) == (1, 0)


@pytest.mark.slow
def test_temporary_files_are_removed(
    kept: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    kernels(first, X, X)
    check(kernels(edited, X, X)[0])
    assert not [*folder.iterdir(), *kept.glob("unfinished-*")]


@pytest.mark.slow
def test_a_folder_may_have_any_name(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRAX_CACHE_DIR", str(kept / 'it\'s a $folder & "more"'))
    kernels(first, X, X)
    found, new, known = kernels(edited, X, X)
    check(found)
    assert new == 1 < known


@pytest.mark.slow
def test_threads_link_kernels_at_once() -> None:
    kernels(first, X, X)
    found: dict[int, tuple[list[np.ndarray], int, int]] = {}

    def compiled(number: int) -> None:
        def program(x: Any, y: Any) -> Any:
            return x + number, *first(x, y)

        found[number] = kernels(program, X, X)

    threads = [threading.Thread(target=compiled, args=(i,)) for i in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, (results, new, known) in found.items():
        np.testing.assert_array_equal(results[0], X + np.float32(number))
        check(results[1:])
        assert new == 1 <= known
    assert len(found) == 3


@pytest.mark.slow
def test_objects_become_parts_of_others(kept: Path) -> None:
    kernels(first, X, X)
    (path,) = kept.glob("object-*")
    data = path.read_bytes()[32:]
    assert b"irax_" in data
    with pytest.raises(ValueError, match="query"):
        Object(data).part("again")
    for damaged in (b"no object", data[:40]):
        with pytest.raises(ValueError, match="object"):
            Object(damaged)


@pytest.mark.slow
def test_processes_may_have_compiled_one_kernel_at_a_time(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sums(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, y: (function(x).cumsum(0), jnp.tanh(x + y).sum(1))

    kernels(sums(jnp.sin), X, X)
    other = kept / "other"
    monkeypatch.setenv("IRAX_CACHE_DIR", str(other))
    kernels(sums(jnp.cos), X, X)
    for path in other.iterdir():
        path.rename(kept / path.name)
    monkeypatch.setenv("IRAX_CACHE_DIR", str(kept))
    kernel_cache._forget()

    def both(x: Any, y: Any) -> Any:
        return jnp.sin(x).cumsum(0), jnp.cos(x).cumsum(0), jnp.tanh(x + y).sum(1)

    found, new, known = kernels(both, X, X)
    np.testing.assert_allclose(found[0], np.sin(X).cumsum(0), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found[1], np.cos(X).cumsum(0), rtol=1e-3, atol=1e-4)
    assert new == 0 < known
