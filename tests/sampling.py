"""Tests that the default suite takes a sample of: IRAX_ALL_FORMS=1 runs all."""

from __future__ import annotations

import os

import pytest

ALL_FORMS = bool(os.environ.get("IRAX_ALL_FORMS"))
all_forms = pytest.mark.skipif(not ALL_FORMS, reason="takes long: set IRAX_ALL_FORMS=1 to run it")
