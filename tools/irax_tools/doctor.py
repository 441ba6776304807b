"""`irax doctor`: what works here, and what to install for what does not."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Iterator
from importlib import metadata

import numpy as np

from irax_compiler import blas, cache
from irax_runtime import devices, libraries, threads
from irax_runtime.inventory import describe

PACKAGES = ("irax", "iree-base-compiler", "iree-base-runtime", "numpy", "ml_dtypes")
OPTIONAL = {
    "scipy": ("faster LU factorizations, Schur's form, spsolve", "pip install scipy"),
    "jax": ("JAX, for comparisons in tests and benchmarks", "pip install jax"),
    "sklearn": ("data for examples/digits.py", "pip install scikit-learn"),
}
_PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def examine() -> Iterator[tuple[str, bool | None]]:
    """Lines to print, each with True for what works, False for what irax needs and does not work,
    and None for what is absent and not needed.
    """
    yield f"Python {platform.python_version()}, {platform.system()} {platform.machine()}", True
    for package in PACKAGES:
        yield _version(package)
    yield _same_iree()
    yield _compiles_and_runs()
    yield _blas(), True
    yield _threads()
    yield _cache(), True
    yield from _platforms_asked_for()
    for line in describe():
        yield f"device {line}", None if line.split()[1] == "none:" else True
    for module, (what, how) in OPTIONAL.items():
        if importlib.util.find_spec(module) is None:
            yield f"not installed: {what} ({how})", None


def _version(package: str) -> tuple[str, bool]:
    try:
        return f"{package} {metadata.version(package)}", True
    except metadata.PackageNotFoundError:
        return f"{package} is missing: pip install {package}", False


def _same_iree() -> tuple[str, bool]:
    """The compiler and the runtime speak one bytecode version."""
    try:
        compiler, runtime = (
            metadata.version(f"iree-base-{part}").split(".")[:2] for part in ("compiler", "runtime")
        )
    except metadata.PackageNotFoundError:
        return f"IREE is not complete: {_installing_iree()}", False
    if compiler == runtime:
        return "IREE's compiler and runtime are of one version", True
    return f"IREE's compiler and runtime are of two versions: {_installing_iree()}", False


def _installing_iree() -> str:
    """Return the command that installs both parts, in the versions that irax needs."""
    needed = [line for line in metadata.requires("irax") or () if line.startswith("iree-base-")]
    return f"pip install {' '.join(repr(line) for line in needed)}"


def _compiles_and_runs() -> tuple[str, bool]:
    from irax_compiler import mlir
    from irax_tools.programs import program
    from irax_tools.sources import Source

    try:
        run = program(Source(mlir.parse_module(_PROGRAM), "main"), "cpu")
        (result,) = run([np.ones(4, np.float32)])
    except Exception as error:
        return f"a program does not compile and run on the processor: {error}", False
    if not np.array_equal(result, np.full(4, 2, np.float32)):
        return f"a program on the processor computes 1 + 1 = {result}", False
    return "a program compiles, and runs on the processor", True


def _blas() -> str:
    """Return a line that names the code which multiplies matrices."""
    if blas.library() is None:
        return f"matrices are multiplied by IREE's own code: pip install {blas.PACKAGE} (Linux)"
    if blas.calls() is None:
        return f"matrices are multiplied by IREE's own code: {blas.VARIABLE}=off"
    return f"matrices are multiplied by {libraries.describe()}"


def _threads() -> tuple[str, bool]:
    """Check the variable IRAX_NUM_THREADS."""
    try:
        number = threads.count()
    except ValueError as error:
        return str(error), False
    return f"programs on the processor run with {number} threads ({threads.VARIABLE})", True


def _platforms_asked_for() -> Iterator[tuple[str, bool]]:
    """Check the variable IRAX_PLATFORMS."""
    if os.environ.get(devices.VARIABLE):
        for name in devices.platforms():
            try:
                devices.devices(name)
            except devices.NoDevice as error:
                yield f"{devices.VARIABLE}: {error}", False


def _cache() -> str:
    folder = cache.directory()
    if folder is None:
        return f"artefacts are not kept: {cache.why_none_are_kept()}"
    return f"artefacts are kept in {folder} ({len(cache.entries())} of them)"
