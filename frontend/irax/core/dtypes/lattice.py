"""The lattice of dtypes, by their names: what two of them promote to is the lowest above both."""

import functools

KEYS = tuple(f"key<{tag}>" for tag in ("fry", "fry4", "phx2", "phx4", "rbg", "urbg"))
"""The dtypes of typed random keys, which promote to nothing."""
SMALL_INTS = ("int2", "int4", "uint2", "uint4")
SMALL_FLOATS = (
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)


class TypePromotionError(ValueError):
    """These dtypes don't promote to a common one without an explicit conversion."""


def _edges(x64: bool) -> dict[str, tuple[str, ...]]:
    """The lattice: from each dtype or weak kind to those just above it.

    Without 64-bit types nothing signed is above both int32 and uint32, and int32 stands in.
    The small types are above the weak kinds and below nothing: they promote only explicitly.
    """
    return {
        "bool": ("i*",),
        "i*": ("int8", "uint8", *SMALL_INTS),
        "int8": ("int16",),
        "int16": ("int32",),
        "int32": ("int64",),
        "int64": ("f*",),
        "uint8": ("uint16", "int16"),
        "uint16": ("uint32", "int32"),
        "uint32": ("uint64", "int64" if x64 else "int32"),
        "uint64": ("f*",),
        "f*": ("bfloat16", "float16", "c*", *SMALL_FLOATS),
        "bfloat16": ("float32",),
        "float16": ("float32",),
        "float32": ("float64", "complex64"),
        "float64": ("complex128",),
        "c*": ("complex64",),
        "complex64": ("complex128",),
    }


def _all_above(x64: bool) -> dict[str, frozenset[str]]:
    edges = _edges(x64)
    nodes = {*edges, *KEYS, "float0", "complex128"}.union(*edges.values())

    @functools.cache
    def above(node: str) -> frozenset[str]:
        return frozenset({node}).union(*map(above, edges.get(node, ())))

    return {node: above(node) for node in nodes}


_ABOVE = {x64: _all_above(x64) for x64 in (False, True)}


def least_upper_bound(nodes: set[str], x64: bool) -> str:
    """The lowest dtype above all of these; i*, f* and c* are those of Python's numbers.

    Raises:
        TypePromotionError: there is none.
        TypeError: there is none for random keys.
    """
    above = _ABOVE[x64]
    # keys of a user's own generators are above nothing else
    common = frozenset.intersection(*(above.get(node, frozenset({node})) for node in nodes))
    for node in common:
        if common <= above.get(node, common):
            return node
    if any(node.startswith("key<") for node in nodes):
        raise TypeError(
            f"{', '.join(sorted(nodes))} have no common dtype: random keys are no numbers; "
            "irax.random.key_data gives their words"
        )
    raise TypePromotionError(
        f"{', '.join(sorted(nodes))} have no common dtype to promote to (i*, f* and c* are Python "
        "scalars): integers of 2 and 4 bits and floats of 4, 6 and 8 bits promote to no wider "
        "type; convert the operands first, for example with x.astype('float32')"
    )
