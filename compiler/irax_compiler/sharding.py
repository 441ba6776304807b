"""Removal of Shardy's annotations, which JAX writes for programs on several devices.

They state where parts of arrays are, not what is computed, so a program for one device means the
same without them. The bindings lack the dialect `sdy`, so the annotations are removed before a
module is parsed.
"""

from __future__ import annotations

import re

from irax_compiler import bytecode_format, manual_computations

_MESH = re.compile(r'^[ \t]*(?:sdy\.mesh @|"sdy\.mesh"\().*$', re.MULTILINE)
_CONSTRAINT = re.compile(
    r"sdy\.(?:sharding_constraint|reshard) (%[\w#]+) <.*?> : (tensor<[^ \n]+>)"
)
_GENERIC_CONSTRAINT = re.compile(
    r'"sdy\.(?:sharding_constraint|reshard)"(\(%[\w#]+\)) <.*?>(?= : \(tensor)'
)
_OTHER = re.compile(r'^\s*(?:%[^=\n]* = )?"?(sdy\.\w+)', re.MULTILINE)


def without_annotations(module: str | bytes) -> str | bytes:
    """Remove annotations of devices from a module's text or bytecode.

    Raises ValueError for operations of the dialect that do compute.
    """
    if isinstance(module, str):
        return _without_operations(module) if "sdy." in module else module
    if module.startswith(bytecode_format.MAGIC) and b"\0sdy\0" in module:
        return bytecode_format.without_attributes(module, "sdy")
    return module


def _without_operations(text: str) -> str:
    """Remove meshes from the text; a sharding constraint becomes a reshape to the same shape, and a
    manual computation a call of a function of shards.
    """
    text = manual_computations.with_functions(text)
    text = _CONSTRAINT.sub(r"stablehlo.reshape \1 : (\2) -> \2", _MESH.sub("", text))
    text = _GENERIC_CONSTRAINT.sub(r'"stablehlo.reshape"\1', text)
    computes = _OTHER.search(text)
    if computes is not None:
        raise ValueError(
            f"{computes[1]} is not supported: the module is a program for several devices; export "
            "the function without it (in JAX: without shard_map)"
        )
    return text
