"""Logs of tracing and compiling, where options ask for them: by the logger "irax"; and their spans
in profiles.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from irax.config import config
from irax.core import source, spans


def _log(text: str, *details: Any) -> None:
    import logging  # slow to import

    logging.getLogger("irax").warning(text, *details)


@contextmanager
def timed(what: str, name: str, of: Any) -> Iterator[None]:
    """With the option `log_compiles`, logs that something was done and how long it took."""
    if not (config.log_compiles or config.profiling):
        yield
        return
    start = time.perf_counter_ns()
    yield
    details = ", ".join(str(x.aval) for x in of) if isinstance(of, list) else of
    spans.add(name, what.removesuffix("d"), start, {"for": details})
    if config.log_compiles:
        took = (time.perf_counter_ns() - start) / 1e9
        _log("%s %s in %.3f s, for %s", what, name, took, details)


def missed(name: str, key: tuple[Any, ...], kept: Collection[tuple[Any, ...]]) -> None:
    """A jitted function is to be traced: its calls so far, by key, had other arguments.

    Raises:
        RuntimeError: with the option `no_tracing`.
    """
    if config.no_tracing:
        raise RuntimeError(
            f"jit: {name} would be traced at {source.user_line()}, and the option no_tracing is on"
        )
    if config.explain_cache_misses:
        _log("jit traces %s at %s: %s", name, source.user_line(), _why(key, kept))


def _why(key: tuple[Any, ...], kept: Collection[tuple[Any, ...]]) -> str:
    if not kept:
        return "it is called for the first time"
    nearest = min(tuple(kept), key=lambda other: len(_differences(key, other)))
    return "; ".join(_differences(key, nearest))


def _differences(key: tuple[Any, ...], other: tuple[Any, ...]) -> list[str]:
    tree, static, options, *types = key
    tree_before, static_before, options_before, *before = other
    if tree != tree_before:
        return [f"the arguments have the structure {tree}, not {tree_before}"] * (len(types) + 1)
    found = [
        f"leaf {i} of the arguments is {now}, not {then}"
        for i, (now, then) in enumerate(zip(types, before, strict=True))
        if now != then
    ]
    if static != static_before:
        found.append("static arguments have other values")
    if options != options_before:
        found.append(f"options are {options}, not {options_before}")
    return found


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
