"""Refs among the arguments of functions with custom_vjp, whose rules write to them."""

import functools

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax


@irax.custom_vjp
def stash(ref, x):
    """The identity; its backward pass leaves the cotangent in a Ref."""
    return x


def _stash_fwd(ref, x):
    return x, ref


def _stash_bwd(ref, ct):
    ref[...] = ct
    return None, ct


stash.defvjp(_stash_fwd, _stash_bwd)


def chain(ref, x):
    x = stash(ref, jnp.sin(x))
    return stash(ref, jnp.sin(x))  # this one's backward pass is the first


def loops(ref, x):
    def step(x, _):
        return jnp.sin(stash(ref, jnp.sin(x))), None

    return lax.scan(step, x, None, length=1)[0]


def branches(ref, x):
    return lax.cond(x > 0, lambda x: jnp.sin(stash(ref, jnp.sin(x))), lambda x: x, x)


def jitted(ref, x):
    return irax.jit(chain)(ref, x)


def rematerialized(ref, x):
    return irax.checkpoint(chain)(ref, x)


def in_a_checkpointed_loop(ref, x):
    def step(x, _):
        return jnp.sin(stash(ref, jnp.sin(x))), None

    return lax.scan(irax.checkpoint(step), x, None, length=1)[0]


FUNCTIONS = [chain, loops, branches, jitted, rematerialized, in_a_checkpointed_loop]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_backward_passes_write(function, jit: bool):
    ref = irax.new_ref(jnp.float32(0))
    grad = irax.grad(function, 1)
    found = (irax.jit(grad) if jit else grad)(ref, jnp.float32(1))
    np.testing.assert_allclose(ref[...], np.cos(np.sin(1)), rtol=1e-6)
    np.testing.assert_allclose(found, np.cos(np.sin(1)) * np.cos(1), rtol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("jit", [False, True])
def test_backward_passes_write_to_rows_and_views(jit: bool):
    def f(x, table):
        x = stash(table.at[2], 5 * x)
        return lax.scan(lambda x, row: (stash(row[0], 3 * x), None), x, (table.at[:2],))[0]

    table = irax.new_ref(jnp.zeros(4))
    grad = irax.grad(lambda x: f(x, table))
    assert (irax.jit(grad) if jit else grad)(1.0) == 45
    assert table[...].tolist() == [3, 1, 9, 0]


def test_pullbacks_write_when_they_are_called():
    ref, total = irax.new_ref(jnp.float32(0)), irax.new_ref(jnp.float32(100))
    value, pullback = irax.vjp(lambda x: irax.jit(loops)(ref, x), jnp.float32(1))
    np.testing.assert_allclose(value, np.sin(np.sin(1)), rtol=1e-6)
    assert ref[...] == 0
    pullback(jnp.float32(2))
    np.testing.assert_allclose(ref[...], 2 * np.cos(np.sin(1)), rtol=1e-6)
    pullback.with_refs(total)(jnp.float32(1))
    np.testing.assert_allclose(ref[...], np.cos(np.sin(1)), rtol=1e-6)
    np.testing.assert_allclose(total[...], 100 + np.cos(np.sin(1)) * np.cos(1), rtol=1e-6)


def recorder(dtype):
    """A product of x by a gain; its passes write to an array of the forward and the backward one,
    which has the cotangents in the order in which they come.
    """

    @irax.custom_vjp
    def scaled(history, x, gain, forward):
        return gain * x

    def fwd(history, x, gain, forward):
        forward.addupdate(x.astype(dtype))
        return gain * x, {"history": history, "gain": gain}

    def bwd(kept, ct):
        history = kept["history"]
        history[...] = jnp.roll(history[...], 1).at[0].set(ct.astype(dtype))
        return None, kept["gain"] * ct, None, None

    scaled.defvjp(fwd, bwd)
    return scaled


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int8, np.complex64])
def test_order_and_dtypes(dtype):
    scaled = recorder(dtype)

    def f(x, history, forward):
        def step(x, gain):
            return scaled(history, x, gain, forward), None

        x, _ = lax.scan(step, x, jnp.array([2.0, -3.0, 1.0]))
        return scaled(history, x, 70000.0 if dtype == np.int32 else 5.0, forward)

    gains = [2.0, -3.0, 1.0, 70000.0 if dtype == np.int32 else 5.0]
    history = irax.new_ref(jnp.full(6, -7, dtype))
    forward = irax.new_ref(jnp.zeros((), dtype))
    gradient = irax.jit(irax.grad(f))(2.0, history, forward)
    cts = [1.0]
    for gain in gains[::-1]:
        cts.append(cts[-1] * gain)
    assert gradient == cts[-1]
    expected = [*cts[:4][::-1], -7, -7]
    np.testing.assert_array_equal(history[...], np.array(expected).astype(dtype))
    assert history.dtype == dtype
    xs = 2 * np.cumprod([1, *gains[:3]])
    assert forward[...] == np.array(xs).astype(dtype).sum()


def test_lanes_of_refs():
    refs, xs = irax.new_ref(jnp.zeros(3)), jnp.arange(3.0)
    lanes = irax.vmap(irax.grad(chain, 1))
    np.testing.assert_allclose(lanes(refs, xs), np.cos(np.sin(xs)) * np.cos(xs), rtol=1e-6)
    np.testing.assert_allclose(refs[...], np.cos(np.sin(xs)), rtol=1e-6)
    refs[...] = jnp.zeros(3)
    irax.jit(irax.grad(lambda xs: irax.vmap(chain)(refs, xs).sum()))(xs)
    np.testing.assert_allclose(refs[...], np.cos(np.sin(xs)), rtol=1e-6)


