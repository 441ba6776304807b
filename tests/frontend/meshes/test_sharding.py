"""Meshes, partition specs and shardings: the names, numbers and errors of JAX's."""

import pickle
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import P
from irax.core.shardings.layouts import Format, Layout
from irax.experimental import mesh_utils, multihost_utils
from irax.sharding import (
    AbstractDevice,
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    SingleDeviceSharding,
)
from irax_runtime.iree.cpu import cpu

DEVICES = np.array([cpu(n) for n in range(4)], dtype=object)


@pytest.fixture
def mesh() -> Mesh:
    return Mesh(DEVICES.reshape(2, 2), ("a", "b"))


def test_specs():
    spec = P("a", ("a_b",), ("c", "d"), (), None)
    assert tuple(spec) == ("a", "a_b", ("c", "d"), None, None)
    assert repr(spec) == "P('a', 'a_b', ('c', 'd'), None, None)"
    assert spec == P("a", "a_b", ("c", "d"), None, None) != P("a")
    assert hash(P("a")) == hash(P(("a",)))
    assert P("a") == P("a", None)
    assert hash(P("a")) == hash(P("a", None))
    assert P(None, "a") != P("a") != P("a", P.UNCONSTRAINED)
    assert P("a") + P(None, "b") == P("a", None, "b") == P("a") + (None, "b")
    assert P("a", None).index(None) == 1
    assert pickle.loads(pickle.dumps(P("a", unreduced={"b"}))) == P("a", unreduced={"b"})
    assert repr(P("a", unreduced={"b"})) == "P('a', unreduced={'b'}, unreduced_kind=sum)"
    with pytest.raises(ValueError, match="two of these"):
        P("a", unreduced={"a"})
    with pytest.raises(AttributeError, match=r"use \.update"):
        spec.reduced = frozenset()


def test_specs_hold_names():
    with pytest.raises(
        ValueError, match=r"expected names of axes in a tuple, got \('a', \('b',\)\)"
    ):
        P("c", ("a", ("b",)))


def test_specs_are_leaves():
    assert irax.tree_util.tree_leaves({"w": P("a", None), "b": P()}) == [P(), P("a", None)]


def test_meshes(mesh: Mesh):
    assert mesh.shape == {"a": 2, "b": 2}
    assert mesh.shape_tuple == (("a", 2), ("b", 2))
    assert (mesh.size, mesh.axis_sizes, mesh.axis_types) == (4, (2, 2), (AxisType.Auto,) * 2)
    assert str(mesh) == "Mesh('a': 2, 'b': 2, axis_types=(Auto, Auto))"
    np.testing.assert_array_equal(mesh.device_ids, [[0, 1], [2, 3]])
    assert mesh == Mesh(DEVICES.reshape(2, 2), ("a", "b")) != mesh.update(axis_names=["b", "a"])
    assert pickle.loads(pickle.dumps(mesh.abstract_mesh)) == AbstractMesh(
        (2, 2), ("a", "b"), (AxisType.Auto,) * 2
    )
    assert mesh.local_mesh is mesh
    with pytest.raises(ValueError, match="a name for each of the 2 dimensions"):
        Mesh(DEVICES.reshape(2, 2), ("a",))
    with pytest.raises(ValueError, match="each name once"):
        Mesh(DEVICES.reshape(2, 2), ("a", "a"))
    with pytest.raises(ValueError, match="IRAX_CPU_DEVICES=8"):
        irax.make_mesh((8,), ("a",))


def test_the_mesh_of_the_context(mesh: Mesh):
    assert irax.sharding.get_mesh().empty
    with irax.set_mesh(mesh):
        assert irax.sharding.get_mesh() == mesh
        assert irax.sharding.get_abstract_mesh() == mesh.abstract_mesh
        with irax.set_mesh(mesh.update(axis_names=("x", "y"))):
            assert irax.sharding.get_mesh().axis_names == ("x", "y")
        assert irax.sharding.get_mesh() == mesh
    assert irax.sharding.get_mesh().empty
    with pytest.raises(ValueError, match="expected a Mesh"):
        irax.set_mesh("a")  # pyright: ignore[reportArgumentType]


