"""Logs of tracing and compiling, where options ask for them: by the logger "irax"; and a warning of
functions that are compiled again and again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from irax.config import config
from irax.core import source
from irax.core.trees.flattening import name_of
from irax.execution.diagnostics.history import History, Key
from irax_compiler import api, mlir, spans
from irax_compiler.spans import Span
from irax_runtime.device import Device

ALIKE = 5
"""The number of signatures that differ in one way at which a warning is due."""
OFTEN = 32
"""The number of compilations of one function, or of functions made anew, at which a warning is due
in any case: at a second each, they take half a minute."""


def log(text: str, *details: Any) -> None:
    """Log a text with details, at the level of warnings, which Python shows by default."""
    import logging  # slow to import

    logging.getLogger("irax").warning(text, *details)


@contextmanager
def timed(what: str, name: str, of: Any) -> Iterator[None]:
    """Records the time that a `with` block takes; with the option `log_compiles`, logs it."""
    start = time.perf_counter_ns()
    yield
    details: dict[str, Any] = {}
    if not isinstance(of, list):
        details["for"] = str(of)
    elif config.log_compiles or config.profiling:
        details["for"] = ", ".join(str(x.aval) for x in of)
    spans.add(what.removesuffix("d"), name, start, details)
    if config.log_compiles:
        took = (time.perf_counter_ns() - start) / 1e9
        log("%s %s in %.3f s, for %s", what, name, took, details["for"])


def missed(function: Callable[..., Any], history: History, key: Key, is_part: bool) -> list[Span]:
    """Note that a jitted function is about to be traced; return the list for the times of that.

    Args:
        function: the function.
        history: its traces so far.
        key: the signature that it has not been traced for.
        is_part: True if the trace is a part of another program.

    Raises:
        RuntimeError: with the option `no_tracing`.
    """
    name = name_of(function)
    if config.no_tracing:
        raise RuntimeError(
            f"jit: {name} would be traced at {source.user_line()}, and the option no_tracing is on"
        )
    entry = history.add(function, key, is_part)
    may_be_often = not is_part and (history.compiled >= ALIKE or entry.others + 1 == OFTEN)
    if config.explain_cache_misses or may_be_often:
        from irax.execution.diagnostics import explanations

        if config.explain_cache_misses:
            why = explanations.latest(history, function).why
            log("jit traces %s at %s: %s", name, source.user_line(), why)
        if may_be_often and not history.is_warned_of:
            text = explanations.warning(history, function, ALIKE, OFTEN)
            if text is not None:
                history.is_warned_of = True
                source.warn(text, UserWarning)
    return entry.spans


def loaded(function: Callable[..., Any], history: History) -> None:
    """Note that a jitted function runs a program that another process traced."""
    _note_start(function, history, "runs without a trace: an earlier process traced it")


def not_kept(function: Callable[..., Any], history: History, why: str) -> None:
    """Note why a jitted function with a `cache_key` is traced by each process."""
    _note_start(function, history, f"is traced by each process: {why}")


def _note_start(function: Callable[..., Any], history: History, what: str) -> None:
    place = source.user_place() or "an unknown line"
    history.starts.append(f"{place}: {what}")
    if config.explain_cache_misses:
        log("jit: %s at %s %s", name_of(function), place, what)


def repeated_lines(modules: Sequence[mlir.Module]) -> list[str]:
    """Return sentences about lines that the trace of a module met many times."""
    found: dict[str, None] = {}
    for module in modules:
        for line, (times, count) in api.repeated_lines(module).items():
            what = f"{line.place()} was traced {times} times, {count} operations"
            found[f"{what}: {api.FOR_LOOPS}"] = None
    return list(found)


def detours(modules: Sequence[mlir.Module]) -> list[str]:
    """Return sentences about lines that compute much more than their results need."""
    lines = [item for module in modules for item in api.detours(module).items()]
    return [f"{line.place()}: {told}" for line, told in dict(lines).items()]


def compiled_for(name: str, device: Device, others: Sequence[Device]) -> None:
    """Tell of a function that is to be compiled for one more device, beside others."""
    if config.explain_cache_misses and others:
        listed = ", ".join(dict.fromkeys(map(str, others)))
        log(
            "jit compiles %s at %s for %s, beside %s: its arguments were put there, or that is the "
            "default device now",
            *(name, source.user_line(), device, listed),
        )


def tell_depth(error: RecursionError) -> None:
    """Note in a RecursionError the depth of jitted functions; called at each of them."""
    known = error.__dict__
    depth = known["jit_depth"] = known.get("jit_depth", 0) + 1
    said = known.setdefault("jit_said", str(error))
    if depth > 1:
        error.args = (
            f"{said}: {depth} jitted functions call each other, one inside of the other, and each "
            f"takes some of the {sys.getrecursionlimit()} frames that Python allows. To jit the "
            "outermost one is enough; sys.setrecursionlimit allows more frames",
        )
