"""Messages of errors: they name the argument that matters, lines of a readable length, and under
irax.compat JAX's names.
"""

import subprocess
import sys

import pytest

import irax
import irax.numpy as jnp


def test_the_argument_that_matters_is_named():
    @irax.jit
    def chosen(x, n, m):
        scale = irax.lax.cond(m > 0, lambda: n * 2, lambda: n)
        return x if scale > 2 else -x

    with pytest.raises(irax.errors.TracerBoolConversionError) as error:
        chosen(1.0, 3, 4)
    assert "depends on one of chosen: n, chosen: m." in str(error.value)

    @irax.jit
    def simple(x, n):
        return x if n > 2 else -x

    with pytest.raises(irax.errors.TracerBoolConversionError, match=r"on simple: n\."):
        simple(1.0, 3)


def test_long_lines_are_cut():
    def f(x):
        return 1 if x > 0 else 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + 17

    cut = r"py:\d+: `return 1 if x > 0 else 2 \+ 3 \+ 4 \+ 5 \+ 6 \+ 7 \+ 8 \+ 9 \+ 10...`: the"
    with pytest.raises(irax.errors.TracerBoolConversionError, match=cut):
        irax.jit(f)(1.0)


@pytest.mark.parametrize("join", [jnp.concatenate, jnp.stack])
def test_arrays_that_are_not_in_a_list(join):
    with pytest.raises(TypeError, match=rf"pass the arrays in one list: {join.__name__}\(\[a, b\]"):
        join(jnp.ones(3), jnp.ones(3))


AS_CALLED = {
    "clip: shapes (3,) and (2,)": lambda: jnp.clip(jnp.ones(3), min=jnp.ones(2)),
    "squeeze: cannot squeeze": lambda: jnp.squeeze(jnp.ones((2, 3)), 0),
    "expand_dims: axis 5": lambda: jnp.expand_dims(jnp.ones(3), 5),
    "full: cannot broadcast": lambda: jnp.full((2, 2), jnp.ones(3)),
    "take: mode must be": lambda: jnp.take(jnp.ones(3), 0, mode="clp"),
    "make_mesh: expected a name": lambda: irax.make_mesh((1,), ("a", "b")),
    "image.resize: there is no method": lambda: irax.image.resize(
        jnp.ones((2, 2)), (4, 4), "cubik"
    ),
    "nn.logsumexp: shapes": lambda: irax.nn.logsumexp(jnp.ones(3), b=jnp.ones(2)),
    "logical_not: x: expected": lambda: jnp.logical_not([True]),
    "isclose: b: expected": lambda: jnp.isclose(jnp.ones(3), "a"),
    "median: a: expected": lambda: jnp.median(None),
    "concatenate: arrays[1]: expected": lambda: jnp.concatenate([jnp.ones(2), "a"]),
    "lax.map: xs is a scalar": lambda: irax.lax.map(lambda x: x, 3.0),
    # functions that are given others keep the names of those
    "add: shapes (2,) and (3,)": lambda: irax.tree.map(jnp.add, [jnp.ones(2)], [jnp.ones(3)]),
    "dot: shapes": lambda: irax.vmap(jnp.dot)(jnp.ones((8, 3)), jnp.ones((8, 4))),
    # private ones are not named
    "astype: 'flot32' is not a dtype": lambda: jnp.ones(3).astype("flot32"),
}


@pytest.mark.parametrize("text", AS_CALLED)
def test_messages_begin_with_the_function_that_was_called(text):
    with pytest.raises((TypeError, ValueError)) as error:
        AS_CALLED[text]()
    assert str(error.value).startswith(text)
    hidden = error.value.__suppress_context__  # else it was raised while another was handled
    assert hidden or error.value.__context__ is None


SCRIPT = """
import irax.compat
irax.compat.install()
import jax

try:
    jax.jit(lambda x: 1 if x > 0 else 2)(1.0)
except jax.errors.TracerBoolConversionError as error:
    print("jax.numpy.where" in str(error), "irax.numpy" in str(error))
try:
    raise KeyError("irax.numpy.where")
except KeyError as error:
    print(error)
"""


def test_names_are_jax_s_where_irax_stands_for_it():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True False\n'irax.numpy.where'\n"


def test_shapes_of_lanes_are_told_as_such():
    def dot(x, y):
        return jnp.dot(x, y)

    with pytest.raises(TypeError, match="do not fit") as raised:
        irax.vmap(dot)(jnp.ones((32, 3)), jnp.ones((32, 4)))
    note = "These are shapes of a lane: vmap maps the function over 32."
    assert raised.value.__notes__ == [note]
    with pytest.raises(TypeError, match="do not fit") as raised:
        dot(jnp.ones(3), jnp.ones(4))
    assert not hasattr(raised.value, "__notes__")


def test_an_array_is_no_dtype():
    with pytest.raises(TypeError, match=r"vstack: dtype: .* in one list: vstack\(\[a, b\]\)"):
        jnp.vstack(jnp.ones(3), jnp.ones(3))


def test_names_inside_of_irax_are_no_arguments():
    """The mask of unique is irax's own, and not what the user passed."""
    with pytest.raises(
        irax.errors.ConcretizationTypeError, match=r"\. Give size=\.\.\., or"
    ) as error:
        irax.jit(jnp.unique)(jnp.ones(3))
    assert "'mask'" not in str(error.value)
