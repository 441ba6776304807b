"""Pickles of typed keys and their dtypes, in a form that JAX takes, and of JAX's own form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from irax.core.key_arrays import KeyArray
from irax.dtypes import KEY_TYPES, KeyType


def register(wrap_key_data: Callable[..., Any]) -> None:
    """Have keys pickled as their words and the name of their generator, from which the public
    function `wrap_key_data` makes them; and dtypes as those of keys.
    """

    def reduce(keys: KeyArray) -> Any:
        return partial(wrap_key_data, impl=keys.key_type.generator), (keys.data,)

    def reduce_type(dtype: KeyType) -> Any:
        words = np.zeros(dtype.words, np.uint32)
        return attrgetter("dtype"), (wrap_key_data(words, impl=dtype.generator),)

    _attach(KeyArray, reduce, _set_state)
    _attach(KeyType, reduce_type, _set_state_of_type)


def _attach(kind: Any, reduce: Callable[..., Any], set_state: Callable[..., Any]) -> None:
    kind.__reduce__, kind.__setstate__ = reduce, set_state


def _set_state(keys: KeyArray, state: dict[str, Any]) -> None:
    """Take what JAX pickles of keys: their words, and the functions of their generator."""
    KeyArray.__init__(keys, state["_base_array"], KEY_TYPES[state["_impl"].name])


def _set_state_of_type(dtype: KeyType, state: dict[str, Any]) -> None:
    vars(dtype).update(vars(KEY_TYPES[state["_impl"].name]))
