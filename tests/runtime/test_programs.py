"""Compiled programs on the CPU device: values, checks, threads, and the ends of things."""

from __future__ import annotations

import doctest
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.runtime.programs import artefact, elementwise, function, load

from irax_compiler import mlir, targets
from irax_compiler.chips import IS_X86
from irax_compiler.iree import compiler as iree_compiler
from irax_compiler.passes.legalize import target
from irax_compiler.targets.cpu import CPU
from irax_runtime import memory
from irax_runtime.iree import cpu as iree
from irax_runtime.iree import shared_library
from irax_runtime.iree.cpu import cpu
from irax_runtime.iree.elf import undefined_symbols
from irax_runtime.libraries import MissingLibrary
from irax_runtime.signature import TensorType, parse_signature

DRIVERS = ["sync", "task"]


def run(program, *arguments):
    return [r.numpy() for r in program([cpu().put(np.asarray(a)) for a in arguments])]


@pytest.mark.parametrize("module", [iree, target, memory])
def test_examples_run(module):
    assert doctest.testmod(module).failed == 0
    assert doctest.testmod(module).attempted > 0


# ---- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", DRIVERS)
def test_elementwise(driver):
    x = np.linspace(-2, 2, 16, dtype=np.float32)
    (result,) = run(load(elementwise("tanh", driver=driver)), x)
    np.testing.assert_allclose(result, np.tanh(x), rtol=1e-5)


def test_matmul():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(17, 33)).astype("f"), rng.normal(size=(33, 5)).astype("f")
    text = function(
        "(%x: tensor<17x33xf32>, %y: tensor<33x5xf32>) -> tensor<17x5xf32>",
        """%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
             : (tensor<17x33xf32>, tensor<33x5xf32>) -> tensor<17x5xf32>
           return %0 : tensor<17x5xf32>""",
    )
    (result,) = run(load(text), x, y)
    np.testing.assert_allclose(result, x @ y, rtol=1e-5, atol=1e-5)


def test_while():
    text = function(
        "(%n: tensor<i32>) -> (tensor<i32>, tensor<f32>)",
        """%zero = stablehlo.constant dense<0> : tensor<i32>
           %one = stablehlo.constant dense<1> : tensor<i32>
           %init = stablehlo.constant dense<1.0> : tensor<f32>
           %r:2 = stablehlo.while(%i = %zero, %x = %init) : tensor<i32>, tensor<f32>
           cond {
             %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
             stablehlo.return %p : tensor<i1>
           } do {
             %j = stablehlo.add %i, %one : tensor<i32>
             %f = stablehlo.convert %j : (tensor<i32>) -> tensor<f32>
             %y = stablehlo.multiply %x, %f : tensor<f32>
             stablehlo.return %j, %y : tensor<i32>, tensor<f32>
           }
           return %r#0, %r#1 : tensor<i32>, tensor<f32>""",
    )
    count, factorial = run(load(text), np.int32(10))
    assert (count.dtype, int(count)) == (np.int32, 10)
    assert (factorial.dtype, float(factorial)) == (np.float32, 3628800.0)


def test_results_that_are_constants_and_arguments():
    text = function(
        "(%x: tensor<3xui16>) -> (tensor<2x2xi1>, tensor<3xui16>, tensor<3xui16>, tensor<0xf32>)",
        """%c = stablehlo.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
           %e = stablehlo.constant dense<[]> : tensor<0xf32>
           return %c, %x, %x, %e : tensor<2x2xi1>, tensor<3xui16>, tensor<3xui16>, tensor<0xf32>""",
    )
    x = np.array([1, 2, 65535], np.uint16)
    eye, *same, empty = run(load(text), x)
    assert eye.dtype == np.bool_
    np.testing.assert_array_equal(eye, np.eye(2))
    for result in same:
        assert result.dtype == np.uint16
        np.testing.assert_array_equal(result, x)
    assert (empty.dtype, empty.shape) == (np.float32, (0,))


# ---- checks --------------------------------------------------------------------------------------


def test_arguments_are_checked():
    program = load(elementwise("negate"))
    good = cpu().put(np.zeros(16, np.float32))
    with pytest.raises(TypeError, match="main takes 1 arguments, got 2"):
        program([good, good])
    with pytest.raises(TypeError, match=r"argument 0 has dtype int32; expected float32\[16\]"):
        program([cpu().put(np.zeros(16, np.int32))])
    with pytest.raises(ValueError, match=r"argument 0 has shape \(3,\); expected float32\[16\]"):
        program([cpu().put(np.zeros(3, np.float32))])


def test_arguments_of_programs_that_do_not_say_what_they_take():
    program = load(
        function(
            "(%x: tensor<4xf32>) -> tensor<4xf32>",
            "%0 = stablehlo.negate %x : tensor<4xf32>\n return %0 : tensor<4xf32>",
        )
    )
    good = cpu().put(np.zeros(4, np.float32))
    for arguments, message in [
        ([good, good], "expected 1 arguments but passed 2"),
        ([], "expected 1 arguments but passed 0"),
        ([cpu().put(np.zeros(4, np.int32))], "element type mismatch; expected f32"),
        ([cpu().put(np.zeros(5, np.float32))], "expected 4 but have 5"),
    ]:
        with pytest.raises(ValueError, match=message):
            program(arguments)
    assert len(program([good])) == 1  # and it still works


@pytest.mark.parametrize("data", [b"", b"garbage", b"\0" * 200])
def test_what_is_no_program_is_refused(data):
    with pytest.raises(ValueError, match="not a compiled IREE module"):
        cpu().load(data)


