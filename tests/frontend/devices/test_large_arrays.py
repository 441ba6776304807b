"""Arrays of more elements than int32 counts, in compiled programs: one of 2 GiB, and its copies.

They run with IRAX_LARGE_ARRAYS=1, one at a time (`-n 0`): two at once may take more memory than
there is.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

N = 2**31 + 5
NEEDED = 12 << 30
"""The bytes of memory that must be free: programs may take five times that of their argument."""


def _free_memory() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next(int(x.split()[1]) << 10 for x in lines if x.startswith("MemAvailable"))


@pytest.fixture
def x() -> Iterator[Any]:
    """Zeros, but for 1 at 7 and 5 at -2."""
    if not os.environ.get("IRAX_LARGE_ARRAYS") or _free_memory() < NEEDED:
        pytest.skip(f"needs IRAX_LARGE_ARRAYS=1 and {NEEDED >> 30} GiB of free memory")
    with irax.enable_x64(True):
        elements = np.zeros(N, np.int8)
        elements[[7, -2]] = 1, 5
        yield jnp.asarray(elements)
    gc.collect()


def _with(places: dict[int, int], start: int = -8) -> list[int]:
    """Return the elements from `start` on, of which some were written."""
    elements = [0] * -start
    elements[-2] = 5
    for place, value in places.items():
        elements[place] = value
    return elements


AT, ROW = np.array([N - 3, -4]), N // 4 - 1

WRITES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], list[int]]] = {
    "number": (lambda x: x.at[-3].set(7), (), _with({-3: 7})),
    "slice": (lambda x: x.at[-4:].set(3), (), _with(dict.fromkeys((-4, -3, -2, -1), 3))),
    "traced": (lambda x, i: x.at[i].set(7), (np.int64(N - 3),), _with({-3: 7})),
    "traced int32": (lambda x, i: x.at[i].set(7), (np.int32(-3),), _with({-3: 7})),
    "array": (lambda x, i: x.at[i].set(7), (AT,), _with({-3: 7, -4: 7})),
    "added": (lambda x, i: x.at[i].add(7), (np.array([N - 2, -2, N + 9]),), _with({-2: 19})),
    "update slice": (
        lambda x, i: lax.dynamic_update_slice(x, np.full(3, 9, np.int8), (i,)),
        (np.int64(N - 5),),
        _with(dict.fromkeys((-5, -4, -3), 9)),
    ),
    "loop": (
        lambda x: lax.fori_loop(0, 3, lambda i, x: x.at[N - 3 - i].set(4), x),
        (),
        _with(dict.fromkeys((-5, -4, -3), 4)),
    ),
}

READS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "array": (lambda x, i: x[i], (np.array([N - 2, -2, 7, -3]),), [5, 5, 1, 0]),
    "traced int32": (lambda x, i: x[i], (np.int32(-2),), 5),
    "slice": (lambda x, i: lax.dynamic_slice(x, (i,), (4,)), (np.int64(N - 4),), [0, 0, 5, 0]),
    "rows": (
        lambda x, i: x[:-1].reshape(-1, 4)[i],
        (np.array([ROW, -2]),),
        [[0, 0, 0, 5], [0] * 4],
    ),
    "nonzero": (lambda x: jnp.nonzero(x, size=3)[0], (), [7, N - 2, 0]),
    "argmax": (jnp.argmax, (), N - 2),
    "sum": (lambda x: x.sum(dtype=np.int64), (), 6),
    "deleted": (lambda x: jnp.delete(x, -3)[-3:], (), [0, 5, 0]),
    "reversed": (lambda x: x[::-1][:3], (), [0, 5, 0]),
    "rolled": (lambda x: jnp.roll(x, 3)[:4], (), [0, 5, 0, 0]),
    "joined": (lambda x: jnp.concatenate([x, x[-3:]])[-6:], (), [0, 5, 0, 0, 5, 0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITES)
def test_writes(x: Any, name: str):
    f, indices, expected = WRITES[name]
    written = irax.jit(f)(x, *indices)
    np.testing.assert_array_equal(np.asarray(written[-8:]), expected)
    np.testing.assert_array_equal(np.asarray(written[:9]), [0] * 7 + [1, 0])


@pytest.mark.slow
@pytest.mark.parametrize("name", READS)
def test_reads(x: Any, name: str):
    f, indices, expected = READS[name]
    np.testing.assert_array_equal(np.asarray(irax.jit(f)(x, *indices)), expected)


def test_places_that_do_not_fit_are_refused():
    x = irax.ShapeDtypeStruct((N,), np.int8)
    with pytest.raises(ValueError, match=r"axis 0 of shape .* has more elements than"):
        irax.eval_shape(lambda x: lax.top_k(x, 2), x)
    with irax.enable_x64(False), pytest.raises(OverflowError, match="int32 does not hold"):
        irax.eval_shape(jnp.argmax, x)
