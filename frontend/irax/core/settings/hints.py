"""Enumerations of hints that are taken, and change nothing: irax's compilers decide."""

import enum


class Inline(enum.Enum):
    """When calls of a jitted function are inlined, a hint for `irax.jit`: irax inlines them when
    the outermost function is compiled.

    >>> irax.jit(lambda x: x + 1, inline=irax.Inline.AUTO)(1)
    Array(2, dtype=int32, weak_type=True)
    """

    JAX_EARLY = "jax_early"
    JAX_LATE = "jax_late"
    XLA_EARLY = "xla_early"
    XLA_LATE = "xla_late"
    AUTO = "auto"

    def __bool__(self) -> bool:
        """True where it asks for anything: AUTO is what JAX before 0.11 has False for."""
        return self is not Inline.AUTO


class CompilerEffortLevel(enum.Enum):
    """The effort that XLA's compiler takes, as options name it; irax's compilers have no levels.

    >>> irax.CompilerEffortLevel.O1.value
    19
    """

    UNKNOWN = 0
    O0 = 9
    O1 = 19
    O2 = 29
    O3 = 39
