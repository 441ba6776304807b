"""Profiles: what a program spends its time and its memory on.

    with irax.profiler.trace("/tmp/profile"):
        step(params).block_until_ready()

writes a file in Chrome's trace format, which https://ui.perfetto.dev and chrome://tracing open. It
has a span for each function that is traced, lowered (and for each pass of that) and compiled, for
each call of a jitted function, and for what the program annotates. Operations outside of jitted
functions have none.
"""

from __future__ import annotations

import functools
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

from irax.core import trace_events
from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.execution.diagnostics.memory_profile import device_memory_profile as device_memory_profile
from irax.execution.diagnostics.memory_profile import (
    save_device_memory_profile as save_device_memory_profile,
)
from irax.execution.diagnostics.profile_server import ProfilerServer as _ProfilerServer
from irax.execution.diagnostics.profiles import ProfileData as ProfileData
from irax.execution.diagnostics.profiles import ProfileEvent as ProfileEvent
from irax.execution.diagnostics.profiles import ProfileLine as ProfileLine
from irax.execution.diagnostics.profiles import ProfileOptions as ProfileOptions
from irax.execution.diagnostics.profiles import ProfilePlane as ProfilePlane
from irax_compiler import spans
from irax_runtime.distributed import note_step as _note_step

_P = ParamSpec("_P")
_R = TypeVar("_R")


