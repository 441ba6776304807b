"""Layouts and formats: irax's devices have arrays in row-major order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.experimental.layout import Format, Layout, with_layout_constraint
from irax.sharding import SingleDeviceSharding

ROWS, COLUMNS = Layout((0, 1)), Layout((1, 0))
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def here() -> SingleDeviceSharding:
    return SingleDeviceSharding(irax.devices()[0])


def test_formats_say_how_arrays_are():
    x = jnp.asarray(X)
    assert x.format == Format(Layout((0, 1), ()), here())
    assert ROWS.update(tiling=()) == x.format.layout != ROWS
    assert hash(ROWS) == hash(Layout([0, 1]))
    assert repr(Layout.AUTO) == "AUTO"
    assert repr(Format()) == "Format(layout=None, sharding=None)"


@pytest.mark.parametrize("layout", [ROWS, None])
def test_row_major_formats_stand_for_their_shardings(layout: Any):
    given = Format(layout, here())
    np.testing.assert_array_equal(irax.device_put(X, given), X)
    doubled = irax.jit(lambda x: 2 * x, in_shardings=(given,), out_shardings=given)
    np.testing.assert_array_equal(doubled(X), 2 * X)
    assert irax.ShapeDtypeStruct((2, 3), "float32", sharding=given).sharding == here()


def test_compilers_choose_layouts():
    auto = Format(Layout.AUTO)
    doubled = irax.jit(lambda x: 2 * x, in_shardings=(auto,), out_shardings=auto)
    compiled = doubled.lower(X).compile()
    assert compiled.input_formats[0] == (Format(Layout((0, 1), ()), here()),)
    np.testing.assert_array_equal(doubled(X), 2 * X)


def test_constraints_return_their_arrays():
    given = {"a": jnp.asarray(X), "b": jnp.asarray(X)}
    for layouts in (ROWS, {"a": ROWS, "b": ROWS}):
        np.testing.assert_array_equal(with_layout_constraint(given, layouts)["b"], X)
    traced = irax.jit(lambda x: with_layout_constraint(2 * x, ROWS))
    np.testing.assert_array_equal(traced(X), 2 * X)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: irax.device_put(X, Format(COLUMNS, here())), "row-major on the devices here"),
        (lambda: irax.device_put(X, Format(Layout.AUTO, here())), "a compiler alone chooses"),
        (lambda: irax.device_put(X, Format(Layout((0,)), here())), "with 1 dimensions, got one of"),
        (
            lambda: irax.jit(lambda x: x, in_shardings=Format(COLUMNS, here()))(X),
            "jit: arrays are row-major",
        ),
        (lambda: with_layout_constraint(jnp.asarray(X), COLUMNS), "row-major on the devices here"),
        (lambda: with_layout_constraint(jnp.asarray(X), 3), "expected a Layout, got 3"),
        (lambda: with_layout_constraint(X, ROWS), "expected arrays of irax, got ndarray"),
        (lambda: with_layout_constraint(jnp.asarray(X), Layout((0,))), "with 1 dimensions"),
        (lambda: Format(ROWS), "needs a sharding, got None"),
    ],
)
def test_what_devices_cannot_have_is_refused(call: Any, message: str):
    with pytest.raises(ValueError, match=message):
        call()


def test_formats_are_of_layouts_and_shardings():
    with pytest.raises(TypeError, match="layout must be a Layout"):
        Format((0, 1), here())
    with pytest.raises(TypeError, match="sharding must be a Sharding"):
        Format(ROWS, "a")
