r"""Shardy's operations in the generic form, in which they are read.

    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<4x6xf32>
    %1 = "sdy.sharding_constraint"(%0) {sharding = "<@mesh, [{\22x\22}, {}]>"} : ...

JAX writes them for programs on several devices. The bindings lack the dialect `sdy`, and read only
the generic form of operations that they do not know. `forms/shardy.py` rewrites these.
"""

from __future__ import annotations

import re

from irax_compiler import bytecode_format

_MESH = re.compile(r"^([ \t]*)sdy\.mesh @(\w+) = (<\[.*?\][^>]*>).*$", re.MULTILINE)
_CONSTRAINT = re.compile(
    r"sdy\.(sharding_constraint|reshard) (%[\w#]+) (<.*?>) : (tensor<[^ \n]+>)"
)
_MANUAL = re.compile(
    r"^(?P<indent>[ \t]*)(?P<results>%[\w:]+ = )?sdy\.manual_computation\((?P<operands>[^)]*)\)"
    r"\s+in_shardings=(?P<ins>\[.*?\])\s+out_shardings=(?P<outs>\[.*?\])"
    r"\s+manual_axes=\{(?P<axes>[^}]*)\}\s+\((?P<arguments>[^{]*)\)\s*\{[ \t]*$",
    re.MULTILINE,
)
_RETURN = re.compile(
    r"^([ \t]*)sdy\.return(?: (?P<values>%[^:\n]*) : (?P<types>[^\n]*?))?(?P<place> loc\(.*)?$",
    re.MULTILINE,
)


def readable(module: str | bytes, told: str) -> str | bytes:
    """Return a module's text or bytecode, whose words are `told` (see `words`), in a form that the
    bindings read. Of bytecode, attributes of the dialect are removed.
    """
    if isinstance(module, bytes):
        if module.startswith(bytecode_format.MAGIC) and "\0sdy\0" in f"\0{told}\0":
            return bytecode_format.without_attributes(module, "sdy")
        return module
    if "sdy." not in told:
        return module
    text = _MESH.sub(_generic_mesh, module)
    text = _CONSTRAINT.sub(_generic_constraint, text)
    while heads := list(_MANUAL.finditer(text)):
        text = _with_generic_region(text, heads[-1])  # the innermost of those that are nested
    return _RETURN.sub(_generic_return, text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "\\22") + '"'


def _generic_mesh(match: re.Match[str]) -> str:
    indent, name, axes = match.groups()
    return f'{indent}"sdy.mesh"() {{sym_name = "{name}", mesh = {_quoted(axes)}}} : () -> ()'


def _generic_constraint(match: re.Match[str]) -> str:
    name, value, spec, type_ = match.groups()
    return f'"sdy.{name}"({value}) {{sharding = {_quoted(spec)}}} : ({type_}) -> {type_}'


def _generic_return(match: re.Match[str]) -> str:
    values, types = match["values"] or "", match["types"] or ""
    return f'{match[1]}"sdy.return"({values.strip()}) : ({types}) -> (){match["place"] or ""}'


def _with_generic_region(text: str, head: re.Match[str]) -> str:
    tail = re.compile(rf"^{head['indent']}\}} : ", re.MULTILINE).search(text, head.end())
    if tail is None:
        raise ValueError("sdy.manual_computation without an end of its region")
    attributes = ", ".join(
        f"{name} = {_quoted(head[group])}"
        for name, group in (("in_shardings", "ins"), ("out_shardings", "outs"))
    )
    return (
        f"{text[: head.start()]}{head['indent']}{head['results'] or ''}"
        f'"sdy.manual_computation"({head["operands"]}) ({{\n^bb0({head["arguments"]}):'
        f"{text[head.end() : tail.start()]}{head['indent']}}}) "
        f"{{{attributes}, manual_axes = {_quoted(head['axes'])}}} : {text[tail.end() :]}"
    )
