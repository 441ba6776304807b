"""Programs that JAX 0.10.2 writes for four devices, with what it computes on them."""

from pathlib import Path

import numpy as np
import pytest
from tests.differential.meshes.partitions import evaluate_partitioned

from irax_compiler.forms.manual import axes_of_groups
from irax_compiler.forms.reading import read_module
from irax_compiler.lowering import layouts_of_results, lower, mesh_of, partition
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.mesh.batch_shard_maps import BatchShardMaps

PROGRAMS = Path(__file__).parent / "manual"
X = np.arange(8, dtype=np.float32).reshape(4, 2)
ONES = np.ones((4, 4), np.float32)
A = np.arange(32, dtype=np.float32).reshape(4, 8) % 7 - 3
B = np.arange(48, dtype=np.float32).reshape(8, 6) % 5 - 2
PRODUCT = A @ B
LAYER = [np.maximum(PRODUCT, 0).sum(1), PRODUCT[:, :3] + PRODUCT[:, 3:]]
EXPECTED = {
    "collectives": (
        [X],
        [np.float32(112), np.array([[2, 3], [2, 3], [6, 8], [8, 10]], np.float32), X],
    ),
    "numbers": (
        [ONES, np.array(2, np.float32)],
        [np.full(2, 8, np.float32), ONES + np.array([0, 0, 1, 1], np.float32)],
    ),
    "shardings": ([A, B], LAYER),
    "gspmd": ([A, B], LAYER),
    "scattered": ([A], [A.reshape(4, 2, 2, 2).sum(1).reshape(4, 4), A]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_programs(name: str):
    module = read_module((PROGRAMS / f"{name}.mlir").read_text())
    assert "@irax.shard_map" in str(module)
    arguments, expected = EXPECTED[name]
    for result, other in zip(Evaluator(module)("main", arguments), expected, strict=True):
        np.testing.assert_array_equal(result, other)
    BatchShardMaps().run(module)
    for result, other in zip(Evaluator(module)("main", arguments), expected, strict=True):
        np.testing.assert_array_equal(result, other)


@pytest.mark.parametrize(("name", "mesh"), [("shardings", "xy"), ("gspmd", ["axis0", "axis1"])])
def test_each_device_has_what_the_module_states(name: str, mesh: str):
    x, y = mesh
    module = read_module((PROGRAMS / f"{name}.mlir").read_text())
    assert mesh_of(module, "main") == {x: 2, y: 2}
    specs = (((x,), ()), ((), (y,)))
    divided = partition(module, "main", {x: 2, y: 2})
    assert layouts_of_results(divided, "main") == (((x,),), ((x,), ()))
    found, _ = evaluate_partitioned(module, [A, B], {x: 2, y: 2}, specs)
    for result, other in zip(found, LAYER, strict=True):
        np.testing.assert_array_equal(result, other)


def test_numbered_devices_that_no_mesh_has():
    text = (PROGRAMS / "gspmd.mlir").read_text().replace("[2,1,2]<=[4]", "[2,1,4]<=[8]", 1)
    assert mesh_of(read_module(text), "main") is None


def test_axes_of_groups():
    mesh = {"a": 2, "b": 2}
    assert axes_of_groups(mesh, np.array([[0, 2], [1, 3]])) == ("a",)
    assert axes_of_groups(mesh, np.array([[2, 3], [0, 1]])) == ("b",)
    assert axes_of_groups(mesh, np.array([[0, 2, 1, 3]])) == ("b", "a")
    assert axes_of_groups(mesh, np.array([[0], [1], [2], [3]])) == ()
    assert axes_of_groups(mesh, np.array([[0, 3], [1, 2]])) is None


def test_a_mesh_that_is_not_there():
    text = (PROGRAMS / "numbers.mlir").read_text().replace("sdy.mesh @mesh", "sdy.mesh @other")
    with pytest.raises(ValueError, match="over @mesh, a mesh that the module lacks"):
        read_module(text)


def test_collectives_that_follow_no_axes_are_refused():
    text = (PROGRAMS / "numbers.mlir").read_text().replace("[[0, 2], [1, 3]]", "[[0, 3], [1, 2]]")
    with pytest.raises(NotImplementedError, match="all_reduce"):
        lower(read_module(text))
