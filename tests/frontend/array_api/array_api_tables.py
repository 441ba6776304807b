"""Tables of the Python array API standard (2025.12): signatures, and results for special values."""

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS, COMPLEX_NUMBERS = ["float32", "float64"], ["complex64", "complex128"]
INTEGERS = SIGNED + UNSIGNED
REALS, INEXACT = INTEGERS + FLOATS, FLOATS + COMPLEX_NUMBERS
NUMBERS = INTEGERS + INEXACT
DTYPES = ["bool", *NUMBERS]

SIGNATURES = """
(x, dtype, /, *, copy=True, device=None): astype
(from_, to, /): can_cast
(type, /): finfo iinfo
(dtype, kind): isdtype
(*arrays_and_dtypes): result_type
(x, /, *, axis=None, dtype=None, include_initial=False): cumulative_prod cumulative_sum
(x, /, *, axis=None, keepdims=False): max mean min argmax argmin count_nonzero all any
(x, /, *, axis=None, dtype=None, keepdims=False): prod sum
(x, /, *, axis=None, correction=0.0, keepdims=False): std var
(start, /, stop=None, step=1, *, dtype=None, device=None): arange
(obj, /, *, dtype=None, device=None, copy=None): asarray
(shape, *, dtype=None, device=None): empty ones zeros
(x, /, *, dtype=None, device=None): empty_like ones_like zeros_like
(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None): eye
(x, /, *, device=None, copy=None): from_dlpack
(shape, fill_value, *, dtype=None, device=None): full
(x, /, fill_value, *, dtype=None, device=None): full_like
(start, stop, /, num, *, dtype=None, device=None, endpoint=True): linspace
(*arrays, indexing='xy'): meshgrid
(x, /, *, k=0): tril triu
(x, /, *, axis=-1, descending=False, stable=True): argsort sort
(x, /): abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag
    isfinite isinf isnan log log1p log2 log10 logical_not negative positive real reciprocal round
    sign signbit sin sinh square sqrt tan tanh trunc nonzero matrix_transpose unique_all
    unique_counts unique_inverse unique_values linalg.det linalg.eigh linalg.eigvalsh linalg.inv
    linalg.slogdet linalg.svdvals linalg.eig linalg.eigvals linalg.matrix_transpose
(x1, x2, /): add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
    copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp
    logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder
    subtract matmul linalg.outer linalg.solve linalg.matmul
(x, /, min=None, max=None): clip
(x1, x2, /, *, side='left', sorter=None): searchsorted
(x1, x2, /, *, invert=False): isin
(condition, x1, x2, /): where
(x, /, *, axis=-1, n=1, prepend=None, append=None): diff
(x, indices, /, *, axis=None): take
(x, indices, /, *, axis=-1): take_along_axis
(x1, x2, /, *, axes=2): tensordot linalg.tensordot
(x1, x2, /, *, axis=-1): vecdot linalg.vecdot linalg.cross
(*arrays): broadcast_arrays
(*shapes): broadcast_shapes
(x, /, shape): broadcast_to
(arrays, /, *, axis=0): concat stack
(x, /, *, axis): expand_dims
(x, /, *, axis=0): unstack
(x, /, *, axis=None): flip
(x, source, destination, /): moveaxis
(x, /, axes): permute_dims
(x, repeats, /, *, axis=None): repeat
(x, /, shape, *, copy=None): reshape
(x, /, shift, *, axis=None): roll
(x, /, axis): squeeze
(x, repetitions, /): tile
(x, /, *, upper=False): linalg.cholesky
(x, /, *, offset=0): linalg.diagonal
(x, /, *, keepdims=False, ord='fro'): linalg.matrix_norm
(x, n, /): linalg.matrix_power
(x, /, *, rtol=None): linalg.matrix_rank linalg.pinv
(x, /, *, mode='reduced'): linalg.qr
(x, /, *, full_matrices=True): linalg.svd
(x, /, *, offset=0, dtype=None): linalg.trace
(x, /, *, axis=None, keepdims=False, ord=2): linalg.vector_norm
(x, /, *, n=None, axis=-1, norm='backward'): fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft
(x, /, *, s=None, axes=None, norm='backward'): fft.fftn fft.ifftn fft.rfftn fft.irfftn
(n, /, *, d=1.0, dtype=None, device=None): fft.fftfreq fft.rfftfreq
(x, /, *, axes=None): fft.fftshift fft.ifftshift
(): __array_namespace_info__
"""

