"""Slices, gathers and scatters at computed places, against NumPy's indexing where it has the form,
and against loops over every element of every window for the general forms.
"""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, Operand, boolean, f64, fixed, i32, of
from tests.differential.window_loops import gather_by_loops, scatter_by_loops

from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter
from irax_compiler.ops.reductions.window_shapes import WindowDims


def start(low: int = -2, high: int = 5, dtype: type = np.int32) -> Operand:
    """The start of a slice, within bounds or not."""
    return of(dtype, low=low, high=high)


def clamped(x: np.ndarray, sizes: Sequence[int], starts: Sequence[int]) -> tuple[slice, ...]:
    firsts = [
        min(max(int(s), 0), n - size) for s, n, size in zip(starts, x.shape, sizes, strict=True)
    ]
    return tuple(slice(f, f + size) for f, size in zip(firsts, sizes, strict=True))


def dynamic_slice(name: str, x: Operand, *sizes: int, starts: Operand | None = None) -> Case:
    places = [starts or start()] * len(sizes)
    op = DynamicSlice(sizes)
    return Case(name, op, [x, *places], lambda x, *s: x[clamped(x, sizes, s)])


def dynamic_update_slice(name: str, x: Operand, *sizes: int, starts: Operand | None = None) -> Case:
    def reference(x, update, *starts):
        x = x.copy()
        x[clamped(x, sizes, starts)] = update
        return x

    operands = [x, of(x.dtype, *sizes), *[starts or start()] * len(sizes)]
    return Case(name, DynamicUpdateSlice(), operands, reference)


def gather(name: str, x: Operand, indices: Operand, dims: WindowDims, *sizes: int) -> Case:
    return Case(
        name,
        Gather(dims, sizes, indices_are_sorted=False),
        [x, indices],
        lambda x, indices: gather_by_loops(x, indices, dims, sizes),
    )


def scatter(
    name: str,
    combiner: str,
    x: Operand,
    indices: Operand,
    updates: Operand,
    dims: WindowDims,
    unique: bool = False,
    wrt: Sequence[int] | None = None,
) -> Case:
    return Case(
        name,
        Scatter(combiner, dims, indices_are_sorted=False, unique_indices=unique),
        [x, indices, updates],
        lambda x, i, u: scatter_by_loops(x, i, u, dims, combiner),
        wrt=wrt,
        tolerance=1e-2 if x.dtype.itemsize < 4 else None,  # which rounds after each update
    )


def permuted(n: int, count: int) -> Operand:
    """Rows, each but once."""
    return Operand(
        (count, 1), np.dtype(np.int32), lambda rng: rng.permutation(n)[:count].reshape(count, 1)
    )


ROWS = WindowDims(window_dims=(1,), collapsed_dims=(0,), index_map=(0,), index_vector_dim=1)
"""x[i]: rows of a matrix."""
COLUMNS = WindowDims(window_dims=(0,), collapsed_dims=(1,), index_map=(1,), index_vector_dim=1)
"""x[:, i]: columns of a matrix."""
POINTS = WindowDims(collapsed_dims=(0, 1), index_map=(0, 1), index_vector_dim=1)
"""x[i, j]: elements of a matrix."""
ALONG = WindowDims(
    collapsed_dims=(1,),
    operand_batching_dims=(0,),
    indices_batching_dims=(0,),
    index_map=(1,),
    index_vector_dim=2,
)
"""np.take_along_axis(x, i, 1)."""
BLOCKS = WindowDims(window_dims=(0, 2), index_map=(1, 0), index_vector_dim=0)
"""Windows of a matrix at (column, row), with the vectors along the first dimension of the indices
and the windows' rows before the batch dimension, their columns behind it."""
MIXED = WindowDims(
    window_dims=(1, 3),
    collapsed_dims=(2,),
    operand_batching_dims=(1,),
    indices_batching_dims=(2,),
    index_map=(3, 0),
    index_vector_dim=1,
)
"""A bit of everything: two batch dimensions, one of which goes with the array's."""
SPANS = WindowDims(window_dims=(1,), index_map=(0,), index_vector_dim=1)
"""Windows of a vector, which may overlap."""

