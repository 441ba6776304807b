"""Functions of generators of random bits, under the names that JAX's pickles of keys have.

What is made of such a pickle looks at the generator's name alone.
"""

from collections.abc import Callable
from typing import Any

from irax import random

_FUNCTIONS = {
    "_seed": random.key,
    "_split": random.split,
    "_random_bits": random.bits,
    "_fold_in": random.fold_in,
}


def __getattr__(name: str) -> Callable[..., Any]:
    for ending, function in _FUNCTIONS.items():
        if name.endswith(ending):
            return function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
