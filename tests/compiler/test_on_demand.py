"""Passes that are imported where a module has something for them."""

import subprocess
import sys

import pytest

from irax_compiler import mlir
from irax_compiler.passes.core import PASSES, PassError
from irax_compiler.passes.on_demand import (
    MANY_OPERATIONS,
    OnDemand,
    has,
    has_many_arrays,
    has_operations,
)
from irax_compiler.passes.optimize.outline_sequences import OutlineSequences
from irax_compiler.passes.standard import standard_passes
from irax_compiler.pipeline import parse_pipeline, text_of
from irax_compiler.targets import find

LOOP = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %z = stablehlo.sine %y : tensor<4xf32>
      stablehlo.return %n, %z : tensor<i32>, tensor<4xf32>
    }
  return %r#1 : tensor<4xf32>
}
"""

FIRST_CALL = """
import sys
import irax
import irax.numpy as jnp
import numpy as np

x = np.ones(1 << 16, np.float32)
irax.jit({function})(x)
print(*(name for name in {names} if f"irax_compiler.passes.{{name}}" in sys.modules))
"""


def imported(function: str, names: list[str]) -> list[str]:
    """Return those modules of passes that the first call of a function has imported."""
    code = FIRST_CALL.format(function=function, names=names)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("function", "names"),
    [
        (
            "lambda x: irax.lax.fori_loop(0, 3, lambda i, y: jnp.sin(y), x)",
            ["optimize.hoist_row_products", "optimize.sink_outer_products"],
        ),
        (
            "lambda x: jnp.sin(jnp.concatenate([x, x]))",
            ["kernels.piecewise", "kernels.reverse_traversal"],
        ),
        ("lambda x: x @ jnp.sin(x) * jnp.cumsum(jnp.cumsum(x))", ["repairs.plan_buffers"]),
    ],
)
def test_a_first_call_imports_passes_that_have_something_to_do(function, names, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    assert imported("lambda x: x + 1", names) == []
    assert imported(function, names) == names


def test_a_pass_on_demand_does_what_the_pass_does():
    module, other = mlir.parse_module(LOOP), mlir.parse_module(LOOP)
    assert has("stablehlo.while")(module)
    assert not has("stablehlo.cosine")(module)
    OnDemand("strip-loops", has("stablehlo.cosine")).run(module)  # not looked for
    OnDemand("loop-invariant-code-motion", has("stablehlo.while")).run(module)
    PASSES["loop-invariant-code-motion"]().run(other)
    assert str(module) == str(other)


def test_a_pass_that_is_not_there_is_named():
    with pytest.raises(
        PassError, match=r"folding-nothing: no room .* has a file folding_nothing.py"
    ):
        OnDemand("folding-nothing", lambda module: True).made()


def test_operations_and_arrays_are_counted():
    module = mlir.parse_module(LOOP)
    count = str(module).count("stablehlo.") + 1 + 1  # the function, and its return
    assert has_operations(count)(module)
    assert not has_operations(count + 1)(module)
    assert not has_many_arrays(module)
    types = ", ".join(f"%x{n}: tensor<f32>" for n in range(256))
    many = f"func.func {{}} @main({types}) -> tensor<f32> {{{{ return %x0 : tensor<f32> }}}}"
    assert has_many_arrays(mlir.parse_module(many.format("")))
    assert not has_many_arrays(mlir.parse_module(many.format("private")))


def test_repetitions_find_nothing_in_fewer_operations():
    assert OutlineSequences.many * OutlineSequences.shortest == MANY_OPERATIONS


def test_a_pipeline_has_passes_on_demand_as_what_they_stand_for():
    for passes in (find("iree-cpu").passes, standard_passes("iree-cpu", calls_formulas=True)):
        found = [x for x in passes if isinstance(x, OnDemand)]
        assert found
        parsed = parse_pipeline(text_of(found))
        assert list(map(str, parsed)) == list(map(str, found))
        assert [type(x) for x in parsed] == [PASSES[x.wanted] for x in found]