@pytest.mark.filterwarnings("ignore:.with mesh")
@pytest.mark.parametrize("run", [lambda f: f, irax.jit])
def test_a_mesh_that_is_entered_is_that_of_constraints_alone(mesh: Mesh, run: Any):
    def rows(x: irax.Array) -> irax.Array:
        return irax.lax.with_sharding_constraint(x, P("a"))

    x, f = jnp.arange(4.0), run(rows)
    for _ in range(2):
        with mesh:
            assert irax.sharding.get_mesh().empty
            assert f(x).sharding == NamedSharding(mesh, P("a"))
            assert len(jnp.ones(2).devices()) == len(irax.jit(jnp.sin)(x).devices()) == 1
            assert f(irax.device_put(x, NamedSharding(mesh, P("b")))).sharding.spec == P("a")
        with mesh.update(axis_names=("b", "a")) as other:
            assert f(x).sharding == NamedSharding(other, P("a"))
        with pytest.raises(RuntimeError, match="needs a mesh"):
            f(x)
    with mesh.update(axis_types=(AxisType.Explicit,) * 2), pytest.raises(ValueError, match="Auto"):
        f(x)
    with mesh:
        for use in (
            lambda: irax.device_put(x, P("a")),
            lambda: irax.jit(jnp.sin, in_shardings=P("a"))(x),
            lambda: irax.reshard(x, P("a")),
        ):
            with pytest.raises(RuntimeError, match="needs a mesh"):
                use()
        with pytest.raises(ValueError, match="there is no mesh"):
            irax.shard_map(jnp.sin, in_specs=P("a"), out_specs=P("a"))(x)
    with pytest.raises(ValueError, match="must have a sharding for each array"):
        irax.reshard(x, None)


def test_types_outside_of_contexts_tell_layouts_along_the_axes_of_the_own_mesh(mesh: Mesh):
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    own = mesh.update(axis_types=(AxisType.Explicit, AxisType.Auto))
    there = irax.device_put(x, NamedSharding(own, P("a", "b")))
    for y in (there, there + 1, irax.jit(jnp.sin)(there)):
        assert str(irax.typeof(y)) == "float32[4@a,4]"
        assert irax.typeof(y).sharding == NamedSharding(own.abstract_mesh, P("a", None))
    assert str(irax.typeof(irax.device_put(x, NamedSharding(mesh, P("a"))))) == "float32[4,4]"
    assert str(irax.typeof(jnp.asarray(x))) == "float32[4,4]"
    with irax.set_mesh(mesh.update(axis_types=(AxisType.Explicit,) * 2)):
        assert str(irax.typeof(there)) == "float32[4@a,4@b]"


def test_shardings(mesh: Mesh):
    sharding = NamedSharding(mesh, P("a", None))
    assert sharding.shard_shape((4, 6)) == (2, 6)
    assert sharding.devices_indices_map((4, 6)) == {
        cpu(0): (slice(0, 2), slice(None)),
        cpu(1): (slice(0, 2), slice(None)),
        cpu(2): (slice(2, 4), slice(None)),
        cpu(3): (slice(2, 4), slice(None)),
    }
    both = NamedSharding(mesh, P(None, ("b", "a")))
    found = both.devices_indices_map((1, 4))
    assert [found[cpu(n)][1].start for n in range(4)] == [0, 2, 1, 3]
    assert sharding.is_equivalent_to(NamedSharding(mesh, P("a")), 2)
    assert not sharding.is_equivalent_to(both, 2)
    abstract = NamedSharding(mesh.abstract_mesh, P("a"))
    assert abstract.is_equivalent_to(NamedSharding(mesh.abstract_mesh, P("a")), 2)
    assert not abstract.is_equivalent_to(sharding, 2)
    assert sharding == NamedSharding(mesh, P("a")) != NamedSharding(mesh, P("b"))
    assert not sharding.is_fully_replicated
    assert NamedSharding(mesh, P()).is_fully_replicated
    assert sharding.is_fully_addressable
    assert sharding.has_addressable_devices
    sharding.check_compatible_aval((3, 4))
    assert SingleDeviceSharding(cpu(1)).shard_shape((3,)) == (3,)


def test_errors_of_shardings(mesh: Mesh):
    with pytest.raises(ValueError, match="'z' of P\\('z',\\) is not one of the mesh's axes"):
        NamedSharding(mesh, P("z"))
    with pytest.raises(ValueError, match="two dimensions along the axis 'a'"):
        NamedSharding(mesh, P("a", "a"))
    with pytest.raises(ValueError, match="dimension 0 into 2 parts, but it has size 3"):
        NamedSharding(mesh, P("a")).shard_shape((3, 4))
    with pytest.raises(ValueError, match="at least 2 dimensions, got one of 1"):
        NamedSharding(mesh, P("a", "b")).shard_shape((4,))
    with pytest.raises(ValueError, match="at least 1 dimensions, got one of 0"):
        NamedSharding(mesh, P("a")).check_compatible_aval(())
    with pytest.raises(ValueError, match="no memory of CpuDevice"):
        NamedSharding(mesh, P(), memory_kind="hbm")


