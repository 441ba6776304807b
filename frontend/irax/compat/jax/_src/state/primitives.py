"""jax._src.state.primitives: functions of mutable arrays, which have longer names here."""

from irax.ref import addupdate as ref_addupdate
from irax.ref import get as ref_get
from irax.ref import set as ref_set
from irax.ref import swap as ref_swap

__all__ = ["ref_addupdate", "ref_get", "ref_set", "ref_swap"]
