"""Values that are sums still to be taken along axes of a mesh.

Within a `shard_map` each device has its summand, a value that varies. An array outside is whole:
its sum is taken where it leaves, and one device gets all of it where it enters. Its type alone
tells that it is a sum to be taken (`sum_types.py`).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from irax.core.array import Array, ConcreteArray
from irax.core.dispatch import bind, staged
from irax.core.dtypes.promotion import apply, select
from irax.core.key_arrays import KeyArray
from irax.core.module_builder import ModuleBuilder
from irax.core.shardings import axis_names
from irax.core.shardings.pvary import pvary
from irax_compiler.ops import comparison
from irax_compiler.ops.collective import AllReduce, AxisIndex
from irax_compiler.ops.sums import Sums, mark


def summed(x: Array, axes: Collection[str]) -> Array:
    """Return the sum of the devices' summands along some axes, named as in the IR."""
    for axis in sorted(axes):
        op = AllReduce(axis, axis_names.size_of_text(axis), "add", (), invariant=True)
        x = bind(op, x, weak_type=x.aval.weak_type)
    return x


def summands(x: Array, axes: Collection[str]) -> Array:
    """Return summands of an array along some axes: all of it, and zeros elsewhere."""
    for axis in sorted(axes):
        place = bind(AxisIndex(axis, axis_names.size_of_text(axis)))
        is_first = apply(comparison.equal, place, np.int32(0), what="shard_map")
        nothing = pvary(ConcreteArray(np.zeros((), x.dtype), x.weak_type), {axis})
        x = select(is_first, pvary(x, {axis}), nothing, "shard_map")
    return x


def with_sums(x: Array, sums: Sums) -> Array:
    """Return a whole array whose type tells sums that are still to be taken: of a trace, by an
    operation that says so.
    """
    before = x.aval.sums
    if isinstance(x, KeyArray) or before == sums:
        return x

    def write(builder: ModuleBuilder) -> Array:
        builder.has_sums = True
        return bind(mark(sums, before), x, weak_type=x.weak_type)

    return staged(lambda: x.with_sums(sums) if isinstance(x, ConcreteArray) else x, write, [x])
