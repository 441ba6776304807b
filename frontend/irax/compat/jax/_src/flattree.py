"""jax._src.flattree: groups of operands and results, by which rules for scans are written."""

from irax.jaxprs.groups import Groups as FlatTree
from irax.jaxprs.groups import nones, pack

__all__ = ["FlatTree", "nones", "pack"]
