"""Options from the command line: `--irax_debug_nans=true`, or JAX's name, `--jax_debug_nans=true`.

absl does the reading, for programs that use it. A program calls `config.parse_flags_with_absl()`
when it is imported; `absl.app.run` then reads what flags it has besides.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Mapping
from typing import Any

Options = Mapping[str, Any]
"""The options by name, with what values they take."""

Update = Callable[[str, Any], None]
"""Sets an option."""

_PREFIXES = ("irax_", "jax_")


def _absl() -> tuple[Any, Any]:
    try:
        return importlib.import_module("absl.app"), importlib.import_module("absl.flags")
    except ImportError as error:
        raise ImportError(
            "options are read from the command line by absl: install absl-py"
        ) from error


def declare(update: Update, options: Options) -> None:
    """Declares a flag for each of the options. What they say is taken when absl has parsed them."""
    app, flags = _absl()
    for prefix, (name, choices) in itertools.product(_PREFIXES, options.items()):
        if prefix + name in flags.FLAGS:  # JAX is in this process too, or this was called before
            continue
        text = f"the option {name} of irax"
        if choices is bool:
            flags.DEFINE_bool(prefix + name, None, text)
        elif choices is str:
            flags.DEFINE_string(prefix + name, None, text)
        else:
            flags.DEFINE_enum(prefix + name, None, [c for c in choices if c is not None], text)
    app.call_after_init(lambda: _take(update, options, flags.FLAGS))


def parse(update: Update, options: Options) -> None:
    """Takes the options that the command line has before a `--`."""
    declare(update, options)
    flags = _absl()[1].FLAGS
    given = itertools.takewhile(lambda text: text != "--", sys.argv[1:])
    starts = tuple(f"--{no}{prefix}" for no in ("", "no") for prefix in _PREFIXES)
    flags(["irax", *(text for text in given if text.startswith(starts))], known_only=True)
    _take(update, options, flags)


def _take(update: Update, options: Options, flags: Any) -> None:
    for prefix, name in itertools.product(_PREFIXES, options):
        value = flags[prefix + name].value
        # JAX's own flags have defaults; only what was given counts.
        if flags[prefix + name].present and value is not None:
            update(name, value)
