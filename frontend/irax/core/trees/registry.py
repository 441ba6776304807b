"""The registry of classes that are pytrees, and key paths.

optree holds the registry. Its namespace "irax" keeps what is registered here to irax alone: a class
may be a pytree for another library too, in another way. The namespace "irax.arrays" has the same
classes, and typed random keys: see `array_trees`.

A class is registered with a function that takes an instance apart, into children and static data,
and one that puts it together. The static data are part of the structure: they must be hashable and
comparable, since the structure is what `jit` looks compiled functions up by.

Users find all of this in `irax.tree_util`.
"""

import contextlib
import dataclasses
import functools
import operator
import threading
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import optree

from irax.core.trees.parts import check_node, checked, not_parts

NAMESPACE = "irax"
ARRAYS = "irax.arrays"
"""The namespace in which typed keys are not leaves but hold their words: pytrees as transformations
see them."""

_Class = TypeVar("_Class", bound=type)


# ---- Key paths ----


class _Step:
    """A base of the steps of key paths, which are pickled as tuples of their fields."""

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(vars(self).values())

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        fields: Any = type(self)
        vars(self).update(zip(fields.__dataclass_fields__, state, strict=True))


@dataclass(frozen=True)
class SequenceKey(_Step):
    """The step to an element of a tuple or list: `[idx]`."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclass(frozen=True)
class DictKey(_Step):
    """The step to a value of a dict: `[key]`."""

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True)
class GetAttrKey(_Step):
    """The step to a field of a named tuple, dataclass or other object: `.name`."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True)
class FlattenedIndexKey(_Step):
    """The step to a child that has only its number, in a class registered without keys."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key!r}>]"


KeyEntry = Any
"""A step of a key path: one of the classes above, or what a class registered with keys gave."""
KeyPath = tuple[KeyEntry, ...]


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """Return a key path as text, by default in the form of the Python expression.

    Args:
        keys: the key path.
        simple: write the bare names and numbers.
        separator: goes between the steps.

    Raises:
        TypeError: `keys` is not a sequence.

    Example:
        >>> from irax.tree_util import DictKey, SequenceKey, keystr
        >>> keystr((DictKey("w"), SequenceKey(0)))
        "['w'][0]"
        >>> keystr((DictKey("w"), SequenceKey(0)), simple=True, separator="/")
        'w/0'
    """
    return separator.join(map(_bare if simple else str, keys))


def _bare(key: KeyEntry) -> str:
    match key:
        case SequenceKey(name) | DictKey(name) | GetAttrKey(name) | FlattenedIndexKey(name):
            return str(name)
        case _:
            return str(key)


class _Keyed(optree.PyTreeEntry):
    """optree's step into a class that was registered with keys; holds such a key."""


class Unseen(optree.PyTreeEntry):
    """optree's step into a node that is a leaf for users; key paths leave it out."""


def key_path(accessor: optree.PyTreeAccessor) -> KeyPath:
    """Return optree's way to a leaf as a key path."""
    return tuple(_key(entry) for entry in accessor if not isinstance(entry, Unseen))


def _key(entry: optree.PyTreeEntry) -> KeyEntry:
    match entry:
        case _Keyed():
            return entry.entry
        case optree.SequenceEntry():
            # Named tuples and the like number their fields, and know their names.
            field = getattr(entry, "field", None)
            return SequenceKey(entry.index) if field is None else GetAttrKey(field)
        case optree.MappingEntry():
            return DictKey(entry.key)
        case _:
            return FlattenedIndexKey(entry.entry)


# ---- Registration ----


class _Asked(threading.local):
    """The options of a thread for taking pytrees apart."""

    keys: bool = False
    """True if structures hold keys wherever they can."""


_asked = _Asked()


@contextlib.contextmanager
def asking_for_keys() -> Iterator[None]:
    """In this context structures hold the keys of classes that have a function without keys."""
    before, _asked.keys = _asked.keys, True
    try:
        yield
    finally:
        _asked.keys = before


