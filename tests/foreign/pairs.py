"""A class of named tuples that files of `jax.export` name."""

from __future__ import annotations

from typing import Any, NamedTuple

from irax import export


class Pair(NamedTuple):
    first: Any
    second: Any


export.register_namedtuple_serialization(Pair, serialized_name="tests.Pair")
