"""Modules of JAX's experiments: LSTMs, compiled functions as bytes, rules for other compilers."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.experimental import compute_on, custom_partitioning, rnn, serialize_executable, topologies
from irax.experimental import random as irax_random

INPUT, HIDDEN, LAYERS, BATCH, TIME = 3, 4, 2, 2, 5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def reference(x, h_0, c_0, parts, lengths, directions):
    """An LSTM, a sequence and a step at a time, in float64."""
    w_ih, w_hh, b_ih, b_hh = ({k: np.asarray(v, float) for k, v in p.items()} for p in parts)
    h_0, c_0, values = (np.asarray(v, float) for v in (h_0, c_0, x))
    hidden, cells = h_0.copy(), c_0.copy()
    for layer in range(LAYERS):
        out = np.zeros((BATCH, TIME, directions * HIDDEN))
        for direction in range(directions):
            n = layer * directions + direction
            for b in range(BATCH):
                h, c = h_0[n, b], c_0[n, b]
                steps = range(lengths[b])
                for t in reversed(steps) if direction else steps:
                    gates = w_ih[n] @ values[b, t] + b_ih[n] + w_hh[n] @ h + b_hh[n]
                    i, f, g, o = np.split(gates, 4)
                    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                    h = sigmoid(o) * np.tanh(c)
                    out[b, t, direction * HIDDEN : (direction + 1) * HIDDEN] = h
                hidden[n, b], cells[n, b] = h, c
        values = out
    return values, hidden, cells


@pytest.mark.parametrize("bidirectional", [False, True])
def test_lstm(bidirectional):
    directions = 1 + bidirectional
    sizes = INPUT, HIDDEN, LAYERS, bidirectional
    weights = rnn.init_lstm_weight(irax.random.key(0), *sizes)
    assert weights.shape == (rnn.get_num_params_in_lstm(*sizes),)
    assert 0.4 < abs(weights).max() <= 0.5
    parts = rnn.unpack_lstm_weights(weights, *sizes)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(BATCH, TIME, INPUT)).astype("f4")
    h, c = rng.normal(size=(2, directions * LAYERS, BATCH, HIDDEN)).astype("f4")
    lengths = np.array([TIME, 3], np.int32)
    expected = reference(x, h, c, parts, lengths, directions)
    for found in (
        rnn.lstm(x, h, c, weights, lengths, *sizes[:3], 0.0, bidirectional),
        rnn.lstm_ref(x, h, c, *parts, lengths, *sizes[:3], 0.0, bidirectional),
    ):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    swapped = rnn.unpack_lstm_weights(rnn.swap_lstm_gates(weights, *sizes), *sizes)
    i, f, g, o = np.split(np.asarray(parts[0][1]), 4)
    np.testing.assert_array_equal(swapped[0][1], np.concatenate([i, f, o, g]))
    with pytest.raises(NotImplementedError, match="dropout must be 0"):
        rnn.lstm(x, h, c, weights, lengths, *sizes[:3], 0.5, bidirectional)


def test_gradients_of_lstm_leave_out_what_is_after_the_end():
    sizes = INPUT, HIDDEN, LAYERS, False
    weights = rnn.init_lstm_weight(irax.random.key(1), *sizes)
    h = jnp.zeros((LAYERS, BATCH, HIDDEN))
    loss = lambda x: rnn.lstm(x, h, h, weights, jnp.array([5, 3]), *sizes[:3], 0.0, False)[0].sum()
    found = irax.grad(loss)(jnp.ones((BATCH, TIME, INPUT)))
    assert (found[0] != 0).all()
    assert (found[1, :3] != 0).all()
    assert (found[1, 3:] == 0).all()


def test_compiled_functions_as_bytes():
    table = jnp.arange(400.0)

    def f(params, x):
        return {"y": params["w"] @ x + table.sum(), "n": x.astype(int), "weak": 2.0}

    params, x = {"w": jnp.ones((2, 3))}, jnp.arange(3.0)
    compiled = irax.jit(f).lower(params, x).compile()
    serialized, in_tree, out_tree = serialize_executable.serialize(compiled)
    assert isinstance(serialized, bytes)
    loaded = serialize_executable.deserialize_and_load(serialized, in_tree, out_tree, "cpu")
    found, expected = loaded(params, x), f(params, x)
    assert found["weak"].weak_type
    for ours, theirs in zip(*map(irax.tree.leaves, (found, expected)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(TypeError, match="was compiled for"):
        loaded(params)
    with pytest.raises(TypeError, match="expected float32"):
        loaded(params, jnp.arange(3))
    with pytest.raises(ValueError, match="expected float32"):
        loaded(params, jnp.arange(4.0))
    with pytest.raises(ValueError, match="one device"):
        serialize_executable.deserialize_and_load(serialized, in_tree, out_tree, None, ())


def test_compiled_functions_that_bytes_cannot_hold():
    with pytest.raises(TypeError, match="a compiled function"):
        serialize_executable.serialize(jnp.sin)
    of_keys = irax.jit(irax.random.key).lower(0).compile()
    with pytest.raises(ValueError, match="returns keys"):
        serialize_executable.serialize(of_keys)
    ref = irax.new_ref(1.0)
    of_refs = irax.jit(lambda: ref[...]).lower().compile()
    with pytest.raises(ValueError, match="touches Refs"):
        serialize_executable.serialize(of_refs)


def test_generators_with_a_state():
    rng = irax_random.stateful_rng(42)
    base = irax.random.key(42)
    keys = [irax.random.fold_in(base, i) for i in range(8)]
    assert rng.key() == keys[0]
    assert (rng.key((2, 1)) == irax.random.split(keys[1], (2, 1))).all()
    np.testing.assert_array_equal(rng.random(3), irax.random.uniform(keys[2], (3,)))
    low, high = jnp.array([0.0, 10]), jnp.array([1.0, 20])
    found = rng.uniform(low, high)
    np.testing.assert_array_equal(found, irax.random.uniform(keys[3], (2,), float, low, high))
    found = rng.normal(3.0, 2.0, size=2)
    np.testing.assert_allclose(found, 3 + 2 * irax.random.normal(keys[4], (2,)), rtol=1e-6)
    found = rng.integers(5, 9, size=(2, 2))
    np.testing.assert_array_equal(found, irax.random.randint(keys[5], (2, 2), 5, 9))
    own = [child.random() for child in rng.spawn(2)]
    children = [irax.random.fold_in(k, 0) for k in irax.random.split(keys[6])]
    assert own == [irax.random.uniform(k) for k in children]
    lanes = irax.vmap(lambda lane: lane.random(2))(rng.split(3))
    expected = [
        irax.random.uniform(irax.random.fold_in(k, 0), (2,)) for k in irax.random.split(keys[7], 3)
    ]
    np.testing.assert_array_equal(lanes, expected)
    first, second = irax.jit(lambda rng: (rng.random(), rng.random()))(rng)
    later = [irax.random.uniform(irax.random.fold_in(base, i)) for i in (8, 9, 10)]
    assert [first, second, rng.random()] == later
    assert irax_random.stateful_rng().integers(10, size=3).max() < 10


def test_places_to_compute_at():
    double = compute_on.compute_on(lambda x: 2 * x, compute_type="device_host")
    assert irax.jit(double)(3.0) == 6.0
    host = irax.memory.Space.Host
    there = compute_on.compute_on(compute_type="gpu_stream:1", out_memory_spaces=host)
    assert irax.typeof(there(lambda x: 2 * x)(jnp.ones(2))).memory_space is host
    with pytest.raises(ValueError, match="compute_type must be one of"):
        compute_on.compute_on(jnp.sin, compute_type="elsewhere")


def test_rules_for_other_compilers():
    f = custom_partitioning.custom_partitioning(lambda x, n=2: jnp.sin(x) * n)
    with pytest.raises(AttributeError, match="has no rule"):
        f(1.0)
    f.def_partition(partition=None, sharding_rule="i -> i")
    x = np.arange(3.0, dtype="f4")
    np.testing.assert_allclose(irax.jit(f)(x), 2 * np.sin(x), rtol=1e-6)
    np.testing.assert_allclose(irax.vmap(irax.grad(f))(x), 2 * np.cos(x), rtol=1e-6)
    rule = custom_partitioning.SdyShardingRule(
        (custom_partitioning.ArrayMapping(custom_partitioning.BATCHING, "i"),),
        (custom_partitioning.ArrayMapping(custom_partitioning.CompoundFactor("a", "b")),),
        permutation_factors=("i",),
        a=2,
    )
    told = "SdyShardingRule(((..., 'i'),), ((('a', 'b'),),), permutation_factors=('i',), a=2)"
    assert repr(rule) == told
    with pytest.raises(ValueError, match="two factors or more"):
        custom_partitioning.CompoundFactor("a")


def test_topologies_of_devices_that_are_here():
    here = topologies.get_attached_topology("cpu")
    assert here.devices == irax.devices("cpu")
    assert topologies.make_mesh(here, (len(here.devices),), ("x",)).devices.tolist() == here.devices
    with pytest.raises(NotImplementedError, match="topology not implemented for cpu"):
        topologies.get_topology_desc("x", "cpu")
    with pytest.raises(NotImplementedError, match="devices of this process have no topology"):
        here.serialize()
    with pytest.raises(ValueError, match="no topology that irax has serialized"):
        topologies.TopologyDescription.deserialize(b"x")
