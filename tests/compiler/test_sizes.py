"""Sizes that are expressions: their arithmetic, bounds and text, against Python's integers."""

import operator
import pickle
import random

import numpy as np
import pytest

from irax_compiler.sizes import (
    InconclusiveDimensionOperation,
    Size,
    SymbolicScope,
    larger,
    smaller,
    substituted,
    variables,
)
from irax_compiler.sizes.bounds import largest
from irax_compiler.sizes.comparison import bounds
from irax_compiler.sizes.encoding import encoded, parse_encoded
from irax_compiler.sizes.parsing import parse_shape, parse_size
from irax_compiler.sizes.solving import solve

NAMES = ("a", "b", "n")


def drawn(rng, scope, depth):
    """A random expression, and the same as a function of numbers."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.3:
            number = rng.randint(-4, 6)
            return number, lambda env: number
        name = rng.choice(NAMES)
        return scope.variable(name), lambda env: env[name]
    (x, f), (y, g) = drawn(rng, scope, depth - 1), drawn(rng, scope, depth - 1)
    kind = rng.choice(["add", "sub", "mul", "floordiv", "mod", "max", "min"])
    if kind in ("floordiv", "mod"):
        k = rng.randint(1, 5)
        operation = getattr(operator, kind)
        return operation(x, k), lambda env: operation(f(env), k)
    if kind in ("max", "min"):
        chosen, known = {"max": (larger, max), "min": (smaller, min)}[kind]
        return chosen(x, y), lambda env: known(f(env), g(env))
    operation = getattr(operator, kind)
    return operation(x, y), lambda env: operation(f(env), g(env))


@pytest.mark.parametrize("constraints", [(), ("a >= 3", "b <= 7", "n >= b", "mod(n, 2) == 0")])
def test_random_expressions(constraints):
    rng, scope = random.Random(7), SymbolicScope(constraints)
    for _ in range(150):
        size, known = drawn(rng, scope, 3)
        low, high = bounds(size)
        for _ in range(6):
            env = {"a": rng.randint(3, 9), "b": rng.randint(1, 7), "n": 2 * rng.randint(4, 9)}
            value = known(env)
            assert substituted(size, env) == value
            assert low <= value <= high, (size, env)
        if isinstance(size, Size):
            assert parse_size(str(size), scope) == size
            assert parse_encoded(encoded((size, 3))) == (size, 3)
            assert pickle.loads(pickle.dumps(size)) == size


def test_normal_forms():
    scope = SymbolicScope()
    a, b = scope.variable("a"), scope.variable("b")
    texts = {
        2 * (a + 1) - a: "a + 2",
        (a + b) * (a - b): "- b^2 + a^2",
        a * b * 784 // 784: "a*b",
        (6 * a + 4) // 2: "3*a + 2",
        a // 2 * 2 + a % 2: "a",
        7 - a: "- a + 7",
        (a + b) // 2: "floordiv(b + a, 2)",
    }
    for size, text in texts.items():
        assert str(size) == text
    half = (a - 1) // 2
    assert a - (a - 1) % 2 - half == half + 1
    assert 3 * half + (a - 1) % 2 == half + a - 1
    assert (a * b) // b == a
    assert (a + 1 - a, a % 1, a * 0, (2 * a) % 2) == (1, 0, 0, 0)
    assert a + b == b + a
    assert a != b
    assert a != 1
    assert a - 1 != 0  # which may be, but is not for all values
    assert larger(a, a - 3) == a
    assert smaller(a, 1) == 1
    assert variables([a * b, 3]) == ["a", "b"]


def test_comparisons():
    scope = SymbolicScope(["n >= 8", "m <= n", "mod(n, 4) == 0"])
    n, m, k = map(scope.variable, "nmk")
    assert n >= 8
    assert not n < 1
    assert n > 7
    assert m <= n
    assert m < n + 1
    assert n // 4 * 4 == n
    assert n // 2 <= n
    assert n % 3 < 3
    assert k * n >= n
    assert bool(k)
    with pytest.raises(
        InconclusiveDimensionOperation, match=r"'k >= 2' is inconclusive.*constraints=\['k >= 2'\]"
    ):
        assert k >= 2
    with pytest.raises(InconclusiveDimensionOperation, match=r"whether .*n - 8 is 0"):
        bool(n - 8)
    for use in (int, float, operator.index, range, lambda x: [0] * x):
        with pytest.raises(InconclusiveDimensionOperation, match="'k' used in a context"):
            use(k)
    with pytest.raises(InconclusiveDimensionOperation, match="the divisor may be 0"):
        k // (k - 1)
    with pytest.raises(TypeError):
        k + "1"  # pyright: ignore


def test_quotients_without_a_rest():
    scope = SymbolicScope()
    a, b = scope.variable("a"), scope.variable("b")
    assert (a * a - 1) // (a - 1) == a + 1
    assert ((a + 1) * (a + b)) // (a + b) == a + 1
    assert ((a + 1) * (a + b)) % (a + 1) == 0
    assert str((a * b + 1) // a) == "floordiv(a*b + 1, a)" or (a * b + 1) // a == b + 1 // a
    for operation in (operator.floordiv, operator.mod):
        with pytest.raises(ZeroDivisionError, match="the divisor is 0"):
            operation(a, 0)
    with pytest.raises(ValueError, match="no negative powers"):
        a**-1


def test_numbers_of_numpy():
    a, b = map(SymbolicScope().variable, "ab")
    assert np.prod((a, b, 3)) == 3 * a * b
    assert np.sum([a, b]) == a + b
    for three in (np.int32(3), np.array(3)):
        assert a + three == three + a == a + 3
        assert a * three == 3 * a


def test_scopes():
    a, b = SymbolicScope().variable("n"), SymbolicScope(["n >= 2"]).variable("n")
    assert a != b
    with pytest.raises(ValueError, match=r"of different scopes: no constraints and n >= 2"):
        a + b
    for constraints, what in [
        ("n >= 2", "a sequence of strings"),
        (["n > 2"], "expected '>=', '<=' or '=='"),
        (["n >= "], "expected a name, a number"),
        (["n <= 0"], "cannot hold"),
        (["n + 1 == 3"], "must be one term"),
        ([3], "must be a string"),
    ]:
        with pytest.raises(ValueError, match=what):
            SymbolicScope(constraints)  # pyright: ignore


def test_text():
    scope = SymbolicScope()
    n = scope.variable("n")
    assert parse_shape("(n, 2*n + 1, 3)", scope, None) == (n, 2 * n + 1, 3)
    assert parse_shape("(n + 1)*2", scope, None) == (2 * n + 2,)
    assert parse_shape("n, _, ...", scope, (8, 5, 4, 3)) == (n, 5, 4, 3)
    assert parse_shape("", scope, None) == ()
    assert str(parse_shape("größe + 1", scope, None)[0]) == "größe + 1"
    for text, like, what in [
        ("n m", None, "expected ',', got 'm'"),
        ("2*", None, "got the end"),
        ("_", None, "placeholder '_' in dimension 0"),
        ("...", None, "placeholder '...'"),
        ("n, 4", (8, 5), "different size 4 for known dimension"),
        ("n", (8, 5), r"has 1 dimensions, and like=\(8, 5\) has 2"),
        ("n,, 3", None, "expected a name"),
        ("max", None, r"expected '\('"),
        ("floordiv", None, r"expected '\('"),
        ("floordiv(n, 0)", None, "the divisor is 0"),
        ("n, _", (8, None), r"has no size: give it a name"),
    ]:
        with pytest.raises(ValueError, match=what):
            parse_shape(text, scope, like)


def test_solving():
    scope = SymbolicScope(["n >= 2", "mod(m, 2) == 0"])
    n, m = scope.variable("n"), scope.variable("m")
    assert solve([(n * m + 1, 25, "x"), (2 * n, 6, "y"), (5, 5, "z")]) == {"n": 3, "m": 8}
    for stated, what in [
        ([(n, 1, "x[0]")], r"the constraint n >= 2 does not hold for n = 1"),
        ([(n, 0, "x[0]")], r"expected a size n for x\[0\] with n >= 1, got 0"),
        ([(m, 3, "y")], r"the constraint mod\(m, 2\) == 0 does not hold for m = 3"),
        ([(2 * n, 5, "x")], "expected a size 2[*]n for x, got 5: no n fits"),
        ([(n, 4, "x"), (n + 1, 6, "y")], r"expected size n \+ 1 = 5 for y, got 6 \(n = 4\)"),
        ([(5, 4, "x")], "expected size 5 for x, got 4"),
        ([(n * m, 6, "x")], "cannot solve for values of the dimension variables m, n"),
        ([(n // 2, 6, "x")], "cannot solve for values of the dimension variables n"),
    ]:
        with pytest.raises(ValueError, match=what):
            solve(stated)


SIZES = """
-floordiv(-n, 2); -floordiv(-n + 1, 2); n - m; n*m - 2*n; floordiv(n, m); mod(-n, 3)
max(n - 4, -m); -min(n, m) + 5; floordiv(n - 3, 2)*m; -mod(n, m)
"""


@pytest.mark.parametrize("text", SIZES.strip().replace("\n", "; ").split("; "))
def test_no_value_is_above_the_largest(text):
    size = parse_size(text, SymbolicScope())
    values = [substituted(size, {"n": n, "m": m}) for n in range(1, 10) for m in range(1, 10)]
    assert max(values) <= largest(size, 9) <= 2 * max(values) + 9