ids = i32(2, 3, 1, low=-2, high=5)
along = i32(2, 5, 1, low=-1, high=4)
lookup = WindowDims(window_dims=(2,), collapsed_dims=(0,), index_map=(0,), index_vector_dim=2)

CASES = [
    dynamic_slice("dynamic_slice", f64(4, 3), 2, 2),
    dynamic_slice("dynamic_slice-row", f64(4, 3), 1, 3),
    dynamic_slice("dynamic_slice-all", f64(2, 3), 2, 3),
    dynamic_slice("dynamic_slice-empty", f64(2, 3), 0, 3),
    dynamic_slice("dynamic_slice-i8", of(np.uint8, 300, high=250), 3, starts=of(np.int8, high=127)),
    dynamic_slice("dynamic_slice-u32", f64(4), 3, starts=of(np.uint32, low=0, high=5)),
    dynamic_update_slice("dynamic_update_slice", f64(4, 3), 2, 2),
    dynamic_update_slice("dynamic_update_slice-row", f64(4, 3), 1, 3),
    dynamic_update_slice("dynamic_update_slice-all", f64(2, 3), 2, 3),
    dynamic_update_slice("dynamic_update_slice-empty", f64(2, 3), 0, 3),
    dynamic_update_slice("dynamic_update_slice-scalar", f64()),
    dynamic_update_slice(
        "dynamic_update_slice-i8", of(np.float32, 300), 3, starts=of(np.int8, high=127)
    ),
    dynamic_update_slice(
        "dynamic_update_slice-u64", f64(4), 3, starts=of(np.uint64, low=0, high=5)
    ),
    Case(
        "gather-embedding",
        Gather(lookup, (1, 3), indices_are_sorted=False),
        [f64(5, 3), ids],
        lambda x, i: x[np.clip(i[..., 0], 0, 4)],
    ),
    Case(
        "gather-columns",
        Gather(COLUMNS, (4, 1), indices_are_sorted=False),
        [f64(4, 3), i32(5, 1, low=0, high=2)],
        lambda x, i: x[:, i[:, 0]],
    ),
    Case(
        "gather-points",
        Gather(POINTS, (1, 1), indices_are_sorted=False),
        [f64(3, 3), i32(4, 2, low=0, high=2)],
        lambda x, i: x[i[:, 0], i[:, 1]],
    ),
    Case(
        "gather-along-axis",
        Gather(ALONG, (1, 1), indices_are_sorted=False),
        [f64(2, 3), i32(2, 5, 1, low=0, high=2)],
        lambda x, i: np.take_along_axis(x, i[..., 0], 1),
    ),
    Case(
        "gather-sorted",
        Gather(ROWS, (1, 3), indices_are_sorted=True),
        [f64(5, 3), fixed([[0], [1], [1], [4]], np.int32)],
        lambda x, i: x[i[:, 0]],
    ),
    gather("gather-blocks", f64(4, 5), i32(2, 3, low=-1, high=4), BLOCKS, 2, 3),
    gather("gather-mixed", f64(3, 2, 1, 4), i32(3, 2, 2, low=-1, high=4), MIXED, 2, 1, 1, 3),
    gather("gather-spans", f64(6), i32(4, 1, low=-1, high=6), SPANS, 3),
    gather(
        "gather-vectors-of-one",
        f64(5),
        i32(2, 2, low=-1, high=6),
        WindowDims(collapsed_dims=(0,), index_map=(0,), index_vector_dim=2),
        1,
    ),
    gather("gather-vectors-of-none", f64(3), i32(4, 0), WindowDims((1,), index_vector_dim=1), 2),
    Case(
        "gather-scalar",
        Gather(WindowDims(index_vector_dim=1), (), indices_are_sorted=False),
        [f64(), i32(4, 0)],
        lambda x, i: np.broadcast_to(x, 4),
    ),
    Case(
        "gather-nowhere",
        Gather(ROWS, (1, 3), indices_are_sorted=False),
        [f64(5, 3), i32(0, 1)],
        lambda x, i: np.zeros((0, 3)),
    ),
    *(
        gather(f"gather-{np.dtype(dtype)}", of(dtype, 4, 2, low=0), ids, lookup, 1, 2)
        for dtype in (bool, np.int8, np.uint64, ml_dtypes.bfloat16, np.float32, np.complex64)
    ),
    gather("gather-u64", of(np.float32, 3, 2), fixed([[1], [2**64 - 1]], np.uint64), ROWS, 1, 2),
    Case(
        "scatter-set-rows",
        Scatter("set", ROWS, indices_are_sorted=False, unique_indices=True),
        [f64(5, 3), permuted(5, 3), f64(3, 3)],
        lambda x, i, u: np.stack(
            [u[list(i[:, 0]).index(r)] if r in i else x[r] for r in range(len(x))]
        ),
    ),
    scatter("scatter-set-duplicates", "set", f64(4, 3), i32(6, 1, low=-1, high=4), f64(6, 3), ROWS),
    scatter(
        "scatter-set-one",
        "set",
        f64(4),
        i32(1, low=-1, high=4),
        f64(),
        WindowDims((), (0,), index_map=(0,)),
    ),
    scatter("scatter-set-overlapping", "set", f64(6), i32(4, 1, low=-1, high=4), f64(4, 3), SPANS),
    Case(
        "scatter-add-rows",
        Scatter("add", lookup, indices_are_sorted=False, unique_indices=False),
        [f64(5, 3), i32(2, 3, 1, low=0, high=4), f64(2, 3, 3)],
        lambda x, i, u: x + np.eye(5)[i.ravel()].T @ u.reshape(-1, 3),
    ),
    scatter("scatter-add-columns", "add", f64(4, 3), i32(5, 1, low=-1, high=3), f64(4, 5), COLUMNS),
    scatter("scatter-add-points", "add", f64(3, 3), i32(6, 2, low=-1, high=3), f64(6), POINTS),
    scatter("scatter-add-along-axis", "add", f64(2, 3), along, f64(2, 5), ALONG),
    scatter(
        "scatter-add-blocks", "add", f64(4, 5), i32(2, 3, low=-1, high=4), f64(2, 3, 3), BLOCKS
    ),
    scatter(
        "scatter-add-mixed",
        "add",
        f64(3, 2, 1, 4),
        i32(3, 2, 2, low=-1, high=3),
        f64(3, 2, 2, 3),
        MIXED,
    ),
    scatter("scatter-add-overlapping", "add", f64(6), i32(4, 1, low=-1, high=5), f64(4, 3), SPANS),
    scatter("scatter-add-nowhere", "add", f64(4, 3), i32(0, 1), f64(0, 3), ROWS),
    scatter("scatter-add-scalar", "add", f64(), i32(3, 0), f64(3), WindowDims(index_vector_dim=1)),
    scatter(
        "scatter-multiply", "multiply", f64(5, 2), permuted(5, 3), f64(3, 2), ROWS, unique=True
    ),
    scatter(
        "scatter-multiply-duplicates",
        "multiply",
        f64(3, 2),
        i32(6, 1, low=-1, high=3),
        f64(6, 2),
        ROWS,
        wrt=[0],
    ),
    scatter("scatter-maximum", "maximum", f64(3, 2), i32(6, 1, low=-1, high=3), f64(6, 2), ROWS),
    scatter("scatter-minimum", "minimum", f64(6), i32(4, 1, low=0, high=3), f64(4, 3), SPANS),
    *(
        scatter(
            f"scatter-{c}",
            c,
            of(np.uint8, 3, high=255),
            i32(6, 1, low=-1, high=3),
            of(np.uint8, 6, high=255),
            WindowDims((), (0,), index_map=(0,), index_vector_dim=1),
        )
        for c in ("and", "or", "xor")
    ),
    *(
        scatter(
            f"scatter-add-{np.dtype(dtype)}",
            "add",
            of(dtype, 4, 2, low=0),
            ids,
            of(dtype, 2, 3, 2, low=0),
            lookup,
        )
        for dtype in (bool, np.int8, np.uint64, ml_dtypes.bfloat16, np.float32, np.complex64)
    ),
    Case(
        "scatter-maximum-bool",
        Scatter("maximum", ROWS, indices_are_sorted=False, unique_indices=False),
        [boolean(4, 2), i32(3, 1, low=0, high=3), boolean(3, 2)],
        lambda x, i, u: (x + np.eye(4)[i[:, 0]].T @ u) > 0,
    ),
]
