"""Primitives of one's own: rules in Python, under jit, grad, vmap and their nestings."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.compat.jax.interpreters import ad, batching, mlir
from irax.extend.core import Primitive
from irax.extend.zeros import UndefinedPrimal, Zero

X = np.array([0.5, -1.0, 2.0], np.float32)


def multiply_add() -> Primitive:
    """x * y + z, as JAX's guide to primitives defines it; its rules are of other primitives."""
    times, plus = Primitive("my_mul"), Primitive("my_add")
    for p, function in (times, jnp.multiply), (plus, jnp.add):
        p.def_impl(function)
        p.def_abstract_eval(lambda x, y: x)
        mlir.register_lowering(p, mlir.lower_fun(function, multiple_results=False))
        batching.defbroadcasting(p)
    ad.defbilinear(times, lambda ct, x, y: times.bind(ct, y), lambda ct, x, y: times.bind(x, ct))
    ad.deflinear2(plus, lambda ct, x, y: [ct, ct])

    madd = Primitive("multiply_add")
    madd.def_impl(lambda x, y, z: x * y + z)
    madd.def_abstract_eval(lambda x, y, z: x)

    def jvp(primals, tangents):
        x, y, z = primals
        tx, ty, tz = map(ad.instantiate_zeros, tangents)
        result = madd.bind(x, y, z)
        return result, plus.bind(plus.bind(times.bind(tx, y), times.bind(x, ty)), tz)

    ad.primitive_jvps[madd] = jvp
    batching.defbroadcasting(madd)
    return madd


MADD = multiply_add()


def formula(x):
    return MADD.bind(x, MADD.bind(x, x, x), jnp.sin(x)).sum()


def plain(x):
    return (x * (x * x + x) + jnp.sin(x)).sum()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f,
        irax.jit,
        irax.grad,
        lambda f: irax.jit(irax.grad(f)),
        irax.hessian,
        lambda f: irax.vmap(irax.grad(f)),
        lambda f: irax.grad(lambda x: irax.vmap(f)(x).sum()),
        lambda f: irax.jit(irax.vmap(irax.jacfwd(f))),
    ],
)
def test_rules_are_those_of_the_formula(transform):
    x = X if "vmap" not in transform.__code__.co_names else np.stack([X, 2 * X])
    expected = transform(plain)(x)
    np.testing.assert_allclose(transform(formula)(x), expected, rtol=1e-5)


def test_a_rule_sees_zeros_and_operands_that_are_transposed():
    seen = []
    scale = Primitive("scale")
    scale.def_impl(lambda x, k: x * k)
    scale.def_abstract_eval(lambda x, k: x)

    def jvp(primals, tangents):
        seen.append([type(t) for t in tangents])
        return scale.bind(*primals), scale.bind(tangents[0], primals[1])

    def transpose(ct, x, k):
        seen.append(type(x))
        return scale.bind(ct, k), None

    ad.primitive_jvps[scale] = jvp
    ad.primitive_transposes[scale] = transpose
    assert irax.grad(lambda x: scale.bind(x, jnp.array(3.0)))(2.0) == 3.0
    (first, second), undefined = seen
    assert first is not Zero
    assert second is Zero
    assert undefined is UndefinedPrimal


def test_several_results_and_parameters():
    split = Primitive("split")
    split.multiple_results = True
    split.def_impl(lambda x, *, at: [x[:at], x[at:]])
    split.def_abstract_eval(
        lambda x, *, at: [x.update(shape=(at,)), x.update(shape=(x.shape[0] - at,))]
    )
    first, rest = irax.jit(lambda x: split.bind(x, at=1))(X)
    np.testing.assert_array_equal(first, X[:1])
    np.testing.assert_array_equal(rest, X[1:])
    (eqn,) = irax.make_jaxpr(lambda x: split.bind(x, at=1))(X).eqns
    assert eqn.primitive is split
    assert eqn.params == {"at": 1}


@pytest.mark.parametrize(
    "transform, what",
    [(irax.grad, "Differentiation"), (irax.vmap, "Batching")],
)
def test_a_missing_rule_is_named(transform, what):
    lonely = Primitive("lonely")
    lonely.def_impl(lambda x: x)
    lonely.def_abstract_eval(lambda x: x)
    x = 1.0 if transform is irax.grad else X
    with pytest.raises(NotImplementedError, match=f"{what} rule for 'lonely' not implemented"):
        transform(lonely.bind)(x)


def test_an_implementation_in_numpy_is_evaluated_but_not_compiled():
    outside = Primitive("outside")
    outside.def_impl(lambda x: np.sort(x))
    outside.def_abstract_eval(lambda x: x)
    np.testing.assert_array_equal(outside.bind(X), np.sort(X))
    with pytest.raises(NotImplementedError, match="translation rule for primitive 'outside'"):
        irax.jit(outside.bind)(X)


