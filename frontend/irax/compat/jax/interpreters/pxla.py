"""jax.interpreters.pxla: meshes, as older programs import them."""

from __future__ import annotations

import numpy as np

from irax.config import config
from irax.sharding import Mesh as Mesh


class ResourceEnv:
    """The mesh of the innermost block `with mesh:`."""

    @property
    def physical_mesh(self) -> Mesh:
        """The mesh of the block; outside of one it has no axes."""
        return config.entered_mesh or config.mesh or Mesh(np.empty((), object), ())

    @property
    def empty(self) -> bool:
        """True outside of such a block."""
        return self.physical_mesh.empty


class ThreadResources:
    """The blocks that this thread is in."""

    env: ResourceEnv = ResourceEnv()


thread_resources: ThreadResources = ThreadResources()
