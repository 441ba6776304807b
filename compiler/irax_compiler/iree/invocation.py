"""A run of IREE's compiler in this process."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from irax_compiler import spans
from irax_compiler.iree import sessions
from irax_compiler.iree.pipelines import (
    ALL_PHASES,
    ALLOCATION,
    CONCURRENCY,
    MATERIALIZE,
    NOT_SETTLED,
    NOT_SOLVED,
    PIPELINES,
    SETTLE,
    WITHOUT_ITERATION,
    phases_after,
)

_PARTS = CONCURRENCY, ALLOCATION
_RUNS = 4
"""The number of times that passes are run which fail without a word."""


class CompileError(RuntimeError):
    """IREE could not compile a module. The message has its diagnostics, with source locations."""


@contextmanager
def invocation(module: bytes, flags: Sequence[str], use: str = "") -> Iterator[Invocation]:
    """IREE's compiler with a module in it, MLIR text or bytecode. Invocations of a `use` that has a
    name share a session, with the dialects that these load.

    Raises:
        CompileError: the module cannot be read; or, in the `with` block, compiled.
        ValueError: IREE does not know one of the flags.
    """
    from iree.compiler.api import Source

    with sessions.session(flags, use, len(module)) as session:
        inner = session.invocation()
        run = Invocation(session, inner, not sessions.uses_threads(use, len(module)))
        callback = _capture_errors(inner, run.errors, run.remarks)
        try:
            if not inner.parse_source(Source.wrap_buffer(session, _terminated(module))):
                raise run.failure()
            yield run
        finally:
            inner.close()
            del callback  # must live as long as the invocation


class Invocation:
    """A module that IREE's compiler has read, and the operations on it."""

    def __init__(self, session: Any, inner: Any, has_one_thread: bool) -> None:
        self._session = session
        self._inner = inner
        self._has_one_thread = has_one_thread
        self._verifies = True
        self.errors: list[str] = []
        self.remarks: list[str] = []

    def set_flags(self, *flags: str) -> None:
        """More of IREE's flags."""
        self._session.set_flags(*flags)

    def begin_after(self, phase: str) -> None:
        """Skips IREE's phases up to one, "input", "flow", "vm", ... Raises ValueError if there is
        none.
        """
        self._set_phase("From", phase)

    def end_with(self, phase: str) -> None:
        """Stops after one of IREE's phases. Raises ValueError if there is none."""
        self._set_phase("To", phase)

    def _set_phase(self, which: str, phase: str) -> None:
        phases_after(phase)
        if phase in _PARTS:
            return  # IREE begins no phase of its own after it
        _function(f"SetCompile{which}Phase", None, ctypes.c_char_p)(
            self._inner._inv_p, phase.encode()
        )

    def verify_passes(self, do: bool) -> None:
        """Verify the module after each of IREE's passes from now on, or do not."""
        self._verifies = do
        _function("SetVerifyIR", None, ctypes.c_bool)(self._inner._inv_p, do)

    def execute(self) -> None:
        """Compiles, as far as the phases say. Raises CompileError."""
        if not self._inner.execute():
            raise self.failure()

    def execute_phases(
        self,
        after: str = "",
        last: str = ALL_PHASES[-1],
        unverified: Collection[str] = (),
        pipelines: Mapping[str, str] = PIPELINES,
    ) -> None:
        """Compiles phase by phase, to the `last`; those up to `after` are skipped. Each is a span.

        It takes less time if another invocation runs the phases up to those of `AFRESH`. A phase in
        `pipelines` is a run of that pipeline; without one, the phase stream does its parts.

        The module is verified after each pass, but not in the phases `unverified`: what these leave
        is verified in the next one.

        Raises:
            CompileError: IREE refuses the module.
            ValueError: there is no such phase.
        """
        if after:
            self.begin_after(after)
        phases = phases_after(after)
        if not phases:
            self.execute()
        for phase in phases[: len(phases) - len(phases_after(last))]:
            with spans.span("phase", phase):
                self.verify_passes(phase not in unverified)
                if phase in pipelines:
                    self.run_pipeline(pipelines[phase])
                elif phase not in _PARTS:
                    self.end_with(phase)
                    self.execute()
            self.begin_after(phase)

    def run_pipeline(self, passes: str) -> None:
        """Run passes on the module. Raise CompileError where one fails.

        A pass that applies patterns for so many rounds and finds more to do, such as IREE's
        `iree-util-fold-globals` for large kernels, fails without a word. It goes on where it was,
        unless it cannot.
        """
        run = self._run_by_kept_manager if self._has_one_thread else self._run_once
        for _ in range(1 if MATERIALIZE in passes else _RUNS):
            if run(passes):
                return
            if self.errors:
                raise self.failure()
        raise self.failure(f"this IREE cannot run {passes}")

    def _run_once(self, passes: str) -> bool:
        run = _function("RunPassPipeline", ctypes.c_bool, ctypes.c_char_p)
        return run(self._inner._inv_p, passes.encode())

    def _run_by_kept_manager(self, passes: str) -> bool:
        """Run passes by a manager that the session keeps. With threads, it would have copies of
        passes, with the patterns of when it first ran.
        """
        module = _function("ExportStealModule", ctypes.c_void_p)(self._inner._inv_p)
        try:
            return self._session.managers.run(passes, module, self._verifies)
        finally:
            # IREE would verify the module again.
            set_verify = _function("SetVerifyIR", None, ctypes.c_bool)
            set_verify(self._inner._inv_p, False)
            _function("ImportStealModule", ctypes.c_bool, ctypes.c_void_p)(
                self._inner._inv_p, module
            )
            set_verify(self._inner._inv_p, self._verifies)

    def text(self) -> str:
        """The module as it is now, printed."""
        return _output(self._inner.output_ir).decode(errors="replace")

    def bytecode(self) -> bytes:
        """The module as it is now, as MLIR bytecode."""
        return _output(self._inner.output_ir_bytecode)

    def program(self) -> bytes:
        """The .vmfb, after the last phase. Raises CompileError where there is nothing in it."""
        try:
            return _output(self._inner.output_vm_bytecode)
        except ValueError as error:
            raise self.failure(str(error)) from None

    def failure(self, *more: str) -> CompileError:
        """Return an error with the first line of each diagnostic: IREE appends whole modules to
        some.
        """
        lines = dict.fromkeys(
            text.strip().partition("\n")[0][:400] for text in (*self.errors, *more)
        )
        shown = "\n".join(f"  {line}" for line in [*lines][:8])
        return CompileError(f"IREE could not compile the module:\n{shown}")


