"""The options of irax: how they are set, scoped to a thread, and read.

An option has one value for the process, from `IRAX_<NAME>` in the environment or from
`config.update`, and a thread may override it for the length of a `with` block:

    >>> from irax.config import config, disable_jit
    >>> with disable_jit():
    ...     config.disable_jit
    True
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from irax.core.settings.options import GUARDS_OF_DIRECTIONS, checked
from irax.core.settings.options import Config as Config
from irax.core.settings.options import config as config
from irax.core.settings.options import options as options

__all__ = [
    "check_tracer_leaks",
    "checking_leaks",
    "config",
    "debug_infs",
    "debug_key_reuse",
    "debug_nans",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "deterministic",
    "disable_jit",
    "enable_checks",
    "enable_custom_prng",
    "enable_x64",
    "explain_cache_misses",
    "explicit_x64_dtypes",
    "legacy_prng_key",
    "log_compiles",
    "no_execution",
    "no_tracing",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "threefry_partitionable",
    "transfer_guard",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
    "unbiased_random",
]


def _override(name: str, value: Any) -> AbstractContextManager[None]:
    return config.scoped(name, checked(name, value))


def enable_x64(new_val: bool = True) -> AbstractContextManager[None]:
    """Keep 64-bit types in this thread, or don't, within a `with` block.

    Args:
        new_val: True to keep 64-bit types, False to narrow them to 32 bits.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, enable_x64
        >>> with enable_x64(True):
        ...     config.enable_x64
        True
    """
    return _override("enable_x64", new_val)


def enable_custom_prng(new_val: bool = True) -> AbstractContextManager[None]:
    """Let `irax.random.PRNGKey` return typed keys, or words, for the length of a `with` block.

    Args:
        new_val: True for typed keys, False for words.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, enable_custom_prng
        >>> with enable_custom_prng():
        ...     config.enable_custom_prng
        True
    """
    return _override("enable_custom_prng", new_val)


def debug_nans(new_val: bool = True) -> AbstractContextManager[None]:
    """Look for NaNs in this thread, or don't, for the length of a `with` block.

    Args:
        new_val: True to look for them, False not to.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, debug_nans
        >>> with debug_nans(True):
        ...     config.debug_nans
        True
    """
    return _override("debug_nans", new_val)


def debug_infs(new_val: bool = True) -> AbstractContextManager[None]:
    """Look for infinities in this thread, or don't, for the length of a `with` block.

    Args:
        new_val: True to look for them, False not to.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, debug_infs
        >>> with debug_infs(True):
        ...     config.debug_infs
        True
    """
    return _override("debug_infs", new_val)


def disable_jit(disable: bool = True) -> AbstractContextManager[None]:
    """Run jitted functions as plain Python in this thread, for the length of a `with` block.

    Args:
        disable: True to run functions as Python, False to compile them.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, disable_jit
        >>> with disable_jit():
        ...     config.disable_jit
        True
    """
    return _override("disable_jit", disable)


def threefry_partitionable(new_val: bool = True) -> AbstractContextManager[None]:
    """Choose the order of random bits in this thread, for the length of a `with` block.

    Args:
        new_val: True if each element's bits depend on its index alone.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, threefry_partitionable
        >>> with threefry_partitionable(True):
        ...     config.threefry_partitionable
        True
    """
    return _override("threefry_partitionable", new_val)


def unbiased_random(new_val: bool = True) -> AbstractContextManager[None]:
    """Draw random numbers without the bias of JAX's in this thread, within a `with` block.

    Integers from a range of more than 2^16 are then as likely as each other, and floats of fewer
    than 32 bits are drawn as finely as float32. The numbers are other than JAX's.

    Args:
        new_val: True for these, False for JAX's.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, unbiased_random
        >>> with unbiased_random():
        ...     config.unbiased_random
        True
    """
    return _override("unbiased_random", new_val)


def default_device(new_val: Any) -> AbstractContextManager[None]:
    """Run programs on another device in this thread, for the length of a `with` block.

    Programs whose arrays were put on a device (`device_put`) run there all the same.

    Args:
        new_val: one of `irax.devices()`, the name of a platform, or None for the first there is.

    Raises:
        TypeError: it is none of these.

    Example:
        >>> import irax
        >>> with default_device("cpu"):
        ...     irax.default_backend()
        'cpu'
    """
    return _override("default_device", new_val)


def check_tracer_leaks(new_val: bool = True) -> AbstractContextManager[None]:
    """Look for traced arrays that outlive their trace, for the length of a `with` block.

    Args:
        new_val: True to look for them.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, check_tracer_leaks
        >>> with check_tracer_leaks(True):
        ...     config.check_tracer_leaks
        True
    """
    return _override("check_tracer_leaks", new_val)


checking_leaks = check_tracer_leaks
"""JAX's other name of `check_tracer_leaks`."""


