"""The documents' numbers are those of the bits that JAX drew by default until 2024."""

from collections.abc import Iterator

import pytest

import irax


@pytest.fixture(scope="module", autouse=True)
def _bits_of_their_time() -> Iterator[None]:
    with irax.threefry_partitionable(False):
        yield
