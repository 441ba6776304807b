"""Types that tell how arrays are divided along explicit axes, as JAX 0.10.2's types do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.differential.meshes.partitions import evaluate_partitioned

import irax
import irax.numpy as jnp
from irax import P
from irax.core.array import ConcreteArray
from irax.core.shardings.partition_specs import axes_by_dimension
from irax.scipy.linalg import solve_triangular
from irax.sharding import AxisType, Mesh, auto_axes, explicit_axes
from irax_runtime.iree.cpu import cpu

ROWS, COLUMNS = P("x", None), P(None, "x")


def mesh(kind: AxisType = AxisType.Explicit, sizes: tuple[int, int] = (2, 2)) -> Mesh:
    devices = np.array([cpu(i) for i in range(4)], object).reshape(sizes)
    return Mesh(devices, ("x", "y"), (kind,) * 2)


@pytest.fixture(autouse=True)
def explicit() -> Iterator[Mesh]:
    with irax.set_mesh(mesh()) as found:
        yield found


def put(spec: P, *shape: int) -> Any:
    return irax.device_put(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), spec)


def spec_of(x: Any) -> Any:
    return irax.typeof(x).sharding.spec


PLACES = np.array([1, 0], np.int32)
OPERATIONS = {
    "product": (lambda x, w: x @ w, P("x", "y")),
    "product of columns": (lambda x, w: x @ irax.reshard(w, ROWS), ROWS),
    "dot": (lambda x, w: jnp.dot(x, w, out_sharding=P(None, "y")), P(None, "y")),
    "einsum": (lambda x, w: jnp.einsum("ij,jk->ik", x, w, out_sharding=P()), P(None, None)),
    "add": (lambda x, w: x + jnp.ones(8), ROWS),
    "sum of rows": (lambda x, w: x.sum(0), P(None)),
    "sum of columns": (lambda x, w: x.sum(1), P("x")),
    "transpose": (lambda x, w: x.T, COLUMNS),
    "split": (lambda x, w: x.reshape(2, 2, 8), P("x", None, None)),
    "join": (lambda x, w: x.reshape(32), P("x")),
    "join of two": (lambda x, w: irax.reshard(x, P("x", "y")).reshape(32), P(("x", "y"))),
    "split of two": (
        lambda x, w: irax.reshard(x, P(("x", "y"))).reshape(2, 2, 8),
        P("x", "y", None),
    ),
    "reshard": (lambda x, w: irax.reshard(x, P(None, "y")), P(None, "y")),
    "triangular solve": (lambda x, w: solve_triangular(8 * jnp.eye(8), w), P(None, "y")),
    "tanh": (lambda x, w: jnp.tanh(x), ROWS),
    "where": (lambda x, w: jnp.where(x > 0, x, 0), ROWS),
    "sort": (lambda x, w: jnp.sort(x, 1), ROWS),
    "relu": (lambda x, w: irax.nn.relu(x), ROWS),
    "gradient": (lambda x, w: irax.grad(lambda v: (v**2).sum())(x), ROWS),
    "gradient of weights": (
        lambda x, w: irax.grad(lambda v: ((x @ v) ** 2).sum())(w),
        P(None, "y"),
    ),
    "second gradient": (
        lambda x, w: irax.grad(lambda u: (irax.grad(lambda v: ((x @ v) ** 2).sum())(u) ** 2).sum())(
            irax.reshard(w, P())
        ),
        P(None, None),
    ),
    "auto": (lambda x, w: auto_axes(lambda v: v * 2, out_sharding=ROWS)(x), ROWS),
    "elements": (lambda x, w: x.at[np.array([0, 1])].get(out_sharding=P(None, "y")), P(None, "y")),
    "taken columns": (lambda x, w: jnp.take(x, PLACES, 1), ROWS),
    "column": (lambda x, w: x[:, 0], P("x")),
    "columns": (lambda x, w: x[:, 1:3], ROWS),
    "write columns": (lambda x, w: x.at[:, 1:3].set(0.0), ROWS),
    "scatter columns": (lambda x, w: x.at[:, PLACES].set(0.0), ROWS),
    "write rows": (lambda x, w: x.at[PLACES].add(1.0, out_sharding=ROWS), ROWS),
    "cumsum of columns": (lambda x, w: jnp.cumsum(x, 1), ROWS),
    "top_k of rows": (lambda x, w: irax.lax.top_k(x, 2)[0], ROWS),
    "argmax of columns": (lambda x, w: jnp.argmax(x, 1), P("x")),
    "zeros": (lambda x, w: jnp.zeros((4, 8), out_sharding=ROWS), ROWS),
    "rows": (lambda x, w: x[:2], ROWS),
    "every other row": (lambda x, w: irax.lax.slice(x, (0, 0), (4, 8), (2, 1)), ROWS),
    "dynamic rows": (lambda x, w: irax.lax.dynamic_slice(x, (PLACES[0], 0), (2, 8)), ROWS),
    "rows updated": (
        lambda x, w: irax.lax.dynamic_update_slice(x, 2 * x[:2], (PLACES[0], 0)),
        ROWS,
    ),
    "write all": (lambda x, w: x.at[:].set(0.0), ROWS),
    "reverse": (lambda x, w: x[::-1], ROWS),
    "pad": (lambda x, w: jnp.pad(x, 1), ROWS),
    "pad within": (lambda x, w: irax.lax.pad(x, 0.0, ((0, 1, 1), (0, 0, 0))), ROWS),
    "concatenate": (lambda x, w: jnp.concatenate([x, x]), ROWS),
    "stack": (lambda x, w: jnp.stack([x, x]), P(None, "x", None)),
    "halves": (lambda x, w: jnp.split(x, 2)[1], ROWS),
    "windows": (
        lambda x, w: irax.lax.reduce_window(x, 0.0, irax.lax.add, (3, 1), (1, 1), "SAME"),
        ROWS,
    ),
    "Fourier": (lambda x, w: jnp.fft.fft(x, axis=0), ROWS),
    "convolution": (lambda x, w: jnp.convolve(x[:, 0], jnp.ones(3), "same"), P("x")),
    "bits": (lambda x, w: irax.lax.bitcast_convert_type(x, "int16"), P("x", None, None)),
    "like": (lambda x, w: jnp.ones_like(x), ROWS),
    "barrier": (lambda x, w: irax.lax.optimization_barrier(x), ROWS),
    "grouped convolution": (
        lambda x, w: irax.lax.conv_general_dilated(
            x.reshape(4, 2, 4), np.ones((2, 1, 3), np.float32), (1,), "SAME", feature_group_count=2
        ),
        P("x", None, None),
    ),
    "batch of factors": (
        lambda x, w: jnp.linalg.cholesky(3 * jnp.eye(2) + 0 * x.reshape(4, 2, 4)[..., :2]),
        P("x", None, None),
    ),
    "batch of solutions": (
        lambda x, w: jnp.linalg.solve(jnp.eye(2) + 0 * x.reshape(4, 2, 4)[..., :2], x[:, :2, None]),
        P("x", None, None),
    ),
    "searchsorted": (lambda x, w: jnp.searchsorted(jnp.arange(9.0), x), ROWS),
    "interp": (lambda x, w: jnp.interp(x, jnp.arange(9.0), jnp.arange(9.0) ** 2), ROWS),
    "gcd": (lambda x, w: jnp.gcd(x.astype(int), 4), ROWS),
    "argsort": (lambda x, w: jnp.argsort(-x, 1), ROWS),
    "sort in auto_axes": (
        lambda x, w: auto_axes(lambda v: jnp.sort(-v, 0), out_sharding=ROWS)(x),
        ROWS,
    ),
    "vmap of a gradient": (
        lambda x, w: irax.vmap(irax.grad(lambda row: (row**2).sum()))(x),
        ROWS,
    ),
    "vmap of a reshard": (
        lambda x, w: irax.vmap(lambda v: irax.reshard(v, P("y")))(x),
        P("x", "y"),
    ),
    "clamp": (lambda x, w: irax.lax.clamp(x, whole(x), 2 * x), P(None, None)),
    "clamped": (lambda x, w: irax.lax.clamp(whole(x), x + 1, whole(3 * x)), ROWS),
    "general fold": (
        lambda x, w: irax.lax.reduce(x, np.float32(0), lambda a, b: a + 1 * b, (1,)),
        P("x"),
    ),
    "where of a broadcast condition": (lambda x, w: jnp.where(x[:, :1] > 8, x, whole(x)), ROWS),
    "tile": (lambda x, w: jnp.tile(x, (1, 2)), ROWS),
    "repeat": (lambda x, w: jnp.repeat(x, 2, axis=1), ROWS),
    "trace of a batch": (lambda x, w: jnp.trace(x.reshape(4, 2, 4), axis1=1, axis2=2), P("x")),
    "rows of steps": (lambda x, w: irax.lax.map(jnp.sin, x.T), COLUMNS),
    "carried": (lambda x, w: irax.lax.scan(lambda c, v: (c + v, c), x[:, 0], x.T)[0], P("x")),
    "branches": (
        lambda x, w: irax.lax.cond(w.sum() > 0, lambda: x[:2], lambda: 2 * x[2:]),
        ROWS,
    ),
}
"""Operations, and the layouts that JAX's types have for them."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_types_of_results(name: str):
    operation, expected = OPERATIONS[name]
    x, w = put(ROWS, 4, 8), put(P(None, "y"), 8, 6)
    assert spec_of(operation(x, w)) == expected
    found = []

    def traced(x: Any, w: Any) -> Any:
        result = operation(x, w)
        found.append(spec_of(result))
        return result

    irax.eval_shape(traced, x, w)
    assert found == [expected]


