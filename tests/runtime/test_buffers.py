"""Arrays on their way to the CPU device and back."""

from __future__ import annotations

import gc
import pickle
import weakref

import ml_dtypes
import numpy as np
import pytest
from tests.runtime.programs import elementwise, load

from irax.core.array import as_array
from irax_runtime.iree.cpu import _MEMORY, _USAGE, cpu
from irax_runtime.memory import ALIGNMENT, FREED, aligned_copy, aligned_empty, is_aligned

DTYPES = [
    np.bool_,
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
    *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
]
SHAPES = [(), (3,), (0, 2), (100, 100), (1000, 1000)]  # copied, wrapped, aligned and wrapped
LARGE = (1000, 1000)


def octets(array: np.ndarray) -> bytes:
    return array.tobytes()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("may_alias", [False, True])
def test_round_trip(shape, may_alias):
    values = np.random.default_rng(0).uniform(-3, 3, shape).astype(np.float32)
    arrays = [aligned_copy(np.abs(values).astype(dtype)) for dtype in DTYPES]
    backs = [cpu().put(x, may_alias).numpy() for x in arrays]  # the buffers are dropped here
    gc.collect()
    for back, array in zip(backs, arrays, strict=True):
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        assert octets(back) == octets(array), array.dtype


@pytest.mark.parametrize("shape", [(4, 6), LARGE], ids=str)
def test_arrays_in_any_order_in_memory(shape):
    x = np.random.default_rng(0).normal(size=shape)
    for array in (x.T, x[::-1, ::2], np.broadcast_to(x[0], shape), np.asfortranarray(x)):
        np.testing.assert_array_equal(cpu().put(array, may_alias=True).numpy(), array)


def test_values_are_read_only():
    for shape in (4, LARGE):
        elements = cpu().put(np.ones(shape, np.float32)).numpy()
        with pytest.raises(ValueError, match="read-only"):
            elements[0] = 2


@pytest.mark.parametrize("shape", [(100, 100), LARGE], ids=str)
def test_put_copies_unless_it_may_alias(shape):
    array = aligned_copy(np.zeros(shape, np.float32))
    copied, aliased = cpu().put(array), cpu().put(array, may_alias=True)
    assert not np.shares_memory(copied.numpy(), array)
    assert np.shares_memory(aliased.numpy(), array)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["same", "narrowed"])
def test_an_argument_of_numpys_is_copied_once(dtype):
    x = np.ones(LARGE, dtype)[:, ::2]
    array = as_array(x)
    on_device = array.buffer(cpu())
    assert np.shares_memory(on_device.numpy(), array.value)
    x[:] = 2
    np.testing.assert_array_equal(array.value, np.ones(x.shape, np.float32), strict=True)


def test_memory_that_may_not_be_written_is_copied():
    array = aligned_copy(np.zeros(LARGE, np.float32))
    array.flags.writeable = False
    assert not np.shares_memory(cpu().put(array, may_alias=True).numpy(), array)


def test_an_aliased_array_lives_as_long_as_its_elements_are_seen():
    array = aligned_copy(np.zeros(LARGE, np.float32))
    ended = weakref.ref(array.base)  # views of views are views of this
    elements = cpu().put(array, may_alias=True).numpy()[5:]
    del array
    gc.collect()
    assert ended() is not None
    del elements
    gc.collect()
    assert ended() is None


@pytest.mark.parametrize("offset", range(0, 64, 4))
def test_memory_of_any_alignment(offset):
    size = 2048
    memory = aligned_empty((4 * size + 64,), np.uint8)
    x = memory[offset : offset + 4 * size].view(np.float32)
    x[:] = np.arange(size)
    buffer = cpu().put(x, may_alias=True)
    assert np.shares_memory(buffer.numpy(), memory) == (offset == 0)
    np.testing.assert_array_equal(buffer.numpy(), np.arange(size))
    (result,) = load(elementwise("negate"))([cpu().put(x[:16], may_alias=True)])
    np.testing.assert_array_equal(result.numpy(), -np.arange(16))


@pytest.mark.parametrize("dtype", ["datetime64[s]", "U3", object, ">f4", "f4,i4"])
def test_dtypes_that_devices_do_not_have(dtype):
    with pytest.raises(TypeError, match="takes no arrays of dtype"):
        cpu().put(np.zeros(3, dtype))


@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("dtype", [np.bool_, np.complex128, ml_dtypes.bfloat16])
def test_aligned_memory(shape, dtype):
    array = aligned_empty(shape, dtype)
    assert array.ctypes.data % ALIGNMENT == 0
    assert (array.shape, array.dtype) == (shape, dtype)
    assert array.flags.writeable
    assert is_aligned(array)


def test_repr():
    assert repr(cpu().put(np.ones((2, 3), np.float32))) == "<float32[2,3] on CpuDevice(id=0)>"


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_arrays_that_were_unpickled(dtype):
    array = pickle.loads(pickle.dumps(np.array([0, 1, 1]).astype(dtype)))
    back = cpu().put(array).numpy()
    assert back.dtype == dtype
    assert octets(back) == octets(array)


def is_used_again(size: int) -> bool:
    """Return True if the buffer of an array that was dropped is the next one of its size."""
    sevens = np.full(size, 7, np.float32)
    cpu().put(sevens)  # its buffer is dropped at once
    buffer = cpu()._devices["sync"].allocator.allocate_buffer(_MEMORY, _USAGE, sevens.nbytes)
    return bool((buffer.map().asarray(sevens.shape, sevens.dtype) == sevens).all())


def test_freed_buffers_are_used_again_as_they_are():
    load(elementwise("negate"))  # which frees what other tests have left
    assert is_used_again(61 * 127)


def test_a_new_program_makes_room_for_its_buffers():
    buffers = [cpu().put(np.ones(10_000 + i, np.float32)) for i in range(FREED)]
    del buffers
    assert not is_used_again(61 * 129)
    load(elementwise("negate"))
    assert is_used_again(61 * 131)
