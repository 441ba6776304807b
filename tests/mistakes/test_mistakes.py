"""Wrong programs: irax says what is wrong, and the page beside JAX's words has all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mistakes.page import PAGE
from tests.mistakes.programs import MISTAKES
from tests.mistakes.saying import said


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.title)
def test_the_message_says_what_is_wrong(mistake):
    text = said(mistake.code, "irax")
    assert text is not None, "no error"
    assert [word for word in mistake.words if word not in text] == [], text
    assert len(text) < 800


def test_the_page_has_all():
    page = Path(PAGE).read_text("utf-8")
    assert [
        m.title for m in MISTAKES if f"\n## {m.title[0].upper()}{m.title[1:]}\n" not in page
    ] == []
    assert len(MISTAKES) >= 50
