"""Arrays and programs on XLA's CPU plugin."""

from __future__ import annotations

import gc
import threading

import ml_dtypes
import numpy as np
import pytest
from tests.runtime.pjrt.pjrt_programs import ADD, artefact, device, needs_plugin

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.targets import pjrt
from irax_runtime.memory import aligned_copy, aligned_empty
from irax_runtime.pjrt.abi import Error_Code
from irax_runtime.pjrt.errors import OutOfMemoryError, PjrtError
from irax_runtime.pjrt.options import compile_options
from irax_runtime.signature import dtype_of_name

pytestmark = needs_plugin

DTYPES = [
    np.bool_,
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
    *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
    *(ml_dtypes.float8_e3m4, ml_dtypes.float8_e4m3),
]
LENT = (200, 100)  # large enough to be used where it is
F32 = np.float32


def ones(*shape: int, dtype: object = F32) -> np.ndarray:
    return np.ones(shape, dtype)


@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3, 4), LENT], ids=str)
@pytest.mark.parametrize("may_alias", [False, True])
def test_round_trip(shape: tuple[int, ...], may_alias: bool):
    values = np.random.default_rng(0).uniform(-3, 3, shape).astype(F32)
    arrays = [aligned_copy(np.abs(values).astype(dtype)) for dtype in DTYPES]
    backs = [device().put(x, may_alias).numpy() for x in arrays]  # the buffers are dropped here
    gc.collect()
    for back, array in zip(backs, arrays, strict=True):
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        assert back.tobytes() == array.tobytes(), array.dtype
        assert not back.flags.writeable


@pytest.mark.parametrize("dtype", [F32, np.bool_, np.int64, np.complex64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3, 4)], ids=str)
def test_copies_from_devices_that_numpy_cannot_see_into(dtype: type, shape: tuple[int, ...]):
    values = np.random.default_rng(0).uniform(-3, 3, shape).astype(F32)
    array = np.abs(values).astype(dtype)
    buffer = device().put(array)
    back = buffer._copy(buffer.live_pointer())
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()
    assert not back.flags.writeable


def test_arrays_in_any_order_of_memory():
    array = np.arange(24.0).reshape(2, 3, 4)
    for view in (array.T, array[:, ::-1], array[..., 1]):
        np.testing.assert_array_equal(device().put(view).numpy(), view)


def test_what_is_put_is_a_copy():
    array = aligned_copy(ones(*LENT))
    buffer = device().put(array)
    array[:] = 7
    np.testing.assert_array_equal(buffer.numpy(), ones(*LENT))


def test_lent_memory_is_kept_while_it_is_used_and_given_back():
    add = device().load(artefact(ADD.replace("3x", "200x100x"), "add"))
    before = len(device().client.loans._open)
    for i in range(100):
        x = device().put(aligned_copy(np.full(LENT, i, F32)), may_alias=True)
        (y,) = add([x, x])
        del x
        gc.collect()
        np.testing.assert_array_equal(y.numpy(), np.full(LENT, 2 * i, F32))
    assert len(device().client.loans._open) <= before + 40


def test_a_dtype_that_there_is_none_of():
    with pytest.raises(TypeError, match="takes no arrays of dtype int4"):
        device().put(np.zeros(3, ml_dtypes.int4))


def test_a_program():
    add = device().load(artefact(ADD, "add"), "add")
    x, y = (device().put(np.array(v, F32)) for v in ([1, 2, 3], [10, 20, 30]))
    (sum_,) = add([x, y])
    assert sum_.device is device()
    assert (sum_.shape, sum_.dtype) == ((3,), F32)
    sum_.wait()
    assert sum_.is_ready()
    np.testing.assert_array_equal(sum_.numpy(), [11, 22, 33])
    np.testing.assert_array_equal(add([sum_, sum_])[0].numpy(), [22, 44, 66])


