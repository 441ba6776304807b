"""Functions and classes that users did not write, of which it is known whether a trace that uses
them depends on nothing else.
"""

from __future__ import annotations

import builtins
import functools
import os
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from irax.core import origins
from irax.core.trees.registry import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey
from irax.execution.untraced.reading import NotDescribed

_BUILTINS_TEXT = """
    abs all any bool bytes callable chr complex dict divmod enumerate filter float format getattr
    hasattr int isinstance issubclass iter len list map max min next object ord pow property
    range repr reversed round slice sorted staticmethod classmethod str sum super tuple type zip
    NotImplemented Ellipsis __debug__
"""
_BUILTINS = _BUILTINS_TEXT.split()
"""Builtins without effects, whose results follow from their arguments. Not among them are those
that give the addresses of objects, take names to what they name, or make sets, whose order
differs between processes."""

_AT_FIRST = dict(vars(builtins))
"""The builtins as irax found them."""


def module_of(kind: type) -> str:
    """Return the name of the module of a class; "" where a class that is written in C has none."""
    return origins.module_of(kind)


def _is_of_c(value: Any) -> bool:
    """Return True for what Python's interpreter has, and not what stands in the place of it."""
    if isinstance(value, type):
        return module_of(value) == "builtins" and not value.__flags__ & _IS_OF_PYTHON
    return type(value) in (BuiltinFunctionType, bool, type(NotImplemented), type(...))


_IS_OF_PYTHON = 1 << 9
"""The flag of classes that were made by a program."""

_OF_BUILTINS: dict[int, str] = {
    id(_AT_FIRST[name]): name for name in _BUILTINS if _is_of_c(_AT_FIRST[name])
}
_OF_BUILTINS[id(type(None))] = "NoneType"
_OF_BUILTINS |= {
    id(value): name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and _is_of_c(value)
}

C_MODULES = frozenset({"math", "cmath", "operator", "_operator", "itertools"})
PYTHON_MODULES: frozenset[str] = frozenset(
    {
        *("abc", "collections", "collections.abc", "contextlib", "copy", "dataclasses", "enum"),
        *("functools", "numbers", "operator", "reprlib", "typing", "types", "itertools"),
        *("_collections_abc", "_collections"),
    }
)
"""Modules of Python's library whose functions depend on nothing but their arguments."""

_NOT_OF_PYTHON_TEXT = """
    get_type_hints redirect_stdout redirect_stderr chdir get_original_bases get_protocol_members
    get_annotations singledispatch is_ is_not
"""
_NOT_OF_PYTHON = frozenset(_NOT_OF_PYTHON_TEXT.split())
"""Functions of these that read more than is described, ask for identities, or have effects."""

_NAMES_OF_TUPLES = {"_tuple_new", "__builtins__", "__name__"}
"""The globals of the methods that `collections.namedtuple` makes."""
_LIBRARY = os.path.dirname(os.__file__)

_NOT_OF_NUMPY_TEXT = """
    save savez savez_compressed savetxt load loadtxt genfromtxt fromfile memmap empty empty_like
    seterr geterr seterrcall geterrcall setbufsize getbufsize set_printoptions get_printoptions
    printoptions show_config show_runtime test info DataSource fromregex get_include
"""
_NOT_OF_NUMPY = frozenset(_NOT_OF_NUMPY_TEXT.split())
_NUMPY_MODULES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.polynomial", "numpy.strings")

_PURE = (
    *("irax.numpy", "irax.lax", "irax.nn", "irax.random", "irax.scipy", "irax.image", "irax.tree"),
    *("irax.tree_util", "irax.flatten_util", "irax.transforms", "irax.dtypes", "irax.errors"),
    *("irax.ad_checkpoint", "irax.custom_derivatives", "irax.typing", "irax.core.avals"),
    *(
        "irax.core.array",
        "irax.core.trees.treedefs",
        "irax.core.trees.nodes",
        "irax.core.trees.prefixes",
    ),
    *(
        "irax.core.source",
        "irax.core.tracebacks",
        "irax.core.dtypes.strictness",
        "irax.core.wrapping",
    ),
    *("irax.core.closures", "irax.execution.replay", "irax.execution.shapes"),
    *("irax.core.dtypes.kinds", "irax.core.dtypes.result_types", "irax.core.dtypes.values"),
    *("irax.execution.jit", "irax.execution.jitted", "irax.core.trees.registry"),
)
"""Modules, and the beginnings of names of packages, whose functions have no effects outside of a
trace, and depend on arguments and on the options that traces depend on."""
_NOT_PURE = (
    *("irax.numpy.files", "irax.numpy.printing", "irax.numpy.dlpack", "irax.transforms.pmap"),
    "irax.transforms.shard_map",
)
_NOT_OF_IRAX_TEXT = """
    load save savez savez_compressed fromfile set_printoptions get_printoptions printoptions
    from_dlpack empty_ref new_ref free_ref freeze clear_caches pmap shard_map device_put
"""
_NOT_OF_IRAX = frozenset(_NOT_OF_IRAX_TEXT.split())
_ALSO_PURE = frozenset(
    {
        "irax.config.default_matmul_precision",
        *("irax.core.shardings.explicit_axes.typeof", "irax.core.key_arrays.KeyArray"),
    }
)
_OWN = ("irax.", "irax_compiler.", "irax_runtime.")