METHODS = """
(): __abs__ __bool__ __complex__ __dlpack_device__ __float__ __index__ __int__ __invert__ __neg__
    __pos__
(other, /): __add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __le__ __lshift__ __lt__ __matmul__
    __mod__ __mul__ __ne__ __or__ __pow__ __rshift__ __sub__ __truediv__ __xor__ __radd__ __rand__
    __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ __rrshift__ __rsub__
    __rtruediv__ __rxor__
(*, api_version=None): __array_namespace__
(*, stream=None, max_version=None, dl_device=None, copy=None): __dlpack__
(key, /): __getitem__
(key, value, /): __setitem__
(device, /, *, stream=None): to_device
"""

ATTRIBUTES = "dtype device mT ndim shape size T"

# Of a function, what it gives for special values: `operands -> result`. An operand is a number or
# one of a kind (`finite` ones, `positive` and finite ones, any with the sign `plus`, ...), & and ~
# are and and not, ± either sign. A result is a number, one of the operands x and y, or a sign.
REAL = """
acos: nan -> nan; >1 -> nan; <-1 -> nan; 1 -> +0
acosh: nan -> nan; <1 -> nan; 1 -> +0; inf -> inf
add: nan, any -> nan; any, nan -> nan; inf, -inf -> nan; -inf, inf -> nan; inf, inf -> inf; -inf,
    -inf -> -inf; inf, finite -> inf; -inf, finite -> -inf; finite, inf -> inf; finite, -inf ->
    -inf; -0, -0 -> -0; -0, +0 -> +0; +0, -0 -> +0; +0, +0 -> +0; ±0, nonzero -> y; nonzero, ±0 -> x
asin: nan -> nan; >1 -> nan; <-1 -> nan; +0 -> +0; -0 -> -0
asinh: nan -> nan; +0 -> +0; -0 -> -0; inf -> inf; -inf -> -inf
atan: nan -> nan; +0 -> +0; -0 -> -0; inf -> π/2; -inf -> -π/2
atan2: nan, any -> nan; any, nan -> nan; >0, +0 -> π/2; >0, -0 -> π/2; +0, >0 -> +0; +0, +0 -> +0;
    +0, -0 -> π; +0, <0 -> π; -0, >0 -> -0; -0, +0 -> -0; -0, -0 -> -π; -0, <0 -> -π; <0, +0 ->
    -π/2; <0, -0 -> -π/2; >0&finite, inf -> +0; >0&finite, -inf -> π; <0&finite, inf -> -0;
    <0&finite, -inf -> -π; inf, finite -> π/2; -inf, finite -> -π/2; inf, inf -> π/4; inf, -inf ->
    3π/4; -inf, inf -> -π/4; -inf, -inf -> -3π/4
atanh: nan -> nan; <-1 -> nan; >1 -> nan; -1 -> -inf; 1 -> inf; +0 -> +0; -0 -> -0
ceil: integer -> x; inf -> inf; -inf -> -inf; +0 -> +0; -0 -> -0; nan -> nan
copysign: any, <0 -> -|x|; any, -0 -> -|x|; any, +0 -> |x|; any, >0 -> |x|
cos: nan -> nan; +0 -> 1; -0 -> 1; inf -> nan; -inf -> nan
cosh: nan -> nan; +0 -> 1; -0 -> 1; inf -> inf; -inf -> inf
divide: nan, any -> nan; any, nan -> nan; ±inf, ±inf -> nan; ±0, ±0 -> nan; +0, >0 -> +0; -0, >0 ->
    -0; +0, <0 -> -0; -0, <0 -> +0; >0, +0 -> inf; >0, -0 -> -inf; <0, +0 -> -inf; <0, -0 -> inf;
    inf, positive -> inf; inf, negative -> -inf; -inf, positive -> -inf; -inf, negative -> inf;
    positive, inf -> +0; positive, -inf -> -0; negative, inf -> -0; negative, -inf -> +0; positive,
    positive -> plus; negative, negative -> plus; positive, negative -> minus; negative, positive ->
    minus
exp: nan -> nan; +0 -> 1; -0 -> 1; inf -> inf; -inf -> +0
expm1: nan -> nan; +0 -> +0; -0 -> -0; inf -> inf; -inf -> -1
floor: integer -> x; inf -> inf; -inf -> -inf; +0 -> +0; -0 -> -0; nan -> nan
floor_divide: nan, any -> nan; any, nan -> nan; ±inf, ±inf -> nan; ±0, ±0 -> nan; +0, >0 -> +0; -0,
    >0 -> -0; +0, <0 -> -0; -0, <0 -> +0; >0, +0 -> inf; >0, -0 -> -inf; <0, +0 -> -inf; <0, -0 ->
    inf; inf, positive -> inf; inf, negative -> -inf; -inf, positive -> -inf; -inf, negative -> inf;
    positive, inf -> +0; positive, -inf -> -0; negative, inf -> -0; negative, -inf -> +0; positive,
    positive -> plus; negative, negative -> plus; positive, negative -> minus; negative, positive ->
    minus
log: nan -> nan; <0 -> nan; ±0 -> -inf; 1 -> +0; inf -> inf
log1p: nan -> nan; <-1 -> nan; -1 -> -inf; -0 -> -0; +0 -> +0; inf -> inf
log2: nan -> nan; <0 -> nan; ±0 -> -inf; 1 -> +0; inf -> inf
log10: nan -> nan; <0 -> nan; ±0 -> -inf; 1 -> +0; inf -> inf
logaddexp: nan, any -> nan; any, nan -> nan; inf, number -> inf; number, inf -> inf
multiply: nan, any -> nan; any, nan -> nan; ±inf, ±0 -> nan; ±0, ±inf -> nan; plus, plus -> plus;
    minus, minus -> plus; plus, minus -> minus; minus, plus -> minus; ±inf, ±inf -> ±inf; ±inf,
    nonzero -> ±inf; nonzero, ±inf -> ±inf
nextafter: nan, any -> nan; any, nan -> nan; -0, +0 -> +0; +0, -0 -> -0
pow: ~1, nan -> nan; any, +0 -> 1; any, -0 -> 1; nan, ~0 -> nan; |>1|, inf -> inf; |>1|, -inf -> +0;
    |1|, inf -> 1; |1|, -inf -> 1; 1, number -> 1; |<1|, inf -> +0; |<1|, -inf -> inf; inf, >0 ->
    inf; inf, <0 -> +0; -inf, >0&odd -> -inf; -inf, >0&~odd -> inf; -inf, <0&odd -> -0; -inf,
    <0&~odd -> +0; +0, >0 -> +0; +0, <0 -> inf; -0, >0&odd -> -0; -0, >0&~odd -> +0; -0, <0&odd ->
    -inf; -0, <0&~odd -> inf; <0&finite, finite&~integer -> nan
remainder: nan, any -> nan; any, nan -> nan; ±inf, ±inf -> nan; ±0, ±0 -> nan; +0, >0 -> +0; -0, >0
    -> +0; +0, <0 -> -0; -0, <0 -> -0; >0, +0 -> nan; >0, -0 -> nan; <0, +0 -> nan; <0, -0 -> nan;
    inf, positive -> nan; inf, negative -> nan; -inf, positive -> nan; -inf, negative -> nan;
    positive, inf -> x; positive, -inf -> y; negative, inf -> y; negative, -inf -> x
round: integer -> x; inf -> inf; -inf -> -inf; +0 -> +0; -0 -> -0; nan -> nan
sign: <0 -> -1; ±0 -> ±0; >0 -> 1; nan -> nan
signbit: +0 -> False; -0 -> True; inf -> False; -inf -> True; positive -> False; negative -> True
sin: nan -> nan; +0 -> +0; -0 -> -0; ±inf -> nan
sinh: nan -> nan; +0 -> +0; -0 -> -0; inf -> inf; -inf -> -inf
sqrt: nan -> nan; <0 -> nan; +0 -> +0; -0 -> -0; inf -> inf
tan: nan -> nan; +0 -> +0; -0 -> -0; ±inf -> nan
tanh: nan -> nan; +0 -> +0; -0 -> -0; inf -> 1; -inf -> -1
trunc: integer -> x; inf -> inf; -inf -> -inf; +0 -> +0; -0 -> -0; nan -> nan
"""