def test_programs_for_other_processors_are_refused():
    other = "aarch64" if os.uname().machine == "x86_64" else "x86_64"
    flags = [f"--iree-llvmcpu-target-triple={other}-linux-gnu", "--iree-llvmcpu-target-cpu=generic"]
    with pytest.raises(ValueError, match="not a program for this processor"):
        cpu().load(iree_compiler.compile(elementwise("negate"), [*CPU.flags_for(), *flags]))


def test_unknown_functions_and_drivers_name_those_there_are():
    with pytest.raises(ValueError, match="no function other; it has main"):
        cpu().load(artefact(elementwise("negate")), "other")
    with pytest.raises(ValueError, match=r"irax\.driver is 'gpu0'; expected one of sync, task"):
        load(elementwise("negate", driver="gpu0"))


def test_signature():
    assert parse_signature("f32[4,4];i1[];complex<f64>[0]") == [
        TensorType(np.dtype(np.float32), (4, 4)),
        TensorType(np.dtype(np.bool_), ()),
        TensorType(np.dtype(np.complex128), (0,)),
    ]
    assert parse_signature("") == []
    with pytest.raises(ValueError, match="element type i3 has no dtype here"):
        parse_signature("i3[2]")


# ---- threads, processes, ends --------------------------------------------------------------------


@pytest.mark.parametrize("driver", DRIVERS)
def test_threads_share_a_program(driver):
    size = 128
    text = function(
        f"(%x: tensor<{size}x{size}xf32>) -> tensor<{size}x{size}xf32>",
        f"""%0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
             : (tensor<{size}x{size}xf32>, tensor<{size}x{size}xf32>) -> tensor<{size}x{size}xf32>
           return %0 : tensor<{size}x{size}xf32>""",
        f'irax.driver = "{driver}"',
    )
    program, failures = load(text), []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).normal(size=(size, size)).astype(np.float32)
        expected = x @ x
        for _ in range(30):
            (result,) = run(program, x)
            if not np.allclose(result, expected, atol=1e-3):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_results_outlive_their_program():
    program = load(elementwise("negate"))
    (result,) = program([cpu().put(np.ones(16, np.float32))])
    (view,) = run(program, np.ones(16, np.float32))
    del program
    gc.collect()
    np.testing.assert_array_equal(result.numpy(), -np.ones(16))
    np.testing.assert_array_equal(view, -np.ones(16))


def in_new_process(source: str, **environment: str) -> str:
    """The output of a program that uses `sync` and `task`, loaded programs, and `x`, a buffer."""
    head = f"""
import os, sys
import numpy as np
from tests.runtime.programs import cpu, elementwise, load
sync, task = (load(elementwise("negate", driver=driver)) for driver in {DRIVERS})
x = cpu().put(np.ones(16, np.float32))
"""
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", head + source],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_what_is_alive_when_python_ends_does_no_harm():
    source = """
buffers = sync([x]) + task([x])
arrays = [b.numpy() for b in buffers]
sys.modules["kept"] = [cpu(), sync, task, x, buffers, arrays]
print(sum(a.sum() for a in arrays))
"""
    assert float(in_new_process(source)) == -32


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_runs_programs():
    source = """
task([x])
child = os.fork()
if child == 0:
    total = sum(program([x])[0].numpy().sum() for program in (sync, task))
    again = load(elementwise("negate", driver="task"))([x])[0].numpy().sum()
    os._exit(0 if total + again == -48 else 1)
_, status = os.waitpid(child, 0)
print(status, task([x])[0].numpy().sum())
"""
    assert in_new_process(source).split() == ["0", "-16.0"]


# ---- programs that are shared libraries ----------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "type_", "expected"),
    [("sine", "f64", np.sin), ("tanh", "f64", np.tanh), ("exponential", "complex<f64>", np.exp)],
)
def test_functions_of_the_c_library(op, type_, expected):
    text = elementwise(op, type_)
    assert shared_library.is_shared_library(artefact(text))
    x = np.linspace(-3, 1e4 if op == "sine" else 3, 16).astype(TYPES[type_])
    (result,) = run(load(text), x)
    np.testing.assert_allclose(result, expected(x), rtol=1e-14)


TYPES = {"f64": np.float64, "complex<f64>": np.complex128}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_loading_leaves_nothing_behind(tmp_path):
    source = """
from tests.runtime.programs import artefact
code = artefact(elementwise("sine", "f64"))
cpu().load(code)
before = len(os.listdir("/proc/self/fd"))
for _ in range(10):
    cpu().load(code)
print(len(os.listdir("/proc/self/fd")) - before, len(os.listdir(os.environ["TMPDIR"])))
"""
    assert in_new_process(source, TMPDIR=str(tmp_path)).split() == ["0", "0"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF")
def test_functions_that_are_nowhere_are_no_end_of_the_process():
    code = artefact(elementwise("sine", "f64"))
    assert undefined_symbols(code) == {"sin"}
    renamed = code.replace(b"\0sin\0", b"\0nix\0")
    with pytest.raises(MissingLibrary, match="calls nix, which no library of this process has"):
        cpu().load(renamed)
    damaged = code.replace(b"\0sin\0", b"\0sin!")[:-4000]
    assert undefined_symbols(damaged) <= {"sin"}
    assert undefined_symbols(b"\x7fELF\x02\x01" * 20) == set()


@pytest.mark.slow
@pytest.mark.skipif(not IS_X86, reason="the chip is of x86")
def test_programs_for_other_processors_are_shared_libraries_only_where_they_must_be():
    for op, type_ in (("sine", "f32"), ("exponential", "f64"), ("negate", "f64")):
        module = mlir.parse_module(elementwise(op, type_))
        for chip, is_shared in (("x86-64-v3", False), ("host", sys.platform == "linux")):
            code = targets.compile(module, f"iree-cpu:{chip}")
            assert shared_library.is_shared_library(code) == is_shared