class ProfileSession:
    """A profile that is taken from `start` to `stop`, or during a `with` block.

    Args:
        log_dir: the directory that it is written to; None to keep it in memory alone.
        create_perfetto_link: not supported: open the file on https://ui.perfetto.dev.
        create_perfetto_trace: write the profile as `perfetto_trace.json.gz` beside it, too.
        profiler_options: what the profile has.

    Raises:
        NotImplementedError: `create_perfetto_link` is True.

    >>> with irax.profiler.ProfileSession() as session:
    ...     y = irax.jit(jnp.sin)(1.0).block_until_ready()
    >>> [plane.name for plane in session.profile_data.planes]
    ['/host:CPU']
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        create_perfetto_link: bool = False,
        create_perfetto_trace: bool = False,
        profiler_options: ProfileOptions | None = None,
    ) -> None:
        _check_link(create_perfetto_link)
        self._directory = None if log_dir is None else Path(log_dir)
        self._is_for_perfetto = create_perfetto_trace
        self._options = profiler_options or ProfileOptions()
        self.profile_data: ProfileData | None = None
        """The profile, once it was taken."""

    @property
    def is_running(self) -> bool:
        """True while the profile is being taken."""
        return _current is self

    def start(self) -> None:
        """Begin to take the profile.

        Raises:
            RuntimeError: a profile is being taken already.
        """
        global _current
        if _current is not None:
            place = _current._directory or "memory"
            raise RuntimeError(
                f"profiler.start_trace: a profile is being taken already, for {place}: "
                "only one may be at a time"
            )
        _current = self
        trace_events.start()

    def stop(self) -> None:
        """Stop taking the profile, and write it.

        Raises:
            RuntimeError: it is not being taken.
        """
        global _current, _last
        if _current is not self:
            raise RuntimeError(
                "profiler.stop_trace: no profile is being taken: call start_trace first"
            )
        _current = None
        level = self._options.host_tracer_level
        events = trace_events.stop()
        if level < 2:
            events = [e for e in events if e["ph"] == "M" or (level and e["cat"] == "user")]
        self.profile_data = ProfileData(events)
        _last = self
        if self._directory is not None:
            self.export_profile_data(
                self._directory,
                create_perfetto_trace=self._is_for_perfetto,
                session_id=self._options.session_id or None,
            )

    def export_profile_data(
        self,
        log_dir: str | os.PathLike[str],
        create_perfetto_link: bool = False,
        create_perfetto_trace: bool = False,
        session_id: str | None = None,
    ) -> None:
        """Write the profile: see `irax.profiler.export_profile_data`."""
        export_profile_data(self, log_dir, create_perfetto_link, create_perfetto_trace, session_id)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _repr_html_(self) -> str | None:
        """As a notebook shows it: the table of its summary; None while it is being taken."""
        return None if self.profile_data is None else self.profile_data._repr_html_()


_current: ProfileSession | None = None
_last: ProfileSession | None = None
"""The last session whose profile was taken."""


def _check_link(create_perfetto_link: bool) -> None:
    if create_perfetto_link:
        raise NotImplementedError(
            "profiler: the argument 'create_perfetto_link' is not supported: open the file that "
            "stop_trace writes on https://ui.perfetto.dev"
        )


def export_profile_data(
    profile_data: ProfileData | ProfileSession,
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    session_id: str | None = None,
) -> None:
    """Write a profile that is in memory.

    Args:
        profile_data: the profile, or the session that took it.
        log_dir: the directory. The file is `plugins/profile/<time>/<host>.trace.json.gz` in it,
            where TensorBoard looks for it.
        create_perfetto_link: not supported.
        create_perfetto_trace: write `perfetto_trace.json.gz` beside it, too.
        session_id: the name of the folder, instead of the time.

    Raises:
        ValueError: the session has not taken its profile.
        NotImplementedError: `create_perfetto_link` is True.
    """
    _check_link(create_perfetto_link)
    if isinstance(profile_data, ProfileSession):
        found = profile_data.profile_data
        if found is None:
            raise ValueError("export_profile_data: the session has no profile yet: stop it first")
        profile_data = found
    moment = session_id or time.strftime("%Y_%m_%d_%H_%M_%S")
    folder = Path(log_dir) / "plugins" / "profile" / moment
    content = profile_data.content()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{platform.node()}.trace.json.gz").write_bytes(content)
    if create_perfetto_trace:
        (folder / "perfetto_trace.json.gz").write_bytes(content)


def start_trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: ProfileOptions | None = None,
) -> ProfileSession:
    """Begin to take a profile, which `stop_trace` writes to a directory.

    Args:
        log_dir: the directory. The file is `plugins/profile/<time>/<host>.trace.json.gz` in it,
            where TensorBoard looks for it.
        create_perfetto_link: not supported: open the file on https://ui.perfetto.dev.
        create_perfetto_trace: write the profile as `perfetto_trace.json.gz` beside it, too.
        profiler_options: what the profile has.

    Raises:
        RuntimeError: a profile is being taken already.
        NotImplementedError: `create_perfetto_link` is True.

    >>> import tempfile
    >>> session = irax.profiler.start_trace(tempfile.mkdtemp())
    >>> x = irax.jit(lambda x: x + 1)(1.0)
    >>> irax.profiler.stop_trace()
    """
    options = (create_perfetto_link, create_perfetto_trace, profiler_options)
    session = ProfileSession(log_dir, *options)
    session.start()
    return session


def stop_trace() -> None:
    """Stop taking a profile, and write it.

    Raises:
        RuntimeError: no profile is being taken.
    """
    (_current or ProfileSession()).stop()


@contextmanager
def trace(
    log_dir: str | os.PathLike[str] | None = None,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: ProfileOptions | None = None,
) -> Iterator[ProfileSession]:
    """Take a profile of a `with` block: see `start_trace`.

    Args:
        log_dir: the folder that the profile is written to; None to keep it in memory.
        create_perfetto_link: not supported.
        create_perfetto_trace: write the profile as `perfetto_trace.json.gz` beside it, too.
        profiler_options: what the profile has.

    Raises:
        RuntimeError: a profile is being taken already.
        NotImplementedError: `create_perfetto_link` is True.

    >>> with irax.profiler.trace() as session:
    ...     y = irax.jit(jnp.sin)(1.0).block_until_ready()
    >>> session.profile_data.find_plane_with_name("/host:CPU").name
    '/host:CPU'
    """
    options = (create_perfetto_link, create_perfetto_trace, profiler_options)
    with ProfileSession(log_dir, *options) as session:
        yield session


def summary(profile: ProfileSession | ProfileData | None = None, most: int = 20) -> str:
    """Return a table of what the time of a profile went to, the longest first.

    Args:
        profile: the profile, or the session that took it; None for the last that was taken.
        most: the most lines of it.

    Raises:
        ValueError: there is no profile.

    >>> with irax.profiler.trace():
    ...     y = irax.jit(lambda x: x + 1)(1.0).block_until_ready()
    >>> "execute" in irax.profiler.summary()
    True
    """
    profile = profile or _last
    data = profile.profile_data if isinstance(profile, ProfileSession) else profile
    if data is None:
        raise ValueError(
            "profiler.summary: no profile has been taken: use `with irax.profiler.trace():`"
        )
    return data.summary(most)


class TraceAnnotation(ContextDecorator):
    """A span of the program's own in a profile: the time that a `with` block takes.

    >>> with irax.profiler.TraceAnnotation("load", file="a.npz"):
    ...     x = jnp.ones(3)
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        """`kwargs` are shown with the span."""
        self._name, self._details = name, kwargs

    def __enter__(self) -> Self:
        self._begin = time.perf_counter_ns()
        return self

    def __exit__(self, *_: object) -> None:
        spans.add("user", self._name, self._begin, self._details)

    def set_metadata(self, **kwargs: Any) -> None:
        """Show more with the span, in its block."""
        self._details |= kwargs

    @staticmethod
    def is_enabled() -> bool:
        """Return True while a profile is being taken."""
        return _current is not None


