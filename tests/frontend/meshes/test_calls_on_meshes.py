"""Calls of a jitted function on a mesh with the signature of the last call: the short way."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import P
from irax.config import config
from irax.core.array import ConcreteArray
from irax.execution.jitted import PjitFunction
from irax.sharding import AxisType, Mesh, NamedSharding
from irax_runtime.iree.cpu import cpu

KINDS = [AxisType.Auto, AxisType.Explicit]
X = np.arange(16, dtype=np.float32).reshape(4, 4)


def mesh_of(kind: AxisType) -> Mesh:
    return Mesh(np.array([cpu(0), cpu(1)], object), ("a",), (kind,))


@pytest.fixture(params=KINDS, ids=str)
def mesh(request: Any) -> Iterator[Mesh]:
    with irax.set_mesh(mesh_of(request.param)) as found:
        yield found


def put_nowhere() -> list[Any]:
    """Arrays in the memory of NumPy, of a device, and of one that is not the mesh's first."""
    on_others = []
    for device in (cpu(0), cpu(1)):
        of_device = irax.device_put(X, device)
        on_others.append(ConcreteArray.of_buffer(of_device._buffer, of_device.aval))
    return [ConcreteArray(X.copy()), *on_others]


@pytest.mark.parametrize("spmd", ["one_buffer", "threads"])
def test_arrays_that_were_put_nowhere_take_the_short_way(mesh, spmd, monkeypatch):
    with config.scoped("spmd", spmd):
        add = irax.jit(lambda x, y: x + 2 * y)
        arrays = [*put_nowhere(), irax.device_put(X, NamedSharding(mesh, P()))]
        add(arrays[0], arrays[0])
        monkeypatch.setattr(PjitFunction, "_call", None)
        for x in arrays:
            found = add(arrays[0], x)
            assert found.committed
            assert found.sharding.mesh == mesh
            np.testing.assert_array_equal(found, 3 * X)


def test_an_array_that_was_put_nowhere_stays_where_it_is(mesh):
    for x in put_nowhere()[1:]:
        buffer = x._buffer
        for _ in range(3):
            irax.jit(jnp.sin)(x)
        assert x._buffer is buffer
        assert not x.committed


def test_layouts_are_looked_at_where_types_tell_them():
    found = []

    @irax.jit
    def traced(x: Any) -> Any:
        found.append(irax.typeof(x).sharding.spec)
        return x + 1

    with irax.set_mesh(mesh_of(AxisType.Explicit)) as mesh:
        specs = [P("a", None), P(None, "a"), P(None, None)]
        arrays = [irax.device_put(X, NamedSharding(mesh, spec)) for spec in specs]
        for _ in range(3):
            for spec, x in zip(specs, arrays, strict=True):
                assert traced(x).sharding.spec == spec
            assert traced(ConcreteArray(X.copy())).sharding.spec == specs[-1]
    assert found == specs


def test_types_among_auto_axes_are_those_along_explicit_ones_alone():
    kinds = (AxisType.Explicit, AxisType.Auto)
    devices = np.array([cpu(n) for n in range(4)], object).reshape(2, 2)
    found = []
    traced = irax.jit(lambda x: (found.append(irax.typeof(x).sharding.spec), x + 1)[1])
    with irax.set_mesh(Mesh(devices, ("a", "b"), kinds)) as mesh:
        for spec in [P("a", "b"), P("a", None), P(None, "b"), P("a", "b")]:
            x = irax.device_put(X, NamedSharding(mesh, spec))
            for _ in range(2):
                np.testing.assert_array_equal(traced(x), X + 1)
    assert found == [P("a", None), P(None, None)]


def test_other_meshes_and_settings_are_seen(mesh):
    """An array that was put nowhere runs where the context says, at each call."""
    x, double = ConcreteArray(X.copy()), irax.jit(lambda x: 2 * x)
    other = mesh.update(devices=mesh.devices[::-1])
    for _ in range(3):
        assert double(x).sharding.mesh == mesh
        with irax.set_mesh(other):
            assert double(x).sharding.mesh == other
        with irax.set_mesh(mesh.update(axis_types=(AxisType.Auto,))) as auto:
            assert double(x).sharding.mesh == auto
        with irax.set_mesh(None):
            assert double(x).devices() == {cpu(0)}
            assert not double(x).committed
        with config.scoped("spmd", "threads"):
            assert double(x)._buffer.whole is None
        assert double(x)._buffer.whole is not None
        elsewhere = irax.device_put(X, cpu(1))
        with irax.set_mesh(None):
            assert double(elsewhere).devices() == {cpu(1)}
        with pytest.raises(ValueError, match=r"lambda: received incompatible.*context is"):
            double(elsewhere)


