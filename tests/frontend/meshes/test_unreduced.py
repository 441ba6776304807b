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
from irax.errors import ShardingTypeError
from irax.sharding import AxisType, Mesh, get_abstract_mesh, use_abstract_mesh
from irax_compiler.ops.sums import WHOLE
from irax_runtime.iree.cpu import cpu

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


def sums(x: Any) -> Any:
    """The function of shards of which the specs follow from the argument's type."""
    return irax.shard_map(lambda v: lax.psum(v, "x"), out_specs=P())(x)


def summed_loss(w: Any, rows: Any) -> Any:
    return irax.shard_map(lambda w, v: lax.psum((w * v).sum(), "x"), out_specs=P())(w, rows)


TYPED = {  # of y, which is {U:x} with the sums 12, 16, 20, 24; of w = 1, 1 {R:x}; and of rows
    "infers": lambda y, w, rows: sums(y),
    "add": lambda y, w, rows: sums(y + y) / 2,
    "reshard": lambda y, w, rows: irax.reshard(y, P()),
    "moves": lambda y, w, rows: sums(irax.numpy.stack([-y, y])[1].reshape(2, 2).T).T.ravel(),
    "reduced": lambda y, w, rows: sums(y * irax.numpy.tile(w, 2)),
    "zeros": lambda y, w, rows: sums(y + irax.numpy.zeros_like(y)),
    "loop": lambda y, w, rows: sums(lax.fori_loop(0, 2, lambda i, c: c + c, y)) / 4,
    "branch": lambda y, w, rows: sums(lax.cond(True, lambda c: c, lambda c: c + c, y)),
    "jit": lambda y, w, rows: sums(irax.jit(lambda v: v)(y)),
    "checkpoint": lambda y, w, rows: sums(irax.checkpoint(lambda v: v)(y)),
    "accumulated gradients": lambda y, w, rows: irax.numpy.concatenate(
        [sums(y), sums(irax.grad(summed_loss)(w, rows) + irax.grad(summed_loss)(w, rows))]
    ),
    "gradient": lambda y, w, rows: irax.grad(lambda y: (sums(y + y) ** 2).sum())(y) / 8,
    "jvp": lambda y, w, rows: irax.jvp(sums, (y,), (y,))[1],
    "linearize": lambda y, w, rows: irax.linearize(sums, y)[1](y),
    "vmap": lambda y, w, rows: irax.vmap(sums)(irax.numpy.stack([y, y]))[0],
}


@pytest.mark.parametrize(
    ("name", "spmd"),
    [(name, "one_buffer") for name in TYPED]
    + [pytest.param(name, "threads", marks=pytest.mark.slow) for name in TYPED],
)
def test_types_tell_sums_still_to_be_taken(name: str, spmd: str):
    rows = irax.reshard(np.arange(8, dtype=np.float32).reshape(4, 2), ROWS)
    expected = np.array([12, 16, 20, 24, 24, 32] if "accum" in name else [12, 16, 20, 24])
    with irax.config.scoped("spmd", spmd):
        y = irax.shard_map(unreduced, in_specs=ROWS, out_specs=PARTIAL)(irax.reshard(X, ROWS))
        w = irax.reshard(np.ones(2, np.float32), P(reduced={"x"}))
        np.testing.assert_allclose(TYPED[name](y, w, rows), expected)
        np.testing.assert_allclose(irax.jit(TYPED[name])(y, w, rows), expected)


def test_shown_types_of_sums_still_to_be_taken():
    y = irax.shard_map(unreduced, in_specs=ROWS, out_specs=PARTIAL)(irax.reshard(X, ROWS))
    assert y.sharding.spec == irax.typeof(y).sharding.spec == PARTIAL
    assert str(irax.typeof(y)) == "float32[4]{U:x}"
    assert irax.eval_shape(lambda v: v + v, y).sharding.spec == PARTIAL
    assert irax.jit(lambda v: v + v).lower(y).out_info.sharding.spec == PARTIAL
    assert str(irax.typeof(irax.grad(lambda v: sums(v).sum())(y))) == "float32[4]{R:x}"
    assert irax.typeof(irax.reshard(y, P())).sharding.spec == P()
    shards = irax.reshard(np.arange(4.0), P("y", unreduced={"x"})).addressable_shards
    assert [s.data.tolist() for s in shards] == [[0, 1], [2, 3], [0, 0], [0, 0]]
    assert [s.data.devices() for s in shards] == [{s.device} for s in shards]
    assert not y.sharding.is_equivalent_to(irax.reshard(y, P()).sharding, 1)
    both = irax.reshard(X, P("y", unreduced={"x"}))
    assert str(irax.typeof(both + both)) == "float32[8@y]{U:x}"
    np.testing.assert_allclose(irax.reshard(both + both, P()), 2 * X)
    assert irax.device_put(y, cpu(0)).aval.sums == WHOLE
    ranks = [len(irax.typeof(x).sharding.spec) for x in (y, y.sum(), y.reshape(2, 2))]
    assert ranks == [1, 0, 2]
    partial = irax.shard_map(unreduced, in_specs=ROWS, out_specs=PARTIAL)
    assert irax.grad(lambda x: partial(x).sum())(irax.reshard(X, ROWS)).tolist() == [2] * 8


def test_what_takes_no_summands():
    y = irax.shard_map(unreduced, in_specs=ROWS, out_specs=PARTIAL)(irax.reshard(X, ROWS))
    w = irax.reshard(np.ones(4, np.float32), P(reduced={"x"}))
    plain = irax.numpy.ones(4)
    refused = [
        (r"not linear", lambda y: irax.numpy.sin(y)),
        (r"not linear", lambda y: y * y),
        (r"not linear", lambda y: y == y),
        (r"not linear", lambda y: y.max()),
        (r"unreduced along the same axes", lambda y: y + plain),
        (r"unreduced along the same axes", lambda y: y + 1),
        (r"unreduced along the same axes", lambda y: y.at[0].set(1.0)),
        (r"must be reduced along", lambda y: 2 * y),
        (r"must be reduced along", lambda y: y / plain),
        (r"must be reduced along", lambda y: y @ plain),
        (r"divided along axes", lambda y: w * irax.reshard(plain, ROWS)),
        (r"in_specs has P\(\) for", lambda y: irax.shard_map(sums, in_specs=P(), out_specs=P())(y)),
        (
            r"in_specs has P\(unreduced",
            lambda y: irax.shard_map(sums, in_specs=PARTIAL, out_specs=P())(plain),
        ),
        (
            r"pass it as an argument",
            lambda y: irax.shard_map(lambda v: -y, out_specs=P())(plain),
        ),
        (r"the result is no sum", lambda y: irax.numpy.ones_like(y)),
        (r"the result is no sum", lambda y: irax.numpy.ones(4, out_sharding=PARTIAL)),
    ]
    for text, call in refused:
        for program in (call, irax.jit(call)):
            with pytest.raises((ValueError, ShardingTypeError), match=text):
                program(y)
    with pytest.raises(ValueError, match="but in_shardings has"):
        irax.jit(lambda v: v, in_shardings=P())(y)
    with pytest.raises(AssertionError, match="is not divided as"):
        lax.with_sharding_constraint(y, P())


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
