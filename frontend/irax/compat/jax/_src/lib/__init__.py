"""jax._src.lib: what is left of it, and the versions of jaxlib by which libraries branch."""

from typing import Any

from irax.compat.finder import told_version
from irax.compat.layers import GetAttr, modules_of

version_str = told_version()
version: tuple[int, ...] = tuple(int(part) for part in version_str.split("."))
jaxlib_extension_version = 505
"""The count of changes to jaxlib's extension modules, as of jaxlib 0.12.0.1."""
ifrt_version = 76
"""The count of changes to the interface of jaxlib's runtime, as of jaxlib 0.12.0.1."""
cuda_versions: Any = None

__getattr__: GetAttr = modules_of(__name__)
