"""Loops of IREE's dialect flow that update arrays where they are."""

from irax_compiler.passes.repairs.update_carries_in_place.update_carries_in_place import (
    UpdateCarriesInPlace,
)

__all__ = ["UpdateCarriesInPlace"]
