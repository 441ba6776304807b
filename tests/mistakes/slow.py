"""Writes docs/reports/slow-programs.md, what irax's tools say of thirty slow programs:

python -m tests.mistakes.slow
"""

from __future__ import annotations

import linecache
import logging
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import irax
import irax.numpy as jnp
from irax import lax
from irax_tools import checking, sources
from irax_tools.cost import peaks, table
from irax_tools.cost.measure import measure

PAGE = Path(__file__).parents[2] / "docs" / "reports" / "slow-programs.md"

CALLED = {
    "A new shape at each call": """
f = jax.jit(lambda x: x * 2)
for n in range(1, 7):
    f(jnp.ones(n))
""",
    "A static number that varies": """
f = jax.jit(lambda x, rate: x * rate, static_argnums=1)
for n in range(6):
    f(jnp.ones(3), 0.1 * n)
""",
    "A lambda as a static argument": """
f = jax.jit(lambda g, x: g(x), static_argnums=0)
for _ in range(6):
    f(lambda x: x + 1, jnp.ones(3))
""",
    "Python's numbers and arrays in turns": """
f = jax.jit(lambda x: x + 1)
for x in (1, 1.0, jnp.float32(1), jnp.ones(1), True):
    f(x)
""",
    "A dict that grows": """
f = jax.jit(lambda params: sum(params.values()))
params = {}
for n in range(6):
    params[f"w{n}"] = jnp.ones(2)
    f(params)
""",
    "jit in a loop": """
for _ in range(33):
    f = jax.jit(lambda x: x + 1)
    f(jnp.ones(2))
""",
    "A loop of Python's over steps": """
@jax.jit
def f(x):
    for _ in range(60):
        x = jnp.sin(x) + x.mean()
    return x

f(jnp.ones(8))
""",
    "A loop of Python's over elements": """
@jax.jit
def f(x):
    total = 0.0
    for n in range(40):
        total += x[n] ** 2
    return total

f(jnp.ones(40))
""",
    "A loop of Python's over layers": """
@jax.jit
def f(ws, x):
    for w in ws:
        x = jnp.tanh(x @ w)
    return x

f([jnp.ones((8, 8))] * 24, jnp.ones(8))
""",
    "A loop of Python's over rows": """
@jax.jit
def f(x):
    return jnp.stack([jnp.sin(x[n]).sum() for n in range(60)])

f(jnp.ones((60, 8)))
""",
    "A function jitted by each object": """
class Model:
    def __init__(self):
        self.step = jax.jit(lambda x: x * 2)

for _ in range(6):
    f = Model().step
    f(jnp.ones(3))
""",
    "A batch that ends with a rest": """
f = jax.jit(lambda x: x.sum())
data = jnp.ones(103)
for n in range(0, 103, 20):
    f(data[n : n + 20])
""",
    "An option that changes": """
f = jax.jit(lambda x: x @ x)
for precision in ("default", "high", "highest"):
    with jax.default_matmul_precision(precision):
        f(jnp.ones((4, 4)))
""",
}
"""Programs whose time goes to tracing and compiling."""

