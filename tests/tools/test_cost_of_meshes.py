"""irax cost --mesh --link: what a step takes on many devices."""

from __future__ import annotations

import pytest

from irax_compiler.ops.collective import (
    AllGather,
    AllReduce,
    AllToAll,
    AxisIndex,
    Permute,
    Pvary,
    ReduceScatter,
)
from irax_tools import sources
from irax_tools.cost.mesh import Exchange, Link, Rates, Step, lines, step_of
from irax_tools.sources import load

PROGRAM = """
import irax
import irax.numpy as jnp
from irax.sharding import PartitionSpec as P

def loss(params, x):
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.sum(x**2)

def step(params, x):
    x = irax.lax.with_sharding_constraint(x, P("data"))
    grads = irax.grad(loss)(params, x)
    return [irax.lax.with_sharding_constraint(w - 0.1 * g, P()) for w, g in zip(params, grads)]

def stacked(w, x):
    x = irax.lax.with_sharding_constraint(x, P(None, "model"))
    x, _ = irax.lax.scan(lambda x, w: (irax.lax.with_sharding_constraint(x @ w, P()), None), x, w)
    return x
"""
ETHERNET = Link.parse("1Gbit/s,0.5ms")
STEP = ("--args", "[f32[64,64], f32[64,64]], f32[32,64]", "--link", "1Gbit/s,0.5ms")


@pytest.fixture
def abstract(monkeypatch):
    """Traces for meshes of more devices than this process has."""
    monkeypatch.setattr(sources, "choose_cpu_devices", lambda count: None)


@pytest.fixture
def program(folder):
    (folder / "step.py").write_text(PROGRAM)
    return "step.py"


@pytest.mark.parametrize(
    "op, sent",
    [
        (AllReduce("i", 4, "add"), 150),
        (AllReduce("i", 4, "add", ((0, 1), (2, 3))), 100),
        (AllGather("i", 4, 0), 300),
        (ReduceScatter("i", 4, 0), 75),
        (AllToAll("i", 4, 0, 0), 75),
        (Permute("i", 4, (3, 0, 1, 2)), 100),
        (Permute("i", 4, (0, 1, -1, -1)), 0),
        (AxisIndex("i", 4), 0),
        (Pvary("i", 4), 0),
    ],
)
def test_bytes_that_collectives_send(op, sent):
    """Each lane has 100 bytes: of a sum it gets three parts of 25, and sends its own to three."""
    assert op.sent(100) == sent


def test_gradients_are_sent_once(abstract, program, monkeypatch, folder):
    monkeypatch.chdir(folder)
    mesh = {"data": 8}
    loaded = load(f"{program}:step", STEP[1], None, mesh)
    found = step_of(loaded, mesh, Rates.parse("100Gflop/s,10GB/s"))
    (exchange,) = found.exchanges
    size = 2 * 64 * 64 * 4
    assert (exchange.name, exchange.width, exchange.runs) == ("all_reduce", 8, 1)
    assert exchange.sent == 2 * 7 / 8 * size
    assert exchange.seconds(ETHERNET) == pytest.approx(exchange.sent / 125e6 + 2 * 0.5e-3)
    products = 5 * 2 * 4 * 64 * 64  # two forward, two for parameters, one for the first layer
    assert found.computation > products / 100e9
    assert found.computation > 4 * size / 10e9


def test_collectives_in_loops_count_each_step(abstract, program, monkeypatch, folder):
    monkeypatch.chdir(folder)
    mesh = {"model": 4}
    loaded = load(f"{program}:stacked", "f32[6,64,64], f32[8,64]", None, mesh)
    found = step_of(loaded, mesh, Rates.parse("1Tflop/s,100GB/s"))
    assert found.exchanges
    assert {exchange.width for exchange in found.exchanges} == {4}
    total = sum(exchange.sent * exchange.runs for exchange in found.exchanges)
    least = 8 * 64 * 4 * 3 / 4  # what a device has not of one row of activations
    assert total >= least


def test_the_longer_part_is_the_bound():
    exchange = Exchange("all_gather", 125e6, 1, 2, 4, [])
    slow = list(lines(Step("f", {"a": 2, "b": 2}, [exchange], 1.0, None), ETHERNET))
    assert slow[0] == (
        "@f on each of 4 devices (a=2,b=2): 1.00 s of computation (measured here), and 2.00 s to "
        "send 250M bytes"
    )
    assert slow[1] == (
        "a call takes 3.00 s, bound by its links; at least 2.00 s if it computes while it sends"
    )
    assert slow[-1].split() == ["2.00", "s", "250M", "2", "4", "all_gather"]
    alone = list(lines(Step("f", {"a": 2}, [], 1.0, Rates(1e12, 1e11)), ETHERNET))
    assert len(alone) == 2
    assert "bound by computation; at least 1.00 s" in alone[1]


def test_the_command_measures_here_or_takes_rates(irax, program):
    done = irax("cost", "step.py:step", *STEP, "--mesh", "data=4")
    assert done.returncode == 0, done.stderr
    assert "of computation (measured here), and 1.39 ms to send 49.2k bytes" in done.stdout
    assert "all_reduce (step.py:" in done.stdout
    many = "[f32[64,64], f32[64,64]], f32[4096,64]"
    rates = ("--mesh", "data=1024", "--rates", "1Tflop/s,1TB/s")
    done = irax("cost", "step.py:step", "--args", many, "--link", "25GB/s,5us", *rates)
    assert done.stdout.startswith("@step on each of 1024 devices (data=1024): "), done.stderr


@pytest.mark.parametrize(
    "options, words",
    [
        (["--mesh", "data=4"], "--mesh and --link go together"),
        (["--link", "1GB/s,5us"], "--mesh and --link go together"),
        (["--rates", "1Tflop/s,1TB/s"], "--rates goes with them"),
        (["--mesh", "data=4", "--link", "fast"], "a rate and a latency such as 25GB/s,5us"),
        (["--mesh", "data=4", "--link", "0GB/s,5us"], "such as 25GB/s,5us"),
        (["--mesh", "data=4", "--link", "1GB/s,5us", "--rates", "9T"], "such as 989Tflop/s,3.35TB"),
        (["--mesh", "data=4", "--link", "1GB/s,5us", "--anew"], "--anew goes without --mesh"),
    ],
)
def test_wrong_options_are_named(irax, program, options, words):
    done = irax("cost", "step.py:step", *STEP[:2], *options)
    assert done.returncode == 2
    assert words in done.stderr
