"""The description of a function: its code, and all that a trace of it can read.

What cannot be described raises `NotDescribed`, with a sentence that names it. Descriptions of two
functions are equal only if Python does the same for both: the first step is the same, and so is
what each step reads, as it is described, or follows from what is.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import hashlib
import operator
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import optree

from irax.core.array import ConcreteArray
from irax.core.avals import ShapedArray
from irax.core.key_arrays import KeyArray
from irax.core.tree_registry import ARRAYS, NAMESPACE
from irax.core.treedefs import PyTreeDef
from irax.dtypes import KeyType
from irax.execution.untraced import known
from irax.execution.untraced.reading import Chain, NotDescribed, codes, names_read

MOST = 20_000
"""The most parts of a description: to make one of so many takes about as long as a long trace."""

MOST_BYTES = 1 << 22
"""The most bytes of arrays that are read."""

_PLAIN = {type(None), bool, int, float, complex, str, bytes, type(...), range}
_UNREAD_TEXT = """
    __dict__ __weakref__ __doc__ __annotations__ __module__ __qualname__ __firstlineno__
    __static_attributes__ __annotate__ __annotate_func__ __annotations_cache__ __orig_bases__
    __parameters__ __abstractmethods__ _abc_impl __slots__ __classcell__
"""
_UNREAD = frozenset(_UNREAD_TEXT.split())
"""Attributes of classes that code cannot name, or that follow from others."""
_BASES = (dict, list, tuple, frozenset, set, str, int, float)
_LAYOUTS = frozenset({object, types.SimpleNamespace, *_BASES})
_CONTENT: dict[type, Callable[[Any], Any]] = {
    dict: lambda x: dict(dict.items(x)),
    list: lambda x: list(list.__iter__(x)),
    tuple: lambda x: tuple(tuple.__iter__(x)),
    set: lambda x: frozenset(set.__iter__(x)),
    frozenset: lambda x: frozenset(frozenset.__iter__(x)),
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
}
_HOLDERS = frozenset(
    {
        "irax.execution.jitted.PjitFunction",
        "irax.transforms.custom_jvp.custom_jvp",
        "irax.transforms.custom_vjp.custom_vjp",
    }
)
"""Classes of irax's that hold functions of the user's, and are what their attributes are."""
_UNREAD_OF_HOLDERS_TEXT = """
    __module__ __name__ __qualname__ __doc__ __annotations__ __type_params__ __wrapped__ _cache
    _with_refs
