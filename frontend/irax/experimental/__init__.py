"""Modules whose interfaces may still change."""

from typing import TYPE_CHECKING, Any

from irax.core.absent_names import missing_attribute as _missing_attribute
from irax.execution.callbacks import io_callback as io_callback
from irax.experimental import ode as ode
from irax_compiler.importing import import_module as _import_module

if TYPE_CHECKING:
    from irax.experimental import (
        checkify,
        compute_on,
        custom_partitioning,
        jet,
        layout,
        mesh_utils,
        multihost_utils,
        random,
        rnn,
        serialize_executable,
        sparse,
        topologies,
    )

_MODULES = (
    *("checkify", "compute_on", "custom_partitioning", "jet", "layout", "mesh_utils"),
    *("multihost_utils", "random", "rnn", "serialize_executable", "sparse"),
    "topologies",
)


def __getattr__(name: str) -> Any:
    """Import submodules when they are first used."""
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    raise _missing_attribute(__name__, name)
