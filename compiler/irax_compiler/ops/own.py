"""irax's own ops, told from those that other packages register.

The code of the others is in no file of the compiler's, so artefacts that depend on it are not kept.
"""

from __future__ import annotations

from typing import Any

from irax_compiler.ops.composite import COMPOSED, Composite
from irax_compiler.ops.registry import all_traits

_own: dict[str, Any] = {}


def note() -> None:
    """Take the ops that are registered now for irax's own."""
    _own.update(_registered())


def names_of_others() -> set[str]:
    """Return the names of ops that other packages registered, or that took the place of irax's."""
    return {name for name, op in _registered().items() if _own.get(name) is not op}


def name_in_registry(operation: Any) -> str:
    """Return the name of the op that an operation is: of a composite, what it stands for."""
    if operation.name != Composite.name:
        return operation.name
    return operation.attributes["name"].value


def _registered() -> dict[str, Any]:
    return {**all_traits(), **COMPOSED}
