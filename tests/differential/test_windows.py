"""Gather and scatter with dimension numbers drawn at random, and what tables can't say of them."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from tests.differential.window_loops import gather_by_loops, scatter_by_loops

from irax_compiler import mlir
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registry import read
from irax_compiler.pipeline import run_pipeline

LANES = 2
ROWS = WindowDims(window_dims=(1,), collapsed_dims=(0,), index_map=(0,), index_vector_dim=1)
"""x[i] of a matrix."""
SPANS = WindowDims(window_dims=(1,), index_map=(0,), index_vector_dim=1)
"""Windows of a vector, which may overlap."""
VECTOR = WindowDims(collapsed_dims=(0,), index_map=(0,), index_vector_dim=1)
"""x[i] of a vector."""


def module_of(op: Op, arrays: list[np.ndarray]) -> mlir.Module:
    module = mlir.new_module()
    types = [mlir.tensor_type(a.shape, a.dtype) for a in arrays]
    function = mlir.new_function(module, "main", types, public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        results = op.build(list(mlir.body(function).arguments))
    mlir.finish_function(function, results)
    module.operation.verify()
    return module


def evaluated(op: Op, *arrays: np.ndarray) -> np.ndarray:
    (result,) = Evaluator(module_of(op, list(arrays)))("main", arrays)
    return result


# ---- random numbers ------------------------------------------------------------------------------


@dataclass
class Drawn:
    """An array, indices into it, and windows at them."""

    x: np.ndarray
    indices: np.ndarray
    windows: np.ndarray
    dims: WindowDims
    sizes: tuple[int, ...]


def draw(seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    rank, batch_rank = int(rng.integers(1, 5)), int(rng.integers(0, 3))
    shape = rng.integers(1, 5, rank)
    batch = rng.integers(1, 4, batch_rank)
    # Each dimension of the array goes with one of the indices, or is collapsed, or is neither.
    kinds = rng.choice(["batching", "collapsed", "window"], rank)
    batching = np.flatnonzero(kinds == "batching")[:batch_rank]
    along = rng.permutation(batch_rank)[: len(batching)]
    batch[along] = shape[batching]
    collapsed = np.flatnonzero(kinds == "collapsed")
    spanned = np.setdiff1d(np.arange(rank), [*batching, *collapsed])
    sizes = np.ones(rank, int)
    sizes[spanned] = rng.integers(1, shape[spanned] + 1)
    indexed = rng.permutation(np.setdiff1d(np.arange(rank), batching))
    indexed = indexed[: rng.integers(min(len(indexed), 1), len(indexed) + 1)]
    vector = int(rng.integers(0, batch_rank + 1))
    window_rank = batch_rank + len(spanned)
    window_dims = np.sort(rng.permutation(window_rank)[: len(spanned)])
    windows = np.zeros(window_rank, int)
    windows[window_dims] = sizes[spanned]
    windows[np.setdiff1d(np.arange(window_rank), window_dims)] = batch
    dims = WindowDims(
        tuple(window_dims.tolist()),
        tuple(collapsed.tolist()),
        tuple(batching.tolist()),
        tuple((along + (along >= vector)).tolist()),
        tuple(indexed.tolist()),
        vector,
    )
    return Drawn(
        rng.standard_normal(shape),
        rng.integers(-2, 6, (*batch[:vector], len(indexed), *batch[vector:]), np.int32),
        rng.standard_normal(windows),
        dims,
        tuple(sizes.tolist()),
    )


def shuffled(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    return rng.permutation(array.ravel()).reshape(array.shape)


@pytest.mark.parametrize("seed", range(60))
def test_any_numbers_give_what_loops_give(seed: int) -> None:
    d = draw(seed)
    op = Gather(d.dims, d.sizes, indices_are_sorted=False)
    found = evaluated(op, d.x, d.indices)
    np.testing.assert_array_equal(found, gather_by_loops(d.x, d.indices, d.dims, d.sizes))
    for combiner in ("set", "add", "minimum"):
        op = Scatter(combiner, d.dims, indices_are_sorted=False, unique_indices=False)
        found = evaluated(op, d.x, d.indices, d.windows)
        expected = scatter_by_loops(d.x, d.indices, d.windows, d.dims, combiner)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_any_numbers_are_batched_as_loops_would(seed: int) -> None:
    d = draw(seed)
    rng = np.random.default_rng(seed)
    gather = Gather(d.dims, d.sizes, indices_are_sorted=False)
    scatter = Scatter("set", d.dims, indices_are_sorted=False, unique_indices=False)
    for op, arrays in (gather, [d.x, d.indices]), (scatter, [d.x, d.indices, d.windows]):
        for mapped in itertools.product([False, True], repeat=len(arrays)):
            if not any(mapped):
                continue
            axes = [
                int(rng.integers(0, a.ndim + 1)) if is_mapped else None
                for a, is_mapped in zip(arrays, mapped, strict=True)
            ]
            lanes = [
                [
                    shuffled(rng, a) if is_mapped else a
                    for a, is_mapped in zip(arrays, mapped, strict=True)
                ]
                for _ in range(LANES)
            ]
            inputs = [
                lanes[0][i] if axis is None else np.stack([lane[i] for lane in lanes], axis)
                for i, axis in enumerate(axes)
            ]
            module = module_of(op, arrays)
            in_axes = ",".join(map(str, axes))
            run_pipeline(module, f"batch{{func=main size={LANES} in_axes={in_axes}}}")
            evaluator = Evaluator(module)
            (found,) = evaluator("main.batch", inputs)
            for result, lane in zip(found, lanes, strict=True):
                np.testing.assert_array_equal(result, evaluator("main", lane)[0])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_any_numbers_have_the_values_and_derivatives_of_jax(seed: int) -> None:
    jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")
    d = draw(seed)
    dims = d.dims
    indices = np.moveaxis(d.indices, dims.index_vector_dim, -1)
    indices_batching = tuple(b - (b > dims.index_vector_dim) for b in dims.indices_batching_dims)
    numbers = (
        dims.window_dims,
        dims.collapsed_dims,
        dims.index_map,
        dims.operand_batching_dims,
        indices_batching,
    )

    def gather(x):
        gather_dims = jax.lax.GatherDimensionNumbers(*numbers)
        return jax.lax.gather(x, indices, gather_dims, d.sizes, mode="clip")

    def scatter(x, updates):
        scatter_dims = jax.lax.ScatterDimensionNumbers(*numbers)
        return jax.lax.scatter(x, indices, updates, scatter_dims, mode="drop")

    rng = np.random.default_rng(seed)
    for op, theirs, floats, arrays, wrt in (
        (Gather(dims, d.sizes, False), gather, [d.x], [d.x, d.indices], "0"),
        (
            Scatter("set", dims, False, False),
            scatter,
            [d.x, d.windows],
            [d.x, d.indices, d.windows],
            "0,2",
        ),
    ):
        module = module_of(op, arrays)
        run_pipeline(module, f"vjp{{func=main wrt={wrt}}}")
        with jax.enable_x64(True):
            expected, pull = jax.vjp(theirs, *floats)
            ct = rng.standard_normal(expected.shape)
            cotangents = pull(jax.numpy.asarray(ct))
        found, *ours = Evaluator(module)("main.vjp", [*arrays, ct])
        np.testing.assert_array_equal(found, expected)
        for a, b in zip(ours, cotangents, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


# ---- derivatives ---------------------------------------------------------------------------------


def test_those_that_tie_for_an_extremum_share_its_tangent() -> None:
    x, indices = np.array([1.0, 5.0, 0.0]), np.array([[0], [0], [1], [2]], np.int32)
    updates = np.array([1.0, 1.0, 2.0, 7.0])
    op = Scatter("maximum", VECTOR, indices_are_sorted=False, unique_indices=False)
    module = module_of(op, [x, indices, updates])
    run_pipeline(module, "vjp{func=main wrt=0,2}")
    _, ct_x, ct_updates = Evaluator(module)("main.vjp", [x, indices, updates, np.ones(3)])
    np.testing.assert_allclose(ct_x, [1 / 3, 1, 0])
    np.testing.assert_allclose(ct_updates, [1 / 3, 1 / 3, 0, 1])


def test_only_the_update_that_wins_has_a_cotangent() -> None:
    x, indices, updates = np.zeros(2), np.array([[0], [0], [9]], np.int32), np.arange(3.0)
    op = Scatter("set", VECTOR, indices_are_sorted=False, unique_indices=False)
    module = module_of(op, [x, indices, updates])
    run_pipeline(module, "vjp{func=main wrt=0,2}")
    result, ct_x, ct_updates = Evaluator(module)("main.vjp", [x, indices, updates, np.ones(2)])
    assert result[0] in updates[:2]
    np.testing.assert_array_equal(ct_updates, updates == result[0])
    np.testing.assert_array_equal(ct_x, [0, 1])


def operations(module: mlir.Module, name: str) -> list[str]:
    block = mlir.body(mlir.functions(module)[name])
    return [o.operation.name.removeprefix("stablehlo.") for o in block.operations][:-1]


def test_nothing_is_computed_for_tangents_that_are_zero() -> None:
    arrays = [np.zeros((5, 3)), np.zeros((2, 1), np.int32), np.zeros((2, 3))]
    module = module_of(Scatter("add", ROWS, False, False), arrays)
    run_pipeline(module, "jvp{func=main wrt=0}")
    assert operations(module, "main.jvp") == ["scatter"]


def test_one_window_needs_no_masks_to_be_set() -> None:
    arrays = [np.zeros(6), np.zeros(1, np.int32), np.zeros(3)]
    op = Scatter("set", WindowDims((0,), index_map=(0,)), False, False)
    module = module_of(op, arrays)
    run_pipeline(module, "jvp{func=main wrt=0,2}")
    assert operations(module, "main.jvp") == ["scatter", "scatter"]


def test_a_product_of_updates_that_may_overlap_has_no_derivative() -> None:
    arrays = [np.zeros(6), np.zeros((2, 1), np.int32), np.zeros((2, 3))]
    module = module_of(Scatter("multiply", SPANS, False, False), arrays)
    with pytest.raises(UnsupportedOp, match=r"stablehlo\.scatter: .*unique_indices=True"):
        run_pipeline(module, "jvp{func=main wrt=2}")


# ---- reading -------------------------------------------------------------------------------------


def scatter_text(arrays: int, body: str) -> str:
    xs = ", ".join(f"%x{i}" for i in range(arrays))
    updates = ", ".join(f"%u{i}" for i in range(arrays))
    vectors = ", ".join(["tensor<4xf32>"] * arrays)
    block = ", ".join(f"%{a}{i}: tensor<f32>" for a in "ab" for i in range(arrays))
    arguments = ", ".join(f"%{a}{i}: tensor<4xf32>" for a in "xu" for i in range(arrays))
    return f"""
func.func @main({arguments}, %i: tensor<4x1xi32>) {{
  %r:{arrays} = "stablehlo.scatter"({xs}, %i, {updates}) ({{
  ^bb0({block}):
    {body}
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
    : ({vectors}, tensor<4x1xi32>, {vectors}) -> ({vectors})
  return
}}"""


def read_scatter(text: str) -> Op:
    module = mlir.parse_module(text)
    return read(mlir.body(mlir.functions(module)["main"]).operations[0].operation)


def test_absent_flags_are_false() -> None:
    op = read_scatter(scatter_text(1, "stablehlo.return %b0 : tensor<f32>"))
    assert op == Scatter("set", VECTOR, indices_are_sorted=False, unique_indices=False)
