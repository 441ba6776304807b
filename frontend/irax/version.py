"""The version of irax."""

import re
from importlib import metadata

try:
    __version__ = metadata.version("irax")
except metadata.PackageNotFoundError:  # run from its sources
    __version__ = "0.0.0"
_numbers = (*map(int, re.findall(r"(?<!\w)\d+", __version__.partition("+")[0])), 0, 0)
__version_info__: tuple[int, ...] = _numbers[:3]
