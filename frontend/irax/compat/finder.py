"""The import hook: modules of irax under JAX's names.

`jax.NAME` is `irax.compat.jax.NAME` where there is such a module, which has what is laid out in
JAX's own way, and the very module `irax.NAME` otherwise; or an object of that name, where irax has
an object for a module of JAX's (`jax.scipy.stats.norm`). `jaxlib` is `irax.compat.jaxlib`.
`jax._src.NAME` is `jax.NAME` unless there is an `irax.compat.jax._src.NAME`. A module that is
`ABSENT` stands for those below it, too. Internal modules whose names stand elsewhere are gathered
(`internals.py`), and classes say JAX's names (`identities.py`).
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from email.message import Message
from functools import cache
from importlib import metadata, util
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from irax.compat import identities, internals
from irax.core.settings import options
from irax.core.tracebacks import spell_names_by
from irax.errors import JaxRuntimeError
from irax.execution.callbacks import tell_errors_as

JAX_VERSION = "0.12.0.1"
"""The version of JAX whose interface irax has, which libraries ask for."""
VERSION_VARIABLE = "IRAX_JAX_VERSION"
"""The environment variable that sets another version."""

_NAMES = ("jax", "jaxlib")
_LAYOUT = "irax.compat"
_INTERNALS = "jax._src."
_WITH_JAX = ("jax.version", "jax.core", "jaxlib._jax", "jax._src.numpy.scalar_types")
"""Modules that `import jax` imports, in which libraries look for classes without an import."""


@cache
def home_of(name: str) -> str | None:
    """Return the name of what stands for a module of JAX in irax, if there is anything.

    >>> home_of("jax.numpy"), home_of("jax._src.core"), home_of("jax.tools")
    ('irax.numpy', 'irax.compat.jax._src.core', None)
    """
    if name in _NAMES:
        return f"{_LAYOUT}.{name}"
    above = home_of(name.rpartition(".")[0])
    if above is None or getattr(stands_at(above), "ABSENT", False):
        return above
    homes = (f"{_LAYOUT}.{name}", name.replace("jax", "irax", 1))
    found = next((home for home in homes if stands_at(home) is not None), None)
    if found is None and name.startswith(_INTERNALS):
        return home_of("jax." + name.removeprefix(_INTERNALS))
    return found


def _module(home: str) -> ModuleType | None:
    """Return the module of a name; None for none."""
    try:
        return None if util.find_spec(home) is None else importlib.import_module(home)
    except ModuleNotFoundError:  # its parent is not there, or is no package
        return None


def stands_at(home: str) -> Any:
    """Return the module of a name, or the object that irax has in place of one; None for none."""
    module = _module(home)
    if module is not None:
        return module
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
        found = stands_at(self._home)
        name = module.__name__
        if name.startswith("jax.numpy"):  # whose names libraries copy
            for public in dir(found):
                getattr(found, public)
            identities.name_after(found)
        # the import system returns what stands here, and leaves irax's module as it is
        sys.modules[name] = found
        if name == "jax":
            for other in _WITH_JAX:
                importlib.import_module(other)


class _Gathering(Loader):
    """A loader of internal modules, whose names stand in several modules of irax."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        own = _module(f"{_LAYOUT}.{spec.name}")
        if own is None and spec.name not in internals.HOMES:
            home = home_of(spec.name)
            own = None if home is None else stands_at(home)
        return internals.Gathered(spec.name, own)

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Named(SourceFileLoader):
    """A loader of a module of irax's whose classes say JAX's names."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        identities.apply(module)


class _Distribution(metadata.Distribution):
    """A package that irax stands for, as `importlib.metadata` describes packages."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def metadata(self) -> Any:
        message = Message()
        message["Metadata-Version"] = "2.1"
        message["Name"] = self._name
        message["Version"] = told_version()
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
        if fullname in identities.CLASSES or fullname in identities.PUBLIC:
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and type(spec.loader) is SourceFileLoader:
                spec.loader = _Named(fullname, spec.loader.path)
            return spec
        if fullname.partition(".")[0] not in _NAMES:
            return None
        if fullname in internals.HOMES:
            return ModuleSpec(fullname, _Gathering(), is_package=True)
        home = home_of(fullname)
        is_no_package = home is None or not hasattr(stands_at(home), "__path__")
        if is_no_package and internals.is_package(fullname):
            return ModuleSpec(fullname, _Gathering(), is_package=True)
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
_told: list[str] = [JAX_VERSION]


def told_version() -> str:
    """Return the version that `jax.__version__` tells.

    >>> told_version() == JAX_VERSION
    True
    """
    return _told[0]


_NAMES_OF_IRAX = re.compile(r"(?<![\w./])irax((?:\.\w+)+)")


def spelled(text: str) -> str:
    """Return a text with `jax.numpy.where` for `irax.numpy.where`: for names that are found under
    `jax`, once irax stands for it.
    """
    return _NAMES_OF_IRAX.sub(_spelled_name, text)


def _spelled_name(found: re.Match[str]) -> str:
    module, _, name = f"jax{found[1]}".rpartition(".")
    try:
        is_there = hasattr(importlib.import_module(module), name)
    except ImportError:
        is_there = False
    return f"jax{found[1]}" if is_there else found[0]


def error_of_device(error: Exception, what: str) -> JaxRuntimeError:
    """Return the error that JAX has for one of a callback: one of the device, with the class of the
    callback's and its message in the text.
    """
    text = "".join(traceback.format_exception_only(error)).rstrip()
    return JaxRuntimeError(f"INTERNAL: {what}: {text}")


def install(version: str | None = None) -> None:
    """Let `import jax` import irax, in this process, whether JAX is installed or not. Options are
    taken from JAX's environment variables (`JAX_ENABLE_X64`, `JAX_PLATFORMS`), too.

    Args:
        version: the version that `jax.__version__` tells libraries that choose by it. The default
            is that of the environment variable `IRAX_JAX_VERSION`, or the one that irax follows.

    Raises:
        ImportError: JAX itself has been imported already.
        ValueError: a variable has a value that its option has not, or the version is none.

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
    version = version or os.environ.get(VERSION_VARIABLE, JAX_VERSION)
    if not all(part.isdecimal() for part in version.split(".")):
        raise ValueError(f"irax.compat: a version of JAX is such as {JAX_VERSION}, got {version!r}")
    _told[0] = version
    options.take_jax_environment()
    identities.apply_to_loaded()
    spell_names_by(spelled)
    tell_errors_as(error_of_device)
    sys.meta_path.insert(0, _FINDER)