def _register(nodetype: type, flatten: Any, unflatten: Any, entry: type) -> None:
    with warnings.catch_warnings():  # a named tuple may be a node of another kind
        warnings.filterwarnings("ignore", "PyTree type .*namedtuple", UserWarning)
        for namespace in (NAMESPACE, ARRAYS):
            optree.register_pytree_node(
                nodetype, flatten, unflatten, path_entry_type=entry, namespace=namespace
            )


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Make a class a pytree.

    Args:
        nodetype: the class. Its subclasses aren't included.
        flatten_func: takes an instance to its children and its static data.
        unflatten_func: takes the static data and the children to an instance.
        flatten_with_keys_func: takes an instance to pairs of a key and a child, and its static
            data, where key paths are asked for.

    Raises:
        ValueError: the class is a pytree already.
        TypeError: `nodetype` isn't a class, or a function isn't callable.

    Example:
        >>> from irax.tree_util import register_pytree_node, tree_leaves
        >>> class Range:
        ...     def __init__(self, low, high):
        ...         self.low, self.high = low, high
        >>> register_pytree_node(Range, lambda r: ((r.low, r.high), None), lambda _, c: Range(*c))
        >>> tree_leaves([Range(1, 2), 3])
        [1, 2, 3]
    """
    if flatten_with_keys_func is not None:
        register_pytree_with_keys(nodetype, flatten_with_keys_func, unflatten_func, flatten_func)
        return
    check_node(nodetype, flatten_func, unflatten_func)
    _register(nodetype, checked(flatten_func), unflatten_func, optree.FlattenedEntry)


def register_pytree_node_class(cls: _Class) -> _Class:
    """Make a class a pytree that has the methods `tree_flatten` and `tree_unflatten`; a decorator.

    `tree_flatten(self)` returns the children and the static data; the class method
    `tree_unflatten(cls, static_data, children)` returns an instance.

    Args:
        cls: the class.

    Raises:
        ValueError: the class is a pytree already.

    Example:
        >>> from irax.tree_util import register_pytree_node_class, tree_leaves
        >>> @register_pytree_node_class
        ... class Box:
        ...     def __init__(self, content):
        ...         self.content = content
        ...
        ...     def tree_flatten(self):
        ...         return (self.content,), None
        ...
        ...     @classmethod
        ...     def tree_unflatten(cls, static_data, children):
        ...         return cls(*children)
        >>> tree_leaves(Box([1, 2]))
        [1, 2]
    """
    methods: Any = cls
    register_pytree_node(cls, methods.tree_flatten, methods.tree_unflatten)
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Make a class a pytree whose children have keys, which key paths then show.

    Args:
        nodetype: the class. Its subclasses aren't included.
        flatten_with_keys: takes an instance to pairs of a key and a child, and its static data.
        unflatten_func: takes the static data and the children to an instance.
        flatten_func: takes an instance to its children and its static data, where no key paths
            are asked for; by default `flatten_with_keys` does.

    Raises:
        ValueError: the class is a pytree already.
        TypeError: `nodetype` isn't a class, or a function isn't callable.

    Example:
        >>> from irax.tree_util import GetAttrKey, keystr
        >>> from irax.tree_util import register_pytree_with_keys, tree_leaves_with_path
        >>> class Box:
        ...     def __init__(self, content):
        ...         self.content = content
        >>> flatten = lambda box: ([(GetAttrKey("content"), box.content)], None)
        >>> register_pytree_with_keys(Box, flatten, lambda _, children: Box(*children))
        >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path(Box([1]))]
        [('.content[0]', 1)]
    """
    check_node(nodetype, flatten_with_keys, unflatten_func)

    def flatten(instance: Any) -> tuple[tuple[Any, ...], Hashable, tuple[KeyEntry, ...]]:
        found = flatten_with_keys(instance)
        try:
            pairs, static = found
            keys, children = tuple(zip(*pairs, strict=True)) or ((), ())
        except (TypeError, ValueError) as error:
            raise not_parts(instance, found, "pairs of a key and a child") from error
        return children, static, keys

    parts = flatten if flatten_func is None else checked(flatten_func)

    def flatten_as_asked(instance: Any) -> tuple[Any, ...]:
        return flatten(instance) if _asked.keys else parts(instance)

    chosen = flatten if flatten_func is None else flatten_as_asked
    _register(nodetype, chosen, unflatten_func, _Keyed)


def register_pytree_with_keys_class(cls: _Class) -> _Class:
    """Make a class a pytree that has `tree_flatten_with_keys` and `tree_unflatten`; a decorator.

    `tree_flatten_with_keys(self)` returns pairs of a key and a child, and the static data; the
    class method `tree_unflatten(cls, static_data, children)` returns an instance. Where the class
    has `tree_flatten`, that runs where no key paths are asked for.

    Args:
        cls: the class.

    Raises:
        ValueError: the class is a pytree already.

    Example:
        >>> from irax.tree_util import GetAttrKey, keystr
        >>> from irax.tree_util import register_pytree_with_keys_class, tree_leaves_with_path
        >>> @register_pytree_with_keys_class
        ... class Box:
        ...     def __init__(self, content):
        ...         self.content = content
        ...
        ...     def tree_flatten_with_keys(self):
        ...         return [(GetAttrKey("content"), self.content)], None
        ...
        ...     @classmethod
        ...     def tree_unflatten(cls, static_data, children):
        ...         return cls(*children)
        >>> keystr(tree_leaves_with_path([Box(1)])[0][0])
        '[0].content'
    """
    methods: Any = cls
    register_pytree_with_keys(
        cls,
        methods.tree_flatten_with_keys,
        methods.tree_unflatten,
        getattr(cls, "tree_flatten", None),
    )
    return cls


