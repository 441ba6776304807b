"""The cache of kernels: machine code of kernels that other programs had, too.

A program that was edited in a line has most of its kernels as it had them before. After IREE's
phase executable-sources, what the code of a kernel depends on is there: its operations, how it gets
its arguments, the processor, and IREE's flags. Kernels of which the cache has the code go through
no further phase. In their place, the program's library has functions that jump to those of an
object that was made for another program, which the linker adds (`linking.py`).

The cache has a record for each kernel: the name of the object that its code is in, and its export,
as IREE's later phases read it. An object has the new kernels of one program. Both are in memory,
and beside the artefacts of programs on disk (`cache.py`).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from irax_compiler import cache, locations, mlir, own_files, spans
from irax_compiler.iree import linking
from irax_compiler.iree.linking import LINKER, Linker
from irax_compiler.iree.objects import Object
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation

PHASE = "executable-sources"
"""The phase of IREE after which kernels are looked up."""
MOST = 64 << 20
"""The bytes that are kept in memory."""
ALIGNMENT = 64
"""The bytes of the longest vectors."""

_ARRAY = "hal.interface.binding.subspan"
"""The operation that gives a kernel an array."""
_KEY = "irax_kernel"
"""The attribute of a kernel's function, which has the kernel's key."""
_SYMBOL = "irax_kernel_"
"""The symbol of a kernel's code in an object, up to the key."""

_JUMP = """module {{
  llvm.func @{symbol}(!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
      attributes {{sym_visibility = "private"}}
  llvm.func @{name}(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr) -> i32
      attributes {{irax_kernel = "{key}"}} {{
    %r = llvm.call @{symbol}(%a, %b, %c) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
    llvm.return %r : i32
  }}
}}"""