# ---- arrays --------------------------------------------------------------------------------------


X = np.arange(16, dtype=np.float32).reshape(4, 4)


@pytest.mark.filterwarnings("ignore:.with mesh")
def test_the_older_name_of_jit():
    with pytest.warns(DeprecationWarning, match=r"use irax\.jit"):
        from irax.experimental.pjit import pjit
    mesh, x = Mesh(np.array(DEVICES).reshape(2, 2), ("a", "b")), np.arange(4.0)
    function = pjit(lambda x: 2 * x, in_shardings=P("a"), out_shardings=P(("a", "b")))
    whole = pjit(lambda x: 2 * x, in_shardings=P("a"), out_shardings=None)
    with pytest.raises(RuntimeError, match="needs a mesh"):
        function(x)
    with mesh:
        for call in (function, irax.jit(function), function.lower(x).compile()):
            assert call(x).sharding == NamedSharding(mesh, P(("a", "b")))
        assert irax.vmap(function)(x[None]).tolist() == [[0, 2, 4, 6]]
        assert whole(x).sharding == NamedSharding(mesh, P())
        with pytest.raises(RuntimeError, match="needs a mesh"):
            irax.jit(lambda x: x, in_shardings=P("a"))(x)
    with Mesh(np.array(DEVICES[:2]), ("a",)) as other:
        assert pjit(in_shardings=P("a"))(lambda x: x)(x).sharding == NamedSharding(other, P("a"))


def test_arrays_on_a_mesh(mesh: Mesh):
    sharding = NamedSharding(mesh, P("a"))
    x = irax.device_put(X, sharding)
    assert x.sharding == sharding
    assert x.committed
    assert (x.is_fully_replicated, x.is_fully_addressable) == (False, True)
    assert x.devices() == set(DEVICES)
    shards = x.addressable_shards
    assert [s.device for s in shards] == list(DEVICES)
    assert [s.replica_id for s in shards] == [0, 1, 0, 1]
    assert [s.index for s in shards[1:3]] == [
        (slice(0, 2), slice(None)),
        (slice(2, 4), slice(None)),
    ]
    np.testing.assert_array_equal(shards[2].data, X[2:])
    assert shards[2].data.sharding == SingleDeviceSharding(cpu(2))
    np.testing.assert_array_equal(x.addressable_data(3), X[2:])
    np.testing.assert_array_equal(x, X)
    assert len(x.global_shards) == 4
    assert irax.numpy.ones(3).sharding == SingleDeviceSharding(irax.devices()[0])


def test_a_format_stands_for_its_sharding(mesh: Mesh):
    sharding = NamedSharding(mesh, P("a"))
    put = irax.device_put({"x": X}, Format(Layout((0, 1)), sharding))["x"]
    assert put.sharding == sharding
    assert put.sharding._addressable_device_assignment == tuple(DEVICES)
    assert irax.device_put(X, Format(None, None)).sharding == irax.device_put(X).sharding


def test_computing_with_arrays_on_a_mesh(mesh: Mesh):
    """Shardings of results that JAX 0.10.2 gives, too."""
    rows, columns = NamedSharding(mesh, P("a")), NamedSharding(mesh, P(None, "a"))
    x = irax.device_put(X, rows)
    assert (x + 1).sharding == rows
    assert irax.numpy.where(x > 3, x, 0).sharding == rows
    results = irax.jit(lambda v: (v * 2, v.T, v @ v, v.sum(0), v @ v.T))(x)
    assert [result.sharding for result in results[:3]] == [rows, columns, rows]
    assert results[3].sharding.is_fully_replicated
    np.testing.assert_array_equal(results[4], X @ X.T)
    summed = irax.shard_map(
        lambda v: irax.lax.psum(v, "a"), mesh=mesh, in_specs=P("a", "b"), out_specs=P(None, "b")
    )
    expected = X[:2] + X[2:]
    np.testing.assert_array_equal(summed(x), expected)
    result = irax.jit(summed)(x)
    np.testing.assert_array_equal(result, expected)
    assert result.sharding == NamedSharding(mesh, P(None, "b"))


