"""jax._src.tree_util: jax.tree_util, and its registry to look at."""

from __future__ import annotations

from irax.tree_util import *  # noqa: F403
from irax.tree_util import is_tree_node


class _Registry:
    """The classes of containers, for `in`."""

    def __contains__(self, cls: object) -> bool:
        return isinstance(cls, type) and is_tree_node(cls)


_registry = _Registry()