class _Store:
    """The records and objects of a folder, the last used ones in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0

    def load(self, name: str) -> bytes | None:
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        found = cache.load(name)
        if found is not None:
            self._keep(name, found)
        return found

    def add(self, name: str, data: bytes, is_one_of_many: bool = False) -> None:
        self._keep(name, data)
        cache.store(name, data, is_one_of_many)

    def _keep(self, name: str, data: bytes) -> None:
        with self._lock:
            self._size += len(data) - len(self._kept.pop(name, b""))
            self._kept[name] = data
            while self._size > MOST and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._size -= len(gone)


_store = _Store(None)


def _forget() -> None:
    """Begin anew: another thread may hold the lock of the process that this one was forked from."""
    global _store
    _store = _Store(None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _kept() -> _Store:
    """Return what is kept in the folder that is chosen now."""
    global _store
    folder = cache.directory()
    if _store.folder != folder:
        _store = _Store(folder)
    return _store


@dataclass(frozen=True)
class _Known:
    """A kernel whose code is known."""

    object: str
    """The name of the object that has it."""
    export: bytes
    """A module of its export."""


@dataclass
class Kernels:
    """The kernels of a program after IREE's phase executable-sources."""

    program: Module
    """All of the program."""
    flags: Sequence[str]
    """IREE's flags."""
    linker: Linker
    new: bytes | None
    """A module of the kernels whose code is not known, if there are any."""
    keys: dict[tuple[str, str], str]
    """The keys of kernels by the names of executable and export; of some there are none."""
    known: dict[str, _Known]
    """The kernels whose code is known, by their keys."""
    objects: dict[str, bytes]
    """The objects that they are in, by their names."""
    exports: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """The names and exports of the others, by their keys, once they are translated."""

    @classmethod
    def of(cls, data: bytes, flags: Sequence[str]) -> Kernels | None:
        """Return the kernels of a module as it is after IREE's phase executable-sources; None where
        code is not kept.
        """
        linker = Linker.of(flags)
        if linker is None or cache.directory() is None or own_files.compiler() is None:
            return None
        program = mlir.parse_module(data)
        for executable in _executables(program):
            _align(executable)
        plain = locations.without(program)
        keys: dict[tuple[str, str], str] = {}
        known: dict[str, _Known] = {}
        held: dict[str, bytes] = {}
        with spans.span("kernels", "look-up") as details:
            for executable in _executables(plain):
                keys |= _keys(executable, flags)
            for key in dict.fromkeys(keys.values()) if cache.reads() else ():
                found = _find(key, held)
                if found is not None:
                    known[key] = found
            details["known"] = sum(key in known for key in keys.values())
            details["new"] = len(keys) - details["known"]
        return cls(
            program,
            flags,
            linker,
            _without(program, keys, known),
            keys,
            known,
            held,
        )

    def joined(self, translated: bytes | None) -> bytes:
        """Return the program after IREE's phase executable-targets; `translated` is what the module
        `new` is after it.
        """
        module = None if translated is None else mlir.parse_module(translated)
        done = {} if module is None else {_name(x): x for x in _executables(module)}
        for executable in _executables(self.program):
            self._translate(executable, done.get(_name(executable)))
        return mlir.bytecode(self.program)

    def _translate(self, executable: Operation, translated: Operation | None) -> None:
        """Replace an executable by one with the code of kernels, or with jumps to it."""
        with InsertionPoint(executable):
            copy = (translated or executable).clone().operation
        copy.attributes["sym_visibility"] = executable.attributes["sym_visibility"]
        own = {x: key for (outer, x), key in self.keys.items() if outer == _name(executable)}
        if own:
            variant = _variant(copy)
            if translated is None:
                for operation in (*_exports(variant), *_inside(_code(variant))):
                    operation.erase()
            ordinals = {_name(x): x.attributes["ordinal"] for x in _exports(_variant(executable))}
            self._add_jumps(variant, own, ordinals)
        executable.erase()

    def _add_jumps(self, variant: Operation, own: dict[str, str], ordinals: dict[str, Any]) -> None:
        """Add what the variant of an executable lacks of its own kernels, and mark the others."""
        there = {_name(x): x for x in _exports(variant)}
        functions = {_name(x): x for x in _inside(_code(variant))}
        for name, ordinal in ordinals.items():
            key = own[name]
            if key in self.known:
                there[name] = _jump(variant, name, key, self.known[key].export)
            else:
                self.exports.setdefault(key, (self._label(name), _export_alone(there[name])))
                functions[name].attributes[_KEY] = mlir.string(key)
            there[name].attributes["ordinal"] = ordinal
            there[name].move_before(_code(variant))

    def _label(self, kernel: str) -> str:
        """Return the name of a kernel, after that of the program."""
        for view in self.program.body.operations:
            operation = view.operation
            if operation.name == "util.func" and mlir.is_public(operation):
                return f"{_name(operation)}: {kernel}"
        return kernel

    def library(
        self, executable: Operation, compiled: Callable[[], tuple[bytes, Sequence[str]]]
    ) -> bytes:
        """Return a module of an executable with machine code: with that of a library of the same
        kernels, or what `compiled` returns, besides IREE's remarks.
        """
        name = self._library_of(executable)
        found = _kept().load(name) if name and cache.reads() else None
        if found is None:
            others = self._mark(executable)
            translated, remarks = compiled()
            own = linking.taken(remarks)
            library = self.linker.link([own, *(self.objects[x] for x in others)])
            self._keep(executable, own)
            found = _with_library(translated, library)
            if name:
                _kept().add(name, found, is_one_of_many=True)
        return found

    def _library_of(self, executable: Operation) -> str | None:
        """Return the name in the cache of a library of kernels with keys; None if it has others."""
        variant = _variant(executable)
        exports = _exports(variant)
        functions = {_name(x): x for x in _inside(_code(variant))}
        keys = [_key(functions[_name(x)]) for x in exports]
        if None in keys or len(_inside(variant)) != len(exports) + 2:
            return None
        # IREE's runtime asks for kernels by their names.
        named = [f"{x.attributes['ordinal']} {_name(x)}" for x in exports]
        parts = repr(list(zip(keys, named, strict=True)))
        return f"library-{cache.key(parts.encode(), ['library', *self.flags])}"

    def _mark(self, executable: Operation) -> Sequence[str]:
        """Give the functions of an executable's new kernels symbols. Return the names of the
        objects that jumps are to.
        """
        code = _code(_variant(executable))
        functions = [x for x in _inside(code) if x.name == "llvm.func"]
        new = {key: _name(x) for x in functions if (key := _key(x)) in self.exports}
        # Weak, since processes that run at a time may each make an object with the same kernel.
        told = [
            line
            for symbol, name in ((f"{_SYMBOL}{key}", name) for key, name in new.items())
            for line in (f".weak {symbol}", f".hidden {symbol}", f'.set {symbol}, "{name}"')
        ]
        if told:
            code.attributes["llvm.module_asm"] = mlir.array(list(map(mlir.string, told)))
        called = [_name(x).removeprefix(_SYMBOL) for x in functions if _name(x).startswith(_SYMBOL)]
        return [*dict.fromkeys(self.known[key].object for key in called)]

    def _keep(self, executable: Operation, data: bytes) -> None:
        """Keep an object with the code of an executable's new kernels."""
        functions = _inside(_code(_variant(executable)))
        keys = [key for key in map(_key, functions) if key in self.exports]
        if keys:
            name = hashlib.sha256(data).hexdigest()
            _kept().add(f"object-{name}", Object(data).part(name))
            for key in keys:
                label, export = self.exports[key]
                record = f"{name} {label}\n".encode() + export
                _kept().add(f"kernel-{key}", record, is_one_of_many=True)


