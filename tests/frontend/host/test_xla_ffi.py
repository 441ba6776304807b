"""Handlers of XLA's foreign function interface, built with XLA's header, under `irax.compat`."""

import shutil
import subprocess
import sys

import pytest

SOURCE = r"""
#include <string.h>
#include "xla/ffi/api/c_api.h"
XLA_FFI_Error* Scale(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start) { /* XLA asks for the handler's version when it is registered */
    XLA_FFI_Metadata* told = ((XLA_FFI_Metadata_Extension*)frame->extension_start)->metadata;
    told->api_version.major_version = XLA_FFI_API_MAJOR;
    told->api_version.minor_version = XLA_FFI_API_MINOR;
    return 0;
  }
  if (frame->struct_size != XLA_FFI_CallFrame_STRUCT_SIZE) return (XLA_FFI_Error*)1;
  XLA_FFI_Buffer* x = frame->args.args[0];
  XLA_FFI_Buffer* y = frame->rets.rets[0];
  XLA_FFI_Buffer* told = frame->rets.rets[1];
  double factor = 0;
  long long shift = 0;
  float weights = 0;
  size_t letters = 0;
  for (int64_t i = 0; i < frame->attrs.size; i++) {
    XLA_FFI_ByteSpan* name = frame->attrs.names[i];
    XLA_FFI_Scalar* scalar = frame->attrs.attrs[i];
    XLA_FFI_Array* array = frame->attrs.attrs[i];
    if (!strncmp(name->ptr, "factor", name->len)) factor = *(double*)scalar->value;
    if (!strncmp(name->ptr, "shift", name->len)) shift = *(int64_t*)scalar->value;
    if (!strncmp(name->ptr, "text", name->len))
      letters = ((XLA_FFI_ByteSpan*)frame->attrs.attrs[i])->len;
    if (!strncmp(name->ptr, "weights", name->len))
      for (size_t j = 0; j < array->size; j++) weights += ((float*)array->data)[j];
  }
  if (factor < 0) {
    XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, 0,
                                      "the factor is negative",
                                      XLA_FFI_Error_Code_INVALID_ARGUMENT};
    return frame->api->XLA_FFI_Error_Create(&args);
  }
  int64_t size = 1;
  for (int64_t i = 0; i < x->rank; i++) size *= x->dims[i];
  for (int64_t i = 0; i < size; i++)
    ((float*)y->data)[i] = factor * ((float*)x->data)[i] + shift + weights;
  ((int32_t*)told->data)[0] = 100 * x->dtype + 10 * x->rank + letters;
  return 0;
}
"""
PROGRAM = """
import ctypes, sys
import jax, jax.numpy as jnp, numpy as np
handler = ctypes.CDLL(sys.argv[1]).Scale
jax.ffi.register_ffi_target("scale", jax.ffi.pycapsule(handler), platform="cpu")
types = lambda x: [jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((1,), np.int32)]
def f(x, factor=2.0, **options):
    call = jax.ffi.ffi_call("scale", types(x), **options)
    weights = np.array([0.25, 0.5], np.float32)
    return call(x, factor=np.float64(factor), shift=np.int64(1), text="abc", weights=weights)
x = np.arange(6, dtype=np.float32).reshape(2, 3)
for function in (f, jax.jit(f)):
    y, told = function(x)
    np.testing.assert_array_equal(y, 2 * x + 1.75)
    assert told.tolist() == [1123]
lanes = jax.vmap(lambda row: f(row, vmap_method="sequential")[0])(x)
np.testing.assert_array_equal(lanes, 2 * x + 1.75)
for function in (f, jax.jit(f, static_argnames="factor")):
    try:
        jax.block_until_ready(function(x, factor=-1.0))
    except Exception as error:
        assert "the factor is negative" in str(error), error
    else:
        raise AssertionError
"""
REFUSED = """
import ctypes, jax, numpy as np
handler = jax.ffi.pycapsule(ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda frame: None))
struct = jax.ShapeDtypeStruct((), np.float32)
jax.ffi.register_ffi_target("on_gpu", handler, platform="CUDA")
def refused(part, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except NotImplementedError as error:
        assert part in str(error), error
    else:
        raise AssertionError(part)
refused("is for another platform", jax.ffi.ffi_call, "on_gpu", struct)
refused("is not registered", jax.ffi.ffi_call, "nothing", struct)
register = jax.ffi.register_ffi_target
refused("api_version=0", register, "old", handler, api_version=0)
stages = {"instantiate": handler, "execute": handler}
refused("the stages execute, instantiate", register, "staged", stages)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    jax = pytest.importorskip("jax")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("handler")
    (folder / "scale.c").write_text(SOURCE)
    found = folder / "libscale.so"
    include = f"-I{jax.ffi.include_dir()}"
    source = folder / "scale.c"
    subprocess.run([compiler, "-shared", "-fPIC", include, source, "-o", found], check=True)
    return str(found)


def _run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr


def test_handlers_are_called(library):
    _run("-m", "irax.compat", "-c", PROGRAM, library)


def test_what_cannot_be_called_is_refused():
    _run("-m", "irax.compat", "-c", REFUSED)


@pytest.mark.slow
def test_the_program_is_right_on_jax(library):
    _run("-c", PROGRAM, library)
