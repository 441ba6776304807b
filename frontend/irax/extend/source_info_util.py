"""Lines of the user's source that operations come from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from irax.core import source
from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.source import SourceInfo as SourceInfo


def current() -> SourceInfo:
    """Return the user's line that is running."""
    return SourceInfo(source.user_line())


def current_name_stack() -> str:
    """Return the names of the `named_scope`s around the code that is running, with slashes.

    >>> import irax
    >>> with irax.named_scope("layer"):
    ...     irax.extend.source_info_util.current_name_stack()
    'layer'
    """
    return source.current_scope()


def new_source_info() -> SourceInfo:
    """Return the information that says nothing."""
    return SourceInfo()


def summarize(source_info: SourceInfo, num_frames: int = 1) -> str:
    """Return the line as text; irax keeps no more than one.

    Args:
        source_info: what `current` returned.
        num_frames: of no effect.
    """
    return source_info.line


def register_exclusion(path: str) -> None:
    """Accepted: irax leaves its own files out alone.

    Args:
        path: a file.
    """


@contextlib.contextmanager
def user_context(traceback: Any = None, **_: Any) -> Iterator[None]:
    """Run a `with` block as it is.

    Args:
        traceback: of no effect.
        _: of no effect.
    """
    yield


__getattr__: _GetAttr = _refuse_names(__name__)
