"""Arrays made of the parts that devices have."""

from typing import Any

import numpy as np
import pytest

import irax
from irax import P
from irax.sharding import Mesh, NamedSharding, SingleDeviceSharding
from irax_runtime.iree.cpu import cpu

DEVICES = np.array([cpu(n) for n in range(4)], dtype=object)
X = np.arange(16, dtype=np.float32).reshape(4, 4)


@pytest.fixture
def mesh() -> Mesh:
    return Mesh(DEVICES.reshape(2, 2), ("a", "b"))


def test_arrays_made_of_parts(mesh: Mesh):
    sharding = NamedSharding(mesh, P("b", "a"))
    seen = []

    def part(index):
        seen.append(index)
        return X[index]

    x = irax.make_array_from_callback((4, 4), sharding, part)
    assert len(seen) == 4
    np.testing.assert_array_equal(x, X)
    again = irax.make_array_from_single_device_arrays(
        (4, 4), sharding, [s.data for s in x.addressable_shards]
    )
    np.testing.assert_array_equal(again, X)
    local = irax.make_array_from_process_local_data(sharding, X)
    np.testing.assert_array_equal(local, X)
    assert x.sharding == again.sharding == local.sharding == sharding
    with pytest.raises(ValueError, match=r"must have shape \(2, 2\) and .*, got \(4, 4\)"):
        irax.make_array_from_callback((4, 4), sharding, lambda index: X)
    with pytest.raises(TypeError, match="arrays must be a list or tuple of arrays, got"):
        irax.make_array_from_single_device_arrays((4, 4), sharding, x)
    with pytest.raises(TypeError, match=r"arrays must have arrays, got array\(\[\["):
        irax.make_array_from_single_device_arrays((4, 4), sharding, [X])
    with pytest.raises(TypeError, match="expected an array with elements, got a traced one"):
        irax.jit(lambda x: irax.make_array_from_process_local_data(sharding, x))(X)


def test_pytrees_of_local_data(mesh: Mesh):
    rows, device = NamedSharding(mesh, P("a")), irax.devices()[0]
    make, data = irax.make_array_from_process_local_data, {"a": X, "b": X[0]}
    with irax.set_mesh(mesh):
        of_spec = make(P("a"), X)
    for made, shardings in (
        (make(rows, data), (rows, rows)),
        (make(device, data, {"a": X.shape, "b": None}), (SingleDeviceSharding(device),) * 2),
        (make({"a": rows, "b": device}, data), (rows, SingleDeviceSharding(device))),
        ({"a": of_spec, "b": make(device, X[0])}, (rows, SingleDeviceSharding(device))),
    ):
        np.testing.assert_array_equal(made["a"], X)
        np.testing.assert_array_equal(made["b"], X[0])
        assert (made["a"].sharding, made["b"].sharding) == shardings
    for shapes in ((8, 4), {"a": X.shape, "b": (3,)}, {"a": X.shape}, {**data, "c": (1,)}):
        with pytest.raises(ValueError, match="global_shape"):
            make(device, data, shapes)
    with pytest.raises(TypeError, match="expected a sharding"):
        make("cpu", X)


def test_parts_that_do_not_go_together(mesh: Mesh):
    sharding = NamedSharding(mesh, P("a", "b"))
    make = irax.make_array_from_callback
    for dtype in (np.float16, np.int32):
        with pytest.raises(ValueError, match="and dtype float32, got"):
            make((4, 4), sharding, lambda i, d=dtype: X[i] if 0 in X[i] else X[i].astype(d))
        with pytest.raises(ValueError, match=f"dtype {dtype.__name__}, got .* and float32"):
            make((4, 4), sharding, lambda i: X[i], dtype)
    assert make((4, 4), sharding, lambda i: X[i], float).dtype == np.float32
    for wrong in (None, P("a"), cpu(0)):
        with pytest.raises(TypeError, match="callback: sharding must be a sharding, got"):
            make((4, 4), wrong, lambda i: X[i])
        with pytest.raises(TypeError, match="arrays: sharding must be a sharding, got"):
            irax.make_array_from_single_device_arrays((4, 4), wrong, [])


def test_a_part_is_on_one_device_of_the_sharding(mesh: Mesh):
    rows = NamedSharding(Mesh(DEVICES[:2], ("a",)), P("a"))
    parts = [irax.device_put(X[2 * n : 2 * n + 2], cpu(n)) for n in (0, 1)]

    def make(arrays: Any, dtype: Any = None) -> irax.Array:
        return irax.make_array_from_single_device_arrays((4, 4), rows, arrays, dtype=dtype)

    np.testing.assert_array_equal(make(parts[::-1]), X)
    with pytest.raises(ValueError, match=r"got none on \{CpuDevice\(id=1\)\}"):
        make(parts[:1])
    with pytest.raises(ValueError, match=r"one array on CpuDevice\(id=0\), got several"):
        make([*parts, parts[0]])
    with pytest.raises(ValueError, match=r"got arrays on \{CpuDevice\(id=2\)\}, which"):
        make([*parts, irax.device_put(parts[0], cpu(2))])
    with pytest.raises(ValueError, match=r"one of type float32\[4,4\] on 2: NamedSharding"):
        make([irax.device_put(X, rows)] * 2)
    with pytest.raises(ValueError, match=r"CpuDevice\(id=1\) must have .* got \(2, 4\) and int32"):
        make([parts[0], irax.device_put(X[2:].astype(int), cpu(1))])
    with pytest.raises(ValueError, match=r"dtype int32, got .* float32"):
        make(parts, "int32")


def test_arrays_made_of_keys(mesh: Mesh):
    keys = irax.random.split(irax.random.key(0), 4)
    rows = NamedSharding(mesh, P(("a", "b")))
    placed = [irax.device_put(keys[n : n + 1], cpu(n)) for n in range(4)]
    for made in (
        irax.make_array_from_callback((4,), rows, lambda index: keys[index]),
        irax.make_array_from_single_device_arrays((4,), rows, placed),
    ):
        assert made.sharding == rows
        assert (made == keys).all()


def test_sizes_of_local_data(mesh: Mesh):
    make, sharding = irax.make_array_from_process_local_data, NamedSharding(mesh, P("a"))
    for shape in (None, (4, 4), (None, 4), (4, None), (None, None)):
        np.testing.assert_array_equal(make(sharding, X, shape), X)
    for shape in ((8, 4), (4,), (4, 4, 1), (None, 2)):
        with pytest.raises(ValueError, match=r"array of shape \(4, 4\), by .*; got global_shape="):
            make(sharding, X, shape)
    with pytest.raises(ValueError, match="dimension 0 of local_data has size 3;"):
        make(sharding, X[:3])
    assert make(sharding, X[:0]).shape == (0, 4)
