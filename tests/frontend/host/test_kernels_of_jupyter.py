"""irax in a kernel of Jupyter: what cells print, how errors look, and interrupts."""

from __future__ import annotations

import importlib
import importlib.util
import os
import queue
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_system(
        "" if importlib.util.find_spec("ipykernel") else "no Jupyter: `make site` installs it"
    ),
]

LIMIT = 120
"""Seconds for a cell."""


class Kernel:
    """A kernel that runs cells."""

    def __init__(self) -> None:
        manager: Any = importlib.import_module("jupyter_client.manager")
        env = {k: v for k, v in os.environ.items() if k != "IRAX_TRACEBACK_FILTERING"}
        env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        self.manager, self.client = manager.start_new_kernel(kernel_name="python3", env=env)

    def run(self, code: str, interrupt_at: str | None = None) -> list[dict[str, Any]]:
        """Return what a cell sends. It is interrupted once it has printed `interrupt_at`."""
        cell = self.client.execute(code)
        found: list[dict[str, Any]] = []
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != cell:
                continue
            content = message["content"]
            if content.get("execution_state") == "idle":
                return found
            found.append(content)
            if interrupt_at is not None and interrupt_at in content.get("text", ""):
                time.sleep(0.3)  # from what it has printed to what takes long
                self.manager.interrupt_kernel()
        raise TimeoutError(code)

    def text(self, code: str) -> str:
        """Return the text of a cell's value."""
        return self.run(code)[-1]["data"]["text/plain"]

    def error(self, code: str, **options: str) -> str:
        """Return the traceback that a cell ends in."""
        lines = "\n".join(self.run(code, **options)[-1]["traceback"])
        return re.sub(r"\x1b\[[0-9;]*m", "", lines)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    started = Kernel()
    started.run("import numpy as np, irax, irax.numpy as jnp")
    yield started
    started.client.stop_channels()
    started.manager.shutdown_kernel(now=True)


def lines_in_cells(traceback: str) -> list[str]:
    """The lines that a traceback points at; none of them is in a file."""
    assert "File " not in traceback
    return re.findall(r"^-+> \d+ +(.*)$", traceback, re.MULTILINE)


def test_errors_show_the_users_lines_alone(kernel: Kernel) -> None:
    kernel.run(
        "@irax.jit\ndef f(x):\n    return jnp.dot(x, jnp.ones(5))\n"
        "def g(x):\n    return irax.grad(lambda x: f(x).sum())(x)"
    )
    shown = lines_in_cells(kernel.error("g(jnp.ones(4))"))
    gradient = "return irax.grad(lambda x: f(x).sum())(x)"
    assert shown == ["g(jnp.ones(4))", gradient, gradient, "return jnp.dot(x, jnp.ones(5))"]


def test_leaks_are_reported_where_they_are_used_and_where_they_were_made(kernel: Kernel) -> None:
    kernel.run(
        "kept = []\n@irax.jit\ndef leak(x):\n    kept.append(x * 2)\n    return x\nleak(1.0)"
    )
    told = kernel.error("kept[0] + 1")
    assert lines_in_cells(told) == ["kept[0] + 1"]
    assert re.search(r"used at \S+:1: `kept\[0\] \+ 1`, after the function .* \S+:4 ", told)


def test_cells_show_values(kernel: Kernel) -> None:
    assert kernel.text("jnp.arange(3)") == "Array([0, 1, 2], dtype=int32)"
    assert "stablehlo.sine" in kernel.text("irax.make_ir(jnp.sin)(1.0)")
    assert kernel.text("irax.jit(jnp.sin).lower(1.0)") == "<Lowered sin>"


@pytest.mark.parametrize(
    "call",
    [
        "loop(1.0).block_until_ready()",
        "for_ever(2.0) + 1",
        "jnp.linalg.svd(np.ones((300, 300)))",
    ],
)
def test_interrupts_end_what_takes_long(kernel: Kernel, call: str) -> None:
    kernel.run(
        "for_ever = irax.jit(lambda x: irax.lax.while_loop("
        "lambda c: c >= 0, lambda c: abs(jnp.cos(c)), x))\n"
        "loop = for_ever.lower(1.0).compile()\n"
        "def for_minutes(*_, **options):\n"
        "    import hashlib\n"
        "    hashlib.pbkdf2_hmac('sha256', b'', b'', 1 << 29)\n"
        "np.linalg.svd = for_minutes"
    )
    start = time.monotonic()
    told = kernel.error(f"print('here', flush=True)\n{call}", interrupt_at="here")
    assert lines_in_cells(told) == [call]
    assert "KeyboardInterrupt" in told
    assert time.monotonic() - start < LIMIT / 2
    assert kernel.text("1 + 1") == "2"
