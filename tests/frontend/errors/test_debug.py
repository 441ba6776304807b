"""debug.print and debug.callback; debug_nans and debug_infs."""

import bdb
import io
import re

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import NamedSharding, P, debug, lax
from irax.execution.shardings import show_shardings
from irax.experimental import io_callback
from irax.sharding import Mesh
from irax_runtime.iree.cpu import cpu

BOTH = pytest.mark.parametrize("jit", [lambda f: f, irax.jit], ids=["at once", "jit"])


@pytest.fixture
def lines(capsys):
    """The lines that have been printed."""
    return lambda: capsys.readouterr().out.splitlines()


# ---- print ---------------------------------------------------------------------------------------


@BOTH
def test_print(jit, lines):
    def f(x, n):
        debug.print("x = {x}, {} {:.2f} {n!r} {{}}", n, x[1], x=x, n=n, ordered=True)
        debug.print("{} {tree[a]}", "text", tree={"a": x[0], "b": None})
        debug.print("nothing")
        debug.print(ordered=True)("{ordered}", ordered=n)
        return x

    jit(f)(jnp.float32([1, 2.125]), 3)
    assert lines() == [
        "x = [1.    2.125], 3 2.12 Array(3, dtype=int32) {}",
        "text 1.0",
        "nothing",
        "3",
    ]


def test_print_has_the_options_of_numpy_that_were_set_where_it_stands(lines):
    with np.printoptions(precision=2):
        f = irax.jit(lambda x: debug.print("{}", x))
        f(jnp.float32([1 / 3]))
    f(jnp.float32([2 / 3]))
    assert lines() == ["[0.33]", "[0.67]"]


def test_wrong_formats():
    with pytest.raises(TypeError, match="expected a format string, got Traced"):
        irax.jit(lambda x: debug.print(x))(1.0)
    with pytest.raises(ValueError, match=r"does not use the arguments \[0, 'y'\].*no f-string"):
        debug.print("x", 1.0, y=2.0)
    with pytest.raises(IndexError):
        debug.print("{} {}", 1.0)
    with pytest.raises(KeyError):
        debug.print("{x}")
    with pytest.raises(ValueError, match=r"Single '\{'"):
        debug.print("{", 1.0)
    with pytest.raises(TypeError, match="nothing to give them to"):
        debug.print(x=3)
    f = irax.jit(lambda x: debug.print("{:.3f}", x))
    with pytest.raises(TypeError, match=r"'\.3f' is for a number, got an array of shape \(2,\)"):
        f(jnp.ones(2))


def test_print_without_a_check(lines):
    debug.print("{x}", 3, x=1, skip_format_check=True)
    assert lines() == ["1"]


@BOTH
def test_print_in_loops(jit, lines):
    def f(n):
        def step(i, x):
            debug.print("{i}: {x}", i=i, x=x)
            lax.cond(x > 1, lambda: debug.print("more"), lambda: None)
            return 2 * x

        return lax.fori_loop(0, n, step, 1)

    jit(f)(3)
    assert lines() == ["0: 1", "1: 2", "more", "2: 4", "more"]


@BOTH
def test_print_under_vmap(jit, lines):
    def f(x, y):
        debug.print("{} {}", x, y)
        debug.print("shared {}", y)
        return x

    jit(irax.vmap(f, in_axes=(0, None)))(jnp.arange(3), 7)
    assert lines() == ["0 7", "1 7", "2 7", "shared 7"]
    jit(irax.vmap(irax.vmap(f, in_axes=(None, 0)), in_axes=(0, None)))(jnp.arange(2), jnp.arange(2))
    assert lines()[:4] == ["0 0", "1 0", "0 1", "1 1"]


@pytest.mark.sampled(2)
@BOTH
@pytest.mark.parametrize("checkpoint", [lambda f: f, irax.checkpoint], ids=["", "checkpoint"])
def test_derivatives_are_taken_past_a_print(jit, checkpoint, lines):
    def f(x):
        y = x * x
        debug.print("{y}", y=y)
        return jnp.sin(y)

    f = checkpoint(f)
    np.testing.assert_allclose(jit(irax.grad(f))(3.0), 6 * np.cos(9), rtol=1e-5)
    assert lines() == ["9.0"]
    np.testing.assert_allclose(jit(lambda x: irax.jvp(f, (x,), (1.0,)))(3.0)[1], 6 * np.cos(9))
    assert lines() == ["9.0"]
    jit(irax.grad(irax.grad(f)))(3.0)
    assert lines() == ["9.0"]


