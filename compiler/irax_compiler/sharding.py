"""Shardy's annotations in StableHLO text, which JAX writes for programs on several devices.

They say where parts of arrays lie, not what is computed: a program for one device is the same
without them. The bindings have no dialect `sdy`, so they are taken out of the text.
"""

from __future__ import annotations

import re

_MESH = re.compile(r"^\s*sdy\.mesh @.*$\n?", re.MULTILINE)
_CONSTRAINT = re.compile(
    r"sdy\.(?:sharding_constraint|reshard) (%[\w#]+) <.*?> : (tensor<[^ \n]+>)"
)
_OTHER = re.compile(r'^\s*(?:%[^=\n]* = )?"?(sdy\.\w+)', re.MULTILINE)


def without_annotations(text: str) -> str:
    """The text without meshes; a constraint is a reshape to the same shape.

    Raises ValueError for those operations of the dialect that do compute.
    """
    text = _CONSTRAINT.sub(r"stablehlo.reshape \1 : (\2) -> \2", _MESH.sub("", text))
    computes = _OTHER.search(text)
    if computes is not None:
        raise ValueError(
            f"{computes[1]} is not supported: the module is a program for several devices; export "
            "the function without it (in JAX: without shard_map)"
        )
    return text
