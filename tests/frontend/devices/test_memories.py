"""Memories of devices: kinds of shardings, spaces in types, and what moves arrays between them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import P, ad_checkpoint, lax
from irax.ad_checkpoint import checkpoint_name
from irax.memory import Space
from irax.sharding import AxisType, Mesh, NamedSharding, SingleDeviceSharding
from irax_runtime.iree.cpu import cpu

DEVICES = np.array([cpu(n) for n in range(4)], dtype=object)
MESH = Mesh(DEVICES, ("a",))
ONE = Mesh(DEVICES[:1], ("a",))
X = np.arange(8, dtype=np.float32)
HOST, DEVICE = "float32<host>[8]", "float32[8]"


def to_host(x: Any) -> Any:
    return irax.device_put(x, Space.Host)


def to_device(x: Any) -> Any:
    return irax.device_put(x, Space.Device)


def types(tree: Any) -> list[str]:
    return [str(irax.typeof(x)) for x in irax.tree.leaves(tree)]


# ---- shardings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda kind=None: NamedSharding(ONE, P("a"), memory_kind=kind),
        lambda kind=None: NamedSharding(MESH.abstract_mesh, P("a"), memory_kind=kind),
        lambda kind=None: SingleDeviceSharding(cpu(0), memory_kind=kind),
    ],
)
def test_shardings_have_a_memory_kind(make: Callable[..., Any]):
    own, host = make(), make("pinned_host")
    assert own.memory_kind == "device"
    assert own == make("device") != host == own.with_memory_kind("pinned_host")
    assert hash(host) == hash(make("pinned_host"))
    assert "memory_kind=pinned_host)" in repr(host)
    assert own.is_equivalent_to(make("device"), 1)
    assert not own.is_equivalent_to(host, 1)
    assert copy.deepcopy(host) == host


def test_a_spec_is_changed_and_the_memory_stays():
    host = NamedSharding(ONE, P("a"), memory_kind="pinned_host")
    assert host.update(spec=P()).memory_kind == "pinned_host"
    assert host.update(memory_kind="device") == NamedSharding(ONE, P("a"))
    assert pickle.loads(pickle.dumps(host)).memory_kind == "pinned_host"


@pytest.mark.parametrize(
    "make",
    [
        lambda: NamedSharding(MESH, P("a"), memory_kind="hbm"),
        lambda: NamedSharding(MESH, P("a")).with_memory_kind("hbm"),
        lambda: SingleDeviceSharding(cpu(0), memory_kind="hbm"),
    ],
)
def test_a_memory_that_devices_lack(make: Callable[[], Any]):
    with pytest.raises(ValueError, match=r"'hbm' is no memory of CpuDevice.*'pinned_host'"):
        make()


# ---- arrays --------------------------------------------------------------------------------------

PLACES = {
    "space": Space.Host,
    "one device": SingleDeviceSharding(cpu(1), memory_kind="pinned_host"),
    "a mesh": NamedSharding(MESH, P("a"), memory_kind="pinned_host"),
}


@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_arrays_are_put_into_a_memory(place: Any, run: Any):
    x = run(lambda x: irax.device_put(x, place))(jnp.asarray(X))
    assert types(x) == [HOST]
    assert x.committed
    assert x.sharding.memory_kind == "pinned_host"
    assert isinstance(place, Space) or x.sharding == place
    assert x.aval.memory_space is Space.Host
    np.testing.assert_array_equal(x, X)
    there = run(to_device)(x)
    assert types(there) == [DEVICE]
    assert there.sharding == x.sharding.with_memory_kind("device")
    assert types(irax.device_put(x, cpu(2))) == [DEVICE]
    assert types(irax.device_put(x)) == [HOST]
    assert types(irax.device_put((x, X), (Space.Device, Space.Host))) == [DEVICE, HOST]


def test_memory_of_the_host_that_is_not_pinned_is_of_the_space_of_devices():
    x = irax.device_put(X, SingleDeviceSharding(cpu(0), memory_kind="unpinned_host"))
    assert x.sharding.memory_kind == "unpinned_host"
    for y in (x + 1, irax.jit(lambda x: x)(x), to_host(x) * 1):
        assert y.sharding.memory_kind == ("device" if types(y) == [DEVICE] else "pinned_host")
    assert types(x) == [DEVICE]


OPERATIONS: list[Callable[[Any], Any]] = [
    lambda x: x + 1,
    lambda x: x * x,
    jnp.sin,
    lambda x: x[1:3],
    lambda x: x[1],
    lambda x: x[None].T.reshape(2, 4),
    lambda x: x.astype("int32"),
    lambda x: x @ x,
    lambda x: jnp.where(x > 2, x, 0),
    lambda x: jnp.concatenate([x, x]),
    lambda x: x.at[0].set(1.0),
    lambda x: x.at[1:3].add(2.0),
    jnp.sort,
    jnp.cumsum,
    lambda x: jnp.max(x, keepdims=True),
    lambda x: lax.fori_loop(0, 2, lambda _, x: x * 2, x),
    lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    lambda x: lax.scan(lambda c, x: (c, x), 0.0, x)[1],
    lambda x: irax.jit(lambda x: x - 1)(x),
    irax.vmap(lambda x: x + 1),
    irax.grad(lambda x: (x * x).sum()),
    irax.checkpoint(jnp.sin),
    lambda x: irax.jvp(jnp.sin, (x,), (x,))[1],
    lambda x: x.copy(),
]


def results_of_operations(x: Any) -> list[Any]:
    return [f(x) for f in OPERATIONS]


@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_results_are_in_the_memory_of_the_operands(place: Any, run: Any):
    wanted = results_of_operations(jnp.asarray(X))
    results = run(results_of_operations)(irax.device_put(X, place))
    for number, (found, values) in enumerate(zip(results, wanted, strict=True)):
        assert "<host>" in str(irax.typeof(found)), number
        assert found.sharding.memory_kind == "pinned_host", number
        np.testing.assert_allclose(found, values, rtol=1e-6, err_msg=str(number))


@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
@pytest.mark.parametrize(
    "mixed",
    [
        lambda x: to_host(x) + x,
        lambda x: jnp.where(x > 0, to_host(x), x),
        lambda x: jnp.stack([to_host(x), x]),
        lambda x: to_host(x) @ x,
        lambda x: to_host(x) + jnp.asarray(X),
        lambda x: x[to_host(jnp.arange(3))],
    ],
)
def test_arrays_in_several_spaces(mixed: Callable[[Any], Any], run: Any):
    with pytest.raises(ValueError, match=r"<host>.* several spaces of memory.*device_put"):
        run(mixed)(irax.device_put(X, cpu(0)))


@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
def test_scalars_may_be_in_another_space(run: Any):
    for f in (lambda x: to_host(x) * x[1], lambda x: to_host(x) * 2, lambda x: x * to_host(x)[1]):
        result = run(f)(irax.device_put(X, cpu(0)))
        np.testing.assert_array_equal(result, X * float(result[1]))
    assert types(run(lambda x: to_host(x) * x[1])(X)) == [HOST]
    assert types(run(lambda x: x * to_host(x)[1])(X)) == [DEVICE]


# ---- transformations -----------------------------------------------------------------------------


def away(x: Any) -> Any:
    return to_device(to_host(x))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
@pytest.mark.parametrize(
    "f, wanted",
    [
        (lambda x: irax.jvp(to_host, (x,), (x,)), [HOST, HOST]),
        (lambda x: irax.linearize(to_host, x)[1](x), [HOST]),
        (lambda x: irax.vjp(to_host, x)[1](to_host(x)), [DEVICE]),
        (irax.grad(lambda x: (away(2 * x) ** 2).sum()), [DEVICE]),
        (lambda x: irax.grad(lambda x: (to_device(x) ** 2).sum())(to_host(x)), [HOST]),
        (irax.grad(irax.checkpoint(lambda x: jnp.sin(away(jnp.sin(x))).sum())), [DEVICE]),
        (irax.vmap(to_host), [HOST]),
        (irax.vmap(away), [DEVICE]),
        (lambda x: irax.vmap(irax.grad(lambda x: to_device(x) ** 2))(to_host(x)), [HOST]),
        (lambda x: lax.scan(lambda c, x: (c + x, to_host(x)), 0.0, x)[1], [HOST]),
        (lambda x: lax.scan(lambda c, x: (c, to_device(x)), 0.0, to_host(x))[1], [DEVICE]),
        (lambda x: lax.fori_loop(0, 2, lambda _, c: to_host(to_device(c) + 1), to_host(x)), [HOST]),
        (lambda x: lax.cond(x[1] > 0, to_host, lambda x: to_host(2 * x), x), [HOST]),
        (lambda x: irax.jit(to_host)(x), [HOST]),
        (irax.shard_map(to_host, mesh=MESH, in_specs=P("a"), out_specs=P("a")), [HOST]),
        (lambda x: irax.tree.leaves(to_host({"a": x, "b": x})), [HOST, HOST]),
    ],
)
def test_types_under_transformations(f: Callable[[Any], Any], wanted: list[str], run: Any):
    here = run(f)(jnp.asarray(X))
    assert types(here) == wanted
    assert [x.sharding.memory_kind == "pinned_host" for x in irax.tree.leaves(here)] == [
        x == HOST for x in wanted
    ]


def test_values_under_transformations():
    f = irax.grad(lambda x: (away(2 * x) ** 2).sum())
    np.testing.assert_array_equal(irax.jit(f)(X), 8 * X)
    np.testing.assert_array_equal(f(jnp.asarray(X)), 8 * X)


def test_types_in_a_trace():
    seen = []

    def f(x: Any) -> Any:
        seen.extend(types((x, to_host(x), to_host(x) * 2, away(x))))
        return x

    irax.jit(f)(X)
    irax.make_jaxpr(f)(X)
    assert seen == [DEVICE, HOST, HOST, DEVICE] * 2
    assert str(irax.make_jaxpr(to_host)(X).out_avals[0]) == HOST


@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
def test_loops_and_branches_keep_the_space(run: Any):
    def loop(x: Any) -> Any:
        return lax.scan(lambda c, _: (to_host(c), None), x, None, length=2)[0]

    def branch(x: Any) -> Any:
        return lax.cond(x[0] > 0, to_host, lambda x: x, x)

    for f in (loop, branch):
        with pytest.raises(TypeError, match=r"(?s)(?=.*float32\[8\]).*float32<host>\[8\]"):
            run(f)(jnp.asarray(X))


def test_types_tell_the_space_beside_the_layout():
    mesh = Mesh(DEVICES, ("a",), AxisType.Explicit)
    host = NamedSharding(mesh, P("a"), memory_kind="pinned_host")
    with irax.set_mesh(mesh):
        x = irax.device_put(X, host)
        assert types((x, x + 1, to_device(x))) == ["float32<host>[8@a]"] * 2 + ["float32[8@a]"]
        y = irax.jit(lambda x: 2 * x)(x)
        assert y.sharding == host


def test_results_of_programs_are_put_as_options_say():
    host = NamedSharding(MESH, P("a"), memory_kind="pinned_host")
    x = irax.jit(lambda x: 2 * x, out_shardings=host)(X)
    assert x.sharding == host
    assert types(x) == [HOST]
    struct = irax.ShapeDtypeStruct(X.shape, X.dtype, sharding=PLACES["one device"])
    compiled = irax.jit(lambda x: 2 * x).lower(struct).compile()
    found = compiled(irax.device_put(X, PLACES["one device"]))
    assert found.sharding == compiled.output_shardings == PLACES["one device"]


def test_residuals_that_a_policy_offloads():
    def f(x: Any) -> Any:
        return jnp.sin(checkpoint_name(jnp.cos(x), "kept")).sum()

    policy = irax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["kept"],
        offload_src="device",
        offload_dst="pinned_host",
    )
    checkpointed = irax.checkpoint(f, policy=policy)
    found = irax.jit(irax.grad(checkpointed))(X)
    assert types(found) == [DEVICE]
    np.testing.assert_allclose(found, irax.grad(f)(X), rtol=1e-6)
    assert sorted(types(irax.vjp(checkpointed, X)[1])) == sorted([DEVICE, HOST])


def decided_by(name: str, decision: Any) -> Any:
    """A policy that decides so about values of a name, and computes others again."""

    def policy(primitive: Any, *avals: Any, **parameters: Any) -> Any:
        return decision if parameters.get("name") == name else ad_checkpoint.Recompute

    return policy


OFFLOADED = ad_checkpoint.Offloadable("device", "pinned_host")
OF_PRODUCTS = irax.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "policy, expected",
    [
        (decided_by("kept", OFFLOADED), [DEVICE, HOST]),
        (decided_by("kept", ad_checkpoint.Saveable), [DEVICE, DEVICE]),
        (decided_by("other", OFFLOADED), [DEVICE]),
        (OF_PRODUCTS, [DEVICE, HOST]),
    ],
)
@pytest.mark.parametrize("is_jitted", [False, True])
def test_decisions_of_policies(policy: Any, expected: list[str], is_jitted: bool):
    def f(x: Any) -> Any:
        return jnp.sin(checkpoint_name(jnp.eye(8) @ jnp.cos(x), "kept"))

    def pullback(x: Any) -> Any:
        return irax.vjp(irax.checkpoint(f, policy=policy), x)[1]

    residuals = (irax.jit(pullback) if is_jitted else pullback)(X)
    assert sorted(types(residuals)) == sorted(expected)
    gradient = irax.jit(irax.grad(lambda x: irax.checkpoint(f, policy=policy)(x).sum()))(X)
    assert types(gradient) == [DEVICE]
    np.testing.assert_allclose(gradient, irax.grad(lambda x: f(x).sum())(X), rtol=1e-6)


def test_residuals_of_a_scan_that_are_offloaded(capsys: pytest.CaptureFixture[str]):
    def scanned(x: Any, policy: Any = None) -> Any:
        def body(c: Any, _: Any) -> Any:
            return jnp.cos(checkpoint_name(jnp.sin(c), "kept")), None

        return lax.scan(irax.checkpoint(body, policy=policy), x, None, length=4)[0].sum()

    def offloaded(x: Any) -> Any:
        return scanned(x, decided_by("kept", OFFLOADED))

    ad_checkpoint.print_saved_residuals(offloaded, X)
    assert sorted(capsys.readouterr().out.split()) == ["float32<host>[4,8]", "float32[4,8]"]
    for transformed in (irax.grad, lambda f: irax.jit(irax.grad(f))):
        found = transformed(offloaded)(X)
        assert types(found) == [DEVICE]
        np.testing.assert_allclose(found, irax.grad(scanned)(X), rtol=1e-6)


@pytest.mark.parametrize("memory", ["hbm", "unpinned_host", "device"])
def test_residuals_stay_where_the_device_has_no_other_space(memory: str):
    def f(x: Any) -> Any:
        return jnp.sin(checkpoint_name(jnp.eye(8) @ jnp.cos(x), "kept"))

    for policy in (
        decided_by("kept", ad_checkpoint.Offloadable("device", memory)),
        irax.checkpoint_policies.offload_dot_with_no_batch_dims("device", memory),
    ):
        pullback = irax.vjp(irax.checkpoint(f, policy=policy), X)[1]
        assert types(pullback) == [DEVICE, DEVICE]


def test_parts_are_in_the_memory_of_the_array():
    x = irax.device_put(X, NamedSharding(MESH, P("a"), memory_kind="pinned_host"))
    for shard in (*x.addressable_shards, *x.global_shards):
        assert types(shard.data) == ["float32<host>[2]"]
        assert shard.data.sharding.memory_kind == "pinned_host"
    assert types([s.data for s in to_device(x).addressable_shards]) == ["float32[2]"] * 4


def test_keys_are_put_into_a_memory():
    key = to_host(irax.random.key(0))
    assert key.data.sharding.memory_kind == "pinned_host"


def test_the_spaces():
    assert list(map(repr, Space)) == [f"MemorySpace.{n}" for n in ("Device", "Host", "Any")]
    with pytest.raises(ValueError, match=r"expected Space\.Device or Space\.Host"):
        irax.device_put(X, Space.Any)
