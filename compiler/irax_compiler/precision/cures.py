"""Cures: forms of expressions that lose digits, and others that keep them.

A rule looks at an event of a shadow run, and at the events that made its operands. The first rule
that knows an event's expression tells its cure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.precision.blame import Costs, name_of
from irax_compiler.precision.patterns import (
    Made,
    is_number,
    other_operand,
    place_of,
    square,
    sum_of_squares,
    terms,
)
from irax_compiler.precision.shadow import Both, Event, Operand, Run


@dataclass(frozen=True)
class Cure:
    """A change of an expression."""

    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.before}  ->  {self.after}"


Found = tuple[Cure, tuple[Event, ...]]
Rule = Callable[[Event, Made], "Found | None"]
_RULES: dict[str, list[Rule]] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: the rule looks at events of ops of these names."""

    def register(rule: Rule) -> Rule:
        for name in names:
            _RULES.setdefault(name, []).append(rule)
        return rule

    return register


def found(run: Run, costs: Sequence[tuple[Event, Costs]]) -> list[Found]:
    """Return the cures for events that have costs, with the events that they replace."""
    made = Made(run, costs)
    with run.arithmetic.context(), np.errstate(all="ignore"):
        every = [_first(event, made) for event, _ in costs]
    cures = [cure for cure in every if cure is not None]
    parts = [frozenset(id(e.step) for e in events) for _, events in cures]
    distinct = set(parts)  # few: loops have events of a step in each iteration
    within = {part for part in distinct if any(part < other for other in distinct)}
    return [cure for cure, part in zip(cures, parts, strict=True) if part not in within]


def _first(event: Event, made: Made) -> Found | None:
    for rule in _RULES.get(name_of(event), ()):
        cure = rule(event, made)
        if cure is not None:
            return cure
    return None


# ---- functions -----------------------------------------------------------------------------------


@_rule("log")
def _logarithm(event: Event, made: Made):
    (x,) = event.operands
    if (total := made.by(x, "add")) and other_operand(total, 1) is not None:
        return Cure("log(1 + x)", "log1p(x)"), (event, total)
    if (rest := made.by(x, "subtract")) and is_number(rest.operands[0], 1):
        if grown := made.by(rest.operands[1], "exponential"):
            return Cure("log(1 - exp(x))", "log(-expm1(x))"), (event, rest, grown)
        if share := made.by(rest.operands[1], "logistic"):
            return Cure("log(1 - sigmoid(x))", "log_sigmoid(-x)"), (event, rest, share)
        return Cure("log(1 - x)", "log1p(-x)"), (event, rest)
    if (total := made.by(x, "reduce")) and (grown := made.by(total.operands[0], "exponential")):
        return Cure("log(sum(exp(x)))", "logsumexp(x)"), (event, total, grown)
    if (product := made.by(x, "reduce")) and _folds(product, "multiply"):
        return Cure("log(prod(x))", "sum(log(x))"), (event, product)
    if (share := made.by(x, "divide")) and made.by(share.operands[0], "exponential"):
        return Cure("log(exp(x) / sum(exp(x)))", "log_softmax(x)"), (event, share)
    if share := made.by(x, "logistic"):
        return Cure("log(sigmoid(x))", "log_sigmoid(x)"), (event, share)
    if grown := made.by(x, "cosh"):
        return Cure("log(cosh(x))", "logaddexp(x, -x) - log(2)"), (event, grown)
    return None


def _folds(event: Event, combiner: str) -> bool:
    return isinstance(event.step.op, Reduce) and event.step.op.combiner == combiner


@_rule("log_plus_one")
def _softplus(event: Event, made: Made):
    if grown := made.by(event.operands[0], "exponential"):
        return Cure("log1p(exp(x))", "logaddexp(x, 0)"), (event, grown)
    return None


@_rule("divide")
def _shares(event: Event, made: Made):
    top = made.by(event.operands[0], "exponential")
    total = made.by(event.operands[1], "add", "reduce")
    if top is None or total is None:
        return None
    if name_of(total) == "reduce" and made.by(total.operands[0], "exponential"):
        return Cure("exp(x) / sum(exp(x))", "softmax(x)"), (event, total, top)
    if other_operand(total, 1) is not None:
        return Cure("exp(x) / (1 + exp(x))", "sigmoid(x)"), (event, total, top)
    return None


