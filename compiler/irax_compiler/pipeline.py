"""Pipelines as text: `vjp{func=main wrt=0,1},batch{func=main.vjp},canonicalize,cse`.

A pipeline may contain irax's passes and MLIR's; the module verifies after each.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any

from irax_compiler import mlir, spans
from irax_compiler.mlir import MLIRError, Module
from irax_compiler.passes import Pass, PassError, by_name
from irax_compiler.passes.core import INLINE, REMOVE_DEAD_FUNCTIONS, NativePass


def split_passes(text: str) -> list[str]:
    """Split a pipeline's text into those of its passes.

    >>> split_passes("vjp{func=main wrt=0,1},cse")
    ['vjp{func=main wrt=0,1}', 'cse']
    """
    return _split(text, ",")


def parse_pipeline(text: str) -> list[Pass]:
    """Return the passes of a pipeline's text.

    Raises PassError for an unknown pass or option, or an option's malformed value.
    """
    return [_parse_pass(item) for item in split_passes(text)]


def text_of(passes: Iterable[Pass]) -> str:
    """Return a text of a pipeline, of which `parse_pipeline` makes the same passes.

    >>> text_of(parse_pipeline("vjp{func=main wrt=0,1},cse"))
    'vjp{func=main wrt=0,1},cse'
    """
    return ",".join(map(str, passes))


def run_passes(
    module: Module, passes: Iterable[Pass], after: Callable[[str, Module], None] | None = None
) -> bool:
    """Run passes on a module, in place, and verify it after each that may have changed it. Return
    True if one may have.

    `after(text, module)` is called after each pass with the pass as pipelines have it.
    """
    may_be_changed = False
    for one in passes:
        with spans.span("pass", str(one).partition("{")[0]):
            is_changed = one.run(module) is not False
            try:
                if is_changed:
                    module.operation.verify()
            except MLIRError as error:
                raise PassError(
                    f"{one}: the module no longer verifies: {mlir.error_text(error)}"
                ) from None
        may_be_changed |= is_changed
        if after is not None:
            after(str(one), module)
    return may_be_changed


def run_pipeline(
    module: Module, text: str, after: Callable[[str, Module], None] | None = None
) -> None:
    """Run a pipeline's passes on a module, in place: see `run_passes`."""
    run_passes(module, parse_pipeline(text), after)


def _split(text: str, separator: str) -> list[str]:
    """Split at separators outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "{([") - (character in "})]")
        if character == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    if depth:
        raise PassError(f"unbalanced brackets in pipeline {text!r}")
    return [part for part in parts if part]


def _parse_pass(text: str) -> Pass:
    match = re.fullmatch(r"([\w.-]+)(?:\{(.*)\})?", text)
    if match is None or match[1] not in by_name():
        for own in (REMOVE_DEAD_FUNCTIONS, INLINE):
            if text == own.text:
                return own
        native = NativePass(text)
        native.manager()  # unknown ones are errors here, not when they run
        return native
    cls = by_name()[match[1]]
    types_of = typing.get_type_hints(cls)
    known = {f.name: types_of[f.name] for f in fields(cls)}
    options = {}
    for name, value in _options(match[2] or "", cls.name):
        if name not in known:
            there = ", ".join(known) or "no options"
            raise PassError(f"{cls.name}: unknown option {name!r}; it has {there}")
        options[name] = _parse_value(cls.name, name, value, known[name])
    return cls(**options)


def _options(text: str, pass_name: str) -> Iterator[tuple[str, str]]:
    for item in _split(text, " "):
        name, equals, value = item.partition("=")
        if not equals:
            raise PassError(f"{pass_name}: expected option=value, got {item!r}")
        yield name, value


def _parse_value(pass_name: str, name: str, text: str, kind: Any) -> Any:
    if isinstance(kind, types.UnionType):
        if text == "None":
            return None
        kind = next(k for k in typing.get_args(kind) if k is not types.NoneType)
    try:
        if typing.get_origin(kind) is tuple:
            element = typing.get_args(kind)[0]
            return tuple(
                _parse_value(pass_name, name, part, element) for part in text.split(",") if part
            )
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        return kind(text)
    except (ValueError, KeyError):
        expected = "true or false" if kind is bool else f"one of type {kind.__name__}"
        raise PassError(f"{pass_name}: option {name}={text!r}: expected {expected}") from None
