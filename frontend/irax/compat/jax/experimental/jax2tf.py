"""jax.experimental.jax2tf and all modules below: functions for TensorFlow, which irax has not."""

from __future__ import annotations

from irax.compat.absent import stand_ins
from irax.compat.layers import GetAttr

ABSENT = True
__path__: list[str] = []
__getattr__: GetAttr = stand_ins(
    __name__,
    "jax.experimental.jax2tf",
    "export the function as StableHLO, which other tools read (irax.export)",
)