def test_results_and_arguments_of_any_number():
    text = """func.func @f() -> (tensor<i32>, tensor<2xf64>, tensor<0xi1>) {
      %0 = stablehlo.constant dense<5> : tensor<i32>
      %1 = stablehlo.constant dense<[1.5, 2.5]> : tensor<2xf64>
      %2 = stablehlo.constant dense<> : tensor<0xi1>
      return %0, %1, %2 : tensor<i32>, tensor<2xf64>, tensor<0xi1>
    }"""
    five, two, none = device().load(artefact(text, "f"))([])
    assert five.numpy() == 5
    np.testing.assert_array_equal(two.numpy(), [1.5, 2.5])
    assert none.numpy().shape == (0,)
    text = "func.func @g(%x: tensor<f32>) { return }"
    assert device().load(artefact(text, "g"))([device().put(ones())]) == []


@pytest.mark.parametrize(
    "arrays, error, message",
    [
        ([ones(3)], TypeError, "add takes 2 arguments, got 1"),
        ([ones(3), ones(3, dtype=np.int32)], TypeError, "argument 1 has dtype int32; expected"),
        (
            [ones(3), ones(1, 3)],
            ValueError,
            r"argument 1 has shape \(1, 3\); expected float32\[3\]",
        ),
    ],
)
def test_arguments_that_do_not_fit(arrays: list, error: type, message: str):
    add = device().load(artefact(ADD, "add"))
    with pytest.raises(error, match=message):
        add([device().put(a) for a in arrays])


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "does not begin with '// irax: '"),
        (b"func.func @main() { return }", "does not begin with"),
        (b"// irax: {\nmodule {}", "not a program for a PJRT device"),
        (b'// irax: {"name": "f"}\nmodule {}', "does not tell args and results"),
        (
            b'// irax: {"name": "f", "args": "", "results": ""}\n'
            b"func.func @main(%x: tensor<?xf32>) { return }",
            "dimensions of unknown size",
        ),
        (
            b'// irax: {"name": "f", "args": "", "results": "i32[]"}\nfunc.func @main() { return }',
            r"the program's results are none; it tells int32\[\]",
        ),
    ],
)
def test_what_is_no_program(data: bytes, message: str):
    with pytest.raises(ValueError, match=message):
        device().load(data)


def test_the_compiler_s_message_is_the_error_s():
    header = b'// irax: {"name": "f", "args": "", "results": ""}\n'
    with pytest.raises(PjrtError, match=r"stablehlo\.nonsense") as caught:
        device().load(header + b'func.func @main() { "stablehlo.nonsense"() : () -> () return }')
    assert caught.value.code in Error_Code


def test_a_function_that_there_is_none_of():
    with pytest.raises(ValueError, match="no function sub; it has add"):
        device().load(artefact(ADD, "add"), "sub")


def test_a_serialized_program():
    data = device().load(artefact(ADD, "add")).serialize()
    again = device().load(data)
    x = device().put(ones(3))
    np.testing.assert_array_equal(again([x, x])[0].numpy(), [2, 2, 2])
    with pytest.raises(TypeError, match="add takes 2"):
        again([x])
    with pytest.raises(ValueError, match=r"was serialized by cpu other.*compile it again"):
        device().load(
            data.replace(b'"serialized": ["cpu", "cpu"]', b'"serialized": ["cpu", "other"]')
        )


def test_what_the_compiler_reckons():
    add = device().load(artefact(ADD, "add"))
    assert add.cost_analysis()["flops"] == 3
    memory = add.memory_analysis()
    assert memory["argument_size_in_bytes"] == 24
    assert memory["output_size_in_bytes"] == 12


def test_the_device_tells_what_it_is():
    here = device()
    assert (here.platform, here.id, here.process_index) == ("pjrt:cpu", 0, 0)
    assert repr(here) == "PjrtDevice('pjrt:cpu', id=0)"
    assert here.device_kind == "cpu"
    assert here.memory_stats() is None  # this plugin keeps no account


def test_too_little_memory_is_an_error_and_the_process_goes_on():
    size = 1 << 46
    text = f"""func.func @fill(%x: tensor<f32>) -> tensor<{size}xf32> {{
      %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<{size}xf32>
      return %0 : tensor<{size}xf32>
    }}"""
    fill = device().load(artefact(text, "fill"))
    with pytest.raises(OutOfMemoryError):
        fill([device().put(ones())])[0].wait()
    test_a_program()


