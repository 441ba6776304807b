"""The dtypes that operands promote to."""

import functools
from typing import Any, Literal, overload

import numpy as np

from irax.config import config
from irax.core.dtypes import strictness
from irax.core.dtypes.kinds import DTYPES, canonical, issubdtype, keeps_wide, name_of
from irax.core.dtypes.lattice import TypePromotionError, least_upper_bound
from irax.core.dtypes.values import dtype_and_weakness, dtype_of

_WEAK = {"i*": DTYPES["int64"], "f*": DTYPES["float64"], "c*": DTYPES["complex128"]}
_BOUNDS = DTYPES | _WEAK


def _node(dtype: np.dtype[Any], weak: bool) -> str:
    if not weak:
        return name_of(dtype)
    for node, kind in zip(_WEAK, (np.integer, np.floating, np.complexfloating), strict=True):
        if issubdtype(dtype, kind):
            return node
    return name_of(dtype)  # bool: the lattice has no weak kind below it


@functools.lru_cache(maxsize=4096)
def _join(
    x64: bool, keeps: bool, *operands: tuple[np.dtype[Any], bool]
) -> tuple[np.dtype[Any], bool]:
    weak = [weak for _, weak in operands]
    if len({dtype for dtype, _ in operands}) == 1:
        return operands[0][0], all(weak) and operands[0][0] != np.bool
    dtypes = [canonical(dtype, x64 or keeps) for dtype, _ in operands]
    if len(set(dtypes)) == 1:
        return dtypes[0], all(weak) and dtypes[0] != np.bool
    # Among themselves, weak operands go by the widths that they do have.
    nodes = map(name_of, dtypes) if all(weak) else map(_node, dtypes, weak)
    bound = least_upper_bound(set(nodes), x64)
    is_weak = all(weak) or bound in _WEAK
    return canonical(_BOUNDS[bound], x64 or (keeps and not is_weak)), is_weak


def lattice_result_type(*args: Any) -> tuple[np.dtype[Any], bool]:
    """Return the dtype that values promote to, and True if it is weak.

    Args:
        args: one value or more, of the forms that `dtype_of` takes.

    Raises:
        TypePromotionError: there is no common dtype (a ValueError).
        TypeError: a value of no dtype, or of one that irax doesn't support.
        ValueError: no values.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import lattice_result_type
        >>> lattice_result_type(np.int8(1), 2.5)
        (dtype('float32'), True)
    """
    if not args:
        raise ValueError("expected at least one array, scalar or dtype to promote")
    found = join(*args)
    if config.numpy_dtype_promotion == "strict":
        judge_dtypes(*args)
    return found


def join(*args: Any) -> tuple[np.dtype[Any], bool]:
    """Return `lattice_result_type`, whatever the option `numpy_dtype_promotion` is."""
    return _join(config.enable_x64, keeps_wide(), *map(dtype_of, args))


def judge_dtypes(*args: Any) -> None:
    """Raises TypePromotionError where the option `numpy_dtype_promotion` would not have operands of
    the user's promoted together: those that are not weak are not of the dtype that comes out.
    """
    if config.numpy_dtype_promotion != "strict":
        return
    operands = [dtype_of(x) for x in strictness.judged(args) if x is not None]
    if len(operands) < 2:
        return
    result, _ = _join(config.enable_x64, keeps_wide(), *operands)
    known = [dtype for dtype, weak in operands if not weak]
    if any(dtype != result for dtype in known):
        names = ", ".join(sorted({dtype.name for dtype in known}))
        raise TypePromotionError(
            f"operands of dtype {names} would become {result.name}, and the option "
            "numpy_dtype_promotion is 'strict': convert them with .astype"
        )


@overload
def result_type(*args: Any, return_weak_type_flag: Literal[False] = False) -> np.dtype[Any]: ...
@overload
def result_type(*args: Any, return_weak_type_flag: bool) -> Any: ...
def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """Return the dtype that values promote to; what it takes and raises is `lattice_result_type`'s.

    Args:
        args: what has a dtype, or is one; None stands for the default float, as in NumPy.
        return_weak_type_flag: whether to return also if it is a weak type.

    Raises:
        TypeError: an argument is neither a value nor a dtype.

    Example:
        >>> import numpy as np
        >>> from irax.dtypes import result_type
        >>> result_type(np.float16(1), 2.5), result_type(np.uint8(1), np.int8(1))
        (dtype('float16'), dtype('int16'))
    """
    found = lattice_result_type(*(np.dtype(x) if x is None else x for x in args))
    return found if return_weak_type_flag else found[0]


def promote_types(a: Any, b: Any) -> np.dtype[Any]:
    """Return the dtype that two dtypes promote to; int, float and complex stand for weak types.

    The dtypes are taken as they are: a 64-bit one stays, whatever `enable_x64` says.

    Args:
        a: a dtype, or the type int, float or complex.
        b: another one.

    Raises:
        TypePromotionError: there is no common dtype (a ValueError).
        TypeError: there is no such dtype, or irax doesn't support it.

    Example:
        >>> from irax.dtypes import promote_types
        >>> promote_types("float16", "bfloat16"), promote_types("int8", float)
        (dtype('float32'), dtype('float64'))
    """
    judge_dtypes(a, b)
    nodes = {_node(canonical(dtype, True), weak) for dtype, weak in map(dtype_and_weakness, (a, b))}
    return _BOUNDS[least_upper_bound(nodes, config.enable_x64)]
