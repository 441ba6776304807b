"""`irax info`: what is in a file, told from its bytes. Nothing of it is run, and none of its native
code is loaded.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np

from irax_compiler import api, containers, mlir
from irax_runtime import archives, exported
from irax_runtime.archives import WEIGHTS
from irax_runtime.iree import modules as iree_modules
from irax_runtime.pjrt import programs
from irax_runtime.signature import parse_signature
from irax_tools import dumps
from irax_tools.files import naming

NATIVE = "native code, which runs with your rights"

_EXPECTED = (
    "expected MLIR, a .vmfb, .pjrt or .irax file, an export of JAX's, or NumPy's .npy or .npz"
)
_NUMPY = b"\x93NUMPY"
_FLATBUFFER = b"IREE"
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_TARGET = "call_target_name"
_OFTEN = 8


def describe(data: bytes, name: str) -> list[str]:
    """Lines about the bytes of a file of any kind that irax reads or writes.

    Raises ValueError where they are of none, or damaged.
    """
    with naming(name):
        kind, lines = _described(data, name)
        return [f"{name}: {kind}, {len(data)} bytes", *(f"  {line}" for line in lines)]


def _described(data: bytes, name: str) -> tuple[str, Iterator[str]]:
    """The kind of a file, and lines about what is in it."""
    if data.startswith(archives.MAGIC):
        contents = archives.read(data, name)
        if exported.MANIFEST in contents:
            return "an exported function", _of_export(contents, name)
        if contents and all(part[: len(_NUMPY)] == _NUMPY for part in contents.values()):
            arrays = ((entry, bytes(part)) for entry, part in contents.items())
            return "NumPy's arrays", chain(*(_of_array(*part) for part in arrays))
        return "a compiled program of IREE's", _of_program(data, contents)
    if _FLATBUFFER in data[:16]:
        return "a compiled program of IREE's", _of_program(data, {})
    if data.startswith(_NUMPY):
        return "an array of NumPy's", _of_array("", data)
    if data.startswith(programs.PREFIX):
        return "a program for PJRT", _of_pjrt(data, name)
    if stage := dumps.read_stage(data, name):
        return f"a stage of a compilation for {stage[0].target}", iter([f"after {stage[0].after}"])
    if name.endswith(".py"):
        shown = f"irax show {name}:FUNCTION shows a function of it"
        raise ValueError(f"a Python program; {_EXPECTED}; {shown}")
    found = containers.module_in(data)
    kind = "MLIR text" if isinstance(found, str) else "MLIR bytecode"
    is_inside = isinstance(found, bytes) and not data.startswith(containers.MAGIC)
    export = containers.export_in(data) if is_inside else None
    if export is None:
        return kind, _of_module(found, name)
    return "an export of JAX's", chain(_of_jax(export), _of_module(found, name, export))


def _of_export(contents: dict[str, archives.Bytes], name: str) -> Iterator[str]:
    manifest = exported.read_manifest(contents, name)
    sides = (exported.Side.of_manifest(manifest[side]) for side in ("arguments", "results"))
    yield exported.described(manifest["name"], *sides)
    if others := exported.packages(contents):
        yield f"needs {' '.join(others)}"
    targets = {about["file"]: target for target, about in manifest["programs"].items()}
    weights = [len(part) for entry, part in contents.items() if entry.startswith(WEIGHTS)]
    if weights:
        yield f"{len(weights)} weights, {sum(weights)} bytes"
    for entry, data in contents.items():
        if entry.startswith(WEIGHTS):
            continue
        line = f"{entry}, {len(data)} bytes"
        yield f"{line}: for {targets[entry]}, {NATIVE}" if entry in targets else line
    if exported.MODULE in contents:
        yield from _of_module(bytes(contents[exported.MODULE]).decode(), name)


def _of_jax(found: containers.Export) -> Iterator[str]:
    by = f", by JAX {found.version}" if found.version else ""
    yield f"{found.name}, for {', '.join(found.platforms)}{by}"
    if len(found.kept) < len(found.in_types):
        yield f"uses {len(found.kept)} of {len(found.in_types)} arguments"


def _of_program(data: bytes, contents: dict[str, archives.Bytes]) -> Iterator[str]:
    for function, told in iree_modules.functions(data).items():
        yield _signature(function, told.get("irax.args"), told.get("irax.results"))
        if "irax.host" in told:
            yield f"calls functions of irax on the host: {told['irax.host']}"
        if "irax.libraries" in told:
            yield f"needs {told['irax.libraries']}"
        for library, symbol in json.loads(told.get("irax.functions", "[]")):
            yield f"calls {symbol} of {library}"
    for entry, part in contents.items():
        yield f"{entry}, {len(part)} bytes"
    yield NATIVE


def _of_pjrt(data: bytes, name: str) -> Iterator[str]:
    header, program = programs.split(data)
    yield _signature(header["name"], header["args"], header["results"])
    if "serialized" in header:
        yield f"compiled by {' '.join(map(str, header['serialized']))}: {NATIVE}"
    else:
        yield from _of_module(program.decode(), name)


def _of_module(
    found: str | bytes, file: str, export: containers.Export | None = None
) -> Iterator[str]:
    try:
        module = api.parse(found, file, export=export)
    except ValueError as error:
        raise ValueError(f"{error}; {_EXPECTED}") from None
    counts: Counter[str] = Counter()
    called: set[str] = set()
    for name, function in mlir.functions(module).items():
        operations = list(api.nested(function))
        private = "" if mlir.is_public(function) else "private "
        type_ = function.attributes["function_type"]
        yield f"{private}@{name}{type_}: {len(operations)} operations"
        counts.update(operation.name for operation in operations)
        called |= {str(op.attributes[_TARGET]) for op in operations if _TARGET in op.attributes}
    often = [f"{count} {name}" for name, count in counts.most_common(_OFTEN)]
    yield f"{', '.join(often)}{', ...' if len(counts) > _OFTEN else ''}"
    if called:
        yield f"custom calls: {', '.join(sorted(called))}"


def _signature(name: str, arguments: str | None, results: str | None) -> str:
    if arguments is None or results is None:
        return f"{name}: irax did not compile it, and it does not tell its types"
    taken, returned = (", ".join(map(str, parse_signature(t))) for t in (arguments, results))
    return f"{name}({taken}) -> ({returned})"


def _of_array(entry: str, data: bytes) -> Iterator[str]:
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        shape, _, dtype = _HEADERS[version](file)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{entry or 'its header'} is damaged: {error}") from None
    kind = "objects, which irax does not load" if dtype.hasobject else f"{dtype.name}{list(shape)}"
    yield f"{entry.removesuffix('.npy')}: {kind}" if entry else kind