@pytest.mark.parametrize("name", OPERATIONS)
def test_programs_divide_results_as_types_tell(name: str):
    operation, expected = OPERATIONS[name]
    x, w = put(ROWS, 4, 8), put(P(None, "y"), 8, 6)

    def main(x: Any, w: Any) -> Any:
        return operation(x, w)

    module = irax.jit(main).lower(x, w).compiler_ir()
    assert module is not None
    arrays = [np.asarray(x), np.asarray(w)]
    specs = [(("x",), ()), ((), ("y",))]
    (found,), (spec,) = evaluate_partitioned(module, arrays, {"x": 2, "y": 2}, specs)
    np.testing.assert_allclose(found, operation(x, w), rtol=1e-5, atol=1e-5)
    assert spec == axes_by_dimension(expected, found.ndim)


def test_derivatives_through_complex_numbers():
    f = irax.jit(lambda x: (x * 1j).imag)
    assert irax.grad(f)(2.0) == irax.jit(irax.grad(f))(2.0) == 1
    x = irax.device_put(np.ones((4, 2), np.complex64), P("x"))
    viewed = irax.jit(lambda x: x.view(np.float32))(x)
    assert viewed.sharding.spec == ROWS
    np.testing.assert_array_equal(viewed, np.tile([1, 0], (4, 2)))


