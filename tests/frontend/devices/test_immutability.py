"""No compiled function ever changes an array that it is given: many updates in few programs."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp

UPDATES = {
    "set": lambda x, i: x.at[i].set(7.0),
    "set part of a row": lambda x, i: x.at[i, :2].set(7.0),
    "add twice": lambda x, i: x.at[i].add(1.0).at[0].add(2.0),
    "array index": lambda x, i: x.at[jnp.array([0, 2, 2])].add(1.0),
    "of reshape": lambda x, i: x.reshape(4, 3).at[i].set(7.0),
    "of transpose": lambda x, i: x.T.at[i].multiply(2.0),
    "of one-row transpose": lambda x, i: x.reshape(1, 12).T.at[i].set(7.0),
    "of whole slice": lambda x, i: x[0:3, 0:4].at[i].set(7.0),
    "of x + 0": lambda x, i: (x + 0.0).at[i].set(7.0),
    "of x * 1": lambda x, i: (x * 1.0).at[i].set(7.0),
    "of jitted identity": lambda x, i: irax.jit(lambda y: y)(x).at[i].set(7.0),
    "sort": lambda x, i: jnp.sort(x, axis=1),
    "sorted reshape": lambda x, i: jnp.sort(x.reshape(12)),
    "result is read": lambda x, i: x.at[i].set(7.0) - x,
    "read only by sum": lambda x, i: jnp.sum(x.at[i].set(7.0)),
    "gradient": lambda x, i: irax.grad(lambda y: jnp.sum(y.at[i].set(7.0) ** 2))(x),
    "mapped": lambda x, i: irax.vmap(lambda row: row.at[i].set(7.0))(x),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("return_argument", [False, True])
def test_arguments_keep_their_elements(return_argument):
    rng = np.random.default_rng(0)
    originals = {name: rng.normal(size=(3, 4)).astype("float32") for name in UPDATES}
    arguments = {name: jnp.asarray(x) for name, x in originals.items()}
    index = jnp.asarray(1)

    @irax.jit
    def program(xs, i):
        results = {name: update(xs[name], i) for name, update in UPDATES.items()}
        return (results, xs) if return_argument else results

    results = program(arguments, index)
    if return_argument:
        results, returned = results
        for name, x in returned.items():
            np.testing.assert_array_equal(x, originals[name], err_msg=name)
    for name, x in arguments.items():
        np.testing.assert_array_equal(x, originals[name], err_msg=name)
    for name, update in UPDATES.items():
        expected = update(jnp.asarray(originals[name]), jnp.asarray(1))
        np.testing.assert_allclose(results[name], expected, rtol=1e-5, err_msg=name)


def test_results_are_not_shared_with_later_calls():
    step = irax.jit(lambda x: x.at[0].add(1.0))
    first = step(jnp.zeros(4))
    kept = np.array(first)
    second = step(first)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(second, [2.0, 0.0, 0.0, 0.0])


def test_memory_of_numpy_arrays_is_not_shared():
    x = np.zeros(100_000, np.float32)
    array = jnp.asarray(x)
    program = irax.jit(lambda a: (a, a.at[0].set(1.0)))
    same, changed = program(array)
    x[:] = 5
    np.testing.assert_array_equal(array, np.zeros(100_000))
    np.testing.assert_array_equal(same, np.zeros(100_000))
    assert float(changed[0]) == 1.0
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(same)[0] = 1
