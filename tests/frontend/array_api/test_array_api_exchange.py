"""Arrays given to other libraries and taken from them, without copies where that is possible."""

import gc
import hashlib
import io
import sys
import zlib

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.dlpack
import irax.numpy as jnp

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
OF_NUMPY = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]
NARROW = [
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
]
SHAPES = [(3,), (2, 3), (), (0, 2)]


@pytest.fixture(autouse=True)
def wide():
    with irax.enable_x64(True):
        yield


class Exporter:
    """Another library's array: notes what it is asked for."""

    def __init__(self, x, protocol="new", device=(1, 0)):
        self.x, self.protocol, self.device, self.asked = x, protocol, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        self.asked.append(options)
        if options and self.protocol == "old":
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        return self.x.__dlpack__(**options)


def address(x):
    return x.unsafe_buffer_pointer()


# ---- NumPy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", OF_NUMPY)
def test_with_numpy(dtype):
    for shape in SHAPES:
        x = jnp.ones(shape, dtype)
        there = np.from_dlpack(x)
        assert (there.dtype, there.shape, there.flags.writeable) == (np.dtype(dtype), shape, False)
        assert there.ctypes.data == address(x) or not x.size
        copied = np.from_dlpack(x, copy=True)
        assert copied.flags.writeable
        assert copied.ctypes.data != address(x) or not x.size
        source = np.ones(shape, dtype)
        for copy in (None, False):
            back = jnp.from_dlpack(source, copy=copy)
            assert (back.dtype, back.shape) == (source.dtype, shape)
            assert address(back) == source.ctypes.data or not x.size
        assert address(jnp.from_dlpack(source, copy=True)) != source.ctypes.data or not x.size


def test_shared_memory_is_the_same_memory():
    source = np.arange(6.0)
    shared, copied = jnp.from_dlpack(source), jnp.from_dlpack(source, copy=True)
    source[0] = 7
    assert (float(shared[0]), float(copied[0])) == (7, 0)


def test_what_cannot_be_shared():
    transposed = np.ones((2, 3)).T
    assert jnp.from_dlpack(transposed).shape == (3, 2)
    with pytest.raises(BufferError, match=r"strides \(8, 24\) cannot be shared.*copy=False"):
        jnp.from_dlpack(transposed, copy=False)
    with irax.enable_x64(False):
        assert jnp.from_dlpack(np.ones(3)).dtype == np.float32
        with pytest.raises(BufferError, match=r"float64 .* as one of dtype float32"):
            jnp.from_dlpack(np.ones(3), copy=False)
    with pytest.raises(TypeError, match="the method __dlpack__, got list"):
        jnp.from_dlpack([1])


def test_devices():
    cpu = irax.devices("cpu")[0]
    source = np.arange(3.0)
    for copy in (None, True, False):
        x = jnp.from_dlpack(source, device=cpu, copy=copy)
        assert x.device is cpu
        np.testing.assert_array_equal(irax.jit(jnp.square)(x), [0, 1, 4])
    assert address(jnp.from_dlpack(source, device=cpu, copy=False)) == source.ctypes.data


def test_protocols_old_and_new():
    new, old = Exporter(np.ones(3)), Exporter(np.ones(3), "old")
    np.testing.assert_array_equal(jnp.from_dlpack(new), np.ones(3))
    np.testing.assert_array_equal(jnp.from_dlpack(old), np.ones(3))
    assert new.asked == [{"max_version": (1, 0)}]
    assert old.asked == [{"max_version": (1, 0)}, {}]
    elsewhere = Exporter(np.ones(3), device=(2, 0))
    np.testing.assert_array_equal(jnp.from_dlpack(elsewhere), np.ones(3))
    assert elsewhere.asked == [{"max_version": (1, 0), "dl_device": (1, 0)}]
    with pytest.raises(BufferError, match="move it to the CPU first"):
        jnp.from_dlpack(Exporter(np.ones(3), "old", device=(2, 0)))


def test_our_own_arrays():
    x = jnp.arange(3)
    assert jnp.from_dlpack(x) is irax.dlpack.from_dlpack(x) is x
    assert address(jnp.from_dlpack(x, copy=True)) != address(x)