def register_dataclass(
    nodetype: _Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> _Class:
    """Make a dataclass a pytree; a decorator.

    Its constructor puts it together, so `__post_init__` runs each time, and may find traced values
    or other stand-ins for arrays in the fields.

    Args:
        nodetype: the dataclass, or a class that takes its fields as keyword arguments.
        data_fields: the fields that are children.
        meta_fields: the fields that are static data. Where neither is given, these are the fields
            of the dataclass with `dataclasses.field(metadata={"static": True})`, and the children
            are the others.
        drop_fields: the fields that are neither: they are lost, and get their default.

    Raises:
        ValueError: a field of a dataclass's constructor is missing, unknown or there twice, or the
            class is a pytree already.
        TypeError: only one of `data_fields` and `meta_fields` is given, or neither, for a class
            that isn't a dataclass.

    Example:
        >>> from dataclasses import dataclass, field
        >>> from irax.tree_util import register_dataclass, tree_map
        >>> @register_dataclass
        ... @dataclass
        ... class Layer:
        ...     weight: float
        ...     name: str = field(metadata={"static": True})
        >>> tree_map(lambda x: 2 * x, Layer(1.5, "first"))
        Layer(weight=3.0, name='first')
    """
    data, meta = _dataclass_fields(nodetype, data_fields, meta_fields, drop_fields)
    keys = tuple(map(GetAttrKey, data))
    get_data, get_meta = _attributes(data), _attributes(meta)

    def flatten(instance: Any) -> tuple[tuple[Any, ...], Hashable, tuple[KeyEntry, ...]]:
        return get_data(instance), get_meta(instance), keys

    def unflatten(static: Any, children: Iterable[Any]) -> Any:
        return nodetype(**dict(zip(data + meta, (*children, *static), strict=True)))

    _register(nodetype, flatten, unflatten, _Keyed)
    return nodetype


def _dataclass_fields(
    cls: type,
    data: Sequence[str] | None,
    meta: Sequence[str] | None,
    drop: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    name = f"register_dataclass({cls.__name__})"
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else None
    if data is None and meta is None and fields is not None:
        kept = [field for field in fields if field.init and field.name not in drop]
        data = [field.name for field in kept if not field.metadata.get("static", False)]
        meta = [field.name for field in kept if field.metadata.get("static", False)]
    if data is None or meta is None:
        raise TypeError(
            f"{name} needs data_fields and meta_fields"
            + (", or neither of them" if fields is not None else ": it is not a dataclass")
        )
    named = [*data, *meta, *drop]
    twice = sorted({field for field in named if named.count(field) > 1})
    if twice:
        raise ValueError(f"{name}: name each field once; there twice: {', '.join(twice)}")
    if fields is not None:
        missing = sorted({field.name for field in fields if field.init} - set(named))
        unknown = sorted({*data, *meta} - {field.name for field in fields if field.init})
        if missing or unknown:
            raise ValueError(
                f"{name}: data_fields, meta_fields and drop_fields must name each argument of the "
                f"constructor; missing: {', '.join(missing) or 'none'}; "
                f"unknown: {', '.join(unknown) or 'none'}"
            )
    return tuple(data), tuple(meta)


def _attributes(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that gets these attributes, always as a tuple."""
    match names:
        case []:
            return lambda _: ()
        case [name]:
            return lambda instance: (getattr(instance, name),)
        case _:
            return operator.attrgetter(*names)


def register_static(cls: _Class) -> _Class:
    """Make the instances of a class part of the structure, with no leaves; a decorator.

    The class must have `__eq__` and `__hash__`.

    Args:
        cls: the class.

    Raises:
        ValueError: the class is a pytree already.

    Example:
        >>> from dataclasses import dataclass
        >>> from irax.tree_util import register_static, tree_leaves
        >>> @register_static
        ... @dataclass(frozen=True)
        ... class Mode:
        ...     training: bool
        >>> tree_leaves((Mode(True), 1))
        [1]
    """
    register_pytree_node(cls, lambda instance: ((), instance), lambda instance, _: instance)
    return cls


# ---- Functions with arguments ----


class Partial(functools.partial[Any]):
    """`functools.partial` as a pytree: the arguments are children, the function is static.

    So a function that carries arrays may be an argument or a result of a transformed function. A
    `functools.partial` given as the function stays static, arguments and all; a `Partial` hands
    over its arguments.

    Example:
        >>> from irax.tree_util import Partial, tree_leaves
        >>> tree_leaves(Partial(pow, 2, mod=5))
        [2, 5]
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **keywords: Any) -> "Partial":
        if isinstance(func, Partial):
            func, args, keywords = func.func, func.args + args, func.keywords | keywords
        elif isinstance(func, functools.partial):
            func = _Whole(func)
        return super().__new__(cls, func, *args, **keywords)


class _Whole:
    """Keeps `functools.partial` from merging the arguments of the partial that it is given. It is
    equal to that partial.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func

    def __eq__(self, other: Any) -> bool:
        return self.func == (other.func if isinstance(other, _Whole) else other)

    def __hash__(self) -> int:
        return hash(self.func)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.func(*args, **keywords)


register_pytree_node(
    Partial,
    lambda partial: ((partial.args, partial.keywords), partial.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
