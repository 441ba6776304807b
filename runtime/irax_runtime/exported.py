"""Programs in files: what `irax.export` saved, and IREE's compiled modules, as functions of NumPy
arrays. iree-base-runtime and NumPy are all that this needs.

A file of irax's is a zip archive:

    manifest.json     the function's name, its arguments and results, and which programs there are
    module.mlir       the function as StableHLO, from which irax.export makes it again
    iree-cpu.vmfb     the program for one target, and so on
    weights/0         the bytes of a large constant, which these take after their arguments

An argument or result is a type as in `signature`, a name for errors, and whether the type is weak;
how they nest is said as in `trees`. A .vmfb of IREE's is a zip archive as well: of either, what was
damaged since is found by its checksums.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from irax_runtime import archives, instructions, sizes, trees
from irax_runtime.archives import WEIGHTS, Bytes
from irax_runtime.device import Device, Executable
from irax_runtime.devices import NoDevice, devices, platforms
from irax_runtime.printable import printable
from irax_runtime.signature import TensorType, parse_signature

MANIFEST, MODULE = "manifest.json", "module.mlir"
VERSION = 1
"""The version of the manifest; a file of a later version is refused."""

_VECTORS = re.compile(r"avx|sse|fma|f16c|bmi|amx|neon|asimd|sve|sme|popcnt|movbe|lzcnt|abm")


def load(file: str | os.PathLike[str] | bytes, device: Device | str | None = None) -> Program:
    """The program in a file, or in its bytes, ready to run.

    Args:
        file: what `Exported.save` or `irax compile` wrote.
        device: where to run: a device, or the platform whose first one it is. None is the first
            platform of `IRAX_PLATFORMS` that the file has a program for.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, no such file, or has no program for the device.
        RuntimeError: there is no such platform here.
    """
    name = "the program" if isinstance(file, bytes) else str(file)
    if not isinstance(file, bytes):
        contents = archives.read_file(file) or {}
    else:
        contents = archives.read(file, name) if file.startswith(archives.MAGIC) else {}
    if MANIFEST not in contents:
        return _bare(file if isinstance(file, bytes) else Path(file).read_bytes(), name, device)
    return program_of(contents, name, device)


def program_of(
    contents: Mapping[str, Bytes], name: str, device: Device | str | None = None
) -> Program:
    """The program among the files of an archive, which errors name, as `load` has it."""
    manifest = read_manifest(contents, name)
    there = _device(manifest, name, device)
    entry = manifest["programs"][_family(there)]
    _check_processor(entry, name)
    executable = there.load(bytes(contents[entry["file"]]), manifest["name"])
    weights = [there.put(x, may_alias=True) for x in _weights(manifest, contents)]
    arguments, results = (Side.of_manifest(manifest[side]) for side in ("arguments", "results"))
    constraints = manifest.get("constraints", [])
    return Program(manifest["name"], arguments, results, executable, constraints, weights)


def write(contents: Mapping[str, Bytes]) -> bytes:
    """The archive of the files of a function, of which the texts are compressed."""
    return archives.write(contents, [name for name in (MANIFEST, MODULE) if name in contents])


def write_to(file: IO[bytes], contents: Mapping[str, Bytes]) -> None:
    """Write that archive to the beginning of an open file."""
    archives.write_to(file, contents, [name for name in (MANIFEST, MODULE) if name in contents])


def packages(contents: Mapping[str, Bytes]) -> list[str]:
    """Return the packages that the programs of a function need beside irax_runtime."""
    from irax_runtime.iree import modules as iree_modules

    found: dict[str, None] = {}
    for entry, data in contents.items():
        if entry.endswith(".vmfb"):
            for about in iree_modules.functions(bytes(data)).values():
                found |= dict.fromkeys(about.get("irax.libraries", "").split())
    return list(found)


def needs(file: str | os.PathLike[str]) -> str:
    """Return what a file of a function needs where it runs, as a sentence."""
    contents = archives.read_file(file) or {}
    others = packages(contents)
    platforms = ", ".join(json.loads(bytes(contents[MANIFEST]))["platforms"])
    without = " (blas=False does without)" if others else ""
    needed = " and ".join(["irax-runtime", *others])
    return f"{os.path.getsize(file) / 1000:.0f} kB, for {platforms}; runs with {needed}{without}"


def _weights(manifest: dict[str, Any], contents: Mapping[str, Bytes]) -> list[np.ndarray[Any, Any]]:
    """The weights that a file's programs take."""
    types = [parse_signature(text)[0] for text in manifest.get("weights", [])]
    return [
        np.frombuffer(contents[f"{WEIGHTS}{i}"], type_.dtype).reshape(type_.shape)
        for i, type_ in enumerate(types)
    ]


