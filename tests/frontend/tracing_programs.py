"""Programs that tell what is traced and what is computed at once. Each takes the library, irax or
JAX, and returns a list of what happened, in order, as JAX's model has it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Program = Callable[[Any], list[Any]]
PROGRAMS: dict[str, tuple[Program, list[Any]]] = {}


def program(*expected: Any) -> Callable[[Program], Program]:
    """Decorator: a program of the table, and what it returns."""

    def added(run: Program) -> Program:
        PROGRAMS[run.__name__] = (run, list(expected))
        return run

    return added


def kept(jax: Any, transform: Callable[..., Any]) -> list[Any]:
    """Return what a table holds that a transformed function made and kept."""
    tables: list[Any] = []

    def f(x: Any) -> Any:
        tables.append(jax.numpy.arange(3.0) + 1)
        return jax.numpy.sum(tables[-1] * x)

    transform(f)
    return (tables[-1] * 2).tolist()


def scalar(jax: Any) -> Any:
    return jax.ShapeDtypeStruct((), jax.numpy.float32)


def struck(jax: Any, run: Callable[[], Any]) -> str:
    """Return the name of the error that a call raises, or "none"."""
    try:
        run()
    except Exception as error:
        kinds = jax.errors.UnexpectedTracerError, jax.errors.ConcretizationTypeError
        return next((kind.__name__ for kind in kinds if isinstance(error, kind)), repr(error))
    return "none"


# ---- tables made inside --------------------------------------------------------------------------


@program(2.0, [1.0, 1.5, 2.0])
def cached_nodes(jax: Any) -> list[Any]:
    @functools.lru_cache
    def nodes(n: int) -> Any:
        return jax.numpy.linspace(0.0, 1.0, n)

    slope = jax.grad(lambda x: jax.numpy.sum(nodes(4) * x))(2.0)
    del slope
    slope = jax.grad(lambda x: jax.numpy.sum(nodes(3) * x) + x / 2)(2.0)
    return [float(slope), (nodes(3) + 1).tolist()]


DOUBLED = [2.0, 4.0, 6.0]


@program(DOUBLED)
def table_under_grad(jax: Any) -> list[Any]:
    return [kept(jax, lambda f: jax.grad(f)(2.0))]


@program(DOUBLED)
def table_under_value_and_grad_with_aux(jax: Any) -> list[Any]:
    return [kept(jax, lambda f: jax.value_and_grad(lambda x: (f(x), x), has_aux=True)(2.0))]


@program(DOUBLED)
def table_under_vjp(jax: Any) -> list[Any]:
    return [kept(jax, lambda f: jax.vjp(f, 2.0)[1](1.0))]


@program(DOUBLED)
def table_under_jvp(jax: Any) -> list[Any]:
    return [kept(jax, lambda f: jax.jvp(f, (2.0,), (1.0,)))]


@program(DOUBLED)
def table_under_linearize(jax: Any) -> list[Any]:
    return [kept(jax, lambda f: jax.linearize(f, 2.0)[1](1.0))]


@program(DOUBLED)
def table_under_vmap(jax: Any) -> list[Any]:
    return [kept(jax, lambda f: jax.vmap(f)(jax.numpy.arange(4.0)))]


@program(DOUBLED)
def table_under_vmap_of_grad(jax: Any) -> list[Any]:
    return [kept(jax, lambda f: jax.vmap(jax.grad(f))(jax.numpy.arange(4.0)))]


@program(DOUBLED)
def table_under_grad_of_grad_of_vmap(jax: Any) -> list[Any]:
    def total(f: Any) -> Any:
        return lambda x: jax.numpy.sum(jax.vmap(f)(x * jax.numpy.arange(2.0)))

    return [kept(jax, lambda f: jax.grad(jax.grad(total(f)))(2.0))]


@program(DOUBLED)
def table_under_hessian(jax: Any) -> list[Any]:
    return [kept(jax, lambda f: jax.hessian(f)(2.0))]


@program("UnexpectedTracerError")
def table_under_jit(jax: Any) -> list[Any]:
    return [struck(jax, lambda: kept(jax, lambda f: jax.jit(f)(2.0)))]


@program("UnexpectedTracerError")
def table_under_grad_of_jit(jax: Any) -> list[Any]:
    return [struck(jax, lambda: kept(jax, lambda f: jax.grad(jax.jit(f))(2.0)))]


@program("UnexpectedTracerError")
def table_in_a_loop(jax: Any) -> list[Any]:
    def loop(f: Any) -> Any:
        return jax.grad(lambda x: jax.lax.fori_loop(0, 2, lambda i, c: f(c), x))

    return [struck(jax, lambda: kept(jax, lambda f: loop(f)(2.0)))]


@program("UnexpectedTracerError")
def leaked_value_of_grad(jax: Any) -> list[Any]:
    leaked: list[Any] = []
    jax.grad(lambda x: (leaked.append(x * 2), x)[1])(1.0)
    return [struck(jax, lambda: leaked[0] + 1)]


@program("UnexpectedTracerError")
def leaked_value_of_vmap_in_grad(jax: Any) -> list[Any]:
    leaked: list[Any] = []

    def f(y: Any) -> Any:
        jax.vmap(lambda x: (leaked.append(x * 2), x)[1])(jax.numpy.ones(2))
        return y + leaked[0]

    return [struck(jax, lambda: jax.grad(f)(1.0))]


# ---- which trace an operation belongs to ---------------------------------------------------------


@program([0.0, 9.0, 18.0], 6.0)
def outer_value_inside_an_inner_trace(jax: Any) -> list[Any]:
    """A value of the trace around, computed inside of the inner one, is used after that."""
    found: list[Any] = []

    def f(x: Any) -> Any:
        def g(y: Any) -> Any:
            found.append(x * x)
            return y * found[-1]

        inner = jax.vmap(g)(jax.numpy.arange(3.0))
        return found[-1], inner

    (square, inner), _ = jax.jvp(f, (3.0,), (1.0,))
    slope = jax.grad(lambda x: f(x)[0])(3.0)
    del square
    return [inner.tolist(), float(slope)]


@program(4.0, 12.0)
def jit_that_closes_over_a_traced_value(jax: Any) -> list[Any]:
    def f(x: Any) -> Any:
        return jax.jit(lambda: x * x)()

    def g(x: Any) -> Any:
        return jax.jit(lambda y: y * x**3)(1.0)

    return [float(jax.grad(f)(2.0)), float(jax.grad(g)(2.0))]


@program(6.0, [2.0, 2.0])
def jit_of_what_is_not_traced(jax: Any) -> list[Any]:
    found: list[Any] = []
    double = jax.jit(lambda y: 2 * y)

    def f(x: Any) -> Any:
        found.append(double(jax.numpy.ones(2)))
        return jax.numpy.sum(found[-1] * x) + double(x)

    return [float(jax.grad(f)(1.0)), found[0].tolist()]


@program(8.0, [0.0, 1.0, 3.0])
def scan_of_what_is_not_traced(jax: Any) -> list[Any]:
    found: list[Any] = []

    def f(x: Any) -> Any:
        end, rows = jax.lax.scan(lambda c, y: (c + y, c + y), 0.0, jax.numpy.arange(3.0))
        found.append(rows)
        through, _ = jax.lax.scan(lambda c, y: (c + y * x, c), 0.0, jax.numpy.arange(3.0))
        return end * x + through + 2 * x

    return [float(jax.grad(f)(1.0)), found[0].tolist()]


@program(1.0, "none", 3.0)
def branches_by_what_is_not_traced(jax: Any) -> list[Any]:
    found: list[Any] = []

    def f(x: Any) -> Any:
        found.append(jax.lax.cond(jax.numpy.array(True), lambda: 3.0, lambda: 4.0))
        return jax.lax.cond(jax.numpy.array(True), lambda: x, lambda: 2 * x)

    slope = float(jax.grad(f)(1.0))
    return [slope, struck(jax, lambda: found[0] + 1), float(found[0])]


@program("bool", 1.0)
def python_chooses_by_what_is_not_traced(jax: Any) -> list[Any]:
    kinds: list[Any] = []

    def f(x: Any) -> Any:
        chosen = jax.numpy.arange(3).sum() > 2
        kinds.append(type(bool(chosen)).__name__)
        return x if chosen else -x

    return [kinds[0] if float(jax.vmap(f)(jax.numpy.ones(1))[0]) else "", float(jax.grad(f)(1.0))]


@program("none", "ConcretizationTypeError")
def python_chooses_by_an_argument(jax: Any) -> list[Any]:
    def f(x: Any) -> Any:
        return x if x > 0 else -x

    ones = jax.numpy.ones(2)
    return [struck(jax, lambda: jax.grad(f)(1.0)), struck(jax, lambda: jax.vmap(f)(ones))]


@program([[0.0, 0.0], [1.0, 1.0]], [0.0, 2.0])
def results_that_are_not_traced(jax: Any) -> list[Any]:
    jnp = jax.numpy
    mapped = jax.vmap(lambda x: (x, jnp.arange(2.0)), out_axes=(0, 1))(jnp.arange(2.0))[1]
    pair = jax.jvp(lambda x: jnp.arange(2.0) * 2, (1.0,), (1.0,))[0]
    return [mapped.tolist(), pair.tolist()]


@program(0.0, 5.0)
def gradient_of_what_is_not_traced(jax: Any) -> list[Any]:
    value, slope = jax.value_and_grad(lambda x: jax.numpy.float32(5.0))(1.0)
    return [float(slope), float(value)]


@program([1, 2, 3], 1.0)
def counter_in_python(jax: Any) -> list[Any]:
    count = [jax.numpy.zeros((), int)]
    seen: list[int] = []

    def f(x: Any) -> Any:
        count[0] = count[0] + 1
        seen.append(int(count[0]))
        return x

    slopes = [jax.grad(f)(1.0) for _ in range(3)]
    return [seen, float(slopes[0])]


@program(True, True)
def keys_made_inside(jax: Any) -> list[Any]:
    state = [jax.random.key(0)]

    def noise() -> Any:
        state[0], key = jax.random.split(state[0])
        return jax.random.normal(key, (2,))

    jax.grad(lambda x: jax.numpy.sum(x * noise()))(1.0)
    jax.vmap(lambda x: x * noise())(jax.numpy.arange(2.0))
    after = noise()
    state[0] = jax.random.key(0)
    noise(), noise()
    return [bool((after == noise()).all()), state[0].shape == ()]


# ---- what is concrete ----------------------------------------------------------------------------


@program(True, False, True, False)
def concrete_arguments(jax: Any) -> list[Any]:
    found: list[Any] = []

    def f(x: Any) -> Any:
        found.append(jax.core.is_concrete(x * 2))
        return x

    jax.grad(f)(1.0)
    jax.vmap(f)(jax.numpy.ones(2))
    jax.jvp(f, (1.0,), (1.0,))
    jax.grad(jax.jit(f))(1.0)
    return found


# ---- order and number of side effects ------------------------------------------------------------


def callback_log(jax: Any, transform: Callable[..., Any]) -> list[Any]:
    """Return what callbacks, and Python, note down in a transformed function."""
    log: list[Any] = []

    def note(what: str) -> Callable[..., None]:
        return lambda *x: log.append((what, *map(float, x)))

    def f(x: Any) -> Any:
        log.append("begin")
        jax.debug.callback(note("argument"), x)
        jax.debug.callback(note("constant"), jax.numpy.ones(()))
        jax.debug.callback(note("twice"), 2 * x)
        log.append("end")
        return x * x

    transform(f)
    jax.effects_barrier()
    return log


@program("begin", ("argument", 3.0), ("constant", 1.0), ("twice", 6.0), "end")
def effects_under_grad(jax: Any) -> list[Any]:
    return callback_log(jax, lambda f: jax.grad(f)(3.0))


@program("begin", ("argument", 3.0), ("constant", 1.0), ("twice", 6.0), "end")
def effects_under_jvp(jax: Any) -> list[Any]:
    return callback_log(jax, lambda f: jax.jvp(f, (3.0,), (1.0,)))


@program("begin", ("argument", 3.0), ("constant", 1.0), ("twice", 6.0), "end")
def effects_under_grad_of_grad(jax: Any) -> list[Any]:
    return callback_log(jax, lambda f: jax.grad(jax.grad(f))(3.0))


@program(
    [("argument", 0.0), ("argument", 1.0)], ("constant", 1.0), [("twice", 0.0), ("twice", 2.0)]
)
def effects_under_vmap(jax: Any) -> list[Any]:
    log = callback_log(jax, lambda f: jax.vmap(f)(jax.numpy.arange(2.0)))
    own = [x for x in log if x not in ("begin", "end")]
    return [sorted(own[:2]), own[2], sorted(own[3:])]  # lanes have no order


@program([0.0, 1.0], [2.0, 3.0], 5.0)
def counter_on_the_host(jax: Any) -> list[Any]:
    from itertools import count

    numbers = count()

    def number() -> Any:
        call = jax.experimental.io_callback
        return call(lambda: jax.numpy.float32(next(numbers)), scalar(jax), ordered=True)

    def f(x: Any) -> Any:
        return x * number() + number()

    value, slope = jax.value_and_grad(f)(1.0)
    mapped = jax.vmap(f)(jax.numpy.arange(2.0))
    del value
    return [[float(slope), 1.0], [3.0 - 1.0, float(mapped[0])], float(mapped[1])]


@program("UnexpectedTracerError", 2.0)
def table_in_a_checkpoint(jax: Any) -> list[Any]:
    saved = struck(jax, lambda: kept(jax, lambda f: jax.grad(jax.checkpoint(f))(2.0)))
    slope = jax.grad(lambda x: jax.checkpoint(lambda: x * x)())(1.0)
    return [saved, float(slope)]


@program(["primal"], ["rule"], ["rule"])
def calls_of_a_custom_jvp(jax: Any) -> list[Any]:
    log: list[str] = []

    @jax.custom_jvp
    def f(x: Any) -> Any:
        log.append("primal")
        return x * x

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        log.append("rule")
        (x,), (t,) = primals, tangents
        return x * x, 2 * x * t

    def logged(run: Callable[[], Any]) -> list[str]:
        log.clear()
        run()
        return list(log)

    return [
        logged(lambda: jax.vmap(f)(jax.numpy.arange(2.0))),
        logged(lambda: jax.grad(f)(1.0)),
        logged(lambda: jax.jvp(f, (1.0,), (1.0,))),
    ]


@program(["primal"], ["fwd", "bwd"])
def calls_of_a_custom_vjp(jax: Any) -> list[Any]:
    log: list[str] = []

    @jax.custom_vjp
    def f(x: Any) -> Any:
        log.append("primal")
        return x * x

    def fwd(x: Any) -> Any:
        log.append("fwd")
        return x * x, x

    def bwd(x: Any, ct: Any) -> Any:
        log.append("bwd")
        return (2 * x * ct,)

    f.defvjp(fwd, bwd)

    def logged(run: Callable[[], Any]) -> list[str]:
        log.clear()
        run()
        return list(log)

    return [
        logged(lambda: jax.vmap(f)(jax.numpy.arange(2.0))),
        logged(lambda: jax.grad(f)(1.0)),
    ]


@program(DOUBLED, DOUBLED)
def table_in_custom_rules(jax: Any) -> list[Any]:
    tables: list[Any] = []

    def table() -> Any:
        tables.append(jax.numpy.arange(3.0) + 1)
        return tables[-1]

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jax.numpy.sum(table() * x)

    def fwd(x: Any) -> Any:
        return f(x), x

    def bwd(x: Any, ct: Any) -> Any:
        return (jax.numpy.sum(table()) * ct * x,)

    f.defvjp(fwd, bwd)
    jax.grad(f)(1.0)
    return [(tables[0] * 2).tolist(), (tables[-1] * 2).tolist()]


@program("UnexpectedTracerError", 1.0)
def rule_that_closes_over_a_traced_value(jax: Any) -> list[Any]:
    def product(x: Any, y: Any) -> Any:
        @jax.custom_jvp
        def g(y: Any) -> Any:
            return x * y

        g.defjvps(lambda t, ans, y: t * 3)
        return g(y)

    both = jax.grad(lambda x: product(x, x))
    return [struck(jax, lambda: both(2.0)), float(jax.grad(lambda y: product(1.0, y) / 3)(2.0))]
