"""Which tests run: samples, rooms, and the table of what they take."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests import durations
from tests.rooms import belongs
from tests.sampling import covering

from irax_compiler.passes import by_name

TESTS = Path(__file__).parent


def named(*parts: list[str]) -> list[SimpleNamespace]:
    """Cases of a test with these values of each `parametrize`."""
    ids = [[]]
    for part in parts:
        ids = [[*before, value] for before in ids for value in part]
    return [SimpleNamespace(nodeid=f"test[{i}]", callspec=SimpleNamespace(_idlist=i)) for i in ids]


def test_a_sample_has_all_values() -> None:
    cases = named(list("abcdefgh"), list("wxyz"), list("mno"))
    chosen = covering(cases, 8)
    assert len(chosen) == 8
    assert chosen == covering(cases[::-1], 8)
    for values in zip(*(case.callspec._idlist for case in chosen), strict=True):
        assert set(values) in ({*"abcdefgh"}, {*"wxyz"}, {*"mno"})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(7))
def test_cases_outside_the_sample_are_slow(request, number) -> None:
    function = request.node.nodeid.partition("[")[0]
    cases = [i for i in request.session.items if i.nodeid.startswith(f"{function}[")]
    assert sum(i.get_closest_marker("slow") is None for i in cases) <= 3


@pytest.mark.parametrize(
    "path, room, is_of_it",
    [
        ("compiler/kernels/test_reductions.py", "reductions", True),
        ("differential/kernels/test_chains.py", "reductions", True),
        ("differential/kernels/test_lapack.py", "reductions", False),
        ("differential/sizes/test_sized_loops.py", "sized", True),
        ("frontend/meshes/test_pmap.py", "meshes", True),
        ("frontend/nn/test_image.py", "meshes", False),
        ("golden/test_golden.py", "partial_sums", True),
        ("golden/test_golden.py", "partial-sums", True),
        ("golden/test_golden.py", "no-pass", False),
    ],
)
def test_tests_of_a_room(path: str, room: str, is_of_it: bool) -> None:
    assert belongs(TESTS / path, room) is is_of_it


def test_every_pass_has_tests_of_its_name() -> None:
    files = list(TESTS.rglob("test_*.py"))
    assert [p for p in by_name() if not any(belongs(f, p) for f in files)] == []


def test_the_table_of_durations() -> None:
    seconds = {"tests/a/test_x.py::test_f[1]": 2.0, "tests/a/test_x.py::test_f[2]": 1.0}
    text = durations.table({**seconds, "tests/b.py::test_g": 0.001}, [{"tests": 4.0}] * 2)
    lines = text.splitlines()
    assert lines[:2] == ["     8.00  everything, in 2 processes", "     8.00  tests"]
    assert "     3.00  tests/a/test_x.py::test_f" in lines
    assert lines.index("     2.00  tests/a/test_x.py::test_f[1]") > lines.index("tests")
    assert "test_g" not in text
