"""Calls that the evaluator runs while another thread compiles."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.execution import program
from irax.execution.program import Program
from irax_compiler.iree.invocation import CompileError


@pytest.fixture
def compiler(monkeypatch):
    """Lets compilations wait for an event, and records that they have ended."""

    class Compiler:
        go, done = threading.Event(), threading.Event()

    compile = Program.compile

    def wait(self, asked):
        assert Compiler.go.wait(60)
        try:
            return compile(self, asked)
        finally:
            Compiler.done.set()

    monkeypatch.setattr(Program, "compile", wait)
    yield Compiler
    Compiler.go.set()


def finished(f) -> None:
    """Waits until a jitted function's program is there."""
    (program,) = f._cache.values()
    for begun in program.begun.values():
        begun.outcome()


def test_calls_do_not_wait_for_the_compiler(compiler):
    @irax.jit(compile="background")
    def f(x, y):
        return {"sum": jnp.sin(x) + y, "same": y}

    x, y = np.arange(3.0, dtype=np.float32), jnp.ones(3)
    for _ in range(2):
        found = f(x, y)
        np.testing.assert_allclose(found["sum"], np.sin(x) + 1, rtol=1e-6)
        np.testing.assert_array_equal(found["same"], y)
    assert not compiler.done.is_set()
    assert not f._cache.recent
    compiler.go.set()
    finished(f)
    np.testing.assert_allclose(f(x, y)["sum"], np.sin(x) + 1, rtol=1e-6)
    assert f._cache.recent  # the compiled program's short way


def test_the_option(compiler):
    f = irax.jit(lambda x: x * 2)
    with irax.config.scoped("compile", "background"):
        assert f(3) == 6
    assert not compiler.done.is_set()


def test_values_of_the_option(monkeypatch):
    with pytest.raises(ValueError, match="jit: compile: expected 'at_once', 'background' or None"):
        irax.jit(abs, compile="later")
    with pytest.raises(ValueError, match="the option compile must be one of 'at_once', 'backgrou"):
        irax.config.update("compile", True)


def test_errors_of_the_compiler_come_up_at_the_next_call(monkeypatch):
    def refuse(*_: object) -> None:
        raise CompileError("IREE cannot compile this")

    f = irax.jit(lambda x: x + 1, compile="background")
    monkeypatch.setattr("irax.execution.backend.compile", refuse)
    assert f(1) == 2
    with pytest.raises(CompileError, match="IREE cannot compile this"):
        finished(f)
    with pytest.raises(CompileError, match="IREE cannot compile this"):
        f(1)


def test_donated_arrays_are_gone(compiler):
    f = irax.jit(lambda x: x + 1, compile="background", donate_argnums=0)
    x = jnp.ones(4)
    assert f(x)[0] == 2
    assert x.is_deleted()


def test_effects_happen_once_a_call(compiler):
    seen = []

    @irax.jit(compile="background")
    def f(x):
        irax.debug.callback(seen.append, x)
        return x

    f(1)
    f(2)
    assert [int(x) for x in seen] == [1, 2]


def test_looking_for_nans_compiles_at_once(compiler):
    compiler.go.set()
    f = irax.jit(lambda x: x - 1, compile="background")
    with irax.debug_nans():
        f(1.0)
    assert compiler.done.is_set()


def test_results_stay_where_arguments_are(compiler):
    x = irax.device_put(np.ones(2, np.float32), irax.devices("cpu")[0])
    f = irax.jit(lambda x: x + x, compile="background")
    assert f(x).committed
    assert not f(np.ones(2, np.float32)).committed


EARLY_END = """
import irax, irax.numpy as jnp
f = irax.jit(lambda x: jnp.linalg.inv(jnp.sin(x)).sum())
print(f(jnp.eye(3)))
"""


def test_the_process_may_end_before_the_compiler(tmp_path):
    environment = {**os.environ, "IRAX_COMPILE": "background", "IRAX_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", EARLY_END]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) == pytest.approx(3 / np.sin(1), rel=1e-5)


def test_the_first_call_goes_before_the_compiler(compiler, monkeypatch):
    seen, compile = [], Program.compile
    compiler.go.set()

    def compiled(self, asked):
        seen.append(self.evaluated.is_set())
        return compile(self, asked)

    monkeypatch.setattr(program, "_HEAD_START", 60.0)
    monkeypatch.setattr(Program, "compile", compiled)
    f = irax.jit(lambda x: x - 3, compile="background")
    assert f(5.0) == 2.0
    finished(f)
    assert seen == [True]
