"""irax cost: what dispatches do, what they should take, and what they take."""

from __future__ import annotations

import xml.dom.minidom
from dataclasses import replace

import numpy as np
import pytest

from irax_compiler import api, mlir
from irax_compiler.cost import Cost
from irax_compiler.iree.dispatches import dispatched
from irax_compiler.locations import Frame
from irax_tools import checking, sources
from irax_tools.cost import measure, peaks, plot, table
from irax_tools.cost.origins import Origins
from irax_tools.sources import Source

COPYING = [(1e4, 1e11), (1e6, 1e11), (1e8, 1e10)]
MACHINE = peaks.Peaks(1e-6, 1e11, 1e9, COPYING, COPYING)
RUN = measure.Run(
    "product",
    ["dot_general", "add", "tanh", "multiply", "exponential", "sine"],
    Cost(2e9, 0, 1e6),
    1,
    0.03,
    [Frame("/a/model.py", 2)],
    [Frame("/a/model.py", 4), Frame("/a/model.py", 5), Frame("/a/layers.py", 1)],
    4,
    5e5,
)
MEASURED = measure.Measured(
    "f<main>",
    "task",
    0.05,
    [
        RUN,
        replace(RUN, name="copy", operations=["transpose"], cost=Cost(0, 0, 4e6), seconds=2e-4),
        replace(RUN, name="small", cost=Cost(10, 0, 80), runs=100, seconds=1e-4, lines=[]),
        replace(RUN, name="lost", seconds=None),
    ],
)


def test_lines_that_compute_more_than_they_need_are_last():
    measured = replace(MEASURED, detours={Frame("/a/model.py", 4): "(a @ b) @ c takes 9"})
    assert list(table.lines(measured, MACHINE))[-1] == "model.py:4: (a @ b) @ c takes 9"


def test_a_busy_machine_is_told_of():
    asleep = replace(MEASURED, runs=[replace(run, awake=0.25) for run in MEASURED.runs])
    said = "this machine was busy: other programs had 75% of the time"
    assert any(line.startswith(said) for line in table.lines(asleep, MACHINE))
    assert not any("busy" in line for line in table.lines(MEASURED, MACHINE))


def test_dispatches_that_are_alike_are_one_line():
    """An unrolled loop has as many dispatches as steps."""
    steps = [replace(RUN, name=f"step_{i}", seconds=1e-3) for i in range(199)]
    others = [replace(RUN, name=f"layer_{i}", operations=["add"], seconds=2e-3) for i in range(3)]
    often = {Frame("/a/model.py", 4): 199, Frame("/a/layers.py", 1): 199}
    others = [replace(run, lines=[Frame("/a/model.py", 9)]) for run in others]
    measured = replace(MEASURED, runs=[*steps, *others], traced=often)
    found = list(table.lines(measured, MACHINE))[4:]
    assert len(found) == 4
    unrolled, *layers = found
    assert "  199 dispatches: dot_general, add, tanh, multiply" in unrolled
    assert unrolled.endswith(
        "(model.py:4,5 layers.py:1); traced 199 times: lax.fori_loop and lax.scan trace a step once"
    )
    assert unrolled.split()[:2] == ["199", "ms"]
    assert unrolled.split()[5:7] == ["199M", "199"]
    assert [line.partition(": ")[0].split()[-1] for line in layers] == [
        "layer_0",
        "layer_1",
        "layer_2",
    ]


@pytest.mark.parametrize(
    ("cost", "runs", "width", "seconds", "bound"),
    [
        (Cost(1e9, 0, 1e3), 1, 4, 1e-2 + 1e-6, "compute"),
        (Cost(1e9, 0, 1e3), 1, 8, 2e-2 + 1e-6, "compute"),
        (Cost(0, 1e7, 1e3), 1, 4, 1e-2 + 1e-6, "compute"),
        (Cost(1e6, 0, 1e8), 1, 4, 1e-2 + 1e-6, "memory"),
        (Cost(1e6, 0, 1e8), 100, 4, 1e-3 + 1e-4, "memory"),  # a megabyte each time, in the cache
        (Cost(10, 0, 80), 50, 4, 50e-6 + 8e-10, "launch"),
    ],
)
def test_what_a_dispatch_should_take(cost, runs, width, seconds, bound):
    parts = MACHINE.parts(cost, runs, width)
    assert MACHINE.expected(cost, runs, width) == pytest.approx(seconds, rel=1e-3)
    assert max(parts, key=lambda part: parts[part]) == bound


def test_what_is_outside_of_dispatches_is_told_of():
    told = "the rest is outside of these: functions that the host runs, such as sorts"
    assert not any(line.startswith(told) for line in table.lines(MEASURED, MACHINE))
    longer = replace(MEASURED, seconds=0.5)
    assert list(table.lines(longer, MACHINE))[2].startswith(told)


@pytest.mark.parametrize(
    ("written", "seconds"), [(None, 1e-2), (5e7, 1e-2), (0.0, 2.5e-3), (1e8, 1.75e-2)]
)
def test_reading_is_not_writing(written, seconds):
    """A copy of 1e8 bytes takes 10 ms, and to read as many 2.5: so to write them takes 17.5."""
    machine = replace(MACHINE, reading=[(1e4, 1e11), (1e8, 4e10)])
    assert machine.parts(Cost(0, 0, 1e8), 1, 4, written)["memory"] == pytest.approx(seconds)


