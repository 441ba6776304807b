"""docs/devices.md says which op runs where: all rows with IRAX_ALL_FORMS=1, else a few."""

from tests.differential import device_table
from tests.sampling import ALL_FORMS


def test_the_table_is_up_to_date() -> None:
    message = "docs/devices.md is out of date: run `make docs`"
    page = device_table.on_page()
    if ALL_FORMS:
        assert page == device_table.table(), message
    titles, _, *rest = page.splitlines()
    assert titles == device_table.head()[0], message
    rows = [line for line in rest if line.startswith("| `")]
    by_op = device_table.by_op()
    assert [line.split("`")[1] for line in rows] == list(by_op), message
    notes = device_table.Notes(page)
    for (name, cases), line in list(zip(by_op.items(), rows, strict=True))[::40]:
        assert device_table.row(name, cases, notes) == line, message
