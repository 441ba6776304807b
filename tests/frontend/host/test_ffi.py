"""C functions in programs: compiled by a C compiler where there is one, and pointers of ctypes."""

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import ffi
from irax.compat.jax.interpreters import mlir
from irax.extend.core import Primitive
from irax_compiler.ops.core import UnsupportedOp

SOURCE = """
#include "irax_ffi.h"
void irax_test_scale(IRAX_ARRAY(const float, x), IRAX_ARRAY(float, y), double factor)
{
    for (int64_t i = 0; i < irax_size(x_rank, x_extents); i++)
        y[i] = factor * x[i];
}
static int64_t calls = 0;
int64_t irax_test_calls(void) { return calls; }
void irax_test_all(IRAX_ARRAY(const float, x), IRAX_ARRAY(const int32_t, n), IRAX_ARRAY(float, y),
                   IRAX_ARRAY(int32_t, told), _Bool flag, int8_t small, const char *text,
                   const double *weights, int64_t num_weights, uint32_t large)
{
    double sum = 0;
    for (int64_t i = 0; i < num_weights; i++)
        sum += weights[i];
    for (int64_t i = 0; i < irax_size(y_rank, y_extents); i++)
        y[i] = x[i] * n[0] + sum + 100 * flag;
    told[0] = 1000 * x_rank + 100 * x_extents[0] + n_rank;
    told[1] = small;
    told[2] = text[1] + text[5];
    told[3] = large == 4000000000u;
    calls++;
}
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="programs call C functions on Linux")
F32 = np.float32


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("ffi")
    (folder / "test.c").write_text(SOURCE)
    command = [compiler, "-shared", "-fPIC", f"-I{ffi.include_dir()}", "test.c", "-o", "libtest.so"]
    subprocess.run(command, cwd=folder, check=True)
    found = ctypes.CDLL(str(folder / "libtest.so"))
    found.irax_test_calls.restype = ctypes.c_int64
    ffi.register_ffi_target("tests.scale", found.irax_test_scale)
    ffi.register_ffi_target("tests.all", found.irax_test_all)
    return found


ARRAY = (ctypes.POINTER(ctypes.c_float), ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))


@ctypes.CFUNCTYPE(None, *ARRAY, *ARRAY)
def negate(x, x_rank, x_extents, y, y_rank, y_extents):
    # y has a dimension more where x has not it
    size = int(np.prod(y_extents[:y_rank], dtype=int))
    length = int(np.prod(x_extents[:x_rank], dtype=int))
    for i in range(size):
        y[i] = -x[i % length]


ffi.register_ffi_target("tests.negate", ffi.pycapsule(negate))


def result(x):
    return irax.ShapeDtypeStruct(x.shape, x.dtype)


def scale(x, factor=2.0, **options):
    return ffi.ffi_call("tests.scale", result(x), **options)(x, factor=factor)


def negative(x, **options):
    return ffi.ffi_call("tests.negate", result(x), **options)(x)


def everything(x, **options):
    types = [result(x), irax.ShapeDtypeStruct((4,), "int32")]
    call = ffi.ffi_call("tests.all", types, **options)
    large = np.uint32(4000000000)
    return call(x, jnp.array([2]), a=True, b=np.int8(-3), c="hello\n", d=[1, 2, 3.5], e=large)


@linux
def test_a_program_calls_a_library(library):
    x = jnp.arange(6, dtype=F32).reshape(2, 3)

    def f(x):
        y, told = everything(x + 1)
        rows, _ = irax.lax.scan(lambda c, _: (scale(c, 0.5), c), y, None, length=2)
        return rows, told

    for function in (f, irax.jit(f)):
        y, told = function(x)
        np.testing.assert_allclose(y, ((np.arange(6).reshape(2, 3) + 1) * 2 + 106.5) / 4)
        assert list(told) == [2201, -3, ord("e") + ord("\n"), 1]


@linux
def test_calls_with_a_side_effect_happen_as_often_as_the_program_says(library):
    x = jnp.ones(2, F32)
    before = library.irax_test_calls()
    irax.jit(lambda x: (everything(x), x)[1])(x)
    assert library.irax_test_calls() == before

    def f(x):
        everything(x, has_side_effect=True)
        return irax.lax.fori_loop(0, 3, lambda i, x: (everything(x, has_side_effect=True), x)[1], x)

    irax.jit(f)(x)
    assert library.irax_test_calls() == before + 4


@linux
def test_a_pointer_and_arrays_without_elements():
    def f(x):
        empty = negative(x[:0])
        return negative(x) + 1, empty

    x = jnp.arange(3, dtype=F32)
    for function in (f, irax.jit(f)):
        y, empty = function(x)
        assert y.tolist() == [1, 0, -1]
        assert empty.shape == (0,)


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled", "broadcast_all"])
@pytest.mark.parametrize("has_side_effect", [False, True])
def test_lanes(method: str, has_side_effect: bool):
    def f(x):
        return negative(x, vmap_method=method, has_side_effect=has_side_effect)

    x = jnp.arange(6, dtype=F32).reshape(2, 3)
    np.testing.assert_array_equal(irax.vmap(f, in_axes=1, out_axes=1)(x), -np.asarray(x))


@pytest.mark.parametrize("method", ["expand_dims", "legacy_vectorized"])
def test_lanes_share_operands(method: str):
    seen = []

    @ctypes.CFUNCTYPE(None, *ARRAY, *ARRAY, *ARRAY)
    def look(x, x_rank, x_extents, y, y_rank, y_extents, z, z_rank, z_extents):
        seen.append((x_extents[:x_rank], y_extents[:y_rank], z_extents[:z_rank]))
        z[0], z[1] = 5, 6

    name = f"tests.look.{method}"
    ffi.register_ffi_target(name, look)
    call = ffi.ffi_call(name, irax.ShapeDtypeStruct((), "float32"), vmap_method=method)
    found = irax.vmap(call, in_axes=(0, None))(jnp.ones(2, F32), jnp.ones(3, F32))
    assert found.tolist() == [5, 6]
    assert seen == [([2], [1, 3] if method == "expand_dims" else [3], [2])]


def test_derivatives_are_those_of_rules():
    @irax.custom_jvp
    def f(x):
        return negative(x, vmap_method="broadcast_all")

    f.defjvp(lambda primals, tangents: (f(*primals), -tangents[0]))
    x = jnp.arange(3, dtype=F32)
    assert irax.grad(lambda x: (f(x) * x).sum())(x).tolist() == [0, -2, -4]
    assert irax.vmap(irax.grad(f))(x).tolist() == [-1] * 3
    with pytest.raises(NotImplementedError, match=r"ffi_call of tests.negate has no derivative"):
        irax.jvp(negative, (x,), (x,))
    with pytest.raises(NotImplementedError, match=r"vmap: ffi_call of tests.negate does not say"):
        irax.vmap(negative)(x)


RUN = """
import sys, numpy as np, irax_runtime
program = irax_runtime.load(sys.argv[1])
print(program(np.arange(3, dtype=np.float32))[0].tolist())
"""


def run_elsewhere(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@contextmanager
def moved(file: Path) -> Iterator[None]:
    file.rename(file.with_suffix(".gone"))
    try:
        yield
    finally:
        file.with_suffix(".gone").rename(file)


@linux
def test_a_saved_program_needs_the_library(library, tmp_path: Path):
    file = tmp_path / "f.irax"
    x = jnp.arange(3, dtype=F32)
    irax.export.export(irax.jit(lambda x: (scale(x),)))(x).save(str(file))
    done = run_elsewhere(file)
    assert done.stdout == "[0.0, 2.0, 4.0]\n", done.stderr
    with moved(Path(library._name)):
        done = run_elsewhere(file)
    assert "which is not there: put it there" in done.stderr, done.stderr


@linux
def test_a_saved_program_cannot_call_a_pointer(tmp_path: Path):
    file = tmp_path / "f.irax"
    x = jnp.arange(3, dtype=F32)
    irax.export.export(irax.jit(lambda x: (negative(x),)))(x).save(str(file))
    done = run_elsewhere(file)
    assert "by its address in the process that compiled it" in done.stderr, done.stderr


def test_registering():
    @ctypes.CFUNCTYPE(None)
    def other():
        pass

    ffi.register_ffi_target("tests.negate", negate, platform="cpu", api_version=0)
    with pytest.raises(ValueError, match=r"'tests.negate' is registered for another function"):
        ffi.register_ffi_target("tests.negate", other)
    with pytest.raises(TypeError, match=r"Python functions are called by irax.pure_callback"):
        ffi.register_ffi_target("tests.python", lambda: None)
    with pytest.raises(NotImplementedError, match=r"platform='CUDA'"):
        ffi.register_ffi_target("tests.negate", negate, platform="CUDA")
    with pytest.raises(NotImplementedError, match=r"unknown arguments traits; expected none"):
        ffi.register_ffi_target("tests.negate", negate, traits=1)

    class WithAddress:
        address = ctypes.cast(negate, ctypes.c_void_p).value

    ffi.register_ffi_target("tests.address", WithAddress())
    assert ffi.ffi_call("tests.address", irax.ShapeDtypeStruct((), F32))(F32(2)) == -2


def test_bad_calls():
    x = jnp.ones(3, F32)
    with pytest.raises(UnsupportedOp, match=r"'tests.none', which is not registered"):
        ffi.ffi_call("tests.none", result(x))(x)
    with pytest.raises(ValueError, match=r"vmap_method must be None or one of .*, got 'all'"):
        negative(x, vmap_method="all")
    with pytest.raises(NotImplementedError, match=r"custom_call_api_version=2 is not supported"):
        negative(x, custom_call_api_version=2)
    with pytest.raises(NotImplementedError, match=r"input_output_aliases=\{0: 0\}"):
        negative(x, input_output_aliases={0: 0})
    with pytest.raises(NotImplementedError, match=r"input_layouts: \(1, 0\) is not supported"):
        negative(jnp.ones((2, 3), F32), input_layouts=[(1, 0)])
    with pytest.raises(ValueError, match=r"output_layouts has 2 items; expected 1"):
        negative(x, output_layouts=[None, None])
    assert negative(x, input_layouts=[(0,)], output_layouts=[None]).tolist() == [-1] * 3
    with pytest.raises(TypeError, match=r"attribute a=<object .*: expected a string, a number"):
        ffi.ffi_call("tests.negate", result(x))(x, a=object())
    with pytest.raises(TypeError, match=r"argument 0"):
        ffi.ffi_call("tests.negate", result(x))("x")
    with pytest.raises(TypeError, match=r"result_shape_dtypes\[0\]: expected something with"):
        ffi.ffi_call("tests.negate", 3)
    with pytest.raises(AttributeError, match=r"a C function has irax's signature, not XLA's"):
        _ = ffi.register_ffi_type


def test_lowerings_of_primitives(library):
    scale = Primitive("scale")
    scale.def_abstract_eval(lambda x, factor: x)
    lowering = ffi.ffi_lowering("tests.scale", operand_layouts=[(1, 0)], result_layouts=[(1, 0)])
    mlir.register_lowering(scale, lowering)
    x = jnp.arange(6.0).reshape(2, 3)
    found = irax.jit(lambda x: scale.bind(x + 1, factor=3.0))(x)
    np.testing.assert_array_equal(found, 3 * (np.asarray(x) + 1))
    fixed = Primitive("fixed")
    fixed.def_abstract_eval(lambda x: x)
    mlir.register_lowering(fixed, ffi.ffi_lowering("tests.scale", backend_config={"factor": 2.0}))
    np.testing.assert_array_equal(irax.jit(fixed.bind)(x), 2 * np.asarray(x))
    with pytest.raises(TypeError, match="unexpected arguments api_version"):
        ffi.ffi_lowering("tests.scale", api_version=4)
    columns = Primitive("columns")
    columns.def_abstract_eval(lambda x: x)
    mlir.register_lowering(columns, ffi.ffi_lowering("tests.scale", operand_layouts=[(0, 1)]))
    with pytest.raises(NotImplementedError, match="layouts"):
        irax.jit(columns.bind)(x)
