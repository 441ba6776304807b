"""The errors that tracing raises."""

from __future__ import annotations

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax_compiler.sizes import (
    InconclusiveDimensionOperation as InconclusiveDimensionOperation,
)


class JAXTypeError(TypeError):
    """The base class of the errors of tracing that are TypeErrors."""


class JAXIndexError(IndexError):
    """The base class of the errors of tracing that are IndexErrors."""


class ShardingTypeError(Exception):
    """The types of operands leave open how a result is divided along explicit axes of a mesh."""


JaxRuntimeError = RuntimeError
"""The class of errors that devices raise, under JAX's name."""


class ConcretizationTypeError(JAXTypeError):
    """The value of a traced array was needed while a function was being traced.

    Inside `jit` and `vmap` an array stands for all its possible values, so Python can neither
    branch on it nor use it as a number. The message names the line and the cure.
    """


class TracerBoolConversionError(ConcretizationTypeError):
    """A traced array was used where Python needs True or False: `if x > 0`, `while`, `and`."""


class TracerIntegerConversionError(JAXTypeError):
    """A traced array was used where Python needs an int: an index of a list, `range(n)`."""


class TracerArrayConversionError(JAXTypeError):
    """A traced array was given to a function of NumPy, which needs its values."""


class TracedArgumentError(
    ConcretizationTypeError, TracerIntegerConversionError, TracerArrayConversionError
):
    """A traced array was given for an argument that a function has to know: an axis, a size.

    JAX raises now one of the base classes for these, now another. The message names the argument.
    """


class UnexpectedTracerError(ValueError):
    """A traced array was used after the function it belongs to had been traced.

    It had been kept in a global, an attribute or a list instead of being returned.
    """


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced array was indexed by a traced boolean mask, so the result has no static shape."""


class JaxprTypeError(TypeError):
    """The types of a jaxpr do not fit, or it uses a variable that it has not."""


class KeyReuseError(RuntimeError):
    """A random key was used twice, with the option `debug_key_reuse`."""


__getattr__: _GetAttr = _refuse_names(__name__)
