"""Functions whose stages the tests of `irax show` look at, in files of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from irax_tools import sources
from irax_tools.show.model import Page
from irax_tools.show.record import record
from irax_tools.show.way import Way
from irax_tools.sources import Source

MLP = '''"""Two dense layers: </script> & "quotes"."""

import irax.numpy as jnp


def dense(x, w, b):
    return jnp.tanh(x @ w + b)


def loss(params, x, y):
    (w1, b1), (w2, b2) = params
    out = dense(dense(x, w1, b1), w2, b2)
    return jnp.mean((out - y) ** 2)
'''
DENSE, MEAN = 7, 13  # the lines that operations are from
ARGUMENTS = "((f32[4,8], f32[8]), (f32[8,2], f32[2])), f32[16,4], f32[16,2]"

SCAN = """import irax
import irax.numpy as jnp


def step(carry, x):
    return jnp.sin(carry) * x, jnp.sum(carry)


def run(x, xs):
    carry, sums = irax.lax.scan(step, x, xs)
    return irax.lax.cond(jnp.sum(carry) > 0, jnp.cos, jnp.exp, carry), sums
"""

ROOTS = """import irax.numpy as jnp


def root(a, b, c):
    inner = jnp.sqrt(b * b - 4 * a * c)
    return (inner - b) / (2 * a)
"""
ROOTS_ARGUMENTS = [np.array(x, np.float32) for x in (1, 5000, 1)]

TWICE = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<4xf32>
  %1 = stablehlo.sine %0 : tensor<4xf32>
  %2 = stablehlo.multiply %x, %y : tensor<4xf32>
  %3 = stablehlo.cosine %2 : tensor<4xf32>
  %4 = stablehlo.add %1, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
"""


def mlp(folder: Path) -> Source:
    return traced(folder / "mlp.py", MLP, "loss", ARGUMENTS)


def scan(folder: Path) -> Source:
    return traced(folder / "scanned.py", SCAN, "run", "f32[3], f32[5,3]")


def roots(folder: Path) -> Source:
    return traced(folder / "roots.py", ROOTS, "root", "f32[], f32[], f32[]")


def twice(folder: Path) -> Source:
    path = folder / "twice.mlir"
    path.write_text(TWICE)
    return sources.load(str(path))


def page_of(source: Source, way: Way) -> Page:
    page, failure = record(source, way)
    if failure is not None:
        raise failure
    return page


def traced(path: Path, text: str, function: str, arguments: str) -> Source:
    path.write_text(text)
    return sources.load(f"{path}:{function}", arguments)
