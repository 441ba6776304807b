"""Passes on each module of an input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from irax_compiler import api, mlir
from irax_tools.files import naming
from irax_tools.opt import chunks, diagnostics
from irax_tools.sources import read_contents


@dataclass(frozen=True)
class Settings:
    """The options of `irax opt`."""

    passes: list[api.Pass] = field(default_factory=list)
    splits: bool = False
    """True to divide the input."""
    verifies: bool = False
    """True to compare diagnostics with what comments expect."""
    print_before: bool = False
    print_after: bool = False
    locations: bool = False
    generic: bool = False
    """True to print operations without their own syntax."""


def optimize(path: str, settings: Settings, tell: Callable[[str], None]) -> tuple[str, bool]:
    """The modules of a file, or of standard input, after the passes, and True where all went as it
    should. `tell` gets the lines that are no part of the output.

    Raises UsageError or ValueError for an input that cannot be read, and, unless there are several
    modules or expected diagnostics, what a pass raises.
    """
    found = read_contents(path)
    if isinstance(found, bytes):
        return _run(api.parse(found, path), settings, tell), True
    texts = chunks.split(found) if settings.splits else [found]
    outputs, is_right = [], True
    for text in texts:
        output, complaints = _one(text, path, settings, tell, is_alone=len(texts) == 1)
        if output is not None:
            outputs.append(output)
        for line in complaints:
            tell(line)
        is_right = is_right and not complaints
    return chunks.join(outputs), is_right


def _one(
    text: str, path: str, settings: Settings, tell: Callable[[str], None], is_alone: bool
) -> tuple[str | None, list[str]]:
    """The output for one module, if there is one, and what is wrong."""
    output, told = None, []
    if is_alone and not settings.verifies:
        with naming(path):
            return _run(api.parse(text, path), settings, tell), []
    with diagnostics.Listening() as listening:
        try:
            output = _run(api.parse(text, path), settings, tell)
        except Exception as error:
            told = diagnostics.of_error(error)
    if settings.verifies:
        wanted = diagnostics.expected(text)
        return output, diagnostics.complaints(wanted, [*listening.told, *told], path)
    return output, [f"{path}:{d.line or 'unknown'}: {d.kind}: {d.message}" for d in told]


def _run(module: mlir.Module, settings: Settings, tell: Callable[[str], None]) -> str:
    def show(when: str, step: str) -> None:
        tell(f"// -----// IR Dump {when} {step} //----- //\n{_text(module, settings)}")

    for one in settings.passes:
        if settings.print_before:
            show("Before", str(one))
        api.run_passes(module, [one])
        if settings.print_after:
            show("After", str(one))
    return _text(module, settings)


def _text(module: mlir.Module, settings: Settings) -> str:
    if settings.generic:
        return mlir.generic_text(module)
    return mlir.text_of(module.operation, settings.locations)
