"""Operations outside of `jit` run where any of their operands was put, whichever it is."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.frontend import (  # noqa: F401  which register their cases
    case_checks,
    lax_cases,
    linalg_cases,
    nn_cases,
    numpy_cases,
    scipy_cases,
)
from tests.frontend.numpy_operands import CASES

import irax
import irax.numpy as jnp
from irax import P, lax
from irax.core.array import ConcreteArray
from irax.sharding import Mesh, NamedSharding
from irax_runtime.iree.cpu import cpu

HERE, THERE, ELSEWHERE = cpu(0), cpu(1), cpu(2)
X = np.arange(4, dtype=np.float32)

READ_BY_PYTHON = {
    *("numpy.compress", "numpy.extract", "numpy.delete", "numpy.repeat"),
    *("numpy.diag_indices_from", "numpy.tril_indices_from", "numpy.triu_indices_from"),
    "lax.broadcast_like",
}
"""Functions that read no more than the shape of an operand, or make one of its elements."""


def put(x: Any, place: Any = THERE) -> Any:
    return irax.device_put(jnp.asarray(x), place)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("module", sorted({case.module for case in CASES}))
def test_each_operand_of_a_function_counts(module: str):
    missed = set()
    for case in CASES:
        name = f"{case.module}.{case.name}"
        if case.module != module or name in READ_BY_PYTHON:
            continue
        call, arrays = case_checks.bound(case, 0)
        function = operator.attrgetter(name)(irax)
        for k in range(len(arrays) if all(x.size for x in arrays) else 0):
            given = [put(x) if i == k else jnp.asarray(x) for i, x in enumerate(arrays)]
            leaves = irax.tree.leaves(call(function, given))
            found = [x for x in leaves if isinstance(x, ConcreteArray)]
            if found and {x.device for x in found if x.committed} != {THERE}:
                missed.add((name, k))
    assert not missed


INDEX = np.array([0, -2, 1])


@pytest.mark.parametrize(
    "use",
    [
        lambda x, i: x[i],
        lambda x, i: x[i[1]],
        lambda x, i: x[None, i],
        lambda x, i: x[irax.ds(i[0], 2)],
        lambda x, i: x[i[:0]],
        lambda x, i: x.at[i].get(),
        lambda x, i: x.at[i + 7].get(mode="fill", fill_value=5),
        lambda x, i: x.at[i].set(1.0),
        lambda x, i: x.at[i].add(x[:3]),
        lambda x, i: x.at[i + 7].mul(2.0),
        lambda x, i: x.at[i + 7].set(3.0, mode="clip"),
        lambda x, i: x.at[i].apply(jnp.exp),
        lambda x, i: x.at[i].power(2.0),
        lambda x, i: jnp.put(x, i, 1.0, inplace=False),
        lambda x, i: jnp.put_along_axis(x, i, 1.0, 0, inplace=False),
        lambda x, i: jnp.add.at(x, i, 1.0, inplace=False),
        lambda x, i: jnp.insert(x, i, 1.0),
        lambda x, i: irax.ops.segment_sum(x[:3], abs(i), 4),
        lambda x, i: lax.switch(i[0], [lambda x: x, lambda x: -x], x),
        lambda x, i: lax.cond(i[0] > 0, lambda x: x, lambda x: -x, x),
        lambda x, i: irax.pure_callback(lambda i, x: x[i], irax.ShapeDtypeStruct((3,), "f4"), i, x),
        lambda x, i: x[i] + irax.random.uniform(irax.random.key(i[0])),
        lambda x, i: irax.random.uniform(irax.random.fold_in(irax.random.key(0), i[0])),
        lambda x, i: irax.random.key_data(irax.random.split(irax.random.key(0))[i[::2]]),
    ],
)
def test_results_are_where_an_index_was_put(use: Callable[..., Any]):
    x, free = jnp.asarray(X), jnp.asarray(INDEX)
    found = use(x, put(INDEX))
    assert found.committed
    assert found.device is THERE
    np.testing.assert_array_equal(found, use(x, free))
    assert not use(x, free).committed


def test_an_array_and_an_index_on_two_devices():
    x, i = put(X), put(INDEX, ELSEWHERE)
    for use in (lambda: x[i], lambda: x[i[0]], lambda: x.at[i].set(1.0), lambda: x.at[i].get()):
        with pytest.raises(ValueError, match=r"x\S*\[...\].*incompatible devices: .*device_put"):
            use()
    with pytest.raises(ValueError, match=r"lax\.cond: received incompatible devices"):
        lax.cond(i[0] > 0, jnp.sin, jnp.cos, x)


def test_a_mask_is_read_on_the_host():
    mask = put(X > 1)
    for found in (jnp.asarray(X)[mask], jnp.asarray(X).at[mask].set(0.0)):
        assert not found.committed


def test_an_index_that_devices_of_a_mesh_have():
    mesh = Mesh(np.array([cpu(n) for n in range(4)], dtype=object).reshape(2, 2), ("a", "b"))
    rows = NamedSharding(mesh, P("a"))
    found = jnp.asarray(X)[put([0, 2, 1, 3], rows)]
    assert found.sharding == rows
    np.testing.assert_array_equal(found, [0, 2, 1, 3])


def test_bins_are_counted_where_the_numbers_were_put():
    found = jnp.bincount(put([0, 2, 2]))
    counts, edges = jnp.histogram(put(X), 2)
    assert found.device is counts.device is edges.device is THERE
    np.testing.assert_array_equal(found, [1, 0, 2])
    np.testing.assert_array_equal(counts, [2, 2])
