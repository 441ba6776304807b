"""Traces of functions of shards, whose values Python may choose by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irax.core.innermost import innermost
from irax.core.tracing import Known, Trace
from irax_compiler import mlir
from irax_compiler.ops import lockstep
from irax_compiler.ops.control_flow.shard_map import Spec, part_of
from irax_compiler.ops.evaluation.evaluator import evaluate_value


def are_shards_at_once() -> bool:
    """Return True in a function of shards that is called outside of all traces."""
    trace = innermost.trace
    while trace is not None and trace.parent is not None:
        trace = trace.parent
    return isinstance(trace, ShardTrace)


class ShardTrace(Trace):
    """A function of shards of some arrays that is being traced."""

    def __init__(
        self,
        sizes: Mapping[str, int],
        arguments: Sequence[tuple[Known, Spec]],
        devices: Sequence[str],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Begin the trace, as any other.

        Args:
            sizes: the sizes of the axes that divide arrays, by name.
            arguments: the whole arrays, and their divisions.
            devices: the names of the devices.
            args: as of any trace.
            kwargs: as of any trace.
        """
        super().__init__(*args, **kwargs)
        self._sizes = sizes
        self._arguments = arguments
        self._devices = devices
        self._of_devices: dict[tuple[int, ...], dict[mlir.Value, np.ndarray]] = {}
        """The values that are known of each device, by its place."""

    def chosen_by(self, value: mlir.Value) -> np.ndarray | None:
        """Return the elements of a value that counts as the same on all devices, if the whole
        arrays are known.
        """
        if self._varying is None or self._varying.of(value):
            return None
        first, *others = (x for _, x in self._of_each_device(value))
        if first is None or any(x is None or x.tobytes() != first.tobytes() for x in others):
            return None
        return first

    def text(self, value: mlir.Value) -> str | None:
        """Return the elements of a value on each device, if the whole arrays are known."""
        if not are_shards_at_once() or self.parent is not None:
            return None
        names = "".join(f"{name}, " for name in self._sizes).rstrip()
        blocks = []
        for device, (place, x) in zip(self._devices, self._of_each_device(value), strict=False):
            if x is None:
                return None
            at = f"mesh coordinates ({names}) = {(*place.values(),)}"
            blocks.append(f"On {device} at {at}:\n{x}\n")
        return "\n".join(blocks)

    def _of_each_device(
        self, value: mlir.Value
    ) -> list[tuple[Mapping[str, int], np.ndarray | None]]:
        """The elements of a value on each device, by its place; None where they are not known."""
        pairs = zip(self.block.arguments, self._arguments, strict=False)  # captures come later
        wholes: dict[mlir.Value, tuple[Known, Spec]] = dict(pairs)

        def run(place: Mapping[str, int]) -> np.ndarray | None:
            def argument(value: mlir.Value) -> np.ndarray | None:
                if value not in wholes:
                    return self.known_argument(value)
                array, spec = wholes[value]
                elements = array.elements()
                if elements is None:
                    return None
                part = part_of(elements.shape, spec, place, self._sizes)
                return np.asarray(elements[part], order="C")

            known = self._of_devices.setdefault(tuple(place.values()), {})
            return evaluate_value(value, known, argument, self.builder.evaluator)

        return lockstep.for_each_device(self._sizes, run)
