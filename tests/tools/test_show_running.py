"""`irax python --show`: the functions that a program jits, on one page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.tools.browser import needs_browser, started

import irax
import irax.numpy as jnp
from irax.config import config
from irax.execution.diagnostics import watched
from irax_tools.cli import main
from irax_tools.show import running

PROGRAM = """import sys
import jax
import jax.numpy as jnp

@jax.jit
def step(w):
    return w - 0.1 * jax.grad(lambda w: jnp.sum(jnp.tanh(w) ** 2))(w)

@jax.jit
def size(w):
    return jnp.sqrt(jnp.sum(w ** 2))

w = jnp.ones(3)
for _ in range(7):
    w = step(w)
print(sys.argv[1:], size(w) < 1)
{}["missing"]
"""


def pages_of(text: str) -> list[dict[str, Any]]:
    found = re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_calls_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @irax.jit
    def double(x: Any) -> Any:
        return 2 * x

    @irax.jit
    def twice(x: Any) -> Any:
        return double(double(x))

    twice(jnp.ones(2))  # its short way is not taken while it is watched
    with watched.programs() as calls:
        for _ in range(3):
            twice(jnp.ones(2))
        double(jnp.ones(5))
    assert not config.profiling
    twice(jnp.ones(2))
    assert {c.program.traced.name: c.count for c in calls.values()} == {"twice": 3, "double": 1}
    assert all(c.seconds > 0 for c in calls.values())

    path = tmp_path / "page.html"
    running.write(calls.values(), str(path), opens=False)
    assert capsys.readouterr().err == f"Wrote {path}\n"
    pages = pages_of(path.read_text())
    assert sorted(page["title"] for page in pages) == ["double", "twice"]
    for page in pages:
        assert page["called"]["count"] == {"twice": 3, "double": 1}[page["title"]]
        assert page["called"]["making"] > 0
        assert page["error"] == ""


@pytest.mark.parametrize("given", [["--show", "out.html"], ["-n", "3", "--show=out.html"]])
def test_an_option_after_the_program_is_the_programs(given: list[str], monkeypatch: Any) -> None:
    """It gets it, and a line says where irax's option stands."""
    ran: list[Any] = []
    monkeypatch.setattr("irax.compat.running.run", ran.append)
    done = CliRunner().invoke(main, ["python", "train.py", *given])
    assert ran == [("train.py", *given)]
    assert "write it before: irax python --show out.html ..." in done.stderr
    assert CliRunner().invoke(main, ["python", "train.py", "--show"]).stderr == ""


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["-W", "ignore"]], ids=["", "options of Python's"])
def test_a_program_and_its_page(tmp_path: Path, options: list[str]) -> None:
    """The program runs as without the option, its error included; each function has its page."""
    (tmp_path / "train.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "irax_tools.cli", "python", "--show", "out.html"]
    done = subprocess.run(
        [*command, *options, "train.py", "--show"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == "['--show'] True\n"
    assert 'train.py", line 17, in <module>' in done.stderr
    assert f"KeyError: 'missing'\nWrote {tmp_path / 'out.html'}\n" in done.stderr
    with started(tmp_path / "browser") as browser:
        browser.open(tmp_path / "out.html")
        rows = "[...document.querySelectorAll('#functions tbody tr')].map((r) => r.textContent)"
        shown = browser.wait(rows)
        assert len(shown) == 2
        place = next(i for i, row in enumerate(shown) if "size" in row)
        assert shown[place].endswith("sizetrain.py:16")
        browser.click(f"tr[data-function='{place}'] .jump")
        browser.wait("document.querySelector('#title')?.textContent === 'size'")
        browser.wait("document.querySelector('#stages.counted')")
        assert browser.errors == []