MODULES_AS_VALUES = frozenset(
    {
        *("irax", "irax.numpy", "irax.lax", "irax.nn", "irax.random", "irax.tree"),
        *("irax.tree_util", "irax.numpy.linalg", "irax.numpy.fft"),
    }
)
"""Modules all of whose attributes `dir` tells, those that are imported when first used too."""
_KEYS_OF_TREES = {DictKey, GetAttrKey, SequenceKey, FlattenedIndexKey}


def top(name: str) -> str:
    """Return the package that a module is in."""
    return name.partition(".")[0]


def is_own(module: str) -> bool:
    """Return True for the names of irax's modules."""
    return module == "irax" or module.startswith(_OWN)


def home(function: FunctionType) -> str:
    """Return the name of the module in which a function was defined, whatever it says of itself.
    It is empty where no module of this name has the function's globals.
    """
    namespace = function.__globals__
    name = namespace.get("__name__")
    if type(name) is not str:
        return ""
    if name.startswith("namedtuple_"):
        return name if namespace.keys() == _NAMES_OF_TUPLES else ""
    module = sys.modules.get(name)
    return name if module is not None and vars(module) is namespace else ""


@functools.cache
def _is_pythons_file(name: str) -> bool:
    """Return True for a module of Python's library, and not a user's of the same name."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or os.path.dirname(os.path.abspath(file)).startswith(_LIBRARY)


def check_builtins() -> None:
    """Refuse where a builtin was replaced, by which the library's functions find it too."""
    now = vars(builtins)
    for name, value in _AT_FIRST.items():
        if name != "_" and now.get(name) is not value:
            raise NotDescribed(f"the builtin {name} was replaced")


def found_by_name(value: Any, module: str, name: str) -> bool:
    """Return True if a module, or a package that it is in, has an object under its name."""
    while module:
        holder = sys.modules.get(module)
        if holder is not None:
            found: Any = vars(holder)
            for part in name.split("."):
                found = found.get(part) if found.__class__ is dict else getattr(found, part, None)
                if found is None:
                    break
            if found is value:
                return True
        module = module.rpartition(".")[0]
    return False


def check_pure(module: str, name: str) -> None:
    """Refuse a function or class of irax's that is not known to be pure.

    Raises:
        NotDescribed: it is one of those.
    """
    is_pure = any(module == known or module.startswith(f"{known}.") for known in _PURE)
    is_pure = is_pure or f"{module}.{name}" in _ALSO_PURE
    has_effects = name in _NOT_OF_IRAX or name.startswith("register")
    if not is_pure or has_effects or module.startswith(_NOT_PURE):
        raise NotDescribed(f"{module}.{name} may do more than a trace shows")


def builtin(value: Any) -> str | None:
    """Return the name of a builtin function or class; None for other objects.

    Raises:
        NotDescribed: it is one that has effects, or whose results depend on more than arguments.
    """
    name = _OF_BUILTINS.get(id(value))
    if name is not None:
        return name
    if type(value) is BuiltinFunctionType:
        module, name = value.__module__ or "", value.__name__
        is_known = module in C_MODULES and name not in _NOT_OF_PYTHON
        if is_known and found_by_name(value, module, name):
            return f"{module}.{name}"
        if value is functools.reduce:
            return "functools.reduce"
        if name == "__new__" and id(value.__self__) in _OF_BUILTINS:
            return f"{_OF_BUILTINS[id(value.__self__)]}.__new__"
        if top(module) == "numpy":
            return of_numpy(value)
        raise NotDescribed(f"{module}.{name} is not known to be pure")
    if isinstance(value, type) and module_of(value) == "builtins":
        raise NotDescribed(f"the builtin class {value.__name__} is not known")
    return None


