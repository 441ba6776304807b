"""Passes as options name them (`--cse --vjp="func=main wrt=0"`), and pipelines in MLIR's form."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

_OPTION = re.compile(r"--([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_IN_MODULE = re.compile(r"\s*builtin\.module\((.*)\)\s*", re.DOTALL)
_ANY_OP = re.compile(r"\s*any\((.*)\)\s*", re.DOTALL)


def of_words(words: Sequence[str]) -> tuple[str, str]:
    """The module, and the pipeline, that words of a command name: each option is a pass.

    Raises UsageError for more than one module.

    >>> of_words(["--cse", "in.mlir", "--vjp=func=main wrt=0"])
    ('in.mlir', 'cse,vjp{func=main wrt=0}')
    """
    modules, passes = [], []
    for word in words:
        match = _OPTION.fullmatch(word)
        if match is None:
            modules.append(word)
            continue
        given = (match[2] or "").strip()
        passes.append(f"{match[1]}{{{given}}}" if given else match[1])
    if len(modules) > 1:
        raise click.UsageError(f"got {' and '.join(modules)}: expected one module")
    return (modules or ["-"])[0], ",".join(passes)


def of_pipeline(text: str) -> str:
    """The passes of a pipeline, which may be around a module as MLIR writes it.

    >>> of_pipeline("builtin.module(func.func(cse),canonicalize)")
    'func.func(cse),canonicalize'
    """
    match = _IN_MODULE.fullmatch(text) or _ANY_OP.fullmatch(text)
    return text if match is None else match[1]