@pytest.mark.filterwarnings("ignore:.with mesh")
@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("count", [1, 4])
def test_arrays_that_were_put_nowhere_are_on_the_mesh_that_is_set(kind: AxisType, count: int):
    """Shardings that JAX 0.10.2 gives, too."""
    line = Mesh(DEVICES[:count], ("a",), (kind,))
    whole, outside = NamedSharding(line, P()), irax.numpy.arange(4.0)
    double = irax.jit(lambda v: 2 * v)
    with irax.set_mesh(line):
        assert irax.numpy.ones(4).sharding == whole
        assert (outside + 1).sharding == irax.random.key(0).sharding == whole
        assert double.lower(outside).compile().output_shardings == whole
        result = double(outside)
        shards = irax.numpy.sin(outside).addressable_shards
        assert [s.device for s in shards] == list(DEVICES[:count])
        with irax.set_mesh(None):
            assert not double(outside).committed
    assert result.sharding == double(result).sharding == whole
    np.testing.assert_array_equal(result, [0, 2, 4, 6])
    with line:
        assert irax.numpy.ones(4).sharding == SingleDeviceSharding(irax.devices()[0])
        assert not double(outside).committed


def test_axes_of_the_mesh_that_is_set_are_not_manual():
    manual = Mesh(DEVICES.reshape(2, 2), ("a", "b"), (AxisType.Auto, AxisType.Manual))
    with pytest.raises(ValueError, match=r"set_mesh: the axes \('b',\) of Mesh\(.*are Manual"):
        irax.set_mesh(manual)
    assert irax.sharding.get_mesh().empty


def test_meshes_that_differ_in_kinds_or_names_of_axes():
    auto = Mesh(DEVICES, ("a",))
    explicit, other = auto.update(axis_types=(AxisType.Explicit,)), auto.update(axis_names=("z",))
    put = [irax.device_put(X, NamedSharding(m, P(m.axis_names[0]))) for m in (auto, explicit)]
    assert [x.sharding.mesh for x in put] == [auto, explicit]
    assert irax.device_put(put[0], put[1].sharding).sharding == put[1].sharding
    negate = irax.jit(lambda v: -v)
    for x in put:
        assert negate(x).sharding == x.sharding
        with irax.set_mesh(other):
            assert negate(x).sharding == NamedSharding(other, P("z"))
    np.testing.assert_array_equal(put[0] + put[1], 2 * X)
    assert (put[0] + put[1]).sharding == put[0].sharding


def test_a_mesh_of_one_device():
    mesh = Mesh(DEVICES[:1], ("a",))
    rows = NamedSharding(mesh, P("a"))
    mapped = irax.shard_map(lambda v: v + 1, mesh=mesh, in_specs=P("a"), out_specs=P("a"))
    constrained = irax.jit(lambda v: irax.lax.with_sharding_constraint(v, rows))
    for function in (mapped, irax.jit(mapped), constrained):
        found = function(X).sharding
        assert isinstance(found, NamedSharding)
        assert found.mesh == mesh


def test_keys_on_a_mesh(mesh: Mesh):
    rows = NamedSharding(mesh, P("a"))
    keys = irax.device_put(irax.random.split(irax.random.key(0), 4), rows)
    assert keys.sharding == irax.jit(lambda k: k)(keys).sharding == rows
    assert keys.sharding.spec == P("a")
    shards = keys.addressable_shards
    assert [s.index for s in shards[1:3]] == [(slice(0, 2),), (slice(2, 4),)]
    of_one = irax.random.key_data(shards[2].data)
    np.testing.assert_array_equal(of_one, irax.random.key_data(keys)[2:])
    with irax.set_mesh(mesh.update(axis_types=(AxisType.Explicit,) * 2)):
        keys = irax.reshard(irax.random.split(irax.random.key(0), 2), P("a"))
        assert irax.typeof(keys).sharding.spec == P("a")
        draw = irax.shard_map(lambda k: irax.random.split(k[0], 1), out_specs=P("a"))
        assert irax.jit(draw)(keys).shape == (2,)


def test_pytrees_of_shardings(mesh: Mesh):
    with irax.set_mesh(mesh):
        put = irax.device_put({"w": X, "b": X[0]}, {"w": P("a", "b"), "b": P()})
    assert put["w"].sharding == NamedSharding(mesh, P("a", "b"))
    assert put["b"].sharding.is_fully_replicated
    with pytest.raises(RuntimeError, match="needs a mesh"):
        irax.device_put(X, P("a"))