@pytest.mark.slow
@BOTH
def test_reverse_mode_of_loops_with_prints(jit, lines):
    def f(x):
        def step(c, row):
            debug.print("{c} {row}", c=c, row=row)
            return c * row, c

        last, before = lax.scan(step, x, jnp.float32([2, 3]))
        return last + before.sum()

    assert jit(irax.grad(f))(1.0) == 6 + 1 + 2
    assert lines() == ["1.0 2.0", "2.0 3.0"]

    def g(x):
        return lax.while_loop(
            lambda s: s[0] < 3,
            lambda s: (debug.print("{}", s[0]), (s[0] + 1, s[1] * x))[1],
            (0, 1.0),
            max_steps=5,
            checkpoint=False,
        )[1]

    assert jit(irax.grad(g))(2.0) == 12
    assert lines() == ["0", "1", "2"]


@pytest.mark.sampled(2)
@BOTH
def test_a_rule_may_print(jit, lines):
    @irax.custom_jvp
    def f(x):
        debug.print("f {}", x)
        return x * x

    @f.defjvp
    def rule(primals, tangents):
        debug.print("rule {}", primals[0])
        debug.print("tangent {}", tangents[0])
        return primals[0] ** 2, 2 * primals[0] * tangents[0]

    jit(f)(3.0)
    assert lines() == ["f 3.0"]
    assert jit(lambda x: irax.jvp(f, (x,), (1.0,)))(3.0)[1] == 6
    assert lines() == ["rule 3.0", "tangent 1.0"]
    assert jit(irax.grad(f))(3.0) == 6
    assert lines() == ["rule 3.0"]  # there are no tangents in reverse mode

    @irax.custom_vjp
    def g(x):
        return x * x

    def backward(residual, ct):
        debug.print("cotangent {}", ct)
        return (2 * residual * ct,)

    g.defvjp(lambda x: (x * x, x), backward)
    assert jit(irax.grad(lambda x: 5 * g(x)))(3.0) == 30
    assert lines() == ["cotangent 5.0"]


def test_what_changes_something_is_no_mere_look():
    @irax.custom_jvp
    def f(x):
        return x * x

    @f.defjvp
    def rule(primals, tangents):
        io_callback(lambda t: None, None, tangents[0])
        return primals[0] ** 2, 2 * primals[0] * tangents[0]

    assert irax.jvp(f, (3.0,), (1.0,))[1] == 6
    with pytest.raises(ValueError, match=r"io_callback of .* has no transpose"):
        irax.grad(f)(3.0)


# ---- callback ------------------------------------------------------------------------------------


@BOTH
def test_callback(jit):
    seen = []

    def look(x, *, name, ordered=None):
        seen.append((float(x), name, ordered))
        return "ignored"

    def f(x):
        debug.callback(look, x, name="first")
        debug.callback(ordered=True)(look, 2 * x, name="second", ordered=5)
        return x

    jit(f)(1.0)
    assert [(x, n) for x, n, _ in seen] == [(1, "first"), (2, "second")]
    assert seen[1][2] == 5


def test_callback_of_no_function():
    with pytest.raises(TypeError, match="must be a function, got 3 of type int"):
        debug.callback(3)
    with pytest.raises(TypeError, match="nothing to give them to"):
        debug.callback(None, 1.0)


def test_an_exception_in_a_callback():
    def fail(x):
        raise LookupError("seen enough")

    f = irax.jit(lambda x: lax.cond(x > 1, lambda: debug.callback(fail, x), lambda: None))
    for _ in range(2):
        f(1.0)
        with pytest.raises(LookupError, match="seen enough"):
            f(2.0)


def test_a_breakpoint_shows_variables_of_compiled_functions():
    out = io.StringIO()
    commands = io.StringIO("p y\nscale * 2\np z\na\nl\nu\np offset\nw\nu 1\nd\nc\n")

    def inner(x, scale):
        y = x * scale
        debug.breakpoint(stdin=commands, stdout=out, num_frames=2)
        return y

    def outer(x):
        offset = x + 1
        return inner(offset, 3)

    assert irax.jit(outer)(1.0) == 6
    told = out.getvalue().replace("(irax) ", "").splitlines()
    assert told[0].endswith("inner()")
    assert told[1:5] == [
        "Array(6., dtype=float32)",
        "6",
        "*** NameError: name 'z' is not defined",
        "x = Array(2., dtype=float32)",
    ]
    assert sum("-> " in line and "debug.breakpoint(" in line for line in told) == 1
    assert "Array(2., dtype=float32)" in told[-6:]
    assert "*** there are no more frames" in told


