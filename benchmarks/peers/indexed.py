"""Rows by their indices: sparse products, embeddings, sums of segments; sorts and selections."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.program import Drawn, Race, f32, fast, i32, parallel, weights

ROWS, A_ROW = 20_000, 8
STARTS = Drawn(lambda g: np.arange(0, ROWS * A_ROW + 1, A_ROW, dtype=np.int32))


def _sparse(lib: Any, jnp: Any) -> Any:
    def multiply(values: Any, columns: Any, starts: Any, x: Any) -> Any:
        sizes = starts[1:] - starts[:-1]
        rows = jnp.repeat(jnp.arange(ROWS), sizes, total_repeat_length=ROWS * A_ROW)
        return lib.ops.segment_sum(values * x[columns], rows, ROWS, indices_are_sorted=True)

    return multiply


def _sparse_rows(lib: Any, jnp: Any) -> Any:
    def multiply(values: Any, columns: Any, rows: Any, x: Any) -> Any:
        return lib.ops.segment_sum(values * x[columns], rows, ROWS, indices_are_sorted=True)

    return multiply


def _sparse_torch(torch: Any) -> Any:
    kept: dict[int, Any] = {}

    def multiply(values: Any, columns: Any, starts: Any, x: Any) -> Any:
        if id(values) not in kept:  # a matrix is made once
            kept[id(values)] = torch.sparse_csr_tensor(starts, columns, values, (ROWS, ROWS))
        return kept[id(values)] @ x

    return multiply


def _coordinates_torch(torch: Any) -> Any:
    def multiply(values: Any, columns: Any, rows: Any, x: Any) -> Any:
        return torch.zeros(ROWS).index_add_(0, rows, values * x[columns])

    return multiply


def _sparse_loop(numba: Any) -> Any:
    @parallel(numba)
    def multiply(values: Any, columns: Any, starts: Any, x: Any) -> Any:
        out = np.empty(starts.size - 1, np.float32)
        for i in numba.prange(out.size):
            total = np.float32(0)
            for k in range(starts[i], starts[i + 1]):
                total += values[k] * x[columns[k]]
            out[i] = total
        return out

    return multiply


def _segments(lib: Any, jnp: Any) -> Any:
    def gather_and_sum(x: Any, senders: Any, receivers: Any) -> Any:
        return lib.ops.segment_sum(x[senders], receivers, 10_000)

    return gather_and_sum


def _segments_torch(torch: Any) -> Any:
    def gather_and_sum(x: Any, senders: Any, receivers: Any) -> Any:
        return torch.zeros(10_000, 32).index_add_(0, receivers, x[senders])

    return gather_and_sum


def _segments_loop(numba: Any) -> Any:
    @fast(numba)
    def gather_and_sum(x: Any, senders: Any, receivers: Any) -> Any:
        out = np.zeros((10_000, x.shape[1]), np.float32)
        for k in range(senders.size):
            for j in range(x.shape[1]):
                out[receivers[k], j] += x[senders[k], j]
        return out

    return gather_and_sum


def _dlrm(lib: Any, jnp: Any) -> Any:
    """Embeddings of bags of 4, and products of each two of them, into a dense layer."""

    def predict(params: Any, indices: Any, dense: Any) -> Any:
        bags = [table[indices[i]].sum(1) for i, table in enumerate(params["tables"])]
        bags.append(lib.nn.relu(dense @ params["bottom"]))
        features = jnp.stack(bags, 1)
        crossed = (features @ features.mT).reshape(features.shape[0], -1)
        return lib.nn.relu(crossed @ params["top"]) @ params["last"]

    return predict


def _dlrm_module(torch: Any, params: Any) -> Any:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bags = torch.nn.ModuleList(
                torch.nn.EmbeddingBag.from_pretrained(table, mode="sum")
                for table in params["tables"]
            )
            self.bottom, self.top, self.last = params["bottom"], params["top"], params["last"]

        def forward(self, indices: Any, dense: Any) -> Any:
            bags = [bag(indices[i]) for i, bag in enumerate(self.bags)]
            bags.append(torch.relu(dense @ self.bottom))
            features = torch.stack(bags, 1)
            crossed = (features @ features.mT).flatten(1)
            return torch.relu(crossed @ self.top) @ self.last

    return Model()


def _median(lib: Any, jnp: Any) -> Any:
    def median_filter(x: Any) -> Any:
        n, m = x.shape[0] - 2, x.shape[1] - 2
        shifted = [x[i : i + n, j : j + m] for i in range(3) for j in range(3)]
        return jnp.median(jnp.stack(shifted), 0)

    return median_filter


def _median_torch(torch: Any) -> Any:
    def median_filter(x: Any) -> Any:
        windows = x.unfold(0, 3, 1).unfold(1, 3, 1)
        return windows.reshape(*windows.shape[:2], 9).median(-1).values

    return median_filter


def _median_loop(numba: Any) -> Any:
    @parallel(numba)
    def median_filter(x: Any) -> Any:
        n, m = x.shape[0] - 2, x.shape[1] - 2
        out = np.empty((n, m), np.float32)
        for i in numba.prange(n):
            window = np.empty(9, np.float32)
            for j in range(m):
                for k in range(9):
                    value, place = x[i + k // 3, j + k % 3], k
                    while place > 0 and window[place - 1] > value:
                        window[place] = window[place - 1]
                        place -= 1
                    window[place] = value
                out[i, j] = window[4]
        return out

    return median_filter


TABLES = {
    "tables": [f32(10_000, 16)] * 8,
    "bottom": weights(13, 16),
    "top": weights(81, 64),
    "last": weights(64, 1),
}

RACES = [
    Race(
        "sparse matrix (20000 rows, 8 a row) by vector",
        (f32(ROWS * A_ROW), i32(ROWS * A_ROW, below=ROWS), STARTS, f32(ROWS)),
        _sparse,
        _sparse_torch,
        numba=_sparse_loop,
    ),
    Race(
        "sparse matrix by coordinates",
        (
            f32(ROWS * A_ROW),
            i32(ROWS * A_ROW, below=ROWS),
            Drawn(lambda g: np.sort(g.integers(0, ROWS, ROWS * A_ROW, np.int32))),
            f32(ROWS),
        ),
        _sparse_rows,
        _coordinates_torch,
    ),
    Race(
        "embedding of 8192 of 50000x64",
        (f32(50_000, 64), i32(8192, below=50_000)),
        lambda lib, jnp: lambda table, indices: table[indices],
        lambda torch: lambda table, indices: torch.nn.functional.embedding(indices, table),
        bytes=2 * 4 * 8192 * 64,
    ),
    Race(
        "messages of a graph, 100000 edges x 32",
        (f32(10_000, 32), i32(100_000, below=10_000), i32(100_000, below=10_000)),
        _segments,
        _segments_torch,
        numba=_segments_loop,
        bytes=3 * 4 * 100_000 * 32,
    ),
    Race(
        "DLRM, 8 tables, batch 256",
        (TABLES, i32(8, 256, 4, below=10_000), f32(256, 13)),
        _dlrm,
        module=_dlrm_module,
        bytes=4 * 16 * 4 * 256 * 8,
        flops=2 * 256 * (81 * 16 + 81 * 64),
    ),
    Race(
        "top 64 of 64x10000",
        (f32(64, 10_000),),
        lambda lib, jnp: lambda x: lib.lax.top_k(x, 64)[0],
        lambda torch: lambda x: torch.topk(x, 64).values,
    ),
    Race(
        "sort rows 256x1000",
        (f32(256, 1000),),
        lambda lib, jnp: lambda x: jnp.sort(x, 1),
        lambda torch: lambda x: torch.sort(x, 1).values,
    ),
    Race(
        "argsort of 100000",
        (f32(100_000),),
        lambda lib, jnp: lambda x: jnp.argsort(x),
        lambda torch: lambda x: torch.argsort(x),
        numba=lambda numba: fast(numba)(lambda x: np.argsort(x)),
    ),
    Race("median filter 3x3 of 512", (f32(514, 514),), _median, _median_torch, numba=_median_loop),
]