"""
_UNREAD_OF_HOLDERS = frozenset(_UNREAD_OF_HOLDERS_TEXT.split())


class Walk:
    """A description in the making."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.classes: list[type] = []
        """The user's classes that were described, in order."""
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no other object gets its id
        self._bytes = 0
        self._modules: list[types.ModuleType] = []
        """Modules that are used as values."""
        self._attributes: set[str] = set()
        """The names of attributes that code reads."""
        self._reads_by_other_means = False
        self._path: list[str] = []

    def digest(self) -> bytes:
        """Return a number for the description, which no other one has."""
        return hashlib.sha256("\0".join(self.parts).encode("utf-8", "surrogatepass")).digest()

    def add(self, part: str) -> None:
        """Add a part that tells by itself where it ends: it has no null byte."""
        if len(self.parts) >= MOST:
            raise NotDescribed("more than can be described in little time is reached")
        self.parts.append(part)

    def value(self, x: Any) -> None:
        """Describe an object.

        Raises:
            NotDescribed: there is no description.
        """
        kind = type(x)
        if kind in _PLAIN:
            self.add(f"{kind.__name__} {x!r}")
            return
        describe = _DESCRIBE.get(kind)
        if describe is not None:
            describe(self, x)
        elif isinstance(x, type):
            self._class(x)
        else:
            self._instance(x)

    @contextmanager
    def at(self, what: str) -> Iterator[None]:
        """In a `with` block, what cannot be described is named as a part of `what`."""
        self._path.append(what)
        yield
        self._path.pop()

    def place(self) -> str:
        """Return where the walk is."""
        return " of ".join(reversed(self._path[-2:])) or "the function"

    def _is_new(self, x: Any) -> bool:
        """Return True for an object that was not described; note the number of one that was."""
        number = self._numbers.get(id(x))
        if number is not None:
            self.add(f"again {number}")
            return False
        self._numbers[id(x)] = len(self._numbers)
        self._kept.append(x)
        return True

    # ---- containers and arrays -------------------------------------------------------------------

    def _sequence(self, x: Any) -> None:
        if type(x) is list and not self._is_new(x):
            return
        self.add(f"{type(x).__name__} {len(x)}")
        for part in x:
            self.value(part)

    def _dict(self, x: Any) -> None:
        if not self._is_new(x):
            return
        self.add(f"{type(x).__name__} {len(x)}")
        for key, part in list(x.items()):
            self.value(key)
            with self.at(f"the entry {key!r}"):
                self.value(part)

    def _set(self, x: Any, is_tested: bool = False) -> None:
        if type(x) is set and not self._is_new(x):
            return
        if not all(type(part) in _PLAIN for part in x):
            raise NotDescribed(f"{self.place()} is a set of more than numbers and strings")
        if not is_tested and not all(type(part) in (int, bool) for part in x):
            raise NotDescribed(f"{self.place()} is a set, whose order differs between processes")
        self.add(f"{type(x).__name__} {sorted(f'{type(p).__name__} {p!r}' for p in x)}")

    def _deque(self, x: Any) -> None:
        self.value([x.maxlen, *x])

    def _slice(self, x: Any) -> None:
        self.value((x.start, x.stop, x.step))

    def _dtype(self, x: np.dtype[Any]) -> None:
        if x.hasobject or x.fields is not None or x.metadata:
            raise NotDescribed(f"{self.place()} is the dtype {x}")
        self.add(f"dtype {x.name} {x.byteorder}")

    def _numpy_array(self, x: np.ndarray[Any, Any]) -> None:
        if self._is_new(x):
            self._elements(x)

    def _elements(self, x: np.ndarray[Any, Any]) -> None:
        self._dtype(x.dtype)
        self._bytes += x.nbytes
        if self._bytes > MOST_BYTES:
            raise NotDescribed(
                f"{self.place()} is one of arrays with more than {MOST_BYTES >> 20} MiB"
            )
        self.add(f"array {x.shape} {hashlib.sha256(x.tobytes()).hexdigest()}")

    def _array(self, x: ConcreteArray) -> None:
        if not self._is_new(x):
            return
        if x.committed:
            raise NotDescribed(f"{self.place()} is an array that was put on a device")
        self.aval(x.aval)
        self._elements(x.value)

    def aval(self, x: Any) -> None:
        """Describe the type of an array."""
        if type(x) is not ShapedArray or x.vma or x.sharding is not None:
            raise NotDescribed(f"{self.place()} has the type {x}")
        self.add(f"type {x.shape} {x.dtype.name} {x.weak_type}")

    def _key(self, x: KeyArray) -> None:
        self.add(f"key {x.key_type!r}")
        self.value(x.data)

    def _structure(self, x: Any) -> None:
        self.tree(x.spec if isinstance(x, PyTreeDef) else x)

    def tree(self, spec: optree.PyTreeSpec) -> None:
        """Describe the structure of a pytree."""
        self.add(f"tree {spec.num_nodes} {spec.namespace}")

        def node(kind: type, data: Any, children: Any) -> None:
            self.value(kind)
            self.value(data)
            self.add(f"children {len(children)}")

        spec.walk([None] * spec.num_leaves, node, lambda _: self.add("leaf"))

    # ---- functions -------------------------------------------------------------------------------

    def _function(self, x: types.FunctionType) -> None:
        if not self._is_new(x):
            return
        name = known.library_function(x)
        if name is not None:
            self.add(f"library {name}")
            return
        home = known.home(x)
        if known.is_own(home):
            known.check_pure(home, x.__code__.co_name)
            self.add(f"own {home} {x.__code__.co_qualname} {x.__code__.co_firstlineno}")
        elif known.of_numpy(x) is not None:
            self.add(f"numpy {known.of_numpy(x)}")
            return
        elif known.is_pythons(x):
            self.add(f"python {home} {x.__code__.co_qualname} {x.__code__.co_firstlineno}")
        else:
            with self.at(x.__qualname__):
                self._users_code(x)
                self._held(x, is_users=True)
            return
        self._held(x)

    def _users_code(self, x: types.FunctionType) -> None:
        self.add(f"function {x.__module__!r} {x.__qualname__!r} {x.__name__!r}")
        self._code(x.__code__)
        namespace, builtins = x.__globals__, x.__builtins__
        is_hash = x.__name__ == "__hash__"  # of which only dicts make use, as sets are refused
        variables: list[Chain] = []
        for code in codes(x.__code__):
            names = names_read(code)
            variables += names.variables
            self._attributes |= names.attributes
            self._reads_by_other_means |= names.has_patterns
            for chain in names.globals:
                if not (is_hash and chain == ("hash",) and "hash" not in namespace):
                    self._global(chain, namespace, builtins)
        for name, module in _modules(x):
            for chain in variables:
                if chain[0] == name:
                    self._chain(module, chain)

    def _code(self, code: types.CodeType) -> None:
        own = (
            *(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
            *(code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
            *(code.co_exceptiontable, code.co_name),
        )
        self.add(f"code {own!r} {len(code.co_consts)}")
        for constant in code.co_consts:
            if type(constant) is types.CodeType:
                self._code(constant)
            elif type(constant) is frozenset:  # of which code only asks what is in it
                self._set(constant, is_tested=True)
            else:
                self.value(constant)

    def _global(self, chain: tuple[str, ...], namespace: Any, builtins: Any) -> None:
        name = chain[0]
        self.add(f"global {name!r}")
        if name in namespace:
            found = namespace[name]
        elif name in builtins:
            found = builtins[name]
        else:
            self.add("absent")
            return
        self._chain(found, chain)

    def _chain(self, found: Any, chain: Chain) -> None:
        """Describe what is read of an object: of a module, the attribute."""
        name, *attributes = chain
        for attribute in attributes:
            if not isinstance(found, types.ModuleType):
                break
            found = known.module_attribute(found, attribute)
            name = f"{name}.{attribute}"
        with self.at(f"the global {name!r}"):
            self.value(found)

    def _held(self, x: types.FunctionType, is_users: bool = False) -> None:
        """Describe what a function holds beside its code."""
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
            try:
                inner = cell.cell_contents
            except ValueError:
                self.add("empty")
                continue
            if type(inner) is types.ModuleType and is_users:
                self.add("module")  # of which `_users_code` has described what is read
                continue
            with self.at(f"the variable {name!r}"):
                self.value(inner)
        with self.at("a default"):
            self.value(x.__defaults__)
            self.value(x.__kwdefaults__)
        for name, inner in x.__dict__.items():
            with self.at(f"the attribute {name!r}"):
                self.add(f"attribute {name!r}")
                self.value(inner)
        self.add("end")

    def _cached(self, x: Any) -> None:
        name = known.library_function(x)
        if name is None:
            raise NotDescribed(f"{self.place()} is a function with a cache")
        self.add(f"library {name}")

    def _method(self, x: types.MethodType) -> None:
        self.add("method")
        self.value(x.__func__)
        self.value(x.__self__)

    def _partial(self, x: functools.partial[Any]) -> None:
        self.add("partial")
        self.value(x.func)
        self.value(x.args)
        self.value(x.keywords)
        self.value(x.__dict__)

    def _builtin(self, x: Any) -> None:
        self.add(f"builtin {known.builtin(x)}")
        self._reads_by_other_means |= x in (getattr, hasattr)

    def _module(self, x: types.ModuleType) -> None:
        if x.__name__ not in known.MODULES_AS_VALUES:
            raise NotDescribed(
                f"{self.place()} is the module {x.__name__}, of which anything may be read"
            )
        self.add(f"module {x.__name__}")
        if x not in self._modules:
            self._modules.append(x)

    def finish(self) -> None:
        """Describe what may be read of modules of irax's that are used as values: all attributes
        that code names, of whatever value.

        Raises:
            NotDescribed: one cannot be described, or code computes names of attributes.
        """
        seen: set[tuple[str, str]] = set()
        while True:
            if self._modules and self._reads_by_other_means:
                raise NotDescribed(
                    f"the module {self._modules[0].__name__} is used as a value, and names of "
                    "attributes are computed"
                )
            named = {
                (x.__name__, name)
                for x in self._modules
                for name in self._attributes & {*vars(x), *dir(x)}
            }
            if not named - seen:
                return
            for module, name in sorted(named - seen):
                self.add(f"{module}.{name}")
                with self.at(f"{module}.{name}"):
                    self.value(known.module_attribute(sys.modules[module], name))
            seen |= named

    def _wrapper(self, x: Any) -> None:
        self.add(type(x).__name__)
        self.value(x.__func__)

    def _property(self, x: property) -> None:
        self.add("property")
        for part in (x.fget, x.fset, x.fdel):
            self.value(part)

    def _cached_property(self, x: Any) -> None:
        self.add("cached property")
        self.value(x.func)

    def _named(self, x: Any) -> None:
        kind = type(x)
        if kind is not types.MemberDescriptorType:
            if known.builtin(x.__objclass__) is None:
                raise NotDescribed(f"{self.place()} is written in C")
            self.add(x.__objclass__.__name__)
        self.add(f"{kind.__name__} {x.__name__!r}")

    def _text(self, x: Any) -> None:
        self.add(f"{type(x).__name__} {x!r}")

    def _field(self, x: Any) -> None:
        self.add(f"field {x.name!r} {x.init} {x.hash} {x.compare} {x.kw_only} {x._field_type!r}")
        for part in (x.type, x.default, x.default_factory, x.metadata):
            self.value(part)

    # ---- classes and instances -------------------------------------------------------------------

    def _class(self, x: type) -> None:
        name = known.builtin(x) or known.of_numpy(x) or known.of_python(x)
        if name is not None:
            self.add(f"class {name}")
            self._reads_by_other_means |= x in (operator.attrgetter, operator.methodcaller)
            return
        if not self._is_new(x):
            return
        module = str(x.__module__)
        if known.is_own(module):
            if not known.found_by_name(x, module, x.__qualname__):
                raise NotDescribed(f"{x!r} is not irax's class of this name")
            if _name(x) not in _HOLDERS:
                known.check_pure(module, x.__name__)
            self.add(f"class {module}.{x.__qualname__}")
            return
        with self.at(f"the class {x.__qualname__}"):
            self._users_class(x)

    def _users_class(self, x: type) -> None:
        self.classes.append(x)
        self.add(f"class {x.__module__!r} {x.__qualname__!r}")
        self.value(type(x))
        self.add(f"bases {len(x.__bases__)}")
        for base in x.__bases__:
            self.value(base)
        if "_abc_impl" in vars(x):
            self._check_abstract(x)
        self._registration(x)
        for name, inner in sorted(vars(x).items()):
            if name in _UNREAD or (name == "__hash__" and inner is None):
                continue
            with self.at(f"the attribute {name!r}"):
                self.add(f"attribute {name!r}")
                self.value(inner)
        self.add("end")

    def _check_abstract(self, x: Any) -> None:
        registered, *_ = abc._get_dump(x)  # pyright: ignore
        if registered:
            raise NotDescribed(f"{self.place()} has registered subclasses")

    def _registration(self, x: type) -> None:
        """Describe how a class is a pytree, if it is."""
        for namespace in (NAMESPACE, ARRAYS):
            found: Any = optree.register_pytree_node.get(x, namespace=namespace)  # pyright: ignore
            if found is not None and not optree.is_namedtuple_class(x):
                with self.at("its registration as a pytree"):
                    self.add(f"pytree {namespace}")
                    self.value(found.flatten_func)
                    self.value(found.unflatten_func)

    def _instance(self, x: Any) -> None:
        kind = type(x)
        if isinstance(x, np.dtype):
            self._dtype(x)
            return
        if isinstance(x, np.generic):
            self.add(f"number {x.dtype.name} {x.tobytes().hex()}")
            return
        name = known.is_library_instance(x) if known.is_own(kind.__module__) else known.of_numpy(x)
        if name is not None:
            self.add(f"library {name}")
            return
        if kind in (types.GenericAlias, types.UnionType) or kind.__module__ == "typing":
            self._type_expression(x)
            return
        if kind.__module__ == "dataclasses":
            self.add("MISSING" if x is dataclasses.MISSING else f"{kind.__name__} {x!r}")
            return
        if _name(kind) in ("collections._tuplegetter", "_collections._tuplegetter"):
            self.value(x.__reduce__()[1])
            return
        if not self._is_new(x):
            return
        self.value(kind)
        if _name(kind) in _HOLDERS:
            self._holder(x)
            return
        _check_layout(kind, self.place())
        self._parts(x)

    def _type_expression(self, x: Any) -> None:
        self.add(f"{type(x).__name__} {x!r}")
        self.value(getattr(x, "__origin__", None))
        self.value(getattr(x, "__args__", ()))

    def jitted(self, x: Any) -> None:
        """Describe the function that is called, with its options."""
        self._is_new(x)
        self._holder(x)

    def _holder(self, x: Any) -> None:
        own = {name: part for name, part in vars(x).items() if name not in _UNREAD_OF_HOLDERS}
        if own.get("_dynamic") is not None:
            raise NotDescribed(f"{self.place()} is jitted for all sizes")
        for name in ("_static", "_donated"):
            numbers, names = own.pop(name, ((), frozenset()))
            self.value((numbers, tuple(sorted(names))))
        self.value(own)

    def _parts(self, x: Any) -> None:
        for base in _BASES:
            if isinstance(x, base):
                self.add(f"as {base.__name__}")
                self.value(_CONTENT[base](x))
                break
        for cls in type(x).__mro__:
            for name, slot in vars(cls).items():
                if type(slot) is types.MemberDescriptorType:
                    self._slot(x, name, slot)
        try:
            own = object.__getattribute__(x, "__dict__")
        except AttributeError:
            own = {}
        if own:
            for name, inner in own.items():
                self.add(f"attribute {name!r}")
                with self.at(f"the attribute {name!r}"):
                    self.value(inner)
        self.add("end")

    def _slot(self, x: Any, name: str, slot: Any) -> None:
        try:
            inner = slot.__get__(x)
        except AttributeError:
            return
        self.add(f"slot {name!r}")
        with self.at(f"the attribute {name!r}"):
            self.value(inner)


def _check_layout(kind: type, place: str) -> None:
    """Refuse instances that hold more than attributes and what Python's containers hold: those of
    classes that are written in C.
    """
    base = kind
    while base not in _LAYOUTS:
        above: Any = base.__base__
        size = 8 * sum(type(x) is types.MemberDescriptorType for x in vars(base).values())
        size += 8 * (base.__weakrefoffset__ > 0 and above.__weakrefoffset__ == 0)
        size += 8 * (base.__dictoffset__ > 0 and above.__dictoffset__ == 0)
        if base.__basicsize__ != above.__basicsize__ + size or known.is_own(base.__module__):
            raise NotDescribed(f"{place} is of the class {_name(kind)}")
        base = above


def _modules(x: types.FunctionType) -> Iterator[tuple[str, types.ModuleType]]:
    """Yield the variables of functions around a function that are modules."""
    for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
        with suppress(ValueError):  # it is empty
            if type(cell.cell_contents) is types.ModuleType:
                yield name, cell.cell_contents


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


_DESCRIBE: dict[type, Callable[[Walk, Any], None]] = {
    tuple: Walk._sequence,
    list: Walk._sequence,
    dict: Walk._dict,
    types.MappingProxyType: Walk._dict,
    set: Walk._set,
    frozenset: Walk._set,
    deque: Walk._deque,
    slice: Walk._slice,
    np.ndarray: Walk._numpy_array,
    ConcreteArray: Walk._array,
    KeyArray: Walk._key,
    KeyType: Walk._text,
    PyTreeDef: Walk._structure,
    optree.PyTreeSpec: Walk._structure,
    types.FunctionType: Walk._function,
    type(functools.lru_cache(abs)): Walk._cached,
    types.MethodType: Walk._method,
    functools.partial: Walk._partial,
    types.BuiltinFunctionType: Walk._builtin,
    types.ModuleType: Walk._module,
    staticmethod: Walk._wrapper,
    classmethod: Walk._wrapper,
    property: Walk._property,
    functools.cached_property: Walk._cached_property,
    types.MemberDescriptorType: Walk._named,
    types.GetSetDescriptorType: Walk._named,
    types.WrapperDescriptorType: Walk._named,
    types.MethodDescriptorType: Walk._named,
    dataclasses.Field: Walk._field,
    type(NotImplemented): Walk._text,
}
