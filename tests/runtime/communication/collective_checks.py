"""Checks of a communicator's collectives against NumPy, which each of its ranks runs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from irax_runtime.communication.communicator import Communicator

DTYPES = (
    *(np.float32, np.float64, np.complex64, np.int32, np.uint8, np.bool_, np.float16),
    ml_dtypes.bfloat16,
)


def contribution(rank: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Return the array of a rank: other numbers in each rank, all of them exact in every dtype."""
    numbers = np.random.default_rng(rank).integers(0, 4, shape)
    return numbers.astype(dtype)


def check_all(communicator: Communicator) -> int:
    """Check all collectives over all ranks and over groups; return how many were checked."""
    size = communicator.size
    groups = [tuple(range(size)), *((r,) for r in range(size) if r == communicator.rank)]
    if size == 4:
        groups += [(0, 2) if communicator.rank in (0, 2) else (3, 1)]
    counts = [_check(communicator, group, dtype) for group in groups for dtype in DTYPES]
    return sum(counts) + sum(_check_nan(communicator, group, 8) for group in groups)


def check_large(communicator: Communicator) -> int:
    """Check reductions of arrays that processes of one machine combine in several chunks."""
    everyone, length = tuple(range(communicator.size)), 5_000_001
    sizes = ((16_384, "float32"), (70_001, "int8"), (70_001, "complex64"), (length, "float32"))
    for size, dtype in sizes:
        arrays = [contribution(rank, (size,), dtype) for rank in everyone]
        total = sum(arrays[1:], arrays[0])
        found = communicator.all_reduce(arrays[communicator.rank], "add", everyone)
        np.testing.assert_array_equal(found, total)
        whole = size // len(everyone) * len(everyone)
        rows = [array[:whole].reshape(len(everyone), -1) for array in arrays]
        part = communicator.reduce_scatter(rows[communicator.rank], everyone)
        np.testing.assert_array_equal(part, total[:whole].reshape(rows[0].shape)[communicator.rank])
    return _check_nan(communicator, everyone, length)


def _check_nan(communicator: Communicator, group: tuple[int, ...], length: int) -> int:
    """Check that the largest and the smallest number are nan where one of them is."""
    place = group.index(communicator.rank)
    x = np.where(np.arange(length) % len(group) == place, np.nan, place).astype(np.float32)
    for combiner in ("maximum", "minimum"):
        found = communicator.all_reduce(x, combiner, group)
        assert np.isnan(found).all(), (combiner, group, found)
    return 2


def _check(communicator: Communicator, group: tuple[int, ...], dtype: Any) -> int:
    place, count = group.index(communicator.rank), len(group)
    arrays = [contribution(rank, (count, 3), dtype) for rank in group]
    x = arrays[place].copy()
    total = np.sum([a.astype(np.complex128) for a in arrays], axis=0)
    total = total if np.dtype(dtype).kind == "c" else total.real
    found = {
        "all_reduce": communicator.all_reduce(x, "add", group),
        "all_gather": communicator.all_gather(x, group),
        "reduce_scatter": communicator.reduce_scatter(x, group),
        "all_to_all": communicator.all_to_all(x, group),
        "permute": communicator.permute(x, [-1, *range(count - 1)], group),
    }
    expected = {
        "all_reduce": total.astype(dtype),
        "all_gather": np.stack(arrays),
        "reduce_scatter": total[place].astype(dtype),
        "all_to_all": np.stack([a[place] for a in arrays]),
        "permute": arrays[place - 1] if place else np.zeros_like(x),
    }
    if np.dtype(dtype).kind != "c":
        found["maximum"] = communicator.all_reduce(x, "maximum", group)
        expected["maximum"] = np.max(np.stack(arrays).astype(np.float64), 0).astype(dtype)
    for name, array in found.items():
        assert array.dtype == dtype, (name, array.dtype, dtype)
        np.testing.assert_array_equal(array, expected[name], err_msg=f"{name} of {dtype}")
    np.testing.assert_array_equal(x, arrays[place], err_msg="an argument was written to")
    return len(found)