def _with_library(compiled: bytes, library: bytes) -> bytes:
    """Return a module of an executable with a library in place of what IREE read."""
    module = mlir.parse_module(compiled)
    (executable,) = _executables(module)
    (binary,) = (x for x in _inside(executable) if x.name == "hal.executable.binary")
    text = f'dense<"0x{library.hex()}"> : vector<{len(library)}xi8>'
    binary.attributes["data"] = mlir.parse_attribute(text)
    return mlir.bytecode(module)


def label(record: bytes) -> str:
    """Return the names of a kernel and of the program that had it first, as its record in the cache
    has them.
    """
    return record.partition(b"\n")[0].partition(b" ")[2].decode()


MOST_BINDINGS = 32
"""The most parts of memory that IREE's runtime gives a kernel."""


def binds_too_many(program: Module) -> bool:
    """Return True if a kernel of a module, as it is after IREE's phase executable-sources, has more
    parts of memory than IREE's runtime gives it.
    """
    exports = (x for executable in _executables(program) for x in _exports(_variant(executable)))
    counts = (str(x.attributes["layout"]).count("pipeline.binding<") for x in exports)
    return any(count > MOST_BINDINGS for count in counts)


def _find(key: str, held: dict[str, bytes]) -> _Known | None:
    """Return a kernel of the cache, if its object is there, too, which is then held."""
    record = _kept().load(f"kernel-{key}")
    if record is None:
        return None
    head, _, export = record.partition(b"\n")
    name = head.decode().partition(" ")[0]
    found = held.get(name) or _kept().load(f"object-{name}")
    if found is None:
        return None
    held[name] = found
    return _Known(name, export)


def _align(executable: Operation) -> None:
    """Have kernels take arrays for aligned to whole vectors at most: it is chance if a program has
    one at a multiple of more.
    """
    modules = [x for v in _inside(executable) if v.regions for x in _inside(v) if x.regions]
    functions = [f for m in modules if m.name == "builtin.module" for f in _inside(m)]
    for function in (f for f in functions if f.regions and len(f.regions[0].blocks)):
        for view in (x for x in _inside(function) if x.name == _ARRAY):
            alignment: Any = view.attributes.get("alignment", None)
            if alignment is not None and alignment.value > ALIGNMENT:
                view.attributes["alignment"] = mlir.parse_attribute(f"{ALIGNMENT} : index")


def _key(function: Operation) -> str | None:
    """Return the key of the kernel whose code, or a jump to it, a function is."""
    attribute: Any = function.attributes.get(_KEY, None)
    return None if attribute is None else attribute.value


