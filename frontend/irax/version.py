"""The version of irax."""

from importlib import metadata

try:
    __version__ = metadata.version("irax")
except metadata.PackageNotFoundError:  # run from its sources
    __version__ = "0.0.0"
__version_info__: tuple[int, ...] = tuple(int(part) for part in __version__.split(".")[:3])
