"""Compiling for chips that need not be here.

    program = topology_for("tpu", "v5e:2x2x1").compile(artefact)
    program.memory_analysis()["peak_memory_in_bytes"]

A topology is what a plugin's compiler knows of a number of chips.
"""

from __future__ import annotations

import ctypes
import operator
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from irax_runtime.once import once
from irax_runtime.pjrt import abi, analysis, programs
from irax_runtime.pjrt.api import Api, as_named_values, load_plugin, named_values, text
from irax_runtime.pjrt.errors import PjrtError
from irax_runtime.pjrt.options import compile_options
from irax_runtime.pjrt.plugins import plugin_for
from irax_runtime.pjrt.programs import address
from irax_runtime.platforms import Settings, of_plugin
from irax_runtime.signature import parse_signature


@once
def topology_for(platform: str, name: str) -> Topology:
    """The topology of a platform that has this name: of TPUs it is like `v5e:2x2x1`, of GPUs like
    `h100:1x1x4`.

    Raises:
        PluginError: there is no plugin for the platform, or none that can be used.
        PjrtError: the plugin knows no such topology.
        ValueError: libtpu could not so much as read the name.
    """
    served = of_plugin(platform)
    served.check_topology(name)
    plugin = plugin_for(platform)
    with served.only_to_compile():
        return Topology(load_plugin(plugin.path), name, served.topology(name))


class Topology:
    """A plugin's chips, as its compiler sees them. Lives as long as the process."""

    def __init__(self, api: Api, name: str, options: Settings | None = None) -> None:
        """Asks the plugin for it, with options of its own. Raises PjrtError if it has none of this
        name.
        """
        self.api = api
        self.name = name
        spelled = name.encode()
        values, _alive = as_named_values(options or {})
        created = api.call(
            "TopologyDescription_Create",
            topology_name=address(spelled),
            topology_name_size=len(spelled),
            create_options=ctypes.addressof(values) if options else None,
            num_options=len(values),
        )
        self.pointer: int = created.topology
        found = api.call("TopologyDescription_PlatformName", topology=self.pointer)
        version = api.call("TopologyDescription_PlatformVersion", topology=self.pointer)
        self.platform = text(found.platform_name, found.platform_name_size).lower()
        self.version = text(version.platform_version, version.platform_version_size)
        self.chips = self._chips()
        """For each chip, in the order of their numbers, its `id`, its `kind` and its attributes.

        Programs are compiled for the first ones: libtpu ends the process for a number that is not
        less than the count of those that a program is for.
        """
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.chips)} of {self.chips[0]['kind']}>"

    @property
    def target(self) -> str:
        """The compiler's target that makes artefacts for it."""
        return of_plugin(self.platform).target

    def _chips(self) -> list[dict[str, Any]]:
        call = self.api.call
        found = call("TopologyDescription_GetDeviceDescriptions", topology=self.pointer)
        chips = []
        for one in (ctypes.c_void_p * found.num_descriptions).from_address(found.descriptions):
            kind = call("DeviceDescription_Kind", device_description=one)
            told = call("DeviceDescription_Attributes", device_description=one)
            attributes = named_values(told.attributes, told.num_attributes)
            number = call("DeviceDescription_Id", device_description=one).id
            kind_name = text(kind.device_kind, kind.device_kind_size)
            chips.append({"id": number, "kind": kind_name, **attributes})
        return sorted(chips, key=operator.itemgetter("id"))

    def compile(self, artefact: bytes, order: Sequence[int] | None = None) -> CompiledForTopology:
        """The program of an artefact of `target`, compiled for the topology's first chip, or for as
        many as the program's mesh has devices, each of which runs a replica.

        Args:
            artefact: the program.
            order: the numbers of these chips, in the order of the mesh; None for their own.

        Raises:
            ValueError: the bytes are no such artefact, or one that is compiled already; or the
                topology has fewer chips; or the order is of others than the first.
            PjrtError: the compiler refuses the program; the message is the compiler's.
        """
        header, program = programs.split(artefact)
        if "serialized" in header:
            raise ValueError(f"{header['name']} has been compiled already")
        count = programs.device_count(header)
        if count > len(self.chips):
            raise ValueError(
                f"{header['name']} is a program of {programs.of_mesh(header)}: {self.name} has "
                f"{len(self.chips)}; expected a larger topology or a smaller mesh"
            )
        first = [chip["id"] for chip in self.chips[:count]]
        chips = first if order is None else list(order)
        if sorted(chips) != first:
            raise ValueError(
                f"{header['name']} is a program of the chips {chips} of {self.name}: expected the "
                f"first {count}, in any order: its compiler takes no others"
            )
        return CompiledForTopology(self, self._compile(program, chips), chips, header, program)

    def _compile(self, program: bytes, chips: list[int], settings: Settings | None = None) -> int:
        if os.getpid() != self._process:
            raise PjrtError(
                abi.Error_Code.FAILED_PRECONDITION,
                f"{self.api.path} was loaded by the process that this one was forked from: start "
                "processes that use it with multiprocessing.get_context('spawn')",
            )
        described = programs.for_compiler(program)
        options = compile_options(chips, settings)
        return self.api.call(
            "Compile",
            topology=self.pointer,
            program=ctypes.addressof(described),
            compile_options=address(options),
            compile_options_size=len(options),
        ).executable


