"""Helpers of the tests of PJRT: XLA's plugin for CPU, and small programs for it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from importlib import metadata
from typing import Any

import pytest

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.targets import pjrt
from irax_runtime.platforms import of_plugin


def _is_absent(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return True
    return False


needs_plugin = pytest.mark.skipif(
    _is_absent("xla-cpu-pjrt"),
    reason="the PJRT plugin for CPU is not installed: pip install xla-cpu-pjrt",
)
needs_tpu_compiler = pytest.mark.needs_system(
    _is_absent("libtpu") and "the compiler for TPUs is not installed: pip install libtpu"
)

ADD = """
func.func @add(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


def device() -> Any:
    from irax_runtime.pjrt.client import client_for

    return client_for("cpu").devices()[0]


def devices(count: int) -> tuple[Any, ...]:
    """Devices of a client of their own."""
    from irax_runtime.pjrt.api import load_plugin
    from irax_runtime.pjrt.client import Client
    from irax_runtime.pjrt.plugins import plugin_for

    settings = {**of_plugin("cpu").options(), "cpu_device_count": count}
    return tuple(Client(load_plugin(plugin_for("cpu").path), settings).devices())


def artefact(text: str, name: str) -> bytes:
    return pjrt.artefact(lower(mlir.parse_module(text), name, "pjrt"))


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own, which may crash."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


def prints(expected: str, code: str, **environment: str) -> None:
    """Checks that a process lives to its end, and what it prints."""
    done = python(code, **environment)
    assert (done.returncode, done.stdout.strip()) == (0, expected), done.stderr[-2000:]
