"""Elementwise arithmetic and transcendental functions, and the class all elementwise ops share.

A declaration gives the NumPy function and, for each operand, its partial derivative:
`sine = unary("sine", np.sin, lambda x, y: cosine(x))`, where y is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import numpy as np

from irax_compiler.mlir import Value, dtype_of
from irax_compiler.ops import comparison, complex_registers, meanings, registers, shape
from irax_compiler.ops.core import (
    ArrayType,
    Axis,
    Bits,
    ComplexLowering,
    Linear,
    Memory,
    Op,
    Recomputation,
    ScalarLowering,
    Tangent,
    Widened,
    add_tangents,
    full_like,
    only,
    working_dtype,
    zeros_like,
)
from irax_compiler.ops.linear import Bilinear
from irax_compiler.ops.registry import register
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition

Partial = Callable[..., Tangent]
"""(tangent, *operands, result) -> the contribution of one operand's tangent to the result's."""


@dataclass(frozen=True, eq=False)
class Elementwise(Op):
    """An op that acts element by element on operands of one shape."""

    name: str
    elementwise = True
    function: Callable[..., Any]
    """Its meaning in NumPy."""
    partials: Sequence[Partial | None] = ()
    """One an operand; None where the derivative is zero everywhere. Empty: zero in all."""
    transposes: Mapping[int, Partial] = field(default_factory=dict)
    """For each operand the op is linear in, all together: (cotangent, *operands) -> its
    cotangent."""
    widen: bool = True
    """Evaluate narrow dtypes in `working_dtype`; otherwise `function` sees them as they are."""
    arithmetic: bool = True
    transcendental: bool = False
    short: bool | None = None
    """True if it takes few instructions; None means every op that is not transcendental."""
    length: int = 1
    """The number of common functions, such as `log`, that take as long to compile."""
    commutative: bool = False
    zero_with_first: bool = False
    masked_with: Sequence[int] = ()
    identity: Callable[[np.dtype], Any] | None = None
    memory: Memory = Memory.SAME_SIZE
    widened: Widened = Widened.LOW_BITS
    float_bits: Bits = Bits.LOST
    scalar_lowering: ScalarLowering | None = None
    complex_lowering: ComplexLowering | None = None

    @property
    def recomputation(self) -> Recomputation:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Recomputation.DEAR if self.transcendental else Recomputation.CHEAP

    @property
    def is_short(self) -> bool:
        """True if it takes few instructions on real numbers."""
        return not self.transcendental if self.short is None else self.short

    def attributes(self) -> dict[str, Any]:
        return {}

    def is_linear_in(self, operands: Sequence[int]) -> bool:
        return all(i in self.transposes for i in operands)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> np.ndarray:
        dtype = operands[0].dtype
        wide = working_dtype(dtype)
        if wide == dtype or not self.widen:
            return self.function(*operands)
        result = self.function(*(x.astype(wide) for x in operands))
        return result.astype(dtype) if result.dtype == wide else result

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        dtype = operands[0].dtype
        if self.widen and working_dtype(dtype) != dtype:
            return super().prepared(*operands)
        return self.function

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [self.tangent(primals, tangents, results[0])]

    def is_flat(self, operands: Sequence[Value]) -> bool:
        return not self.partials

    def tangent(
        self, primals: Sequence[Value], tangents: Sequence[Tangent], result: Value
    ) -> Tangent:
        """The tangent of the result."""
        total: Tangent = None
        for tangent, partial in zip(tangents, self.partials, strict=False):
            if tangent is not None and partial is not None:
                total = add_tangents(total, partial(tangent, *primals, result))
        return total

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [
            self.transposes[i](only(cotangents), *operands) if isinstance(x, Linear) else None
            for i, x in enumerate(operands)
        ]

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        operands, axis = shape.align(transform.size, operands, axes)
        return self.build(operands), [axis]


class Traits(TypedDict, total=False):
    """The fields of `Elementwise` that are its traits."""

    widen: bool
    arithmetic: bool
    transcendental: bool
    short: bool
    length: int
    commutative: bool
    zero_with_first: bool
    masked_with: Sequence[int]
    identity: Callable[[np.dtype], Any]
    memory: Memory
    widened: Widened
    float_bits: Bits
    scalar_lowering: ScalarLowering
    complex_lowering: ComplexLowering


class _Product(Bilinear, Elementwise):
    """The product of numbers."""

    def cotangent(self, number: int, ct: Value, x: Any, y: Any) -> Tangent:
        return self(ct, y if number == 0 else x)


def unary(
    name: str,
    function: Callable[..., Any],
    derivative: Callable[[Value, Value], Value] | None = None,
    *,
    inverse_derivative: Callable[[Value, Value], Value] | None = None,
    dialect: str = "stablehlo",
    **traits: Unpack[Traits],
) -> Elementwise:
    """An op of one operand; `derivative(x, y)` is dy/dx, or `inverse_derivative(x, y)` is dx/dy;
    both None where dy/dx is zero everywhere.
    """
    partials: list[Partial | None] = []
    if derivative is not None:
        partials = [lambda t, x, y: multiply(t, derivative(x, y))]
    elif inverse_derivative is not None:
        partials = [lambda t, x, y: divide(t, inverse_derivative(x, y))]
    return register(Elementwise(f"{dialect}.{name}", function, partials, **traits))


def binary(
    name: str,
    function: Callable[..., Any],
    partials: Sequence[Partial | None] = (),
    transposes: Mapping[int, Partial] | None = None,
    *,
    dialect: str = "stablehlo",
    **traits: Unpack[Traits],
) -> Elementwise:
    """An op of two operands."""
    name = f"{dialect}.{name}"
    return register(Elementwise(name, function, partials, transposes or {}, **traits))


def unary_linear(
    name: str,
    function: Callable[..., Any],
    transpose: Callable[[Value, Value], Value],
    lowering: ComplexLowering,
) -> Elementwise:
    """A part of complex numbers; `transpose(ct, x)` is its cotangent."""
    op: Elementwise = register(
        Elementwise(
            f"stablehlo.{name}",
            function,
            [lambda t, x, y: op(t)],
            {0: transpose},
            widen=False,
            arithmetic=False,
            memory=Memory.PART,
            complex_lowering=lowering,
        )
    )
    return op


# ---- arithmetic ----------------------------------------------------------------------------------

add = binary(
    "add",
    np.add,  # on booleans NumPy's add is "or", and so is StableHLO's
    [lambda t, x, y, z: t, lambda t, x, y, z: t],
    {0: lambda ct, x, y: ct, 1: lambda ct, x, y: ct},
    commutative=True,
    masked_with=(0, 1),
    float_bits=Bits.JOINED,
    identity=meanings.zero,
    scalar_lowering=registers.by_kind(f="arith.addf", i="arith.addi"),
    complex_lowering=complex_registers.each("arith.addf"),
)
subtract = binary(
    "subtract",
    np.subtract,
    [lambda t, x, y, z: t, lambda t, x, y, z: negate(t)],
    {0: lambda ct, x, y: ct, 1: lambda ct, x, y: negate(ct)},
    masked_with=(0,),
    float_bits=Bits.JOINED,
    identity=meanings.zero,
    scalar_lowering=registers.by_kind(f="arith.subf", i="arith.subi"),
    complex_lowering=complex_registers.each("arith.subf"),
)
multiply = register(
    _Product(
        "stablehlo.multiply",
        np.multiply,
        commutative=True,
        identity=meanings.one,
        scalar_lowering=registers.by_kind(f="arith.mulf", i="arith.muli"),
        complex_lowering=complex_registers.PRODUCT,
    )
)
divide = binary(
    "divide",
    meanings.divide,
    [
        lambda t, x, y, z: divide(t, y),
        lambda t, x, y, z: multiply(t, negate(divide(z, y))),
    ],
    {0: lambda ct, x, y: divide(ct, y)},
    zero_with_first=True,
    identity=meanings.one,
    scalar_lowering=registers.QUOTIENT,
)
remainder = binary(
    "remainder",
    meanings.remainder,
    [
        lambda t, x, y, z: t,
        # The quotient rounded to zero; where x / y rounds up to it, z tells that it did not reach.
        lambda t, x, y, z: multiply(t, negate(round_nearest_even(divide(subtract(x, z), y)))),
    ],
    short=False,
    zero_with_first=True,
    scalar_lowering=registers.REMAINDER,
    widened=Widened.SAME,
)
negate = register(
    Elementwise(
        "stablehlo.negate",
        np.negative,
        [lambda t, x, y: negate(t)],
        {0: lambda ct, x: negate(ct)},
        scalar_lowering=registers.NEGATE,
        complex_lowering=complex_registers.each("arith.negf"),
    )
)


def _extremum(
    name: str,
    beats: comparison.Compare,
    function: Callable[..., Any],
    **traits: Unpack[Traits],
) -> Elementwise:
    """Max or min; `beats` tells where the first of two numbers is taken before the second."""

    def partial(t: Value, x: Value, y: Value, z: Value) -> Value:
        """The derivative in x: 1 where x won, 1/2 on a tie, and 0 elsewhere, even if the tangent is
        infinite there. A tangent of nan is lost where y won alone.
        """
        won = comparison.select(comparison.equal(x, z), full_like(t, 1), full_like(t, 0))
        share = comparison.select(comparison.equal(x, y), full_like(t, 0.5), won)
        if dtype_of(x).kind == "c":
            return multiply(t, share)
        return comparison.select(beats(y, x), zeros_like(t), multiply(t, share))

    return binary(
        name,
        function,
        [partial, lambda t, x, y, z: partial(t, y, x, z)],
        **traits,
    )


maximum = _extremum(
    "maximum",
    comparison.greater,
    meanings.extremum(np.maximum, np.add, np.greater),
    commutative=True,
    identity=meanings.least,
    widened=Widened.SAME,
    scalar_lowering=registers.MAXIMUM,
)
minimum = _extremum(
    "minimum",
    comparison.less,
    meanings.extremum(np.minimum, lambda x, y: -(-x - y), np.less),
    commutative=True,
    identity=meanings.most,
    widened=Widened.SAME,
    scalar_lowering=registers.MINIMUM,
)


def _where_is(x: Value, number: float, here: Value, elsewhere: Value) -> Value:
    return comparison.select(comparison.equal(x, full_like(x, number)), here, elsewhere)


def _steep(x: Value, y: Value, number: float) -> Value:
    """0 where x is 0 and y a number, with an infinite slope; 1 elsewhere.

    It is infinite nowhere else: a cotangent of 0, of where it is not chosen, would become nan.
    """
    one = full_like(x, 1)
    return sqrt(_where_is(y, number, _where_is(x, 0, x, one), one))


def _power_in_base(t: Value, x: Value, y: Value, z: Value) -> Value:
    """y x**(y-1), and 0 where y = 0 even at x = 0."""
    one = full_like(y, 1)
    less = subtract(y, one)
    # y - 1 loses the digits of small y, x**y / x does not; at 0 there is no such quotient.
    is_small = comparison.less(abs(y), full_like(abs(y), 0.5))
    exponent = comparison.select(is_small, _where_is(x, 0, less, y), less)
    divisor = comparison.select(is_small, _where_is(x, 0, one, x), one)
    slope = multiply(y, power(x, exponent))
    slope = comparison.select(is_small, divide(slope, divisor), slope)
    return multiply(t, _where_is(y, 0, _where_is(x, 0, _steep(y, x, 0), slope), slope))


def _power_in_exponent(t: Value, x: Value, y: Value, z: Value) -> Value:
    """log(x) x**y; at x = 0 that is 0 but for y of 0, and steep where y is 1."""
    slope = multiply(log(_where_is(x, 0, full_like(x, 1), x)), z)
    falling = subtract(full_like(x, 0), _steep(x, y, 1))
    lowest = log(_where_is(y, 0, x, full_like(x, 1)))
    at_zero = _where_is(y, 0, lowest, _where_is(y, 1, falling, slope))
    return multiply(t, _where_is(x, 0, at_zero, slope))


power = binary(
    "power",
    meanings.power,
    [_power_in_base, _power_in_exponent],
    transcendental=True,
    identity=meanings.one,
    scalar_lowering=registers.of_floats("powf"),
)


def _over_squared_radius(x: Value, y: Value) -> Value:
    """x / (x**2 + y**2), by a quotient of at most 1 in place of the squares, which overflow."""
    wider = comparison.greater_equal(abs(x), abs(y))
    larger, smaller = comparison.select(wider, x, y), comparison.select(wider, y, x)
    ratio = divide(smaller, larger)
    one = full_like(x, 1)
    share = divide(comparison.select(wider, one, ratio), larger)
    return divide(share, add(one, multiply(ratio, ratio)))


atan2 = binary(
    "atan2",
    meanings.atan2,
    [
        lambda t, x, y, z: multiply(t, _over_squared_radius(y, x)),
        lambda t, x, y, z: multiply(t, negate(_over_squared_radius(x, y))),
    ],
    transcendental=True,
    scalar_lowering=registers.of_floats("atan2"),
)

# ---- complex numbers -----------------------------------------------------------------------------
#
# These are linear over the real numbers. Transposes are taken without conjugation: u * (J v) and
# (J^T u) * v have the same real part. So the gradient of a real function of z = x + iy is
# df/dx - i df/dy.


def _from_real(ct: Value, x: Value) -> Value:
    return complex_(ct, zeros_like(ct)) if dtype_of(x).kind == "c" else ct


def _from_imaginary(ct: Value, x: Value) -> Value:
    return complex_(zeros_like(ct), negate(ct)) if dtype_of(x).kind == "c" else zeros_like(ct)


complex_ = binary(
    "complex",
    meanings.complex_of,
    [
        lambda t, x, y, z: complex_(t, zeros_like(t)),
        lambda t, x, y, z: complex_(zeros_like(t), t),
    ],
    {0: lambda ct, x, y: real(ct), 1: lambda ct, x, y: negate(imag(ct))},
    arithmetic=False,
    memory=Memory.PART,
    complex_lowering=complex_registers.COMPLEX,
)
real = unary_linear("real", lambda x: np.array(np.real(x)), _from_real, complex_registers.REAL)
imag = unary_linear("imag", lambda x: np.array(np.imag(x)), _from_imaginary, complex_registers.IMAG)


def conjugate(x: Value) -> Value:
    """The complex conjugate."""
    return complex_(real(x), negate(imag(x))) if dtype_of(x).kind == "c" else x


# ---- functions of one operand --------------------------------------------------------------------


def _abs_tangent(t: Value, x: Value, y: Value) -> Value:
    if dtype_of(x).kind != "c":  # at 0 it is that of positive numbers
        return comparison.select(comparison.greater_equal(x, full_like(x, 0)), t, negate(t))
    # The part of the tangent along x, whose length is 0 where x has no direction.
    along = multiply(conjugate(sign(x)), t)
    return real(along)


def _sign_tangent(t: Value, x: Value, y: Value) -> Value | None:
    """Return the tangent of x / |x|: the part of the tangent orthogonal to x, divided by |x|."""
    if dtype_of(x).kind != "c":
        return None
    across = imag(multiply(conjugate(y), t))
    size = abs(x)
    zero = full_like(size, 0)
    turned = comparison.select(comparison.equal(size, zero), zero, divide(across, size))
    return multiply(y, complex_(zero, turned))


abs = register(
    Elementwise(
        "stablehlo.abs",
        np.abs,
        [_abs_tangent],
        scalar_lowering=registers.by_kind(f="math.absf", i="math.absi"),
    )
)


class _Sign(Elementwise):
    """The sign of numbers; of complex ones, their direction."""

    def is_flat(self, operands: Sequence[Value]) -> bool:
        return dtype_of(operands[0]).kind != "c"


sign = register(
    _Sign(
        "stablehlo.sign",
        meanings.sign,
        [_sign_tangent],
        scalar_lowering=registers.SIGN,
        widened=Widened.SAME,
    )
)
floor = unary("floor", np.floor, scalar_lowering=registers.of_floats("floor"))
ceil = unary("ceil", np.ceil, scalar_lowering=registers.of_floats("ceil"))
round_nearest_even = unary(
    "round_nearest_even", np.rint, scalar_lowering=registers.of_floats("roundeven")
)
round_nearest_afz = unary(
    "round_nearest_afz",
    meanings.round_away_from_zero,
    scalar_lowering=registers.of_floats("round"),
)
is_finite = unary("is_finite", np.isfinite, scalar_lowering=registers.IS_FINITE)

exponential = unary(
    "exponential",
    np.exp,
    lambda x, y: y,
    transcendental=True,
    scalar_lowering=registers.of_floats("exp"),
)
exponential_minus_one = unary(
    "exponential_minus_one",
    meanings.exponential_minus_one,
    lambda x, y: exponential(x),  # y + 1 loses all digits far below 0
    transcendental=True,
    scalar_lowering=registers.of_floats("expm1"),
)
log = unary(
    "log",
    np.log,
    inverse_derivative=lambda x, y: x,
    transcendental=True,
    scalar_lowering=registers.of_floats("log"),
)
log_plus_one = unary(
    "log_plus_one",
    meanings.log_plus_one,
    inverse_derivative=lambda x, y: add(x, full_like(x, 1)),
    transcendental=True,
    scalar_lowering=registers.of_floats("log1p"),
)
sqrt = unary(
    "sqrt",
    np.sqrt,
    inverse_derivative=lambda x, y: multiply(full_like(y, 2), y),
    transcendental=True,
    short=True,
    scalar_lowering=registers.of_floats("sqrt"),
)
rsqrt = unary(
    "rsqrt",
    lambda x: np.reciprocal(np.sqrt(x)),
    lambda x, y: multiply(full_like(y, -0.5), divide(y, x)),
    transcendental=True,
    scalar_lowering=registers.of_floats("rsqrt"),
)
cbrt = unary(
    "cbrt",
    meanings.cbrt,
    inverse_derivative=lambda x, y: multiply(full_like(y, 3), multiply(y, y)),
    transcendental=True,
    scalar_lowering=registers.of_floats("cbrt"),
)


def folded(x: Value) -> Value:
    """|x|; of complex numbers, x or -x: the one on the right."""
    if dtype_of(x).kind != "c":
        return abs(x)
    is_left = comparison.less(real(x), zeros_like(real(x)))
    return comparison.select(is_left, negate(x), x)


def _tanh_slope(x: Value, y: Value) -> Value:
    """1 - y**2; where that cancels, the square of 2 q / (1 + q**2) for q = exp(-|x|).

    Derivatives do not cancel either, as those of the one form do near 0, of the other far from it.
    """
    one, size = full_like(x, 1), folded(x)
    power = exponential(negate(size))
    half = divide(power, add(one, multiply(power, power)))
    far = add(half, half)
    along = real(size) if dtype_of(x).kind == "c" else size
    is_near = comparison.less(along, full_like(along, 1))
    near = subtract(one, multiply(y, y))
    return comparison.select(is_near, near, multiply(far, far))


def _logistic_slope(x: Value, y: Value) -> Value:
    """z (1 - z) for z = 1 / (1 + exp(|x|)), which does not cancel; where its derivatives do, near
    0, by the series.
    """
    size = folded(x)
    low = logistic(negate(size))
    far = multiply(low, subtract(full_like(x, 1), low))
    distance = abs(x) if dtype_of(x).kind == "c" else size
    is_near = comparison.less(distance, full_like(distance, 0.5))
    square = comparison.select(is_near, multiply(x, x), zeros_like(x))
    first, *others = reversed(_LOGISTIC_SERIES[: 14 if dtype_of(distance).itemsize > 4 else 7])
    near = full_like(x, first)
    for coefficient in others:
        near = add(multiply(near, square), full_like(x, coefficient))
    return comparison.select(is_near, near, far)


def _squared_secant(count: int) -> list[float]:
    """Coefficients of 1 / (4 cosh(x / 2)**2) as a series in x**2."""
    # t = tanh(x / 2) / 2 is a solution of t' = 1/4 - t**2: its coefficients, then those of t'.
    odd: list[float] = []
    slopes: list[float] = []
    for n in range(count):
        square = sum(odd[i] * odd[n - 1 - i] for i in range(n))
        slopes.append((0.25 if n == 0 else 0.0) - square)
        odd.append(slopes[n] / (2 * n + 1))
    return slopes


_LOGISTIC_SERIES = _squared_secant(14)

logistic = unary(
    "logistic",
    meanings.logistic,
    _logistic_slope,
    transcendental=True,
    scalar_lowering=registers.LOGISTIC,
)
sine = unary(
    "sine",
    np.sin,
    lambda x, y: cosine(x),
    transcendental=True,
    length=2,
    scalar_lowering=registers.of_floats("sin"),
)
cosine = unary(
    "cosine",
    np.cos,
    lambda x, y: negate(sine(x)),
    transcendental=True,
    length=2,
    scalar_lowering=registers.of_floats("cos"),
)
tan = unary(
    "tan",
    np.tan,
    lambda x, y: add(full_like(y, 1), multiply(y, y)),
    transcendental=True,
    length=2,
    scalar_lowering=registers.of_floats("tan"),
)
tanh = unary(
    "tanh",
    np.tanh,
    _tanh_slope,
    transcendental=True,
    scalar_lowering=registers.of_floats("tanh"),
)


def product_of_parts(product: Callable[..., Value], x: Value, y: Value) -> Value:
    """A product of arrays of complex numbers, such as a convolution, by four of their parts."""
    (a, b), (c, d) = ((real(z), imag(z)) for z in (x, y))
    difference = subtract(product(a, c), product(b, d))
    return complex_(difference, add(product(a, d), product(b, c)))