@_rule("subtract")
def _difference_from_one(event: Event, made: Made):
    x, y = event.operands
    if is_number(y, 1):
        if grown := made.by(x, "exponential"):
            return Cure("exp(x) - 1", "expm1(x)"), (event, grown)
        root = made.by(x, "sqrt")
        total = root and made.by(root.operands[0], "add")
        if root and total and other_operand(total, 1) is not None:
            return Cure("sqrt(1 + x) - 1", "x / (sqrt(1 + x) + 1)"), (event, root, total)
    if not is_number(x, 1):
        return None
    for name, before, after in (
        ("cosine", "1 - cos(x)", "2 * sin(x / 2)**2"),
        ("erf", "1 - erf(x)", "erfc(x)"),
        ("logistic", "1 - sigmoid(x)", "sigmoid(-x)"),
        ("tanh", "1 - tanh(x)", "2 * sigmoid(-2 * x)"),
        ("exponential", "1 - exp(x)", "-expm1(x)"),
    ):
        if inner := made.by(y, name):
            return Cure(before, after), (event, inner)
    return None


_DIFFERENCES = {
    "sqrt": ("sqrt(x) - sqrt(y)", "(x - y) / (sqrt(x) + sqrt(y))"),
    "log": ("log(x) - log(y)", "log1p((x - y) / y)"),
    "exponential": ("exp(x) - exp(y)", "exp(y) * expm1(x - y)"),
    "cosine": ("cos(x) - cos(y)", "-2 * sin((x + y) / 2) * sin((x - y) / 2)"),
    "sine": ("sin(x) - sin(y)", "2 * cos((x + y) / 2) * sin((x - y) / 2)"),
    "atan": ("arctan(x) - arctan(y)", "arctan2(x - y, 1 + x * y)"),
}
"""Differences of two values of a function."""


@_rule("subtract")
def _difference(event: Event, made: Made):
    x, y = event.operands
    up, down = made.by(x, "exponential"), made.by(y, "exponential")
    if up and down and made.by(down.operands[0], "negate"):
        return Cure("(exp(x) - exp(-x)) / 2", "sinh(x)"), (event, up, down)
    for name, forms in _DIFFERENCES.items():
        if (up := made.by(x, name)) and (down := made.by(y, name)):
            return Cure(*forms), (event, up, down)
    if (first := square(x, made)) and (second := square(y, made)):
        return Cure("x * x - y * y", "(x - y) * (x + y)"), (event, first, second)
    if (first := sum_of_squares(x, made)) and (second := sum_of_squares(y, made)):
        cure = Cure("dot(x, x) - dot(y, y)", "dot(x - y, x + y)")
        return cure, (event, first, second)
    return None


@_rule("subtract")
def _difference_of_reciprocals(event: Event, made: Made):
    up, down = (made.by(z, "divide") for z in event.operands)
    if not (up and down and made.is_exact(up.operands[1]) and made.is_exact(down.operands[1])):
        return None
    if is_number(up.operands[0], 1) and is_number(down.operands[0], 1):
        return Cure("1 / x - 1 / y", "(y - x) / (x * y)"), (event, up, down)
    return None


@_rule("acos")
def _angle(event: Event, made: Made):
    return Cure("arccos(dot(x, y) / (|x| |y|))", "arctan2(|cross(x, y)|, dot(x, y))"), (event,)


@_rule("sqrt", "rsqrt")
def _length(event: Event, made: Made):
    (x,) = event.operands
    total = made.by(x, "add")
    squares = [square(y, made) for y in terms(total, made)] if total else []
    if total and len(squares) == 2 and all(squares) and name_of(event) == "sqrt":
        return Cure("sqrt(x * x + y * y)", "hypot(x, y)"), (event, total, *filter(None, squares))
    if total and squares and all(squares):
        inner = (event, total, *filter(None, squares))
    elif summed := sum_of_squares(x, made):
        inner = (event, summed, *filter(None, [square(summed.operands[0], made)]))
    else:
        return None
    after = "s * sqrt(sum((x / s)**2)), with s = max(abs(x))"
    return Cure("sqrt(sum(x * x))", after), inner


# ---- variances and distances ---------------------------------------------------------------------


@_rule("subtract")
def _variance(event: Event, made: Made):
    x, y = event.operands
    mean = made.by(x, "divide", "multiply")
    if mean and square(y, made) and (squares := sum_of_squares(mean.operands[0], made)):
        return Cure("mean(x * x) - mean(x)**2", "mean((x - mean(x))**2)"), (event, squares)
    if mean and (total := made.by(mean.operands[0], "reduce", "dot_general")):
        means = made.by(y, "multiply")
        if means and all(_is_mean(z, made) for z in means.operands):
            after = "mean((x - mean(x)) * (y - mean(y)))"
            return Cure("mean(x * y) - mean(x) * mean(y)", after), (event, total)
    if (squares := sum_of_squares(x, made)) and _is_square_of_a_sum(y, made):
        return Cure("sum(x * x) - sum(x)**2 / n", "sum((x - mean(x))**2)"), (event, squares)
    return None


def _is_mean(x: Operand, made: Made) -> bool:
    mean = made.by(x, "divide", "multiply")
    return mean is not None and made.by(mean.operands[0], "reduce", "dot_general") is not None


