"""Internal modules of JAX, whose names stand elsewhere in irax.

Libraries import from `jax._src`, and pickles name the module that a function or class is of.
A module of this table has the names of the module of its place in `irax.compat`, if there is one,
and then those of the modules that stand beside it here.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import chain
from types import ModuleType
from typing import Any

from irax.compat import identities

_NUMPY = (
    "array_constructors array_creation array_methods einsum error index_tricks indexing lax_numpy "
    "polynomial reductions scalar_types setops sorting tensor_contractions ufunc_api ufuncs "
    "vectorize window_functions"
)
_LAX = (
    "ann control_flow control_flow.common control_flow.conditionals control_flow.loops "
    "control_flow.solves convolution eval_jaxpr fft lax other parallel scaled_dot slicing special "
    "utils windowed_reductions"
)
_RANDOM = "core philox2x32 philox4x32 prng rbg threefry2x32 threefry4x32"
_GENERATORS = ("irax.random", "irax.compat.jax._src.random.generators")
_CORE = ("irax.compat.jax._src.core", "irax.extend.core", "irax.sharding", "irax.ref", "irax")
_MESHES = (
    "irax.sharding",
    "irax.core.shardings.meshes",
    "irax.compat.jax.interpreters.pxla",
    "irax",
)
_EXPORT = ("irax.export", "irax.core.dimensions")
_SPARSE = ("irax.experimental.sparse", "irax.experimental.sparse.primitives")

HOMES: dict[str, tuple[str, ...]] = {
    **{f"jax._src.numpy.{name}": ("irax.numpy",) for name in _NUMPY.split()},
    **{f"jax._src.lax.{name}": ("irax.compat.jax.lax",) for name in _LAX.split()},
    **{f"jax._src.random.{name}": _GENERATORS for name in _RANDOM.split()},
    "jax._src.abstract_arrays": _CORE,
    "jax._src.ad_checkpoint": ("irax.ad_checkpoint", "irax.extend.core.primitives", "irax"),
    "jax._src.ad_util": (
        "irax.extend.core.primitives",
        "irax.custom_derivatives",
        "irax.compat.jax.custom_derivatives",
        "irax.compat.jax.interpreters.ad",
    ),
    "jax._src.api": (
        "irax",
        "irax.extend.backend",
        "irax.compat.jax.api_util",
        "irax.tree_util",
    ),
    "jax._src.array": ("irax",),
    "jax._src.basearray": ("irax", "irax.typing"),
    "jax._src.callback": ("irax", "irax.debug", "irax.compat.jax.interpreters.mlir"),
    "jax._src.config": ("irax.config", "irax"),
    "jax._src.core": (*_CORE, "irax.extend.core.primitives"),
    "jax._src.debugger": ("irax.debug",),
    "jax._src.debugger.core": ("irax.debug",),
    "jax._src.debugging": ("irax.debug", "irax.extend.core.primitives"),
    "jax._src.distributed": ("irax.distributed",),
    "jax._src.dtypes": ("irax.dtypes", "irax.compat.jax._src.numpy.util", "irax.numpy"),
    "jax._src.effects": (),
    "jax._src.environment_info": ("irax",),
    "jax._src.export": _EXPORT,
    "jax._src.export._export": _EXPORT,
    "jax._src.export.shape_poly": _EXPORT,
    "jax._src.image.scale": ("irax.image",),
    "jax._src.indexing": ("irax",),
    "jax._src.interpreters.partial_eval": (
        "irax.compat.jax.interpreters.partial_eval",
        "irax.ad_checkpoint",
        "irax.compat.jax._src.core",
    ),
    "jax._src.interpreters.pxla": ("irax.compat.jax.interpreters.pxla", "irax.extend.backend"),
    "jax._src.layout": ("irax.experimental.layout", "irax.core.shardings.layouts"),
    "jax._src.lib.xla_client": ("irax.compat.jaxlib.xla_client",),
    "jax._src.lib.xla_extension": ("irax.compat.jaxlib.xla_client",),
    "jax._src.lib._jax": ("irax.compat.jaxlib._jax",),
    "jax._src.lib.pytree": ("irax.compat.jaxlib._jax.pytree",),
    "jax._src.linear_util": ("irax.extend.linear_util", "irax.compat.jax._src.core"),
    "jax._src.mesh": _MESHES,
    "jax._src.mesh_utils": ("irax.experimental.mesh_utils",),
    "jax._src.named_sharding": ("irax.sharding",),
    "jax._src.nn.functions": ("irax.nn", "irax.numpy"),
    "jax._src.ops.scatter": ("irax.ops",),
    "jax._src.ops.special": ("irax.scipy.special",),
    "jax._src.partition_spec": ("irax.sharding",),
    "jax._src.pjit": ("irax.experimental.pjit", "irax.experimental.layout", "irax"),
    "jax._src.pmap": ("irax",),
    "jax._src.prng": ("irax.compat.jax._src.random.prng", "irax.random"),
    "jax._src.scipy.optimize.minimize": ("irax.scipy.optimize",),
    "jax._src.scipy.stats._core": ("irax.scipy.stats",),
    "jax._src.shard_map": ("irax",),
    "jax._src.sharding": ("irax.sharding",),
    "jax._src.sharding_impls": _MESHES,
    "jax._src.source_info_util": ("irax.extend.source_info_util",),
    "jax._src.stages": ("irax.stages",),
    "jax._src.state.discharge": ("irax.ref",),
    "jax._src.state.indexing": ("irax", "irax.ref"),
    "jax._src.state.primitives": ("irax.ref",),
    "jax._src.third_party.scipy.interpolate": ("irax.scipy.interpolate",),
    "jax._src.third_party.scipy.linalg": ("irax.scipy.linalg",),
    "jax._src.third_party.scipy.special": ("irax.scipy.special",),
    "jax._src.tpu.linalg.qdwh": ("irax.lax.linalg",),
    "jax._src.tree_util": ("irax.tree_util", "irax.tree"),
    "jax._src.typing": ("irax.typing", "irax"),
    "jax._src.xla_bridge": ("irax", "irax.extend.backend"),
    "jax.experimental.sparse._base": _SPARSE,
    "jax.experimental.sparse.ad": _SPARSE,
    "jax.experimental.sparse.api": _SPARSE,
    "jax.experimental.sparse.bcoo": _SPARSE,
    "jax.experimental.sparse.bcsr": _SPARSE,
    "jax.experimental.sparse.coo": _SPARSE,
    "jax.experimental.sparse.csr": _SPARSE,
    "jax.experimental.sparse.random": _SPARSE,
    "jax.experimental.sparse.transform": _SPARSE,
    "jax.experimental.sparse.util": _SPARSE,
    "jaxlib.xla_extension": ("irax.compat.jaxlib.xla_client",),
}
"""The modules of irax that have the names of an internal module of JAX."""
_PACKAGES = {
    ".".join(name.split(".")[:count]) for name in HOMES for count in range(2, name.count(".") + 1)
}


def is_package(name: str) -> bool:
    """Return True for a module that has internal modules below it."""
    return name in _PACKAGES


class Gathered(ModuleType):
    """A module that has the names of several: of the first that has a name."""

    def __init__(self, name: str, own: Any = None) -> None:
        """`own` is what has names of the module's before those of the table: a module, or None."""
        super().__init__(name, f"{name}: names that irax has in other modules.")
        self.__own = own

    def __homes(self) -> Iterator[Any]:
        if self.__own is not None:
            yield self.__own
        yield from map(importlib.import_module, HOMES.get(self.__name__, ()))

    def __getattr__(self, name: str) -> Any:
        is_special = name.startswith("__") and name.endswith("__")
        for home in () if is_special else self.__homes():
            if hasattr(home, name):
                setattr(self, name, getattr(home, name))
                return getattr(home, name)
        inner = f"{self.__name__}.{name}"
        if inner in HOMES or is_package(inner):
            return importlib.import_module(inner)
        told = identities.defined_as(inner)
        if told is not None:
            return told
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *chain.from_iterable(map(dir, self.__homes()))})