# The same for complex numbers: real and imaginary part, of the operand and of the result. `cis` is
# a number times cos(b) + i sin(b), where b is the imaginary part of the operand.
COMPLEX = """
acos: ±0, +0 -> π/2, -0; ±0, nan -> π/2, nan; finite, inf -> π/2, -inf; nonzero, nan -> nan, nan;
    -inf, positive -> π, -inf; inf, positive -> +0, -inf; -inf, inf -> 3π/4, -inf; inf, inf -> π/4,
    -inf; ±inf, nan -> nan, ±inf; nan, finite -> nan, nan; nan, inf -> nan, -inf; nan, nan -> nan,
    nan
acosh: ±0, +0 -> +0, π/2; finite, inf -> inf, π/2; nonzero, nan -> nan, nan; +0, nan -> nan, ±π/2;
    -inf, positive -> inf, π; inf, positive -> inf, +0; -inf, inf -> inf, 3π/4; inf, inf -> inf,
    π/4; ±inf, nan -> inf, nan; nan, finite -> nan, nan; nan, inf -> inf, nan; nan, nan -> nan, nan
asinh: +0, +0 -> +0, +0; positive, inf -> inf, π/2; finite, nan -> nan, nan; inf, positive -> inf,
    +0; inf, inf -> inf, π/4; nan, +0 -> nan, +0; nan, nonzero -> nan, nan; nan, inf -> ±inf, nan;
    nan, nan -> nan, nan
atanh: +0, +0 -> +0, +0; +0, nan -> +0, nan; 1, +0 -> inf, +0; positive, inf -> +0, π/2; nonzero,
    nan -> nan, nan; inf, positive -> +0, π/2; inf, inf -> +0, π/2; inf, nan -> +0, nan; nan, finite
    -> nan, nan; nan, inf -> ±0, π/2; nan, nan -> nan, nan
cosh: +0, +0 -> 1, +0; +0, inf -> nan, ±0; +0, nan -> nan, ±0; nonzero, inf -> nan, nan; nonzero,
    nan -> nan, nan; inf, +0 -> inf, +0; inf, nonzero -> inf cis; inf, inf -> ±inf, nan; inf, nan ->
    inf, nan; nan, ±0 -> nan, ±0; nan, nonzero -> nan, nan; nan, nan -> nan, nan
exp: ±0, +0 -> 1, +0; finite, inf -> nan, nan; finite, nan -> nan, nan; inf, +0 -> inf, +0; -inf,
    finite -> 0 cis; inf, nonzero -> inf cis; -inf, inf -> ±0, ±0; inf, inf -> ±inf, nan; -inf, nan
    -> ±0, ±0; inf, nan -> ±inf, nan; nan, +0 -> nan, +0; nan, ~0 -> nan, nan; nan, nan -> nan, nan
expm1: ±0, +0 -> +0, +0; finite, inf -> nan, nan; finite, nan -> nan, nan; inf, +0 -> inf, +0; -inf,
    finite -> 0 cis - 1; inf, nonzero -> inf cis - 1; -inf, inf -> -1, ±0; inf, inf -> ±inf, nan;
    -inf, nan -> -1, ±0; inf, nan -> ±inf, nan; nan, +0 -> nan, +0; nan, ~0 -> nan, nan; nan, nan ->
    nan, nan
log: -0, +0 -> -inf, π; +0, +0 -> -inf, +0; finite, inf -> inf, π/2; finite, nan -> nan, nan; -inf,
    positive -> inf, π; inf, positive -> inf, +0; -inf, inf -> inf, 3π/4; inf, inf -> inf, π/4;
    ±inf, nan -> inf, nan; nan, finite -> nan, nan; nan, inf -> inf, nan; nan, nan -> nan, nan
log1p: -1, +0 -> -inf, +0; finite, inf -> inf, π/2; finite, nan -> nan, nan; -inf, positive -> inf,
    π; inf, positive -> inf, +0; -inf, inf -> inf, 3π/4; inf, inf -> inf, π/4; ±inf, nan -> inf,
    nan; nan, finite -> nan, nan; nan, inf -> inf, nan; nan, nan -> nan, nan
sign: ±0, ±0 -> +0, +0; nan, any -> nan, nan; any, nan -> nan, nan
sinh: +0, +0 -> +0, +0; +0, inf -> ±0, nan; +0, nan -> ±0, nan; positive, inf -> nan, nan; positive,
    nan -> nan, nan; inf, +0 -> inf, +0; inf, positive -> inf cis; inf, inf -> ±inf, nan; inf, nan
    -> ±inf, nan; nan, +0 -> nan, +0; nan, nonzero -> nan, nan; nan, nan -> nan, nan
sqrt: ±0, +0 -> +0, +0; any, inf -> inf, inf; finite, nan -> nan, nan; -inf, positive -> nan, nan;
    inf, positive -> +0, inf; -inf, nan -> nan, ±inf; inf, nan -> inf, nan; nan, any -> nan, nan;
    nan, nan -> nan, nan
tanh: +0, +0 -> +0, +0; nonzero, inf -> nan, nan; +0, inf -> +0, nan; nonzero, nan -> nan, nan; +0,
    nan -> +0, nan; inf, positive -> 1, +0; inf, inf -> 1, ±0; inf, nan -> 1, ±0; nan, +0 -> nan,
    +0; nan, ~0 -> nan, nan; nan, nan -> nan, nan
"""

DEVIATIONS = {
    "floor_divide": {
        # As NumPy and Python have it, which the standard allows.
        "inf, positive -> inf": "inf, positive -> nan",
        "inf, negative -> -inf": "inf, negative -> nan",
        "-inf, positive -> -inf": "-inf, positive -> nan",
        "-inf, negative -> inf": "-inf, negative -> nan",
        "positive, -inf -> -0": "positive, -inf -> -1",
        "negative, inf -> -0": "negative, inf -> -1",
    },
    "sqrt": {
        # As C has it: the standard contradicts itself.
        "-inf, positive -> nan, nan": "-inf, positive -> +0, inf",
        "inf, positive -> +0, inf": "inf, positive -> inf, +0",
        "nan, any -> nan, nan": "nan, finite -> nan, nan",
    },
    # The zero has the sign of sin(2b).
    "tanh": {"inf, positive -> 1, +0": "inf, positive -> 1, ±0"},
}
