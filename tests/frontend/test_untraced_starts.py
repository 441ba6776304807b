"""Starts without a trace: used where the program is known to be the same, and nowhere else."""

import builtins
import collections
import dataclasses
import functools
import gc
import logging
import math
import os
import random
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import optree
import pytest
from tests.frontend.untraced_sources import CHANGES, HEAD, REFUSED
from tests.frontend.untraced_traps import TRAPS

import irax
import irax.numpy as jnp
from irax.core.trees import array_trees
from irax.core.trees.registry import ARRAYS, NAMESPACE
from irax.execution.diagnostics import reports
from irax.execution.untraced import reading
from irax.execution.untraced.reading import NotDescribed
from irax.execution.untraced.records import Start

pytestmark = pytest.mark.slow  # of an option that is off by default
X = np.arange(3, dtype="float32")


@pytest.fixture(autouse=True, scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache for these tests, whose functions start without traces."""
    gc.collect()  # while a Ref lives, functions are traced
    before = irax.config.untraced_starts
    irax.config.update("untraced_starts", True)
    irax.config.update("compilation_cache_dir", str(tmp_path_factory.mktemp("cache")))
    yield
    irax.config.update("untraced_starts", before)
    irax.config.update("compilation_cache_dir", None)


def loaded(source, name="a_module"):
    """Run a module's source, as a process that imports it does; return its function `f`."""
    module = types.ModuleType(name)
    exec(compile(HEAD + source, f"{name}.py", "exec"), vars(module))
    return module.f


def is_untraced(jitted):
    return any("runs without a trace" in text for text in irax.explain(jitted).starts)


def why(jitted):
    """The reasons for which a function is traced by each process."""
    return " ".join(irax.explain(jitted).starts)


def started(function, *args, **options):
    """Call a function, jitted anew, as the first call of a process; say if it was not traced."""
    jitted = irax.jit(function, **options)
    result = jitted(*args)
    return result, is_untraced(jitted)


def traced(function, *args):
    irax.config.update("untraced_starts", False)
    try:
        return irax.jit(function)(*args)
    finally:
        irax.config.update("untraced_starts", True)


def name_of(source, *args):
    """The name of the record of a call; None where there is none."""
    jitted = irax.jit(loaded(source))
    leaves, tree = array_trees.tree_flatten((args, {}))
    try:
        return Start.of(jitted, leaves, tree, ()).name
    except NotDescribed:
        return None


def same(a, b):
    for x, y in zip(irax.tree.leaves(a), irax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(x, y)
        assert (x.dtype, x.weak_type) == (y.dtype, y.weak_type)
    assert irax.tree.structure(a) == irax.tree.structure(b)


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_a_function_changes_its_name(what):
    source, part, other = CHANGES[what]
    name = name_of(source, X)
    assert name is not None
    assert name_of(source, X) == name
    changed = source.replace(part, other)
    assert changed != source
    assert name_of(changed, X) not in (name, None)


@pytest.mark.parametrize("what", TRAPS)
def test_what_is_easily_overlooked(what, monkeypatch):
    monkeypatch.setattr(jnp, "own", 1, raising=False)  # which one of them sets
    source, part, other = TRAPS[what]
    changed = source.replace(part, other)
    assert changed != source
    name = name_of(source, X)
    assert name is None or name_of(changed, X) != name


@pytest.mark.parametrize("kind", [types.SimpleNamespace, range, slice])
def test_classes_of_python_as_pytrees(kind):
    source = "def f(x): return x * 2"
    names = {name_of(source, X)}
    for number in (2.0, 3.0):
        irax.tree_util.register_pytree_node(
            kind, lambda _, number=number: ((number,), None), lambda _, children: children[0]
        )
        try:
            names.add(name_of(source, X))
        finally:
            for namespace in (NAMESPACE, ARRAYS):
                optree.unregister_pytree_node(kind, namespace=namespace)
    assert len(names) == 3


def test_options_of_numpy_and_python():
    source = "A = np.arange(3) / 3\ndef f(x): return x * len(str(A))"
    name = name_of(source, X)
    with np.printoptions(precision=2):
        assert name_of(source, X) not in (name, None)
    with np.printoptions(formatter={"float": str}):
        assert name_of(source, X) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert name_of(source, X) not in (name, None)
    with np.errstate(divide="raise"):
        assert name_of(source, X) not in (name, None)


def test_other_versions_of_python(monkeypatch):
    monkeypatch.setattr(reading, "_IS_KNOWN", False)
    assert name_of("def f(x): return x * 2", X) is None


@pytest.mark.parametrize(
    "what",
    ["a helper", "a closure over an array", "a dataclass", "a gradient inside", "a decorator"],
)
def test_changed_functions_are_traced(what):
    source, part, other = CHANGES[what]
    first, was_untraced = started(loaded(source), X)
    assert not was_untraced
    again, was_untraced = started(loaded(source), X)
    assert was_untraced
    same(again, first)
    changed = loaded(source.replace(part, other))
    now, was_untraced = started(changed, X)
    assert not was_untraced
    same(now, traced(changed, X))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_understood_is_traced(what):
    for _ in range(2):
        jitted = irax.jit(loaded(REFUSED[what]))
        warns = pytest.warns(UserWarning, match="float64") if what == "warns" else nullcontext()
        with warns:
            jitted(X)
        assert not is_untraced(jitted)
        assert "is traced by each process: " in why(jitted)


def test_numbers_changed_at_random_change_names():
    choose = random.Random(0)
    chosen = list(CHANGES.values())
    differences = 0
    for _ in range(150):
        # Functions that call each other, of which one number changes somewhere.
        sources = [source for source, *_ in choose.sample(chosen, 3)]
        own = [f"{source}\nf{i} = f" for i, source in enumerate(sources)]
        whole = "\n".join(own) + "\ndef f(x): return f0(x), f1(x), f2(x)"
        place = choose.choice([i for i, c in enumerate(whole) if c in "23"])
        changed = f"{whole[:place]}5{whole[place + 1 :]}"
        try:
            before, after = (str(irax.make_ir(loaded(s))(X)) for s in (whole, changed))
        except Exception:  # 5 is not what it may be there
            continue
        if before != after:
            differences += 1
            assert name_of(whole, X) != name_of(changed, X), (whole, place)
    assert differences > 50


# ---- other processes -----------------------------------------------------------------------------

MAIN = """
import numpy as np
import irax
import helper

@irax.jit
def f(x):
    return helper.scale(x) + 1.0

print(np.asarray(f(np.ones(2, "float32"))).tolist(), irax.explain(f).starts)
"""


def test_edited_files(tmp_path):
    environment = {
        **os.environ,
        "IRAX_UNTRACED_STARTS": "1",
        "IRAX_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def run(**more):
        arguments = [sys.executable, str(tmp_path / "main.py")]
        given = {"env": {**environment, **more}, "text": True, "capture_output": True}
        return subprocess.run(arguments, check=True, **given).stdout

    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text("N = 2\ndef scale(x): return x * N\n")
    assert run() == "[3.0, 3.0] ()\n"
    assert run().startswith("[3.0, 3.0] ('")
    assert "runs without a trace" in run(PYTHONHASHSEED="5")
    assert run(IRAX_UNTRACED_STARTS="0") == "[3.0, 3.0] ()\n"
    assert run(IRAX_ENABLE_X64="1") == "[3.0, 3.0] ()\n"
    (tmp_path / "helper.py").write_text("N = 4\ndef scale(x): return x * N\n")
    assert run() == "[5.0, 5.0] ()\n"
    (tmp_path / "main.py").write_text(MAIN.replace("+ 1.0", "- 1.0"))
    assert run() == "[3.0, 3.0] ()\n"
    assert "runs without a trace" in run()


# ---- irax and NumPy, changed while they run ------------------------------------------------------


@pytest.mark.parametrize(
    ("holder", "name"),
    [
        (jnp, "sum"),
        (sys.modules["irax.numpy.reductions"], "sum"),
        (irax, "grad"),
        (irax.Array, "__add__"),
        (np, "ones"),
    ],
)
def test_replaced_functions_of_libraries(holder, name):
    source = "def f(x): return irax.grad(lambda y: jnp.sum(y * y) + np.ones(1)[0])(x)"
    started(loaded(source), X)
    assert started(loaded(source), X)[1]
    before = getattr(holder, name)
    called = []

    def other(*args, **kwargs):
        called.append(args)
        return before(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holder, name, other)
        assert not started(loaded(source), X)[1]
    assert started(loaded(source), X)[1]


def test_a_replaced_function_of_a_module_that_is_passed_on():
    source = "def g(m, x): return m.sin(x)\ndef f(x): return g(jnp, x)"
    started(loaded(source), X)
    assert started(loaded(source), X)[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jnp, "sin", jnp.cos)
        result, was_untraced = started(loaded(source), X)
    assert not was_untraced
    np.testing.assert_allclose(result, np.cos(X), rtol=1e-6)


class Called:
    def __call__(self, *_):
        return 2


@pytest.mark.parametrize(
    ("holder", "name", "other"),
    [
        (irax.Array, "own", property(lambda self: self * 2)),
        (irax.Array, "own", functools.partialmethod(lambda self, n: self * n, 2)),
        (irax.Array, "own", staticmethod(lambda: 2)),
        (irax.Array, "own", Called()),
        (irax.Array, "own", Called),
        (irax.Array, "own", 2),
        (sys.modules["irax.numpy.reductions"], "sum", Called()),
        (sys.modules["irax.core.array"], "ConcreteArray", irax.Array),
        (builtins, "max", lambda *_: 2),
        (math, "prod", lambda *_: 2),
        (np.linalg, "norm", lambda *_: 2),
    ],
)
def test_other_replaced_attributes(holder, name, other):
    source = "def f(x): return x * 2"
    before = name_of(source, X)
    assert before is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holder, name, other, raising=False)
        assert name_of(source, X) != before


def test_a_replaced_function_that_says_it_is_not():
    source = "def f(x): return jnp.sin(x)"
    started(loaded(source), X)

    def sin(x):
        return jnp.cos(x)

    of_irax: Any = jnp.sin
    sin.__module__, sin.__qualname__ = of_irax.__module__, of_irax.__qualname__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jnp, "sin", irax.vmap(sin))
        result, was_untraced = started(loaded(source), X)
    assert not was_untraced
    np.testing.assert_allclose(result, np.cos(X), rtol=1e-6)


# ---- calls ---------------------------------------------------------------------------------------


class Pair(collections.namedtuple("Pair", "a b")):
    __slots__ = ()


@irax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    w: irax.Array
    step: int = dataclasses.field(metadata={"static": True})


LARGE = jnp.arange(100.0)


def returns_trees(x, n=1):
    made = Pair(x, {"b": [x * 2, None], "a": (LARGE.sum(), 3 * n)})
    return made, collections.OrderedDict(z=x, y=2.0), jnp.zeros(3, "bfloat16")


def takes_state(state, x):
    return State(state.w + x, state.step), state.step


def loss(x):
    return (x * LARGE[:3]).sum()


def takes_a_key(key):
    return irax.random.normal(key, (3,)), {"n": 1}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (returns_trees, (X,), {}),
        (returns_trees, (jnp.ones(3),), {"n": 2}),
        (returns_trees, (np.float32(2),), {}),
        (returns_trees, (1.5,), {"n": np.int32(2)}),
        (takes_state, (State(jnp.ones(3), 4), X), {}),
        (takes_a_key, (irax.random.key(0),), {}),
        (lambda x: {"x": x["b"] @ x["a"]}, ({"b": X, "a": X},), {}),
        (lambda *xs: xs[::-1], (X, jnp.ones(2, int), True), {}),
        (irax.value_and_grad(loss), (X,), {}),
    ],
)
def test_results_are_those_of_a_trace(function, args, kwargs):
    expected = irax.jit(function)(*args, **kwargs)
    jitted = irax.jit(anew(function))
    for _ in range(3):
        same(jitted(*args, **kwargs), expected)
    assert is_untraced(jitted)