def test_jacobians_are_divided_as_results_and_arguments_are():
    x = put(ROWS, 4, 8)

    def sums(x: Any) -> Any:
        return x.sum(1)

    for transform, expected in (
        (irax.jacfwd, P("x", None, None)),
        (irax.jacrev, P(None, "x", None)),
    ):
        assert irax.eval_shape(transform(sums), x).sharding.spec == expected
        assert irax.jit(transform(sums))(x).sharding.spec == expected


AMBIGUOUS = {
    "sort": lambda x, w: jnp.sort(x, 0),
    "argsort": lambda x, w: jnp.argsort(x, 0),
    "top_k": lambda x, w: irax.lax.top_k(x.T, 2),
    "cumsum": lambda x, w: jnp.cumsum(x, 0),
    "windows": lambda x, w: irax.lax.reduce_window(x, 0.0, irax.lax.add, (2, 1), (1, 1), "VALID"),
    "take": lambda x, w: jnp.take(x, PLACES, 0),
    "gather": lambda x, w: x[PLACES],
    "row": lambda x, w: x[0],
    "rows": lambda x, w: x[:3],
    "dynamic rows": lambda x, w: irax.lax.dynamic_slice(x, (PLACES[0], 0), (3, 8)),
    "pad": lambda x, w: jnp.pad(x, ((1, 0), (0, 0))),
    "split": lambda x, w: jnp.split(x, 4),
    "roll": lambda x, w: jnp.roll(x, 1, 0),
    "differences": lambda x, w: jnp.diff(x, axis=0),
    "flat": lambda x, w: x.T.reshape(32),
    "tile": lambda x, w: jnp.tile(x, (2, 1)),
    "scan of rows": lambda x, w: irax.lax.map(jnp.sin, x),
    "dynamic row": lambda x, w: x[jnp.argmax(w)],
    "scatter": lambda x, w: x.at[PLACES].set(0.0),
    "add to rows": lambda x, w: x.at[PLACES].add(1.0),
    "write a row": lambda x, w: x.at[0].set(0.0),
    "both contracted": lambda x, w: x.T @ x,
    "concatenate": lambda x, w: jnp.concatenate([x, whole(x)]),
    "stack": lambda x, w: jnp.stack([x, whole(x)]),
    "where": lambda x, w: jnp.where(x > 0, x, whole(x)),
    "select": lambda x, w: irax.lax.select(whole(x) > 0, x, x),
    "update": lambda x, w: irax.lax.dynamic_update_slice(whole(x), x[:2], (0, 0)),
    "where of a whole condition": lambda x, w: jnp.where(whole(x) > 0, x, x),
    "write all": lambda x, w: whole(x).at[:].set(x),
    "add to all": lambda x, w: whole(x).at[:].add(x),
    "repeat": lambda x, w: jnp.repeat(x, 2, axis=0),
    "diagonal": lambda x, w: jnp.diagonal(x),
    "trace": lambda x, w: jnp.trace(x),
    "einsum of a diagonal": lambda x, w: jnp.einsum("ii->i", x[:, :4]),
    "joined with a one": lambda x, w: x.reshape(32, 1),
    "split with a one": lambda x, w: x.sum(1, keepdims=True).reshape(2, 2),
    "sort of pairs": lambda x, w: irax.lax.sort((x, whole(x))),
    "updates of a whole array": lambda x, w: whole(x).at[:, PLACES].add(x[:, :2]),
    "places": lambda x, w: whole(x)[x[:, 0].astype(int) // 8],
    "split and joined": lambda x, w: x.reshape(8, 4),
    "joined twice": lambda x, w: x.reshape(2, 2, 8, 1).reshape(4, 2, 4).reshape(8, 2, 2),
    "joined with a gap": lambda x, w: irax.reshard(x.reshape(4, 2, 4), P("x", None, "y")).ravel(),
    "kernel": lambda x, w: irax.lax.conv(x.reshape(4, 2, 4), x.reshape(4, 2, 4), (1,), "SAME"),
    "channels": lambda x, w: irax.lax.conv(
        irax.reshard(x.reshape(4, 2, 4), P(None, "x")), jnp.ones((2, 2, 3)), (1,), "SAME"
    ),
    "factors": lambda x, w: jnp.linalg.qr(x),
    "solve": lambda x, w: solve_triangular(jnp.eye(4), x),
    "one axis twice": lambda x, w: x + x.reshape(8, 4).T,
    "two ways": lambda x, w: x + irax.reshard(x, P("y", None)),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_what_does_not_follow_is_refused(name: str):
    x, w = put(ROWS, 4, 8), put(P(None, "y"), 8, 6)
    for call in (AMBIGUOUS[name], lambda *given: irax.eval_shape(AMBIGUOUS[name], *given)):
        with pytest.raises(irax.errors.ShardingTypeError, match="out_sharding="):
            call(x, w)


def whole(x: Any) -> Any:
    return irax.reshard(x, P())


CURES = {
    "reshape": (lambda x: jnp.reshape(x, (8, 4), out_sharding=ROWS), ROWS),
    "ravel": (lambda x: jnp.ravel(x.T, out_sharding=P("x")), P("x")),
    "repeat": (lambda x: jnp.repeat(x, 2, axis=0, out_sharding=ROWS), ROWS),
    "dot": (lambda x: jnp.dot(x.T, x, out_sharding=ROWS), ROWS),
    "einsum": (lambda x: jnp.einsum("ij,ik->jk", x, x, out_sharding=ROWS), ROWS),
    "get": (lambda x: x.at[PLACES].get(out_sharding=ROWS), ROWS),
    "add": (lambda x: whole(x).at[PLACES].add(x[:2], out_sharding=ROWS), ROWS),
    "convolution": (
        lambda x: irax.lax.conv_general_dilated(
            x.reshape(4, 2, 4),
            x.reshape(4, 2, 4),
            (1,),
            "SAME",
            out_sharding=P("x", None, None),
        ),
        P("x", None, None),
    ),
    "reduce_sum": (lambda x: irax.lax.reduce_sum(x, (0,), out_sharding=P("y")), P("y")),
    "segment_sum": (
        lambda x: irax.ops.segment_sum(x, x[:, 0].astype(int) // 8, 4, out_sharding=ROWS),
        ROWS,
    ),
    "bincount": (
        lambda x: jnp.bincount(x[:, 0].astype(int) // 8, length=4, out_sharding=P("x")),
        P("x"),
    ),
    "percentile": (lambda x: jnp.percentile(x, 50, axis=0, out_sharding=P("y")), P("y")),
    "concatenate": (
        lambda x: auto_axes(lambda *v: jnp.concatenate(v), out_sharding=ROWS)(x, whole(x)),
        ROWS,
    ),
    "scan": (
        lambda x: irax.lax.scan(
            lambda c, _: (c + x, None), jnp.zeros((4, 8), out_sharding=ROWS), length=2
        )[0],
        ROWS,
    ),
}
"""Calls that say how their results are divided, which does not follow."""


@pytest.mark.parametrize("name", CURES)
def test_results_are_divided_as_a_call_says(name: str):
    call, expected = CURES[name]
    assert spec_of(call(put(ROWS, 4, 8))) == expected


def test_programs_divide_results_as_calls_say():
    x = put(ROWS, 4, 8)
    results = irax.jit(lambda x: {name: call(x) for name, (call, _) in CURES.items()})(x)
    for name, (call, expected) in CURES.items():
        assert results[name].sharding.spec == expected, name
        with irax.set_mesh(mesh(AxisType.Auto)):
            wanted = call(irax.device_put(np.asarray(x)))
        np.testing.assert_allclose(results[name], wanted, rtol=1e-6, err_msg=name)


CHANGED = {
    "scan": lambda x: irax.lax.scan(lambda c, _: (c + x, None), jnp.zeros((4, 8)), length=2),
    "while": lambda x: irax.lax.while_loop(lambda c: c[0, 0] < 3, lambda c: c + x, 0 * whole(x)),
    "cond": lambda x: irax.lax.cond(x.sum() > 0, lambda: x, lambda: jnp.zeros((4, 8))),
    "known cond": lambda x: irax.lax.cond(True, lambda: x, lambda: jnp.zeros((4, 8))),
}


@pytest.mark.parametrize("name", CHANGED)
def test_loops_and_branches_keep_layouts(name: str):
    x = put(ROWS, 4, 8)

    def traced(x: Any) -> Any:
        return CHANGED[name](irax.reshard(x + 0, ROWS))

    with pytest.raises(TypeError, match=r"float32\[4@x,8\]"):
        irax.jit(traced)(x)


def test_mapped_axes_are_divided_in_one_way():
    x, found = put(ROWS, 4, 8), []
    with pytest.raises(ValueError, match=r"float32\[4@x,8\] and float32\[4,8\]"):
        irax.vmap(jnp.add)(x, whole(x))
    with pytest.raises(ValueError, match=r"float32\[8@x\] is not mapped, and divided along"):
        irax.vmap(jnp.dot, (0, None))(x, put(P("x"), 8))
    irax.vmap(lambda row: found.append(spec_of(row)))(put(P("x", "y"), 4, 8))
    assert found == [P("y")]


def test_structs_tell_layouts():
    struct = irax.ShapeDtypeStruct((4, 8), "float32", sharding=P("x"))
    assert irax.eval_shape(lambda x: x.T, struct).sharding.spec == COLUMNS
    assert irax.eval_shape(lambda: jnp.ones(2)).sharding.spec == P(None)
    assert irax.jit(jnp.tanh).lower(struct).out_info.sharding.spec == ROWS
    with pytest.raises(ValueError, match="dimension"):
        irax.ShapeDtypeStruct((4,), "float32", sharding=P("x", "y"))
    with pytest.raises(ValueError, match="must be a sharding or a PartitionSpec, got 3"):
        irax.ShapeDtypeStruct((4,), "float32", sharding=3)


def test_shapes_tell_layouts():
    x = put(ROWS, 8, 8)
    assert irax.eval_shape(lambda x: x.T, x).sharding.spec == COLUMNS
    assert irax.jit(jnp.tanh).trace(x).out_info.sharding.spec == ROWS


def test_types_are_part_of_signatures():
    found = []

    @irax.jit
    def traced(x: Any) -> Any:
        found.append(spec_of(x))
        return x

    for spec in (ROWS, COLUMNS, ROWS):
        traced(put(spec, 4, 4))
    assert found == [ROWS, COLUMNS]
    assert str(irax.typeof(put(ROWS, 4, 4))) == "float32[4@x,4]"


def test_arrays_that_were_put_nowhere_share_a_trace_with_whole_ones():
    found = []
    traced = irax.jit(lambda x: (found.append(spec_of(x)), x)[1])
    x = ConcreteArray(np.ones(4, np.float32))
    for given in (x, x, put(P(None), 4), jnp.ones(4)):
        traced(given)
    assert found == [P(None)]


def test_types_of_known_arrays_are_part_of_signatures_within_a_trace():
    found = []
    inner = irax.jit(lambda x: (found.append(spec_of(x)), x)[1])
    irax.jit(lambda: [inner(put(spec, 4, 4)) for spec in (ROWS, COLUMNS, ROWS)])()
    assert found == [ROWS, COLUMNS]


def test_types_of_axes_are_part_of_signatures():
    x, y = put(P(None, "x"), 4, 4), put(P("x"), 4, 4)
    product = irax.jit(lambda x, y: x @ y)
    auto_axes(product, out_sharding=P())(x, y)
    with pytest.raises(irax.errors.ShardingTypeError):
        product(x, y)


def test_the_mesh_of_the_context_is_part_of_signatures():
    def rows(x: Any) -> Any:
        return irax.lax.with_sharding_constraint(x, P("x"))

    jitted = irax.jit(rows)
    for sizes in ((2, 2), (4, 1), (2, 2)):
        with irax.set_mesh(mesh(AxisType.Auto, sizes)) as found:
            assert jitted(np.arange(8.0)).sharding.mesh == found


def test_constraints_along_explicit_axes_are_checks():
    x = put(ROWS, 4, 4)
    constraint = irax.lax.with_sharding_constraint
    for checked in (constraint, irax.jit(constraint, static_argnums=1)):
        assert checked({"x": x}, ROWS)["x"].sharding.spec == ROWS
        with pytest.raises(AssertionError, match=r"float32\[4@x,4\] is not divided as"):
            checked(x, COLUMNS)


def test_axes_of_other_types():
    def double(x: Any) -> Any:
        return 2 * x

    x = put(ROWS, 4, 4)
    with pytest.raises(TypeError, match="expected out_sharding"):
        auto_axes(double)(x)
    with pytest.raises(ValueError, match=r"axes has \['z'\]"):
        auto_axes(double, axes="z", out_sharding=ROWS)(x)
    with irax.set_mesh(mesh(AxisType.Auto)):
        found = []
        explicit_axes(lambda x: found.append(spec_of(x)), in_sharding=ROWS)(x)
        with pytest.raises(TypeError, match="expected in_sharding"):
            explicit_axes(double)(x)
    assert spec_of(auto_axes(double, out_sharding=COLUMNS)(x)) == COLUMNS


def test_explicit_axes_beside_auto_ones():
    kinds = (AxisType.Explicit, AxisType.Auto)
    with irax.set_mesh(Mesh(mesh().devices, ("x", "y"), kinds)) as there:
        x = irax.device_put(np.ones((4, 8), np.float32), irax.NamedSharding(there, P("x", "y")))
        assert spec_of(x) == ROWS
        found = []
        irax.eval_shape(lambda v: found.append(spec_of(jnp.sin(v))), x)
        assert found == [ROWS]
        constrained = irax.jit(lambda v: irax.lax.with_sharding_constraint(v, P(None, "y")))
        assert constrained(irax.reshard(x, P("x"))).sharding.spec == P("x", "y")
        with pytest.raises(ValueError, match=r"names \['x'\]; .* not of type Auto"):
            irax.lax.with_sharding_constraint(x, P("x"))
        with pytest.raises(ValueError, match=r"reshard: P\('y',\) names \['y'\]; .* type Explicit"):
            irax.reshard(x, P("y"))


def test_types_tell_along_which_manual_axes_values_vary():
    found = []

    def of_shard(v: Any) -> Any:
        total = irax.lax.psum(v, "x")
        found.append([irax.typeof(y).manual_axis_type.varying for y in (v, total)])
        return total

    irax.shard_map(of_shard, mesh=mesh(), in_specs=P("x", "y"), out_specs=P(None, "y"))(
        put(P("x", "y"), 4, 4)
    )
    assert found == [[{"x", "y"}, {"y"}]]
    assert irax.typeof(1.0).manual_axis_type == irax.sharding.ManualAxisType()
    with pytest.raises(ValueError, match="varying and reduced without a common axis"):
        irax.sharding.ManualAxisType(varying=frozenset("x"), reduced=frozenset("x"))


def test_shards_are_divided_as_types_tell():
    x = put(ROWS, 4, 3)
    summed = irax.shard_map(lambda part: irax.lax.psum(part, "x"), out_specs=P())
    expected = np.asarray(x).reshape(2, 2, 3).sum(0)
    np.testing.assert_array_equal(summed(x), expected)
    np.testing.assert_array_equal(irax.jit(summed)(x), expected)


def test_one_hot_vectors_are_divided_as_is_asked():
    labels = irax.device_put(jnp.arange(4), P("x"))
    for f in (irax.nn.one_hot, irax.jit(irax.nn.one_hot, static_argnums=1)):
        assert f(labels, 4).sharding.spec == P("x", None)
    asked = [P("x", "y"), P(None, "y"), P("y", "x")]
    results = irax.jit(lambda x: [irax.nn.one_hot(x, 4, out_sharding=s) for s in asked])(labels)
    for found, spec in zip(results, asked, strict=True):
        assert found.sharding.spec == spec
        np.testing.assert_array_equal(found, np.eye(4))


# ---- functions of shards along some of the axes --------------------------------------------------


def twice(shard: Any) -> Any:
    assert irax.typeof(shard).sharding.mesh == irax.sharding.get_abstract_mesh()
    return 2 * shard


SHARDS = {
    "the same": (twice, P("x"), P("x"), P("x", "y")),
    "transposed": (lambda x: twice(x).T, P("x"), P(None, "x"), P("y", "x")),
    "a sum of rows": (lambda x: x.sum(0), P("x"), P("x"), P(("x", "y"))),
    "whole": (lambda x: irax.reshard(x, P(None, None)), P("x"), P("x"), P("x", None)),
    "along columns": (twice, P(None, "y"), P(None, "y"), P("x", "y")),
    "with an array around": (lambda x: x + jnp.ones((4, 8)), P("x"), P("x"), P("x", "y")),
}


@pytest.mark.parametrize("is_jitted, is_set", [(False, False), (False, True), (True, True)])
def test_types_of_shards_along_axes_that_are_not_mapped(
    is_jitted: bool, is_set: bool, explicit: Mesh
):
    """As in JAX 0.10.2."""
    x = put(P("x", "y"), 8, 8)

    def mapped(name: str, x: Any) -> Any:
        f, in_spec, out_spec, expected = SHARDS[name]
        (axis,) = {a for entry in in_spec for a in ([entry] if entry else [])}
        found = irax.shard_map(
            f, mesh=explicit, in_specs=in_spec, out_specs=out_spec, axis_names={axis}
        )(x)
        assert spec_of(found) == expected, name
        return found

    def all_mapped(x: Any) -> Any:
        return {name: mapped(name, x) for name in SHARDS}

    with irax.set_mesh(explicit if is_set else None):
        results = (irax.jit(all_mapped) if is_jitted else all_mapped)(x)
    for name, (f, *_, expected) in SHARDS.items():
        assert results[name].sharding.spec == expected, name
        if f is twice:
            np.testing.assert_array_equal(results[name], 2 * np.asarray(x), name)


def test_gradients_of_functions_of_some_axes():
    x = put(P("x", "y"), 8, 8)

    def f(x: Any) -> Any:
        mapped = irax.shard_map(jnp.sin, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
        return mapped(x).sum()

    for gradient in (irax.grad(f), irax.jit(irax.grad(f))):
        found = gradient(x)
        assert spec_of(found) == P("x", "y")
        np.testing.assert_allclose(found, np.cos(x), rtol=1e-6)


def test_gradients_are_divided_as_their_arguments():
    x = put(P("x", "y"), 8, 4)
    whole, columns = jnp.ones((4, 3)), jnp.ones((8, 1))
    found = []

    def derivatives(x: Any, whole: Any, columns: Any) -> Any:
        by_whole = irax.grad(lambda w: (x @ w).sum())(whole)
        by_columns = irax.grad(lambda c: (x * c).sum())(columns)
        by_moved = irax.grad(lambda w: jnp.sin(irax.reshard(w, P("y"))).sum())(whole)
        found.extend(map(spec_of, (by_whole, by_columns, by_moved)))
        return by_whole, by_columns

    for run in (derivatives, irax.jit(derivatives)):
        by_whole, by_columns = run(x, whole, columns)
        np.testing.assert_allclose(by_whole, np.asarray(x).sum(0)[:, None].repeat(3, 1), rtol=1e-6)
        np.testing.assert_allclose(by_columns, np.asarray(x).sum(1, keepdims=True), rtol=1e-6)
    assert found == [P(None, None)] * 6
    assert spec_of(jnp.diag(put(P("x"), 8))) == P("x", None)


def test_layouts_of_shards_that_do_not_follow():
    def product(x: Any) -> Any:
        return irax.shard_map(
            lambda x: x @ x.T, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
        )(x)

    with pytest.raises(irax.errors.ShardingTypeError, match=r"float32\[4,8@y\]"):
        irax.jit(product)(put(P("x", "y"), 8, 8))


def test_specs_may_have_nones_beyond_the_dimensions():
    """As in JAX 0.10.2."""
    x = put(ROWS, 8, 8)

    def calls(x: Any) -> list[Any]:
        return [
            irax.reshard(x, P(None, "x", None)),
            jnp.matmul(x.T, x, out_sharding=P(None, "x", None)),
            jnp.sin(irax.reshard(jnp.float32(1), P(None))) + irax.reshard(x, COLUMNS),
        ]

    for run in (calls, irax.jit(calls)):
        assert [found.sharding.spec for found in run(x)] == [COLUMNS] * 3
    with pytest.raises(ValueError, match="for arrays of at least 3 dimensions"):
        irax.reshard(x, P(None, None, "x"))


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit])
def test_a_broadcast_is_divided_as_the_array_that_it_is_like(transform):
    """As in JAX 0.12."""
    like = put(P("x", "y"), 8, 2)
    struct = irax.ShapeDtypeStruct((8, 2), "float32", sharding=like.sharding)
    for x in (2.0, np.arange(2.0), put(P("y"), 2), put(ROWS, 8, 1)):
        for of in (like, struct):
            found = transform(lambda x, of=of: irax.lax.broadcast_like(x, of))(x)
            assert spec_of(found) == P("x", "y")
            np.testing.assert_array_equal(found, np.broadcast_to(x, (8, 2)))
    for x, of in ((put(P("x"), 2), like), (put(P("y"), 2), jnp.ones((8, 2)))):
        with pytest.raises(
            ValueError, match=r"lax.broadcast_like: arr of type .* is divided along"
        ):
            transform(lambda x, of=of: irax.lax.broadcast_like(x, of))(x)


# ---- programs where the context has no mesh ------------------------------------------------------


def test_types_follow_from_the_mesh_of_arguments(explicit: Mesh):
    """As in JAX 0.10.2."""
    found = []

    @irax.jit
    def product(x: Any, w: Any) -> Any:
        found.append((spec_of(x), spec_of(x @ w)))
        return jnp.tanh(x @ w)

    rows, columns, other = put(ROWS, 4, 8), put(COLUMNS, 4, 8), put(P(None, "y"), 8, 4)
    with irax.set_mesh(None):
        for _ in range(3):
            assert product(rows, other).sharding == irax.NamedSharding(explicit, P("x", "y"))
        with pytest.raises(irax.errors.ShardingTypeError, match=r"dot_general of float32\[4,8@x\]"):
            product(columns, irax.device_put(other, irax.NamedSharding(explicit, P("y", "x"))))
        assert product(np.ones((4, 8), np.float32), np.ones((8, 4), np.float32)).shape == (4, 4)
        lowered = irax.jit(jnp.transpose).lower(rows)
        assert lowered.out_info.sharding.spec == COLUMNS
        struct = irax.ShapeDtypeStruct((4, 8), "float32", sharding=rows.sharding)
        assert irax.eval_shape(jnp.transpose, struct).sharding.spec == COLUMNS
        auto = irax.device_put(rows, irax.NamedSharding(mesh(AxisType.Auto), P("x")))
        assert product(auto, np.ones((8, 4), np.float32)).sharding.spec == ROWS
    assert found[0] == (ROWS, P("x", "y"))
    assert len(found) == 2  # the others raise an error, or were traced already


def test_arrays_tell_their_layout_on_their_own_mesh(explicit: Mesh):
    """As in JAX 0.12, with a mesh of the context and without."""
    x = put(ROWS, 4, 8)
    keys = irax.device_put(irax.random.split(irax.random.key(0), 4), P("x"))
    for context in (explicit, None):
        with irax.set_mesh(context):
            for y in (x, x * 2, irax.jit(jnp.sin)(x)):
                assert y.aval.sharding == irax.NamedSharding(explicit.abstract_mesh, ROWS)
            assert str(x.aval) == "float32[4@x,8]"
            assert keys.aval.sharding == irax.NamedSharding(explicit.abstract_mesh, P("x"))
    whole = irax.device_put(x, irax.devices()[0])
    assert whole.aval.told is None
    assert ConcreteArray.of_buffer(whole._buffer, x.aval).aval.told is None


def test_short_ways_of_calls_are_for_layouts_and_types(explicit: Mesh):
    traced = []

    @irax.jit
    def f(x: Any) -> Any:
        traced.append(str(irax.typeof(x)))
        return 2 * x

    auto = mesh(AxisType.Auto)
    with irax.set_mesh(None):
        for _ in range(3):
            for on, spec in ((explicit, ROWS), (explicit, COLUMNS), (auto, ROWS), (auto, COLUMNS)):
                x = irax.device_put(np.ones((4, 4), np.float32), irax.NamedSharding(on, spec))
                assert f(x).sharding == x.sharding
    assert traced == ["float32[4@x,4]", "float32[4,4@x]", "float32[4,4]"]