def test_deleted_buffers():
    add = device().load(artefact(ADD, "add"))
    x, y = device().put(ones(3)), device().put(ones(3))
    shown = y.numpy()
    x.delete()
    y.delete()
    x.delete()
    for use in (x.numpy, y.numpy, x.wait, x.is_ready, lambda: add([x, x]), lambda: add.run([x, x])):
        with pytest.raises(RuntimeError, match="it was deleted or donated"):
            use()
    np.testing.assert_array_equal(shown, ones(3))


NARROW = """
func.func @f(%x: tensor<256xELEMENT>, %y: tensor<4096xf32>)
    -> (tensor<256xf32>, tensor<256xELEMENT>, tensor<4096xELEMENT>) {
  %0 = stablehlo.convert %x : (tensor<256xELEMENT>) -> tensor<256xf32>
  %1 = stablehlo.add %x, %x : tensor<256xELEMENT>
  %2 = stablehlo.convert %y : (tensor<4096xf32>) -> tensor<4096xELEMENT>
  return %0, %1, %2 : tensor<256xf32>, tensor<256xELEMENT>, tensor<4096xELEMENT>
}
"""


@pytest.mark.parametrize("element", ["f8E3M4", "f8E4M3"])
def test_narrow_floats_are_those_of_ml_dtypes(element: str):
    name = {"f8E3M4": "float8_e3m4", "f8E4M3": "float8_e4m3"}[element]
    every = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))
    wide = np.concatenate([np.linspace(-300, 300, 2048), np.geomspace(1e-6, 1e6, 2048)])
    wide = wide.astype(F32)
    program = device().load(artefact(NARROW.replace("ELEMENT", element), "f"))
    found = program([device().put(every), device().put(wide)])
    with np.errstate(over="ignore"):
        expected = every.astype(F32), every + every, wide.astype(every.dtype)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.numpy().astype(F32), other.astype(F32))


NARROW_SUMS = """
func.func @f(%x: tensor<64xELEMENT>) -> (tensor<ELEMENT>, tensor<1xELEMENT>, tensor<1xELEMENT>) {
  %zero = stablehlo.constant dense<0.0> : tensor<ELEMENT>
  %start = stablehlo.constant dense<0.0> : tensor<1xELEMENT>
  %places = stablehlo.constant dense<0> : tensor<64x1xi32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<64xELEMENT>, tensor<ELEMENT>) -> tensor<ELEMENT>
  %1 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 64>}> ({
  ^bb0(%a: tensor<ELEMENT>, %b: tensor<ELEMENT>):
    %s = stablehlo.add %a, %b : tensor<ELEMENT>
    stablehlo.return %s : tensor<ELEMENT>
  }) : (tensor<64xELEMENT>, tensor<ELEMENT>) -> tensor<1xELEMENT>
  %2 = "stablehlo.scatter"(%start, %places, %x) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
  ^bb0(%a: tensor<ELEMENT>, %b: tensor<ELEMENT>):
    %s = stablehlo.add %a, %b : tensor<ELEMENT>
    stablehlo.return %s : tensor<ELEMENT>
  }) : (tensor<1xELEMENT>, tensor<64x1xi32>, tensor<64xELEMENT>) -> tensor<1xELEMENT>
  return %0, %1, %2 : tensor<ELEMENT>, tensor<1xELEMENT>, tensor<1xELEMENT>
}
"""


@pytest.mark.parametrize("element", ["f8E4M3", "f8E4M3FN", "f8E5M2"])
def test_sums_of_narrow_floats_do_not_stop_growing(element: str):
    program = device().load(artefact(NARROW_SUMS.replace("ELEMENT", element), "f"))
    for result in program([device().put(np.ones(64, dtype_of_name(element)))]):
        assert result.numpy().astype(F32).reshape(()) == 64


# ---- donation ----


def donating(*donated: int) -> bytes:
    module = mlir.parse_module(ADD.replace("3x", "200x100x"))
    return pjrt.artefact(lower(module, "add", "pjrt"), donated)


