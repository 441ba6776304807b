"""Threads that call irax at the same time."""

import functools
import importlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

import irax
import irax.numpy as jnp
import irax_compiler.once
import irax_runtime.once
from irax.execution import callbacks
from irax_compiler import importing, targets

PROCESSES = 1 if "IRAX_FUZZ" not in os.environ else 32


@pytest.mark.parametrize("seed", range(PROCESSES))
@pytest.mark.slow
def test_first_calls_of_sixteen_threads(seed: int, tmp_path: Path):
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("first_calls.py"), str(seed)],
        env={**os.environ, "PYTHONPATH": path, "IRAX_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_signature_is_compiled_once(monkeypatch: pytest.MonkeyPatch):
    compiled: list[str] = []
    compile_ = targets.compile

    def counting(module: object, target: str, donated: object = ()) -> bytes:
        compiled.append(target)
        return compile_(module, target, donated)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(targets, "compile", counting)
    together = threading.Barrier(8)
    f = irax.jit(lambda x: x * 3.0)

    def call(_: int) -> float:
        together.wait()
        return float(f(2.0))

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(call, range(8))] == [6.0] * 8
    assert len(compiled) == 1


def test_functions_that_call_each_other_wait_for_nobody():
    @functools.partial(irax.jit, static_argnums=0)
    def even(n: int, x: Any) -> Any:
        return odd(n - 1, x) + 1.0 if n else x

    @functools.partial(irax.jit, static_argnums=0)
    def odd(n: int, x: Any) -> Any:
        return even(n - 1, x) * 2.0 if n else x

    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(f, 4, 1.0) for f in (even, odd)]
        assert [float(result.result(timeout=60)) for result in both] == [7.0, 10.0]


def test_a_callback_calls_the_function_that_calls_it_back():
    @irax.jit
    def halved(x: Any) -> Any:
        if x.shape:
            like = irax.ShapeDtypeStruct((), "float32")
            return irax.pure_callback(lambda x: halved(x.sum()), like, x)
        return x / 2.0

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(halved, [jnp.ones(4)] * 4)] == [2.0] * 4


class _Slow(dict[str, int]):
    """Lets other threads read while this one is about to write."""

    def get(self, key: str, default: Any = None) -> Any:
        found = super().get(key, default)
        time.sleep(0.01)
        return found


def test_functions_of_one_name_are_called_back_as_themselves(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(callbacks, "_numbers", _Slow())

    def key(_: int) -> str:
        like = irax.ShapeDtypeStruct((), "float32")
        ir = irax.make_ir(lambda x: irax.pure_callback(lambda x: x, like, x))(1.0)
        found = re.search(r'key = "([^"]*)"', ir.as_text())
        assert found
        return found[1]

    with ThreadPoolExecutor(8) as threads:
        keys = [*threads.map(key, range(8))]
    assert len(set(keys)) == 8


@pytest.mark.parametrize("once", [irax_compiler.once.once, irax_runtime.once.once])
def test_once_makes_one_thing_for_all_threads(once: Callable[..., Any]):
    made: list[str] = []

    @once
    def thing(name: str) -> object:
        made.append(name)
        time.sleep(0.05)
        if len(made) == 1:
            raise ValueError(name)
        return object()

    with pytest.raises(ValueError, match="cpu"):
        thing("cpu")
    with ThreadPoolExecutor(8) as threads:
        found = {*threads.map(thing, ["cpu", "gpu"] * 4)}
    assert sorted(made) == ["cpu", "cpu", "gpu"]
    assert found == {thing("cpu"), thing("gpu")}


class _SlowToMake(SourceFileLoader):
    """Takes long to make a module, which threads have to wait for."""

    def create_module(self, spec: ModuleSpec) -> None:
        time.sleep(0.2)


def test_a_package_and_its_modules_are_imported_by_several_threads(tmp_path, monkeypatch):
    """Each thread would have Python's lock of one of them, and wait for that of the other."""
    name = "irax_test_package"
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").write_text(f"from {name}.part import x\n")
    (package / "part.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    loaders = (_SlowToMake, [".py"])
    monkeypatch.setattr(sys, "path_hooks", [FileFinder.path_hook(loaders)])
    with ThreadPoolExecutor(2) as threads:
        whole = threads.submit(importing.import_module, name)
        time.sleep(0.1)
        part = threads.submit(importing.import_module, f"{name}.part")
        assert whole.result(60).x == part.result(60).x == 1
    for module in (name, f"{name}.part"):
        sys.modules.pop(module)


def test_who_is_importing_does_not_wait_for_who_is_about_to(tmp_path, monkeypatch):
    """The module of one thread asks for another one, while a second thread waits for the module."""
    (tmp_path / "irax_test_other.py").write_text("x = 1\n")
    (tmp_path / "irax_test_module.py").write_text(
        "__name__, name = 'irax.test', __name__\n"
        "import time; time.sleep(0.4)\n"
        "from irax_compiler import importing\n"
        "x = importing.import_module('irax_test_other').x\n"
        "__name__ = name\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with ThreadPoolExecutor(2) as threads:
        direct = threads.submit(importlib.import_module, "irax_test_module")
        time.sleep(0.2)
        asked = threads.submit(importing.import_module, "irax_test_module")
        assert direct.result(60).x == asked.result(60).x == 1
    for module in ("irax_test_module", "irax_test_other"):
        sys.modules.pop(module)


def test_targets_are_found_while_threads_import():
    names = [f"irax_of_no_file_{i}" for i in range(20_000)]
    is_first = threading.Event()

    def imports() -> None:
        for name in names:
            sys.modules[name] = sys
            is_first.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(1) as threads:
            done = threads.submit(imports)
            is_first.wait()
            while not done.done():
                assert targets.is_own("iree-cpu")
    finally:
        sys.setswitchinterval(interval)
        for name in names:
            sys.modules.pop(name, None)