def test_a_breakpoint_quits_and_needs_a_terminal():
    def f(x, commands):
        return debug.breakpoint(stdin=io.StringIO(commands), stdout=io.StringIO(), token=x)

    with pytest.raises(bdb.BdbQuit):
        irax.jit(f, static_argnums=1)(1.0, "q\n")
    with pytest.raises(RuntimeError, match=r"test_debug\.py.*there is no terminal"):
        irax.jit(f, static_argnums=1)(1.0, "")
    assert f(1.0, "c\n") == 1.0
    with pytest.raises(ValueError, match="backend must be None or 'cli', got 'web'"):
        debug.breakpoint(backend="web")


# ---- shardings -----------------------------------------------------------------------------------

GRID = Mesh(np.array([cpu(n) for n in range(4)]).reshape(2, 2), ("a", "b"))
TABLES = {
    P("a", "b"): [["CPU 0", "CPU 1"], ["CPU 2", "CPU 3"]],
    P("b", None): [["CPU 0,2"], ["CPU 1,3"]],
    P(None, ("b", "a")): [["CPU 0", "CPU 2", "CPU 1", "CPU 3"]],
    P(): [["CPU 0,1,2,3"]],
    P("a"): [["CPU 0,1"], ["CPU 2,3"]],
}


def cells(text):
    """The words of a table's cells, by row."""
    rows = [re.split("[│]", line)[1:-1] for line in text.splitlines() if "CPU" in line]
    return [[cell.strip() for cell in row] for row in rows]


@pytest.mark.parametrize("spec", TABLES, ids=str)
def test_tables_of_shardings(spec, capsys):
    array = irax.device_put(np.ones((4, 8), np.float32), NamedSharding(GRID, spec))
    debug.visualize_array_sharding(array)
    assert cells(capsys.readouterr().out) == TABLES[spec]


@pytest.mark.parametrize(("colour", "text"), [("blue", "#ffffff"), ("rgb(250,240,90)", "#000000")])
def test_names_of_devices_can_be_read_on_any_page(colour, text):
    """Pages of notebooks are light or dark, so the text's colour goes with the part's."""
    assert str(show_shardings._cell("CPU 0", colour).style) == f"{text} on {colour}"


def test_tables_of_rows(capsys):
    debug.visualize_sharding((8,), NamedSharding(GRID, P("a")), use_color=False, scale=2.0)
    assert cells(capsys.readouterr().out) == [["CPU 0,1", "CPU 2,3"]]
    with pytest.raises(ValueError, match="expected a shape of 1 or 2 dimensions"):
        debug.visualize_sharding((), NamedSharding(GRID, P()))
    with pytest.raises(ValueError, match="expected a multiple of 2"):
        debug.visualize_sharding((3,), NamedSharding(GRID, P("a")))


def test_shardings_of_trees():
    sharding = NamedSharding(GRID, P("a"))
    array = irax.device_put(np.ones(2, np.float32), sharding)
    seen = []
    debug.inspect_array_sharding({"x": array, "y": [array]}, callback=seen.append)
    assert seen == [sharding, sharding]
    with pytest.raises(NotImplementedError, match=r"inspect_array_sharding: an array .* is traced"):
        irax.jit(lambda x: debug.inspect_array_sharding(x, callback=print))(array)


# ---- debug_nans ----------------------------------------------------------------------------------


def here(text):
    """The line of this file that `text` stands in, as errors say it."""
    with open(__file__) as file:
        numbers = [n for n, line in enumerate(file, 1) if text in line and "here(" not in line]
    (number,) = numbers
    return rf"{re.escape(__file__)}:{number}: .*{re.escape(text)}"


def logarithm(x):
    y = -x - 1
    z = jnp.log(y)  # a nan is made
    return z * 2


