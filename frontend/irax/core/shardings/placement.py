"""Parameters for the place of arguments and results: shardings, of one device each."""

from __future__ import annotations

from typing import Any

from irax import tree_util
from irax_runtime.device import Device


def device_of_shardings(what: str, *shardings: Any) -> Device | None:
    """Return the one device of pytrees of shardings and Nones; None if no leaf is a sharding.

    Raises:
        TypeError: a leaf has no `device_set`, as shardings have.
        NotImplementedError: there is more than one device in them.
    """
    devices: set[Device] = set()
    for leaf in tree_util.tree_leaves(shardings):
        if not hasattr(leaf, "device_set"):
            raise TypeError(
                f"{what}: expected a pytree of shardings and Nones, got {leaf!r} of type "
                f"{type(leaf).__name__} in it"
            )
        devices |= leaf.device_set
    if len(devices) > 1:
        raise NotImplementedError(
            f"{what}: shardings over {len(devices)} devices are not supported: an array is on one "
            "device"
        )
    return next(iter(devices), None)
