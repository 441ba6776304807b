"""Pages of the reference, one for each public module, made from what Python sees of it.

Many functions are made by tables when they are first asked for, so modules are imported, not read.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import re
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

from tests.differential.device_table import DEVICES
from tests.frontend.api_table import MODULES as OF_JAX
from tests.frontend.api_table import recorded

OWN = ("irax.ir", "irax.sparse")
"""Modules that are irax's alone."""
MODULES = [*(name.replace("jax", "irax", 1) for name in OF_JAX), *OWN]
TARGETS = Path(__file__).parents[1] / "docs" / "targets.json"
"""The targets that do not take a function: tests/frontend/target_table.py writes it."""
SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes):$", re.MULTILINE)
FIELD = re.compile(r"^    (?P<name>[\w*`, ]+): (?P<text>.*(?:\n     .*)*)", re.MULTILINE)
OBJECT = re.compile(r"<(?:(?:function|class|object|module) )?'?([\w.<>]+?)'?(?: [^>]*)?>")
"""Default values without a text of their own: functions and classes by their names."""
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!$).*)*", re.MULTILINE)
EXAMPLES = re.compile(r"^Examples?:\n((?:    .*(?:\n|\Z))+)", re.MULTILINE)


class _Bare(str):
    """An annotation, which a signature shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    made = {f"reference/{name}.md": page(name) for name in MODULES}
    rows = [f"| [`{name}`]({name}.md) | {_summary(name)} |" for name in MODULES]
    made["reference/index.md"] = "\n".join(
        [
            "# Public modules",
            "",
            "The public names of irax, with their arguments, errors and examples, which the tests",
            "run. [Names](../api.md) has the names of JAX that are absent, and says how functions",
            "are tested. *Targets* are those that take a function of 32-bit arrays, in the case",
            "that the tests have of it; [ops](../ops.md) and [devices](../devices.md) have all",
            "dtypes.",
            "",
            "| module | contents |",
            "|---|---|",
            *rows,
        ]
    )
    return made


def names(module: types.ModuleType) -> list[str]:
    """Return the public names of a module: those of JAX's module, and those that it lists in
    `__all__`, or else defines. Modules are left out, and so are names that it imports.
    """
    of_jax = recorded()[1].get(module.__name__.replace("irax", "jax", 1), [])
    listed = getattr(module, "__all__", None)
    return [
        name
        for name in sorted(dir(module), key=str.lower)
        if not name.startswith("_")
        for value in [getattr(module, name)]
        if not isinstance(value, types.ModuleType)
        if name in of_jax or (_defines(module, value) if listed is None else name in listed)
    ]


def _defines(module: types.ModuleType, value: object) -> bool:
    """Return True if a module, or a part of a package, defines an object."""
    home = getattr(value, "__module__", None)
    return isinstance(home, str) and f"{home}.".startswith(f"{module.__name__}.")


def _summary(name: str) -> str:
    text = _first(importlib.import_module(name)).removeprefix(f"{name}: ")
    return text[:1].upper() + text[1:]


def _first(value: object) -> str:
    """The first paragraph of a docstring, for a cell of a table."""
    doc = inspect.getdoc(value) or ""
    return " ".join(doc.partition("\n\n")[0].split()).replace("|", "\\|")


def _members(value: Any) -> str:
    """Return a table of the methods and properties of a class that have docstrings; of an
    enumeration, its members.
    """
    if not inspect.isclass(value) or issubclass(value, BaseException):
        return ""
    if _is_enum(value):
        return "Members: " + ", ".join(f"`{member.name}`" for member in value) + "."
    rows = []
    for name in sorted(dir(value)):
        owner = next((c for c in value.__mro__ if name in vars(c)), None)
        if owner is None or name.startswith("_") or not owner.__module__.startswith("irax"):
            continue
        member = vars(owner)[name]
        if (inspect.isroutine(member) or isinstance(member, property)) and _first(member):
            rows.append(f"| `{name}` | {_first(member)} |")
    return "| member | meaning |\n|---|---|\n" + "\n".join(rows) if rows else ""


def _is_enum(value: Any) -> TypeGuard[type[enum.Enum]]:
    return inspect.isclass(value) and issubclass(value, enum.Enum)


def page(name: str) -> str:
    """Return the page of a module."""
    module = importlib.import_module(name)
    parts = [f"# {name}", _doc(module)]
    public = names(module)
    for member in public:
        value = getattr(module, member)
        parts.append(f"## {member}")
        if (original := _original(module, member)) in public:
            parts.append(f"Another name of [`{original}`](#{original.lower()}).")
        elif callable(value):
            if not _is_enum(value):
                parts.append(f"```py\n{member}{signature(value)}\n```")
            parts.append(_doc(value))
            parts.append(_members(value))
            parts.append(_support(f"{name}.{member}".removeprefix("irax.")))
        else:
            parts.append(f"A value: `{type(value).__name__}`.")
    return "\n\n".join(filter(None, parts)) + "\n"


def _original(module: types.ModuleType, member: str) -> str | None:
    """Return the name that an object calls itself, if it is another one in the same module."""
    value = getattr(module, member)
    name = getattr(value, "__name__", member)
    return name if name != member and getattr(module, name, None) is value else None


@cache
def _refusals() -> dict[str, dict[str, str]]:
    return json.loads(TARGETS.read_text("utf-8"))


def _support(function: str) -> str:
    """Return the targets that take a function, and the reasons why others do not; nothing for one
    that has no case in the tables.
    """
    refused = _refusals().get(function)
    if refused is None:
        return ""
    taken = [f"`{device.title}`" for device in DEVICES if device.title not in refused]
    lines = [f"**Targets**: {', '.join(taken) or 'none'}."]
    reasons: dict[str, list[str]] = {}
    for title, reason in refused.items():
        reasons.setdefault(reason, []).append(f"`{title}`")
    lines += [f"Not {', '.join(not_)}: {_code(reason)}." for reason, not_ in reasons.items()]
    return " ".join(lines)


def _code(text: str) -> str:
    """Return a message so that Markdown takes nothing in it for markup."""
    return re.sub(r"[\w.]*[<>_*|\[\]][\w.<>_*|\[\]]*", r"`\g<0>`", text.rstrip("."))


def signature(value: Any) -> str:
    """Return the parameters of a function; one a line where they are long."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [_bare(p) for p in found.parameters.values()]
    found = found.replace(parameters=parameters, return_annotation=_annotation(found))
    text = OBJECT.sub(r"\1", str(found))
    if len(text) < 80:
        return text
    inside, _, result = text.rpartition(")")
    shown = ",\n    ".join(OBJECT.sub(r"\1", part) for part in _each(found))
    return f"(\n    {shown},\n){result}" if inside else text


