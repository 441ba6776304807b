"""jax._src.debugging: jax.debug, whose functions have longer names here, and its effects."""

from irax.debug import callback as debug_callback
from irax.debug import print as debug_print
from irax.extend.core import Effect

__all__ = [
    "DebugEffect",
    "OrderedDebugEffect",
    "debug_callback",
    "debug_effect",
    "debug_print",
    "ordered_debug_effect",
]


class DebugEffect(Effect):
    """The effect of a callback for debugging."""


class OrderedDebugEffect(Effect):
    """The effect of such callbacks in order."""


debug_effect: Effect = DebugEffect()
ordered_debug_effect: Effect = OrderedDebugEffect()
