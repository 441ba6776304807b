r"""Shardy's operations in the generic form, in which they are read.

    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<4x6xf32>
    %1 = "sdy.sharding_constraint"(%0) {sharding = "<@mesh, [{\22x\22}, {}]>"} : ...

JAX writes them for programs on several devices. The bindings lack the dialect `sdy`, and read only
the generic form of operations that they do not know. `forms/shardy.py` rewrites these.
"""

from __future__ import annotations

import re

from irax_compiler.interchange import bytecode_format
from irax_compiler.shardy import bytecode as sharding_bytecode
from irax_compiler.shardy import replica_groups

_MESH = re.compile(
    r"^([ \t]*)sdy\.mesh @([\w.$-]+) *= *(?:#sdy\.mesh)?(<\[.*?\][^>]*>).*$", re.MULTILINE
)
_TYPE = r"(?P<type>(?:tensor<[^\n]*?>|![\w.]+)(?=\s*(?:loc\(|$)))"
_SPEC = r"<(?:@|mesh<[^>]*>)[^>]*>"
_CONSTRAINT = re.compile(
    rf"sdy\.(?P<name>sharding_constraint|reshard) (?P<x>%[\w#]+)\s+(?P<spec>{_SPEC})"
    rf"\s*(?:\{{[^}}\n]*\}})?\s*:\s*{_TYPE}",
    re.MULTILINE,
)
_SAME = re.compile(
    r"sdy\.(?P<name>data_flow_edge|func_data_flow_edge|propagation_barrier) (?P<x>%[\w#]+)"
    rf"[^\n]*? : {_TYPE}",
    re.MULTILINE,
)
_MOVED = re.compile(
    r"sdy\.(?P<name>all_gather|all_slice|all_to_all|collective_permute) (?P<how>\[[^\n]*?\] |)"
    rf"(?P<x>%[\w#]+)\s+out_sharding=(?P<spec>{_SPEC})[^\n]*? : {_TYPE}",
    re.MULTILINE,
)
_GROUP = re.compile(r"^[ \t]*sdy\.sharding_group %[^\n]*\n", re.MULTILINE)
_CONSTANT = re.compile(r"\bsdy\.constant (?=dense)")
_SHARDINGS = r"\[[^%]*?\](?=\s+(?:\(|out_shardings|manual_axes))"
_REGION = re.compile(
    r"^(?P<indent>[ \t]*)(?P<results>%[\w:]+ = )?sdy\."
    r"(?P<name>manual_computation|named_computation<\"[^\"\n]*\">)\((?P<operands>[^)]*)\)"
    rf"(?:\s+in_shardings=(?P<ins>{_SHARDINGS}))?(?:\s+out_shardings=(?P<outs>{_SHARDINGS}))?"
    r"(?:\s+manual_axes=\{(?P<axes>[^}]*)\})?\s+\((?P<arguments>[^{]*)\)\s*\{[ \t]*$",
    re.MULTILINE,
)
_RETURN = re.compile(
    r"^([ \t]*)sdy\.return(?: (?P<values>%[^:\n]*) : (?P<types>[^\n]*?))?(?P<place> loc\(.*)?$",
    re.MULTILINE,
)

_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[{}]')
"""Braces, and what may hold others: strings and comments."""
_LINE_OF_COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
_COLON = re.compile(r"\s*:\s*")


def readable(module: str | bytes, told: str) -> str | bytes:
    """Return a module's text or bytecode, whose words are `told` (see `words`), in a form that the
    bindings read.
    """
    if isinstance(module, bytes):
        if module.startswith(bytecode_format.MAGIC) and "\0sdy\0" in f"\0{told}\0":
            return sharding_bytecode.readable(module)
        return module
    if "sdy." not in told:
        return module
    text = _LINE_OF_COMMENT.sub("", module)
    text = _GROUP.sub("", _CONSTANT.sub("stablehlo.constant ", text))
    text = _MESH.sub(_generic_mesh, text)
    text = _CONSTRAINT.sub(_generic_constraint, text)
    text = _MOVED.sub(_generic_move, text)
    text = _SAME.sub(_generic_same, text)
    while heads := list(_REGION.finditer(text)):
        text = _with_generic_region(text, heads[-1])  # the innermost of those that are nested
    return replica_groups.written_out(_RETURN.sub(_generic_return, text))


def _quoted(text: str) -> str:
    return '"' + " ".join(text.split()).replace('"', "\\22") + '"'


def _generic_mesh(match: re.Match[str]) -> str:
    indent, name, axes = match.groups()
    return f'{indent}"sdy.mesh"() {{sym_name = "{name}", mesh = {_quoted(axes)}}} : () -> ()'


def _generic_constraint(match: re.Match[str]) -> str:
    name, value, spec, type_ = match.group("name", "x", "spec", "type")
    return f'"sdy.{name}"({value}) {{sharding = {_quoted(spec)}}} : ({type_}) -> {type_}'


def _generic_move(match: re.Match[str]) -> str:
    """The new layout is what such an operation says of arrays that are whole."""
    value, spec, type_ = match.group("x", "spec", "type")
    return f'"sdy.reshard"({value}) {{sharding = {_quoted(spec)}}} : ({type_}) -> {type_}'


def _generic_same(match: re.Match[str]) -> str:
    name, value, type_ = match.group("name", "x", "type")
    return f'"sdy.{name}"({value}) : ({type_}) -> {type_}'


def _generic_return(match: re.Match[str]) -> str:
    values, types = match["values"] or "", match["types"] or ""
    return f'{match[1]}"sdy.return"({values.strip()}) : ({types}) -> (){match["place"] or ""}'


def _end_of_region(text: str, place: int) -> int | None:
    """Return the place of the brace that ends a region of which `place` is inside."""
    depth = 1
    for match in _BRACE.finditer(text, place):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None


def _with_generic_region(text: str, head: re.Match[str]) -> str:
    end = _end_of_region(text, head.end())
    tail = None if end is None else _COLON.match(text, end + 1)
    if tail is None:
        raise ValueError(f"sdy.{head['name']} without an end of its region")
    given = {"in_shardings": "ins", "out_shardings": "outs", "manual_axes": "axes"}
    attributes = ", ".join(
        f"{name} = {_quoted(head[group])}"
        for name, group in given.items()
        if head[group] is not None
    )
    name = head["name"].partition("<")[0]
    return (
        f"{text[: head.start()]}{head['indent']}{head['results'] or ''}"
        f'"sdy.{name}"({head["operands"]}) ({{\n^bb0({head["arguments"]}):'
        # Of one region, MLIR would take it for a symbol table, in which calls find no function.
        f"{text[head.end() : end]}}}, {{}}) "
        f"{{{attributes}}} : {text[tail.end() :]}"
    )
