"""Explanations of traces: what differed, what to do about it, and where the time went."""

import functools
import inspect
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.execution.diagnostics import differences, history, progress, reports
from irax_compiler import api, spans
from irax_compiler.locations import Frame


def traced(function, *args, **kwargs):
    """Trace a call of a jitted function as a part of a program, which compiles nothing."""
    irax.eval_shape(lambda: function(*args, **kwargs))


def last_of(function):
    return irax.explain(function)[-1]


def plain(params, x=None, n=0, **others):
    return jnp.zeros(3) + n


VECTOR = jnp.ones(3)


@pytest.mark.parametrize(
    ("before", "now", "what", "text"),
    [
        ((jnp.ones(3),), (jnp.ones(4),), "the shape", "params is float32[4], before float32[3]"),
        (
            ({"w": VECTOR},),
            ({"w": jnp.ones(3, int)},),
            "the dtype",
            "params['w'] is int32[3], before float32[3]",
        ),
        (
            (VECTOR, jnp.float32(1)),
            (VECTOR, 1.0),
            "the weak type",
            "x is float32[] (weak), before float32[]",
        ),
        (({"w": VECTOR},), ({"v": VECTOR},), "the structure", "params['v'] is new"),
        ((VECTOR, None), (VECTOR, VECTOR), "the structure", "x is new"),
        ((VECTOR, VECTOR), ([VECTOR], VECTOR), "the structure", "params[0] is new"),
        ((VECTOR, (VECTOR,)), (VECTOR, [VECTOR]), "the structure", "the arguments are "),
        ((VECTOR, None, 1), (VECTOR, None, 2), "the static value", "n is 2, before 1"),
    ],
)
def test_what_differs(before, now, what, text):
    function = irax.jit(functools.partial(plain), static_argnums=2)
    traced(function, *before)
    assert last_of(function).why == "it is traced for the first time"
    traced(function, *now)
    found = last_of(function).differences
    assert found[0].what == what
    assert text in found[0].text
    assert found[0].advice in last_of(function).why


def test_static_objects_are_told_from_values():
    class Settings:
        pass

    function = irax.jit(functools.partial(plain), static_argnums=1, static_argnames="g")
    for x in (Settings(), Settings(), lambda: 1, lambda: 2):
        traced(function, VECTOR, x)
    traced(function, VECTOR, x, g=1)
    found = [t.differences[0] for t in irax.explain(function)[1:]]
    whats = ["the static object", "the static value", "the static function", "the static value"]
    assert [d.what for d in found] == whats
    assert found[-1].text == "the static argument g is 1, before not given"


def test_options_and_named_axes():
    function = irax.jit(functools.partial(plain))
    traced(function, VECTOR)
    with irax.numpy_rank_promotion("raise"):
        traced(function, VECTOR)
    assert "option numpy_rank_promotion is 'raise', before 'allow'" in last_of(function).why
    irax.eval_shape(irax.vmap(function, axis_name="i"), jnp.ones((2, 3)))
    assert last_of(function).differences[0].what == "the named axes"


def test_the_nearest_earlier_call_is_compared():
    function = irax.jit(functools.partial(plain))
    traced(function, jnp.ones(3), jnp.ones(3))
    traced(function, jnp.ones(4), jnp.ones(4))
    traced(function, jnp.ones(3), jnp.ones(5))
    assert [d.text for d in last_of(function).differences] == ["x is float32[5], before float32[3]"]


def test_the_nearest_call_has_the_fewest_differences():
    function = irax.jit(plain, static_argnames="n")
    traced(function, jnp.ones(4))
    traced(function, jnp.ones(4, int))
    traced(function, jnp.ones(4), n=2)
    traced(function, {"w": jnp.ones(4)})
    traced(function, 2.0)
    *_, structure, number = irax.explain(function)
    assert "the static argument" not in str(structure)
    assert "before float32[4]" in str(number)


