"""Programs for all sizes that make way for ones of their own, for sizes that are called often.

Once the calls of a size have taken as long as compiling takes, another thread compiles the program
for that size, and calls run it from then on. So a program that is hardly called costs nothing, and
one that is called all the time soon runs as fast as if its sizes had been known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irax.config import config
from irax_runtime.device import Buffer, Device, Executable
from irax_runtime.interruptible import Begun

if TYPE_CHECKING:
    from irax_runtime.iree.sized import SizedExecutable

MOST = 8
"""The most sizes of a function that get programs of their own."""
LEAST = 0.5
"""The fewest seconds that calls of a size must have taken."""


@dataclass
class Specializations:
    """The programs of a function for sizes that are called often."""

    worth: float = LEAST
    """The seconds that calls must have taken: those that compiling took."""
    sizes: list[str] = field(default_factory=list)
    """The arguments whose sizes have programs of their own."""
    begun: int = 0
    """The number of programs that were, or are being, compiled."""
    now: Begun | None = None
    """The one that is being compiled."""

    def may_begin(self) -> bool:
        """Return True if another program may be compiled now."""
        is_at_work = self.now is not None and not self.now.is_done()
        return config.specialize_sizes and self.begun < MOST and not is_at_work


class Specialized:
    """A program for all sizes, for arguments of some, or the program for these sizes alone."""

    def __init__(
        self,
        general: SizedExecutable,
        compile: Callable[[], Executable],
        of: Specializations,
        sizes: str,
    ) -> None:
        """`compile` returns the program for these sizes alone; `sizes` says which these are."""
        self._general = general
        self._own: Executable | None = None
        self._compile: Callable[[], Executable] | None = compile
        self._of = of
        self._sizes = sizes
        self.name = general.name

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return self._general.device

    def __call__(self, arguments: Sequence[Buffer]) -> Sequence[Buffer]:
        """Run the program, once the arguments have been checked."""
        return (self._own or self._general)(arguments)

    def run(self, arguments: Sequence[Buffer], /) -> Sequence[Buffer]:
        """Run the program without checking the arguments."""
        if self._own is not None:
            return self._own.run(arguments)
        results = self._general.run(arguments)
        if self._compile is not None and self._general.seconds > self._of.worth:
            self._begin(self._compile)
        return results

    def _begin(self, compile: Callable[[], Executable]) -> None:
        if not self._of.may_begin():
            return
        self._compile = None
        self._of.begun += 1
        with suppress(RuntimeError):  # no more threads
            self._of.now = Begun(self._specialize, compile)

    def _specialize(self, compile: Callable[[], Executable]) -> None:
        self._own = compile()
        self._of.sizes.append(self._sizes)
