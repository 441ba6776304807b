"""The options `transfer_guard...`, which log or forbid copies between the host and devices.

Copies by `device_put` and `device_get` are explicit, others are not. Elements that enter a trace,
and become part of its program, are not copied by themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from irax import errors
from irax.config import config
from irax.core import source
from irax.core.innermost import innermost


@contextmanager
def explicit() -> Iterator[None]:
    """In a `with` block, copies are those that the user asks for."""
    if config.guards_transfers:
        with config.scoped("transfers_are_explicit", True):
            yield
    else:
        yield


def check_operand(x: Any, what: str) -> None:
    """Log or forbid a copy to the device of an operand that the user gave, as `check` does. What a
    function computes with beside that is no copy of the user's.
    """
    if config.guards_transfers and source.is_users(x):
        check("host_to_device", what)


def check_creation(name: str) -> None:
    """Log or forbid a new array, as `check` does, if the user called the function of this name."""
    if config.guards_transfers:
        called = source.called_frame()
        if called is not None and called.f_code.co_name == name:
            check("host_to_device", name)


def check(direction: str, what: Any) -> None:
    """Log or forbid a copy, as the option of its direction says: "host_to_device" and so on.

    Raises:
        JaxRuntimeError: it is forbidden; `what` is copied, for the message.
    """
    if not config.guards_transfers or innermost.trace is not None:
        return
    level = getattr(config, f"transfer_guard_{direction}") or "allow"
    if config.transfers_are_explicit and not level.endswith("_explicit"):
        return
    text = f"{direction.replace('_', '-')} transfer of {what} at {source.user_line()}"
    if level.startswith("disallow"):
        raise errors.JaxRuntimeError(
            f"disallowed {text}: irax.transfer_guard_{direction} is {level!r}; move it with "
            "irax.device_put or irax.device_get, or give an array that is there already"
        )
    if level.startswith("log"):
        logging.getLogger("irax").warning("%s", text)