class StepTraceAnnotation(TraceAnnotation):
    """A span of a step of training, which `step_num` numbers. If the step is the last one of a job
    of several processes, because one of these is lost, the message tells its number.

    >>> with irax.profiler.StepTraceAnnotation("train", step_num=3):
    ...     x = jnp.ones(3)
    """

    def __enter__(self) -> Self:
        step = self._details.get("step_num")
        if isinstance(step, Integral):
            _note_step(int(step))
        return super().__enter__()


def annotate_function(
    func: Callable[_P, _R], name: str | None = None, **decorator_kwargs: Any
) -> Callable[_P, _R]:
    """Return a function whose calls are spans in a profile.

    Args:
        func: the function.
        name: what the spans are called; by default the function's name.
        decorator_kwargs: shown with them.

    >>> irax.profiler.annotate_function(jnp.sin)(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    title = name or getattr(func, "__qualname__", None) or type(func).__name__

    @functools.wraps(func)
    def annotated(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with TraceAnnotation(title, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


_server: _ProfilerServer | None = None


def start_server(port: int, requires_backend: bool = True) -> _ProfilerServer:
    """Serve profiles of this process by HTTP: `GET /profile?duration_ms=1000` takes one; the
    answer is the file that `stop_trace` would write.

    Args:
        port: the port, of this machine alone; 0 for any that is free.
        requires_backend: of no effect.

    Raises:
        ValueError: there is a server already.
        OSError: the port is taken.

    >>> server = irax.profiler.start_server(0)
    >>> irax.profiler.stop_server()
    """
    global _server
    if _server is not None:
        raise ValueError(f"start_server: there is a server already, at port {_server.port}")
    _server = _ProfilerServer(port, _taken)
    return _server


def _taken(seconds: float) -> bytes:
    """Take a profile for some seconds, and return the content of its file."""
    session = ProfileSession()
    with session:
        time.sleep(seconds)
    assert session.profile_data is not None
    return session.profile_data.content()


def stop_server() -> None:
    """Stop the server.

    Raises:
        ValueError: there is none.
    """
    global _server
    if _server is None:
        raise ValueError("stop_server: there is no server: start_server starts one")
    _server.stop()
    _server = None


__getattr__: _GetAttr = _refuse_names(__name__)
