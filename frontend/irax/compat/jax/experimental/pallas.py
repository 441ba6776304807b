"""jax.experimental.pallas and all modules below: a language of kernels, which irax has not."""

from __future__ import annotations

from irax.compat.absent import stand_ins
from irax.compat.layers import GetAttr

ABSENT = True
__path__: list[str] = []
__getattr__: GetAttr = stand_ins(
    __name__,
    "jax.experimental.pallas",
    "write the kernel with irax.numpy, or as a C function (irax.ffi)",
)
