"""docs/ops.md says what the code does."""

from tests.differential.ops_table import PATH, table


def test_the_table_is_up_to_date() -> None:
    assert PATH.read_text("utf-8") == table(), "docs/ops.md is out of date: run `make docs`"
