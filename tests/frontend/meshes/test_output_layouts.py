"""The layouts of results of jitted functions, as JAX 0.10 chooses them: where operands are divided
otherwise, along dimensions that an op needs whole, and where dimensions are split.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import P, lax
from irax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, use_abstract_mesh
from irax_runtime.iree.cpu import cpu

DEVICES = np.array([cpu(n) for n in range(8)], dtype=object)
TWO = Mesh(DEVICES.reshape(4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
THREE = Mesh(DEVICES.reshape(2, 2, 2), ("a", "b", "c"), axis_types=(AxisType.Auto,) * 3)
X = np.random.default_rng(0).permuted(np.arange(256.0, dtype=np.float32)).reshape(16, 16)
BOTH = P(("x", "y"))
OTHER = P(("y", "x"))


def run(call: Callable[..., Any], specs: list[P], mesh: Mesh = TWO) -> P:
    """The layout of a result, whose shards are compared with the result of whole arrays."""
    found = irax.jit(call)(*(irax.device_put(X, NamedSharding(mesh, spec)) for spec in specs))
    expected = np.asarray(call(*map(jnp.asarray, [X] * len(specs))))
    assert isinstance(found, irax.Array)
    assert isinstance(found.sharding, NamedSharding)
    for shard in found.addressable_shards:
        np.testing.assert_allclose(shard.data, expected[shard.index], rtol=1e-5)
    return found.sharding.spec


SUMS = [
    (P("x"), P("y"), P()),
    (P("x"), P("y", "x"), P(None, "x")),
    (P("x"), BOTH, BOTH),
    (P("x"), OTHER, P()),
    (P("x"), P(None, ("x", "y")), P(None, ("x", "y"))),
    (P(None, "x"), P("x"), P(None, "x")),
    (P("x", "y"), P("y", "x"), P()),
    (BOTH, P("x", "y"), BOTH),
    (P("x"), P(None, "y"), P("x", "y")),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("one", "other", "expected"), SUMS)
def test_operands_that_are_divided_otherwise(one: P, other: P, expected: P) -> None:
    assert run(jnp.add, [one, other]) == expected
    assert run(lambda x, y: jnp.where(x > 8, x, y), [one, other]) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (P("x", "y"), P("x"), P("x")),
        (P("x", "y"), P("x", "y"), P("x", "y")),
        (P("x", "y"), P(None, "x"), P("x")),
        (P("y"), P(None, ("x", "y")), P("y", "x")),
        (P(None, "x"), P(None, "x"), P(None, "x")),
    ],
)
def test_products(one: P, other: P, expected: P) -> None:
    assert run(jnp.matmul, [one, other]) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (P("x", "y"), P("y", "x"), P("x", "y")),
        (P("y"), P(None, ("x", "y")), P("y", "x")),
        (P("x"), P(None, "y"), P("x", "y")),
    ],
)
def test_rows_that_are_broadcast_follow(one: P, other: P, expected: P) -> None:
    assert run(lambda x, y: x + y[0], [one, other]) == expected


STAYING = {
    "sort": lambda x: jnp.sort(x, 0),
    "argsort": lambda x: jnp.argsort(x, 0),
    "cumsum": lambda x: jnp.cumsum(x, 0),
    "cummax": lambda x: lax.cummax(x, 0),
    "reverse": lambda x: x[::-1],
    "write a row": lambda x: x.at[0].set(1.0),
    "add to rows": lambda x: x.at[np.array([1, 1, 3])].add(1.0),
    "update": lambda x: lax.dynamic_update_slice(x, x[:2], (4, 0)),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", STAYING)
@pytest.mark.parametrize("spec", [P("x"), P("x", "y"), BOTH, OTHER])
def test_dimensions_that_an_op_needs_whole_stay_divided(name: str, spec: P) -> None:
    assert run(STAYING[name], [spec]) == spec


@pytest.mark.parametrize(
    ("spec", "shape", "expected"),
    [
        (BOTH, (4, 4, 16), P("x", "y")),
        (OTHER, (4, 4, 16), P("y")),
        (OTHER, (2, 8, 16), P("y", "x")),
        (P(None, ("x", "y")), (16, 4, 4), P(None, "x", "y")),
        (BOTH, (4, 64), P("x", "y")),
        (BOTH, (256,), BOTH),
        (P("x", "y"), (256,), P("x")),
    ],
)
def test_dimensions_that_are_split(spec: P, shape: tuple[int, ...], expected: P) -> None:
    assert run(lambda x: x.reshape(shape), [spec]) == expected


@pytest.mark.parametrize(
    ("spec", "shape", "expected"),
    [
        (P(("a", "b")), (2, 8, 16), P("a", "b")),
        (P(("a", "b"), "c"), (2, 8, 16), P("a", "b", "c")),
        (P(("a", "b", "c")), (4, 4, 16), P(("a", "b"), "c")),
        (P("c", ("a", "b")), (32, 8), P("c", "b")),
        (P(None, ("b", "c")), (32, 8), P(None, "c")),
        (P(("a", "b", "c")), (2, 128), P("a", ("b", "c"))),
    ],
)
def test_dimensions_that_are_divided_along_three_axes(
    spec: P, shape: tuple[int, ...], expected: P
) -> None:
    assert run(lambda x: x.reshape(shape), [spec], THREE) == expected
    again = run(lambda x: x.reshape(shape).reshape(16, 16), [spec], THREE)
    if P(("a", "b", "c")) == spec:
        assert again == spec


EXPLICIT = Mesh(DEVICES.reshape(4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
JOINED = AbstractMesh((8,), ("A",), axis_types=(AxisType.Explicit,))
OTHERWISE = AbstractMesh((2, 4), ("a", "b"), axis_types=(AxisType.Explicit,) * 2)


def test_another_mesh_whose_axes_join_those_of_the_program() -> None:
    @irax.jit
    def rows(x: irax.Array) -> irax.Array:
        with use_abstract_mesh(JOINED):
            return irax.reshard(x, P("A")) * 2

    @irax.jit
    def there_and_back(x: irax.Array) -> irax.Array:
        return irax.reshard(rows(x), P("y", "x")) + 1

    with irax.set_mesh(EXPLICIT):
        given = irax.device_put(X, NamedSharding(EXPLICIT, P("x", "y")))
        for call, spec, expected in (
            (rows, BOTH, X * 2),
            (there_and_back, P("y", "x"), X * 2 + 1),
        ):
            found = call(given)
            assert found.sharding == NamedSharding(EXPLICIT, spec)
            for shard in found.addressable_shards:
                np.testing.assert_array_equal(shard.data, expected[shard.index])


def test_another_mesh_that_divides_devices_otherwise() -> None:
    def rows(x: irax.Array) -> irax.Array:
        with use_abstract_mesh(OTHERWISE):
            return irax.reshard(x, P("a"))

    with irax.set_mesh(EXPLICIT), pytest.raises(ValueError, match="join its axes in the other"):
        irax.jit(rows)(irax.device_put(X, NamedSharding(EXPLICIT, P("x"))))


@pytest.mark.parametrize("spec", [P("x", "y"), P("y", "x"), BOTH], ids=str)
def test_parts_that_cannot_be_divided_leave_the_layout(spec: P) -> None:
    """Slices of 15 elements are whole, and what is put together of them is divided again."""
    for call in (
        lambda x: jnp.roll(x, 1, 0),
        lambda x: jnp.roll(x, (1, 2), (0, 1)),
        lambda x: jnp.concatenate([2 * x[1:], x[:1] + 1]),
    ):
        assert run(call, [spec]) == spec
