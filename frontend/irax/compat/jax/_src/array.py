"""jax._src.array: arrays that have their elements."""

from irax.core.array import ConcreteArray as ArrayImpl
from irax.core.shardings.sharded import Shard as Shard
from irax.numpy.array_methods import _reconstruct_array as _reconstruct_array

Shape = tuple[int, ...]
Index = tuple[slice, ...]

__all__ = ["ArrayImpl", "Index", "Shape", "Shard"]