def test_jit_with_shardings(mesh: Mesh):
    rows, columns = NamedSharding(mesh, P("a")), NamedSharding(mesh, P(None, "a"))
    f = irax.jit(
        lambda n, v: (v * n, v), static_argnums=0, in_shardings=rows, out_shardings=(columns, None)
    )
    doubled, same = f(2, X)
    np.testing.assert_array_equal(doubled, 2 * X)
    assert (doubled.sharding, same.sharding) == (columns, rows)
    with irax.set_mesh(mesh):
        assert irax.jit(lambda v: v, out_shardings=P("b"))(X).sharding == NamedSharding(
            mesh, P("b")
        )
    compiled = f.lower(2, X).compile()
    for argument in (X, irax.device_put(X, rows)):
        doubled, _ = compiled(argument)
        np.testing.assert_array_equal(doubled, 2 * X)
        assert doubled.sharding == columns
    nested = irax.jit(lambda v: irax.jit(lambda u: u + 1, out_shardings=columns)(v))
    assert nested(irax.device_put(X, rows)).sharding == columns
    with pytest.raises(ValueError, match="has the sharding"):
        f(2, irax.device_put(X, columns))
    with pytest.raises(ValueError, match="dimension 0 into 2 parts"):
        f(2, X[:3])
    with pytest.raises(RuntimeError, match="needs a mesh"):
        irax.jit(lambda v: v, in_shardings=P("a"))(X)
    with pytest.raises(ValueError, match=r"incompatible devices.* or sharding"):
        irax.numpy.add(irax.device_put(X, rows), irax.device_put(X, cpu(1)))


def test_what_shardings_of_jit_may_say(mesh: Mesh):
    rows, open_ = NamedSharding(mesh, P("a")), NamedSharding(mesh, P(P.UNCONSTRAINED, "b"))
    for name in ("in_shardings", "out_shardings"):
        for wanted in (open_, open_.spec, {"x": (rows, open_)}):
            with pytest.raises(
                ValueError, match=f"jit: {name}: .* leaves a dimension UNCONSTRAINED"
            ):
                irax.jit(lambda x: x, **{name: wanted})
    f = irax.jit(lambda x, n=1: n * x, in_shardings=rows, static_argnames="n")
    assert f(X, n=2).sharding.spec == f.lower(X, n=2).compile()(X).sharding.spec == P("a")
    for call in (f, f.lower):
        with pytest.raises(ValueError, match="in_shardings are of positional arguments, and x was"):
            call(x=X)


def test_compiled_programs_take_arrays_that_are_divided_as_they_expect(mesh: Mesh):
    rows, columns = NamedSharding(mesh, P("a")), NamedSharding(mesh, P(None, "b"))
    x = irax.device_put(X, rows)
    compiled = irax.jit(lambda x: 2 * x).lower(x).compile()
    turned = Mesh(DEVICES.reshape(2, 2), ("b", "a"))
    for same in (X, irax.numpy.asarray(X), x, irax.device_put(X, NamedSharding(turned, P("b")))):
        np.testing.assert_array_equal(compiled(same), 2 * X)
    for other in (columns, SingleDeviceSharding(cpu(0))):
        with pytest.raises(ValueError, match=r"x is float32\[4,4\] with the sharding"):
            compiled(irax.device_put(X, other))
    on_one = irax.jit(lambda x: 2 * x).lower(X).compile()
    with pytest.raises(ValueError, match="compiled for SingleDeviceSharding"):
        on_one(x)


def test_constraints(mesh: Mesh):
    rows, columns = NamedSharding(mesh, P("a")), NamedSharding(mesh, P(None, ("b", "a")))
    constraint = irax.lax.with_sharding_constraint
    assert constraint(X, columns).sharding == columns
    assert constraint(constraint(X, columns), rows).sharding == rows

    @irax.jit
    def squares(v):
        return constraint(v * v, columns)

    x = irax.device_put(X, rows)
    assert squares(x).sharding == columns
    np.testing.assert_array_equal(squares(x), X * X)
    np.testing.assert_array_equal(squares(X), X * X)
    gradient = irax.grad(lambda v: (squares(v) ** 2).sum())
    np.testing.assert_allclose(gradient(X), 4 * X**3, rtol=1e-6)
    np.testing.assert_allclose(irax.jit(gradient)(x), 4 * X**3, rtol=1e-6)
    second = irax.vmap(irax.grad(lambda v: gradient(v).sum()))(X[None])
    np.testing.assert_allclose(second[0], 12 * X**2, rtol=1e-6)
    assert "irax.shard_map" in irax.jit(squares).lower(X).as_text()
    np.testing.assert_array_equal(irax.jit(lambda v: constraint(v, rows))(X[:3]), X[:3])
    with pytest.raises(RuntimeError, match="needs a mesh"):
        irax.jit(lambda v: constraint(v, P("a")))(X)