def test_positional_arguments_without_names():
    def many(*arrays, last):
        return sum(arrays) + last

    function = irax.jit(many, static_argnums=0)
    traced(function, 1, VECTOR, VECTOR, last=2)
    traced(function, 1, VECTOR, jnp.ones((2, 3)), last=VECTOR)
    texts = [d.text for d in last_of(function).differences]
    assert texts[0] == "arrays[2] is float32[2,3], before float32[3]"
    assert texts[1].startswith("last is float32[3], before int32[]")


def test_compiled_twice(caplog, monkeypatch, tmp_path):
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path))

    @irax.jit
    def double(x):
        return x * 2

    double(1.5)
    irax.clear_caches()
    with irax.explain_cache_misses(), caplog.at_level(logging.WARNING, "irax"):
        double(1.5)
        double(2.5)
    (message,) = caplog.messages
    assert "jit traces double" in message
    assert "clear_caches" in message
    found = irax.explain(double)
    assert (found.traced, found.compiled, len(found)) == (2, 2, 2)
    assert "test_explain.py:" in found[0].place
    assert found[0].signature == "x: float32[] (weak)"
    assert found[1].is_from_cache
    table = found.table()
    for line in ("trace double x 2", "compile double x 2"):
        assert line in table
    assert "pass simplify" in found.table(0)
    text = str(found)
    assert "double: traced 2 times, compiled 2 times" in text
    assert "(found in the cache on disk)" in text
    assert all(found[0].seconds(kind) > 0 for kind in ("trace", "lower", "target", "load"))


