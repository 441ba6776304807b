"""jax.ref: mutable arrays, of which irax has none."""

from typing import Any, NoReturn


class Ref:
    """A mutable array: the class of no object, for `isinstance`."""


class AbstractRef:
    """The type of a mutable array."""


def new_ref(init_val: Any, **_: Any) -> NoReturn:
    """Refuse: arrays never change.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        "new_ref: irax has no mutable arrays: use x.at[...], and the carries of loops"
    )
