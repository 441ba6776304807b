"""Cases of operations that others express: sums of named dimensions, rows at places, products in
groups, scans, and convolutions and gathers whose sizes are operands.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from tests.conformance import moves, windows
from tests.conformance.arrays import case, combiner, edges, i64s, reducers, shaped, small
from tests.conformance.cases import Case, tensor
from tests.conformance.dynamic import shape_of
from tests.conformance.formats import FORMATS, Complex, Float, Format
from tests.conformance.windows import ANY_ZERO, PRODUCTS, sum_of_products

MOVED = ("f32", "i8", "bf16", "i1", "ui32", "f64", "f8E5M2", "i4", "complex<f32>", "i64", "f16")


def _dense(x: Any, format: Format) -> str:
    """Numbers as MLIR writes them."""
    if isinstance(x, np.ndarray) and x.ndim:
        return f"[{', '.join(_dense(row, format) for row in x)}]"
    number = x[()] if isinstance(x, np.ndarray) else x
    if isinstance(format, Complex):
        return f"({float(number.real):e}, {float(number.imag):e})"
    return f"{float(number):e}" if isinstance(format, Float) else str(int(number))


def _number(x: Any, format: Format) -> str:
    """A number as an attribute of its own."""
    if format.name == "i1":
        return "true" if x else "false"
    if isinstance(format, Complex):
        return f"#complex.number<:{format.part.name} {float(x.real):e}, {float(x.imag):e}>"
    return f"{_dense(x, format)} : {format.name}"


def constants(rng: random.Random, count: int) -> Iterator[Case]:
    """Constants, and those in the shape of an operand."""
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        format = FORMATS[name]
        x = small(format, shaped(rng, rng.choice([0, 1, 2])), rng, 1)
        text = _dense(x, format) if x.size else ""
        value = f"value = dense<{text}> : {tensor(x.shape, name)}"
        note = f"{name} {list(x.shape)}"
        for op in ("stablehlo.constant", "chlo.constant"):
            yield case(op, note, [], [(name, x)], value)
        if not name.startswith("ui"):  # CHLO's constant_like has no attribute of these
            one = small(format, (), rng, 1)
            found = np.broadcast_to(one, x.shape)
            value = f"value = {_number(one[()], format)}"
            yield case("chlo.constant_like", note, [(name, x)], [(name, found)], value)


def rows(rng: random.Random, count: int) -> Iterator[Case]:
    """Rows at places, and copies along new dimensions."""
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        x = edges(FORMATS[name], shaped(rng, rng.choice([1, 2, 3]), 4, 0), rng)
        new = shaped(rng, rng.choice([0, 1, 2]), 3)
        note, attributes = f"{name} {list(x.shape)}", f"broadcast_sizes = {i64s(new)}"
        found = np.broadcast_to(x, [*new, *x.shape])
        yield case("stablehlo.broadcast", f"{note} {new}", [(name, x)], [(name, found)], attributes)

        dim = rng.randrange(x.ndim)
        batch = rng.randint(0, dim)
        own = shaped(rng, rng.choice([0, 1, 2]), 3)
        places = np.empty([*x.shape[:batch], *own], object)
        for at in np.ndindex(places.shape):
            places[at] = rng.randrange(x.shape[dim])
        found = np.empty([*x.shape[:dim], *own, *x.shape[dim + 1 :]], object)
        for at in np.ndindex(found.shape):
            middle = at[dim : dim + len(own)]
            index = places[(*at[:batch], *middle)]
            found[at] = x[(*at[:dim], index, *at[dim + len(own) :])]
        of = rng.choice(["i32", "i64", "ui8"])
        yield case(
            "stablehlo.torch_index_select",
            f"{note} {of} {list(places.shape)} dim {dim} batch {batch}",
            [(name, x), (of, places)],
            [(name, found)],
            f"dim = {dim} : i64, batch_dims = {batch} : i64",
        )


def sums(rng: random.Random, count: int) -> Iterator[Case]:
    """dot, einsum and unary_einsum: dimensions of one letter go together."""
    for i in range(count):
        name = PRODUCTS[i % len(PRODUCTS)]
        format = FORMATS[name]
        extents = dict(zip("abcd", (rng.choice([1, 2, 3]) for _ in "abcd"), strict=True))
        left, right = rng.choice([("a", "a"), ("ab", "b"), ("a", "ab"), ("ab", "bc")])
        kept = "".join(letter for letter in left + right if (left + right).count(letter) == 1)
        yield _einsum("stablehlo.dot", format, [left, right], kept, extents, rng)
        if name in ("i1", "i4"):
            continue
        terms = ["".join(rng.sample("abcd", rng.randint(0, 3))) for _ in range(2)]
        for op, of in (("stablehlo.einsum", terms), ("stablehlo.unary_einsum", terms[:1])):
            letters = sorted({*"".join(of)})
            kept = "".join(rng.sample(letters, rng.randint(0, len(letters))))
            yield _einsum(op, format, of, kept, extents, rng)


def _einsum(
    op: str,
    format: Format,
    terms: list[str],
    kept: str,
    extents: dict[str, int],
    rng: random.Random,
) -> Case:
    operands = [small(format, [extents[c] for c in term], rng, 2) for term in terms]
    summed = sorted({*"".join(terms)} - {*kept})
    found = np.empty([extents[c] for c in kept], object)
    for place in np.ndindex(found.shape):
        rows: list[list[Any]] = [[] for _ in terms]
        for inner in itertools.product(*(range(extents[c]) for c in summed)):
            index = {**dict(zip(kept, place, strict=True)), **dict(zip(summed, inner, strict=True))}
            for row, x, term in zip(rows, operands, terms, strict=True):
                row.append(x[tuple(index[c] for c in term)])
        ones: list[Any] = [type(number)(1) for number in rows[0]]
        found[place] = sum_of_products(format, *(rows if rows[1:] else (*rows, ones)))
    config = f"{','.join(terms)}->{kept}"
    attributes = "" if op == "stablehlo.dot" else f'einsum_config = "{config}"'
    named = [(format.name, x) for x in operands]
    note = f"{format.name} {config} {extents}"
    return case(op, note, named, [(format.name, found)], attributes, absolute=ANY_ZERO)


def ragged_products(rng: random.Random, count: int) -> Iterator[Case]:
    """Products of groups of rows; of groups of what is summed; and batches of products."""
    for i in range(count):
        name = ("f32", "f64", "bf16", "i32", "complex<f32>")[i % 5]
        format = FORMATS[name]
        m, k, n, g = rng.randint(1, 5), rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 3)
        kind = rng.choice(["rows", "sums", "batches"])
        total = k if kind == "sums" else m
        ends = sorted(rng.randint(0, total) for _ in range(g - 1))
        ends.append(rng.choice([total, ends[-1] if ends else total]))
        sizes = np.diff([0, *ends]).astype(object)
        groups = [next((e for e, end in enumerate(ends) if j < end), None) for j in range(total)]
        if kind == "rows":
            x, y = small(format, [m, k], rng, 2), small(format, [g, k, n], rng, 2)
            numbers = ("", "", "1", "1", "0", "0")
            found = np.empty([m, n], object)
            for r, c in np.ndindex(m, n):
                of = groups[r]
                column = y[of, :, c] if of is not None else 0 * y[0, :, c]
                found[r, c] = sum_of_products(format, list(x[r]), list(column))
            # Of rows after the last group nothing is said: irax has zeros.
            free = np.array([[of is None] * n for of in groups])
        elif kind == "sums":
            x, y = small(format, [m, k], rng, 2), small(format, [k, n], rng, 2)
            numbers = ("", "", "1", "0", "1", "")
            found = np.empty([g, m, n], object)
            for of, r, c in np.ndindex(g, m, n):
                some = [j for j in range(k) if groups[j] == of]
                found[of, r, c] = sum_of_products(format, list(x[r, some]), list(y[some, c]))
            free = np.zeros(found.shape, bool)
        else:
            x, y = small(format, [m, 2, k], rng, 2), small(format, [m, k, n], rng, 2)
            numbers = ("0", "0", "2", "1", "0", "")
            found = np.empty([m, 2, n], object)
            for b, r, c in np.ndindex(m, 2, n):
                found[b, r, c] = sum_of_products(format, list(x[b, r]), list(y[b, :, c]))
            free = np.zeros(found.shape, bool)
        names = (
            *("lhs_batching", "rhs_batching", "lhs_contracting", "rhs_contracting"),
            *("lhs_ragged", "rhs_group"),
        )
        fields = ", ".join(f"{a}_dimensions = [{v}]" for a, v in zip(names, numbers, strict=True))
        yield case(
            "chlo.ragged_dot",
            f"{name} {kind} {list(x.shape)} {list(y.shape)} {list(sizes)}",
            [(name, x), (name, y), ("i32", sizes)],
            [(name, found)],
            f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{fields}>",
            free=free,
            absolute=ANY_ZERO,
        )


def scans(rng: random.Random, count: int) -> Iterator[Case]:
    """Loops along a dimension: what was carried before each row, and at last."""
    for i in range(count):
        name = ("f32", "i32", "ui8", "bf16", "f64")[i % 5]
        format = FORMATS[name]
        shape = shaped(rng, rng.choice([1, 2]), 5, 0)
        axis, is_reverse = rng.randrange(len(shape)), rng.random() < 0.5
        op = rng.choice([one for one in reducers(format) if not one.endswith("multiply")])
        row = [n for d, n in enumerate(shape) if d != axis]
        x, start = small(format, shape, rng, 2), small(format, row, rng, 2)
        combine = combiner(op, format)
        found, carried = np.empty(shape, object), start.copy()
        for k in range(shape[axis])[:: -1 if is_reverse else 1]:
            place = tuple(k if d == axis else slice(None) for d in range(len(shape)))
            found[place] = carried[()]
            for at in np.ndindex(*row):
                carried[at] = combine(x[place][at] if row else x[place], carried[at])
        t, c = tensor(shape, name), tensor(row, name)
        attributes = (
            f"dimension = {axis} : i64, is_reverse = {str(is_reverse).lower()}, "
            "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>"
        )
        body = (
            f'  %r0, %r1 = "chlo.scan"(%a0, %a1) ({{\n  ^bb0(%x: {c}, %y: {c}):\n'
            f'    %z = "{op}"(%x, %y) : ({c}, {c}) -> {c}\n'
            f'    "stablehlo.return"(%y, %z) : ({c}, {c}) -> ()\n  }}) {{{attributes}}} : '
            f"({t}, {c}) -> ({t}, {c})"
        )
        note = f"{name} {op} {shape} along {axis}{' from the end' if is_reverse else ''}"
        operands, results = [(name, x), (name, start)], [(name, found), (name, carried)]
        yield case("chlo.scan", note, operands, results, body=body)


_SIZES = re.compile(r"slice_sizes = array<i64(?:: )?([^>]*)>, ")
_PADDING = re.compile(r"padding = (dense<[^>]*>) : tensor<(\d+)x2xi64>, ")


def of_dynamic_sizes(rng: random.Random, count: int) -> Iterator[Case]:
    """Gathers of windows, and convolutions of paddings, that are operands; here constants."""
    for made in moves.gathers(rng, count):
        found = _SIZES.search(made.body)
        assert found is not None
        sizes = [int(n) for n in found[1].split(",") if n]
        lines, type_ = shape_of(sizes), f"tensor<{len(sizes)}xi32>"
        body = _with_operand(made.body.replace(found[0], ""), "dynamic_gather", type_)
        yield replace(made, op="stablehlo.dynamic_gather", body=lines + body)
    for made in windows.convolutions(rng, count):
        found = _PADDING.search(made.body)
        assert found is not None
        type_ = f"tensor<{found[2]}x2xi32>"
        lines = f"  %s = stablehlo.constant {found[1]} : {type_}\n"
        body = _with_operand(made.body.replace(found[0], ""), "dynamic_conv", type_)
        yield replace(made, op="stablehlo.dynamic_conv", body=lines + body)


def _with_operand(body: str, op: str, type_: str) -> str:
    """The line of an operation of two operands, with another name and a third one, %s."""
    body = re.sub(r'"stablehlo\.\w+"\(%a0, %a1\)', f'"stablehlo.{op}"(%a0, %a1, %s)', body, count=1)
    return f", {type_}) -> ".join(body.rsplit(") -> ", 1))


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of these."""
    for make in (constants, rows, sums, ragged_products, scans, of_dynamic_sizes):
        yield from make(rng, count)
