"""Extensions of irax: primitives of one's own, with rules written in Python."""

from typing import TYPE_CHECKING, Any

from irax.core.absent_names import missing_attribute as _missing_attribute
from irax_compiler.importing import import_module as _import_module

if TYPE_CHECKING:
    from irax.extend import backend, core, linear_util, random, source_info_util

_MODULES = {"backend", "core", "linear_util", "random", "source_info_util"}


def __getattr__(name: str) -> Any:
    """Import submodules when they are first used."""
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    raise _missing_attribute(__name__, name)
