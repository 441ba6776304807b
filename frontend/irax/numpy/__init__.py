"""irax.numpy: NumPy's functions, for arrays of irax.

They differ from NumPy's where JAX's do: arrays are immutable, dtypes are 32 bits wide unless asked
for otherwise, Python numbers take the dtype of the arrays they meet, and lists are no arrays.

All functions raise TypeError for an argument that is not an array or a number, or has a dtype that
they do not take, and for shapes that do not broadcast. They raise ValueError for an axis that the
array does not have. Each function lists its other errors.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

import numpy as _numpy
from numpy import dtype as dtype
from numpy import iterable as iterable
from numpy.exceptions import ComplexWarning as ComplexWarning

from irax.core.array import Array as ndarray
from irax.dtypes import can_cast as can_cast
from irax.dtypes import finfo as finfo
from irax.dtypes import iinfo as iinfo
from irax.dtypes import issubdtype as issubdtype
from irax.dtypes import promote_types as promote_types
from irax.dtypes import result_type as result_type
from irax.numpy.aggregates.reductions import all as all
from irax.numpy.aggregates.reductions import allclose as allclose
from irax.numpy.aggregates.reductions import amax as amax
from irax.numpy.aggregates.reductions import amin as amin
from irax.numpy.aggregates.reductions import any as any
from irax.numpy.aggregates.reductions import argmax as argmax
from irax.numpy.aggregates.reductions import argmin as argmin
from irax.numpy.aggregates.reductions import array_equal as array_equal
from irax.numpy.aggregates.reductions import array_equiv as array_equiv
from irax.numpy.aggregates.reductions import count_nonzero as count_nonzero
from irax.numpy.aggregates.reductions import cumprod as cumprod
from irax.numpy.aggregates.reductions import cumsum as cumsum
from irax.numpy.aggregates.reductions import cumulative_prod as cumulative_prod
from irax.numpy.aggregates.reductions import cumulative_sum as cumulative_sum
from irax.numpy.aggregates.reductions import isclose as isclose
from irax.numpy.aggregates.reductions import max as max
from irax.numpy.aggregates.reductions import min as min
from irax.numpy.aggregates.reductions import prod as prod
from irax.numpy.aggregates.reductions import ptp as ptp
from irax.numpy.aggregates.reductions import sum as sum
from irax.numpy.aggregates.statistics import average as average
from irax.numpy.aggregates.statistics import corrcoef as corrcoef
from irax.numpy.aggregates.statistics import cov as cov
from irax.numpy.aggregates.statistics import mean as mean
from irax.numpy.aggregates.statistics import std as std
from irax.numpy.aggregates.statistics import var as var
from irax.numpy.creation import array as array
from irax.numpy.creation import asarray as asarray
from irax.numpy.creation import astype as astype
from irax.numpy.creation import copy as copy
from irax.numpy.creation import empty as empty
from irax.numpy.creation import empty_like as empty_like
from irax.numpy.creation import full as full
from irax.numpy.creation import full_like as full_like
from irax.numpy.creation import ones as ones
from irax.numpy.creation import ones_like as ones_like
from irax.numpy.creation import zeros as zeros
from irax.numpy.creation import zeros_like as zeros_like
from irax.numpy.elementwise.angles import acos as acos
from irax.numpy.elementwise.angles import acosh as acosh
from irax.numpy.elementwise.angles import arccos as arccos
from irax.numpy.elementwise.angles import arccosh as arccosh
from irax.numpy.elementwise.angles import arcsin as arcsin
from irax.numpy.elementwise.angles import arcsinh as arcsinh
from irax.numpy.elementwise.angles import arctan as arctan
from irax.numpy.elementwise.angles import arctan2 as arctan2
from irax.numpy.elementwise.angles import arctanh as arctanh
from irax.numpy.elementwise.angles import asin as asin
from irax.numpy.elementwise.angles import asinh as asinh
from irax.numpy.elementwise.angles import atan as atan
from irax.numpy.elementwise.angles import atan2 as atan2
from irax.numpy.elementwise.angles import atanh as atanh
from irax.numpy.elementwise.angles import cos as cos
from irax.numpy.elementwise.angles import cosh as cosh
from irax.numpy.elementwise.angles import deg2rad as deg2rad
from irax.numpy.elementwise.angles import degrees as degrees
from irax.numpy.elementwise.angles import rad2deg as rad2deg
from irax.numpy.elementwise.angles import radians as radians
from irax.numpy.elementwise.angles import sin as sin
from irax.numpy.elementwise.angles import sinc as sinc
from irax.numpy.elementwise.angles import sinh as sinh
from irax.numpy.elementwise.angles import tan as tan
from irax.numpy.elementwise.angles import tanh as tanh
from irax.numpy.elementwise.complex_parts import conj as conj
from irax.numpy.elementwise.complex_parts import conjugate as conjugate
from irax.numpy.elementwise.complex_parts import imag as imag
from irax.numpy.elementwise.complex_parts import iscomplexobj as iscomplexobj
from irax.numpy.elementwise.complex_parts import isrealobj as isrealobj
from irax.numpy.elementwise.complex_parts import real as real
from irax.numpy.elementwise.division import divmod as divmod
from irax.numpy.elementwise.division import floor_divide as floor_divide
from irax.numpy.elementwise.division import fmod as fmod
from irax.numpy.elementwise.division import mod as mod
from irax.numpy.elementwise.division import remainder as remainder
from irax.numpy.elementwise.exponentials import cbrt as cbrt
from irax.numpy.elementwise.exponentials import exp as exp
from irax.numpy.elementwise.exponentials import exp2 as exp2
from irax.numpy.elementwise.exponentials import expm1 as expm1
from irax.numpy.elementwise.exponentials import hypot as hypot
from irax.numpy.elementwise.exponentials import log as log
from irax.numpy.elementwise.exponentials import log1p as log1p
from irax.numpy.elementwise.exponentials import log2 as log2
from irax.numpy.elementwise.exponentials import log10 as log10
from irax.numpy.elementwise.exponentials import logaddexp as logaddexp
from irax.numpy.elementwise.exponentials import logaddexp2 as logaddexp2
from irax.numpy.elementwise.exponentials import sqrt as sqrt
from irax.numpy.elementwise.logic import bitwise_and as bitwise_and
from irax.numpy.elementwise.logic import bitwise_invert as bitwise_invert
from irax.numpy.elementwise.logic import bitwise_left_shift as bitwise_left_shift
from irax.numpy.elementwise.logic import bitwise_not as bitwise_not
from irax.numpy.elementwise.logic import bitwise_or as bitwise_or
from irax.numpy.elementwise.logic import bitwise_right_shift as bitwise_right_shift
from irax.numpy.elementwise.logic import bitwise_xor as bitwise_xor
from irax.numpy.elementwise.logic import equal as equal
from irax.numpy.elementwise.logic import greater as greater
from irax.numpy.elementwise.logic import greater_equal as greater_equal
from irax.numpy.elementwise.logic import invert as invert
from irax.numpy.elementwise.logic import isfinite as isfinite
from irax.numpy.elementwise.logic import isinf as isinf
from irax.numpy.elementwise.logic import isnan as isnan
from irax.numpy.elementwise.logic import isneginf as isneginf
from irax.numpy.elementwise.logic import isposinf as isposinf
from irax.numpy.elementwise.logic import left_shift as left_shift
from irax.numpy.elementwise.logic import less as less
from irax.numpy.elementwise.logic import less_equal as less_equal
from irax.numpy.elementwise.logic import logical_and as logical_and
from irax.numpy.elementwise.logic import logical_not as logical_not
from irax.numpy.elementwise.logic import logical_or as logical_or
from irax.numpy.elementwise.logic import logical_xor as logical_xor
from irax.numpy.elementwise.logic import not_equal as not_equal
from irax.numpy.elementwise.logic import right_shift as right_shift
from irax.numpy.elementwise.logic import signbit as signbit
from irax.numpy.elementwise.rounding import around as around
from irax.numpy.elementwise.rounding import ceil as ceil
from irax.numpy.elementwise.rounding import fix as fix
from irax.numpy.elementwise.rounding import floor as floor
from irax.numpy.elementwise.rounding import rint as rint
from irax.numpy.elementwise.rounding import round as round
from irax.numpy.elementwise.rounding import trunc as trunc
from irax.numpy.matrices import diag as diag
from irax.numpy.matrices import diag_indices as diag_indices
from irax.numpy.matrices import diagflat as diagflat
from irax.numpy.matrices import diagonal as diagonal
from irax.numpy.matrices import eye as eye
from irax.numpy.matrices import identity as identity
from irax.numpy.matrices import tri as tri
from irax.numpy.matrices import tril as tril
from irax.numpy.matrices import tril_indices as tril_indices
from irax.numpy.matrices import triu as triu
from irax.numpy.matrices import triu_indices as triu_indices
from irax.numpy.ordering import argpartition as argpartition
from irax.numpy.ordering import argsort as argsort
from irax.numpy.ordering import lexsort as lexsort
from irax.numpy.ordering import partition as partition
from irax.numpy.ordering import searchsorted as searchsorted
from irax.numpy.ordering import sort as sort
from irax.numpy.ordering import sort_complex as sort_complex
from irax.numpy.products.contraction import cross as cross
from irax.numpy.products.contraction import dot as dot
from irax.numpy.products.contraction import inner as inner
from irax.numpy.products.contraction import kron as kron
from irax.numpy.products.contraction import matmul as matmul
from irax.numpy.products.contraction import matvec as matvec
from irax.numpy.products.contraction import outer as outer
from irax.numpy.products.contraction import tensordot as tensordot
from irax.numpy.products.contraction import trace as trace
from irax.numpy.products.contraction import vdot as vdot
from irax.numpy.products.contraction import vecdot as vecdot
from irax.numpy.products.contraction import vecmat as vecmat
from irax.numpy.ranges import arange as arange
from irax.numpy.ranges import geomspace as geomspace
from irax.numpy.ranges import indices as indices
from irax.numpy.ranges import linspace as linspace
from irax.numpy.ranges import logspace as logspace
from irax.numpy.ranges import meshgrid as meshgrid
from irax.numpy.scalars import bfloat16 as bfloat16
from irax.numpy.scalars import bool_ as bool
from irax.numpy.scalars import bool_ as bool_
from irax.numpy.scalars import cdouble as cdouble
from irax.numpy.scalars import character as character
from irax.numpy.scalars import complex64 as complex64
from irax.numpy.scalars import complex128 as complex128
from irax.numpy.scalars import complex_ as complex_
from irax.numpy.scalars import complexfloating as complexfloating
from irax.numpy.scalars import csingle as csingle
from irax.numpy.scalars import double as double
from irax.numpy.scalars import flexible as flexible
from irax.numpy.scalars import float4_e2m1fn as float4_e2m1fn
from irax.numpy.scalars import float6_e2m3fn as float6_e2m3fn
from irax.numpy.scalars import float6_e3m2fn as float6_e3m2fn
from irax.numpy.scalars import float8_e3m4 as float8_e3m4
from irax.numpy.scalars import float8_e4m3 as float8_e4m3
from irax.numpy.scalars import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from irax.numpy.scalars import float8_e4m3fn as float8_e4m3fn
from irax.numpy.scalars import float8_e4m3fnuz as float8_e4m3fnuz
from irax.numpy.scalars import float8_e5m2 as float8_e5m2
from irax.numpy.scalars import float8_e5m2fnuz as float8_e5m2fnuz
from irax.numpy.scalars import float8_e8m0fnu as float8_e8m0fnu
from irax.numpy.scalars import float16 as float16
from irax.numpy.scalars import float32 as float32
from irax.numpy.scalars import float64 as float64
from irax.numpy.scalars import float_ as float_
from irax.numpy.scalars import floating as floating
from irax.numpy.scalars import generic as generic
from irax.numpy.scalars import half as half
from irax.numpy.scalars import inexact as inexact
from irax.numpy.scalars import int2 as int2
from irax.numpy.scalars import int4 as int4
from irax.numpy.scalars import int8 as int8
from irax.numpy.scalars import int16 as int16
from irax.numpy.scalars import int32 as int32
from irax.numpy.scalars import int64 as int64
from irax.numpy.scalars import int_ as int_
from irax.numpy.scalars import integer as integer
from irax.numpy.scalars import number as number
from irax.numpy.scalars import object_ as object_
from irax.numpy.scalars import signedinteger as signedinteger
from irax.numpy.scalars import single as single
from irax.numpy.scalars import uint as uint
from irax.numpy.scalars import uint2 as uint2
from irax.numpy.scalars import uint4 as uint4
from irax.numpy.scalars import uint8 as uint8
from irax.numpy.scalars import uint16 as uint16
from irax.numpy.scalars import uint32 as uint32
from irax.numpy.scalars import uint64 as uint64
from irax.numpy.scalars import unsignedinteger as unsignedinteger
from irax.numpy.searching import argwhere as argwhere
from irax.numpy.searching import flatnonzero as flatnonzero
from irax.numpy.searching import nonzero as nonzero
from irax.numpy.searching import take as take
from irax.numpy.searching import take_along_axis as take_along_axis
from irax.numpy.searching import unravel_index as unravel_index
from irax.numpy.searching import where as where
from irax.numpy.shapes.joining import array_split as array_split
from irax.numpy.shapes.joining import block as block
from irax.numpy.shapes.joining import column_stack as column_stack
from irax.numpy.shapes.joining import concat as concat
from irax.numpy.shapes.joining import concatenate as concatenate
from irax.numpy.shapes.joining import dsplit as dsplit
from irax.numpy.shapes.joining import dstack as dstack
from irax.numpy.shapes.joining import hsplit as hsplit
from irax.numpy.shapes.joining import hstack as hstack
from irax.numpy.shapes.joining import split as split
from irax.numpy.shapes.joining import stack as stack
from irax.numpy.shapes.joining import unstack as unstack
from irax.numpy.shapes.joining import vsplit as vsplit
from irax.numpy.shapes.joining import vstack as vstack
from irax.numpy.shapes.manipulation import atleast_1d as atleast_1d
from irax.numpy.shapes.manipulation import atleast_2d as atleast_2d
from irax.numpy.shapes.manipulation import atleast_3d as atleast_3d
from irax.numpy.shapes.manipulation import broadcast_arrays as broadcast_arrays
from irax.numpy.shapes.manipulation import broadcast_shapes as broadcast_shapes
from irax.numpy.shapes.manipulation import broadcast_to as broadcast_to
from irax.numpy.shapes.manipulation import expand_dims as expand_dims
from irax.numpy.shapes.manipulation import flip as flip
from irax.numpy.shapes.manipulation import fliplr as fliplr
from irax.numpy.shapes.manipulation import flipud as flipud
from irax.numpy.shapes.manipulation import isscalar as isscalar
from irax.numpy.shapes.manipulation import matrix_transpose as matrix_transpose
from irax.numpy.shapes.manipulation import moveaxis as moveaxis
from irax.numpy.shapes.manipulation import ndim as ndim
from irax.numpy.shapes.manipulation import permute_dims as permute_dims
from irax.numpy.shapes.manipulation import ravel as ravel
from irax.numpy.shapes.manipulation import reshape as reshape
from irax.numpy.shapes.manipulation import rollaxis as rollaxis
from irax.numpy.shapes.manipulation import rot90 as rot90
from irax.numpy.shapes.manipulation import shape as shape
from irax.numpy.shapes.manipulation import size as size
from irax.numpy.shapes.manipulation import squeeze as squeeze
from irax.numpy.shapes.manipulation import swapaxes as swapaxes
from irax.numpy.shapes.manipulation import transpose as transpose
from irax.numpy.shapes.padding import pad as pad
from irax.numpy.shapes.repetition import repeat as repeat
from irax.numpy.shapes.repetition import roll as roll
from irax.numpy.shapes.repetition import tile as tile
from irax.numpy.ufunc_objects import frompyfunc as frompyfunc
from irax.numpy.ufunc_objects import ufunc as ufunc
from irax.numpy.ufuncs import abs as abs
from irax.numpy.ufuncs import absolute as absolute
from irax.numpy.ufuncs import add as add
from irax.numpy.ufuncs import bitwise_count as bitwise_count
from irax.numpy.ufuncs import clip as clip
from irax.numpy.ufuncs import copysign as copysign
from irax.numpy.ufuncs import divide as divide
from irax.numpy.ufuncs import fabs as fabs
from irax.numpy.ufuncs import float_power as float_power
from irax.numpy.ufuncs import fmax as fmax
from irax.numpy.ufuncs import fmin as fmin
from irax.numpy.ufuncs import heaviside as heaviside
from irax.numpy.ufuncs import maximum as maximum
from irax.numpy.ufuncs import minimum as minimum
from irax.numpy.ufuncs import multiply as multiply
from irax.numpy.ufuncs import nan_to_num as nan_to_num
from irax.numpy.ufuncs import negative as negative
from irax.numpy.ufuncs import positive as positive
from irax.numpy.ufuncs import pow as pow
from irax.numpy.ufuncs import power as power
from irax.numpy.ufuncs import reciprocal as reciprocal
from irax.numpy.ufuncs import sign as sign
from irax.numpy.ufuncs import square as square
from irax.numpy.ufuncs import subtract as subtract
from irax.numpy.ufuncs import true_divide as true_divide
from irax_compiler.importing import import_module as _import_module

if _TYPE_CHECKING:
    from irax.numpy import fft as fft
    from irax.numpy import linalg as linalg
    from irax.numpy.aggregates.extremes import minmax as minmax
    from irax.numpy.aggregates.extremes import top_k as top_k
    from irax.numpy.aggregates.histograms import bincount as bincount
    from irax.numpy.aggregates.histograms import digitize as digitize
    from irax.numpy.aggregates.histograms import histogram as histogram
    from irax.numpy.aggregates.histograms import histogram2d as histogram2d
    from irax.numpy.aggregates.histograms import histogram_bin_edges as histogram_bin_edges
    from irax.numpy.aggregates.histograms import histogramdd as histogramdd
    from irax.numpy.aggregates.nan_reductions import nanargmax as nanargmax
    from irax.numpy.aggregates.nan_reductions import nanargmin as nanargmin
    from irax.numpy.aggregates.nan_reductions import nancumprod as nancumprod
    from irax.numpy.aggregates.nan_reductions import nancumsum as nancumsum
    from irax.numpy.aggregates.nan_reductions import nanmax as nanmax
    from irax.numpy.aggregates.nan_reductions import nanmean as nanmean
    from irax.numpy.aggregates.nan_reductions import nanmin as nanmin
    from irax.numpy.aggregates.nan_reductions import nanprod as nanprod
    from irax.numpy.aggregates.nan_reductions import nanstd as nanstd
    from irax.numpy.aggregates.nan_reductions import nansum as nansum
    from irax.numpy.aggregates.nan_reductions import nanvar as nanvar
    from irax.numpy.aggregates.quantiles import median as median
    from irax.numpy.aggregates.quantiles import nanmedian as nanmedian
    from irax.numpy.aggregates.quantiles import nanpercentile as nanpercentile
    from irax.numpy.aggregates.quantiles import nanquantile as nanquantile
    from irax.numpy.aggregates.quantiles import percentile as percentile
    from irax.numpy.aggregates.quantiles import quantile as quantile
    from irax.numpy.calculus import diff as diff
    from irax.numpy.calculus import ediff1d as ediff1d
    from irax.numpy.calculus import gradient as gradient
    from irax.numpy.calculus import trapezoid as trapezoid
    from irax.numpy.calculus import unwrap as unwrap
    from irax.numpy.dlpack import from_dlpack as from_dlpack
    from irax.numpy.elementwise.number_parts import angle as angle
    from irax.numpy.elementwise.number_parts import frexp as frexp
    from irax.numpy.elementwise.number_parts import gcd as gcd
    from irax.numpy.elementwise.number_parts import iscomplex as iscomplex
    from irax.numpy.elementwise.number_parts import isreal as isreal
    from irax.numpy.elementwise.number_parts import lcm as lcm
    from irax.numpy.elementwise.number_parts import ldexp as ldexp
    from irax.numpy.elementwise.number_parts import modf as modf
    from irax.numpy.elementwise.number_parts import nextafter as nextafter
    from irax.numpy.elementwise.number_parts import packbits as packbits
    from irax.numpy.elementwise.number_parts import spacing as spacing
    from irax.numpy.elementwise.number_parts import unpackbits as unpackbits
    from irax.numpy.files import frombuffer as frombuffer
    from irax.numpy.files import fromfile as fromfile
    from irax.numpy.files import fromfunction as fromfunction
    from irax.numpy.files import fromiter as fromiter
    from irax.numpy.files import fromstring as fromstring
    from irax.numpy.files import load as load
    from irax.numpy.files import save as save
    from irax.numpy.files import savez as savez
    from irax.numpy.indexing.tricks import c_ as c_
    from irax.numpy.indexing.tricks import diag_indices_from as diag_indices_from
    from irax.numpy.indexing.tricks import index_exp as index_exp
    from irax.numpy.indexing.tricks import ix_ as ix_
    from irax.numpy.indexing.tricks import mask_indices as mask_indices
    from irax.numpy.indexing.tricks import mgrid as mgrid
    from irax.numpy.indexing.tricks import ogrid as ogrid
    from irax.numpy.indexing.tricks import r_ as r_
    from irax.numpy.indexing.tricks import ravel_multi_index as ravel_multi_index
    from irax.numpy.indexing.tricks import s_ as s_
    from irax.numpy.indexing.tricks import tril_indices_from as tril_indices_from
    from irax.numpy.indexing.tricks import triu_indices_from as triu_indices_from
    from irax.numpy.interpolation import interp as interp
    from irax.numpy.kinds import isdtype as isdtype
    from irax.numpy.namespace_info import __array_api_version__ as __array_api_version__
    from irax.numpy.namespace_info import __array_namespace_info__ as __array_namespace_info__
    from irax.numpy.polynomials import poly as poly
    from irax.numpy.polynomials import polyadd as polyadd
    from irax.numpy.polynomials import polyder as polyder
    from irax.numpy.polynomials import polydiv as polydiv
    from irax.numpy.polynomials import polyfit as polyfit
    from irax.numpy.polynomials import polyint as polyint
    from irax.numpy.polynomials import polymul as polymul
    from irax.numpy.polynomials import polysub as polysub
    from irax.numpy.polynomials import polyval as polyval
    from irax.numpy.polynomials import roots as roots
    from irax.numpy.polynomials import vander as vander
    from irax.numpy.printing import array_repr as array_repr
    from irax.numpy.printing import array_str as array_str
    from irax.numpy.printing import get_printoptions as get_printoptions
    from irax.numpy.printing import printoptions as printoptions
    from irax.numpy.printing import set_printoptions as set_printoptions
    from irax.numpy.products.convolution import convolve as convolve
    from irax.numpy.products.convolution import correlate as correlate
    from irax.numpy.products.labelled import einsum as einsum
    from irax.numpy.products.labelled import einsum_path as einsum_path
    from irax.numpy.sets import intersect1d as intersect1d
    from irax.numpy.sets import isin as isin
    from irax.numpy.sets import setdiff1d as setdiff1d
    from irax.numpy.sets import setxor1d as setxor1d
    from irax.numpy.sets import union1d as union1d
    from irax.numpy.sets import unique as unique
    from irax.numpy.sets import unique_all as unique_all
    from irax.numpy.sets import unique_counts as unique_counts
    from irax.numpy.sets import unique_inverse as unique_inverse
    from irax.numpy.sets import unique_values as unique_values
    from irax.numpy.shapes.choosing import choose as choose
    from irax.numpy.shapes.choosing import piecewise as piecewise
    from irax.numpy.shapes.choosing import select as select
    from irax.numpy.shapes.editing import append as append
    from irax.numpy.shapes.editing import compress as compress
    from irax.numpy.shapes.editing import delete as delete
    from irax.numpy.shapes.editing import extract as extract
    from irax.numpy.shapes.editing import fill_diagonal as fill_diagonal
    from irax.numpy.shapes.editing import insert as insert
    from irax.numpy.shapes.editing import place as place
    from irax.numpy.shapes.editing import put as put
    from irax.numpy.shapes.editing import put_along_axis as put_along_axis
    from irax.numpy.shapes.editing import resize as resize
    from irax.numpy.shapes.editing import trim_zeros as trim_zeros
    from irax.numpy.vectorization import apply_along_axis as apply_along_axis
    from irax.numpy.vectorization import apply_over_axes as apply_over_axes
    from irax.numpy.vectorization import vectorize as vectorize
    from irax.numpy.windows import bartlett as bartlett
    from irax.numpy.windows import blackman as blackman
    from irax.numpy.windows import hamming as hamming
    from irax.numpy.windows import hanning as hanning
    from irax.numpy.windows import i0 as i0
    from irax.numpy.windows import kaiser as kaiser

from irax.numpy.families import FAMILY_OF as _FAMILY_OF
from irax.numpy.families import MODULES as _MODULES
from irax.numpy.outside import as_public as _as_public
from irax.numpy.outside import replay_all as _replay_all

pi: float = _numpy.pi
e: float = _numpy.e
euler_gamma: float = _numpy.euler_gamma
inf: float = _numpy.inf
nan: float = _numpy.nan
newaxis: None = None


def __getattr__(name: str) -> _Any:
    """Import modules and families of functions when they are first used."""
    if name in _MODULES:
        return _import_module(f"irax.numpy.{name}")
    if name not in _FAMILY_OF:
        from irax.core.absent_names import missing_attribute

        raise missing_attribute(__name__, name)
    family = _import_module(f"irax.numpy.{_FAMILY_OF[name]}")
    value = globals()[name] = _as_public(name, getattr(family, name))
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_FAMILY_OF, *_MODULES})


_replay_all(globals())

# Methods of ufuncs are made of functions from above.
from irax.numpy import ufunc_methods as _ufunc_methods  # noqa: E402