@pytest.mark.parametrize("place", range(2))
def test_a_donated_array_is_gone(mesh, place):
    """As in JAX 0.10.2."""
    step = irax.jit(lambda x: x + 1, donate_argnums=0)
    for _ in range(3):
        x = put_nowhere()[place]
        np.testing.assert_array_equal(step(x), X + 1)
        assert x.is_deleted()
        with pytest.raises(RuntimeError, match="was used after its memory had been given up"):
            step(x)


def test_an_array_that_is_donated_and_read_is_read_first(mesh):
    step = irax.jit(lambda x, y: (x + 1, y * 2), donate_argnums=0)
    for _ in range(3):
        x = ConcreteArray(X.copy())
        more, twice = step(x, x)
        np.testing.assert_array_equal(more, X + 1)
        np.testing.assert_array_equal(twice, 2 * X)


def test_elements_of_numpys_stay_when_donated(mesh):
    step = irax.jit(lambda x: x.at[0].set(7), donate_argnums=0)
    large = np.arange(1 << 16, dtype=np.float32)
    for _ in range(3):
        x = jnp.asarray(large)
        seen = np.asarray(x)
        assert step(x)[0] == 7
        np.testing.assert_array_equal(seen, large)


def test_a_result_outlives_the_donation_of_the_array_that_it_is(mesh):
    same, step = irax.jit(lambda x: x), irax.jit(lambda x: x.at[0].set(7), donate_argnums=0)
    for _ in range(3):
        x = ConcreteArray(X.copy())
        result = same(x)
        step(x)
        np.testing.assert_array_equal(result, X)


def places() -> list[Any]:
    rows = [NamedSharding(mesh_of(kind), P("a")) for kind in KINDS]
    return [cpu(0), cpu(1), *rows, NamedSharding(mesh_of(AxisType.Auto), P(None, "a"))]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", range(5))
def test_arrays_that_were_put_somewhere_take_the_short_way(number, monkeypatch):
    place = places()[number]
    x, y = irax.device_put(X, place), irax.device_put(2 * X, place)
    add = irax.jit(lambda x, y, z: x + y + z["n"])
    expected = add(x, y, {"n": 1})
    ways = [(x, y), (x, ConcreteArray(2 * X)), (ConcreteArray(X.copy()), y)]
    for given in ways:
        add(*given, {"n": 1})  # along Explicit axes, types tell them apart
    monkeypatch.setattr(PjitFunction, "_call", None)
    for given in ways:
        found = add(*given, {"n": 2})
        assert found.committed
        assert found.sharding == expected.sharding
        np.testing.assert_array_equal(found, 3 * X + 2)


def test_a_call_runs_where_its_own_arguments_were_put():
    add, nowhere = irax.jit(lambda x, y: x + y), ConcreteArray(X.copy())
    for _ in range(3):
        for place in places():
            put = irax.device_put(X, place)
            for given in [(put, put), (nowhere, put), (put, X)]:
                found = add(*given)
                assert found.committed
                assert found.devices() == put.devices()
                np.testing.assert_array_equal(found, 2 * X)
            found = add(nowhere, nowhere)
            assert not found.committed
            assert found.devices() == nowhere.devices() == {cpu(0)}
    with pytest.raises(ValueError, match="received incompatible devices"):
        add(irax.device_put(X, cpu(0)), irax.device_put(X, cpu(1)))


def test_a_function_with_a_device_of_its_own_takes_the_short_way(monkeypatch):
    double, x = irax.jit(lambda x: 2 * x, device=cpu(1)), ConcreteArray(X.copy())
    double(x)
    monkeypatch.setattr(PjitFunction, "_call", None)
    assert double(x).devices() == {cpu(1)}


def test_arguments_and_results_that_are_divided_as_jit_is_told_take_the_short_way(monkeypatch):
    line = mesh_of(AxisType.Auto)
    rows, whole = NamedSharding(line, P("a")), NamedSharding(line, P())

    def step(n: int, state: Any, x: Any) -> Any:
        return {"w": state["w"] + n * x}, x.sum()

    divided = irax.jit(
        step, static_argnums=0, in_shardings=(rows, whole), out_shardings=(rows, None)
    )
    state, x = irax.device_put({"w": X}, rows), irax.device_put(X, whole)
    divided(2, state, x)
    puts = []
    monkeypatch.setattr(PjitFunction, "_call", None)
    for module in irax.core.shardings.sharded, irax.execution.shardings.jit_shardings:
        monkeypatch.setattr(module, "placed", lambda *given: puts.append(given))
    for n in range(3):
        state, total = divided(2, state, x)
        np.testing.assert_array_equal(state["w"], X + 2 * (n + 1) * X)
        assert state["w"].sharding == rows
        assert total == X.sum()
    assert not puts