def test_a_constraint_by_the_mesh_of_the_context(mesh: Mesh):
    abstract = NamedSharding(mesh.abstract_mesh, P("a"))
    with irax.set_mesh(mesh):
        divided = irax.lax.with_sharding_constraint(irax.numpy.arange(8.0), abstract)
    assert divided.sharding == NamedSharding(mesh, P("a"))
    x = irax.numpy.ones(2)  # a type has no axes outside of meshes
    assert irax.lax.with_sharding_constraint(x, irax.typeof(x).sharding) is x
    with pytest.raises(ValueError, match="its mesh is abstract, and not that of the context"):
        irax.lax.with_sharding_constraint(irax.numpy.arange(8.0), abstract)


def test_lanes_divided_among_devices(mesh: Mesh):
    """Layouts as JAX documents them: the mapped dimension is divided, too."""
    columns = NamedSharding(mesh, P("b"))

    def squares(v):
        return irax.lax.with_sharding_constraint(v * v, columns)

    def layout(f, *args):
        return irax.jit(f)(*args).sharding  # pyright: ignore[reportAttributeAccessIssue]

    x = irax.device_put(X, NamedSharding(mesh, P()))
    lanes = irax.vmap(squares, spmd_axis_name="a")
    assert layout(lanes, x) == NamedSharding(mesh, P("a", "b"))
    assert layout(irax.vmap(squares), x) == NamedSharding(mesh, P(None, "b"))
    np.testing.assert_array_equal(irax.jit(lanes)(x), X * X)
    gradient = irax.vmap(irax.grad(lambda v: squares(v).sum()), spmd_axis_name=("a",))
    outer = irax.vmap(gradient, in_axes=1)
    with irax.disable_jit():
        np.testing.assert_array_equal(lanes(X), X * X)
        np.testing.assert_array_equal(outer(np.stack([X, 2 * X], 1)), [2 * X, 4 * X])
    np.testing.assert_array_equal(lanes(X[:3]), X[:3] ** 2)  # three lanes cannot be divided
    with pytest.raises(ValueError, match=r"divides an array along \['b'\], but the lanes of"):
        irax.vmap(squares, spmd_axis_name="b")(X)
    with pytest.raises(ValueError, match=r"has no axes \['z'\]"):
        irax.vmap(squares, spmd_axis_name="z")(X)


def test_utilities_of_one_process(mesh: Mesh):
    devices = list(DEVICES)
    assert mesh_utils.create_device_mesh((4, 1), devices).tolist() == [[d] for d in devices]
    hybrid = mesh_utils.create_hybrid_device_mesh((2, 2), (1, 1), devices)
    assert hybrid.tolist() == mesh.devices.tolist()
    with pytest.raises(ValueError, match="takes 2 devices, got 4"):
        mesh_utils.create_device_mesh((2,), devices)
    with pytest.raises(ValueError, match="must have a size for each axis"):
        mesh_utils.create_hybrid_device_mesh((2, 2), (1,), devices)
    multihost_utils.sync_global_devices("here")
    with pytest.raises(TypeError, match="name must be a string"):
        multihost_utils.sync_global_devices(3)  # pyright: ignore
    multihost_utils.assert_equal({"x": X})
    gathered = multihost_utils.process_allgather({"x": X}, tiled=True)
    np.testing.assert_array_equal(gathered["x"], X)
    assert multihost_utils.process_allgather(X).shape == (1, 4, 4)
    np.testing.assert_array_equal(multihost_utils.broadcast_one_to_all(X), X)
    whole = multihost_utils.host_local_array_to_global_array(X, mesh, P("a"))
    assert whole.sharding == NamedSharding(mesh, P("a"))
    np.testing.assert_array_equal(
        multihost_utils.global_array_to_host_local_array(whole, mesh, P("a")), X
    )
    with pytest.raises(ValueError, match="0 processes are sources"):
        multihost_utils.broadcast_one_to_all(X, is_source=False)