def anew(function: Any) -> Any:
    """Return a function that does the same, which no call of `jit` has seen."""
    if function.__closure__:
        return irax.value_and_grad(loss)
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def test_static_arguments():
    source = "def f(x, n): return x * n"
    results = [started(loaded(source), X, n, static_argnums=1) for n in (2, 2, 3, 2.0, 3)]
    assert [was_untraced for _, was_untraced in results] == [False, True, False, False, True]
    same(results[4][0], results[2][0])


def test_other_arguments_and_options_are_other_signatures():
    source = "def f(x): return x.sum() * x"
    assert not started(loaded(source), X)[1]
    assert not started(loaded(source), np.ones(4, "float32"))[1]
    assert not started(loaded(source), np.ones(3, "int32"))[1]
    with irax.default_matmul_precision("highest"):
        assert not started(loaded(source), X)[1]
    with irax.enable_x64(True):
        assert not started(loaded(source), X)[1]
        assert started(loaded(source), X)[1]
    assert not started(loaded(source), X, donate_argnums=0)[1]


def test_donated_arguments():
    source = "def f(x): return x.at[0].set(5.0)"
    assert not started(loaded(source), jnp.ones(4096), donate_argnums=0)[1]
    x = jnp.ones(4096) * 2.0
    result, was_untraced = started(loaded(source), x, donate_argnums=0)
    assert was_untraced
    assert x.is_deleted()
    np.testing.assert_array_equal(result[:2], [5.0, 2.0])


