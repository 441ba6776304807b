"""The environment, as a report of an error should state it: versions, devices, live arrays."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import Any

from irax.core.array import Array, ConcreteArray
from irax.execution import backend
from irax.version import __version__

_PACKAGES = ("iree-base-compiler", "iree-base-runtime", "numpy", "ml_dtypes", "optree")


def print_environment_info(return_string: bool = False) -> str | None:
    """Prints the versions of irax and what it stands on, and the devices.

    Args:
        return_string: return the text instead.

    >>> irax.print_environment_info(return_string=True).split(":")[0]
    'irax'
    """
    lines = [f"irax: {__version__}"]
    for package in _PACKAGES:
        try:
            lines.append(f"{package}: {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            lines.append(f"{package}: not installed")
    lines.append(f"python: {sys.version}")
    lines.append(f"platform: {platform.platform()}, {os.cpu_count()} processors")
    lines.append(f"devices: {backend.devices()}")
    lines += [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("IRAX_")]
    text = "\n".join(lines)
    if return_string:
        return text
    print(text)
    return None


def live_arrays(platform: str | None = None) -> list[Array]:
    """Return the arrays that Python still holds: all, or those on a platform's devices.

    Args:
        platform: the name of a platform; None for the arrays on all devices.

    >>> x = irax.numpy.ones(3)
    >>> any(y is x for y in irax.live_arrays())
    True
    """
    import gc

    found: list[Any] = [x for x in gc.get_objects() if type(x) is ConcreteArray]
    return [x for x in found if platform is None or x.device.platform == platform]