def debug_key_reuse(new_val: bool = True) -> AbstractContextManager[None]:
    """Look for typed keys that are used twice, for the length of a `with` block.

    A key is used by what draws from it and by `split`, not by `fold_in`. Each `KeyArray` counts for
    itself: not seen is one key of an array of keys that is chosen twice, nor one that was used up
    within a jitted function.

    Args:
        new_val: True to look for them.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, debug_key_reuse
        >>> with debug_key_reuse(True):
        ...     config.debug_key_reuse
        True
    """
    return _override("debug_key_reuse", new_val)


def default_matmul_precision(new_val: str | None) -> AbstractContextManager[None]:
    """Multiply with another precision, for the length of a `with` block.

    The argument is what `precision=` takes as a name, "bfloat16", "tensorfloat32" or "float32" for
    "default", "high" and "highest", the name of a `lax.DotAlgorithmPreset`, or None.

    Args:
        new_val: the precision, or None for that of each function's own argument.

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, default_matmul_precision
        >>> with default_matmul_precision("highest"):
        ...     config.default_matmul_precision
        'highest'
    """
    return _override("default_matmul_precision", new_val)


def default_prng_impl(new_val: str) -> AbstractContextManager[None]:
    """Choose the generator of random keys, for the length of a `with` block: there is but one.

    Args:
        new_val: the name of the generator.

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, default_prng_impl
        >>> with default_prng_impl("threefry2x32"):
        ...     config.default_prng_impl
        'threefry2x32'
    """
    return _override("default_prng_impl", new_val)


def deterministic(new_val: str | None) -> AbstractContextManager[None]:
    """Have functions that are compiled in a `with` block give a row of their results the same bits
    in batches of any size.

    Args:
        new_val: "batch", or None to leave it open.

    Raises:
        ValueError: the value is none of these.

    Example:
        >>> from irax.config import config, deterministic
        >>> with deterministic("batch"):
        ...     config.deterministic
        'batch'
    """
    return _override("deterministic", new_val)


def explain_cache_misses(new_val: bool = True) -> AbstractContextManager[None]:
    """Log why jitted functions are traced again, for the length of a `with` block.

    Args:
        new_val: True to log them.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, explain_cache_misses
        >>> with explain_cache_misses(True):
        ...     config.explain_cache_misses
        True
    """
    return _override("explain_cache_misses", new_val)


def explicit_x64_dtypes(new_val: str) -> AbstractContextManager[None]:
    """Say what 64-bit dtypes that are asked for by name are while 64-bit types are off, for the
    length of a `with` block.

    Args:
        new_val: "warn" of them and narrow them, make them an "error", or "allow" them.

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, explicit_x64_dtypes
        >>> with explicit_x64_dtypes("error"):
        ...     config.explicit_x64_dtypes
        'error'
    """
    return _override("explicit_x64_dtypes", new_val)


def legacy_prng_key(new_val: str) -> AbstractContextManager[None]:
    """Allow keys of raw words, warn of them or make them an error, for the length of a block.

    Args:
        new_val: "allow", "warn" or "error".

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, legacy_prng_key
        >>> with legacy_prng_key("error"):
        ...     config.legacy_prng_key
        'error'
    """
    return _override("legacy_prng_key", new_val)


def log_compiles(new_val: bool = True) -> AbstractContextManager[None]:
    """Log what is traced and compiled, for the length of a `with` block.

    The logger is that of Python's `logging` named "irax".

    Args:
        new_val: True to log them.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, log_compiles
        >>> with log_compiles(True):
        ...     config.log_compiles
        True
    """
    return _override("log_compiles", new_val)


