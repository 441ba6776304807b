"""Functions that programs call on the host."""

import gc
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from tests.runtime.programs import load

from irax_compiler import lowering, mlir
from irax_runtime import host
from irax_runtime.iree.cpu import cpu
from irax_runtime.iree.executable import IreeExecutable

SORTS = """
func.func @main(%x: tensor<200xf32>, %n: tensor<3x99xi8>) -> (tensor<200xf32>, tensor<3x99xi8>) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<200xf32>) -> tensor<200xf32>
  %2 = "stablehlo.sort"(%n) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %3 = stablehlo.compare GT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<3x99xi8>) -> tensor<3x99xi8>
  return %0, %2 : tensor<200xf32>, tensor<3x99xi8>
}"""


def callback(key: str, kind: str, signature: str) -> str:
    """A callback of %x."""
    config = f'{{key = "{key}", kind = "{kind}", ordered = false, vmap_method = ""}}'
    acts = "false" if kind == "pure" else "true"
    return (
        f"stablehlo.custom_call @irax.callback(%x) {{api_version = 4 : i32, "
        f"has_side_effect = {acts}, backend_config = {config}}} : {signature}"
    )


LOOK = callback("test.look", "debug", "(tensor<2xf32>) -> ()")
DOUBLE = callback("test.double", "pure", "(tensor<2xf32>) -> tensor<2xf32>")
CALLBACKS = f"""
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  {LOOK}
  %y = {DOUBLE}
  {LOOK.replace("%x", "%y")}
  %z = {DOUBLE.replace("%x", "%y")}
  {LOOK.replace("%x", "%z")}
  return %z : tensor<2xf32>
}}"""


def sorts() -> IreeExecutable:
    return load(str(lowering.lower(mlir.parse_module(SORTS))))


def arguments(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(200).astype(np.float32), rng.integers(-128, 128, (3, 99), np.int8)


def check(executable: IreeExecutable, seed: int) -> None:
    x, n = arguments(seed)
    first, second = executable([cpu().put(x), cpu().put(n)])
    np.testing.assert_array_equal(first.numpy(), np.sort(x))
    np.testing.assert_array_equal(second.numpy(), np.sort(n, 1)[:, ::-1])


def test_a_program_calls_functions_of_the_host() -> None:
    executable = sorts()
    for seed in range(3):
        check(executable, seed)


def test_several_threads_call_at_a_time() -> None:
    executable = sorts()
    failed = []

    def work(seed: int) -> None:
        try:
            for i in range(20):
                check(executable, 100 * seed + i)
        except AssertionError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_arguments_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def spy(x: np.ndarray, *, dimension: int) -> np.ndarray:
        seen.append(x.flags.writeable)
        return np.sort(x, dimension)

    monkeypatch.setitem(host.FUNCTIONS, "sort", spy)
    check(sorts(), 0)
    assert seen == [False, False]


def test_an_error_on_the_host_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(x: np.ndarray, *, dimension: int) -> np.ndarray:
        raise ArithmeticError("no such luck")

    monkeypatch.setitem(host.FUNCTIONS, "sort", fail)
    executable = sorts()
    for _ in range(2):
        with pytest.raises(ArithmeticError, match="no such luck"):
            executable([cpu().put(x) for x in arguments(0)])


def test_callbacks_and_actions() -> None:
    seen: list[list[float]] = []

    def look(arrays: Sequence[np.ndarray], expected: object) -> list[np.ndarray]:
        assert expected == []
        seen.append([float(x[0]) for x in arrays])
        return []

    def double(arrays: Sequence[np.ndarray], expected: object) -> list[np.ndarray]:
        assert expected == [((2,), np.dtype(np.float32))]
        return [2 * arrays[0]]

    host.CALLBACKS["test.look"], host.CALLBACKS["test.double"] = look, double
    executable = load(str(lowering.lower(mlir.parse_module(CALLBACKS))))
    (result,) = executable([cpu().put(np.array([1, 2], np.float32))])
    np.testing.assert_array_equal(result.numpy(), [4, 8])
    assert seen == [[1], [2], [4]]
    del look, double  # the program keeps them
    gc.collect()
    assert "test.look" in host.CALLBACKS
    del executable
    gc.collect()
    assert "test.look" not in host.CALLBACKS


def test_a_callback_that_is_not_there() -> None:
    with pytest.raises(ValueError, match=r"calls 'test\.look' of the Python process"):
        load(str(lowering.lower(mlir.parse_module(CALLBACKS))))


def test_a_function_that_the_runtime_does_not_have() -> None:
    with pytest.raises(ValueError, match=r"'spell'; this runtime has .*sort"):
        host.host_module('[["spell", {}, "f32[]", "f32[]"]]', lambda *_: None, lambda _: None, 0)


def test_zeros_of_either_sign_stay_as_they_were() -> None:
    x = np.array([1, 0.0, -0.0, -1, 0.0, np.nan, -0.0], np.float32)
    found = host.sort(x, dimension=0)
    np.testing.assert_array_equal(found, np.sort(x))
    np.testing.assert_array_equal(np.signbit(found[:5]), [True, False, True, False, True])


@pytest.mark.parametrize(
    ("name", "length", "expected"),
    [
        ("sort", 1 << 17, True),
        ("sort", 1 << 10, False),
        ("all_reduce", 1 << 20, False),
        ("callback", 1 << 20, False),
    ],
)
def test_only_libraries_keep_ctrl_c_waiting(name: str, length: int, expected: bool) -> None:
    imports = f'[["{name}", {{}}, "f32[{length}]", "f32[{length}]"]]'
    assert host.may_take_long(imports) == expected