def test_lowerings_run_for_what_is_compiled():
    lowered = []
    double = Primitive("double")
    double.def_impl(lambda x, *, of: 2 * x)
    double.def_abstract_eval(lambda x, *, of: x)

    def lowering(x, *, of):
        lowered.append(of)
        return 2 * x

    mlir.register_lowering(double, mlir.lower_fun(lowering, multiple_results=False))
    ad.primitive_jvps[double] = lambda primals, tangents, *, of: (
        double.bind(*primals, of=of),
        double.bind(*tangents, of="tangents"),
    )
    batching.primitive_batchers[double] = lambda xs, axes, *, of: (
        double.bind(*xs, of=f"{of} in lanes"),
        axes[0],
    )
    f = irax.jit(irax.vmap(lambda x: irax.jvp(lambda x: double.bind(x, of="values"), (x,), (x,))))
    assert not lowered
    for _ in range(2):
        np.testing.assert_array_equal(f(X), [2 * X, 2 * X])
        assert sorted(lowered) == ["tangents in lanes", "values in lanes"]


def test_a_primitive_that_acts_is_kept():
    seen = []
    note = Primitive("note")
    note.def_impl(lambda x: x)
    note.def_effectful_abstract_eval(lambda x: (x, {"note"}))

    def lowering(x):
        irax.debug.callback(seen.append, x)
        return x

    mlir.register_lowering(note, mlir.lower_fun(lowering, multiple_results=False))

    @irax.jit
    def f(x):
        note.bind(x)
        return x

    f(3.0)
    irax.effects_barrier()
    assert seen == [3.0]


def test_traced_operands_are_traced_where_the_trace_is_suspended():
    anywhere = Primitive("anywhere")
    anywhere.def_impl(jnp.any)
    anywhere.def_abstract_eval(lambda x: x.update(shape=()))
    batching.primitive_batchers[anywhere] = lambda xs, axes: (anywhere.bind(*xs), None)

    def f(x):
        with irax.ensure_compile_time_eval():
            return anywhere.bind(x > 1)

    np.testing.assert_array_equal(irax.vmap(f)(X), [True, True, True])


def test_apply_primitive_without_a_lowering_runs_the_implementation():
    from irax.compat.jax.interpreters.xla import apply_primitive

    doubled = Primitive("doubled")
    doubled.def_impl(lambda x: 2 * x)
    assert apply_primitive(doubled, np.float32(3)) == 6


def test_lowerings_know_types_and_call_python():
    seen = []

    def double(x):
        return (2 * np.asarray(x),)

    def lowering(ctx, x):
        seen.append((ctx.avals_in, ctx.avals_out))
        results, token, keepalive = mlir.emit_python_callback(
            ctx, double, None, [x], ctx.avals_in, ctx.avals_out, has_side_effect=False
        )
        assert token is None
        ctx.module_context.add_keepalive(keepalive)
        return results

    primitive = Primitive("doubled_by_python")
    primitive.def_abstract_eval(lambda x: x)
    mlir.register_lowering(primitive, lowering)
    x = jnp.arange(3.0)
    np.testing.assert_array_equal(irax.jit(primitive.bind)(x), 2 * np.arange(3))
    avals_in, avals_out = seen[0]
    assert [a.shape for a in (*avals_in, *avals_out)] == [(3,), (3,)]


def test_derivatives_keep_primitives_whose_results_are_not_used():
    mark = Primitive("mark")
    mark.def_impl(lambda x: x)
    mark.def_abstract_eval(lambda x: x)
    ad.primitive_jvps[mark] = lambda primals, tangents: (mark.bind(*primals), mark.bind(*tangents))
    ad.primitive_transposes[mark] = lambda ct, x: (mark.bind(ct),)

    def f(x):
        y = jnp.sin(x)
        mark.bind(y)
        return y * y

    batching.defvectorized(mark)
    for g in (f, irax.value_and_grad(f), irax.jit(irax.grad(irax.grad(f)))):
        assert "= mark " in str(irax.make_jaxpr(g)(0.5))
        assert "= mark " in str(irax.make_jaxpr(irax.vmap(g))(X))
    np.testing.assert_allclose(irax.jit(irax.grad(f))(0.5), np.sin(1.0), rtol=1e-6)


def test_primitives_that_nothing_uses_are_not_compiled():
    lost = Primitive("lost")
    lost.def_abstract_eval(lambda x: x)

    def f(x):
        lost.bind(lost.bind(x))
        return 2 * x

    assert irax.jit(f)(1.0) == 2.0