def enable_checks(new_val: bool = True) -> AbstractContextManager[None]:
    """Set JAX's option of this name for the length of a `with` block. It changes nothing.

    Args:
        new_val: True or False.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, enable_checks
        >>> with enable_checks(True):
        ...     config.enable_checks
        True
    """
    return _override("enable_checks", new_val)


def no_execution(new_val: bool = True) -> AbstractContextManager[None]:
    """Refuse to run compiled programs, for the length of a `with` block.

    Operations outside of jitted functions, which NumPy computes, go on.

    Args:
        new_val: True to refuse it.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, no_execution
        >>> with no_execution(True):
        ...     config.no_execution
        True
    """
    return _override("no_execution", new_val)


def no_tracing(new_val: bool = True) -> AbstractContextManager[None]:
    """Refuse to trace jitted functions, for the length of a `with` block.

    Those that were called before with arguments of these types run.

    Args:
        new_val: True to refuse it.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, no_tracing
        >>> with no_tracing(True):
        ...     config.no_tracing
        True
    """
    return _override("no_tracing", new_val)


def numpy_dtype_promotion(new_val: str) -> AbstractContextManager[None]:
    """Promote dtypes as "standard" or be "strict", for the length of a `with` block.

    Args:
        new_val: "standard" or "strict".

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, numpy_dtype_promotion
        >>> with numpy_dtype_promotion("strict"):
        ...     config.numpy_dtype_promotion
        'strict'
    """
    return _override("numpy_dtype_promotion", new_val)


def numpy_rank_promotion(new_val: str) -> AbstractContextManager[None]:
    """Allow operands of different ranks, warn or raise, for the length of a `with` block.

    Args:
        new_val: "allow", "warn" or "raise".

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, numpy_rank_promotion
        >>> with numpy_rank_promotion("raise"):
        ...     config.numpy_rank_promotion
        'raise'
    """
    return _override("numpy_rank_promotion", new_val)


def transfer_guard(new_val: str) -> AbstractContextManager[None]:
    """Log or forbid copies between the host and devices, for the length of a `with` block.

    Args:
        new_val: "allow"; "log" or "disallow" those that no `device_put` or `device_get` asks for;
            "log_explicit" or "disallow_explicit" for all.

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, transfer_guard
        >>> with transfer_guard("log"):
        ...     config.transfer_guard
        'log'
    """
    return _guarding(checked("transfer_guard", new_val))


@contextmanager
def _guarding(level: str) -> Iterator[None]:
    with ExitStack() as stack:
        for name in ("transfer_guard", *GUARDS_OF_DIRECTIONS):
            stack.enter_context(_override(name, level))
        yield


def transfer_guard_host_to_device(new_val: str) -> AbstractContextManager[None]:
    """Log or forbid copies of NumPy's arrays and of numbers, for the length of a `with` block.

    Args:
        new_val: "allow"; "log" or "disallow" those that no `device_put` or `device_get` asks for;
            "log_explicit" or "disallow_explicit" for all.

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, transfer_guard_host_to_device
        >>> with transfer_guard_host_to_device("log"):
        ...     config.transfer_guard_host_to_device
        'log'
    """
    return _override("transfer_guard_host_to_device", new_val)


def transfer_guard_device_to_device(new_val: str) -> AbstractContextManager[None]:
    """Log or forbid copies of arrays to other devices, for the length of a `with` block.

    Args:
        new_val: "allow"; "log" or "disallow" those that no `device_put` or `device_get` asks for;
            "log_explicit" or "disallow_explicit" for all.

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, transfer_guard_device_to_device
        >>> with transfer_guard_device_to_device("log"):
        ...     config.transfer_guard_device_to_device
        'log'
    """
    return _override("transfer_guard_device_to_device", new_val)


def transfer_guard_device_to_host(new_val: str) -> AbstractContextManager[None]:
    """Log or forbid copies from devices other than the processor, for the length of a `with` block.

    Args:
        new_val: "allow"; "log" or "disallow" those that no `device_put` or `device_get` asks for;
            "log_explicit" or "disallow_explicit" for all.

    Raises:
        ValueError: the value isn't one of these.

    Example:
        >>> from irax.config import config, transfer_guard_device_to_host
        >>> with transfer_guard_device_to_host("log"):
        ...     config.transfer_guard_device_to_host
        'log'
    """
    return _override("transfer_guard_device_to_host", new_val)
