"""shard_map and pmap, with the numbers that JAX computes on four devices of the processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.frontend.meshes.shard_map_programs import W, X, flat, programs

import irax
import irax.numpy as jnp
from irax import P, lax
from irax.config import config
from irax.sharding import Mesh
from irax_runtime.iree.cpu import cpu

DEVICES = np.array([cpu(n) for n in range(4)], dtype=object)
MESH = Mesh(DEVICES.reshape(2, 2), ("a", "b"))
LINE = Mesh(DEVICES, ("i",))
PROGRAMS = programs(irax, MESH, LINE)


def recorded() -> dict[str, dict[str, np.ndarray]]:
    """Return the results of each program by JAX: an array for each leaf, or an error."""
    found: dict[str, dict[str, np.ndarray]] = {}
    with np.load(Path(__file__).parent / "shard_map_expected.npz") as file:
        for key in file:
            name, _, leaf = key.rpartition("/")
            found.setdefault(name, {})[leaf] = file[key]
    return found


EXPECTED = recorded()


def test_all_programs_are_recorded():
    assert EXPECTED.keys() == PROGRAMS.keys()


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str):
    compare(name, PROGRAMS[name]())


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("pmap")])
def test_programs_in_threads(name: str):
    with config.scoped("spmd", "threads"):
        compare(name, PROGRAMS[name]())


def compare(name: str, result: Any):
    wanted = EXPECTED[name]
    assert "error" not in wanted, wanted["error"]
    found = flat(irax, result)
    assert len(found) == len(wanted)
    for number, array in enumerate(found):
        other = wanted[str(number)]
        assert (array.shape, array.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(array, other, rtol=2e-5, atol=2e-5)


def on_line(f, ins, outs, **options):
    return irax.shard_map(f, mesh=LINE, in_specs=ins, out_specs=outs, **options)


def test_grad_of_a_branch_that_devices_choose():
    """Each device contributes the derivative of its own branch. (JAX 0.10.2 does not add them.)"""

    def chosen(w, v):
        def positive(u):
            return u.sum() * v.sum()

        def negative(u):
            return (u**2).sum() + 0 * v.sum()

        return lax.psum(lax.cond(v.sum() > 1, positive, negative, w), "i")

    step = on_line(irax.grad(chosen), (P(), P("i")), P())
    sums = X.reshape(4, -1).sum(1)
    expected = sums[sums > 1].sum() + 2 * W * (sums <= 1).sum()
    np.testing.assert_allclose(step(W, X), expected, rtol=1e-5)

    def captured(w, v):
        branches = (lambda: w.sum() * v.sum(), lambda: (w**2).sum() + 0 * v.sum())
        return lax.psum(lax.cond(v.sum() > 1, *branches), "i")

    step = on_line(irax.grad(captured), (P(), P("i")), P())
    np.testing.assert_allclose(step(W, X), expected, rtol=1e-5)


def test_shards_are_printed_device_by_device():
    """Outside of traces; in them there are no elements."""
    seen = []

    def f(x):
        seen.append(str(x * 2))
        seen.append(str(lax.psum(x, "a")))
        return x

    x = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    mapped = irax.shard_map(f, mesh=MESH, in_specs=P("a", "b"), out_specs=P("a", "b"))
    mapped(x)
    for number, (a, b) in enumerate(np.ndindex(2, 2)):
        block = x[2 * a : 2 * a + 2, b : b + 1]
        at = f"On cpu:{number} at mesh coordinates (a, b,) = ({a}, {b}):\n"
        assert f"{at}{2 * block}\n" in seen[0]
        assert f"{at}{x[:2, b : b + 1] + x[2:, b : b + 1]}\n" in seen[1]
    irax.jit(mapped)(x)
    assert "Traced<float32[2,1]" in seen[2]


def test_ppermute_along_two_axes():
    perm = [(0, 1), (1, 3), (3, 0)]

    def send(v):
        return lax.ppermute(v, ("b", "a"), perm)

    spec = P(("b", "a"))
    f = irax.shard_map(send, mesh=MESH, in_specs=spec, out_specs=spec)
    shards = X.reshape(4, 2, 8)
    expected = np.stack([shards[3], shards[0], np.zeros_like(shards[0]), shards[1]])
    np.testing.assert_array_equal(f(X), expected.reshape(8, 8))
    np.testing.assert_array_equal(irax.jit(f)(X), expected.reshape(8, 8))


def test_types_inside():
    seen = []

    def look(v, w):
        seen.extend([irax.typeof(v).vma, irax.typeof(w).vma, irax.typeof(v * w).vma])
        seen.append(irax.typeof(lax.psum(v, "i")).vma)
        seen.append(repr(irax.typeof(v)))
        seen.append(irax.sharding.get_abstract_mesh().manual_axes)
        return v

    on_line(look, (P("i"), P()), P("i"))(W, W[:2])
    i = frozenset({"i"})
    assert seen == [i, frozenset(), i, frozenset(), "float32[2]{V:i}", ("i",)]


ERRORS = {
    "sizes": (P("i"), P("i"), W[:3], r"v of type float32\[3\] .* multiple of 4"),
    "unknown axis": (P("z"), P("i"), W, "'z' is none of the axes"),
    "unknown axis of a result": (P("i"), P("z"), W, "'z' is none of the axes"),
    "varying result": (P("i"), P(), W, r"may differ between devices along \['i'\]"),
    "rank of an argument": (P("i", None), P("i"), W, "no more entries than it has dimensions"),
    "rank of a result": (P("i"), P("i", None), W, "no more entries than it has dimensions"),
    "structure of arguments": ((P("i"), P()), P("i"), W, "in_specs do not fit the arguments"),
    "structure of results": (P("i"), (P("i"), P()), W, "out_specs do not fit the result"),
}


@pytest.mark.parametrize(("ins", "outs", "x", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(ins, outs, x, message):
    with pytest.raises(ValueError, match=message):
        on_line(lambda v: v, ins, outs)(x)


def test_errors_of_the_mesh():
    with pytest.raises(ValueError, match="there is no mesh"):
        irax.shard_map(lambda v: v, in_specs=P("i"), out_specs=P("i"))(W)
    with pytest.raises(ValueError, match=r"axis_names has \['z'\]"):
        on_line(lambda v: v, P("i"), P("i"), axis_names={"z"})(W)
    with pytest.raises(ValueError, match="along the axis 'i' already"):
        irax.vmap(on_line(lambda v: v, P("i"), P("i")), axis_name="i")(X)
    with pytest.raises(TypeError, match="must be of PartitionSpec"):
        on_line(lambda v: v, "i", P("i"))(W)


LOOPS = {
    "scan": lambda v: lax.scan(lambda c, _: (c + v, None), jnp.zeros(2), None, length=2)[0],
    "scan of constants": lambda v: lax.scan(lambda c, _: (jnp.zeros(2), c), v, None, length=2)[1][
        1
    ],
    "fori_loop": lambda v: lax.fori_loop(0, 3, lambda i, c: c * v, jnp.ones(2)),
    "while_loop": lambda v: lax.while_loop(lambda c: c[0] < v[0], lambda c: c + 1, jnp.zeros(2)),
    "number of steps": lambda v: lax.fori_loop(0, v[0].astype(int), lambda i, c: c + 2, v * 0),
    "gradient": irax.grad(lambda v: lax.fori_loop(0, 3, lambda i, c: c * v.sum(), 1.0)),
    "searchsorted": lambda v: jnp.searchsorted(jnp.arange(5.0), v).astype(float),
    "polyval": lambda v: jnp.polyval(jnp.arange(3.0), v),
    "conjugate gradients": lambda v: irax.scipy.sparse.linalg.cg(lambda x: 2.0 * x, v)[0],
}
"""Functions of two elements, with loops that begin with what is equal on all devices."""


@pytest.mark.parametrize("name", LOOPS)
def test_carries_that_begin_to_vary(name: str):
    x = np.arange(8, dtype=np.float32)
    wanted = np.concatenate([LOOPS[name](part) for part in x.reshape(4, 2)])
    found = on_line(LOOPS[name], P("i"), P("i"))(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_branches_that_vary_differently():
    with pytest.raises(TypeError, match="all functions must return the same"):
        on_line(lambda v: lax.cond(v[0] > 0, lambda: v, lambda: jnp.zeros(2)), P("i"), P("i"))(W)
    with pytest.raises(ValueError, match="already"):
        on_line(lambda v: lax.pcast(v, "i", to="varying"), P("i"), P("i"))(W)


def test_the_older_name():
    with pytest.warns(DeprecationWarning, match=r"use irax\.shard_map"):
        from irax.experimental.shard_map import shard_map
    total = shard_map(lambda v: lax.psum(v, "i"), LINE, P("i"), P(), check_rep=False)
    np.testing.assert_allclose(total(np.arange(4.0)), [6.0])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("check_vma", [True, False])
def test_derivatives_in_lanes_that_a_mesh_divides(check_vma: bool):
    def loss(w: irax.Array, x: irax.Array) -> irax.Array:
        def of_part(w: irax.Array, x: irax.Array) -> irax.Array:
            return lax.psum(((w * jnp.sin(x)) ** 2).sum(), "a")

        specs = (P(), P("a"))
        return irax.shard_map(
            of_part, mesh=MESH, in_specs=specs, out_specs=P(), check_vma=check_vma
        )(w, x)

    w, x = jnp.arange(1.0, 3.0), jnp.arange(8.0).reshape(2, 4)
    wanted = 2 * np.asarray(w) * (np.sin(x) ** 2).sum(1)
    gradient = irax.vmap(irax.grad(loss), spmd_axis_name="b")
    for derived in (gradient, irax.jit(gradient)):
        np.testing.assert_allclose(derived(w, x), wanted, rtol=1e-6)
    for name, specs in (("out", (P(), P("a"))), ("in", (P("a"), P()))):
        f = irax.shard_map(
            lambda x: x, mesh=MESH, in_specs=specs[0], out_specs=specs[1], check_vma=False
        )
        with pytest.raises(ValueError, match=rf"{name}_specs divides an array along \['a'\], but"):
            irax.vmap(f, spmd_axis_name="a")(x)


def halvings(x: irax.Array) -> irax.Array:
    """The part of each device, plus the number of times that the sum of all can be halved."""
    rest, count = lax.psum(x.sum(), ("a", "b")), 0
    while rest > 1:
        rest, count = rest / 2, count + 1
    return x + count


def test_python_may_choose_by_what_all_devices_compute_alike():
    """As in JAX 0.10.2, where no other values are known, nor where none are checked."""

    def mapped(f: Any, check_vma: bool = True) -> Any:
        specs = P(("a", "b"))
        return irax.shard_map(f, mesh=MESH, in_specs=specs, out_specs=specs, check_vma=check_vma)

    x = jnp.arange(8.0)
    np.testing.assert_array_equal(mapped(halvings)(x), x + 5)
    np.testing.assert_array_equal(irax.grad(lambda x: mapped(halvings)(x).sum())(x), np.ones(8))
    shift = irax.device_put(jnp.float32(2), irax.NamedSharding(MESH, P()))
    np.testing.assert_array_equal(mapped(lambda v: halvings(v) * int(shift))(x), 2 * x + 10)
    for f in (
        irax.jit(mapped(halvings)),
        mapped(halvings, check_vma=False),
        mapped(lambda x: x if x.sum() > 3 else -x),
    ):
        with pytest.raises(irax.errors.TracerBoolConversionError, match="shard_map traces the"):
            f(x)
    total = lambda v: lax.psum(v[0], ("a", "b"))
    np.testing.assert_array_equal(mapped(lambda v: v + total(v).item())(x), x + 12)
    for f in (lambda v: v * float(total(v)), lambda v: v * total(v).tolist()):
        with pytest.raises(irax.errors.ConcretizationTypeError, match="shard_map traces the"):
            mapped(f)(x)


@pytest.mark.filterwarnings("ignore:.with mesh")
def test_specs_inside_are_of_the_mesh_of_the_shard_map():
    x = jnp.arange(16.0).reshape(4, 4)
    other = Mesh(DEVICES.reshape(4, 1), ("b", "c"))

    def constrained(spec: P) -> Any:
        def f(x: irax.Array) -> irax.Array:
            return lax.with_sharding_constraint(2 * x, spec) + irax.device_put(x, spec)

        return irax.shard_map(f, mesh=MESH, in_specs=P("a"), out_specs=P("a"), axis_names={"a"})

    f = constrained(P(None, "b"))
    for call in (f, irax.jit(f), irax.jit(irax.grad(lambda x: f(x * x).sum() / 2))):
        np.testing.assert_array_equal(call(x), 3 * x)
    with other:
        text = irax.jit(f).lower(x).as_text()
    assert '[[], ["b"]]' in text
    with pytest.raises(ValueError, match=r"names \['a'\].* may name \('b',\)"):
        constrained(P("a"))(x)
    with pytest.raises(ValueError, match=r"axis 'c' of P\('c',\) is not one of the mesh's axes"):
        constrained(P("c"))(x)


def test_keys_may_count_as_varying():
    def draws(key: irax.Array) -> irax.Array:
        own = lax.pcast(key, "i", to="varying")
        assert irax.typeof(own).vma == {"i"}
        return irax.random.beta(own, 1.0, jnp.ones(2) + lax.axis_index("i"))

    key = irax.random.key(0)
    found = irax.shard_map(draws, mesh=LINE, in_specs=P(), out_specs=P("i"))(key)
    each = [irax.random.beta(key, 1.0, jnp.ones(2) + n) for n in range(4)]
    np.testing.assert_allclose(found, np.concatenate(each), rtol=1e-6)


def test_the_mesh_is_that_of_the_context():
    """As in JAX 0.10.2."""
    x, others = jnp.arange(8.0), [LINE, MESH.update(devices=MESH.devices.T), LINE.abstract_mesh]

    def double(mesh: Any) -> Any:
        spec = P(mesh.axis_names[0])
        return irax.shard_map(lambda v: 2 * v, mesh=mesh, in_specs=spec, out_specs=spec)

    with irax.set_mesh(MESH):
        for mesh in (MESH, MESH.abstract_mesh):
            np.testing.assert_array_equal(double(mesh)(x), 2 * x)
        for mesh in others:
            for f in (double(mesh), irax.jit(double(mesh))):
                with pytest.raises(ValueError, match="expected the same, or none"):
                    f(x)
    np.testing.assert_array_equal(double(LINE)(x), 2 * x)


def test_specs_of_arguments_follow_along_explicit_axes_alone():
    """As in JAX 0.10.2."""
    with irax.set_mesh(MESH):
        for f in (
            irax.shard_map(lambda v: v, out_specs=P("a"), axis_names={"a"}),
            irax.smap(lambda v: v, out_axes=0, axis_name="a"),
        ):
            with pytest.raises(TypeError, match=r"the axes \['a'\] of the mesh are of type Auto"):
                f(jnp.arange(8.0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
def test_sums_are_of_what_differs_along_all_axes_or_none(run: Any):
    def sums(f: Any, ins: Any, **options: Any) -> Any:
        options = {"mesh": MESH, "in_specs": ins, "out_specs": P(), **options}
        return run(irax.shard_map(f, **options))(jnp.arange(4.0))

    both = ("a", "b")
    differs = r"float32\[2\]\{V:a\} differs .* along \['a'\], and is the same .*\['b'\]"
    message = rf"lax\.p(sum|mean): .*{differs}"
    for f in (
        lambda x: lax.psum(x, both),
        lambda x: lax.pmean(x, both),
        lambda x: lax.psum((1.0, x), both),
    ):
        with pytest.raises(ValueError, match=message):
            sums(f, P("a"))
    np.testing.assert_array_equal(sums(lambda x: lax.psum(x, both), P()), [0, 4, 8, 12])
    np.testing.assert_array_equal(sums(lambda x: lax.psum(x, both), P(both)), [6])
    cast = sums(lambda x: lax.psum(lax.pcast(x, "b", to="varying"), both), P("a"))
    np.testing.assert_array_equal(cast, [4, 8])
    unchecked = sums(lambda x: lax.psum(x, both), P("a"), check_vma=False)
    np.testing.assert_array_equal(unchecked, [4, 8])
    np.testing.assert_array_equal(sums(lambda x: lax.pmax(x, both), P("a")), [2, 3])


@pytest.mark.parametrize("names", [{"a"}, {"a", "b"}])
@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
def test_shards_are_put_nowhere_else(run: Any, names: set[str]):
    def use(f: Any) -> Any:
        rows = P("a")
        shards = irax.shard_map(f, mesh=MESH, in_specs=rows, out_specs=rows, axis_names=names)
        return run(shards)(jnp.arange(4.0))

    whole, one = irax.NamedSharding(MESH, P()), irax.sharding.SingleDeviceSharding(cpu(1))
    for place in (whole, one):
        for put in (
            lambda x, p=place: irax.device_put(x, p),
            lambda x, p=place: jnp.array(x, device=p),
            lambda x, p=place: lax.with_sharding_constraint(x, p),
        ):
            with pytest.raises(ValueError, match=r"type float32\[2\]\{V:a\}, which is a shard"):
                use(put)
    if run is not irax.jit:
        with pytest.raises(ValueError, match=r"which is a shard, cannot be put on CpuDevice"):
            use(lambda x: irax.device_put(x, cpu(1)))
    for put in (
        lambda x: x + irax.device_put(jnp.zeros(2), whole),
        lambda x: x + jnp.zeros(2, device=cpu(1)),
        lambda x: irax.device_put(x),
        lambda x: lax.with_sharding_constraint(x, P()),
        lambda x: lax.with_sharding_constraint(
            x, irax.NamedSharding(irax.sharding.get_abstract_mesh(), P())
        ),
    ):
        np.testing.assert_array_equal(use(put), np.arange(4))


ALONG_OTHER_AXES = {  # of a shard of X along "a", and NumPy's of X; P of the result
    "elementwise": (lambda v: jnp.sin(v) * v + 1, lambda x: np.sin(x) * x + 1, P("a", "b")),
    "psum": (lambda v: v - lax.psum(v, "a"), lambda x: x - halves(x), P("a", "b")),
    "rows": (lambda v: v.sum(1), lambda x: x.sum(1), P("a")),
    "columns": (lambda v: lax.psum(v.sum(0), "a"), lambda x: x.sum(0), P("b")),
    "product": (lambda v: v @ v.T, lambda x: np.concatenate([y @ y.T for y in parts(x)]), P("a")),
    "sort": (lambda v: jnp.sort(v, 1), lambda x: np.sort(x, 1), None),
    "cumsum": (lambda v: jnp.cumsum(v, 1), lambda x: np.cumsum(x, 1), None),
    "loop": (
        lambda v: lax.fori_loop(0, 3, lambda i, c: c + lax.psum(c, "a") * 0 + i, v),
        lambda x: x + 3,
        P("a", "b"),
    ),
    "branch": (
        lambda v: lax.cond(lax.axis_index("a") == 0, lambda: v * 2, lambda: v),
        lambda x: np.concatenate([2 * x[:2], x[2:]]),
        P("a", "b"),
    ),
    "permuted": (
        lambda v: lax.ppermute(v * v, "a", [(0, 1), (1, 0)]),
        lambda x: np.roll(x * x, 2, 0),
        P("a", "b"),
    ),
    "reshape": (lambda v: v.reshape(-1), lambda x: x.reshape(-1), None),
    "scan": (
        lambda v: lax.scan(lambda c, row: (c + row, c * row), v[0] * 0, v)[1],
        lambda x: np.concatenate([np.stack([0 * y[0], y[0] * y[1]]) for y in parts(x)]),
        None,
    ),
}


def parts(x: np.ndarray) -> list[np.ndarray]:
    return np.split(x, 2)


def halves(x: np.ndarray) -> np.ndarray:
    return np.concatenate([sum(parts(x))] * 2)


@pytest.mark.parametrize(
    ("name", "spmd"),
    [(name, "one_buffer") for name in ("psum", "product", "loop")]
    + [
        pytest.param(name, spmd, marks=pytest.mark.slow)
        for name in ALONG_OTHER_AXES
        for spmd in ("one_buffer", "threads")
    ],
)
def test_shards_stay_divided_along_axes_that_are_not_mapped(name: str, spmd: str):
    f, reference, spec = ALONG_OTHER_AXES[name]
    x = np.arange(32, dtype=np.float32).reshape(4, 8)[::-1] % 7
    out_specs = P() if name == "columns" else P("a")
    with config.scoped("spmd", spmd):
        mapped = irax.shard_map(
            f, mesh=MESH, in_specs=P("a"), out_specs=out_specs, axis_names={"a"}
        )
        divided = irax.device_put(x, irax.NamedSharding(MESH, P("a", "b")))
        for found in (mapped(divided), irax.jit(mapped)(divided)):
            np.testing.assert_allclose(found, reference(x), rtol=1e-6)
            assert spec is None or found.sharding.spec == spec
        weights = np.cos(np.arange(reference(x).size, dtype=np.float32)).reshape(reference(x).shape)
        if name != "branch":
            loss = lambda f: lambda v: (f(v) * weights).sum()
            grads = irax.jit(irax.grad(loss(mapped)))(divided)
            whole = irax.grad(loss(mapped))(x)
            np.testing.assert_allclose(grads, whole, rtol=2e-5, atol=1e-5)


def test_symbolic_sizes_are_refused():
    mesh = Mesh(irax.devices()[:1], ("i",))
    f = irax.shard_map(jnp.sin, mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    struct = irax.ShapeDtypeStruct(irax.export.symbolic_shape("2*n, 3"), "float32")
    with pytest.raises(NotImplementedError, match=r"shard_map: x of type .* has symbolic sizes"):
        irax.export.export(irax.jit(f))(struct)
