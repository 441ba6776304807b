"""The search for plugins. Nothing is imported and nothing loaded: most packages of plugins would
import JAX, and a plugin takes a second and half a gigabyte.
"""

from __future__ import annotations

import glob
import importlib.util
import mmap
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from irax_runtime.pjrt.errors import PluginError
from irax_runtime.platforms import of_plugin

VARIABLE = "PJRT_NAMES_AND_LIBRARY_PATHS"
GROUPS = ("xla_plugins", "jax_plugins")
NAMESPACE = "jax_plugins"


@dataclass(frozen=True)
class Plugin:
    """A shared library with a PJRT client."""

    name: str
    path: str
    source: str
    """The place in which it was found."""

    def serves(self, platform: str) -> bool:
        """Return True if the plugin's name says that it is for a platform: `xla_cuda13` is for
        "cuda".
        """
        return platform == self.name or platform in re.findall("[a-z]+", self.name.lower())


def plugins() -> list[Plugin]:
    """All plugins there are: those that the environment names, then those of installed packages.

    Raises:
        PluginError: the environment variable is malformed.

    >>> [plugin.name for plugin in plugins() if plugin.serves("abacus")]
    []
    """
    found: dict[str, Plugin] = {}
    for plugin in (*_named(), *_of_entry_points(), *_of_namespace(), *_libtpu()):
        found.setdefault(plugin.path, plugin)
    return list(found.values())


def plugin_for(platform: str) -> Plugin:
    """The first plugin for what plugins call "cpu", "cuda", ...

    Raises:
        PluginError: there is none, or the environment variable is malformed.
    """
    found = plugins()
    for plugin in found:
        if plugin.serves(platform):
            return plugin
    there = ", ".join(plugin.name for plugin in found) or "none"
    package = of_plugin(platform).package
    remedy = f"pip install {package}, or name the file" if package else "name the file of one"
    raise PluginError(
        f"no PJRT plugin for {platform!r}; installed: {there}; {remedy}: {VARIABLE}={platform}:PATH"
    )


def _named() -> Iterator[Plugin]:
    for item in filter(None, os.environ.get(VARIABLE, "").split(",")):
        name, colon, path = item.partition(":")
        if not (name and colon and path):
            raise PluginError(f"{VARIABLE}: expected name:path,name:path,..., got {item!r}")
        yield Plugin(name, path, VARIABLE)


def _of_entry_points() -> Iterator[Plugin]:
    for group in GROUPS:
        for point in metadata.entry_points(group=group):
            if point.dist is None:
                continue
            for file in point.dist.files or ():
                path = str(point.dist.locate_file(file))
                if path.endswith(".so") and _has_api(path):
                    yield Plugin(point.name, path, point.dist.name)


def _of_namespace() -> Iterator[Plugin]:
    """Packages in the namespace package `jax_plugins` that have no entry point."""
    try:
        spec = importlib.util.find_spec(NAMESPACE)
    except (ImportError, ValueError):
        return
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*", "*.so"))):
            if _has_api(path):
                yield Plugin(Path(path).parent.name, path, NAMESPACE)


def _libtpu() -> Iterator[Plugin]:
    try:
        path = metadata.distribution("libtpu").locate_file("libtpu/libtpu.so")
    except metadata.PackageNotFoundError:
        return
    if os.path.isfile(str(path)):
        yield Plugin("tpu", str(path), "libtpu")


def _has_api(path: str) -> bool:
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(b"GetPjrtApi") >= 0
    except (OSError, ValueError):
        return False