def read_manifest(contents: Mapping[str, Bytes], name: str) -> dict[str, Any]:
    """The manifest among the files of an archive. Raises ValueError for one of another version, or
    one that is damaged.
    """
    try:
        manifest = json.loads(bytes(contents[MANIFEST]))
        version = manifest["irax"]
        if version == VERSION:
            _check_manifest(manifest, contents)
    except Exception as error:  # anything may be missing, or of another type
        told = f"{type(error).__name__}: {printable(str(error))}"
        raise ValueError(f"{name}: {MANIFEST} is damaged: {told}; save it anew") from None
    if version != VERSION:
        raise ValueError(
            f"{name}: written in version {version!r} of this format; this irax reads "
            f"version {VERSION}"
        )
    return manifest


def _check_manifest(manifest: dict[str, Any], contents: Mapping[str, Bytes]) -> None:
    """Raises one error or another where a manifest is not as `irax.export` writes them."""
    _weights(manifest, contents)
    sides = [Side.of_manifest(manifest[side]) for side in ("arguments", "results")]
    for side in sides:
        if sorted(trees.numbers(side.tree)) != [*range(len(side.types))]:
            raise ValueError("its leaves are not those of its tree")
    described(manifest["name"], *sides)
    for size in (n for side in sides for t in side.types for n in t.shape if isinstance(n, str)):
        sizes.names(size)
    if not all(isinstance(text, str) for text in manifest.get("constraints", [])):
        raise ValueError("a constraint is no text")
    leaves = [leaf for side in ("arguments", "results") for leaf in manifest[side]["leaves"]]
    if not all(isinstance(leaf["weak"], bool) for leaf in leaves):
        raise ValueError("whether a type is weak is neither true nor false")
    names = [manifest["name"], *manifest["platforms"], *manifest["programs"]]
    names += [name for side in sides for name in side.names]
    if not all(name.isprintable() for name in names):
        raise ValueError("a name has control characters")
    for program in manifest["programs"].values():
        if program["file"] not in contents:
            raise ValueError(f"no program {program['file']!r}")
        features = program.get("processor", [])
        if not isinstance(features, list) or not all(isinstance(f, str) for f in features):
            raise ValueError("the features of a processor are not a list of names")


def processor_features() -> list[str]:
    """The vector instructions of the processor this runs on, as far as the system lets this process
    use them; none where nobody tells.
    """
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return []
    match = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    found = {f for f in match[1].split() if _VECTORS.match(f)} if match else set[str]()
    has_matrices = instructions.ask_for_matrices()
    return sorted(f for f in found if has_matrices or not f.startswith("amx"))


@dataclass(frozen=True)
class Side:
    """The arguments of a function, or its results: how they nest, and what each array is."""

    tree: trees.Spec
    types: Sequence[TensorType]
    names: Sequence[str]

    @staticmethod
    def of_manifest(about: dict[str, Any]) -> Side:
        leaves = about["leaves"]
        types = [parse_signature(leaf["type"])[0] for leaf in leaves]
        return Side(about["tree"], types, [leaf["name"] for leaf in leaves])


