"""A module as it is after each pass, and what passes there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.passes import PASSES
from irax_compiler.pipeline import run_pipeline
from irax_tools.sources import Source


def stages(source: Source, pipeline: str | None, target: str) -> list[tuple[str, mlir.Module]]:
    """A module as it is at first, and after each pass."""
    first = "traced" if source.is_traced else "read"
    found = [(first, mlir.clone_module(source.module))]

    def keep(name: str, module: mlir.Module) -> None:
        found.append((name, mlir.clone_module(module)))

    if pipeline is None:
        lower(source.module, source.func, target, keep)
    else:
        run_pipeline(source.module, pipeline, keep)
    return found


def stage_matches(stage: str, name: str) -> bool:
    """True if `stage` names this stage: the pass's name, with or without its options."""
    return stage in (name, name.split("{")[0])


def describe_passes() -> Iterator[str]:
    """A line for each pass and for each of its options."""
    for name, cls in sorted(PASSES.items()):
        yield name
        for line in (cls.__doc__ or "").strip().splitlines():
            yield f"    {line.strip()}"
        for f in fields(cls):
            yield f"      {f.name}: {f.type} = {f.default}"
