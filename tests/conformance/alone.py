"""Cases of operations that leave values as they are where a program runs on one device, and of
random numbers and quantized ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from tests.conformance import functions
from tests.conformance.arrays import case, edges, filled, region, shaped
from tests.conformance.cases import Case, tensor
from tests.conformance.elementwise import floats
from tests.conformance.formats import FLOATS, FORMATS, INTEGERS, Integer

MOVED = ("f32", "i8", "bf16", "i1", "ui32", "f64", "f8E5M2", "i64", "complex<f32>", "f16")
_ALONE = "replica_groups = dense<0> : tensor<1x1xi64>"


def exchanges(rng: random.Random, count: int) -> Iterator[Case]:
    """Communication in groups of one device."""
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        x = edges(FORMATS[name], shaped(rng, rng.choice([1, 2]), 4, 0), rng)
        axis = rng.randrange(x.ndim)
        op = "stablehlo.or" if name == "i1" else "stablehlo.add"
        note, same = f"{name} {list(x.shape)}", [(name, x)]
        yield case(
            "stablehlo.all_gather", note, same, same, f"all_gather_dim = {axis} : i64, {_ALONE}"
        )
        for reduces in ("stablehlo.all_reduce", "stablehlo.collective_reduce"):
            yield case(reduces, note, same, same, _ALONE, region(op, name))
        yield case(
            "stablehlo.reduce_scatter",
            note,
            same,
            same,
            f"scatter_dimension = {axis} : i64, {_ALONE}",
            region(op, name),
        )
        split = f"split_dimension = {axis} : i64, concat_dimension = {axis} : i64"
        attributes = f"{split}, split_count = 1 : i64, {_ALONE}"
        yield case("stablehlo.all_to_all", note, same, same, attributes)
        yield case("stablehlo.collective_broadcast", note, same, same, _ALONE)
        is_own = rng.random() < 0.5
        pairs = "dense<0> : tensor<1x2xi64>" if is_own else "dense<> : tensor<0x2xi64>"
        zero: Any = type(x.flat[0])(0)
        found = x if is_own else filled(x.shape, lambda zero=zero: zero)
        yield case(
            "stablehlo.collective_permute",
            f"{note} {'to itself' if is_own else 'from nobody'}",
            same,
            [(name, found)],
            f"source_target_pairs = {pairs}",
        )
    for op in ("stablehlo.partition_id", "stablehlo.replica_id"):
        yield case(op, "", [], [("ui32", np.array(0, object))])


def orders(rng: random.Random, count: int) -> Iterator[Case]:
    """Barriers, tokens, tuples, and composites, which are their decompositions."""
    for i in range(count):
        name = MOVED[i % len(MOVED)]
        x, y = (edges(FORMATS[name], shaped(rng, rng.choice([0, 1, 2])), rng) for _ in range(2))
        t, u = (tensor(v.shape, name) for v in (x, y))
        note, operands = f"{name} {list(x.shape)} {list(y.shape)}", [(name, x), (name, y)]
        yield case("stablehlo.optimization_barrier", note, operands, operands)
        token = "!stablehlo.token"
        lines = (
            f'  %t = "stablehlo.create_token"() : () -> {token}\n'
            f'  %s = "stablehlo.after_all"(%t, %t) : ({token}, {token}) -> {token}\n'
            f'  %r0, %u = "stablehlo.optimization_barrier"(%a0, %s) : ({t}, {token}) -> '
            f"({t}, {token})"
        )
        for op in ("stablehlo.after_all", "stablehlo.create_token"):
            yield case(op, note, operands[:1], operands[:1], body=lines)
        index = rng.randint(0, 1)
        of = f"tuple<{t}, {u}>"
        lines = (
            f'  %t = "stablehlo.tuple"(%a0, %a1) : ({t}, {u}) -> {of}\n'
            f'  %r0 = "stablehlo.get_tuple_element"(%t) {{index = {index} : i32}} : ({of}) -> '
            f"{(t, u)[index]}"
        )
        for op in ("stablehlo.tuple", "stablehlo.get_tuple_element"):
            yield case(op, f"{note} {index}", operands, [operands[index]], body=lines)
        part = (
            f"func.func private @part(%x: {t}, %y: {u}) -> ({u}, {t}) {{\n"
            f'  "func.return"(%y, %x) : ({u}, {t}) -> ()\n}}\n'
        )
        attributes = 'name = "test.turned", decomposition = @part, version = 1 : i32'
        yield case(
            "stablehlo.composite", note, operands, operands[::-1], attributes, functions=part
        )
        size = np.array(x.shape[0] if x.ndim else 0, object)
        if x.ndim:
            lines = (
                f"  %s = stablehlo.constant dense<{size[()]}> : tensor<i32>\n"
                '  %r0 = "stablehlo.set_dimension_size"(%a0, %s) {dimension = 0 : i64} : '
                f"({t}, tensor<i32>) -> {t}"
            )
            yield case("stablehlo.set_dimension_size", note, operands[:1], operands[:1], body=lines)


def numbers_by_chance(rng: random.Random, count: int) -> Iterator[Case]:
    """rng, of which the specification says the range, or the mean and the deviation."""
    for i in range(count):
        name = ("f32", "i32", "bf16", "ui8", "f64", "i64", "f16", "i1")[i % 8]
        format = FORMATS[name]
        shape = shaped(rng, rng.choice([0, 1, 2]))
        lines = (
            f"  %s = stablehlo.constant dense<[{', '.join(map(str, shape))}]> : "
            if shape
            else "  %s = stablehlo.constant dense<> : "
        ) + f"tensor<{len(shape)}xi64>\n"
        kind = rng.choice(["UNIFORM", "NORMAL"]) if "f" in name else "UNIFORM"
        absolute = 0.0
        if isinstance(format, Integer):
            # Of two limits next to each other the first is the only number.
            low: Any = 0 if name == "i1" else rng.choice([0, 1, 5, format.smallest, 100])
            high, middle = low + 1, low
        else:
            low, high = float(rng.randint(-4, 4)), float(rng.randint(5, 9))
            middle, absolute = (low + high) / 2, (high - low) / 2
            if kind == "NORMAL":
                middle, absolute = low, 10 * high
        t = f"tensor<{name}>"
        lines += (
            f'  %r0 = "stablehlo.rng"(%a0, %a1, %s) {{rng_distribution = '
            f"#stablehlo<rng_distribution {kind}>}} : ({t}, {t}, tensor<{len(shape)}xi64>) -> "
            f"{tensor(shape, name)}"
        )
        operands = [(name, np.array(v, object)) for v in (low, high)]
        found = filled(shape, lambda middle=middle: middle)
        note = f"{name} {kind} {shape} {low} {high}"
        # By its words the interval of booleans would be 0 alone: XLA, and irax, draw both.
        others = [filled(shape, lambda: 1)] if name == "i1" else []
        results = [(name, found)]
        yield case(
            "stablehlo.rng", note, operands, results, body=lines, absolute=absolute, others=others
        )


# ---- random bits ---------------------------------------------------------------------------------

_M32 = 0xFFFFFFFF


def three_fry(key: list[int], counter: list[int]) -> list[int]:
    """Threefry-2x32 of 20 rounds (Salmon and others, 2011)."""
    keys = [*key, key[0] ^ key[1] ^ 0x1BD11BDA]
    a, b = ((c + k) & _M32 for c, k in zip(counter, key, strict=True))
    turns = (13, 15, 26, 6, 17, 29, 16, 24)
    for step in range(20):
        turn = turns[step % 8]
        a = (a + b) & _M32
        b = ((b << turn | b >> (32 - turn)) & _M32) ^ a
        if step % 4 == 3:
            block = step // 4 + 1
            a = (a + keys[block % 3]) & _M32
            b = (b + keys[(block + 1) % 3] + block) & _M32
    return [a, b]


def philox(key: list[int], counter: list[int]) -> list[int]:
    """Philox-4x32 of 10 rounds, likewise."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [second >> 32 ^ c[1] ^ k0, second & _M32, first >> 32 ^ c[3] ^ k1, first & _M32]
        k0, k1 = (k0 + 0x9E3779B9) & _M32, (k1 + 0xBB67AE85) & _M32
    return c