def test_the_table():
    lines = list(table.lines(MEASURED, MACHINE))
    assert lines[0].startswith(
        "this machine, by all threads: 100G flops, 1.00G transcendental functions, 10.0G"
    )
    assert lines[1] == (
        "@f<main>: 50.0 ms a call; its dispatches take 30.3 ms, and should take 40.2 ms"
    )
    assert [line[:60].split() for line in lines[4:6]] == [
        ["30.0", "ms", "20.0", "ms", "2.00G", "1.00M", "1", "compute"],
        ["200", "us", "55.9", "us", "0", "4.00M", "1", "memory"],
    ]
    assert lines[4].endswith(
        "product: dot_general, add, tanh, multiply, 2 others (model.py:4,5 layers.py:1)"
    )
    assert lines[-1].split()[0] == "?"


def test_the_plot():
    text = plot.svg(MEASURED, MACHINE)
    picture = xml.dom.minidom.parseString(text)
    circles = picture.getElementsByTagName("circle")
    assert len(circles) == 2  # of those with arithmetic and a time
    large, small = (float(c.getAttribute("r")) for c in circles)
    assert large > small
    assert "f&lt;main&gt;: 50.0 ms a call" in text
    for circle in circles:
        assert 0 < float(circle.getAttribute("cx")) < 760
        assert 0 < float(circle.getAttribute("cy")) < 460


LOOP = """
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>)
    -> (tensor<64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %2:2 = stablehlo.while(%k = %i, %v = %1) : tensor<i32>, tensor<64x64xf32>
  cond {
    %q = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.add %k, %one : tensor<i32>
    %b = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0]
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    stablehlo.return %a, %b : tensor<i32>, tensor<64x64xf32>
  }
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2#1 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %3, %2#1 : tensor<64xf32>, tensor<64x64xf32>
}
"""


def test_where_the_work_of_dispatches_comes_from():
    """Each operation is in one dispatch, and the loop's runs are counted."""
    module = mlir.parse_module(LOOP)
    total = api.cost_of(module)
    origins = Origins(module, "main")
    found = dispatched(api.lower(module, "main"), "iree-cpu").dispatches
    own = origins.of(found)
    work = sum((o.cost for each in own for o in each), Cost())
    assert (work.flops, work.transcendentals) == (total.flops, total.transcendentals)
    runs = {
        name: origins.steps(dispatch)
        for dispatch, each in zip(found, own, strict=True)
        for name in (o.operation.name for o in each)
        if name in ("stablehlo.tanh", "stablehlo.reduce")
    }
    assert runs == {"stablehlo.tanh": 1, "stablehlo.reduce": 1}
    steps = [
        (origins.steps(dispatch), sum(o.cost.flops for o in each))
        for dispatch, each in zip(found, own, strict=True)
    ]
    one = 2 * 64**3 - 64**2
    assert any(count * one <= flops for count, flops in steps if count == 6) or any(
        flops >= 6 * one for _, flops in steps
    )


@pytest.mark.slow
def test_measured():
    """Times are positive, and of the right size: a product takes longer than an addition."""
    source = Source(mlir.parse_module(LOOP), "main")
    measured = measure.measure(source, checking.trial_of(source, 0).inputs)
    assert all(run.seconds is not None and 1e-8 < run.seconds < 0.1 for run in measured.runs)
    assert 0 < measured.seconds < 0.1
    assert measured.in_dispatches < 20 * measured.seconds


@pytest.mark.slow
def test_the_command(folder, irax, tmp_path):
    (folder / "model.py").write_text(
        "import irax.numpy as jnp\n\ndef f(x):\n    return jnp.sin(x @ x) + 1\n"
    )
    command = ("cost", "model.py:f", "--args", "f32[256,256]", "--plot", "r.svg")
    done = irax(*command, "--anew")
    assert done.returncode == 0, done.stderr
    assert "measuring what this machine can do, once" in done.stderr
    assert "compute  product: dot_general, sine, add (model.py:4)" in done.stdout
    xml.dom.minidom.parse(str(folder / "r.svg"))
    again = irax(*command)
    assert again.returncode == 0, again.stderr
    was_busy = "it is busy with other programs" in done.stderr  # then nothing was kept
    assert was_busy or again.stderr == ""
    given = irax("cost", "in.mlir", "--input", "x.npy", "--input", "4xf32=1")
    assert given.returncode == 0, given.stderr


def test_a_function_of_examples_is_timed_on_them(folder):
    text = "import numpy as np\ndef f(x):\n    return x + 1\ndef a():\n    return (np.ones(3),)\n"
    (folder / "model.py").write_text(text)
    loaded = sources.load(f"{folder / 'model.py'}:f", "a()")
    assert loaded.examples is not None
    assert measure.call_time(loaded, [np.asarray(x) for x in loaded.examples]) > 0


@pytest.mark.slow
def test_functions_that_call_python(tmp_path):
    """The module outlives the trace, which alone kept the function."""
    program = """import irax
def f(x):
    return irax.pure_callback(abs, x, x) * 2
"""
    (tmp_path / "p.py").write_text(program)
    loaded = sources.load(f"{tmp_path / 'p.py'}:f", "f32[3]")
    found = measure.measure(loaded, [np.float32([1, -2, 3])])
    assert found.seconds > 0
