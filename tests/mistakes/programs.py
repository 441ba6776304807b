"""Fifty programs that are wrong, as people write them: each with what its message has to say.

`jax`, `jnp`, `lax` and `np` are there. The words are looked for in what irax says.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """A wrong program."""

    title: str
    code: str
    words: tuple[str, ...]
    """The words that a message has to have: the argument, the numbers, the cure."""


MISTAKES = [
    Mistake(
        "a branch on an argument",
        "jax.jit(lambda x, n: x if n > 2 else -x)(1.0, 3)",
        ("lambda: n", "where", "static_argn"),
    ),
    Mistake(
        "a while loop on an argument",
        "def f(x):\n    while x < 10:\n        x = x * 2\n    return x\njax.jit(f)(1.0)",
        ("while x < 10", "f: x", "lax.cond"),
    ),
    Mistake("and of arrays", "jax.jit(lambda a, b: (a > 0) and (b > 0))(1, 2)", ("lambda: a",)),
    Mistake(
        "an assertion", "def f(x):\n    assert x > 0\n    return x\njax.jit(f)(1.0)", ("f: x",)
    ),
    Mistake("range of an argument", "jax.jit(lambda n: [0 for _ in range(n)])(3)", ("static",)),
    Mistake("int of an argument", "jax.jit(lambda n: jnp.ones(3) * int(n))(3)", ("static",)),
    Mistake(
        "a shape from an argument", "jax.jit(lambda n: jnp.zeros(n))(3)", ("'shape'", "static")
    ),
    Mistake("float of a sum", "jax.jit(lambda x: float(x.sum()))(jnp.ones(3))", ("lambda: x",)),
    Mistake("item of an array", "jax.jit(lambda x: x.sum().item())(jnp.ones(3))", ("lambda: x",)),
    Mistake("NumPy's function", "jax.jit(lambda x: np.sin(x))(1.0)", ("numpy", "lambda: x")),
    Mistake("a mask as an index", "jax.jit(lambda x: x[x > 0])(jnp.ones(3))", ("where",)),
    Mistake(
        "nonzero without a size", "jax.jit(lambda x: jnp.nonzero(x)[0])(jnp.ones(3))", ("size",)
    ),
    Mistake(
        "unique without a size",
        "jax.jit(lambda x: jnp.unique(x))(jnp.ones(3))",
        ("size", "lambda: x"),
    ),
    Mistake("an array that is assigned to", "x = jnp.zeros(3)\nx[0] = 1.0", ("x.at[0].set(1.0)",)),
    Mistake("an array that is added to", "x = jnp.zeros(3)\nx[1] += 2", (".at[1].add(2)",)),
    Mistake(
        "a leaked array",
        "kept = []\ndef f(x):\n    kept.append(x)\n    return x\njax.jit(f)(1.0)\nkept[0] + 1",
        ("leaked", "Return it"),
    ),
    Mistake("shapes that do not fit", "jnp.ones((2, 3)) + jnp.ones((2, 4))", ("(2, 3)", "(2, 4)")),
    Mistake(
        "a product that does not fit", "jnp.ones((2, 3)) @ jnp.ones((2, 4))", ("3", "2", "last")
    ),
    Mistake(
        "a product in vmap", "jax.vmap(jnp.dot)(jnp.ones((8, 3)), jnp.ones((8, 4)))", ("lane", "8")
    ),
    Mistake("arrays without a list", "jnp.concatenate(jnp.ones(2), jnp.ones(2))", ("one list",)),
    Mistake(
        "a scalar in concatenate",
        "jnp.concatenate([jnp.ones(2), 1.0])",
        ("array 1", "()", "x[None]"),
    ),
    Mistake("stack of two shapes", "jnp.stack([jnp.ones(2), jnp.ones(3)])", ("(2,)", "(3,)")),
    Mistake("a reshape of another size", "jnp.arange(6).reshape(4, 2)", ("6", "(4, 2)")),
    Mistake("an axis that is not there", "jnp.sum(jnp.ones((2, 3)), axis=2)", ("axis", "2")),
    Mistake("axes given as numbers", "jnp.transpose(jnp.ones((2, 3)), (0, 2))", ("2",)),
    Mistake("a float as an index", "jnp.arange(3)[1.0]", ("ints", "float")),
    Mistake("a list as an index", "jnp.arange(6)[[0, 2]]", ("array",)),
    Mistake("too many indices", "jnp.ones(3)[0, 1]", ("indices", "1")),
    Mistake(
        "einsum with a wrong size",
        "jnp.einsum('ij,jk', jnp.ones((2, 3)), jnp.ones((4, 5)))",
        ("3", "4"),
    ),
    Mistake("the gradient of an integer", "jax.grad(lambda x: x * x)(3)", ("integers", "float")),
    Mistake(
        "the gradient of an array", "jax.grad(lambda x: x * x)(jnp.ones(2))", ("scalar", "jacrev")
    ),
    Mistake(
        "a gradient with an extra result",
        "jax.grad(lambda x: (x * x, x))(1.0)",
        ("scalar", "has_aux"),
    ),
    Mistake(
        "argnums beyond the arguments", "jax.grad(lambda x: x, argnums=1)(1.0)", ("argnums", "1")
    ),
    Mistake(
        "a keyword that is differentiated", "jax.grad(lambda x: x)(x=1.0)", ("argnums", "position")
    ),
    Mistake(
        "a cotangent of another structure",
        "jax.vjp(lambda x: (x, x), 1.0)[1](1.0)",
        ("tuple of 2",),
    ),
    Mistake("a tangent of another dtype", "jax.jvp(jnp.sin, (1.0,), (1,))", ("float32", "int32")),
    Mistake(
        "reverse mode of a while loop",
        "jax.grad(lambda x: lax.while_loop(lambda c: c < 9, lambda c: c * 2, x))(1.0)",
        ("max_steps",),
    ),
    Mistake(
        "a loop that changes a shape",
        "lax.fori_loop(0, 3, lambda i, x: jnp.append(x, 1.0), jnp.zeros(1))",
        ("init_val", "float32[1]", "float32[2]"),
    ),
    Mistake(
        "a loop that changes a dtype",
        "lax.fori_loop(0, 3, lambda i, n: n * 0.5, jnp.int32(1))",
        ("int32", "float32", "astype"),
    ),
    Mistake(
        "a scan that returns no pair", "lax.scan(lambda c, x: c + x, 0.0, jnp.ones(3))", ("pair",)
    ),
    Mistake(
        "branches with two structures",
        "lax.cond(True, lambda x: (x, x), lambda x: {'a': x}, 1.0)",
        ("tuple of 2", "dict with keys 'a'"),
    ),
    Mistake(
        "vmap of two sizes", "jax.vmap(jnp.add)(jnp.ones(3), jnp.ones(4))", ("3 for x1", "4 for x2")
    ),
    Mistake("vmap of a scalar", "jax.vmap(jnp.sin)(1.0)", ("axis", "in_axes")),
    Mistake(
        "in_axes that do not fit",
        "jax.vmap(jnp.add, in_axes=(0,))(jnp.ones(3), jnp.ones(3))",
        ("1", "2"),
    ),
    Mistake(
        "trees of two structures", "jax.tree.map(jnp.add, {'a': 1, 'b': 2}, {'a': 1})", ("'b'",)
    ),
    Mistake(
        "a static array",
        "jax.jit(lambda x: x, static_argnums=0)(jnp.ones(2))",
        ("hashable", "tuple"),
    ),
    Mistake(
        "a string as an argument",
        "jax.jit(lambda x, mode: x)(1.0, 'fast')",
        ("mode", "static_argn"),
    ),
    Mistake("an argument that is None", "jnp.sin(None)", ("None",)),
    Mistake("a key that is a number", "jax.random.normal(0, (3,))", ("key",)),
    Mistake("a shape that is no tuple", "jax.random.normal(jax.random.key(0), 3.0)", ("shape",)),
    Mistake("an unknown name", "jnp.matmull(jnp.ones(2), jnp.ones(2))", ("matmul",)),
]