def _words(x: int) -> list[int]:
    return [x & _M32, x >> 32 & _M32]


def bits(rng: random.Random, count: int) -> Iterator[Case]:
    """rng_bit_generator: bits and the state after are left to the implementation. irax has XLA's,
    of a vector: the words of one counter after the other.
    """
    for i in range(count):
        name = ("ui32", "ui64", "i32", "i64", "ui32")[i % 5]
        format = INTEGERS[name]
        kind = ("PHILOX", "THREE_FRY", "DEFAULT")[i % 3]
        n = rng.choice([0, 1, 2, 3, 4, 5, 8, 9])
        state = [rng.getrandbits(64), rng.choice([0, 1, 2**32 - 1, 2**64 - 1, rng.getrandbits(64)])]
        if kind != "THREE_FRY" and rng.random() < 0.5:
            state.append(rng.choice([0, 2**64 - 1, rng.getrandbits(64)]))
        made = _three_fry_bits if kind == "THREE_FRY" else _philox_bits
        numbers, used = made(state, n, format.bits)
        end = (state[1] + (state[-1] << 64 if len(state) == 3 else 0) + used) % 2**128
        after = [state[0], end % 2**64, *([end >> 64] if len(state) == 3 else [])]
        found = np.array([format.wrapped(x) for x in numbers], object)
        given, left = (np.array(s, object) for s in (state, after))
        t = tensor([len(state)], "ui64")
        body = (
            '  %r0, %r1 = "stablehlo.rng_bit_generator"(%a0) {rng_algorithm = #stablehlo<'
            f"rng_algorithm {kind}>}} : ({t}) -> ({t}, {tensor([n], name)})"
        )
        yield case(
            "stablehlo.rng_bit_generator",
            f"{name} {kind} {n} of {len(state)}",
            [("ui64", given)],
            [("ui64", left), (name, found)],
            body=body,
            free=True,
        )


