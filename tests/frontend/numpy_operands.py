"""The form of cases in the tables (`numpy_cases.py`, `lax_cases.py`, ...): operands that stand
for arrays, and options.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

FLOATS = ("float32", "float16", ml_dtypes.bfloat16)
INTEGERS = ("int32", "uint8", "int8")


@dataclass(frozen=True)
class Operand:
    """Numbers of a shape between two bounds, of one dtype after the other."""

    shape: tuple[int, ...]
    dtypes: tuple[Any, ...]
    low: float = -4.0
    high: float = 4.0
    ascending: bool = False
    """Along the last axis."""
    missing: bool = False
    """Some are nan."""

    def __call__(self, dtype: Any, seed: int) -> np.ndarray:
        """The numbers."""
        rng = np.random.default_rng(seed)
        dtype = np.dtype(dtype)
        if dtype == np.bool:
            return rng.random(self.shape) < 0.5
        if dtype.kind in "iu":
            low = max(self.low, 0) if dtype.kind == "u" else self.low
            x = rng.integers(int(np.ceil(low)), int(self.high) + 1, self.shape)
        else:
            x = rng.uniform(self.low, self.high, self.shape)
        if dtype.kind == "c":
            x = x + 1j * rng.uniform(self.low, self.high, self.shape)
        x = np.sort(x) if self.ascending else np.asarray(x)
        if self.missing:
            x[..., ::2] = np.nan
        return x.astype(dtype)


def _kind(*dtypes: Any) -> Callable[..., Operand]:
    return lambda *shape, **how: Operand(shape, dtypes, **how)


F = _kind(*FLOATS)  # floats
S = _kind("float32")  # floats of 32 bits only
I = _kind(*INTEGERS)  # noqa: E741
J = _kind("int32")
B = _kind("bool")
C = _kind("complex64")
R = _kind(*FLOATS, *INTEGERS)  # real numbers
N = _kind(*FLOATS, *INTEGERS, "complex64")  # numbers
Q = _kind("float32", "complex64")
A = _kind("float32", "int32", "uint8", "bool", "complex64")  # anything


@dataclass(frozen=True)
class Case:
    """A call of a function."""

    name: str
    operands: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    reference: Callable[..., Any] | None = None
    """In place of NumPy's function of this name."""
    traced: bool = True
    """True if the function works on traced arrays: the shape of its result is known."""
    smooth: bool = True
    """True if finite differences test its derivative."""
    loose: float = 1.0
    """The factor by which tolerances are larger than usual."""
    jax: bool = True
    """True if dtypes and shapes are JAX's."""
    module: str = "numpy"
    """The module that has it, of irax and of JAX."""

    @property
    def full_name(self) -> str:
        """The name within irax, such as `numpy.sin`."""
        return f"{self.module}.{self.name}"

    @property
    def function(self) -> Callable[..., Any]:
        """irax's function."""
        return getattr(pkgutil.resolve_name(f"irax.{self.module}"), self.name)


CASES: list[Case] = []
_SETTINGS = ("reference", "traced", "smooth", "loose", "jax", "module")


def case(name: str, *operands: Any, **options: Any) -> None:
    """Adds a case; `options` are arguments of the function, but for the fields of `Case`."""
    settings = {key: options.pop(key) for key in _SETTINGS if key in options}
    CASES.append(Case(name, operands, options, **settings))


def cases(names: str, *operands: Any, **options: Any) -> None:
    """Adds the same case for several functions."""
    for name in names.split():
        case(name, *operands, **options)


class Table:
    """Cases of a module, to compare with the functions of one of NumPy's or SciPy's.

    special = Table("scipy.special", scipy.special)
    special.cases("erf erfc", S(3))
    """

    def __init__(self, module: str, theirs: Any) -> None:
        self.module = module
        self.theirs = theirs

    def case(self, name: str, *operands: Any, **options: Any) -> None:
        """Adds a case; `reference` may be a function, or the name of one."""
        reference = options.pop("reference", name)
        if isinstance(reference, str):
            reference = getattr(self.theirs, reference)
        case(name, *operands, module=self.module, reference=reference, **options)

    def cases(self, names: str, *operands: Any, **options: Any) -> None:
        """Adds the same case for several functions; `name=other` says what the other is called."""
        for name in names.split():
            own, _, reference = name.partition("=")
            self.case(own, *operands, reference=reference or own, **options)
