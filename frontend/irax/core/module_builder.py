"""Modules under construction, which traces add functions to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from irax import errors
from irax.core.copies import OfThisProcess
from irax.core.shardings.meshes import Mesh
from irax_compiler import mlir
from irax_compiler.ops.control_flow.custom_rules import OutsideValue
from irax_compiler.ops.evaluation.evaluator import Evaluator


class ModuleBuilder(OfThisProcess):
    """A module that traces add functions to. Nested traces share the one of the outermost."""

    def __init__(self, module: mlir.Module | None = None) -> None:
        self.module = mlir.new_module() if module is None else module
        self._imported: dict[tuple[int, str], tuple[ModuleBuilder, dict[str, str]]] = {}
        self._counts: dict[str, int] = {}
        """The numbers after names that many functions have in common: lower ones are taken."""
        self.kept: list[Any] = []
        """Python objects that the module refers to and must keep alive: functions that it calls
        back."""
        self.jitted: dict[Any, tuple[dict[Any, Any], Any, Any]] | None = None
        """While a jitted function is traced into a module of its own: those that it calls, and that
        were traced for it. Nobody else may see them before the module is complete."""
        self.place: Any = None
        """The mesh or the device that the program is for, where it names one."""
        self.has_memories = False
        """True if values of the program may be in another memory than the default one."""
        self.has_sums = False
        """True if types of the program's values may tell sums that are still to be taken."""
        self.evaluator = Evaluator(self.module)

    def unique_name(self, name: str) -> str:
        """`name`, or `name_1`, ... if there is such a function already."""
        found = mlir.unique_name(self.module, name, self._counts.get(name, 0))
        if found != name:
            self._counts[name] = int(found.rpartition("_")[2])
        return found

    def import_function(self, other: ModuleBuilder, name: str) -> str:
        """Copies a function of another module, and those it calls, here; each only once.

        Returns its name here.
        """
        if other is self:
            return name
        key = (id(other), name)
        if key not in self._imported:
            names = mlir.copy_functions(other.module, name, self.module)
            self.name_place(other.place)
            self.has_memories |= other.has_memories
            self.has_sums |= other.has_sums
            self._imported[key] = (other, names)
        return self._imported[key][1][name]

    def name_place(self, place: Any) -> None:
        """Note a mesh, or a device, that the program is for; of several meshes of the same devices
        it is the last. None says nothing.

        Raises:
            ValueError: the program is for other devices.
        """
        if place is None:
            return
        if self.place is not None and _devices_of(self.place) != _devices_of(place):
            raise ValueError(
                f"received incompatible devices: the function puts arrays on {self.place!r} and on "
                f"{place!r}, and a compiled program runs on the devices of one mesh, or on one "
                "device: put arrays there before the call"
            )
        self.place = place

    @contextmanager
    def deriving(self) -> Iterator[None]:
        """For the length of a `with` block, functions of the module are transformed: what is traced
        for that goes into it.

        Raises:
            UnexpectedTracerError: a function with a derivative rule uses a traced array that it is
                to be differentiated with respect to, and that is not an argument.
        """
        outer = _state.deriving
        _state.deriving = self
        try:
            yield
        except OutsideValue as error:
            raise errors.UnexpectedTracerError(str(error)) from None
        finally:
            _state.deriving = outer


def _devices_of(place: Any) -> tuple[Any, ...]:
    """Return the devices of a mesh in order, or a device itself."""
    return place.device_tuple if isinstance(place, Mesh) else (place,)


class _State(threading.local):
    deriving: ModuleBuilder | None = None


_state = _State()


def deriving() -> ModuleBuilder:
    """The builder of the module whose functions this thread transforms."""
    assert _state.deriving is not None
    return _state.deriving
