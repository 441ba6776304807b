"""Vulkan's devices: buffers, programs in their queue, what is long, what is refused."""

from __future__ import annotations

import gc
import os
import threading

import ml_dtypes
import numpy as np
import pytest
from tests.runtime.pjrt.pjrt_programs import python
from tests.runtime.vulkan_programs import device, needs_vulkan, run

from irax_compiler import mlir, targets
from irax_compiler.iree import spirv
from irax_compiler.lowering import lower
from irax_compiler.ops.core import UnsupportedOp
from irax_runtime.device import DeviceLostError, OutOfMemoryError
from irax_runtime.iree import drivers as iree_drivers
from irax_runtime.iree import gpu as iree_gpu
from irax_runtime.platforms import METAL

DOUBLE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def reduction(shape: str, result: str, dimensions: str) -> str:
    return f"""
func.func @main(%x: tensor<{shape}xf32>) -> tensor<{result}f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = {dimensions}
     : (tensor<{shape}xf32>, tensor<f32>) -> tensor<{result}f32>
  return %0 : tensor<{result}f32>
}}
"""


def load(text):
    lowered = lower(mlir.parse_module(text), "main", "iree-vulkan")
    return device().load(targets.compile(lowered, "iree-vulkan"), "main")


# ---- buffers -------------------------------------------------------------------------------------


@needs_vulkan
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3).T,
        np.array(3, np.int32),
        np.zeros((0, 3), np.float32),
        np.array([True, False]),
        np.arange(3).astype(ml_dtypes.bfloat16),
        np.arange(4, dtype=np.complex64),
        np.arange(5),
        np.arange(3, dtype=np.uint8),
        np.arange(3, dtype=np.float16)[::-1],
    ],
    ids=lambda a: f"{a.dtype}{list(a.shape)}",
)
@pytest.mark.parametrize("unified", [True, False])
def test_arrays_come_back_as_they_went(array, unified, monkeypatch):
    # Otherwise the way of devices with memory of their own is not gone where there are none.
    monkeypatch.setattr(device(), "_is_unified", unified)
    buffer = device().put(array)
    assert (buffer.shape, buffer.dtype, buffer.is_ready()) == (array.shape, array.dtype, True)
    back = buffer.numpy()
    np.testing.assert_array_equal(back, array)
    assert not back.flags.writeable
    assert buffer.numpy() is back


@needs_vulkan
def test_what_goes_in_is_copied():
    x = np.ones(4, np.float32)
    buffer = device().put(x, may_alias=True)
    x[:] = 2
    np.testing.assert_array_equal(buffer.numpy(), np.ones(4))


@needs_vulkan
def test_an_unknown_dtype_is_named():
    with pytest.raises(TypeError, match=r"GpuDevice\('vulkan', id=0\) takes no arrays of .* int4"):
        device().put(np.zeros(3, ml_dtypes.int4))


@needs_vulkan
def test_memory_is_counted():
    gc.collect()
    before = device().memory_stats()["bytes_in_use"]
    buffer = device().put(np.ones(1000, np.float32))
    assert device().memory_stats()["bytes_in_use"] == before + 4000
    del buffer
    assert device().memory_stats()["bytes_in_use"] == before


@needs_vulkan
def test_too_little_memory_is_an_error_and_the_process_goes_on():
    with pytest.raises(OutOfMemoryError, match="does not have the memory"):
        device().allocate(1 << 45, iree_gpu._DEVICE_MEMORY, iree_gpu._DEVICE_USAGE, device().opened)
    np.testing.assert_array_equal(run(DOUBLE, np.ones(4, np.float32))[0], np.full(4, 2))


@needs_vulkan
def test_a_device_that_was_lost_takes_other_arrays():
    program = load(DOUBLE)
    x = device().put(np.ones(4, np.float32))
    (pending,) = program([x])
    lost = RuntimeError("INTERNAL; VK_ERROR_DEVICE_LOST; vkQueueSubmit")
    error = device().error(lost, x.opened)
    assert isinstance(error, DeviceLostError)
    assert "was lost, with the arrays in its memory" in str(error)
    device().error(lost, x.opened)  # a second fault of the same loss opens nothing
    for use in (lambda: program([x]), x.numpy, pending.numpy):
        with pytest.raises(DeviceLostError, match="make it again"):
            use()
    y = device().put(np.full(4, 3, np.float32))
    np.testing.assert_array_equal(program([y])[0].numpy(), np.full(4, 6))


# ---- programs ------------------------------------------------------------------------------------


@needs_vulkan
def test_calls_wait_for_each_other_on_the_device():
    program = load(DOUBLE)
    x = device().put(np.ones(4, np.float32))
    for _ in range(100):  # more than may be in the queue
        (x,) = program([x])
    assert np.log2(x.numpy()[0]) == 100
    assert x.is_ready()
    x.wait()


@needs_vulkan
def test_threads_share_a_program():
    program = load(DOUBLE)
    results = {}

    def work(number):
        x = device().put(np.full(4, number, np.float32))
        for _ in range(20):
            (x,) = program([x])
        results[number] = x.numpy()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        np.testing.assert_array_equal(results[number], np.full(4, number * 2.0**20))


