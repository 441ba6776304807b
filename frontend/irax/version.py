"""The version of irax."""

import re

from irax_compiler.versions import version

__version__ = version("irax") or "0.0.0"  # run from its sources
_numbers = (*map(int, re.findall(r"(?<!\w)\d+", __version__.partition("+")[0])), 0, 0)
__version_info__: tuple[int, ...] = _numbers[:3]
