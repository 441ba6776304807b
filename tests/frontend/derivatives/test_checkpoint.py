"""checkpoint: the same derivatives, of less that is kept."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.ad_checkpoint import checkpoint_name
from irax.test_util import check_grads
from irax_compiler import mlir

W = jnp.asarray(np.random.default_rng(0).standard_normal((4, 4)), jnp.float32)
X = jnp.linspace(0.1, 1.0, 4)


def layers(x, w):
    hidden = checkpoint_name(jnp.sin(w @ x), "hidden")
    return jnp.sum(jnp.sin(w @ hidden) ** 2)


POLICIES = {
    "default": None,
    "nothing": irax.checkpoint_policies.nothing_saveable,
    "everything": irax.checkpoint_policies.everything_saveable,
    "dots": irax.checkpoint_policies.dots_saveable,
    "dots-without-batch": irax.checkpoint_policies.dots_with_no_batch_dims_saveable,
    "named": irax.checkpoint_policies.save_only_these_names("hidden"),
    "not-named": irax.checkpoint_policies.save_anything_except_these_names("hidden"),
}


@pytest.mark.parametrize("static", [(), ("power",)], ids=["none-static", "static"])
def test_keyword_arguments(static):
    def f(x, *, factor, power=2):
        return jnp.sum(factor * x**power)

    g = irax.jit(lambda x: irax.checkpoint(f, static_argnames=static)(x, factor=x[0], power=3))
    np.testing.assert_allclose(g(X), X[0] * np.sum(np.asarray(X) ** 3), rtol=1e-6)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_derivatives_stay(policy):
    f = irax.checkpoint(layers, policy=policy)
    for transform in (
        lambda f: irax.grad(f, (0, 1)),
        lambda f: irax.hessian(f),
        lambda f: irax.vmap(irax.grad(f), (0, None)),
    ):
        x = jnp.stack([X, 2 * X]) if "vmap" in transform.__code__.co_names else X
        irax.tree_util.tree_map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5),
            transform(f)(x, W),
            transform(layers)(x, W),
        )


def test_jit_and_second_order():
    f = irax.checkpoint(layers)
    expected = irax.grad(layers)(X, W)
    np.testing.assert_allclose(irax.jit(irax.grad(f))(X, W), expected, rtol=1e-5)
    check_grads(f, (X, W), order=2, atol=1e-1, rtol=1e-1)


def ops_of(policy, function: str) -> list[str]:
    """The operations of the functions of a gradient's module whose names end so."""
    f = irax.checkpoint(layers, policy=policy) if policy != "none" else layers
    module = mlir.parse_module(str(irax.make_ir(irax.grad(f))(X, W)))
    return [
        view.operation.name.partition(".")[2]
        for name, operation in mlir.functions(module).items()
        if name.endswith(function)
        for view in mlir.body(operation).operations
    ]


def test_what_is_computed_again_is_seen_in_the_ir():
    assert "optimization_barrier" in ops_of(None, ".bwd")
    again = ops_of(None, ".fwd.again")
    assert again.count("dot_general") == 2
    assert ops_of(POLICIES["dots"], ".fwd.again").count("dot_general") == 0
    assert again.count("sine") == 2
    assert ops_of(POLICIES["named"], ".fwd.again").count("sine") == 1
    assert ops_of(POLICIES["everything"], ".fwd.again") == ["return"]


def test_residuals_are_the_arguments_alone():
    f = irax.checkpoint(lambda x: jnp.sin(jnp.sin(jnp.sin(x))))
    _, pullback = irax.vjp(f, X)
    assert [r.shape for r in irax.tree_util.tree_leaves(pullback)] == [(4,)]


def test_static_arguments_and_decorators():
    @irax.checkpoint(static_argnums=(1,))
    def f(x, power):
        return x**power

    assert irax.grad(f)(2.0, 3) == 12
    assert irax.remat(f)(2.0, 3) == 8


