"""Warnings of what JAX 0.12 has deprecated or refuses, and irax takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp

ComplexWarning = np.exceptions.ComplexWarning
EYES = jnp.stack([jnp.eye(2)] * 3)
COMPLEX = jnp.array([2.0 + 1.5j])

CASES: dict[str, tuple[type[Warning], str, Callable[[], Any], Any]] = {
    "astype": (DeprecationWarning, "imaginary parts", lambda: COMPLEX.astype("float32"), [2.0]),
    "array": (ComplexWarning, "discards", lambda: jnp.array(COMPLEX, dtype=int), [2]),
    "asarray": (ComplexWarning, "discards", lambda: jnp.asarray(COMPLEX, dtype=float), [2.0]),
    "convert": (
        *(ComplexWarning, "discards"),
        *(lambda: irax.lax.convert_element_type(COMPLEX, "float32"), [2.0]),
    ),
    "clip": (DeprecationWarning, "now min=", lambda: jnp.clip(jnp.arange(3), a_min=1), [1, 1, 2]),
    "in a scalar": (DeprecationWarning, "shape \\(\\)", lambda: 1 in jnp.array(1), True),
    "array in": (DeprecationWarning, "isin", lambda: jnp.ones(2) in jnp.ones(2), True),
    "solve_triangular": (
        *(FutureWarning, "solve_triangular: b of shape \\(3, 2\\)"),
        *(lambda: irax.scipy.linalg.solve_triangular(EYES, jnp.ones((3, 2)))[0], [1.0, 1.0]),
    ),
    "cho_solve": (
        *(FutureWarning, "taken for vectors"),
        *(lambda: irax.scipy.linalg.cho_solve((EYES, True), jnp.ones((3, 2)))[0], [1.0, 1.0]),
    ),
    "lu_solve": (
        *(FutureWarning, "lu_solve: b of shape"),
        *(lambda: irax.scipy.linalg.lu_solve(_factors(), jnp.ones((3, 2)))[0], [1.0, 1.0]),
    ),
    "dict_values": (DeprecationWarning, "dict_values", lambda: _leaves({1: 2}.values()), 1),
    "generator": (DeprecationWarning, "generator", lambda: _leaves(x for x in "ab"), 1),
    "zip": (DeprecationWarning, "zip", lambda: _leaves([zip("a", "b", strict=True), 2]), 2),
    "iterator": (DeprecationWarning, "list_iterator", lambda: _leaves([iter([1]), 2]), 2),
}


def _factors() -> Any:
    return irax.scipy.linalg.lu_factor(EYES)


def _leaves(tree: Any) -> int:
    return len(irax.tree.leaves(tree))


@pytest.mark.parametrize("name", CASES)
def test_a_warning(name: str):
    category, message, run, expected = CASES[name]
    with pytest.warns(category, match=message):
        found = run()
    assert np.array_equal(found, expected)


def test_what_does_not_warn():
    numbers: Iterator[int] = iter([1])
    assert irax.tree.leaves({"a": numbers}, is_leaf=lambda x: x is numbers) == [numbers]
    assert irax.tree.leaves([{1: 2}.keys(), range(2), {1, 2}]) == [{1: 2}.keys(), range(2), {1, 2}]
    assert COMPLEX.astype(bool).tolist() == [True]
    assert COMPLEX.real.astype(int).tolist() == [2]
    assert 1 in jnp.arange(2)
    assert jnp.clip(jnp.arange(3), 1).tolist() == [1, 1, 2]
    solved = irax.scipy.linalg.solve_triangular(EYES, jnp.ones((3, 2, 1)))
    assert solved.shape == (3, 2, 1)


def test_entering_a_mesh():
    mesh = irax.make_mesh((1,), ("x",))
    with pytest.warns(DeprecationWarning, match="with irax.set_mesh"), mesh:
        pass


def test_structs_have_the_dtypes_that_arrays_would_have():
    assert irax.ShapeDtypeStruct.like(np.ones(2)).dtype == jnp.asarray(np.ones(2)).dtype
    for number in (True, 2, 3.0, 4j, np.float32(5), np.float64(6)):
        struct, array = irax.ShapeDtypeStruct.like(number), jnp.asarray(number)
        assert (struct.shape, struct.dtype) == ((), array.dtype)
        assert struct.weak_type == array.weak_type
