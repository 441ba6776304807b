"""The import hook: modules of irax under JAX's names.

`jax.NAME` is `irax.compat.jax.NAME` where there is such a module, which has what is laid out in
JAX's own way, and the very module `irax.NAME` otherwise; or an object of that name, where irax has
an object for a module of JAX's (`jax.scipy.stats.norm`). `jaxlib` is `irax.compat.jaxlib`.
`jax._src.NAME` is `jax.NAME` unless there is an `irax.compat.jax._src.NAME`. A module that is
`ABSENT` stands for those below it, too.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from email.message import Message
from functools import cache
from importlib import metadata, util
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from irax.core import options

JAX_VERSION = "0.10.2"
"""The version of JAX whose interface irax has, which libraries ask for."""

_NAMES = ("jax", "jaxlib")
_LAYOUT = "irax.compat"
_INTERNALS = "jax._src."


@cache
def home_of(name: str) -> str | None:
    """Return the name of what stands for a module of JAX in irax, if there is anything.

    >>> home_of("jax.numpy"), home_of("jax._src.core"), home_of("jax.tools")
    ('irax.numpy', 'irax.compat.jax.core', None)
    """
    if name in _NAMES:
        return f"{_LAYOUT}.{name}"
    above = home_of(name.rpartition(".")[0])
    if above is None or getattr(_found(above), "ABSENT", False):
        return above
    homes = (f"{_LAYOUT}.{name}", name.replace("jax", "irax", 1))
    found = next((home for home in homes if _found(home) is not None), None)
    if found is None and name.startswith(_INTERNALS):
        return home_of("jax." + name.removeprefix(_INTERNALS))
    return found


def _found(home: str) -> Any:
    """Return the module of a name, or the object that irax has in place of one; None for none."""
    try:
        if util.find_spec(home) is not None:
            return importlib.import_module(home)
    except ModuleNotFoundError:  # its parent is not there, or is no package
        pass
    parent, _, last = home.rpartition(".")
    found = getattr(sys.modules.get(parent), last, None)
    is_function = callable(found) and not isinstance(found, type)
    return None if is_function else found


class _Alias(Loader):
    """A loader that gives a module of irax another name."""

    def __init__(self, home: str) -> None:
        self._home = home

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        found = _found(self._home)
        if module.__name__.startswith("jax.numpy"):  # whose names libraries copy
            for name in dir(found):
                getattr(found, name)
        # the import system returns what stands here, and leaves irax's module as it is
        sys.modules[module.__name__] = found


class _Distribution(metadata.Distribution):
    """A package that irax stands for, as `importlib.metadata` describes packages."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def metadata(self) -> Any:
        message = Message()
        message["Metadata-Version"] = "2.1"
        message["Name"] = self._name
        message["Version"] = JAX_VERSION
        return message

    def read_text(self, filename: str) -> str | None:
        return str(self.metadata) if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(f"{self._name} is irax here: it has no files of its own")


class _Finder(MetaPathFinder):
    """The finder of JAX's modules, and of its entry among the installed packages."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in _NAMES:
            return None
        home = home_of(fullname)
        if home is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: irax stands for JAX here, and has no such module",
                name=fullname,
            )
        return ModuleSpec(fullname, _Alias(home), is_package=True)

    def find_distributions(self, context: Any = None) -> Iterable[metadata.Distribution]:
        name = getattr(context, "name", None)
        return [_Distribution(n) for n in _NAMES if name is None or name.lower() == n]


_FINDER = _Finder()


def install() -> None:
    """Let `import jax` import irax, in this process, whether JAX is installed or not. Options are
    taken from JAX's environment variables (`JAX_ENABLE_X64`, `JAX_PLATFORMS`), too.

    Raises:
        ImportError: JAX itself has been imported already.
        ValueError: a variable has a value that its option has not.

    Example:
        >>> import irax.compat
        >>> irax.compat.install()  # doctest: +SKIP
        >>> import jax.numpy  # doctest: +SKIP
    """
    if _FINDER in sys.meta_path:
        return
    there = [name for name in _NAMES if name in sys.modules]
    if there:
        raise ImportError(
            f"irax.compat.install(): {' and '.join(there)} had been imported before. Call it first "
            "in the program, before libraries that import jax"
        )
    options.take_jax_environment()
    sys.meta_path.insert(0, _FINDER)
