"""jax.interpreters.pxla: meshes, as older programs import them."""

from irax.sharding import Mesh as Mesh
