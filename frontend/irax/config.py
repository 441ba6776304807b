"""The options of irax: how they are set, scoped to a thread, and read.

An option has one value for the process, from `IRAX_<NAME>` in the environment or from
`config.update`, and a thread may override it for the length of a `with` block:

    >>> from irax.config import config, disable_jit
    >>> with disable_jit():
    ...     config.disable_jit
    True
"""

import operator
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

__all__ = [
    "config",
    "debug_infs",
    "debug_nans",
    "default_device",
    "disable_jit",
    "enable_x64",
    "threefry_partitionable",
]

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


def _from_environment(name: str, default: bool = False) -> bool:
    variable = f"IRAX_{name.upper()}"
    text = os.environ.get(variable, "").strip().lower() or str(default).lower()
    if text not in _TRUE + _FALSE:
        raise ValueError(
            f"the environment variable {variable} is {text!r}; expected one of "
            f"{', '.join(_TRUE)} to turn the option on or {', '.join(_FALSE)} to leave it off"
        )
    return text in _TRUE


class Config(threading.local):
    """The options of irax, read as attributes: use the one instance, `irax.config`.

    The class attributes are the values of the process; `threading.local` puts the overrides of a
    thread in front of them. So reading an option is a plain attribute look-up.

    Attributes:
        enable_x64: keep 64-bit types; otherwise they become 32-bit types where they enter irax.
        debug_nans: raise `FloatingPointError` where an operation first makes a NaN; compiled
            functions are looked at when they return one.
        debug_infs: the same for infinities.
        disable_jit: run jitted functions operation by operation, as plain Python.
        threefry_partitionable: draw random bits in an order that is cheap to split over devices,
            as is the default. Off, a key gives the bits that the older, sequential order gives.
        default_device: the device, or the platform, that programs run on whose arrays were put
            nowhere; None is the first device there is.

    Example:
        >>> from irax.config import config
        >>> config.update("enable_x64", False)
    """

    enable_x64: bool = _from_environment("enable_x64")
    debug_nans: bool = _from_environment("debug_nans")
    debug_infs: bool = _from_environment("debug_infs")
    disable_jit: bool = _from_environment("disable_jit")
    threefry_partitionable: bool = _from_environment("threefry_partitionable", True)
    default_device: Any = None

    def update(self, name: str, value: Any) -> None:
        """Set an option for the whole process.

        A thread inside a `with` block that overrides the option sees the new value after it.

        Args:
            name: the option; a prefix `irax_` or `jax_` is ignored.
            value: True or False; for `default_device` a device, a platform or None.

        Raises:
            AttributeError: no option has this name.
            TypeError: the value isn't one that the option takes.

        Example:
            >>> from irax.config import config
            >>> config.update("jax_debug_nans", False)
        """
        name = _option(name)
        setattr(Config, name, _checked(name, value))

    def __setattr__(self, name: str, value: object) -> None:
        name = _option(name)
        raise AttributeError(
            f"config.{name} can't be assigned: call config.update({name!r}, {value!r}), or use "
            f"`with irax.{name}({value!r}):` to set it in this thread for a while"
        )

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={getattr(self, name)}' for name in _OPTIONS)})"


_OPTIONS = tuple(Config.__annotations__)
_PREFIXES = ("irax_", "jax_")

# Aliases as properties, because a `__getattr__` would double the time that reading an option takes.
for _name in _OPTIONS:
    for _prefix in _PREFIXES:
        setattr(Config, _prefix + _name, property(operator.attrgetter(_name)))


def _option(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    if name not in _OPTIONS:
        raise AttributeError(f"irax has no option {name!r}; its options are {', '.join(_OPTIONS)}")
    return name


def _checked(name: str, value: object) -> Any:
    if name == "default_device":
        if value is None or isinstance(value, str) or hasattr(value, "put"):
            return value
        raise TypeError(
            f"the option default_device must be one of irax.devices(), a platform or None, got "
            f"{value!r}"
        )
    if not isinstance(value, bool):
        raise TypeError(f"the option {name} must be True or False, got {value!r}")
    return value


config = Config()


@contextmanager
def _override(name: str, value: Any) -> Iterator[None]:
    overrides = config.__dict__  # those of this thread
    outer = overrides.get(name, _NOT_OVERRIDDEN)
    overrides[name] = _checked(name, value)
    try:
        yield
    finally:
        if outer is _NOT_OVERRIDDEN:
            del overrides[name]
        else:
            overrides[name] = outer


_NOT_OVERRIDDEN = object()


def enable_x64(value: bool = True) -> AbstractContextManager[None]:
    """Keep 64-bit types in this thread, or don't, for the length of a `with` block.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, enable_x64
        >>> with enable_x64(True):
        ...     config.enable_x64
        True
    """
    return _override("enable_x64", value)


def debug_nans(value: bool = True) -> AbstractContextManager[None]:
    """Look for NaNs in this thread, or don't, for the length of a `with` block.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, debug_nans
        >>> with debug_nans(True):
        ...     config.debug_nans
        True
    """
    return _override("debug_nans", value)


def debug_infs(value: bool = True) -> AbstractContextManager[None]:
    """Look for infinities in this thread, or don't, for the length of a `with` block.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, debug_infs
        >>> with debug_infs(True):
        ...     config.debug_infs
        True
    """
    return _override("debug_infs", value)


def disable_jit(value: bool = True) -> AbstractContextManager[None]:
    """Run jitted functions as plain Python in this thread, for the length of a `with` block.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, disable_jit
        >>> with disable_jit():
        ...     config.disable_jit
        True
    """
    return _override("disable_jit", value)


def threefry_partitionable(value: bool = True) -> AbstractContextManager[None]:
    """Choose the order of random bits in this thread, for the length of a `with` block.

    Raises:
        TypeError: the value isn't a bool.

    Example:
        >>> from irax.config import config, threefry_partitionable
        >>> with threefry_partitionable(True):
        ...     config.threefry_partitionable
        True
    """
    return _override("threefry_partitionable", value)


def default_device(device: Any) -> AbstractContextManager[None]:
    """Run programs on another device in this thread, for the length of a `with` block.

    Programs whose arrays were put on a device (`device_put`) run there all the same.

    Args:
        device: one of `irax.devices()`, the name of a platform, or None for the first there is.

    Raises:
        TypeError: it is none of these.

    Example:
        >>> import irax
        >>> with default_device("cpu"):
        ...     irax.default_backend()
        'cpu'
    """
    return _override("default_device", device)
