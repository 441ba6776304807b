"""Sums that are still to be taken along axes of a mesh, with the numbers that JAX 0.10.2 computes;
and the mesh of the context within a trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import irax
from irax import P, lax
from irax.sharding import AxisType, Mesh, get_abstract_mesh, use_abstract_mesh
from irax_runtime.iree import cpu

MESH = Mesh(
    np.array([cpu(i) for i in range(4)], object).reshape(2, 2), ("x", "y"), (AxisType.Explicit,) * 2
)
X = np.arange(1, 9, dtype=np.float32)
ROWS, PARTIAL = P("x"), P(unreduced={"x"})


@pytest.fixture(autouse=True)
def explicit() -> Iterator[None]:
    with irax.set_mesh(MESH):
        yield


def unreduced(v: Any) -> Any:
    return lax.pcast(2 * v, "x", to="unreduced")


def through_a_spec(x: Any) -> Any:
    y = irax.shard_map(unreduced, in_specs=ROWS, out_specs=PARTIAL)(x)
    return irax.shard_map(lambda v: 3 * lax.psum(v, "x"), in_specs=PARTIAL, out_specs=P())(y)


def of_reduced(v: Any) -> Any:
    squares = (lax.pcast(v, "x", to="varying") ** 2).sum()
    return lax.psum(squares * (1 + lax.axis_index("x")), "x")


PROGRAMS = {
    "psum": (
        irax.shard_map(lambda v: lax.psum(unreduced(v), "x"), in_specs=ROWS, out_specs=P()),
        [12, 16, 20, 24],
    ),
    "psum_scatter": (
        irax.shard_map(
            lambda v: lax.psum_scatter(unreduced(v), "x", tiled=True), in_specs=ROWS, out_specs=ROWS
        ),
        [12, 16, 20, 24],
    ),
    "specs": (through_a_spec, [36, 48, 60, 72]),
    "reshard": (
        lambda x: irax.reshard(irax.shard_map(unreduced, in_specs=ROWS, out_specs=PARTIAL)(x), P()),
        [12, 16, 20, 24],
    ),
    "all_gather": (
        irax.shard_map(
            lambda v: lax.all_gather(v, "x", to="reduced", tiled=True),
            in_specs=ROWS,
            out_specs=P(reduced={"x"}),
        ),
        X,
    ),
    "derivative": (
        irax.grad(lambda v: (through_a_spec(v) ** 2).sum()),
        [432, 576, 720, 864] * 2,
    ),
    "derivative of reduced": (
        irax.grad(irax.shard_map(of_reduced, in_specs=P(reduced={"x"}), out_specs=P())),
        6 * X,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_still_to_be_taken(name: str):
    program, expected = PROGRAMS[name]
    x = X if "of reduced" in name else irax.reshard(X, ROWS)
    np.testing.assert_allclose(program(x), expected)


def test_what_is_the_same_everywhere_is_no_summand():
    for to, spec in (("unreduced", P()), ("reduced", ROWS), ("varying", ROWS)):
        with pytest.raises(ValueError, match=r"lax\.pcast: an array of type"):
            irax.shard_map(lambda v, to=to: lax.pcast(v, "x", to=to), out_specs=P())(
                irax.reshard(X, spec)
            )
    rows = irax.reshard(X, ROWS)
    with pytest.raises(ValueError, match='"varying", "reduced" or "unreduced", got \'other\''):
        irax.shard_map(lambda v: lax.pcast(v, "x", to="other"), in_specs=ROWS, out_specs=P())(rows)
    with pytest.raises(ValueError, match="'z' is none of the axes along which"):
        irax.shard_map(unreduced, in_specs=ROWS, out_specs=P(unreduced={"z"}))(rows)


def test_another_mesh_of_the_context_within_a_trace():
    autos = MESH.abstract_mesh.update_axis_types(dict.fromkeys("xy", AxisType.Auto))
    found = []

    @irax.jit
    def program(v: Any) -> Any:
        with use_abstract_mesh(autos):
            found.append(get_abstract_mesh().axis_types)
            v = lax.with_sharding_constraint(v, ROWS)
            total = irax.shard_map(lambda u: lax.psum(u, "x"), in_specs=ROWS, out_specs=P())(v)
        found.append(get_abstract_mesh().axis_types)
        return v, total

    rows, total = program(X)
    assert found == [(AxisType.Auto,) * 2, (AxisType.Explicit,) * 2]
    assert rows.sharding.spec == ROWS
    np.testing.assert_allclose(total, [6, 8, 10, 12])


def test_collectives_may_be_forbidden_along_axes():
    y = np.arange(4, dtype=np.float32)
    a = irax.device_put(np.arange(16, dtype=np.float32).reshape(4, 4), P("x", "y"))
    b = irax.device_put(np.ones((4, 4), np.float32), P("y"))
    on_shards = lambda f, out: irax.shard_map(f, in_specs=P("y"), out_specs=out)(
        irax.reshard(y, P("y"))
    )
    forbidden = {
        "sum": lambda: a.sum(1),
        "max": lambda: a.max(),
        "argmax": lambda: a.argmax(1),
        "jit": irax.jit(lambda: irax.nn.softmax(a, 1)),
        "grad": lambda: irax.grad(lambda a: (a * a).sum())(a),
        "dot": lambda: irax.numpy.dot(a, b, out_sharding=P("x")),
        "gathers": lambda: irax.reshard(a, P("x")),
        "moves": lambda: irax.reshard(a, P("y", "x")),
        "psum": lambda: on_shards(lambda v: lax.psum(v, "y"), P()),
        "ppermute": lambda: on_shards(lambda v: lax.ppermute(v, "y", [(0, 1), (1, 0)]), P("y")),
    }
    allowed = {
        "add": lambda: a + 1,
        "other": lambda: a.sum(0),
        "transpose": lambda: a.T,
        "later": lambda: irax.numpy.dot(a, b, out_sharding=P("x", unreduced={"y"})),
        "divides": lambda: irax.reshard(b.T, P("x", "y")),
        "index": lambda: on_shards(lambda v: v + lax.axis_index("y"), P("y")),
        "lanes": lambda: irax.vmap(lambda v: lax.psum(v, "y"), axis_name="y")(y),
    }
    for _ in range(2):  # what was compiled before, too
        for call in (*allowed.values(), *forbidden.values()):
            call()
        with irax.sharding.no_collectives({"y"}):
            for call in allowed.values():
                call()
            for call in forbidden.values():
                with pytest.raises(Exception, match="along the axis 'y' is forbidden"):
                    call()
    with pytest.raises(TypeError, match="expected a set"), irax.sharding.no_collectives("y"):
        pass
