"""Where the command gets modules from, what it does to them, and where they go."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import numpy as np

from irax_compiler import mlir, targets
from irax_compiler.lowering import check, lower
from irax_compiler.passes import PASSES
from irax_compiler.pipeline import run_pipeline
from irax_runtime.devices import devices
from irax_tools import arrays

TARGETS = ("iree-cpu", "pjrt")


def read_module(path: str) -> mlir.Module:
    """The module of a file, or of standard input. Raises UsageError or ValueError."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from None
    if data.startswith(b"ML\xefR"):
        return mlir.parse_module(data)
    try:
        return mlir.parse_module(data.decode())
    except UnicodeDecodeError:
        raise ValueError(f"{path}: neither MLIR text nor MLIR bytecode") from None


def text(module: mlir.Module, locations: bool) -> str:
    """A module's text."""
    return mlir.text_of(module.operation, locations)


def write_file(path: str, contents: str | bytes) -> None:
    """Writes a file, all of it or nothing; text goes to standard output where the path is -."""
    if path == "-":
        click.echo(contents, nl=False)
        return
    data = contents.encode() if isinstance(contents, str) else contents
    folder = os.path.dirname(os.path.abspath(path))
    try:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(data)
        os.replace(file.name, path)
    except OSError as error:
        raise ValueError(f"{path}: cannot be written: {error.strerror}") from None


# ---- stages --------------------------------------------------------------------------------------


def stages(
    source: str, arguments: str | None, func: str | None, pipeline: str | None, target: str
) -> list[tuple[str, mlir.Module]]:
    """A module as it is at first, and after each pass."""
    _check_target(target)
    module, name, first = _traced(source, arguments, func)
    found = [(first, mlir.clone_module(module))]

    def keep(name: str, module: mlir.Module) -> None:
        found.append((name, mlir.clone_module(module)))

    if pipeline is None:
        lower(module, name, target, keep)
    else:
        run_pipeline(module, pipeline, keep)
    return found


def stage_matches(stage: str, name: str) -> bool:
    """True if `stage` names this stage: the pass's name, with or without its options."""
    return stage in (name, name.split("{")[0])


def _traced(source: str, arguments: str | None, func: str | None) -> tuple[mlir.Module, str, str]:
    file, separator, function = source.rpartition(":")
    if not (separator and file.endswith(".py")):
        if arguments is not None:
            raise click.UsageError("--args goes with FILE.py:FUNCTION")
        return read_module(source), func or "main", "read"
    if func is not None:
        raise click.UsageError("--func goes with a module; name the function after the colon")
    from irax.ir import make_ir

    called = python_function(file, function)
    ir = make_ir(called)(*arrays.parse_arguments(arguments or ""))
    return ir.module, ir.func, "traced"


def python_function(file: str, name: str) -> Callable[..., Any]:
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


def describe_passes() -> Iterator[str]:
    """A line for each pass and for each of its options."""
    for name, cls in sorted(PASSES.items()):
        yield name
        for line in (cls.__doc__ or "").strip().splitlines():
            yield f"    {line.strip()}"
        for f in fields(cls):
            yield f"      {f.name}: {f.type} = {f.default}"


# ---- programs ------------------------------------------------------------------------------------


def compile_module(path: str, func: str | None, target: str) -> bytes:
    """The artefact of a module's function."""
    _check_target(target)
    return targets.compile(lower(read_module(path), func or "main", target), target)


def _check_target(target: str) -> None:
    if target not in TARGETS:
        raise click.UsageError(f"unknown target {target!r}; there are {', '.join(TARGETS)}")


def load_program(
    path: str, func: str | None, device: str
) -> Callable[[Sequence[np.ndarray[Any, Any]]], list[np.ndarray[Any, Any]]]:
    """A function of NumPy arrays, from a compiled program or a module; to be run on the first
    device of the platform `device`, or by the evaluator ("reference").
    """
    if path.endswith((".vmfb", ".pjrt")):
        if device == "reference":
            raise click.UsageError("--device reference runs modules, not compiled programs")
        try:
            return _executable(Path(path).read_bytes(), func, device)
        except OSError as error:
            raise click.UsageError(f"{path}: {error.strerror}") from None
    module = read_module(path)
    name = func or "main"
    if device != "reference":
        target = devices(device)[0].target
        return _executable(targets.compile(lower(module, name, target), target), name, device)
    from irax_compiler.evaluate import Evaluator

    check(module, name)
    parameters = mlir.arguments(mlir.functions(module)[name])
    evaluator = Evaluator(module)

    def run(operands: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        if len(operands) != len(parameters):
            raise TypeError(f"{name} takes {len(parameters)} arguments, got {len(operands)}")
        for i, (operand, parameter) in enumerate(zip(operands, parameters, strict=True)):
            expected = (mlir.dtype_of(parameter), mlir.shape_of(parameter))
            if (operand.dtype, operand.shape) != expected:
                raise TypeError(
                    f"{name}: argument {i} is {arrays.describe(operand)}; expected {parameter.type}"
                )
        return evaluator(name, operands)

    return run


def _executable(artefact: bytes, func: str | None, platform: str) -> Any:
    device = devices(platform)[0]
    executable = device.load(artefact, func)

    def run(operands: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        return [buffer.numpy() for buffer in executable([device.put(x) for x in operands])]

    return run