@needs_vulkan
def test_arguments_that_do_not_fit_are_named():
    program = load(DOUBLE)
    with pytest.raises(TypeError, match="main takes 1 arguments, got 0"):
        program([])
    with pytest.raises(TypeError, match="argument 0 has dtype int32; expected float32"):
        program([device().put(np.ones(4, np.int32))])
    with pytest.raises(ValueError, match=r"argument 0 has shape \(3,\)"):
        program([device().put(np.ones(3, np.float32))])


@needs_vulkan
def test_what_is_no_program_for_it():
    with pytest.raises(ValueError, match="not a compiled IREE module"):
        device().load(b"nonsense")
    cpu = targets.compile(lower(mlir.parse_module(DOUBLE), "main", "iree-cpu"), "iree-cpu")
    with pytest.raises(ValueError, match=r"not a program for GpuDevice\('vulkan', id=0\)"):
        device().load(cpu)


@needs_vulkan
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_is_told_to_be_spawned():
    code = """
        import os, numpy as np
        from irax_runtime.iree import gpu as iree_gpu
        from irax_runtime.platforms import VULKAN
        device, = iree_gpu.devices(VULKAN)
        device.put(np.ones(3))
        if os.fork() == 0:
            try:
                device.put(np.ones(3))
            except RuntimeError as error:
                print("get_context('spawn')" in str(error), flush=True)
            os._exit(0)
        os.wait()
        """
    done = python(code)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


# ---- what takes long -----------------------------------------------------------------------------


@pytest.mark.slow
@needs_vulkan
def test_sums_of_more_elements_than_a_thread_is_given():
    x = np.random.default_rng(0).random((3, 100003), dtype=np.float32)
    (result,) = run(reduction("3x100003", "3x", "[1]"), x)
    np.testing.assert_allclose(result, x.sum(1, dtype=np.float64), rtol=1e-5)


@pytest.mark.slow
@needs_vulkan
def test_products_of_more_elements_than_a_thread_is_given():
    rng = np.random.default_rng(0)
    x, y = rng.random((3, 70001), dtype=np.float32), rng.random((70001, 2), dtype=np.float32)
    text = """
func.func @main(%x: tensor<3x70001xf32>, %y: tensor<70001x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
     : (tensor<3x70001xf32>, tensor<70001x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
"""
    (result,) = run(text, x, y)
    np.testing.assert_allclose(result, x.astype(np.float64) @ y, rtol=1e-5)


def lowered_text(text: str) -> str:
    return str(lower(mlir.parse_module(text), "main", "iree-vulkan"))


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f64", "complex<f64>"])
def test_float64_is_refused_by_name(dtype):
    text = DOUBLE.replace("f32", dtype)
    with pytest.raises(UnsupportedOp, match=r"stablehlo.add at .*does not compute with \w+; use"):
        lowered_text(text)


def test_windows_that_cannot_be_divided_are_refused_by_name():
    text = """
func.func @main(%x: tensor<9000xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 8999>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<9000xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
    with pytest.raises(UnsupportedOp, match=r"reduce_window at .* takes 8999 steps"):
        lowered_text(text)


def module_of(*instructions: tuple[int, ...]) -> bytes:
    words = [0x07230203, 0x10300, 0, 99, 0]
    for operation, *operands in instructions:
        words += [(len(operands) + 1) << 16 | operation, *operands]
    return np.array(words, "<u4").tobytes()


@pytest.mark.parametrize(
    "instructions, expected",
    [
        ([(59, 1, 7, 4), (65, 2, 8, 7, 5), (65, 2, 9, 7, 6)], True),
        ([(59, 1, 7, 4), (65, 2, 8, 7, 5), (65, 2, 9, 7, 5)], False),
        ([(59, 1, 7, 4), (65, 2, 8, 7, 5), (224, 2, 2, 264), (65, 2, 9, 7, 6)], False),
        ([(59, 1, 7, 12), (65, 2, 8, 7, 5), (65, 2, 9, 7, 6)], False),
        ([(16, 1, 17, 1, 1, 1), (59, 1, 7, 4), (65, 2, 8, 7, 5), (65, 2, 9, 7, 6)], False),
        ([(16, 1, 17, 8, 1, 1), (59, 1, 7, 4), (65, 2, 8, 7, 5), (65, 2, 9, 7, 6)], True),
    ],
    ids=["shared", "at one place", "with a barrier", "of all", "alone", "not alone"],
)
def test_kernels_whose_threads_do_not_wait(instructions, expected):
    good = module_of((59, 1, 7, 4), (65, 2, 8, 7, 5))
    assert spirv.races(good + module_of(*instructions) + good) is expected


# ---- where there is none -------------------------------------------------------------------------


def test_what_is_missing_is_told_with_what_installs_it():
    code = """
        from irax_runtime.iree import drivers as iree_drivers
        from irax_runtime.platforms import VULKAN
        try:
            iree_drivers.available(VULKAN)
        except iree_drivers.DriverError as error:
            print(error)
        """
    done = python(code, VK_ICD_FILENAMES="/nonexistent", VK_DRIVER_FILES="/nonexistent")
    assert done.returncode == 0, done.stderr
    assert "apt-get install" in done.stdout


def test_a_driver_that_is_not_in_the_runtime():
    with pytest.raises(
        iree_drivers.DriverError, match=r"no driver 'metal'.*compile --device metal"
    ):
        iree_gpu.devices(METAL)