def test_a_donated_argument_is_gone_and_its_memory_used_again():
    add = device().load(donating(0))
    x, y = device().put(ones(*LENT)), device().put(ones(*LENT))
    (sum_,) = add([x, y])
    np.testing.assert_array_equal(sum_.numpy(), 2 * ones(*LENT))
    with pytest.raises(RuntimeError, match="donated"):
        x.numpy()
    np.testing.assert_array_equal(y.numpy(), ones(*LENT))
    assert device().load(donating(0)).memory_analysis()["alias_size_in_bytes"] == 200 * 100 * 4


OTHERS = """
func.func @others(%x: tensor<200x100xf32>, %y: tensor<3xf32>)
    -> (tensor<100x200xi32>, tensor<i32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<200x100xf32>) -> tensor<100x200xf32>
  %1 = stablehlo.convert %0 : (tensor<100x200xf32>) -> tensor<100x200xi32>
  %2 = stablehlo.constant dense<5> : tensor<i32>
  return %1, %2 : tensor<100x200xi32>, tensor<i32>
}
"""


def test_memory_is_used_again_for_a_result_of_another_type():
    given = pjrt.artefact(lower(mlir.parse_module(OTHERS), "others", "pjrt"), (0, 1))
    program = device().load(given)
    values = np.arange(20000, dtype=F32).reshape(LENT)
    x, y = device().put(values), device().put(ones(3))
    result, _ = program([x, y])
    np.testing.assert_array_equal(result.numpy(), values.T)
    assert x.is_deleted()
    assert not y.is_deleted()  # there is no result of 12 bytes
    assert program.memory_analysis()["alias_size_in_bytes"] == values.nbytes
    again = device().put(values)
    shown = again.numpy()
    program([again, y])[0].wait()
    np.testing.assert_array_equal(shown, values)


def test_what_others_see_is_not_donated():
    add = device().load(donating(0))
    x = device().put(ones(*LENT))
    shown = x.numpy()
    add([x, device().put(ones(*LENT))])[0].wait()
    np.testing.assert_array_equal(shown, ones(*LENT))
    y = device().put(ones(*LENT))
    np.testing.assert_array_equal(add([y, y])[0].numpy(), 2 * ones(*LENT))
    np.testing.assert_array_equal(y.numpy(), ones(*LENT))
    lent = aligned_copy(ones(*LENT))
    add([device().put(lent, may_alias=True), y])[0].wait()
    np.testing.assert_array_equal(lent, ones(*LENT))


# ---- many at a time ----


def test_many_threads_share_a_program():
    add = device().load(artefact(ADD.replace("3x", "200x100x"), "add"))
    wrong: list[int] = []

    def work(n: int) -> None:
        for _ in range(100):
            x = device().put(np.full(LENT, n, F32))
            if not (add([x, x])[0].numpy() == 2 * n).all():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_call_returns_before_the_program_ends():
    dot = "\n".join(
        f"%{i + 1} = stablehlo.dot_general %{i}, %{i}, contracting_dims = [1] x [0] : "
        "(tensor<800x800xf32>, tensor<800x800xf32>) -> tensor<800x800xf32>"
        for i in range(20)
    )
    text = f"""func.func @f(%x: tensor<800x800xf32>) -> tensor<800x800xf32> {{
      %0 = stablehlo.negate %x : tensor<800x800xf32>
      {dot}
      return %20 : tensor<800x800xf32>
    }}"""
    program = device().load(artefact(text, "f"))
    x = aligned_empty((800, 800), F32)
    x[:] = 0
    (result,) = program([device().put(x)])
    early = result.is_ready()
    np.testing.assert_array_equal(result.numpy(), x)
    assert not early
    assert result.is_ready()


def test_options_in_protocol_buffers():
    # As a protocol compiler reads them: 2 replicas, 1 partition, on the devices 3 and 300.
    expected = "1a1c 08ffffffffffffffffff01 2002 2801 4a0b 0802 1001 1a05 0a0303ac02"
    assert compile_options([3, 300]) == bytes.fromhex(expected)
    # An entry for each setting: its name, and an override that is text, an integer or a boolean.
    settings = {"a": "bc", "d": 300, "e": True}
    entries = "3a09 0a0161 1204 0a026263 3a08 0a0164 1203 18ac02 3a07 0a0165 1202 1001"
    expected = compile_options([0]) + bytes.fromhex(entries)
    assert compile_options([0], settings) == expected
