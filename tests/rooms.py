"""The tests of a room, such as a pass or a folder of passes: `make test ROOM=reductions`.

They are found by the room's name: golden files in its folder or with it in their pipeline, files
`test_<room>*.py`, files in a folder of that name, such as `tests/frontend/meshes/`, those that
import it from a package, and those that say
`pytest.mark.room("reductions")`, such as a test that is named after what it compiles.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
PASSES = Path(__file__).parents[1] / "compiler/irax_compiler/passes"


def belongs(path: Path, room: str) -> bool:
    """True if a file has tests of the room."""
    if path.parent == GOLDEN:
        return any(is_golden(file, room) for file in GOLDEN.rglob("*.mlir"))
    name = re.escape(room.replace("-", "_"))
    if path.parent.name == room.replace("-", "_") or re.match(rf"test_{name}(_|\.)", path.name):
        return True
    imported = (
        rf"^\s*(from|import) irax\w*\.([\w.]+\.)?{name}\b"
        rf"|^\s*from irax_\w+(\.\w+)* import .*\b{name}\b"
    )
    marked = rf"\bmark\.room\([^)]*\"{name}\""
    return re.search(f"{imported}|{marked}", path.read_text("utf-8"), re.MULTILINE) is not None


def is_golden(file: Path, room: str) -> bool:
    """True if it is a golden file of the room, or of a pass in it."""
    names = [path.stem.replace("_", "-") for path in (Path(room), *(PASSES / room).glob("[!_]*"))]
    runs = rf"^// RUN: .*[\",]({'|'.join(map(re.escape, names))})[\",{{]"
    return file.parent.name in names or bool(re.search(runs, file.read_text("utf-8"), re.MULTILINE))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--room", help="run the tests of a room alone, such as those of a pass")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_test = collection_path.is_file() and collection_path.name.startswith("test_")
    if (room := config.getoption("room")) and is_test and not belongs(collection_path, room):
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if room := config.getoption("room"):
        items[:] = [item for item in items if item.path.parent != GOLDEN or _is_golden(item, room)]


def _is_golden(item: pytest.Item, room: str) -> bool:
    found = re.search(r"\[(.+\.mlir)\]", item.nodeid)
    return found is not None and is_golden(GOLDEN / found[1], room)
