"""Tracebacks show the user's frames: irax's own are hidden, whatever the exception leaves by."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback

import pytest

import irax
import irax.numpy as jnp
from irax.core import tracebacks

X = jnp.arange(3.0)


@pytest.fixture(autouse=True)
def quiet():
    before = irax.config.traceback_filtering
    irax.config.update("traceback_filtering", "quiet_remove_frames")
    yield
    irax.config.update("traceback_filtering", before)


def broken(x):
    return jnp.dot(x, jnp.ones(7))


def fail(*args):
    raise KeyError("the user's")


def custom(rule):
    f = irax.custom_jvp(lambda x: x)
    f.defjvp(rule)
    return f


class Unhashable:
    __hash__ = None


CALLS = {
    "function": lambda: broken(X),
    "ufunc": lambda: jnp.add(X, jnp.ones(4)),
    "ufunc of the wrong number": lambda: jnp.add(X),
    "ufunc method": lambda: jnp.add.reduce(X, axis=5),
    "operator": lambda: X + jnp.ones(4),
    "reflected operator": lambda: [1.0] + X,
    "comparison": lambda: jnp.ones(4) < X,
    "method": lambda: X.dot(jnp.ones(7)),
    "truth value": lambda: bool(X),
    "number": lambda: float(X),
    "index": lambda: X["a"],
    "update": lambda: X.at[:2].set(jnp.ones(7)),
    "assignment": lambda: X.__setitem__(0, 1.0),
    "creation": lambda: jnp.array({}),
    "lax": lambda: irax.lax.slice(X, [0], [9]),
    "collective": lambda: irax.lax.psum(X, "nobody"),
    "random": lambda: irax.random.normal(7),
    "key": lambda: irax.random.key("a"),
    "jit": lambda: irax.jit(broken)(X),
    "jit of a value": lambda: irax.jit(lambda x: x if x > 0 else -x)(1.0),
    "jit of no array": lambda: irax.jit(lambda x: x)("a"),
    "jit of an unhashable value": lambda: irax.jit(broken, static_argnums=0)(Unhashable()),
    "jit of nothing": lambda: irax.jit(3),
    "lower": lambda: irax.jit(broken).lower(X),
    "grad": lambda: irax.grad(lambda x: broken(x))(X),
    "grad of an integer": lambda: irax.grad(jnp.sin)(3),
    "value_and_grad": lambda: irax.value_and_grad(broken)(X),
    "vjp": lambda: irax.vjp(broken, X),
    "pullback": lambda: irax.vjp(jnp.sin, X)[1](jnp.ones(4)),
    "jvp": lambda: irax.jvp(broken, (X,), (X,)),
    "linearize": lambda: irax.linearize(broken, X),
    "jacrev": lambda: irax.jacrev(broken)(X),
    "hessian": lambda: irax.hessian(broken)(X),
    "vmap": lambda: irax.vmap(lambda x: broken(x))(jnp.ones((2, 3))),
    "nested": lambda: irax.jit(irax.grad(irax.vmap(lambda x: broken(x))))(jnp.ones((2, 3))),
    "scan": lambda: irax.lax.scan(lambda c, x: (broken(c), x), X, X),
    "cond": lambda: irax.lax.cond(True, broken, broken, X),
    "while": lambda: irax.lax.while_loop(lambda c: True, broken, X),
    "checkpoint": lambda: irax.grad(irax.checkpoint(broken))(X),
    "custom rule": lambda: irax.jvp(custom(fail), (X,), (X,)),
    "eval_shape": lambda: irax.eval_shape(broken, X),
    "make_ir": lambda: irax.make_ir(broken)(X),
    "device": lambda: irax.device_put(X, "nowhere"),
    "tree": lambda: irax.tree.map(fail, {"a": 1}),
}


def files_of(error: BaseException) -> list[str]:
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize("name", CALLS)
def test_only_frames_of_the_user_are_left(name):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        CALLS[name]()
    error = caught.value
    assert __file__ in files_of(error)
    assert not [f for f in files_of(error) if tracebacks.is_internal(f)]
    assert tracebacks.NOTE in error.__notes__


WRONG_CALLS = {
    "f(carry, row)": lambda: irax.lax.scan(lambda c: c, 0.0, X),
    "body_fun(i, value)": lambda: irax.lax.fori_loop(0, 3, lambda c: c, 0.0),
    "cond_fun(value)": lambda: irax.lax.while_loop(lambda: True, lambda c: c, 0.0),
    "true_fun(*operands)": lambda: irax.lax.cond(True, lambda: 1, lambda x: x, 2.0),
    "fn(a, b)": lambda: irax.lax.associative_scan(lambda a: a, X),
    "a leaf of each tree": lambda: irax.tree.map(lambda a: a, [1], [2]),
}


@pytest.mark.parametrize("form", WRONG_CALLS)
def test_a_note_says_how_functions_are_called(form):
    with pytest.raises(TypeError, match=r"<lambda>\(\)") as caught:
        WRONG_CALLS[form]()
    assert any(form in note for note in caught.value.__notes__)


NO_INTS = {
    "roll: shift is 1.5; expected an int": lambda: jnp.roll(X, 1.5),
    "split: indices_or_sections is [1.5]; expected ints": lambda: jnp.split(X, [1.5]),
    "lax.slice: start_indices is (0.5,); expected ints": lambda: irax.lax.slice(X, (0.5,), (2,)),
    "nonzero: size is 'a'; expected an int": lambda: jnp.nonzero(X, size="a"),
}


@pytest.mark.parametrize("note", NO_INTS)
def test_a_note_says_which_argument_is_no_int(note):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer") as caught:
        NO_INTS[note]()
    assert note in caught.value.__notes__


OF_OTHER_TYPES = {
    "lax.rev: dimensions is 0; dimensions: a sequence of ints": lambda: irax.lax.rev(X, 0),
    "make_mesh: axis_sizes is 1; axis_sizes: the number of devices along each axis": (
        lambda: irax.make_mesh(1, "a")
    ),
    "apply: func is 3": lambda: X.at[0].apply(3),
}


@pytest.mark.parametrize("note", OF_OTHER_TYPES)
def test_a_note_says_which_argument_is_of_another_type(note):
    with pytest.raises(TypeError, match="object is not") as caught:
        OF_OTHER_TYPES[note]()
    assert any(x.startswith(note) for x in caught.value.__notes__), caught.value.__notes__


def test_no_note_is_on_other_calls():
    for wrong in (lambda: irax.lax.scan(), lambda: irax.jit(lambda x, y: x)(1)):
        with pytest.raises(TypeError, match="missing") as caught:
            wrong()
        assert not any("calls" in note for note in caught.value.__notes__)


def test_the_users_lines_are_there_in_order():
    with pytest.raises(TypeError) as caught:
        CALLS["nested"]()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-3:] == ["<lambda>", "<lambda>", "broken"]


def test_exceptions_of_the_user_are_the_same_object():
    mine = KeyError("mine")

    def f(x):
        raise mine

    with pytest.raises(KeyError) as caught:
        irax.jit(f)(X)
    assert caught.value is mine


def test_off_shows_everything():
    irax.config.update("traceback_filtering", "off")
    with pytest.raises(TypeError) as caught:
        CALLS["nested"]()
    assert any(tracebacks.is_internal(f) for f in files_of(caught.value))
    assert tracebacks.NOTE not in getattr(caught.value, "__notes__", ())


def test_remove_frames_keeps_the_whole_traceback_as_the_cause():
    irax.config.update("traceback_filtering", "remove_frames")
    with pytest.raises(TypeError) as caught:
        CALLS["nested"]()
    cause = caught.value.__cause__
    assert isinstance(cause, tracebacks.UnfilteredStackTrace)
    assert any(tracebacks.is_internal(f) for f in files_of(cause))
    assert not any(tracebacks.is_internal(f) for f in files_of(caught.value))


def test_notebooks_leave_out_marked_frames():
    irax.config.update("traceback_filtering", "tracebackhide")
    with pytest.raises(TypeError) as caught:
        CALLS["nested"]()
    shown = [
        frame.f_code.co_filename
        for frame, _ in traceback.walk_tb(caught.value.__traceback__)
        if not frame.f_locals.get("__tracebackhide__")
    ]
    assert __file__ in shown
    assert not any(tracebacks.is_internal(f) for f in shown)
    assert files_of(caught.value)[-1] == __file__  # IPython shows the last frame in any case


def test_what_is_printed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import irax, irax.numpy as jnp\n"
        "@irax.jit\n"
        "def f(x):\n"
        "    return jnp.dot(x, jnp.ones(5))\n"
        "f(jnp.ones(4))\n"
    )
    env = {k: v for k, v in os.environ.items() if k != "IRAX_TRACEBACK_FILTERING"}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=env)
    lines = [line for line in done.stderr.splitlines() if line.lstrip().startswith("File ")]
    assert len(lines) == 2
    assert all(str(program) in line for line in lines)


def test_names_are_spelled_where_frames_were_hidden_before(monkeypatch):
    monkeypatch.setattr(tracebacks, "_spelling", [str.upper])
    error = ValueError("an error")
    error.__context__ = KeyError("without frames")
    try:
        raise error
    except ValueError:
        tracebacks.hide_frames(error)
    assert error.__context__.args == ("without frames",)
