"""docs/targets.json is what the targets' pipelines say: a sample here, all of it by `make docs`."""

from __future__ import annotations

import json

import pytest
from tests.frontend import target_table
from tests.sampling import ALL_FORMS

STORED = json.loads(target_table.PATH.read_text("utf-8"))
REFUSED = [name for name, refused in STORED.items() if refused]
SAMPLE = target_table.names() if ALL_FORMS else [*target_table.names()[::70], *REFUSED[::12]]


def test_every_function_with_cases_is_in_it():
    assert list(STORED) == target_table.names(), "`make docs` writes it anew"


@pytest.mark.parametrize("name", SAMPLE)
def test_refusals_are_up_to_date(name):
    assert target_table.refusals(name) == STORED[name]