def test_a_struct_says_where_its_array_is():
    there = irax.sharding.SingleDeviceSharding(irax.devices()[0])
    struct = irax.ShapeDtypeStruct((2,), "float32", sharding=there)
    assert struct.update(shape=(3,)).sharding is there
    assert struct != irax.ShapeDtypeStruct((2,), "float32")
    assert "sharding=" in repr(struct)


def test_a_struct_of_an_array_says_where_that_was_put(mesh: Mesh):
    like = irax.ShapeDtypeStruct.like
    x = irax.numpy.ones((4, 2))
    assert like(x).sharding is None
    for sharding in (NamedSharding(mesh, P("a")), SingleDeviceSharding(cpu(1))):
        assert like(irax.device_put(x, sharding)).sharding == sharding
        assert like(like(irax.device_put(x, sharding))).sharding == sharding


def test_filled_arrays_are_where_the_array_is_that_they_are_like(mesh: Mesh):
    jnp = irax.numpy
    there = NamedSharding(mesh, P("a", "b"))
    struct = irax.ShapeDtypeStruct((4, 2), "float32", sharding=there)
    for fill in (jnp.zeros_like, jnp.ones_like, jnp.empty_like, lambda y: jnp.full_like(y, 7)):
        for sharding in (there, SingleDeviceSharding(cpu(1))):
            assert fill(irax.device_put(X, sharding)).sharding == sharding
        assert fill(struct).sharding == there
        assert not fill(irax.numpy.asarray(X)).committed
        assert fill(irax.device_put(X, there)).shape == X.shape
    for like in (irax.device_put(X, there), struct):
        found = irax.lax.full_like(like, 3)
        assert found.sharding == there
        np.testing.assert_array_equal(found, np.full(like.shape, 3, "float32"))
    assert not jnp.zeros_like(irax.device_put(X, there), shape=(3,)).committed
    abstract = struct.update(sharding=NamedSharding(mesh.abstract_mesh, P("a")))
    assert not irax.lax.full_like(abstract, 3).committed
    closed = irax.device_put(X, there)
    np.testing.assert_array_equal(irax.jit(lambda y: y + jnp.ones_like(closed))(X), X + 1)


def test_types_without_explicit_axes_tell_that_arrays_are_whole(mesh: Mesh):
    keys = irax.random.split(irax.random.key(0), (2, 3))
    x = irax.numpy.ones((2, 3))

    def told() -> set[NamedSharding]:
        found = [irax.typeof(y).sharding for y in (x, np.ones((2, 3)), keys)]
        found += [x.aval.sharding, keys.aval.sharding]
        irax.eval_shape(lambda y: found.append(y.aval.sharding), x)
        return set(found)

    assert told() == {NamedSharding(AbstractMesh((), ()), P(None, None))}
    with irax.set_mesh(mesh):
        assert told() == {NamedSharding(mesh.abstract_mesh, P(None, None))}


def test_copies_are_divided_as_the_array(mesh: Mesh):
    x = irax.device_put(irax.numpy.arange(4.0), NamedSharding(mesh, P("a")))
    for copy in (x.copy(), irax.numpy.array(x), irax.numpy.copy(x)):
        assert copy is not x
        assert copy.sharding == x.sharding
        np.testing.assert_array_equal(copy, x)


def test_meshes_without_devices_may_know_their_kind(mesh: Mesh):
    device = AbstractDevice("TPU v5 lite", 1, "tpu")
    chips = AbstractMesh((2,), ("a",), abstract_device=device)
    assert chips.abstract_device == device
    assert chips.update(axis_names=("b",)).abstract_device == device
    assert AbstractMesh((2,), ("a",)).abstract_device is None
    assert mesh.abstract_mesh.abstract_device == AbstractDevice("cpu", None, "cpu")
    for name in ("devices", "device_ids", "local_devices", "local_mesh", "is_multi_process"):
        with pytest.raises(ValueError, match=f"AbstractMesh has no {name}"):
            getattr(chips, name)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        chips.other  # noqa: B018 (raises)
    assert pickle.loads(pickle.dumps(chips)) == chips


def test_a_mesh_of_one_device_may_have_no_axes(mesh: Mesh):
    assert Mesh(np.array(DEVICES[0]), ()).is_scalar
    assert not mesh.is_scalar
    assert not Mesh(np.empty((), object), ()).is_scalar


