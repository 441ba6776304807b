"""Readers of files that contain modules: text, bytecode, and the formats of `jax.export` and
`irax.export`.
"""

from __future__ import annotations

import io
import json
import zipfile

from irax_compiler import mlir, trial
from irax_compiler.apart import weights
from irax_compiler.interchange import jax_exports, other_forms
from irax_compiler.interchange.bytecode_format import MAGIC
from irax_compiler.interchange.jax_exports import ArrayType as ArrayType
from irax_compiler.interchange.jax_exports import Export as Export
from irax_compiler.shardy import bytecode as sharding_bytecode

_ARCHIVE = b"PK\x03\x04"
_MODULE, _MANIFEST, _WEIGHTS = "module.mlir", "manifest.json", "weights/"
LARGEST = 1 << 30
"""The most bytes of a text beyond those of the archive that contains it."""
_FIRST = 4096
"""The bytes in which most files have something, and that are looked at before all of it."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def module_in(data: bytes) -> str | bytes:
    """Return the MLIR text or bytecode in a file, as it is or in a container. The bytecode was
    tried with MLIR's reader.

    Raises:
        ValueError: it holds none; the message says what it holds instead.
    """
    found = _found(data)
    if isinstance(found, str) or data.startswith(_ARCHIVE):
        return found
    found = sharding_bytecode.readable(found)
    trial.read_elsewhere(found)
    return found


def is_of_jax(data: bytes) -> bool:
    """True for what may be a file of `jax.export`."""
    return MAGIC in data and not data.startswith((MAGIC, _ARCHIVE))


def export_in(data: bytes) -> Export | None:
    """Return what a file of `jax.export` says of its function; None for other files.

    Raises:
        ValueError: such a file is damaged.
    """
    return jax_exports.read(data) if is_of_jax(data) else None


def main_function(module: mlir.Module) -> str:
    """Return the function that is meant if none is named: @main, or the only public one."""
    functions = mlir.functions(module)
    public = [name for name, function in functions.items() if mlir.is_public(function)]
    return public[0] if "main" not in functions and len(public) == 1 else "main"


def _found(data: bytes) -> str | bytes:
    if not data[:_FIRST].strip() and not data.strip():
        raise ValueError("empty; expected a module")
    if data.startswith(MAGIC):
        return data
    if data.startswith(_ARCHIVE):
        return _of_archive(data)
    other = other_forms.hlo_problem(data[:600])
    if other is not None:
        raise ValueError(other)
    if MAGIC in data:
        return jax_exports.read(data).module
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:  # where MLIR's reader ends
        raise ValueError("neither MLIR text nor MLIR bytecode")
    return text


def _with_weights(text: str, archive: zipfile.ZipFile, count: int) -> bytes:
    """Return the bytecode of a function whose weights are files of their own."""
    name = json.loads(archive.read(_MANIFEST))["name"]
    module = mlir.parse_module(text)
    weights.put_back(module, name, [archive.read(f"{_WEIGHTS}{i}") for i in range(count)])
    return mlir.bytecode(module)


def _of_archive(data: bytes) -> str | bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if _MODULE in archive.namelist():
                entry = archive.getinfo(_MODULE)
                if entry.file_size > len(data) + LARGEST or entry.compress_type not in _METHODS:
                    raise ValueError(f"{entry.file_size} bytes of text, which are not unpacked")
                text = archive.read(entry).decode()
                apart = sum(name.startswith(_WEIGHTS) for name in archive.namelist())
                return _with_weights(text, archive, apart) if apart else text
    except Exception as error:  # zipfile raises what it meets: BadZipFile, zlib's, struct's, ...
        raise ValueError(f"a damaged file: {error}") from None
    raise ValueError("a compiled program, and no module; expected MLIR")
