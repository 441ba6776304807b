"""The tutorials as notebooks: they are what their pages are, and run in Jupyter."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from website import notebooks

Cell = dict[str, Any]


def cells(tutorial: str) -> list[Cell]:
    return json.loads(notebooks.notebook(tutorial))["cells"]


def printed(cell: Cell) -> str:
    """The text that a cell writes to standard output."""
    found = [x for x in cell.get("outputs", []) if x.get("name") == "stdout"]
    return "".join("".join(output["text"]) for output in found)


@pytest.mark.parametrize("tutorial", notebooks.TUTORIALS)
def test_notebooks_have_the_code_of_their_pages(tutorial: str) -> None:
    page = (notebooks.DOCS / "tutorials" / f"{tutorial}.md").read_text("utf-8")
    code = ["".join(cell["source"]) for cell in cells(tutorial) if cell["cell_type"] == "code"]
    blocks = re.findall(r"^```(?:python|py|sh|mlir)\n(.*?)\n```", page, re.DOTALL | re.MULTILINE)
    assert [re.sub(r"\A%%.*\n", "", text) for text in code] == blocks
    outputs = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert [text for cell in cells(tutorial) if (text := printed(cell))] == outputs


def test_commands_and_files_have_magics() -> None:
    kinds = {c["source"][0].split()[0] for c in cells("modules") if c["cell_type"] == "code"}
    assert kinds == {"%%sh", "%%writefile"}


def test_pictures_are_in_the_notebook_and_links_are_text() -> None:
    (cell,) = (cell for cell in cells("loops") if "attachments" in cell)
    assert list(cell["attachments"]) == ["tutorial-loops.svg"]
    assert "](attachment:tutorial-loops.svg)" in "".join(cell["source"])
    text = "".join(line for cell in cells("training") for line in cell["source"])
    assert "(Pytrees and random numbers)" in text
    assert ".md)" not in text


@pytest.mark.slow
@pytest.mark.needs_system(
    "" if importlib.util.find_spec("nbclient") else "no Jupyter: `make site` installs it"
)
@pytest.mark.parametrize("tutorial", notebooks.TUTORIALS)
def test_notebooks_run_in_jupyter(
    tutorial: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbclient: Any = importlib.import_module("nbclient")
    nbformat: Any = importlib.import_module("nbformat")
    commands = Path(sys.executable).parent  # of the environment that Jupyter is started from
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")

    notebook = nbformat.reads(notebooks.notebook(tutorial), 4)
    nbformat.validate(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=resources
    )
    client.execute()
    for cell, expected in zip(notebook.cells, map(printed, cells(tutorial)), strict=True):
        if expected and "visualize" not in cell.source:  # Jupyter shows such drawings as HTML
            assert printed(cell) == expected, cell.source