def test_devices_live_in_a_job_alone():
    with pytest.raises(RuntimeError, match=r"call irax\.distributed\.initialize first"):
        multihost_utils.live_devices(irax.devices()).__enter__()


def test_arrays_on_other_devices_than_a_function_is_for():
    """JAX 0.10.2 raises the same; `device_put` moves arrays."""
    line = Mesh(DEVICES[:2], ("a",))
    explicit = NamedSharding(line.update(axis_types=(AxisType.Explicit,)), P("a"))
    wanted, x = NamedSharding(line, P("a")), irax.device_put(X, cpu(3))
    for f in (
        lambda x: irax.lax.with_sharding_constraint(x, wanted),
        lambda x: irax.reshard(x, explicit),
        irax.shard_map(lambda x: x, mesh=line, in_specs=P("a"), out_specs=P("a")),
        lambda x: irax.numpy.array(x, device=wanted),
        lambda x: irax.numpy.asarray(x, device=cpu(1)),
    ):
        with pytest.raises(ValueError, match="received incompatible devices"):
            f(x)
        np.testing.assert_array_equal(f(irax.numpy.array(X)), X)
    with irax.set_mesh(line), pytest.raises(ValueError, match="received incompatible devices"):
        _ = x + 1
    with irax.set_mesh(line):
        assert (irax.device_put(x, P("a")) + 1).sharding == wanted


def test_a_constraint_needs_a_sharding_for_each_array(mesh: Mesh):
    one, constrain = NamedSharding(mesh, P("a")), irax.lax.with_sharding_constraint
    for shardings in (None, (one, None)):
        for f in (constrain, irax.jit(constrain, static_argnums=1)):
            with pytest.raises(ValueError, match="a sharding for each array, got None"):
                f((X, X), shardings)


def test_arrays_like_others_of_another_shape_are_on_their_device(mesh: Mesh):
    """As in JAX 0.10.2."""
    x, numpy = irax.device_put(X, cpu(3)), irax.numpy
    for f in (irax.lax.full_like, numpy.full_like):
        assert f(x, 1, shape=(5,)).sharding == x.sharding
    assert numpy.zeros_like(x, shape=()).devices() == {cpu(3)}
    divided = irax.device_put(X, NamedSharding(mesh, P("a")))
    assert irax.lax.full_like(divided, 1.0, shape=()).shape == ()
    np.testing.assert_array_equal(irax.jit(lambda x: numpy.ones_like(x, shape=(2,)))(x), [1, 1])


def test_shardings_of_one_device_fit_arguments_and_results():
    one = irax.sharding.SingleDeviceSharding(irax.devices()[0])
    same = lambda d: d
    irax.jit(same)({"b": 1.0})
    for shardings, call in (
        ({"in_shardings": ({"a": None},)}, lambda f: f({"b": 1.0})),
        ({"in_shardings": ({"a": one},)}, lambda f: f.lower({"b": 1.0})),
        ({"in_shardings": (None, None)}, lambda f: f({"a": 1.0})),
        ({"out_shardings": {"a": None}}, lambda f: f({"b": 1.0})),
        ({"out_shardings": [None]}, lambda f: f([1.0, 2.0])),
    ):
        with pytest.raises(ValueError, match="_shardings do not fit"):
            call(irax.jit(same, **shardings))
    with pytest.raises(ValueError, match="in_shardings are of positional arguments, and d was"):
        irax.jit(same, in_shardings=one)(d=1.0)
    product = lambda d, n: {"b": n * d["a"]}
    f = irax.jit(product, static_argnums=1, in_shardings=({"a": one},), out_shardings=one)
    assert f({"a": 2.0}, 3) == {"b": 6.0}
    assert irax.grad(lambda x: f({"a": x}, 3)["b"])(1.0) == 3.0
    g = pickle.loads(pickle.dumps(irax.jit(jnp.sin, in_shardings=([None],))))
    with pytest.raises(ValueError, match="do not fit"):
        g(1.0)


def test_types_of_results_tell_the_shardings_that_jit_states():
    one = irax.sharding.SingleDeviceSharding(irax.devices()[0])
    f = irax.jit(lambda x: (2 * x, x), out_shardings=(one, None))
    for found in (f.eval_shape(X), irax.eval_shape(f, X), f.trace(X).out_info, f.lower(X).out_info):
        assert [x.sharding for x in found] == [one, None]
