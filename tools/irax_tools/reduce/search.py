"""The search for the smallest module that fails, by delta debugging: edits are tried, many at once
at first, and those are kept after which the module still fails (A. Zeller and R. Hildebrandt,
Simplifying and isolating failure-inducing input, 2002).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

from irax_compiler import mlir
from irax_compiler.mlir import MLIRError, Module
from irax_tools.reduce import edits
from irax_tools.reduce.edits import Edit

Fails = Callable[[str], bool]
"""True for the text of a module that fails as the first one did."""

Size = tuple[int, ...]


def size_of(module: Module) -> Size:
    """The size of a module: modules are compared by their operations, then by the rest."""
    there = edits.operations(module)
    constants = [o for o in there if o.name == "stablehlo.constant"]
    functions = mlir.functions(module).values()
    boundary = sum(
        len(mlir.arguments(f)) + len(mlir.result_types(f)) for f in functions if f.regions[0].blocks
    )
    return (
        len(there) - len(constants),
        len(functions),
        len(constants) + boundary,
        sum(map(edits.complexity, constants)),
        edits.elements(module),
        len(mlir.text_of(module.operation)),
    )


class Search:
    """The smallest module that was found so far, and what was tried."""

    def __init__(
        self,
        module: Module,
        func: str,
        fails: Fails,
        seconds: float = float("inf"),
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`fails` is asked for at most so many `seconds`. `tell` gets a line about each step."""
        self.best = mlir.clone_module(module)
        mlir.make_public(mlir.functions(self.best)[func])  # passes remove private ones without use
        self.func = func
        self.size = size_of(self.best)
        self.tries = 0
        self._fails = fails
        self._end = time.monotonic() + seconds
        self._seen: set[str] = {mlir.text_of(self.best.operation)}
        self._tell = tell

    @property
    def is_over(self) -> bool:
        """True where there is no more time."""
        return time.monotonic() >= self._end

    def accept(self, edit: Edit) -> bool:
        """Try an edit; keep the module that it makes if it is smaller, verifies and still fails."""
        if self.is_over:
            return False
        changed = edit(mlir.clone_module(self.best))
        if changed is None or not _verifies(changed):
            return False
        text, size = mlir.text_of(changed.operation), size_of(changed)
        if size >= self.size or text in self._seen:
            return False
        self._seen.add(text)
        self.tries += 1
        if not self._fails(text):
            return False
        self.best, self.size = changed, size
        return True

    def run(self) -> Module:
        """Try all edits until none makes the module smaller, or there is no more time."""
        self.shorten()
        steps = (
            ("passes", self._fewer_words),
            ("results", self._fewer_results),
            ("operations", self._fewer_operations),
            ("regions", self._fewer_regions),
            ("constants", self._simpler_constants),
            ("shapes", self._smaller_shapes),
            ("arguments", self._fewer_arguments),
        )
        while not self.is_over:
            before = self.size
            for name, step in steps:
                size = self.size
                step()
                if self.size < size:
                    self._tell(f"{name}: {self.size[0]} operations, {self.tries} modules tried")
            if self.size == before:
                break
        return self.best

    def shorten(self) -> Module:
        """Find the shortest beginning of the function that fails, all calls inlined."""
        inlined = mlir.clone_module(self.best)
        if edits.passes("inline,symbol-dce")(inlined) is None:
            return self.best
        length = len(mlir.body(mlir.functions(inlined)[self.func]).operations)
        least, most = 0, length - 2
        while least < most:
            middle = (least + most) // 2
            cut = edits.returning(self.func, middle)(mlir.clone_module(inlined))
            if cut is not None and self._is_failing(cut):
                most = middle
            else:
                least = middle + 1
        return self.best

    def _is_failing(self, module: Module) -> bool:
        """Keep a module that fails, whatever its size: calls are longer when they are inlined."""
        text = mlir.text_of(module.operation)
        if self.is_over or not _verifies(module):
            return False
        self._seen.add(text)
        self.tries += 1
        if not self._fails(text):
            return False
        self.best, self.size = module, size_of(module)
        return True

    def _fewer_words(self) -> None:
        self.accept(edits.without_attributes(self.func))
        for text in edits.FEWER_WORDS:
            self.accept(edits.passes(text))

    def _fewer_results(self) -> None:
        def count() -> int:
            return len(mlir.result_types(mlir.functions(self.best)[self.func]))

        def leave_out(first: int, last: int) -> Edit:
            kept = {i for i in range(count()) if not first <= i < last}
            return edits.returning_only(self.func, kept)

        self._leave_out(count, leave_out, least=1)

    def _fewer_operations(self) -> None:
        def count() -> int:
            return len(edits.operations(self.best))

        for kinds in ("operand argument", "argument", "zero"):
            self._leave_out(
                count,
                lambda first, last, kinds=kinds: edits.without(
                    self.func, range(first, last), kinds
                ),
            )

    def _leave_out(
        self, count: Callable[[], int], edit: Callable[[int, int], Edit], least: int = 0
    ) -> None:
        """Leave out parts, from the last to the first: halves of them, then quarters, to one."""
        part = max(count() // 2, 1)
        while part and not self.is_over:
            last = count()
            while last > 0 and count() > least:
                first = max(last - part, 0)
                self.accept(edit(first, last))
                last = min(first, count())
            part //= 2

    def _fewer_regions(self) -> None:
        for number in reversed(range(len(edits.operations(self.best)))):
            for region, returns in itertools.product((1, 0), (False, True)):
                there = edits.operations(self.best)
                if number < len(there) and len(there[number].regions):
                    self.accept(edits.unwrapped(self.func, number, region, returns))

    def _simpler_constants(self) -> None:
        done: set[int] = set()
        for number, contents in list(edits.simpler_constants(self.best)):
            if number not in done and self.accept(edits.with_constant(number, contents)):
                done.add(number)

    def _smaller_shapes(self) -> None:
        for size in edits.sizes(mlir.text_of(self.best.operation)):
            for smaller in sorted({1, 2, 3, size // 2, size - 1} - {0}):
                if smaller < size and any(
                    self.accept(edits.with_size(size, smaller, everywhere))
                    for everywhere in (True, False)
                ):
                    break

    def _fewer_arguments(self) -> None:
        self.accept(edits.without_unused_arguments(self.func))


def _verifies(module: Module) -> bool:
    try:
        return bool(module.operation.verify())
    except MLIRError:
        return False