def run_phases(
    module: bytes,
    flags: Sequence[str],
    after: str,
    last: str,
    *,
    unverified: Collection[str] = (),
    pipelines: Mapping[str, str] = PIPELINES,
    use: str = "",
) -> bytes:
    """Return a module as it is after IREE's phases up to the `last`, of those that follow `after`.
    Where passes that IREE repeats come to no end, they are run twice. Where a pass finds too much
    to simplify in kernels, that is done before.

    Raises:
        CompileError: IREE refuses the module.
    """
    try:
        with invocation(module, flags, use) as run:
            run.execute_phases(after, last, unverified, pipelines)
            return run.bytecode()
    except CompileError as error:
        others = {**pipelines, **_cure(str(error), pipelines)}
        if others == pipelines:
            raise
    return run_phases(module, flags, after, last, unverified=unverified, pipelines=others, use=use)


def _cure(error: str, pipelines: Mapping[str, str]) -> Mapping[str, str]:
    """Return the pipelines that do without what an error is about; none where nothing is known."""
    if any(x in error for x in (NOT_SETTLED, NOT_SOLVED)):
        return WITHOUT_ITERATION
    sources = pipelines.get("executable-sources", "")
    if MATERIALIZE in error and MATERIALIZE in sources and SETTLE not in sources:
        return {"executable-sources": f"{SETTLE},{sources}"}
    return {}


def _terminated(module: bytes) -> bytes:
    """Text ends with a zero byte for IREE's parser; bytecode knows its own length."""
    return module if module.startswith(b"ML\xefR") else module + b"\0"


def _output(write: Any) -> bytes:
    from iree.compiler.api import Output

    output = Output.open_membuffer()
    try:
        write(output)
        return bytes(output.map_memory())
    finally:
        output.close()


@functools.cache
def _function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of an invocation in IREE's C interface for which the bindings have no call."""
    from iree.compiler.api import ctypes_dl

    function = getattr(ctypes_dl._dylib, f"ireeCompilerInvocation{name}")
    function.restype, function.argtypes = result, [ctypes.c_void_p, *arguments]
    return function


def _capture_errors(inner: Any, errors: list[str], remarks: list[str]) -> Any:
    """Collects errors and remarks, instead of having them printed."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    error_severity, remark_severity = 2, 3

    @kind
    def callback(severity: int, text: int, size: int, user_data: int) -> None:
        if severity == error_severity:
            errors.append(ctypes.string_at(text, size).decode(errors="replace"))
        elif severity == remark_severity:
            remarks.append(ctypes.string_at(text, size).decode(errors="replace"))

    enable = _function("EnableCallbackDiagnostics", None, ctypes.c_int, kind, ctypes.c_void_p)
    enable(inner._inv_p, 0, callback, None)
    return callback