def _three_fry_bits(state: list[int], n: int, width: int) -> tuple[list[int], int]:
    """Numbers of 64 bits are both words of a counter. Of those of 32, the words of a counter are
    next to each other where the length is even; where it is odd, the last word is left out.
    """
    used = n if width == 64 else -(-n // 2)
    found = []
    for k in range(used):
        a, b = three_fry(_words(state[0]), _words((state[1] + k) % 2**64))
        found += [a | b << 32] if width == 64 else [a, b]
    return found[:n], used


def _philox_bits(state: list[int], n: int, width: int) -> tuple[list[int], int]:
    used, start = -(-n * width // 128), state[1] | state[-1 if len(state) == 3 else 0] << 64
    found = []
    for k in range(used):
        counter = (start + k) % 2**128
        words = philox(_words(state[0]), [*_words(counter), *_words(counter >> 64)])
        found += [words[0] | words[1] << 32, words[2] | words[3] << 32] if width == 64 else words
    return found[:n], used


# ---- quantized numbers ---------------------------------------------------------------------------


def quantized(rng: random.Random, count: int) -> Iterator[Case]:
    """Numbers quantized and dequantized; scales are powers of two, so that quotients are exact."""
    for i in range(count):
        storage, name = (("i8", "f32"), ("ui8", "f32"), ("i16", "f32"), ("i4", "f32"))[i % 4]
        format, of = INTEGERS[storage], FLOATS[name]
        least, most = format.smallest, format.largest
        limits = ""
        if rng.random() < 0.3:
            least, most = least // 2, most // 2
            limits = f"<{least}:{most}>"
        rows, n = rng.randint(1, 3), rng.randint(1, 6)
        by_row = rng.random() < 0.5
        scales = [rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(rows if by_row else 1)]
        zeros = [rng.randint(max(least, -5), min(most, 5)) for _ in scales]
        told = ", ".join(f"{s}:{z}" for s, z in zip(scales, zeros, strict=True))
        told = f":0, {{{told}}}" if by_row else f", {told}"
        kind = storage.removeprefix("u") if storage[0] == "i" else f"u{storage[2:]}"
        quant = f"tensor<{rows}x{n}x!quant.uniform<{kind}{limits}:{name}{told}>>"
        numbers = [v for v in floats(of, False, rng) if abs(v) < 1e30]  # nan has no integer
        numbers += [k / 4 for k in range(-40, 40)]
        x = filled([rows, n], lambda numbers=numbers: rng.choice(numbers))
        found = np.empty(x.shape, object)
        for place in np.ndindex(*x.shape):
            k = place[0] if by_row else 0
            scaled = functions.add(x[place] / scales[k], float(zeros[k]), of)
            integer = round(Fraction(min(max(scaled, least), most)))
            found[place] = (integer - zeros[k]) * scales[k]
        t = tensor(x.shape, name)
        body = (
            f'  %q = "stablehlo.uniform_quantize"(%a0) : ({t}) -> {quant}\n'
            f'  %r0 = "stablehlo.uniform_dequantize"(%q) : ({quant}) -> {t}'
        )
        note = f"{storage} {list(x.shape)}{limits}{told}"
        for op in ("stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"):
            yield case(op, note, [(name, x)], [(name, found)], body=body, absolute=5e-324)


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of these."""
    for make in (exchanges, orders, numbers_by_chance, bits, quantized):
        yield from make(rng, count)
