"""The installed JAX beside irax: names of modules, members of classes, parameters of functions.

python -m tests.parity [BUILD/parity.md]     (`make parity`)
    writes a table of what JAX has and irax lacks: each row has its reason, or a question mark.
    docs/parity.md is that of the version that irax follows

JAX's modules are imported, and described by `inspect`. Modules of `LEFT_OUT` are JAX's internals,
or parts that irax.core.absent_names names whole.
"""

import importlib
import inspect
import itertools
import pkgutil
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracle import LACKING

import irax
from irax.compat.finder import home_of, stands_at
from irax.core.absent_names import why_absent

LEFT_OUT = (
    *(
        "jax._src",
        "jax.interpreters",
        "jax.lib",
        "jax.tools",
        "jax.example_libraries",
        "jax.version",
    ),
    *("jax.experimental.jax2tf", "jax.experimental.mosaic", "jax.experimental.pallas"),
    *("jax.experimental.array_serialization", "jax.experimental.colocated_python"),
    *("jax.experimental.key_reuse", "jax.experimental._private_mm", "jax.extend.mlir"),
    *("jax.experimental.slab", "jax.cloud_tpu_init", "jax.collect_profile"),
    *("jax.experimental.jet", "jax.experimental.ode", "jax.experimental.source_mapper"),
)
HEAD = """# What JAX {version} has and irax lacks

{modules} public modules of JAX's were compared: names, members of classes and parameters of
functions. `make parity` writes this page for the JAX that is installed. The options that irax lacks
say why when they are set, and names when they are looked up. Pallas, jax2tf and other parts that
[Names](api.md) names whole were not compared, nor JAX's internals.

| kind | where | what | why |
|------|-------|------|-----|
"""
IGNORED = ("self", "cls", "args", "kwargs")
"""Parameters that no call names, as those that begin with an underscore."""
REASONS = {
    "it is of JAX's own tracing: irax traces to StableHLO": (
        *("jax.core.ShapedArray", "jax.core.AbstractValue", "jax.core.Trace", "jax.core.Tracer"),
        *("jax.ref.AbstractRef", "jax.extend.core.AbstractToken"),
        *("jax.extend.core.DebugInfo", "jax.extend.core.Primitive", "jax.extend.linear_util"),
        *("jax.extend.core.set_current_trace", "jax.extend.core.take_current_trace"),
        *("jax.extend.core.primitives", "jax.extend.source_info_util", "jax.experimental.hijax"),
        *("jax.api_util", "jax.ShapeDtypeStruct", "jax.custom_jvp"),
    ),
    "str(jaxpr) has the text of its parts": (
        *("jax.extend.core.Literal", "jax.extend.core.Var", "jax.extend.core.DropVar"),
    ),
    "specs of values that hold arrays are the library's own": (
        *("jax.P", "jax.sharding.PartitionSpec"),
    ),
    "a mesh without devices has none": ("jax.sharding.AbstractMesh",),
    "it is the state of a context, which ends by itself": ("jax.set_mesh", "jax.use_abstract_mesh"),
    "it is of XLA's runtime": (
        *("jax.Device", "jax.errors.JaxRuntimeError", "jax.experimental.layout"),
        *("jax.experimental.xla_metadata", "jax.experimental.roofline", "jax.tree_util.PyTreeDef"),
        "jax.extend.backend",
    ),
    "profiles are in Chrome's format, not in XLA's": ("jax.profiler.ProfileData",),
    "it is a helper of its module": (
        *("jax.experimental.multihost_utils", "jax.experimental.rnn", "jax.experimental.sparse"),
        "jax.experimental.checkify.Error",
    ),
    "JAX's names for it differ between modules": ("jax.numpy.issubdtype",),
    "a Ref is where its value is": ("jax.Ref",),
}
"""Why irax lacks members and parameters, by the beginning of the place."""
OBJECTS: dict[str, Callable[[], Any]] = {
    "Array": lambda: irax.numpy.ones(1),
    "ndarray": lambda: irax.numpy.ones(1),
    "Device": lambda: irax.devices()[0],
    "Ref": lambda: irax.new_ref(1.0),
}
"""Objects whose own classes have the members, where the class of the name is an interface."""
BUILTINS = (type, int, str, Exception)
"""Classes whose members are Python's."""


@dataclass(frozen=True, order=True)
class Row:
    """Something of JAX's that irax lacks."""

    kind: str
    where: str
    what: str

    def why(self) -> str:
        """The reason, which stands with the names of irax that refuse it; a question mark: none."""
        told = (
            why_absent(self.where.replace("jax", "irax", 1), self.what)
            if self.kind == "name"
            else LACKING.get(self.where.removeprefix("jax."))
        )
        reasons = (reason for reason, places in REASONS.items() if self.where.startswith(places))
        return told or next(reasons, "?")


