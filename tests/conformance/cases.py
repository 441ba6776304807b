"""Cases: an operation as text, its operands, and the results that the specification allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from tests.conformance.formats import FORMATS, Complex, Float, Format, Integer


@dataclass(eq=False)
class Expected:
    """A result: its elements, and how near to them others may be."""

    format: Format
    values: np.ndarray
    """Numbers of Python's in an array of objects, in the shape of the result."""
    ulps: float = 0
    """In units in the last place; for complex numbers, of the larger part."""
    free: np.ndarray | None = None
    """A mask of elements that the specification has no answer for: irax documents one."""
    others: Sequence[np.ndarray] = ()
    """Other values that the specification allows."""
    absolute: float = 0
    """For results that cancel: an error that is allowed besides, and zeros of either sign."""


@dataclass(eq=False)
class Case:
    """One operation with operands."""

    op: str
    note: str
    """The dtypes and attributes that tell it from others of the op."""
    types: Sequence[str]
    """The types of operands, as MLIR writes them."""
    results: Sequence[str]
    body: str
    """Lines that define %r0, ... from %a0, ..."""
    operands: Sequence[np.ndarray]
    expected: Sequence[Expected]
    by_element: bool = False
    """True if each element of the result is a case of its own."""
    functions: str = ""
    """Other functions that the body calls."""
    subnormal: np.ndarray | None = field(default=None)
    """Elements that have to do with subnormal numbers."""
    has_subnormals: bool = False
    """True if any element has."""

    @property
    def name(self) -> str:
        return f"{self.op} {self.note}".strip()

    @property
    def count(self) -> int:
        """The number of single cases."""
        return int(self.expected[0].values.size) if self.by_element else 1

    def module(self) -> str:
        """The operation as a program of its own."""
        return f"{self.functions}{self.function('main', 'public ')}"

    def function(self, name: str, visibility: str = "") -> str:
        """The operation in a function, as text."""
        arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(self.types))
        results = ", ".join(self.results)
        returned = ", ".join(f"%r{i}" for i in range(len(self.results)))
        return (
            f"func.func {visibility}@{name}({arguments}) -> ({results}) {{\n{self.body}\n"
            f'  "func.return"({returned}) : ({results}) -> ()\n}}\n'
        )


def tensor(shape: Sequence[int], format: str) -> str:
    """The type of an array, as MLIR writes it."""
    return f"tensor<{''.join(f'{n}x' for n in shape)}{format}>"


def operation(
    name: str,
    types: Sequence[str],
    results: Sequence[str],
    attributes: str = "",
    region: str = "",
    operands: Sequence[str] | None = None,
) -> str:
    """An operation in MLIR's generic form, of %a0, ... by default, which defines %r0, ..."""
    named = ", ".join(operands if operands is not None else [f"%a{i}" for i in range(len(types))])
    defined = ", ".join(f"%r{i}" for i in range(len(results)))
    regions = f" ({{{region}}})" if region else ""
    in_braces = f" {{{attributes}}}" if attributes else ""
    type_ = f"({', '.join(types)}) -> ({', '.join(results)})"
    return f'  {defined} = "{name}"({named}){regions}{in_braces} : {type_}'


def wrong(case: Case, found: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each result, a mask of the elements that are not as expected."""
    return [misses(a, e) for a, e in zip(found, case.expected, strict=True)]


@dataclass
class Count:
    """The numbers of elements, or of whole cases, of each kind."""

    all: int = 0
    wrong: int = 0
    """The specification has another answer."""
    subnormal: int = 0
    """Likewise, where subnormal numbers are operands or results."""
    free: int = 0
    """The specification has no answer, and irax documents another."""


def counted(case: Case, found: Sequence[np.ndarray]) -> Count:
    """Count what is not as expected."""
    count = Count(all=case.count)
    masks = wrong(case, found)
    free = [
        np.zeros(m.shape, bool) if e.free is None else e.free
        for m, e in zip(masks, case.expected, strict=True)
    ]
    if case.by_element:
        ((mask,), (open_,)) = masks, free
        below = np.zeros(mask.shape, bool) if case.subnormal is None else case.subnormal
        count.free = int((mask & open_).sum())
        count.subnormal = int((mask & below & ~open_).sum())
        count.wrong = int((mask & ~below & ~open_).sum())
    elif any((m & ~f).any() for m, f in zip(masks, free, strict=True)):
        if case.has_subnormals:
            count.subnormal = 1
        else:
            count.wrong = 1
    else:
        count.free = int(any(m.any() for m in masks))
    return count


def misses(found: np.ndarray, expected: Expected) -> np.ndarray:
    """A mask of the elements that no allowed value is near enough to."""
    shape = expected.values.shape
    if found.shape != shape or found.dtype != expected.format.dtype:
        return np.ones(shape, bool)
    mask = np.zeros(shape, bool)
    for index in np.ndindex(shape):
        allowed = [expected.values[index], *(other[index] for other in expected.others)]
        mask[index] = not any(near(found[index], one, expected) for one in allowed)
    return mask


def near(found: object, wanted: object, expected: Expected) -> bool:
    """True if a number is as near as it has to be."""
    format, any_zero = expected.format, expected.absolute > 0
    if isinstance(format, Integer):
        return int(found) == int(wanted)
    if isinstance(format, Complex):
        a, b = complex(found), complex(wanted)
        any_zero = any_zero or expected.ulps > 0
        unit = max(format.part.spacing(b.real), format.part.spacing(b.imag))
        bound = expected.ulps * unit + expected.absolute
        return all(_near(x, y, bound, any_zero) for x, y in ((a.real, b.real), (a.imag, b.imag)))
    a, b = float(found), float(wanted)
    return _near(a, b, expected.ulps * format.spacing(b) + expected.absolute, any_zero)


def _near(a: float, b: float, bound: float, any_zero: bool) -> bool:
    if a != a or b != b:
        return a != a and b != b
    if a == b:
        return a != 0 or any_zero or np.signbit(a) == np.signbit(b)
    return abs(a - b) <= bound  # False for an infinity


def is_subnormal(x: object, format: Format, share: int = 1) -> bool:
    """True for numbers below the smallest normal one, or of which a share is."""
    if isinstance(format, Complex):
        value = complex(x)
        return any(is_subnormal(part, format.part, share) for part in (value.real, value.imag))
    return isinstance(format, Float) and 0 < abs(float(x)) < share * format.smallest_normal


def format_of(name: str) -> Format:
    """The format with a name."""
    return FORMATS[name]
