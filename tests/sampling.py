"""Tests that the default suite takes a sample of: IRAX_ALL_FORMS=1 runs all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

ALL_FORMS = bool(os.environ.get("IRAX_ALL_FORMS"))
all_forms = pytest.mark.skipif(not ALL_FORMS, reason="takes long: set IRAX_ALL_FORMS=1 to run it")


def sample(items: Sequence[T], every: int) -> Sequence[T]:
    """Return each of so many items; all of them in the whole suite."""
    return items if ALL_FORMS else items[::every]