COMPUTED = {
    "A product of three matrices from the left": ("return (x @ x) @ x[0]", "f32[600,600]"),
    "An inverse for one system": ("return jnp.linalg.inv(x) @ x[0]", "f32[400,400]"),
    "A determinant by eigenvalues": (
        "return jnp.prod(jnp.linalg.eigvalsh(x + x.T))",
        "f32[200,200]",
    ),
    "A singular value decomposition for a rank": (
        "return jnp.linalg.matrix_rank(x)",
        "f32[200,200]",
    ),
    "A table of all differences": (
        "return jnp.sum((x[:, None] - x[None]) ** 2, axis=-1)",
        "f32[500,64]",
    ),
    "A sort for the largest": ("return jnp.sort(x, axis=1)[:, -1]", "f32[1000,1000]"),
    "A loop that updates one element": (
        "return lax.fori_loop(0, 5000, lambda i, y: y.at[i].set(y[i - 1] * 0.5 + 1), x)",
        "f32[5000]",
    ),
    "A scan of a small step": (
        "return lax.scan(lambda c, r: (jnp.tanh(c @ x) + r, None), x[0], x)[0]",
        "f32[300,300]",
    ),
    "A power that is no integer": ("return jnp.sum(x**3.1)", "f32[1000000]"),
    "A product with one-hot rows": (
        "return irax.nn.one_hot(jnp.arange(64), 20000) @ x",
        "f32[20000,16]",
    ),
    "A product of low rank that is made whole": (
        "return x @ (x[:, :8] @ x[:8])",
        "f32[512,512]",
    ),
    "A sort for the ten largest": ("return jnp.sort(x)[-10:]", "f32[100000]"),
    "A cumulative sum by a triangular matrix": (
        "return jnp.tril(jnp.ones((2000, 2000))) @ x",
        "f32[2000]",
    ),
    "A Hessian for its diagonal": (
        "return jnp.diag(irax.hessian(lambda x: jnp.sum(jnp.sin(x) * x))(x))",
        "f32[300]",
    ),
    "An inverse in each lane": (
        "return irax.vmap(lambda b: jnp.linalg.inv(x) @ b)(x)",
        "f32[64,64]",
    ),
    "A function of the host in a loop": (
        "return lax.fori_loop(0, 200, lambda i, y: irax.pure_callback(abs, y, y), x)",
        "f32[3]",
    ),
    "A histogram by comparison": (
        "return jnp.sum(x[:, None] == jnp.arange(256.0), axis=0)",
        "f32[20000]",
    ),
}
"""Functions whose time goes to computing: their body, and the type of x."""


_HEAD = """# Slow programs

Thirty programs that are slower than they need be, and what irax's tools say of them. `python -m
tests.mistakes.slow` writes this page; times are of the machine that wrote it. [Read a performance
problem](../how-to/performance.md) says how to go on.
"""


def of_calls(code: str) -> Iterator[str]:
    """Yield what warnings and `irax.explain` say of a program's function f."""
    file = "program.py"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    names: dict[str, Any] = {"jax": irax, "jnp": jnp, "lax": lax}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(code, file, "exec"), names)
    for warning in caught:
        yield f"warning: {warning.message}"
    explanation = irax.explain(names["f"])
    yield str(explanation).partition("\n")[0]
    yield from explanation.repeated
    if explanation[-1].why != "it is traced for the first time":
        yield f"the last time: {explanation[-1].why}"


def of_dispatches(body: str, types: str) -> Iterator[str]:
    """Yield the first lines of `irax cost` of a function."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        head = "import irax\nimport irax.numpy as jnp\nfrom irax import lax\n\n\ndef f(x):\n    "
        path.write_text(f"{head}{body}\n", "utf-8")
        source = sources.load(f"{path}:f", types)
        measured = measure(source, checking.trial_of(source, 0).inputs)
    lines = list(table.lines(measured, peaks.of_machine(measured.driver)))
    start, end = lines.index("") + 1, len(lines) - len(measured.detours)
    yield from (*lines[1 : start - 1], *lines[start:end][:3], *lines[end:])


def written() -> str:
    """Return the page."""
    parts = [_HEAD]
    parts.append("## Traced and compiled too often\n\nBy warnings and `irax.explain(f)`.\n")
    for title, code in CALLED.items():
        parts.append(_section(title, code.strip(), of_calls(code.strip())))
    parts.append("## Computed in a slow way\n\nBy `irax cost program.py:f`.\n")
    for title, (body, types) in COMPUTED.items():
        code = f"def f(x):  # {types}\n    {body}"
        parts.append(_section(title, code, of_dispatches(body, types)))
    return "\n".join(parts)


def _section(title: str, code: str, said: Iterator[str]) -> str:
    text = "\n".join(re.sub(r"\S*/(?=program\.py)", "", line).rstrip() for line in said)
    return f"### {title}\n\n```py\n{code}\n```\n\n```\n{text}\n```\n"


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    PAGE.write_text(written(), "utf-8")
