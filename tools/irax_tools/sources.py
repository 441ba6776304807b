"""Where commands get a function from: a module, or a Python file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from irax_compiler import mlir
from irax_tools import arrays
from irax_tools.files import read_file


@dataclass(frozen=True)
class Source:
    """A function of a module."""

    module: mlir.Module
    func: str
    is_traced: bool = False
    """True where the function was one of Python's."""
    path: str = ""
    """The file that it was read from."""
    text: str = ""
    """The module's text, where it was read from one."""


def load(source: str, arguments: str | None = None, func: str | None = None) -> Source:
    """The function that MODULE or FILE.py:FUNCTION names. Raises UsageError or ValueError."""
    file, separator, function = source.rpartition(":")
    if separator and file.endswith(".py"):
        if func is not None:
            raise click.UsageError("--func goes with a module; name the function after the colon")
        return _trace(file, function, arguments)
    if source.endswith(".py"):
        raise click.UsageError(f"{source}: which function? expected {source}:FUNCTION")
    if arguments is not None:
        raise click.UsageError("--args goes with FILE.py:FUNCTION")
    module, text = _read(source)
    name = main_function(module) if func is None else func
    return Source(module, name, path=source, text=text)


def read_module(path: str) -> mlir.Module:
    """The module of a file, or of standard input. Raises UsageError or ValueError."""
    return _read(path)[0]


def _read(path: str) -> tuple[mlir.Module, str]:
    data = read_file(path)
    if not data.strip():
        raise ValueError(f"{path}: empty; expected a module")
    if data.startswith(b"ML\xefR"):
        return mlir.parse_module(data), ""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: neither MLIR text nor MLIR bytecode") from None
    return mlir.parse_module(text), text


def main_function(module: mlir.Module) -> str:
    """The function that is meant where none is named: @main, or the only public one."""
    functions = mlir.functions(module)
    public = [name for name, function in functions.items() if mlir.is_public(function)]
    return public[0] if "main" not in functions and len(public) == 1 else "main"


def _trace(file: str, name: str, arguments: str | None) -> Source:
    from irax.ir import make_ir

    ir = make_ir(_python_function(file, name))(*arrays.parse_arguments(arguments or ""))
    return Source(ir.module, ir.func, is_traced=True)


def _python_function(file: str, name: str) -> Callable[..., Any]:
    """A function of a Python file, which is run as a module of its own name."""
    path = Path(file)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.exists() or spec is None or spec.loader is None:
        raise click.UsageError(f"{file}: no such file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    function = getattr(module, name, None)
    if not callable(function):
        there = [k for k, v in vars(module).items() if callable(v) and not k.startswith("_")]
        raise click.UsageError(f"{file} has no function {name!r}; it has {', '.join(there)}")
    return function