def _each(found: inspect.Signature) -> Iterator[str]:
    """Yield each parameter as a signature writes it, with its / and *."""
    kinds = inspect.Parameter
    last = None
    for parameter in found.parameters.values():
        if last is kinds.POSITIONAL_ONLY and parameter.kind is not last:
            yield "/"
        if parameter.kind is kinds.KEYWORD_ONLY and last not in (
            kinds.VAR_POSITIONAL,
            parameter.kind,
        ):
            yield "*"
        yield str(parameter)
        last = parameter.kind
    if last is kinds.POSITIONAL_ONLY:
        yield "/"


def _bare(parameter: inspect.Parameter) -> inspect.Parameter:
    kind = parameter.annotation
    return parameter.replace(annotation=_Bare(kind)) if isinstance(kind, str) else parameter


def _annotation(found: inspect.Signature) -> Any:
    kind = found.return_annotation
    return _Bare(kind) if isinstance(kind, str) else kind


def _doc(value: Any) -> str:
    """Return a docstring as Markdown."""
    doc = inspect.getdoc(value) or ""
    if inspect.isclass(value) and doc == inspect.getdoc(object):
        return ""
    return "\n\n".join(_parts(doc))


def _parts(doc: str) -> Iterator[str]:
    doc = EXAMPLES.sub(lambda found: inspect.cleandoc(found[1]) + "\n", doc)
    doc = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", doc)
    head, *sections = SECTION.split(doc)
    yield head.strip()
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        body, rest = _indented(body.strip("\n"))
        yield f"**{title}**"
        fields = list(FIELD.finditer(body))
        if fields and title not in ("Returns", "Yields"):
            yield "\n".join(f"- `{f['name']}`: {' '.join(f['text'].split())}" for f in fields)
        else:
            yield inspect.cleandoc(body)
        yield rest


def _indented(text: str) -> tuple[str, str]:
    """Return the lines of a section, which are indented, and what follows it."""
    lines = text.split("\n")
    end = next((i for i, line in enumerate(lines) if line and line[0] != " "), len(lines))
    return "\n".join(lines[:end]), "\n".join(lines[end:])