@pytest.mark.parametrize("option", [irax.debug_nans, irax.disable_jit, irax.check_tracer_leaks])
def test_options_that_look_at_traces(option):
    source = "def f(x): return x * 11"
    started(loaded(source), X)
    assert started(loaded(source), X)[1]
    with option():
        assert not started(loaded(source), X)[1]


def test_no_tracing_refuses_what_would_be_traced_without_the_cache():
    source = "def f(x): return x * 17"
    started(loaded(source), X)
    with irax.no_tracing(), pytest.raises(RuntimeError, match="no_tracing"):
        started(loaded(source), X)


def test_debuggers_see_traces():
    source = "def f(x): return x * 12"
    started(loaded(source), X)
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        assert not started(loaded(source), X)[1]
    finally:
        sys.settrace(before)


def test_functions_traced_before_are_not_kept():
    source = "G = 2\n@irax.jit\ndef g(x): return x * G\ndef f(x): return g(x) + 1\nf.g = g"
    first = loaded(source)
    first.__globals__["g"](X)  # with the trace that this makes, `f` is traced
    first.__globals__["G"] = 3
    jitted = irax.jit(first)
    irax.eval_shape(first.__globals__["g"], X)
    jitted(X)
    assert not started(loaded(source.replace("G = 2", "G = 3")), X)[1]


