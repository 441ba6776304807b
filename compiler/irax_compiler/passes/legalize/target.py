"""The base class of targets: the kinds of device that programs are compiled for."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import irax_compiler
from irax_compiler import extensions
from irax_compiler.importing import import_module
from irax_compiler.mlir import Module
from irax_compiler.passes.core import Pass
from irax_compiler.passes.legalize.legalization import Legalization

OF_THE_EVALUATOR = frozenset(
    [
        *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"),
        *("float8_e3m4", "float8_e4m3", "float8_e8m0fnu"),
    ]
)
"""The dtypes that the evaluator computes with as they are, and few compilers."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A kind of device, and all that the compiler knows of it."""

    name: str
    """Its name for passes and options: "iree-cpu"."""
    passes: tuple[Pass, ...] = ()
    """The passes that make any StableHLO module one that `compile` takes, in order."""
    dynamic_passes: tuple[Pass, ...] = ()
    """The passes for functions with symbolic dimensions, which leave programs for all sizes; none
    where its compiler takes known sizes alone."""
    legalizations: tuple[Legalization, ...] = ()
    """The rewrites of what its compiler refuses or gets wrong, in the order in which `legalize`
    applies them. Each goes over the whole module once: it sees what those before it built, and
    never what it built itself."""
    lacks: frozenset[str] = OF_THE_EVALUATOR
    """The dtypes that its programs cannot compute with."""
    lacks_arrays_of: frozenset[str] = frozenset()
    """The dtypes that are good inside its programs, but not as their arguments and results."""
    in_bytes: frozenset[str] = frozenset()
    """The floats that its programs have as bytes, and compute with in float32."""
    callbacks_lack: frozenset[str] = frozenset()
    """The further dtypes of which callbacks take and return no arrays."""
    host_functions: Mapping[str, str] = field(default_factory=dict)
    """For composites that it leaves to a library of the host's, the name of the host function. The
    parameters of the composite are the host function's."""
    calls_python: bool = False
    """True if its programs can call Python functions."""
    takes_numbers: bool = False
    """True if long programs take numbers as arguments (see `scalars`)."""
    overwrites: bool = False
    """True if its passes write results into the memory of donated arguments."""
    has_collectives: bool = False
    """True if its compiler has StableHLO's collectives; otherwise host functions communicate."""
    has_chips: bool = False
    """True if programs can be compiled for a given chip."""
    extension: str = ".vmfb"
    """The file name extension of its artefacts."""

    @property
    def platform(self) -> str:
        """The name of its devices: "cpu"."""
        return self.name.removeprefix("iree-")

    def check_chip(self, chip: str) -> None:
        """Raises ValueError where the target has no such chip."""
        raise ValueError(f"target '{self.name}:{chip}': {self.name} has no chips to choose from")

    def is_of_this_processor(self, chip: str = "") -> bool:
        """True if programs for a chip, or for the usual one, use all features of the processor that
        they are compiled on.
        """
        return False

    def compile(self, module: Module, chip: str = "", donated: Sequence[int] = ()) -> bytes:
        """The artefact of a lowered module; see `targets.compile`."""
        raise NotImplementedError


NO_TARGET = Target(name="", lacks=frozenset(), calls_python=True)
"""Stands for no target in particular: it lacks nothing."""

T = TypeVar("T", bound=Target)

_PACKAGE = "irax_compiler.targets"
"""The package of the targets, which are found by being there."""

_targets: dict[str, Target] = {}
_known_own: list[Target] = []
"""The targets that were found to be irax's own."""


def register(target: T) -> T:
    """Makes a target known by its name, and returns it."""
    _targets[target.name] = target
    return target


def all_targets() -> list[Target]:
    """The targets there are: irax's own, those that installed packages declare, and those that were
    registered besides.
    """
    for name in _own_modules():
        import_module(name)
    extensions.load("irax.targets")
    return sorted(_targets.values(), key=lambda target: target.name)


def _own_modules() -> list[str]:
    folder = Path(irax_compiler.__file__).parent / "targets"
    return sorted(f"{_PACKAGE}.{module.name}" for module in pkgutil.iter_modules([str(folder)]))


def is_own(name: str) -> bool:
    """True if the target of a name, with or without a chip, is no other package's."""
    found = _targets.get(name.partition(":")[0])
    if any(found is one for one in _known_own):
        return True
    modules = sys.modules.copy()  # other threads may import
    own = [vars(m) for n, m in modules.items() if n.startswith(f"{_PACKAGE}.")]
    if found is not None and any(found is value for names in own for value in names.values()):
        _known_own.append(found)
        return True
    return found is None


def find(name: str) -> Target:
    """The target of a name, with or without a chip: "iree-cuda", "iree-cuda:sm_89".

    Raises:
        ValueError: there is no such target.
    """
    family, _, _ = name.partition(":")
    module = f"{_PACKAGE}.{family.removeprefix('iree-')}"
    if family not in _targets and module in _own_modules():
        import_module(module)  # the others would be imported for nothing
    if family not in _targets:
        all_targets()
    if family not in _targets:
        raise ValueError(f"unknown target {name!r}; there are {', '.join(sorted(_targets))}")
    return _targets[family]


def for_platform(platform: str, chip: str = "") -> str:
    """The name of the target that compiles for a platform, with the chip if one is meant.

    Args:
        platform: "cuda", "cuda:sm_89", or one of a plugin's such as "pjrt:cpu".
        chip: the chip, if the platform does not name it.

    Raises:
        ValueError: there is no such platform, or it has no such chip.

    >>> for_platform("cuda", "sm_89")
    'iree-cuda:sm_89'
    """
    kind, _, suffix = platform.partition(":")
    targets = {target.platform: target for target in all_targets()}
    if kind not in targets:
        raise ValueError(f"no platform {platform!r}; there are {', '.join(targets)}")
    target = targets[kind]
    chip = chip or (suffix if target.has_chips else "")
    if not chip:
        return target.name
    target.check_chip(chip)
    return f"{target.name}:{chip}"