class Program:
    """A compiled function of NumPy arrays, in the tuples, lists and dicts that it was exported for.

    Calls return read-only arrays. Any number of threads may call it at a time.
    """

    def __init__(
        self,
        name: str,
        arguments: Side,
        results: Side,
        executable: Executable,
        constraints: Sequence[str] = (),
        weights: Sequence[Any] = (),
    ) -> None:
        """`constraints` are those on the names in symbolic sizes of arguments; `weights` are
        buffers that the executable takes after them.
        """
        self.name = name
        """The function's name."""
        self._constraints = constraints
        self._is_sized = any(isinstance(n, str) for t in arguments.types for n in t.shape)
        self._arguments = arguments
        self._results = results
        self._executable = executable
        self._weights = weights

    @property
    def device(self) -> Device:
        """The device that runs it."""
        return self._executable.device

    @property
    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments, each array's shape and dtype in its place."""
        return trees.build(self._arguments.tree, self._arguments.types)

    @property
    def results(self) -> Any:
        """The result's pytree, with the shape and dtype of each array in its place."""
        return trees.build(self._results.tree, self._results.types)

    def __repr__(self) -> str:
        return f"<{described(self.name, self._arguments, self._results)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs it.

        Raises:
            TypeError: arguments of another structure, or an array of another dtype.
            ValueError: an array of another shape.
        """
        leaves = trees.flatten(self._arguments.tree, (args, kwargs), ("args", "kwargs"), self.name)
        return trees.build(self._results.tree, self.flat(leaves))

    def flat(self, leaves: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
        """Runs it on the arrays of its arguments, one after the other; the arrays it returns."""
        expected = self._arguments
        if len(leaves) != len(expected.types):
            raise TypeError(f"{self.name} takes {len(expected.types)} arguments, got {len(leaves)}")
        arrays = [
            self._array(leaf, type_, name)
            for leaf, type_, name in zip(leaves, expected.types, expected.names, strict=True)
        ]
        if self._is_sized:
            self._check_sizes(arrays)
        put = self.device.put
        given = [*map(put, arrays), *self._weights]
        return [buffer.numpy() for buffer in self._executable(given)]

    def _array(self, leaf: Any, type_: TensorType, where: str) -> np.ndarray[Any, Any]:
        array = np.asarray(leaf)
        is_number = isinstance(leaf, bool | int | float | complex)
        if is_number and np.can_cast(array.dtype, type_.dtype, "same_kind"):
            array = array.astype(type_.dtype)
        got = TensorType(array.dtype, array.shape)
        if array.dtype != type_.dtype:
            raise TypeError(
                f"{self.name}: {where} is {got}; expected {type_}: convert it with "
                f"astype({type_.dtype.name!r})"
            )
        fits = array.shape == type_.shape or (self._is_sized and array.ndim == len(type_.shape))
        if not fits:
            raise ValueError(f"{self.name}: {where} is {got}; expected {type_}")
        return array

    def _check_sizes(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        """Raises ValueError where symbolic sizes have no values, or such as violate a constraint:
        the program would read beyond the end of an array.
        """
        expected = self._arguments
        stated = [
            (size, found, f"{name}.shape[{d}]")
            for array, type_, name in zip(arrays, expected.types, expected.names, strict=True)
            for d, (size, found) in enumerate(zip(type_.shape, array.shape, strict=True))
        ]
        try:
            found = sizes.solve(stated, self._constraints)
            sizes.check_largest(found, getattr(self._executable, "largest_size", 0))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None


def described(name: str, arguments: Side, results: Side) -> str:
    """`f(float32[3], y={'a': int32[]}) -> float32[]`."""
    args, kwargs = trees.build(arguments.tree, arguments.types)
    given = [*map(repr, args), *(f"{key}={x}" for key, x in kwargs.items())]
    return printable(f"{name}({', '.join(given)}) -> {trees.build(results.tree, results.types)}")


def _bare(data: bytes, name: str, device: Device | str | None) -> Program:
    """A compiled module by itself: a function of arrays that returns a tuple of them."""
    there = devices(device)[0] if device is None or isinstance(device, str) else device
    try:
        executable: Any = there.load(data)
    except ValueError as error:
        raise ValueError(
            f"{name}: {error}; expected a file of irax compile, or of an exported function's save"
        ) from None
    if executable.arguments is None or executable.results is None:
        raise ValueError(f"{name}: irax did not compile this module: it does not tell its types")
    numbers = {"tuple": [*range(len(executable.arguments))]}
    names = [f"args[{i}]" for i in range(len(executable.arguments))]
    arguments = Side({"tuple": [numbers, {"dict": {}}]}, executable.arguments, names)
    results = Side({"tuple": [*range(len(executable.results))]}, executable.results, [])
    return Program(executable.name, arguments, results, executable)


def _family(device: Device) -> str:
    return device.target.partition(":")[0]


def _device(manifest: dict[str, Any], name: str, device: Device | str | None) -> Device:
    programs = manifest["programs"]
    if not programs:
        raise ValueError(
            f"{name} has no compiled program: it was written with `serialize`; write it with "
            "`save`, or run it with irax.export.deserialize"
        )
    if device is not None:
        there = devices(device)[0] if isinstance(device, str) else device
        if _family(there) not in programs:
            raise ValueError(
                f"{name} has no program for {there!r}; it has some for {', '.join(programs)}"
            )
        return there
    for platform in (*platforms(), "cpu"):
        try:
            there = devices(platform)[0]
        except NoDevice:
            continue
        if _family(there) in programs:
            return there
    raise ValueError(
        f"{name} has programs for {', '.join(programs)}, and there is no such device among the "
        f"platforms {', '.join(platforms())}: set IRAX_PLATFORMS, or give a device"
    )


def _check_processor(entry: dict[str, Any], name: str) -> None:
    """Without the instructions that it was compiled for, a program would end the process."""
    here = processor_features()
    missing = [f for f in entry.get("processor", ()) if here and f not in here]
    if missing:
        raise ValueError(
            f"{name} was compiled for a processor with {', '.join(missing)}, which this one does "
            "not have: export it with platforms=['cpu:generic'], or for a chip like this one"
        )