def test_refs_that_are_differentiated():
    @irax.custom_vjp
    def read(ref):
        return ref[...]

    read.defvjp(lambda ref: (read(ref), None), lambda _, ct: (3 * ct,))
    assert read(irax.new_ref(2.0)) == 2
    assert irax.jit(read)(irax.new_ref(2.0)) == 2

    def f(x):
        ref = irax.new_ref(x)
        return read(ref) + ref[...]

    assert irax.grad(f)(2.0) == irax.jit(irax.grad(f))(2.0) == 4


def test_a_rule_runs_for_derivatives_alone():
    ref = irax.new_ref(jnp.float32(-1))
    assert irax.jit(chain)(ref, 0.0) == 0
    irax.grad(lambda x: x * stash(ref, 2.0))(1.0)  # no derivative goes through it
    irax.grad(lambda x: [stash(ref, x), x][1])(1.0)  # nor from it
    assert ref[...] == -1


def test_rules_with_symbolic_zeros_and_fixed_arguments():
    @functools.partial(irax.custom_vjp, nondiff_argnums=(0,))
    def f(scale, x, ref, y):
        return scale * x, y

    def fwd(scale, x, ref, y):
        assert (x.perturbed, y.perturbed) == (True, False)
        return (scale * x.value, y.value), ref

    def bwd(scale, ref, cts):
        assert isinstance(cts[1], irax.custom_derivatives.SymbolicZero)
        ref[0] += cts[0]
        return scale * cts[0], None, None

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    ref = irax.new_ref(jnp.ones(2))
    assert irax.grad(lambda x: 5 * f(3.0, x, ref, 1.0)[0])(2.0) == 15
    assert ref[...].tolist() == [6, 1]


def test_bad_rules():
    ref = irax.new_ref(jnp.float32(0))

    @irax.custom_vjp
    def f(x, ref):
        return x

    f.defvjp(lambda x, ref: (x, irax.new_ref(0)), lambda ref, ct: (ct, None))
    with pytest.raises(
        ValueError, match=r"fwd function f returned a mutable array, Ref{int32\[\]}"
    ):
        irax.vjp(f, 3.0, ref)
    f.defvjp(lambda x, ref: x, lambda ref, ct: (ct, None))
    with pytest.raises(TypeError, match="fwd of f must return a pair"):
        irax.vjp(f, 3.0, ref)
    f.defvjp(lambda x, ref: (x, ref), lambda ref, ct: ct)
    with pytest.raises(TypeError, match="a cotangent for each of its 2 arguments"):
        irax.vjp(f, 3.0, ref)[1](1.0)
    f.defvjp(lambda x, ref: (x, ref), lambda ref, ct: (ct, None))
    with pytest.raises(NotImplementedError, match="bwd of f gets a Ref that was made in"):
        irax.grad(lambda x: f(x, irax.new_ref(0.0)))(1.0)

    @irax.custom_vjp
    def returned(ref):
        return ref

    returned.defvjp(lambda ref: (ref, None), lambda _, ct: (ct,))
    with pytest.raises(ValueError, match="result is a mutable array"):
        irax.jit(returned)(ref)
    with pytest.raises(ValueError, match="only one reference to a mutable array"):
        irax.vjp(stash, ref, ref)

    @irax.custom_jvp
    def forward(x, ref):
        return x

    forward.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(TypeError, match="forward is a Ref, which only custom_vjp takes"):
        irax.jit(forward)(1.0, ref)


@irax.tree_util.register_pytree_node_class
class Line:
    """A pytree of arrays, which lets plain objects pass as leaves, and nothing else."""

    def __init__(self, slope, start):
        self.slope, self.start = map(self._taken, (slope, start))

    def tree_flatten(self):
        return (self.slope, self.start), None

    @classmethod
    def tree_unflatten(cls, _, leaves):
        return cls(*leaves)

    @staticmethod
    def _taken(x):
        assert type(x) is object or isinstance(x, irax.Array)
        return x


LINE, X = Line(jnp.float32(3), jnp.float32(2)), jnp.float32(4)


def test_rules_give_classes_of_pytrees_no_other_leaves():
    f = irax.custom_vjp(lambda line, x: line.slope * x + line.start)
    f.defvjp(
        lambda line, x: (f(line, x), (line.slope, x)),
        lambda kept, ct: (Line(7 * ct * kept[1], ct), ct * kept[0]),
    )
    by_line, by_x = irax.jit(irax.grad(f, (0, 1)))(LINE, X)
    assert (by_line.slope, by_line.start, by_x) == (28, 1, 3)


def test_rules_of_refs_give_classes_of_pytrees_no_other_leaves():
    f = irax.custom_vjp(lambda ref, line: line.slope * ref[...] + line.start)
    f.defvjp(
        lambda ref, line: (f(ref, line), ref[...]),
        lambda kept, ct: (None, Line(7 * ct * kept, ct)),
    )
    by_line = irax.grad(lambda line: f(irax.new_ref(X), line))(LINE)
    assert (by_line.slope, by_line.start) == (28, 1)


def test_forms_of_cotangents_make_no_instance_of_a_class():
    _, pullback = irax.vjp(lambda line, x: line.slope * x + line.start, LINE, X)
    total = irax.new_ref(jnp.float32(1))
    forms = pullback.with_refs(irax.ad.GradValue(), total)
    by_line, by_x = forms(jnp.float32(1))
    assert (by_line.slope, by_line.start) == (4, 1)
    assert (by_x, total[...]) == (irax.ad.GradRef(), 4)


def test_forms_of_cotangents_have_the_structure_of_the_arguments():
    _, pullback = irax.vjp(lambda pair: pair[0] * pair[1], (X, X))
    with pytest.raises(ValueError, match=r"with_refs: expected a prefix of .*\(\*, \*\)"):
        pullback.with_refs({"a": irax.ad.GradValue()})