def _is_square_of_a_sum(x: Operand, made: Made) -> bool:
    """True for the square of a sum or mean, or a multiple of one."""
    scaled = made.by(x, "divide", "multiply")
    for y in (x, *(scaled.operands if scaled else ())):
        squared = square(y, made)
        if squared is not None:
            z = squared.operands[0]
            return _is_mean(z, made) or made.by(z, "reduce") is not None
    return False


def _is_product(x: Operand, made: Made) -> bool:
    twice = made.by(x, "multiply")
    parts = [x] if twice is None else twice.operands
    return any(made.by(y, "dot_general") is not None for y in parts)


@_rule("add", "subtract")
def _squared_distance(event: Event, made: Made):
    each = terms(event, made)
    squares = [sum_of_squares(x, made) is not None for x in each]
    if len(each) != 3 or sum(squares) != 2 or not _is_product(each[squares.index(False)], made):
        return None
    return Cure("sum(x * x) - 2 * dot(x, y) + sum(y * y)", "sum((x - y)**2)"), (event,)


# ---- rounding errors of sums and products --------------------------------------------------------

_BY_ROUNDING = 1.0
"""The digits that the roundings of a sum cost, from which on they are worth to be kept."""
_EXACTLY = "with the rounding errors of products added (by an fma)"
_STEP = "t = total + x; z = t - total; c += (total - (t - z)) + (x - z); total = t"
"""A step of a sum and of that of its rounding errors (D. Knuth, 1969)."""


def _compensated(event: Event) -> str:
    """Return how a sum keeps its digits: in float32 or float64, where these are wider."""
    bits = ml_dtypes.finfo(_narrow(event)).bits
    wider = "in float32, or " if bits <= 16 else "in float64, or " if bits < 64 else ""
    return f"the same {wider}compensated: {_STEP}; at the end total + c"


def _narrow(event: Event) -> np.dtype:
    return next(x for x in event.results if isinstance(x, Both)).narrow.dtype


def _rounds(event: Event, made: Made) -> bool:
    """True if the roundings of an operation cost digits, in all its iterations."""
    costs = made.costs(event)
    return costs.own > 0.3 and costs.rounded > _BY_ROUNDING


@_rule("add", "subtract")
def _sum_in_a_loop(event: Event, made: Made):
    if event.turn is None or not _rounds(event, made) or not _accumulates(event, made):
        return None
    if ml_dtypes.finfo(_narrow(event)).bits <= 16:
        before = f"total + x in a loop of {_narrow(event).name}"
        return Cure(before, "sum(x), or a total in float32"), (event,)
    return Cure("total + x in a loop", _compensated(event)), (event,)


def _accumulates(event: Event, made: Made) -> bool:
    """True if an operand is what the same operation made in the iteration before, or is for the
    first one to come.
    """
    before = [made.by(x, name_of(event)) for x in event.operands]
    return event.turn == 0 or any(b is not None and b.step is event.step for b in before)


@_rule("reduce", "reduce_window")
def _sum(event: Event, made: Made):
    if _folds(event, "multiply") or not _rounds(event, made):
        return None
    return Cure("sum(x)", _compensated(event)), (event,)


@_rule("dot_general")
def _product(event: Event, made: Made):
    for x in event.operands:
        if (inverse := made.by(x, "solve")) and _is_identity(inverse.operands[1]):
            return Cure("inv(a) @ b", "solve(a, b)"), (event, inverse)
    if not _rounds(event, made):
        return None
    return Cure("dot(x, y)", f"the same in a wider type, or {_EXACTLY}"), (event,)


@_rule("add", "subtract")
def _products(event: Event, made: Made):
    """Sums of products of exact numbers, of which the roundings are what is left."""
    products = [p for p in (made.by(x, "multiply") for x in event.operands) if p is not None]
    are_exact = all(made.is_exact(x) for p in products for x in p.operands)
    share = sum(made.costs(p).own for p in products)
    if not are_exact or share < 0.3 or made.costs(event).steepest < _BY_ROUNDING:
        return None
    if len(products) == 2:
        after = (
            "the same in float64, or with the rounding errors of both products added (by an fma)"
        )
        return Cure("a * d - b * c", after), (event, *products)
    after = "the same in float64, or with the rounding error of the product added (by an fma)"
    return Cure("a * b - c", after), (event, *products)


# ---- matrices ------------------------------------------------------------------------------------


@_rule("solve")
def _normal_equations(event: Event, made: Made):
    matrix = made.by(event.operands[0], "dot_general")
    if matrix is None or len({place_of(x) for x in matrix.operands}) > 1:
        return None
    return Cure("solve(a.T @ a, a.T @ b)", "lstsq(a, b)[0]"), (event, matrix)


def _is_identity(x: Operand) -> bool:
    numbers = x.narrow if isinstance(x, Both) else x
    return numbers.ndim > 1 and bool((numbers == np.eye(*numbers.shape[-2:])).all())
