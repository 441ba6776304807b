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
import gzip
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

from irax.core import trace_events
from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.execution.memory_profile import device_memory_profile as device_memory_profile
from irax.execution.memory_profile import save_device_memory_profile as save_device_memory_profile
from irax_compiler import spans

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True)
class _Profile:
    """A profile that is being taken."""

    directory: Path
    is_for_perfetto: bool


_current: _Profile | None = None


def start_trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: None = None,
) -> None:
    """Begin to take a profile, which `stop_trace` writes to a directory.

    Args:
        log_dir: the directory. The file is `plugins/profile/<time>/<host>.trace.json.gz` in it,
            where TensorBoard looks for it.
        create_perfetto_link: not supported: open the file on https://ui.perfetto.dev.
        create_perfetto_trace: write the profile as `perfetto_trace.json.gz` beside it, too.
        profiler_options: not supported.

    Raises:
        RuntimeError: a profile is being taken already.
        NotImplementedError: an argument is not supported.

    >>> import tempfile
    >>> irax.profiler.start_trace(tempfile.mkdtemp())
    >>> x = irax.jit(lambda x: x + 1)(1.0)
    >>> irax.profiler.stop_trace()
    """
    if create_perfetto_link or profiler_options is not None:
        name = "create_perfetto_link" if create_perfetto_link else "profiler_options"
        raise NotImplementedError(
            f"profiler.start_trace: the argument {name!r} is not supported: open the file that "
            "stop_trace writes on https://ui.perfetto.dev"
        )
    global _current
    if _current is not None:
        raise RuntimeError(
            f"profiler.start_trace: a profile is being taken already, for {_current.directory}: "
            "only one may be at a time"
        )
    _current = _Profile(Path(log_dir), create_perfetto_trace)
    trace_events.start()


def stop_trace() -> None:
    """Stop taking a profile, and write it.

    Raises:
        RuntimeError: no profile is being taken.
    """
    global _current
    profile, _current = _current, None
    if profile is None:
        raise RuntimeError("profiler.stop_trace: no profile is being taken: call start_trace first")
    moment = time.strftime("%Y_%m_%d_%H_%M_%S")
    folder = profile.directory / "plugins" / "profile" / moment
    written = {"displayTimeUnit": "ms", "traceEvents": trace_events.stop()}
    content = gzip.compress(json.dumps(written).encode())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{platform.node()}.trace.json.gz").write_bytes(content)
    if profile.is_for_perfetto:
        (folder / "perfetto_trace.json.gz").write_bytes(content)


@contextmanager
def trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: None = None,
) -> Iterator[None]:
    """Take a profile of a `with` block: see `start_trace`.

    Args:
        log_dir: the folder that the profile is written to.
        create_perfetto_link: not supported.
        create_perfetto_trace: write the profile as `perfetto_trace.json.gz` beside it, too.
        profiler_options: not supported.

    Raises:
        RuntimeError: a profile is being taken already.
        NotImplementedError: an argument is not supported.

    >>> with irax.profiler.trace("/tmp/irax-profile"):
    ...     y = irax.jit(jnp.sin)(1.0).block_until_ready()
    """
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


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


class StepTraceAnnotation(TraceAnnotation):
    """A span of a step of training, which `step_num` numbers.

    >>> with irax.profiler.StepTraceAnnotation("train", step_num=3):
    ...     x = jnp.ones(3)
    """


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


__getattr__: _GetAttr = _refuse_names(__name__)
