"""The array API standard's special values: functions of nan, infinities, zeros and their like."""

import re

import numpy as np
import pytest
from tests.frontend.array_api.array_api_tables import (
    COMPLEX,
    COMPLEX_NUMBERS,
    DEVIATIONS,
    FLOATS,
    REAL,
)

import irax
import irax.numpy as jnp


@pytest.fixture(autouse=True)
def wide():
    with irax.enable_x64(True):
        yield


GRID = [0.0, 1.0, 0.5, 2.0, 3.0, 1.5, 2.5, 0.3, 7.0, 100.5, 1e30, 1e-30, np.inf]
GRID = np.array([np.nan, *GRID, *(-x for x in GRID)])
INFINITIES = {"inf": np.inf, "nan": np.nan}


def is_integer(x):
    return np.isfinite(x) & (x == np.trunc(x))


KINDS = {
    "any": lambda x: np.full(x.shape, True),
    "number": lambda x: ~np.isnan(x),
    "finite": np.isfinite,
    "nonzero": lambda x: np.isfinite(x) & (x != 0),
    "positive": lambda x: np.isfinite(x) & (x > 0),
    "negative": lambda x: np.isfinite(x) & (x < 0),
    "plus": lambda x: ~np.isnan(x) & ~np.signbit(x),
    "minus": lambda x: ~np.isnan(x) & np.signbit(x),
    "integer": is_integer,
    "odd": lambda x: np.fmod(np.where(is_integer(x), x, 0), 2) != 0,
}


def number(text):
    factor, is_pi, divisor = re.fullmatch(r"([^π]*)(π?)(?:/(\d))?", text).groups()
    if not is_pi:
        return float(text)
    return float(factor + "1" if factor in ("", "-") else factor) * np.pi / int(divisor or 1)


def is_kind(kind, x):
    """Which numbers are of a kind."""
    if "&" in kind:
        return np.logical_and.reduce([is_kind(part, x) for part in kind.split("&")])
    if kind.startswith("|"):
        return is_kind(kind.strip("|"), abs(x))
    if kind[0] in "<>":
        return (x < float(kind[1:])) if kind[0] == "<" else (x > float(kind[1:]))
    if kind == "~0" or kind == "~1":
        return x != float(kind[1:])
    if kind[0] == "~":
        return ~is_kind(kind[1:], x)
    return KINDS[kind](x) if kind in KINDS else is_number(kind, x)


def is_number(text, x):
    """Which numbers are that of a text; zeros by their sign, too."""
    if text[0] == "±":
        return is_number(text[1:], abs(x))
    expected = number(text)
    if np.isnan(expected):
        return np.isnan(x)
    equal = np.isclose(x, expected, rtol=1e-6) if "π" in text else x == expected
    return equal & (np.signbit(x) == np.signbit(expected)) if expected == 0 else equal


def is_result(text, got, *operands):
    if text in ("plus", "minus"):
        return np.isnan(got) | KINDS[text](got)
    if text in ("True", "False"):
        return got == (text == "True")
    choices = {"x": operands[0], "y": operands[-1]} | {
        "|x|": np.abs(operands[0]),
        "-|x|": -np.abs(operands[0]),
    }
    if text not in choices:
        return is_number(text, got)
    expected = choices[text]
    same = (got == expected) & (np.signbit(got) == np.signbit(expected))
    return same | (np.isnan(got) & np.isnan(expected))


def rules(text):
    """{function: [(operands, result)]} of a table."""
    found = {}
    for line in re.sub(r"\n +", " ", text.strip()).split("\n"):
        name, cases = line.split(": ")
        cases = [DEVIATIONS.get(name, {}).get(case, case) for case in cases.split("; ")]
        found[name] = [case.split(" -> ") for case in cases]
    return found


REAL_RULES, COMPLEX_RULES = rules(REAL), rules(COMPLEX)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", REAL_RULES)
def test_special_values(name, dtype):
    cases = REAL_RULES[name]
    count = cases[0][0].count(",") + 1
    operands = [x.ravel().astype(dtype) for x in np.meshgrid(*[GRID] * count)]
    got = np.asarray(getattr(jnp, name)(*map(jnp.asarray, operands)))
    assert got.dtype in (dtype, "bool")
    for kinds, result in cases:
        chosen = np.logical_and.reduce([is_kind(*c) for c in zip(kinds.split(", "), operands)])  # noqa: B905
        assert chosen.any()
        fits = is_result(result, got[chosen], *(x[chosen] for x in operands))
        assert fits.all(), (kinds, result, [x[chosen][~fits] for x in (*operands, got)])


@pytest.mark.parametrize("dtype", COMPLEX_NUMBERS)
@pytest.mark.parametrize("name", COMPLEX_RULES)
def test_special_values_of_complex_numbers(name, dtype):
    parts = [x.ravel() for x in np.meshgrid(GRID, GRID)]
    x = np.empty(parts[0].size, dtype)
    x.real, x.imag = parts
    got = np.asarray(getattr(jnp, name)(jnp.asarray(x)))
    assert got.dtype == dtype
    for kinds, result in COMPLEX_RULES[name]:
        chosen = np.logical_and.reduce([is_kind(*c) for c in zip(kinds.split(", "), parts)])  # noqa: B905
        assert chosen.any()
        real, imag = got.real[chosen], got.imag[chosen]
        if "cis" in result:
            size, less = (np.inf if "inf" in result else 0), (1 if "- 1" in result else 0)
            angle = x.imag[chosen]
            fits = (real == size * np.cos(angle) - less) & (imag == size * np.sin(angle))
            fits &= np.signbit(imag) == np.signbit(np.sin(angle))
        else:
            first, second = result.split(", ")
            fits = is_number(first, real) & is_number(second, imag)
        assert fits.all(), (kinds, result, x[chosen][~fits], got[chosen][~fits])