def of_numpy(value: Any) -> str | None:
    """Return the name of a function or class of NumPy's; None for other objects.

    Raises:
        NotDescribed: it has effects, or is not known by its name.
    """
    kind: type = type(value)
    module = "numpy" if kind is np.ufunc else getattr(value, "__module__", None)
    is_function = kind is FunctionType and top(home(value)) == "numpy"
    of_c = module_of(kind) in ("numpy", "builtins") and kind is not FunctionType
    if (
        type(module) is not str
        or top(module) != "numpy"
        or not (is_function or of_c or kind is type)
    ):
        return None
    name = str(getattr(value, "__name__", ""))
    if module not in _NUMPY_MODULES or name in _NOT_OF_NUMPY:
        raise NotDescribed(f"{module}.{name} is not known to be pure")
    if not any(found_by_name(value, known, name) for known in _NUMPY_MODULES):
        raise NotDescribed(f"{module}.{name} is not NumPy's function of this name")
    return f"{module}.{name}"


def of_python(value: Any) -> str | None:
    """Return the name of a class of Python's library that is known; None for other objects."""
    module, name = module_of(value), value.__qualname__
    is_known = module in PYTHON_MODULES and name not in _NOT_OF_PYTHON
    if is_known and _is_pythons_file(module) and found_by_name(value, module, name):
        return f"{module}.{name}"
    return None


def is_pythons(function: FunctionType) -> bool:
    """Return True for a function of Python's library that depends on its arguments alone."""
    name = home(function)
    is_known = name in PYTHON_MODULES and _is_pythons_file(name)
    is_known = is_known or name.startswith("namedtuple_")
    return is_known and function.__name__ not in _NOT_OF_PYTHON


def library_function(function: Any) -> str | None:
    """Return the name of a function of irax's public modules, which holds no function of the
    user's; None for others.

    Raises:
        NotDescribed: it is one that may do more than a trace shows.
    """
    module, name = origins.module_of(function), origins.name_of(function)
    inner = function if type(function) is FunctionType else function.__wrapped__
    if type(inner) is not FunctionType:
        return None
    if not is_own(home(inner)) and home(inner) not in ("contextlib", "functools"):
        return None
    if type(module) is not str or not is_own(module):
        return None
    if not found_by_name(function, module, name) or not _holds_own_functions(inner):
        return None
    check_pure(module, name)
    return f"{module}.{name}"


def _holds_own_functions(function: FunctionType, depth: int = 8) -> bool:
    """Return True if all functions that a function wraps are irax's."""
    for cell in function.__closure__ or ():
        try:
            inner = cell.cell_contents
        except ValueError:
            return False
        if type(inner) is FunctionType:
            if depth == 0 or not (is_own(home(inner)) or home(inner) == "contextlib"):
                return False
            if not _holds_own_functions(inner, depth - 1):
                return False
    return True


def is_library_instance(value: Any) -> str | None:
    """Return the name of an object of irax's that is no function: a ufunc, a dtype, a key."""
    kind = type(value)
    if kind in _KEYS_OF_TREES:
        return f"{kind.__name__} {value!r}"
    name = getattr(value, "__name__", None)
    home_of_all = _HOMES.get(kind.__name__)
    if home_of_all is None or type(name) is not str:
        return None
    if not found_by_name(value, home_of_all, name) or not all(map(_is_own_function, _held(value))):
        return None
    return f"{kind.__name__} {name}"


_HOMES = {"ufunc": "irax.numpy", "ScalarType": "irax.numpy", "Distribution": "irax.scipy.stats"}
"""Classes of objects of irax's that are no functions, and the modules that have them by name."""


def _held(value: Any) -> list[Any]:
    return [x for x in getattr(value, "__dict__", {}).values() if type(x) is FunctionType]


def _is_own_function(function: FunctionType) -> bool:
    return is_own(home(function)) and _holds_own_functions(function)


def module_attribute(module: ModuleType, name: str) -> Any:
    """Return an attribute of a module, as code that reads it would get it.

    Raises:
        NotDescribed: the module computes it.
    """
    held = vars(module)
    if type(module) is not ModuleType:
        raise NotDescribed(f"the module {module.__name__} is of the class {type(module).__name__}")
    if name in held:
        return held[name]
    if top(module.__name__) in ("irax", "numpy", "jax"):
        try:
            return getattr(module, name)
        except AttributeError:
            pass
    raise NotDescribed(f"the module {module.__name__} has no attribute {name!r}")
