"""Writes which tests take the processor's time: `make test DURATIONS=FILE`.

Seconds are those of a process with its threads and children: a busy machine changes them little.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = 200
"""The number of the most expensive tests that the table names."""
SHOWN = 0.01
"""The fewest seconds that the table shows."""


def processor_seconds() -> float:
    """The time that processors have spent on this process, and on those it has waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def table(seconds: dict[str, float], processes: list[dict[str, float]]) -> str:
    """The table of what tests and processes took; tests have the names that pytest gives them."""
    spent = [sum(p.values()) for p in processes]
    lines = [f"{sum(spent):9.2f}  everything, in {len(spent)} processes"]
    for stage in processes[0]:
        lines.append(f"{sum(p[stage] for p in processes):9.2f}  {stage}")
    files = {name: name.partition("::")[0] for name in seconds}
    for title, key, count in [
        ("folders", lambda name: os.path.dirname(files[name]), None),
        ("files", files.__getitem__, None),
        ("functions", lambda name: name.partition("[")[0], TESTS),
        ("tests", lambda name: name, TESTS),
    ]:
        total: Counter[str] = Counter()
        for name, taken in seconds.items():
            total[key(name)] += taken
        lines.append(f"\n{title}")
        most = total.most_common(count)
        lines += [f"{taken:9.2f}  {name}" for name, taken in most if taken >= SHOWN]
    return "\n".join(lines) + "\n"


class Durations:
    """Measures tests in the process that runs them, and collects what others measured."""

    def __init__(self, path: Path):
        self.path = path
        self.last = 0.0
        self.own = {"until tests are collected": 0.0, "tests": 0.0}
        self.seconds: dict[str, float] = {}
        self.processes: list[dict[str, float]] = []

    def pytest_collection_finish(self) -> None:
        self.last = self.own["until tests are collected"] = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report = yield
        now = processor_seconds()
        report.processor_seconds = now - self.last
        self.own["tests"] += now - self.last
        self.last = now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = report.nodeid
        taken = getattr(report, "processor_seconds", 0.0)  # a process that ended measured nothing
        self.seconds[name] = self.seconds.get(name, 0.0) + taken

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if output := getattr(node, "workeroutput", None):
            self.processes.append(output["durations"])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["durations"] = self.own
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(table(self.seconds, self.processes or [self.own]), "utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--durations-table", metavar="FILE", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    if (path := config.getoption("durations_table")) is not None:
        config.pluginmanager.register(Durations(config.rootpath / path), "processor durations")