def test_a_warning_of_many_compilations_is_not_of_the_trace():
    source = "def f(x): return x * 18"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reports, "OFTEN", 1)
        with pytest.warns(UserWarning, match="compiled"):
            started(loaded(source), X)
        assert started(loaded(source), X)[1]


def test_traces_after_an_untraced_start():
    source = "def f(x): return x * 13"
    started(loaded(source), X)
    jitted = irax.jit(loaded(source))
    jitted(X)
    assert is_untraced(jitted)
    np.testing.assert_array_equal(irax.grad(lambda x: jitted(x).sum())(X), [13.0] * 3)
    np.testing.assert_array_equal(irax.jit(lambda x: jitted(x) + 1)(X), X * 13 + 1)
    assert "stablehlo.multiply" in jitted.lower(X).as_text()
    with irax.debug_nans():
        np.testing.assert_array_equal(jitted(X), X * 13)
    jitted.clear_cache()
    np.testing.assert_array_equal(jitted(X), X * 13)


def test_other_threads_and_devices_get_their_programs():
    source = "def f(x): return x * 14"
    started(loaded(source), X)
    jitted = irax.jit(loaded(source))
    put = irax.device_put(X, irax.devices()[0])
    assert jitted(put).committed
    assert not jitted(X).committed


def test_what_is_told(caplog):
    source = "def f(x): return x * 15"
    with irax.explain_cache_misses(), caplog.at_level(logging.WARNING, "irax"):
        started(loaded(source), X)
        started(loaded(source), X)
        jitted = irax.jit(loaded(REFUSED["asks the time"]))
        jitted(X)
    text = " ".join(record.getMessage() for record in caplog.records)
    assert "runs without a trace: an earlier process traced it" in text
    assert "is traced by each process: time.time is not known to be pure" in text
    assert "is traced by each process" in str(irax.explain(jitted))


def test_a_record_that_does_not_load(tmp_path):
    source = "def f(x): return x * 16"
    irax.config.update("compilation_cache_dir", str(tmp_path))
    try:
        started(loaded(source), X)
        for path in Path(tmp_path).iterdir():
            if path.stat().st_size > 2000:  # the program, and not its record
                path.unlink()
        result, was_untraced = started(loaded(source), X)
        assert not was_untraced
        np.testing.assert_array_equal(result, X * 16)
    finally:
        cache = os.path.dirname(str(tmp_path))
        irax.config.update("compilation_cache_dir", cache)


class WithoutModule(type):
    """Classes as compiled packages may have them."""

    @property
    def __module__(cls):
        raise AttributeError("__module__")


def test_classes_of_other_packages_may_have_no_module():
    kind = WithoutModule("kind", (), {})
    Mapping.register(kind)
    assert name_of("def f(x):\n    return x + 1\n", X) is not None