def test_arguments_that_are_not_divided_as_jit_is_told_are_seen():
    line = mesh_of(AxisType.Auto)
    rows, columns = (NamedSharding(line, P(*spec)) for spec in [("a",), (None, "a")])
    double = irax.jit(lambda x: 2 * x, in_shardings=(rows,), out_shardings=columns)
    for _ in range(3):
        for x in [irax.device_put(X, rows), ConcreteArray(X.copy()), X]:
            found = double(x)
            assert found.sharding == columns
            np.testing.assert_array_equal(found, 2 * X)
        with pytest.raises(ValueError, match="but in_shardings has"):
            double(irax.device_put(X, columns))
        with pytest.raises(ValueError, match="but in_shardings has"):
            double(irax.device_put(X[0, 0], NamedSharding(line, P())))
        inside = irax.jit(lambda: double(irax.device_put(X, rows)))
        assert inside().sharding == columns


@pytest.mark.parametrize("spmd", ["one_buffer", "threads"])
def test_numpy_arrays_that_jit_divides_take_the_short_way(spmd, monkeypatch):
    line = mesh_of(AxisType.Auto)
    rows, whole = NamedSharding(line, P("a")), NamedSharding(line, P())
    with config.scoped("spmd", spmd):
        add = irax.jit(
            lambda x, y, z: (x + 2 * y + z, y), in_shardings=(whole, rows, None), out_shardings=rows
        )
        x, z = irax.device_put(X, whole), irax.device_put(X, rows)
        add(x, X, z)
        monkeypatch.setattr(PjitFunction, "_call", None)
        for given in (X.copy(), X.copy("F"), np.repeat(X, 2, 0)[::2], X.astype(">f4")):
            total, same = add(x, given, z)
            given[:] = 0
            np.testing.assert_array_equal(total, 4 * X)
            np.testing.assert_array_equal(same, X)
            assert total.sharding == same.sharding == rows
            assert [x.data.shape for x in same.addressable_shards] == [(2, 4)] * 2
        # Others have another signature; what `in_shardings` says nothing of is not divided.
        for others in [(x, X[:2], z), (x, X.astype("int32"), z), (x, X, X)]:
            with pytest.raises(TypeError, match="NoneType"):
                add(*others)


def test_results_that_a_program_leaves_elsewhere_are_moved(monkeypatch):
    line = mesh_of(AxisType.Auto)
    x, whole = irax.device_put(X, NamedSharding(line, P("a"))), NamedSharding(line, P())
    # So that the program is not told.
    monkeypatch.setattr(
        irax.execution.shardings.jit_shardings, "_constraint", lambda x, sharding: x
    )
    assert irax.jit(lambda x: 2 * x)(x).sharding == x.sharding
    double = irax.jit(lambda x: 2 * x, out_shardings=whole)
    for _ in range(3):
        assert double(x).sharding == whole


def test_caches_of_functions_with_shardings_can_be_cleared():
    rows, count = NamedSharding(mesh_of(AxisType.Auto), P("a")), []
    double = irax.jit(lambda x: (count.append(0), 2 * x)[1], in_shardings=(rows,))
    x = irax.device_put(X, rows)
    for clear in (lambda: None, irax.clear_caches, double.clear_cache):
        clear()
        for _ in range(3):
            double(x)
    assert len(count) == 3


def test_specs_are_those_of_the_mesh_of_the_context():
    double = irax.jit(lambda x: 2 * x, in_shardings=(P("a"),), out_shardings=P("a"))
    line = mesh_of(AxisType.Auto)
    for _ in range(2):
        for found in (line, line.update(devices=line.devices[::-1])):
            with irax.set_mesh(found):
                for x in (X, irax.device_put(X, P("a"))):
                    assert double(x).sharding == NamedSharding(found, P("a"))
    with pytest.raises(RuntimeError, match="needs a mesh"):
        double(X)


def test_specs_follow_without_a_mesh_of_the_context():
    explicit = Mesh(np.array([cpu(n) for n in range(4)], object), ("x",), (AxisType.Explicit,))
    rows = irax.device_put(np.arange(8, dtype=np.float32), NamedSharding(explicit, P("x")))
    double = irax.shard_map(lambda v: 2 * v, mesh=explicit, out_specs=P("x"))
    expected = 2 * np.arange(8.0)
    np.testing.assert_array_equal(irax.vjp(double, rows)[0], expected)
    np.testing.assert_array_equal(irax.jvp(double, (rows,), (rows,))[1], expected)
    np.testing.assert_array_equal(irax.linearize(double, rows)[1](rows), expected)
    np.testing.assert_array_equal(irax.grad(lambda x: (double(x) ** 2).sum())(rows), 4 * expected)
    stacked = irax.numpy.stack([rows, rows], 1)
    np.testing.assert_array_equal(irax.vmap(double, 1)(stacked), [expected] * 2)
    assert irax.make_jaxpr(double)(rows).out_avals[0].shape == (8,)
    scaled = lambda factor: double(factor * rows).sum()
    for call in (irax.grad(scaled), irax.jit(scaled)):
        with pytest.raises(ValueError, match=r"in_specs do not follow .*set_mesh"):
            call(2.0)
    with irax.set_mesh(explicit):
        assert irax.grad(scaled)(2.0) == 56