@pytest.fixture
def nans():
    with irax.debug_nans(True):
        yield


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("nans")
@BOTH
def test_the_operation_that_makes_a_nan_is_named(jit):
    where = here("z = jnp.log(y)  # a nan is made")
    assert jit(logarithm)(-3.0) > 0
    with pytest.raises(FloatingPointError, match=rf"\(nan\) encountered in log\(-4.0\) at {where}"):
        jit(logarithm)(3.0)
    with pytest.raises(FloatingPointError, match=rf"encountered in log\(-[0-9.]+\) at {where}"):
        jit(irax.vmap(logarithm))(jnp.float32([-2, 2]))
    step = rf"(?m)encountered in log\(-[0-9.]+\) at {where}.*, in step 2 of a loop$"
    with pytest.raises(FloatingPointError, match=step):
        jit(lambda x: lax.scan(lambda c, _: (logarithm(c), c), x, None, length=3))(-2.5)
    with pytest.raises(FloatingPointError, match=rf"encountered in log\(-[0-9.]+\) at {where}"):
        jit(lambda x: lax.cond(x > 0, logarithm, lambda x: x, x))(2.0)
    jit(lambda x: lax.cond(x > 0, logarithm, lambda x: x, x))(-2.0)


@pytest.mark.usefixtures("nans")
@BOTH
def test_a_nan_in_a_derivative(jit):
    def f(x):
        return jnp.sqrt(x) * 0  # whose derivative is 0 / 0

    where = here("return jnp.sqrt(x) * 0  # whose derivative is 0 / 0")
    message = rf"encountered in \w+\(.*\) at {where} \(in the transpose of the jvp of it\)"
    with pytest.raises(FloatingPointError, match=message):
        jit(irax.grad(f))(0.0)


@pytest.mark.usefixtures("nans")
def test_a_nan_that_nobody_returns():
    def f(x):
        return jnp.where(x > 0, x, jnp.log(x))

    with pytest.raises(FloatingPointError, match="in log"):
        f(jnp.float32([1, -1]))
    assert irax.jit(lambda x: jnp.where(x < 0, 0.0, f(x)))(jnp.float32([1, -1])).tolist() == [1, 0]


@pytest.mark.usefixtures("nans")
def test_a_nan_that_was_there():
    f = irax.jit(lambda x, y: x * y)
    with pytest.raises(
        FloatingPointError, match=r"what lambda returns: it is in argument 1 already"
    ):
        f(1.0, np.float32(np.nan))
    with pytest.raises(FloatingPointError, match="one of the function's constants"):
        irax.jit(lambda x: x * np.nan)(1.0)
    large = np.full(100, np.nan, np.float32)
    with pytest.raises(FloatingPointError, match="an array that it uses from outside"):
        irax.jit(lambda x: x * jnp.asarray(large))(1.0)


@pytest.mark.usefixtures("nans")
def test_a_nan_of_donated_arguments():
    for f, x in (
        (irax.jit(lambda x: 0.0 / x, donate_argnums=0), jnp.zeros(3)),
        (irax.pmap(lambda x: 0.0 / x, donate_argnums=(0,)), jnp.zeros((1, 3))),
    ):
        with pytest.raises(FloatingPointError, match=r"\(nan\) encountered in divide"):
            f(x)
        assert f(jnp.ones_like(x)).sum() == 0


@pytest.mark.usefixtures("nans")
def test_what_is_not_a_number_of_another_kind_is_let_be():
    assert irax.jit(lambda x: 1 / x)(0.0) == np.inf
    assert irax.jit(lambda x, n: (x > 0, n))(1.0, 3)[1] == 3


def test_infinities():
    def f(x):
        return jnp.exp(x) / 2

    for g in (f, irax.jit(f)):
        assert g(1000.0) == np.inf
        with irax.debug_infs(True):
            assert g(1.0) > 1
            with pytest.raises(FloatingPointError, match=r"\(inf\) encountered in exponential"):
                g(1000.0)


@pytest.mark.usefixtures("nans")
def test_callbacks_have_no_effect_again_when_a_nan_is_looked_for(lines):
    drawn = iter([1.0, -1.0, 2.0, -2.0])

    def f(x):
        n = io_callback(lambda: next(drawn), irax.ShapeDtypeStruct((), "float32"))
        debug.print("{}", n)
        return x + jnp.log(n)

    f = irax.jit(f)
    f(0.0)
    with pytest.raises(FloatingPointError, match="in log"):
        f(0.0)
    f(0.0)
    assert lines() == ["1.0", "-1.0", "2.0"]


def test_options_for_the_process():
    irax.config.update("jax_debug_nans", True)
    try:
        with pytest.raises(FloatingPointError):
            jnp.log(-1.0)
        with irax.debug_nans(False):
            assert np.isnan(jnp.log(-1.0))
    finally:
        irax.config.update("jax_debug_nans", False)
