"""The description of a function: its code, and all that a trace of it can read.

What cannot be described raises `NotDescribed`, with a sentence that names it. Descriptions of two
functions are equal only if Python does the same for both: the first step is the same, and so is
what each step reads, as it is described, or follows from what is.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import operator
import sys
import types
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from irax.core import origins
from irax.execution.untraced import known
from irax.execution.untraced.layouts import BASES, CONTENT, check_layout, name_of
from irax.execution.untraced.parts import DESCRIBE, PLAIN, Parts
from irax.execution.untraced.reading import Chain, NotDescribed, codes, names_read
from irax.execution.untraced.registrations import Registrations

_UNREAD_TEXT = """
    __dict__ __weakref__ __doc__ __annotations__ __module__ __qualname__ __firstlineno__
    __static_attributes__ __annotate__ __annotate_func__ __annotations_cache__ __orig_bases__
    __parameters__ __abstractmethods__ _abc_impl __slots__ __classcell__
"""
_UNREAD = frozenset(_UNREAD_TEXT.split())
"""Attributes of classes that code cannot name, or that follow from others."""
_MATCHED = 3 << 5
"""The flags of classes whose instances `match` takes for sequences or mappings."""
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


class Walk(Parts):
    """A description of functions and classes, with all parts."""

    def __init__(self) -> None:
        super().__init__()
        self.classes: list[type] = []
        """The user's classes that were described, in order."""
        self._modules: list[types.ModuleType] = []
        """Modules that are used as values."""
        self._attributes: set[str] = set()
        """The names of attributes that code reads."""
        self._reads_by_other_means = False
        self._registered = Registrations()
        self.add(self._registered.of_libraries())
        for kind, functions in self._registered.other_pytrees():
            self.add(f"pytree {kind.__module__}.{kind.__qualname__}")
            self.value(functions)

    def value(self, x: Any) -> None:
        """Describe an object.

        Raises:
            NotDescribed: there is no description.
        """
        kind = type(x)
        if kind in PLAIN:
            self._plain(x)
            return
        describe = _DESCRIBE.get(kind)
        if describe is not None:
            describe(self, x)
        elif isinstance(x, type):
            self._class(x)
        else:
            self._instance(x)

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
            self._library_code("own", home, x.__code__)
        elif known.of_numpy(x) is not None:
            self.add(f"numpy {known.of_numpy(x)}")
            return
        elif known.is_pythons(x):
            self._library_code("python", home, x.__code__)
        else:
            with self.at(x.__qualname__):
                self._users_code(x)
                self._held(x, is_users=True)
            return
        self._held(x)

    def _library_code(self, whose: str, home: str, code: types.CodeType) -> None:
        self.add(f"{whose} {home} {code.co_qualname} {code.co_firstlineno}")
        if code.co_name == "<lambda>":  # of which a line may have several
            self._code(code)

    def _users_code(self, x: types.FunctionType) -> None:
        self.add(f"function {x.__module__!r} {x.__qualname__!r} {x.__name__!r}")
        self._code(x.__code__)
        namespace, builtins = x.__globals__, x.__builtins__
        if type(namespace) is not dict or type(builtins) is not dict:
            raise NotDescribed(f"{x.__qualname__} has globals that are computed")
        is_hash = x.__name__ == "__hash__"  # of which only dicts make use, as sets are refused
        variables: list[Chain] = []
        for code in codes(x.__code__):
            names = names_read(code)
            variables += names.variables
            for chain in names.compared:
                self._check_identity(chain, x, chain in names.variables)
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

    def _check_identity(self, chain: Chain, x: types.FunctionType, is_variable: bool) -> None:
        """Refuse to ask whether a value is the same object as a global or a variable, unless that
        is one of those whose identity is described.
        """
        name = chain[0]
        if is_variable:
            cells = dict(zip(x.__code__.co_freevars, x.__closure__ or (), strict=True))
            found = cells[name].cell_contents if name in cells else None
        else:
            found = x.__globals__.get(name, x.__builtins__.get(name))
        found, _, left = _followed(found, chain)
        if len(left) == 1 and isinstance(found, enum.EnumType):
            found, left = found._member_map_.get(left[0]), []
        if left or not (isinstance(found, (type, enum.Enum)) or type(found) is object):
            raise NotDescribed(f"it asks if a value is the same object as {'.'.join(chain)}")

    def _chain(self, found: Any, chain: Chain) -> None:
        """Describe what is read of an object: of a module, the attribute."""
        found, name, _ = _followed(found, chain)
        with self.at(f"the global {name!r}"):
            self.value(found)

    def _held(self, x: types.FunctionType, is_users: bool = False) -> None:
        """Describe what a function holds beside its code."""
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
            if not self._is_new(cell):
                continue
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
            formats = not self._attributes.isdisjoint(("format", "format_map"))
            if self._modules and (self._reads_by_other_means or formats):
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
        module = known.module_of(x)
        if known.is_own(module):
            if not known.found_by_name(x, module, origins.name_of(x)):
                raise NotDescribed(f"{x!r} is not irax's class of this name")
            if name_of(x) not in _HOLDERS:
                known.check_pure(module, origins.name_of(x))
            self.add(f"class {module}.{origins.name_of(x)}")
            return
        with self.at(f"the class {x.__qualname__}"):
            self._users_class(x)

    def _users_class(self, x: type) -> None:
        self.classes.append(x)
        self.add(f"class {x.__module__!r} {x.__qualname__!r}")
        self.value(type(x))
        self.add(f"flags {x.__flags__ & _MATCHED} {self._registered.abstract_of(x)}")
        self.add(f"bases {len(x.__bases__)}")
        for base in x.__bases__:
            self.value(base)
        self._registered.check(x)
        self._registration(x)
        for name, inner in sorted(vars(x).items()):
            if name in _UNREAD or (name == "__hash__" and inner is None):
                continue
            with self.at(f"the attribute {name!r}"):
                self.add(f"attribute {name!r}")
                self.value(inner)
        self.add("end")

    def _registration(self, x: type) -> None:
        """Describe how a class is a pytree, if it is."""
        functions = self._registered.pytree(x)
        if functions:
            with self.at("its registration as a pytree"):
                self.add("pytree")
                self.value(functions)

    def _instance(self, x: Any) -> None:
        kind = type(x)
        if isinstance(x, np.dtype):
            self._dtype(x)
            return
        if isinstance(x, np.generic):
            self._dtype(x.dtype)
            self.add(f"number {x.tobytes().hex()}")
            return
        name = (
            known.is_library_instance(x)
            if known.is_own(known.module_of(kind))
            else known.of_numpy(x)
        )
        if name is not None:
            self.add(f"library {name}")
            return
        is_typings = vars(typing).get(kind.__name__) is kind
        if kind in (types.GenericAlias, types.UnionType) or is_typings:
            self._type_expression(x)
            return
        if vars(dataclasses).get(kind.__name__) is kind:
            self.add("MISSING" if x is dataclasses.MISSING else f"{kind.__name__} {x!r}")
            return
        if name_of(kind) in ("collections._tuplegetter", "_collections._tuplegetter"):
            self.value(x.__reduce__()[1])
            return
        if not self._is_new(x):
            return
        self.value(kind)
        if name_of(kind) in _HOLDERS:
            self._holder(x)
            return
        check_layout(kind, self.place())
        self._parts(x)

    def _type_expression(self, x: Any) -> None:
        self.add(f"{type(x).__name__} {x!r}")
        self.value(getattr(x, "__origin__", None))
        self.value(getattr(x, "__args__", ()))
        self.value(getattr(x, "__metadata__", ()))

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
        for base in BASES:
            if isinstance(x, base):
                self.add(f"as {base.__name__}")
                self.value(CONTENT[base](x))
                break
        for cls in type(x).__mro__:
            for name, slot in vars(cls).items():
                if type(slot) is types.MemberDescriptorType:
                    self._slot(x, name, slot)
        try:
            own = object.__getattribute__(x, "__dict__")
        except AttributeError:
            own = {}
        if own and self._is_new(own):
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


def _followed(found: Any, chain: Chain) -> tuple[Any, str, list[str]]:
    """Return the object that attributes of modules lead to, its name, and the attributes left."""
    name, *attributes = chain
    while attributes and isinstance(found, types.ModuleType):
        found = known.module_attribute(found, attributes[0])
        name = f"{name}.{attributes.pop(0)}"
    return found, name, attributes


def _modules(x: types.FunctionType) -> Iterator[tuple[str, types.ModuleType]]:
    """Yield the variables of functions around a function that are modules."""
    for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
        with suppress(ValueError):  # it is empty
            if type(cell.cell_contents) is types.ModuleType:
                yield name, cell.cell_contents


_DESCRIBE: dict[type, Callable[[Any, Any], None]] = {
    **DESCRIBE,
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
}