def test_phases_of_the_target_are_in_the_table(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    function = irax.jit(lambda x: x * 3 - 1)
    function(VECTOR)
    table = irax.explain(function).table()
    assert "phase executable-targets" in table
    assert "phase hal" in table
    assert not irax.explain(function)[0].is_from_cache


def test_only_jitted_functions_are_explained():
    with pytest.raises(TypeError, match=r"expected a function that irax\.jit returned, got <ufunc"):
        irax.explain(np.sin)

    class Model:
        @irax.jit
        def apply(self):
            return 1

    assert irax.explain(Model().apply).traced == 0


@irax.tree_util.register_pytree_node_class
class Picky:
    """A pytree of an array, and of nothing else."""

    def __init__(self, array):
        assert array.shape is not None
        self.array = array

    def tree_flatten(self):
        return (self.array,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


def test_leaves_of_all_kinds_have_names():
    function = irax.jit(functools.partial(plain))
    none = np.zeros(2, irax.dtypes.float0)
    traced(function, {"key": irax.random.key(0), "none": none}, x=VECTOR)
    traced(function, {"key": irax.random.key(0), "none": none}, x=jnp.ones(4))
    assert last_of(function).differences[0].text == "x is float32[4], before float32[3]"
    assert "params['key']" in last_of(function).signature
    traced(function, Picky(VECTOR))
    traced(function, Picky(jnp.ones(4)))
    (found,) = last_of(function).differences
    assert found.text == "leaf 0 of the arguments is float32[4], before float32[3]"


def test_mutable_arrays_are_told_of():
    @irax.jit
    def count(ref):
        ref[...] += 1

    count(irax.new_ref(jnp.zeros(2)))
    assert irax.explain(count).traced == 1


def missed(found, function, *keys):
    for key in keys:
        reports.missed(function, found, key, is_part=False)


def key_of(*arrays):
    leaves, tree = irax.core.trees.array_trees.tree_flatten((arrays, {}))
    return (tree, (), irax.config.traced, *(x.aval for x in leaves))


def test_warning_of_many_signatures():
    found = history.History()
    keys = [key_of(jnp.ones(n)) for n in range(reports.ALIKE)]
    missed(found, plain, *keys[:-1])
    with pytest.warns(UserWarning, match=r"plain has been compiled 5 times.*4 .*shape of params"):
        missed(found, plain, keys[-1])
    for n in range(2 * history.KEPT):
        missed(found, plain, key_of(jnp.ones((n, 2))))
    assert len(found.entries) == history.KEPT


@pytest.mark.slow
def test_a_line_that_a_loop_of_pythons_repeats_is_told_of():
    @irax.jit
    def unrolled(x):
        for _ in range(20):
            x = jnp.sin(x) * 2 + jnp.mean(x)
        return jnp.sum(x)

    @irax.jit
    def rolled(x):
        return lax.fori_loop(0, 20, lambda i, x: jnp.sin(x) * 2 + jnp.mean(x), x)

    slope = irax.jit(irax.grad(unrolled))
    for function in (unrolled, rolled, slope):
        function(jnp.ones(3))
    line = inspect.unwrap(unrolled).__code__.co_firstlineno + 3
    for function in (unrolled, slope):
        (told,) = irax.explain(function).repeated
        assert told.startswith(f"{__file__}:{line} was traced 20 times, ")
        assert told.endswith("operations: lax.fori_loop and lax.scan trace a step once")
        assert told in str(irax.explain(function))
    assert irax.explain(rolled).repeated == ()


DETOURS = {
    "one_hot": (
        lambda i, t: irax.nn.one_hot(i, 2000) @ t,
        (jnp.arange(8), np.ones((2000, 16), "f")),
        "256,000 multiplications; table[i]",
    ),
    "one_hot of numbers that are known": (
        lambda t: irax.nn.one_hot(jnp.arange(8), 2000) @ t,
        (np.ones((2000, 16), "f"),),
        "a matrix of one-hot rows",
    ),
    "left": (
        lambda a, v: (a @ a.T) @ v,
        (np.ones((64, 64), "f"), np.ones(64, "f")),
        "(a @ b) @ c takes 266,240 multiplications, and a @ (b @ c) 8,192",
    ),
    "right": (
        lambda a, v: v @ (a @ a.T),
        (np.ones((64, 64), "f"), np.ones((1, 64), "f")),
        "a @ (b @ c) takes 266,240 multiplications, and (a @ b) @ c 8,192",
    ),
    "sorted": (
        lambda x: jnp.sort(x, axis=0)[::-1][:5],
        (np.ones((20000, 2), "f"),),
        "20,000 elements are sorted, of which 5 are used: irax.lax.top_k",
    ),
    "the better order": (
        lambda a, v: a @ (a.T @ v),
        (np.ones((64, 64), "f"), np.ones(64, "f")),
        None,
    ),
    "a product that is used": (
        lambda a, v: (lambda p: (p @ v, p))(a @ a.T),
        (np.ones((64, 64), "f"), np.ones(64, "f")),
        None,
    ),
    "few classes": (
        lambda i, t: irax.nn.one_hot(i, 10) @ t,
        (jnp.arange(8), np.ones((10, 16), "f")),
        None,
    ),
    "half of the sorted": (lambda x: jnp.sort(x)[10000:], (np.ones(20000, "f"),), None),
    "a batch": (
        lambda a, v: jnp.einsum("nij,njk,nk->ni", a, a, v, optimize=False),
        (np.ones((3, 64, 64), "f"), np.ones((3, 64), "f")),
        None,
    ),
}


@pytest.mark.parametrize("name", DETOURS)
def test_lines_that_compute_more_than_they_need(name):
    function, args, words = DETOURS[name]
    found = api.detours(irax.jit(function).lower(*args).compiler_ir())
    if words is None:
        assert found == {}
    else:
        (line,) = found
        assert line == Frame(__file__, function.__code__.co_firstlineno)
        assert words in found[line]


def test_explanations_tell_of_detours():
    function, args, words = DETOURS["left"]
    jitted = irax.jit(function)
    jitted(*args)
    (told,) = irax.explain(jitted).detours
    assert told.startswith(f"{__file__}:{function.__code__.co_firstlineno}: ")
    assert words in told
    assert told in str(irax.explain(jitted))


def test_new_names_at_each_call_differ_in_one_way():
    f = irax.jit(lambda **given: sum(given.values()))
    for n in range(4):
        f(**{f"w{n}": jnp.ones(2)})
    with pytest.warns(UserWarning, match="4 times it was the structure of one of its arguments: "):
        f(w=jnp.ones(2))


def test_signatures_that_differ_in_many_ways_are_warned_of_later():
    """Each signature is another kind: a new shape, then a new dtype, then a new structure."""
    found = history.History()
    kinds = [(jnp.ones(2),), (jnp.ones(3),), (jnp.ones(3, int),), (jnp.ones(3), jnp.ones(3))]
    missed(found, plain, *(key_of(*arrays) for arrays in kinds), key_of(*[jnp.ones(3)] * 3))
    found.compiled = reports.OFTEN - 1
    with pytest.warns(UserWarning, match="plain has been compiled 32 times"):
        missed(found, plain, key_of(jnp.ones((3, 4), bool)))


def test_warning_of_functions_made_in_a_loop():
    def made():
        return lambda x: x

    functions = [made() for _ in range(reports.OFTEN + 1)]
    for function in functions[:-2]:
        missed(history.History(), function, key_of(VECTOR))
    with pytest.warns(UserWarning, match="31 others of the same lines"):
        missed(history.History(), functions[-2], key_of(VECTOR))
    missed(history.History(), functions[-1], key_of(VECTOR))  # warned of once
    missed(history.History(), functions[-1], key_of(VECTOR))  # with other options of jit


def test_the_option_has_two_names():
    code = "import irax; print(irax.config.explain_cache_misses, irax.config.jax_explain)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "IRAX_EXPLAIN": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "True True\n"


def test_devices_that_a_program_is_compiled_for():
    code = """if True:
        import irax, irax.numpy as jnp
        double = irax.jit(lambda x: x * 2)
        x = jnp.ones(3)
        double(x)
        with irax.default_device("cpu"):  # another name of the same
            double(x)
        double(irax.device_put(x, irax.devices()[1]))
        print(irax.explain(double))
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "IRAX_EXPLAIN": "1", "IRAX_CPU_DEVICES": "2"},
        capture_output=True,
        text=True,
    )
    first, second = done.stderr.splitlines()
    assert "is traced for the first time" in first
    assert "for cpu:1, beside cpu:0: its arguments were put there" in second
    assert "compiled for cpu:0, cpu:1\n" in done.stdout


class Terminal:
    """Standard error, as a terminal or not."""

    def __init__(self, is_terminal):
        self.is_terminal, self.text = is_terminal, ""

    def isatty(self):
        return self.is_terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_on_terminals(monkeypatch, is_terminal):
    import time

    terminal = Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "AFTER", 0.05)
    monkeypatch.setenv("TERM", "xterm")
    with progress.shown("step"):
        time.sleep(0.2)
    assert ("irax: compiling step, 0 s" in terminal.text) is is_terminal
    assert terminal.text.endswith("\r\x1b[K") is is_terminal
    terminal.text = ""
    with progress.shown("step"):  # which takes less than that
        pass
    assert terminal.text == ""


def test_all_advice_is_used():
    source = Path(differences.__file__).read_text("utf-8")
    assert all(source.count(f'"{what}"') > 1 for what in differences.ADVICE)


def test_a_table_has_spans_below_those_that_contain_them():
    ms = 10**6
    found = [
        spans.Span("pass", "cse", 0, 40 * ms, 1),
        spans.Span("pass", "dce", 40 * ms, 41 * ms, 1),
        spans.Span("pass", "cse", 50 * ms, 60 * ms, 1),
        spans.Span("lower", "f", 0, 100 * ms, 1),
        spans.Span("load", "cpu", 200 * ms, 400 * ms, 2),
    ]
    lines = [line.split() for line in spans.table(found).splitlines()]
    assert lines == [
        ["lower", "f", "0.100", "s", "33", "%"],
        ["pass", "cse", "x", "2", "0.050", "s", "17", "%"],
        ["1", "shorter", "0.001", "s", "0", "%"],
        ["load", "cpu", "0.200", "s", "67", "%"],
    ]
    assert "pass dce" in spans.table(found, 0)
