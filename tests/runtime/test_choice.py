"""The choice of a driver by the times of calls."""

from __future__ import annotations

from collections import Counter

import numpy as np

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.targets import compile
from irax_runtime.choice import FEW, TRIAL, Choice
from irax_runtime.iree.cpu import cpu


def calls(choice: Choice, number: int, **seconds: float) -> Counter[str]:
    """Return the number of calls by each driver, when calls take these times."""
    chosen: Counter[str] = Counter()
    for _ in range(number):
        driver = choice.next()
        chosen[driver] += 1
        choice.tell(driver, seconds[driver])
    return chosen


def test_the_faster_driver_runs_nearly_all_calls() -> None:
    assert calls(Choice("task", "sync"), 1000, task=1.0, sync=2.0)["sync"] < 40
    assert calls(Choice("task", "sync"), 1000, task=2.0, sync=1.0)["task"] < 40


def test_the_choice_follows_a_load_that_comes_and_goes() -> None:
    choice = Choice("task", "sync")
    calls(choice, 200, task=1.0, sync=2.0)
    assert choice.usual == "task"
    assert calls(choice, 200, task=30.0, sync=3.0)["task"] < 50
    assert choice.usual == "sync"
    assert calls(choice, 2000, task=1.0, sync=2.0)["task"] > 1000
    assert choice.usual == "task"


def test_each_of_three_drivers_has_its_trials() -> None:
    choice = Choice("fixed", "sync", "task")
    calls(choice, 300, fixed=2.0, sync=3.0, task=1.0)
    assert choice.usual == "task"
    calls(choice, 300, fixed=2.0, sync=3.0, task=9.0)
    assert choice.usual == "fixed"
    assert calls(choice, 1000, fixed=2.0, sync=3.0, task=9.0)["fixed"] > 900


def test_a_single_long_call_changes_nothing() -> None:
    choice = Choice("task", "sync")
    calls(choice, FEW, task=1.0, sync=2.0)
    choice.tell("task", 1000.0)
    assert choice.usual == "task"


def test_the_first_call_of_each_driver_does_not_count() -> None:
    choice = Choice("task", "sync")
    for first in ("task", "sync"):
        choice.tell(first, 1000.0)
        calls(choice, TRIAL - 1, task=1.0, sync=2.0)
    assert choice.usual == "task"
    assert choice.next() == "task"


SUM = """
func.func @main(%x: tensor<4000x1000xf32>) -> tensor<4000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
     : (tensor<4000x1000xf32>, tensor<f32>) -> tensor<4000xf32>
  return %0 : tensor<4000xf32>
}
"""


def test_both_drivers_give_a_program_the_same_results() -> None:
    lowered = lower(mlir.parse_module(SUM), "main", "iree-cpu")
    executable = cpu().load(compile(lowered, "iree-cpu"))
    x = cpu().put(np.random.default_rng(0).normal(size=(4000, 1000)).astype("f"))
    results = [executable([x])[0].numpy() for _ in range(10)]
    assert all(len(contexts) == 1 for contexts in executable._contexts.values())
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
