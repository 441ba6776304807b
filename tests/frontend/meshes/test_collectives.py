"""Collectives over the named axes of vmaps, against what they say of whole arrays."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
"""Four lanes of three elements."""


def over_i(f, *arguments, **options):
    return irax.vmap(f, axis_name="i", **options)(*arguments)


def same(found, expected, rtol=1e-6):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol, atol=1e-6)


def lanes(row):
    return np.broadcast_to(row, (4, *np.shape(row)))


# ---- values --------------------------------------------------------------------------------------


def test_folds():
    same(over_i(lambda x: lax.psum(x, "i"), X), lanes(X.sum(0)))
    same(over_i(lambda x: lax.pmean(x, "i"), X), lanes(X.mean(0)))
    same(over_i(lambda x: lax.pmax(x, "i"), X), lanes(X.max(0)))
    same(over_i(lambda x: lax.pmin(x, "i"), X), lanes(X.min(0)))
    counted = over_i(lambda x: lax.psum(x > 0, "i"), X)
    assert counted.dtype == np.int32
    same(counted, lanes((X > 0).sum(0)))


def test_a_fold_is_the_same_in_all_lanes():
    same(over_i(lambda x: lax.psum(x, "i"), X, out_axes=None), X.sum(0))


def test_folds_of_what_is_the_same_in_all_lanes():
    y = jnp.arange(3.0)
    same(over_i(lambda x: lax.psum(y, "i") + 0 * x, X), lanes(4 * np.arange(3)))
    same(over_i(lambda x: lax.pmax(y, "i") + 0 * x, X), lanes(np.arange(3)))
    same(irax.jit(lambda y: over_i(lambda x: lax.psum(y, "i") + 0 * x, X))(y), lanes(4 * y))


def test_numbers_stay_numbers():
    def f(x):
        assert lax.psum(1, "i") == 4
        assert isinstance(lax.psum(1, "i"), int)
        assert lax.axis_size("i") == 4
        return x

    over_i(f, X)


def test_pytrees_and_dimensions():
    found = over_i(lambda x: lax.psum({"a": x, "b": (x[0],)}, "i"), X)
    same(found["a"], lanes(X.sum(0)))
    same(found["b"][0], lanes(X[:, 0].sum()))
    same(over_i(lambda x: lax.psum(x, ("i", 0)), X), lanes(X.sum()))
    same(over_i(lambda x: lax.pmax(x, ("i", 0)), X), lanes(X.max()))


def test_axis_index():
    same(over_i(lambda x: lax.axis_index("i"), X), range(4))
    found = over_i(lambda x: x + lax.axis_index("i"), 1.0, in_axes=None, axis_size=3)
    same(found, [1, 2, 3])


def test_all_gather():
    same(over_i(lambda x: lax.all_gather(x, "i"), X), lanes(X))
    same(over_i(lambda x: lax.all_gather(x, "i", axis=1), X), lanes(X.T))
    same(over_i(lambda x: lax.all_gather(x, "i", axis=-1), X), lanes(X.T))
    same(over_i(lambda x: lax.all_gather(x, "i", tiled=True), X), lanes(X.ravel()))


def test_psum_scatter():
    x = np.arange(48.0, dtype=np.float32).reshape(4, 4, 3)
    same(over_i(lambda x: lax.psum_scatter(x, "i"), x), x.sum(0))
    wide = np.arange(32.0, dtype=np.float32).reshape(4, 8)
    found = over_i(lambda x: lax.psum_scatter(x, "i", tiled=True), wide)
    same(found, wide.sum(0).reshape(4, 2))


def test_all_to_all():
    x = np.arange(4 * 4 * 2.0, dtype=np.float32).reshape(4, 4, 2)
    same(over_i(lambda x: lax.all_to_all(x, "i", 0, 0), x), x.swapaxes(0, 1))
    same(over_i(lambda x: lax.pswapaxes(x, "i", 0), x), x.swapaxes(0, 1))
    same(over_i(lambda x: lax.all_to_all(x, "i", 0, 1), x), x.transpose(1, 2, 0))
    wide = np.arange(4 * 8.0, dtype=np.float32).reshape(4, 8)
    found = over_i(lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True), wide)
    same(
        found,
        np.stack(
            [np.concatenate([wide[i, 2 * j : 2 * j + 2] for i in range(4)]) for j in range(4)]
        ),
    )


def test_permutations():
    same(
        over_i(lambda x: lax.ppermute(x, "i", [(i, (i + 1) % 4) for i in range(4)]), X),
        np.roll(X, 1, 0),
    )
    found = over_i(lambda x: lax.ppermute(x, "i", [(0, 2), (3, 1)]), X)
    same(found, [X[0] * 0, X[3], X[0], X[0] * 0])
    same(over_i(lambda x: lax.pshuffle(x, "i", [2, 0, 3, 1]), X), X[[2, 0, 3, 1]])
    same(over_i(lambda x: lax.pbroadcast(x, "i", 2), X), lanes(X[2]))


# ---- several axes --------------------------------------------------------------------------------


def both(f, x):
    return irax.vmap(irax.vmap(f, axis_name="j"), axis_name="i")(x)


def test_several_axes():
    x = np.random.default_rng(1).normal(size=(2, 3, 5)).astype(np.float32)
    everywhere = np.broadcast_to
    same(both(lambda x: lax.psum(x, ("i", "j")), x), everywhere(x.sum((0, 1)), x.shape))
    same(both(lambda x: lax.psum(x, "i"), x), everywhere(x.sum(0), x.shape))
    same(both(lambda x: lax.psum(x, "j"), x), everywhere(x.sum(1)[:, None], x.shape))
    same(both(lambda x: lax.axis_index(("i", "j")), x), np.arange(6).reshape(2, 3))
    gathered = both(lambda x: lax.all_gather(x, ("i", "j")), x)
    same(gathered, everywhere(x.reshape(6, 5), (2, 3, 6, 5)))
    same(
        both(lambda x: lax.all_gather(x, "i", axis=1), x),
        everywhere(x.transpose(1, 2, 0), (2, 3, 5, 2)),
    )


def test_an_inner_axis_hides_an_outer_one_of_its_name():
    x = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
    found = irax.vmap(irax.vmap(lambda x: lax.psum(x, "i"), axis_name="i"), axis_name="i")(x)
    same(found, np.broadcast_to(x.sum(1)[:, None], x.shape))


def test_lanes_of_another_axis():
    x = np.random.default_rng(1).normal(size=(4, 4, 3)).astype(np.float32)

    def inside(f):
        return over_i(irax.vmap(f, in_axes=1), x)

    def one_by_one(f):
        return np.stack([np.asarray(over_i(f, x[:, :, k])) for k in range(3)], 1)

    for f in (
        lambda x: lax.psum(x, "i"),
        lambda x: lax.all_gather(x, "i", axis=1),
        lambda x: lax.psum_scatter(x, "i"),
        lambda x: lax.all_to_all(x, "i", 0, 0),
        lambda x: lax.ppermute(x, "i", [(0, 1), (1, 0)]),
        lambda x: x * lax.axis_index("i"),
    ):
        same(inside(f), one_by_one(f))


# ---- inside of other things ----------------------------------------------------------------------


def test_inside_jit_and_again_with_another_size():
    total = irax.jit(lambda x: lax.psum(x, "i") * lax.axis_size("i"))
    same(over_i(total, X), lanes(4 * X.sum(0)))
    same(over_i(total, X[:2]), np.broadcast_to(2 * X[:2].sum(0), (2, 3)))
    number = irax.jit(lambda: lax.axis_index("i"))
    same(over_i(lambda x: x[0] * 0 + number(), X), range(4))


def test_inside_loops_and_branches():
    def loop(x):
        return lax.fori_loop(0, 3, lambda i, c: c + lax.axis_index("i"), 0) + 0 * x[0]

    same(over_i(loop, X), 3 * np.arange(4))

    def until(x):
        return lax.while_loop(lambda c: c < lax.axis_index("i"), lambda c: c + 1, 0)

    same(over_i(until, X), range(4))

    def sums(x):
        return lax.scan(lambda c, row: (c + lax.psum(row, "i"), lax.pmax(row, "i")), 0.0, x)

    total, largest = over_i(sums, X)
    same(total, lanes(X.sum()), 1e-5)
    same(largest, lanes(X.max(0)))

    def chosen(x):
        return lax.cond(lax.axis_index("i") > 1, lambda: lax.pmean(x, "i"), lambda: x)

    same(over_i(chosen, X), np.where(np.arange(4)[:, None] > 1, X.mean(0), X))


def test_python_cannot_branch_on_the_number_of_a_lane():
    with pytest.raises(irax.errors.TracerBoolConversionError):
        over_i(lambda x: x if lax.axis_index("i") else -x, X)


def test_batch_norm_over_the_lanes():
    def normalized(x):
        mean = lax.pmean(x, "i")
        variance = lax.pmean((x - mean) ** 2, "i")
        return (x - mean) / jnp.sqrt(variance + 1e-5)

    expected = (X - X.mean(0)) / np.sqrt(X.var(0) + 1e-5)
    same(over_i(normalized, X), expected, 1e-5)
    same(irax.jit(irax.vmap(normalized, axis_name="i"))(X), expected, 1e-5)


def test_checkpoints_and_custom_rules():
    @irax.custom_jvp
    def f(x):
        return lax.psum(x, "i")

    @f.defjvp
    def _(primals, tangents):
        return f(*primals), 2 * lax.psum(tangents[0], "i")

    same(over_i(f, X), lanes(X.sum(0)))
    same(over_i(lambda x: irax.jvp(f, (x,), (x,))[1], X), lanes(2 * X.sum(0)))
    g = irax.checkpoint(lambda x: jnp.sin(lax.psum(x, "i")).sum())
    same(over_i(irax.grad(g), X), lanes(4 * np.cos(X.sum(0))), 1e-5)


# ---- derivatives ---------------------------------------------------------------------------------


def test_gradients_inside_add_up_over_lanes():
    found = over_i(irax.grad(lambda x: lax.psum((x**2).sum(), "i")), X)
    same(found, 4 * 2 * X, 1e-5)
    found = over_i(irax.grad(lambda x: lax.pmean((x**2).sum(), "i")), X)
    same(found, 2 * X, 1e-5)


EXCHANGES = {
    "psum": lambda x: lax.psum(x, "i"),
    "pmean": lambda x: lax.pmean(x, "i"),
    "all_gather": lambda x: lax.all_gather(x, "i", axis=1),
    "all_gather tiled": lambda x: lax.all_gather(x, "i", tiled=True),
    "psum_scatter": lambda x: lax.psum_scatter(x, "i"),
    "psum_scatter tiled": lambda x: lax.psum_scatter(jnp.tile(x, 2), "i", tiled=True),
    "all_to_all": lambda x: lax.all_to_all(x, "i", 0, 0),
    "all_to_all tiled": lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True),
    "ppermute": lambda x: lax.ppermute(x, "i", [(0, 2), (2, 1)]),
    "pbroadcast": lambda x: lax.pbroadcast(x, "i", 1),
}


@pytest.mark.parametrize("exchange", EXCHANGES.values(), ids=EXCHANGES)
def test_derivatives(exchange):
    x = np.random.default_rng(2).normal(size=(4, 4)).astype(np.float32)

    def all_lanes(x):  # where derivatives are taken of what is no collective any more
        return over_i(lambda x: jnp.sin(exchange(x)), x)

    irax.test_util.check_grads(all_lanes, (x,), order=2, atol=2e-2, rtol=2e-2)
    weights = np.random.default_rng(3).normal(size=np.shape(all_lanes(x))).astype(np.float32)

    def by_lane(x, w):  # where the collective itself is transposed
        _, pull = irax.vjp(lambda x: jnp.sin(exchange(x)), x)
        return pull(w)[0]

    expected = irax.vjp(all_lanes, x)[1](weights)[0]
    same(over_i(by_lane, x, weights), expected, 1e-5)
    tangent = np.ones_like(x)
    forward = over_i(
        lambda x, t: irax.jvp(lambda x: jnp.sin(exchange(x)), (x,), (t,))[1], x, tangent
    )
    same(forward, irax.jvp(all_lanes, (x,), (tangent,))[1], 1e-5)


def test_extrema_have_no_derivative():
    with pytest.raises(NotImplementedError, match=r"maximum over the mapped axis 'i' has no deriv"):
        over_i(irax.grad(lambda x: lax.pmax(x, "i").sum()), X)


def test_groups_of_several_sizes():
    """JAX 0.10.2 counts as many lanes in each group as in the first."""
    uneven = [[0, 3, 1], [2]]
    sizes = over_i(lambda x: x * 0 + lax.psum(1, "i", axis_index_groups=uneven), X)
    same(sizes[:, 0], [3, 3, 1, 3])
    means = np.stack([X[[0, 1, 3]].mean(0)] * 4)
    means[2] = X[2]
    same(over_i(lambda x: lax.pmean(x, "i", axis_index_groups=uneven), X), means)


# ---- wrong use -----------------------------------------------------------------------------------

WRONG = {
    "outside": (lambda x: lax.psum(X, "k"), NameError, r"lax\.psum: unbound axis name 'k'; .* 'i'"),
    "index": (lambda x: lax.axis_index("k"), NameError, r"lax\.axis_index: unbound axis name 'k'"),
    "groups": (
        lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1, 2], [2]]),
        ValueError,
        "axis_index_groups=.* all of the 4 lanes of 'i' exactly once",
    ),
    "uneven groups": (
        lambda x: lax.all_gather(x, "i", axis_index_groups=[[0, 1, 2], [3]]),
        ValueError,
        "axis_index_groups=.* must be of one size",
    ),
    "size": (
        lambda x: lax.all_to_all(x, "i", 0, 0),
        ValueError,
        r"dimension 0 of float32\[3\] must be as large as the axis 'i', 4",
    ),
    "multiple": (
        lambda x: lax.psum_scatter(x, "i", tiled=True),
        ValueError,
        r"must be a multiple of the axis 'i', 4",
    ),
    "lane": (lambda x: lax.ppermute(x, "i", [(0, 7)]), ValueError, "lanes 0 to 3"),
    "twice": (lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)]), ValueError, "gets twice"),
    "shuffle": (
        lambda x: lax.pshuffle(x, "i", [0, 0, 1, 2]),
        ValueError,
        "no permutation of the 4",
    ),
    "source": (lambda x: lax.pbroadcast(x, "i", 4), ValueError, "source=4 is not one of the lanes"),
    "names": (lambda x: lax.ppermute(x, ("i", "j"), []), NameError, "unbound axis name 'j'"),
    "dimension": (lambda x: lax.all_gather(x, "i", axis=5), ValueError, "axis 5 is out of bounds"),
}


@pytest.mark.parametrize(("f", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_use(f, error, message):
    with pytest.raises(error, match=message):
        over_i(f, X)


def test_no_axis_has_a_name_outside_of_vmaps():
    with pytest.raises(NameError, match="names of mapped axes here: none"):
        lax.psum(X, "i")


def test_names_need_not_be_strings():
    class Name:
        pass

    name = Name()
    same(irax.vmap(lambda x: lax.psum(x, name), axis_name=name)(X), lanes(X.sum(0)))


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="needs JAX (make oracle)")
def test_as_in_jax():
    import jax

    programs = (
        lambda lib: lambda x: lib.lax.psum(x * lib.lax.axis_index("i"), "i"),
        lambda lib: lib.grad(lambda x: (lib.lax.psum(x, "i") ** 2).sum()),
        lambda lib: lib.grad(lambda x: (lib.lax.all_gather(x, "i") ** 3).sum()),
        lambda lib: lib.grad(lambda x: (x * lib.lax.pmean(x, "i")).sum()),
    )
    for program in programs:
        ours = irax.vmap(program(irax), axis_name="i")(X)
        same(ours, jax.vmap(program(jax), axis_name="i")(X), 1e-5)


def test_lanes_send_and_receive():
    def pass_on(x: Any) -> Any:
        token = lax.psend(x, "i", [(0, 1), (1, 2)])
        return lax.precv(token, irax.ShapeDtypeStruct(x.shape, x.dtype), "i", [(0, 1), (1, 2)])

    permuted = irax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")
    mapped = irax.vmap(pass_on, axis_name="i")
    same(mapped(X), permuted(X))
    gradient = irax.grad(lambda x: (mapped(x) ** 3).sum())
    same(gradient(X), irax.grad(lambda x: (permuted(x) ** 3).sum())(X))


@pytest.mark.parametrize(
    "token, shape, error, message",
    [
        (lambda x: lax.psend(x, "i", [(1, 0)]), X.shape[1:], ValueError, "token of a psend along"),
        (lambda x: lax.create_token(), X.shape[1:], ValueError, "got that of another, or of none"),
        (lambda x: lax.psend(x, "i", [(0, 1)]), (7,), ValueError, r"out_shape is .*7.* but psend"),
        (lambda x: lax.psend(x, "j", [(0, 1)]), X.shape[1:], NameError, "psend"),
    ],
)
def test_errors_of_sends(token: Any, shape: Any, error: Any, message: str):
    def pass_on(x: Any) -> Any:
        return lax.precv(token(x), irax.ShapeDtypeStruct(shape, x.dtype), "i", [(0, 1)])

    with pytest.raises(error, match=message):
        irax.vmap(pass_on, axis_name="i")(X)