def _keys(executable: Operation, flags: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the keys of an executable's kernels; none if it has other things in it."""
    variants = [x for x in _inside(executable) if x.name == "hal.executable.variant"]
    if len(variants) != 1 or len(_inside(executable)) != 2:
        return {}
    exports = _exports(variants[0])
    if len(_inside(variants[0])) != len(exports) + 2 or "objects" in variants[0].attributes:
        return {}
    own = (*(x for x in flags if not x.startswith(LINKER)), str(variants[0].attributes["target"]))
    functions = {_name(x): x for x in _inside(_code(variants[0]))}
    kernels = {_name(x) for x in exports}
    if not kernels <= functions.keys():
        return {}
    helpers = {name: x for name, x in functions.items() if name not in kernels}
    facts = ["kernel", own_files.compiler() or "", *own]
    return {
        (_name(executable), _name(x)): cache.key(_alone(x, functions[_name(x)], helpers), facts)
        for x in exports
    }


def _alone(export: Operation, function: Operation, helpers: dict[str, Operation]) -> bytes:
    """Return the bytecode of an export and its function under names that say nothing, and of the
    functions that it may call.
    """
    module = mlir.new_module()
    with InsertionPoint(module.body):
        for operation in (export, function):
            operation.clone().operation.attributes["sym_name"] = mlir.string("kernel")
    del module.body.operations[0].operation.attributes["ordinal"]
    left = dict(helpers)
    data = mlir.bytecode(module)
    while used := [name for name in left if name.encode() in data]:
        with InsertionPoint(module.body):
            for name in used:
                left.pop(name).clone()
        data = mlir.bytecode(module)
    return data


def _without(
    program: Module, keys: dict[tuple[str, str], str], known: dict[str, _Known]
) -> bytes | None:
    """Return a module with the kernels of a program that are not known; None if there are none."""
    module = mlir.new_module()
    for executable in _executables(program):
        exports = [_name(x) for x in _exports(_variant(executable))]
        done = {x for x in exports if keys.get((_name(executable), x)) in known}
        if len(done) < len(exports):
            copy = executable.clone(ip=InsertionPoint(module.body)).operation
            copy.attributes["sym_visibility"] = mlir.string("public")
            variant = _variant(copy)
            for operation in (*_exports(variant), *_inside(_code(variant))):
                if _name(operation) in done:
                    operation.erase()
    return mlir.bytecode(module) if len(module.body.operations) else None


def _export_alone(export: Operation) -> bytes:
    """Return the bytecode of a module with the executable of an export alone."""
    module = mlir.new_module()
    variant: Any = export.parent
    with InsertionPoint(module.body), export.location:
        outer = _without_contents(variant.parent.operation)
    with InsertionPoint(Block.create_at_start(outer.regions[0], [])), export.location:
        inner = _without_contents(variant.operation)
        mlir.emit("hal.executable_end", [], {}, [])
    with InsertionPoint(Block.create_at_start(inner.regions[0], [])), export.location:
        export.clone()
        Block.create_at_start(_without_contents(_code(variant)).regions[0], [])
        mlir.emit("hal.executable.variant_end", [], {}, [])
    return mlir.bytecode(module)


def _without_contents(operation: Operation) -> Operation:
    attributes: Any = operation.attributes
    kept = {name: attributes[name] for name in attributes}
    return mlir.emit(operation.name, [], kept, [], regions=1).operation


def _jump(variant: Operation, name: str, key: str, alone: bytes) -> Operation:
    """Add the export of a known kernel to a variant, and a function that jumps to its code; return
    the export.
    """
    module = mlir.parse_module(alone)
    (executable,) = _executables(module)
    code = _code(variant)
    with InsertionPoint(code):
        export = _exports(_variant(executable))[0].clone().operation
    export.attributes["sym_name"] = mlir.string(name)
    symbol = _SYMBOL + key
    jump = mlir.parse_module(_JUMP.format(symbol=symbol, name=f'"{name}"', key=key))
    declared = {_name(x) for x in _inside(code)}
    with InsertionPoint.at_block_begin(code.regions[0].blocks[0]):
        for view in jump.body.operations:
            if _name(view.operation) not in declared:
                view.operation.clone()
    of_code: Any = _code(_variant(executable)).attributes
    for attribute in of_code:
        code.attributes[attribute] = of_code[attribute]
    return export


def _executables(module: Module | Operation) -> list[Operation]:
    return [x for x in _inside(module.operation) if x.name == "hal.executable"]


def _variant(executable: Operation) -> Operation:
    return _inside(executable)[0]


def _exports(variant: Operation) -> list[Operation]:
    return [x for x in _inside(variant) if x.name == "hal.executable.export"]


def _code(variant: Operation) -> Operation:
    """Return the module with the functions of a variant."""
    (module,) = (x for x in _inside(variant) if x.name == "builtin.module")
    return module


def _inside(holder: Operation) -> list[Operation]:
    return [x.operation for x in holder.regions[0].blocks[0].operations]


def _name(operation: Operation) -> str:
    """Return the name of a symbol; an empty one for other operations."""
    return mlir.function_name(operation) if "sym_name" in operation.attributes else ""