# ---- what others ask for -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*OF_NUMPY, "bfloat16", *NARROW])
def test_every_way_of_asking(dtype):
    assert irax.dlpack.is_supported_dtype(dtype)
    for shape in SHAPES:
        x = jnp.ones(shape, dtype)
        assert x.__dlpack_device__() == (1, 0)
        for copy in (None, True, False):
            for version in (None, (0, 8), (1, 0), (1, 2), (2, 0)):
                for device in (None, (1, 0)):
                    capsule = x.__dlpack__(max_version=version, dl_device=device, copy=copy)
                    new = version is not None and version >= (1, 0)
                    assert ("dltensor_versioned" in repr(capsule)) == new
                    back = jnp.from_dlpack(Given(capsule))
                    np.testing.assert_array_equal(back, x)
                    assert back.dtype == x.dtype
                    shared = copy is False or (copy is None and new)
                    assert (address(back) == address(x)) == shared or not x.size


class Given:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return self.capsule


def test_what_is_refused():
    x = jnp.ones(3)
    with pytest.raises(BufferError, match=r"dl_device=\(2, 0\): arrays go to the CPU"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream=1: the CPU has none"):
        x.__dlpack__(stream=1)
    assert not irax.dlpack.is_supported_dtype("int4")
    with pytest.raises(BufferError, match="no arrays of dtype int4"):
        jnp.ones(3, "int4").__dlpack__()
    with pytest.raises(irax.errors.TracerArrayConversionError):
        irax.jit(lambda x: x.__dlpack__())(1.0)


# ---- PyTorch -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*OF_NUMPY, "bfloat16", *NARROW])
def test_with_torch(dtype):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not hasattr(torch, dtype):
        pytest.skip(f"PyTorch has no {dtype}")
    for shape in SHAPES:
        x = jnp.ones(shape, dtype)
        there = torch.from_dlpack(x)
        assert (there.dtype, tuple(there.shape)) == (getattr(torch, dtype), shape)
        assert there.data_ptr() == address(x) or not x.size
        if dtype != "float8_e8m0fnu":  # which PyTorch cannot compare
            assert bool((there.to(torch.complex128) == 1).all())
        for copy in (None, False, True):
            back = jnp.from_dlpack(there, copy=copy)
            assert back.dtype == np.dtype(getattr(ml_dtypes, dtype, dtype))
            np.testing.assert_array_equal(back, x)
            assert (address(back) == address(x)) == (copy is not True) or not x.size


def test_memory_outlives_its_first_owner():
    x = jnp.from_dlpack(np.full(1000, 7.0))
    there = np.from_dlpack(jnp.full(1000, 8.0))
    back = jnp.from_dlpack(Given(jnp.full(1000, 9.0, "bfloat16").__dlpack__(copy=False)))
    np.testing.assert_array_equal(np.ones(1000) * 5, 5)
    assert (float(x.sum()), there.sum(), float(back.max())) == (7000, 8000, 9)


# ---- Python's buffers ----------------------------------------------------------------------------


def test_buffers():
    x = jnp.arange(6.0).reshape(2, 3)
    view = x.__buffer__(0)
    assert (view.readonly, view.shape, view.format) == (True, (2, 3), "d")
    assert view.tolist() == x.tolist()
    with pytest.raises(BufferError, match="no elements of dtype bfloat16"):
        jnp.ones(3, "bfloat16").__buffer__(0)


def test_memoryview():
    x = jnp.arange(3)
    assert memoryview(x).tolist() == [0, 1, 2]
    assert memoryview(x).readonly
    assert bytes(x) == bytes(bytearray(x)) == x.tobytes()


def test_functions_that_take_buffers():
    x = jnp.arange(6, dtype="float32").reshape(2, 3).T
    memory = np.arange(6, dtype="float32").reshape(2, 3).T.tobytes()
    assert hashlib.sha256(x).digest() == hashlib.sha256(memory).digest()
    assert zlib.crc32(x) == zlib.crc32(memory)
    read = np.frombuffer(x, np.float32)
    np.testing.assert_array_equal(read, [0, 3, 1, 4, 2, 5])
    assert not read.flags.writeable
    file = io.BytesIO()
    file.write(x)
    assert file.getvalue() == memory
    with pytest.raises(TypeError, match="read-write"):
        file.readinto(x)


def test_a_buffer_keeps_its_elements():
    view = memoryview(jnp.full(1000, 7))
    gc.collect()
    assert (view.nbytes, set(view.tolist())) == (8000, {7})


def test_arrays_without_buffers():
    # Python 3.11 has no way to say why.
    refusal = BufferError if sys.version_info >= (3, 12) else SystemError
    narrow, gone = jnp.ones(3, "bfloat16"), jnp.ones(3)
    gone.delete()
    with pytest.raises(refusal):
        memoryview(narrow)
    with pytest.raises((refusal, RuntimeError)):
        memoryview(gone)
    with pytest.raises(TypeError):
        irax.jit(lambda x: memoryview(x).nbytes)(1.0)
    assert np.asarray(narrow).dtype == narrow.dtype