class CompiledForTopology:
    """A program compiled for chips of a topology: to be looked at, and taken to such chips."""

    def __init__(
        self,
        topology: Topology,
        pointer: int,
        chips: list[int],
        header: dict[str, Any],
        program: bytes,
    ) -> None:
        self.topology = topology
        self._pointer = pointer
        self._chips = chips
        self.name: str = header["name"]
        self.arguments = parse_signature(header["args"])
        self.results = parse_signature(header["results"])
        self._header = header
        self._program = program
        self.count = programs.device_count(header)
        """The number of chips that run it together."""

    def __repr__(self) -> str:
        return f"<program {self.name} for {self.topology.name}>"

    def __del__(self) -> None:
        self.topology.api.call("Executable_Destroy", executable=self._pointer)

    def serialize(self) -> bytes:
        """The compiled program, which a device of this kind loads, with this version of its plugin.

        Raises:
            PjrtError: the plugin cannot serialize programs.
        """
        made_by = [self.topology.platform, self.topology.version]
        data = analysis.serialized(self.topology.api, self._pointer)
        return programs.join({**self._header, "serialized": made_by}, data)

    def cost_analysis(self) -> dict[str, Any]:
        """The compiler's estimates for one call: `flops`, `bytes accessed`, ..."""
        return analysis.costs(self.topology.api, self._pointer)

    def memory_analysis(self) -> dict[str, int]:
        """The bytes that a call needs, for code, arguments, results, temporaries and at its peak:
        `generated_code_size_in_bytes`, ..., `peak_memory_in_bytes`.
        """
        return analysis.memory(self.topology.api, self._pointer)

    def optimized_hlo(self) -> str:
        """The program in XLA's own language, as it is after all of the compiler's passes.

        The compiler writes it down when it is asked to, which is not before this: the program is
        compiled once more.

        Raises:
            PjrtError: the compiler wrote nothing.
        """
        with tempfile.TemporaryDirectory(prefix="irax-hlo-") as folder:
            settings = {"xla_dump_to": folder, "xla_dump_hlo_as_text": True}
            again = self.topology._compile(self._program, self._chips, settings)
            self.topology.api.call("Executable_Destroy", executable=again)
            for file in sorted(Path(folder).rglob("*.txt")):
                if file.name.endswith("after_optimizations.txt"):
                    return file.read_text("utf-8")
        code = abi.Error_Code.UNIMPLEMENTED
        raise PjrtError(code, f"{self.topology.api.path} does not write what it has compiled")
