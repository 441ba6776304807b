"""The list of passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from irax_compiler import api


def describe_passes() -> Iterator[str]:
    """A line for each pass and for each of its options."""
    for name, cls in sorted(api.passes().items()):
        yield name
        for line in (cls.__doc__ or "").strip().splitlines():
            yield f"    {line.strip()}"
        for f in fields(cls):
            yield f"      {f.name}: {f.type} = {f.default}"
