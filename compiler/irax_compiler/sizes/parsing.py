"""Text as sizes: `2*n + 1`, `floordiv(n, 2)`, `max(a, b)`; shapes and constraints of them."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from irax_compiler.sizes.expressions import variable
from irax_compiler.sizes.terms import InconclusiveDimensionOperation, Scope
from irax_compiler.sizes.values import OPERATIONS

_TOKEN = re.compile(r"\s*(\d+|[^\W\d]\w*|\.\.\.|>=|<=|==|.)", re.DOTALL)


class _Reader:
    """Reads sums of products, from the first token on."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.tokens = _TOKEN.findall(text.rstrip())
        self.place = 0

    @property
    def next(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, *expected: str) -> bool:
        """Goes beyond the next token if it is one of these."""
        found = self.next in expected and self.next != ""
        self.place += found
        return found

    def fail(self, wanted: str) -> NoReturn:
        """Raises the error for the next token."""
        found = repr(self.next) if self.next else "the end"
        raise ValueError(
            f"syntax error in symbolic shape {self.text!r}: expected {wanted}, got {found} "
            f"(token {self.place + 1})"
        )

    def expect(self, token: str) -> None:
        """Goes beyond a token, which must be next."""
        if not self.take(token):
            self.fail(repr(token))

    def sum(self) -> Any:
        """A sum of terms."""
        total = -self.product() if self.take("-") else self.product()
        while self.next in ("+", "-"):
            if self.take("+"):
                total = total + self.product()
            else:
                self.take("-")
                total = total - self.product()
        return total

    def product(self) -> Any:
        """A product of powers."""
        found = self.power()
        while self.take("*"):
            found = found * self.power()
        return found

    def power(self) -> Any:
        """A number, a variable, an operation or a sum in parentheses, maybe with an exponent."""
        base = self.factor()
        if self.take("^"):
            if not self.next.isdigit():
                self.fail("an exponent")
            base = base ** int(self.next)
            self.place += 1
        return base

    def factor(self) -> Any:
        """A number, a variable, an operation, or a sum in parentheses."""
        token = self.next
        if token == "-":
            self.place += 1
            return -self.factor()
        if token.isdigit():
            self.place += 1
            return int(token)
        if self.take("("):
            inner = self.sum()
            self.expect(")")
            return inner
        if not token.isidentifier() or token == "_":
            self.fail("a name, a number or '('")
        self.place += 1
        if token in OPERATIONS:
            self.expect("(")
            left = self.sum()
            self.expect(",")
            right = self.sum()
            self.expect(")")
            try:
                return OPERATIONS[token](left, right)
            except (InconclusiveDimensionOperation, ZeroDivisionError) as error:
                raise ValueError(f"symbolic shape {self.text!r}: {error}") from None
        return variable(token, self.scope)


def parse_size(text: str, scope: Scope) -> Any:
    """A size from its text.

    Raises:
        ValueError: it is none.
    """
    reader = _Reader(text, scope)
    found = reader.sum()
    if reader.next:
        reader.fail("the end")
    return found


def parse_constraint(text: str, scope: Scope) -> tuple[Any, str, Any]:
    """The two sides of a comparison and its sign."""
    if not isinstance(text, str):
        raise ValueError(f"a constraint must be a string such as 'n >= 2', got {text!r}")
    reader = _Reader(text, scope)
    try:
        left = reader.sum()
        sign = reader.next
        if not reader.take(">=", "<=", "=="):
            reader.fail("'>=', '<=' or '=='")
        right = reader.sum()
    except InconclusiveDimensionOperation as error:
        raise ValueError(f"constraint {text!r}: {error}") from None
    if reader.next:
        reader.fail("the end")
    return left, sign, right


def parse_shape(text: str, scope: Scope, like: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """A shape from its text, in parentheses or not: sizes, with `_` for the size that `like` has
    there, and `...` for all the sizes that are left of it.

    Raises:
        ValueError: it is none, or does not fit `like`.
    """
    inner = text.strip()
    if inner.startswith("(") and inner.endswith(")") and _encloses(inner):
        inner = inner[1:-1]
    reader = _Reader(inner, scope)
    found: list[Any] = []
    while reader.next:
        if reader.take("..."):
            if like is None:
                raise ValueError(
                    f"symbolic shape {text!r} has a placeholder '...': it needs `like`, a shape "
                    "that has these sizes"
                )
            found += like[len(found) :]
            reader.take(",")
            break
        if reader.take("_"):
            if like is None or len(found) >= len(like):
                raise ValueError(
                    f"symbolic shape {text!r} has a placeholder '_' in dimension {len(found)}: it "
                    "needs `like`, a shape that has this size"
                )
            if like[len(found)] is None:
                raise ValueError(
                    f"symbolic shape {text!r} has a placeholder '_' in dimension {len(found)}, of "
                    f"which like={like} has no size: give it a name"
                )
            found.append(like[len(found)])
        else:
            found.append(reader.sum())
        if not reader.take(",") and reader.next:
            reader.fail("','")
    if reader.next:
        reader.fail("the end, after '...'")
    if like is not None:
        _check_like(text, tuple(found), like)
    return tuple(found)


def _encloses(text: str) -> bool:
    """True if the first parenthesis is closed by the last one."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _check_like(text: str, found: tuple[Any, ...], like: tuple[Any, ...]) -> None:
    if len(found) != len(like):
        raise ValueError(
            f"symbolic shape {text!r} has {len(found)} dimensions, and like={like} has {len(like)}"
        )
    for d, (size, known) in enumerate(zip(found, like, strict=True)):
        if isinstance(size, int) and isinstance(known, int) and size != known:
            raise ValueError(
                f"symbolic shape {text!r} in dimension {d}: different size {size} for known "
                f"dimension; like={like}"
            )
