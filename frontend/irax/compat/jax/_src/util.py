"""jax._src.util: maps over sequences of one length."""

from collections.abc import Iterable, Sequence
from typing import Any

from irax.compat.jax.api_util import safe_map as safe_map


def safe_zip(*args: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of sequences of one length.

    Raises:
        ValueError: their lengths differ.
    """
    return list(zip(*args, strict=True))


def unzip2(xys: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the first and the second members of pairs."""
    pairs = list(xys)
    return tuple(x for x, _ in pairs), tuple(y for _, y in pairs)


def unzip3(
    xyzs: Iterable[tuple[Any, Any, Any]],
) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the first, second and third members of triples."""
    rows = list(xyzs)
    return tuple(x for x, _, _ in rows), tuple(y for _, y, _ in rows), tuple(z for *_, z in rows)


def split_list(args: Sequence[Any], ns: Sequence[int]) -> list[list[Any]]:
    """Return the parts of a list that have these lengths, and the rest."""
    parts, rest = [], list(args)
    for n in ns:
        parts.append(rest[:n])
        rest = rest[n:]
    return [*parts, rest]


def partition_list(bs: Sequence[bool], l: Sequence[Any]) -> tuple[list[Any], list[Any]]:  # noqa: E741
    """Return the members of a list where there is False, and those where there is True."""
    pairs = safe_zip(bs, l)
    return [x for b, x in pairs if not b], [x for b, x in pairs if b]


def merge_lists(bs: Sequence[bool], l0: Sequence[Any], l1: Sequence[Any]) -> list[Any]:
    """Return the list of which these are the parts: the inverse of `partition_list`."""
    first, second = iter(l0), iter(l1)
    return [next(second if b else first) for b in bs]


def wrap_name(transform_name: str, name: str) -> str:
    """Return the name of a transformed function."""
    return f"{transform_name}({name})"
