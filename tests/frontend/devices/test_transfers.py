"""device_put: what traces do with shardings, and whose memory results have."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import P, lax
from irax.config import config
from irax.sharding import AxisType, Mesh, NamedSharding, SingleDeviceSharding
from irax_runtime.iree.cpu import cpu

DEVICES = np.array([cpu(n) for n in range(4)], dtype=object)
X = np.arange(16, dtype=np.float32).reshape(4, 4)


@pytest.fixture
def mesh() -> Mesh:
    return Mesh(DEVICES.reshape(2, 2), ("a", "b"))


def spec(x: irax.Array) -> Any:
    return x.sharding.spec if isinstance(x.sharding, NamedSharding) else None


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "make",
    [
        lambda x, there: irax.device_put(x * 1, there),
        lambda x, there: irax.device_put(X, there),
        lambda x, there: jnp.asarray(x, device=there),
        lambda x, there: jnp.zeros((4, 4), device=there) + x,
        lambda x, there: jnp.full_like(x, 1, device=there) * x,
        lambda x, there: jnp.eye(4, device=there) + x,
    ],
)
def test_a_program_divides_arrays_as_it_puts_them(mesh: Mesh, make: Callable[..., Any]):
    there = NamedSharding(mesh, P("a", "b"))
    found = irax.jit(lambda x: make(x, there))(X)
    assert found.sharding == there
    np.testing.assert_array_equal(found, make(X, there))


def test_what_a_program_puts_has_that_type(mesh: Mesh):
    kinds = (AxisType.Explicit, AxisType.Explicit)
    with irax.set_mesh(Mesh(DEVICES.reshape(2, 2), ("a", "b"), kinds)):
        types = []

        def f(x: irax.Array) -> irax.Array:
            there = irax.device_put(x, P("a"))
            types.append(str(irax.typeof(there)))
            return there

        assert spec(irax.jit(f)(X)) == P("a")
        assert types == ["float32[4@a,4]"]


def test_where_a_program_cannot_put_arrays(mesh: Mesh):
    def put(*entries: Any, on: Mesh = mesh) -> Callable[..., Any]:
        return irax.jit(lambda x: irax.device_put(x, NamedSharding(on, P(*entries))))

    with pytest.raises(ValueError, match=r"2 parts, but it has size 3 in shape \(3,\)"):
        put("a")(np.ones(3))
    with pytest.raises(ValueError, match="for arrays of at least 3 dimensions, got one of 2"):
        put("a", None, None)(X)
    other = Mesh(DEVICES[:2], ("a",))
    x = irax.device_put(X, NamedSharding(mesh, P("a")))
    with pytest.raises(ValueError, match="received incompatible devices: arguments are on"):
        put("a", on=other)(x)


@pytest.mark.parametrize(
    "derived",
    [
        lambda f: f,
        irax.vmap,
        lambda f: irax.vmap(irax.jit(f)),
        lambda f: irax.grad(lambda x: f(x).sum()),
        lambda f: lambda x: irax.jvp(f, (x,), (x,))[1],
        lambda f: lambda x: irax.linearize(f, x)[1](x),
        lambda f: lambda x: lax.scan(lambda c, y: (c + f(y), None), 0 * x[0], x)[0],
    ],
)
def test_programs_that_run_at_once_divide_arrays(mesh: Mesh, derived: Callable[..., Any]):
    there = NamedSharding(mesh, P(None, "b"))

    def f(x: irax.Array) -> irax.Array:
        return lax.with_sharding_constraint(x, there.update(spec=P(*there.spec[2 - x.ndim :])))

    found = derived(f)(jnp.asarray(X))
    assert tuple(spec(found))[-1] == "b"
    np.testing.assert_array_equal(found, derived(lambda x: x)(jnp.asarray(X)))


@pytest.mark.parametrize("spmd", ["one_buffer", "threads"])
def test_arrays_in_memory_of_their_own(mesh: Mesh, spmd: str):
    places = [None, cpu(1), SingleDeviceSharding(cpu(0)), NamedSharding(mesh, P("a"))]
    with config.scoped("spmd", spmd):
        for place in places:
            x = irax.device_put(X, place)
            own = [irax.device_put(x, place, may_alias=False), jnp.array(x, copy=True), x.copy()]
            double = irax.jit(lambda x: 2 * x, donate_argnums=0)
            np.testing.assert_array_equal(double(x), 2 * X)
            for copy in own:
                assert copy.sharding == x.sharding
                assert copy.committed == (place is not None)
                np.testing.assert_array_equal(copy, X)


def test_a_program_puts_arrays_on_platforms_that_there_are():
    with pytest.raises(RuntimeError, match="nowhere"):
        irax.jit(lambda x: irax.device_put(x, "nowhere"))(jnp.ones(2))


def test_copies_of_keys_are_in_memory_of_their_own():
    keys = irax.random.split(irax.random.key(0), 3)
    copy = keys.copy()
    assert not np.shares_memory(irax.random.key_data(copy), irax.random.key_data(keys))
    assert (copy == keys).all()


def test_options_for_each_array():
    x, y = jnp.ones(3), jnp.ones(3)
    one, other = irax.device_put((x, y), may_alias=(False, None))
    assert not np.shares_memory(one, x)
    assert np.shares_memory(other, y)
    with pytest.raises(ValueError, match="may_alias and donate cannot both be True"):
        irax.device_put((x, y), may_alias=True, donate=(False, True))


def test_donated_arrays_are_deleted_once_they_are_elsewhere():
    here, there, keys = irax.numpy.ones(4), irax.numpy.ones(4) + 1, irax.random.key(0)
    put = irax.device_put((here, here, there), irax.devices()[0], donate=(True, True, False))
    assert here.is_deleted()
    assert not there.is_deleted()
    np.testing.assert_array_equal(put[0] + put[1] + put[2], [4, 4, 4, 4])
    with pytest.raises(RuntimeError, match="has been deleted"):
        _ = here + 1
    same = irax.device_put(put[2], put[2].device, donate=True)
    np.testing.assert_array_equal(put[2], same)
    moved = irax.device_put(keys, irax.devices()[0], donate=True)
    assert keys.is_deleted()
    assert moved.committed
    assert not moved.is_deleted()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "put",
    [
        lambda x: jnp.array(x, device=cpu(2)),
        lambda x: jnp.asarray(x, device=cpu(2)) * 1,
        lambda x: jnp.astype(x, "float32", device=cpu(2)),
        lambda x: irax.device_put(x, SingleDeviceSharding(cpu(2))),
        lambda x: lax.with_sharding_constraint(x, SingleDeviceSharding(cpu(2))),
        lambda x: irax.jit(lambda x: jnp.array(x, device=cpu(2)))(x) + 0,
        irax.vmap(lambda x: irax.device_put(x, SingleDeviceSharding(cpu(2)))),
        irax.grad(lambda x: irax.device_put(x**2 / 2, SingleDeviceSharding(cpu(2))).sum()),
        lambda x: x + jnp.asarray(np.zeros((4, 4), "float32"), device=cpu(2)),
    ],
)
def test_a_program_runs_on_the_device_that_it_names(put: Callable[..., Any]):
    f = irax.jit(put)
    for x in (X, jnp.asarray(X), irax.device_put(X, cpu(2)), jnp.asarray(X)):
        found = f(x)
        assert found.committed
        assert found.device is cpu(2)
        np.testing.assert_array_equal(found, X)
    with irax.default_device(cpu(1)):
        assert f(X).device is cpu(2)
    with pytest.raises(ValueError, match=r"are on CpuDevice\(id=1\), and the function names CpuD"):
        f(irax.device_put(X, cpu(1)))


def test_new_arrays_of_a_program_are_where_it_runs():
    found = irax.jit(lambda x: jnp.zeros((4, 4), device=cpu(2)) + x)(irax.device_put(X, cpu(1)))
    assert found.device is cpu(1)


def test_a_program_names_one_place(mesh: Mesh):
    one, other = (SingleDeviceSharding(cpu(n)) for n in (1, 2))
    half = NamedSharding(Mesh(DEVICES[:2], ("a",)), P("a"))
    whole = NamedSharding(mesh, P("a"))

    def nested(x: irax.Array) -> Any:
        return irax.jit(lambda x: jnp.array(x, device=cpu(1)))(x) + jnp.array(x, device=cpu(2))

    for f in (
        nested,
        lambda x: (irax.device_put(x, one), irax.device_put(x, other)),
        lambda x: (irax.device_put(x, whole), irax.device_put(x, half)),
        lambda x: (irax.device_put(x, whole), irax.device_put(x, one)),
    ):
        with pytest.raises(ValueError, match=r"incompatible devices: the function puts arrays on"):
            irax.jit(f)(X)