NAMES = (
    lambda prim, *_, **__: prim.name == "sin",
    lambda prim, *_, **__: str(prim) in ("cos", "mul"),
    lambda prim, *avals, **__: any(a.shape == (4, 4) for a in avals),
    lambda prim, *_, **params: params.get("name") == "hidden",
)


@pytest.mark.parametrize("policy", NAMES)
@pytest.mark.slow
def test_policies_are_functions_of_primitives(policy):
    f = irax.checkpoint(layers, policy=policy)
    for transform in (irax.grad, irax.hessian, lambda f: irax.jit(irax.grad(f))):
        found, expected = transform(f)(X, W), transform(layers)(X, W)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert len(ops_of(policy, ".fwd.again")) < len(ops_of(None, ".fwd.again"))


def test_names_of_primitives_are_those_of_jax():
    jax = pytest.importorskip("jax", reason="JAX names its primitives")

    def program(jnp, lax, x, w):
        y = jnp.tanh(w @ jnp.exp(x)) / (1 + jnp.log1p(x * x))
        y = jnp.where(y > 0.5, y, lax.rsqrt(jnp.abs(y)) - jnp.maximum(y, x))
        return jnp.sum(lax.rev(jnp.expm1(y), (0,)) ** 2.5)

    seen = []
    for module, x, w in ((irax, X, W), (jax, np.asarray(X), np.asarray(W))):
        names = set()

        def policy(prim, *_, _names=names, **__):
            return bool(_names.add(prim.name))

        def f(x, w, _module=module):
            return program(_module.numpy, _module.lax, x, w)

        module.grad(module.checkpoint(f, policy=policy))(x, w)
        seen.append(names)
    ours, theirs = seen
    expected = {"tanh", "dot_general", "exp", "log1p", "div", "mul", "gt", "rsqrt", "abs", "rev"}
    expected |= {"max", "expm1", "sub", "add"}
    assert expected & theirs <= ours
    assert len(expected & theirs) > 9


def test_policies_of_policies():
    policies = irax.checkpoint_policies
    both = policies.save_from_both_policies(
        policies.dots_saveable, lambda prim, *_, **__: prim.name == "cos"
    )
    again = ops_of(both, ".fwd.again")
    assert not {"dot_general", "cosine"} & {*again}
    assert "cosine" in ops_of(POLICIES["dots"], ".fwd.again")
    others = {
        policies.save_any_names_but_these("other"): "named",
        policies.offload_dot_with_no_batch_dims("device", "pinned_host"): "dots-without-batch",
        policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["a"],
            names_which_can_be_offloaded=["hidden"],
            offload_src="device",
            offload_dst="pinned_host",
        ): "named",
    }
    for policy, same in others.items():
        found = [op for op in ops_of(policy, ".fwd.again") if op != "composite"]  # moves
        assert found == [op for op in ops_of(POLICIES[same], ".fwd.again") if op != "composite"]
    mixed = policies.save_from_both_policies(*[*others][1:])
    with pytest.raises(ValueError, match=r"policies that return booleans, got Offloadable\("):
        ops_of(mixed, ".fwd.again")
    with pytest.raises(ValueError, match="got b in both"):
        policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["a", "b"],
            names_which_can_be_offloaded=["b"],
            offload_src="device",
            offload_dst="pinned_host",
        )


def test_wrong_policies():
    with pytest.raises(TypeError, match="checkpoint_policies"):
        irax.checkpoint(lambda x: x, policy="dots_saveable")
    with pytest.raises(TypeError, match=r"must return a bool, .*got None"):
        irax.grad(irax.checkpoint(jnp.sin, policy=lambda *_, **__: None))(1.0)


def test_numbers_are_arrays_as_in_traces():
    kinds = []
    f = irax.checkpoint(lambda x, n, *, k: kinds.append((type(x), n, type(k))), static_argnums=1)
    f(True, 2, k=1.0)
    ((kind, n, named),) = kinds
    assert issubclass(kind, irax.Array)
    assert issubclass(named, irax.Array)
    assert n == 2