def modules() -> Iterator[types.ModuleType]:
    """The public modules of JAX."""
    pending = ["jax"]
    while pending:
        name = pending.pop()
        if name.startswith(LEFT_OUT):
            continue
        try:
            found = importlib.import_module(name)
        except Exception:  # it needs what is not installed
            continue
        yield found
        inner = pkgutil.iter_modules(getattr(found, "__path__", ()))
        pending += [f"{name}.{i.name}" for i in inner if not i.name.startswith("_")]


def public(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """The public names of a module and their values, without what it has imported from elsewhere
    for itself: other modules, and names of Python's libraries.
    """
    for name in sorted(set(getattr(module, "__all__", dir(module)))):
        if name.startswith("_"):
            continue
        try:
            value = getattr(module, name)
        except Exception:  # it is gone, and says so
            continue
        if isinstance(value, types.ModuleType):
            continue
        owner = getattr(value, "__module__", None)
        if isinstance(owner, str) and not owner.startswith(("jax", "numpy", "ml_dtypes")):
            continue
        yield name, value


def parameters(function: Any) -> dict[str, inspect.Parameter] | None:
    """The parameters of a function by name; None if they are unknown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def lacking(theirs: Any, ours: Any) -> list[str]:
    """The parameters of JAX's function that irax's does not take by name, or at their place."""
    wanted, there = parameters(theirs), parameters(ours)
    if wanted is None or there is None:
        return []
    kinds = {p.kind for p in there.values()}
    by_name = {
        n: p
        for n, p in wanted.items()
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
        if n not in IGNORED and not n.startswith("_")
    }
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return []
    found = [
        n for n in by_name if n not in there or there[n].kind is inspect.Parameter.POSITIONAL_ONLY
    ]
    positions = [n for n, p in wanted.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    own = [n for n, p in there.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    if not found and inspect.Parameter.VAR_POSITIONAL not in kinds and len(own) < len(positions):
        found = [f"{n} by position" for n in positions[len(own) :]]
    return found


def _source(ours: Any) -> str:
    """The text of a class and of those that it is made of, which sets its attributes."""
    found = ""
    for part in getattr(ours, "__mro__", ()):
        fields = "".join(f"self.{name}\n" for name in vars(part).get("__annotations__", ()))
        try:
            found += fields + inspect.getsource(part)
        except (TypeError, OSError):  # a class of Python's own
            continue
    return found


def members(theirs: type, ours: Any) -> Iterator[tuple[str, str]]:
    """The members and parameters that a class of JAX's has and irax's lacks, with their kinds."""
    text = _source(ours)
    named = {*dir(theirs), *getattr(theirs, "__dataclass_fields__", ())}
    for name in sorted(named.difference(*map(dir, BUILTINS))):
        if name.startswith("_"):
            continue
        if not hasattr(ours, name) and not re.search(rf"\bself\.{name}\b", text):
            yield "member", name
        elif callable(member := getattr(theirs, name, None)) and isinstance(ours, type):
            for parameter in lacking(member, getattr(ours, name, None)):
                yield "parameter", f"{name}: {parameter}"


def compare(module: types.ModuleType) -> Iterator[Row]:
    """The rows of a module."""
    home = home_of(module.__name__)
    if home is None:
        parent, _, name = module.__name__.rpartition(".")
        yield Row("name", parent, name)
        return
    found = stands_at(home)
    for name, value in public(module):
        try:
            ours = getattr(found, name)
        except AttributeError:
            yield Row("name", module.__name__, name)
            continue
        where = f"{module.__name__}.{name}"
        if isinstance(value, type):
            ours = type(OBJECTS[name]()) if name in OBJECTS else ours
            for kind, what in members(value, ours):
                yield Row(kind, where, what)
        elif callable(value):
            for what in lacking(value, ours):
                yield Row("parameter", where, what)


def _once(rows: Iterable[Row]) -> list[Row]:
    """Rows without those that differ by another name of a class or function: the shortest stays."""
    found: dict[tuple[str, ...], Row] = {}
    for row in rows:
        last = row.where if row.kind == "name" else row.where.rpartition(".")[-1]
        key = (row.kind, last, row.what)
        if key not in found or len(row.where) < len(found[key].where):
            found[key] = row
    return list(found.values())


def table() -> str:
    """The page."""
    import jax

    found = list(modules())
    rows = sorted(_once(row for module in found for row in compare(module)))
    groups = itertools.groupby(rows, lambda row: (row.kind, row.where, row.why()))
    lines = (
        f"| {kind} | `{where}` | {', '.join(f'`{row.what}`' for row in group)} | {why} |\n"
        for (kind, where, why), group in groups
    )
    return HEAD.format(version=jax.__version__, modules=len(found)) + "".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "build/parity.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table(), "utf-8")
    print(f"Wrote {path}")
