"""A command that fails for a module, as a test of other modules."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from irax_tools.children import Ending, enough, run_command, with_file


class Test:
    """True for the text of a module for which a command fails as it did for the first one."""

    def __init__(
        self,
        command: Sequence[str],
        limit: float,
        match: str | None = None,
        slower: float | None = None,
    ) -> None:
        """Raises UsageError for a `match` that is no regular expression."""
        self._command = command
        self._limit = limit
        try:
            self._match = None if match is None else re.compile(match)
        except re.error as error:
            raise click.UsageError(
                f"--match {match!r}: not a regular expression: {error}"
            ) from None
        self._slower = slower
        self._how = ""

    def begin(self, text: str) -> str | None:
        """Run the command for the first module; return why it does not fail, or None if it does."""
        ending = self.run(text)
        self._how = ending.how
        if ending.how != "time" and self._slower is None:
            self._limit = enough(ending.seconds, self._limit)
        if self._fails(ending) and (ending.how != "exit code 0" or self._match or self._slower):
            return None
        if self._match is not None:
            return f"its output has no {self._match.pattern!r}: {ending.output.strip()[-300:]}"
        if self._slower is not None:
            return f"it takes {ending.seconds:.2f} s, {ending.how}"
        return f"{ending.how}; --match and --slower say what else is a failure"

    def __call__(self, text: str) -> bool:
        return self._fails(self.run(text))

    def _fails(self, ending: Ending) -> bool:
        if self._match is not None:
            return self._match.search(ending.output) is not None
        if self._slower is not None:
            return ending.seconds > self._slower and ending.how.startswith(("exit code", "time"))
        return ending.how == self._how

    def run(self, text: str) -> Ending:
        """Run the command for a module."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "candidate.mlir"
            file.write_text(text, "utf-8")
            return run_command(with_file(self._command, file), self._limit)
