"""Wrong programs of one line: shapes, axes, dtypes, keys and trees."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

SMALL = [
    Mistake(
        "a sum over letters of two sizes",
        'jnp.einsum("ij,jk->ik", jnp.ones((3, 4)), jnp.ones((5, 2)))',
        (
            "'j'",
            "4 and 5",
        ),
    ),
    Mistake(
        "a letter of the result alone",
        'jnp.einsum("ij->ik", jnp.ones((3, 4)))',
        (
            "'k'",
            "among the operands",
        ),
    ),
    Mistake("two sizes of -1", "jnp.ones((3, 4)).reshape(-1, -1)", ("at most one may be -1",)),
    Mistake(
        "an axis too many",
        "jnp.take(jnp.ones((3, 4)), 0, axis=2)",
        (
            "axis 2",
            "-2 to 1",
        ),
    ),
    Mistake(
        "floats as indices",
        "jnp.ones(3)[jnp.array([0.0, 1.0])]",
        (
            "float32",
            "astype(int)",
        ),
    ),
    Mistake(
        "a mask of the other axis",
        "jnp.ones((3, 4))[jnp.ones(4, bool)]",
        (
            "(4,)",
            "(3,)",
        ),
    ),
    Mistake(
        "an update without its method",
        "jnp.ones(3).at[0] + 1",
        (
            ".at[i].add(v)",
            "changed copy",
        ),
    ),
    Mistake(
        "an update of another shape",
        "jnp.ones((3, 4)).at[0].set(jnp.ones(3))",
        (
            "set",
            "(3,)",
            "(4,)",
        ),
    ),
    Mistake("one of two choices", "jnp.where(jnp.ones(3) > 0, 1)", ("both x and y",)),
    Mistake("arrays that are no list", "jnp.vstack(jnp.ones(3), jnp.ones(3))", ("vstack([a, b])",)),
    Mistake("a product with a number", "jnp.matmul(jnp.ones((3, 4)), 2.0)", ("multiply",)),
    Mistake(
        "a row of a scan forgotten",
        "lax.scan(lambda c, y: c + y, 0.0, jnp.ones(3))",
        (
            "pair",
            "one array",
        ),
    ),
    Mistake(
        "one of two results forgotten",
        "lax.cond(True, lambda: (1.0, 2.0), lambda: 1.0)",
        (
            "tuple of 2",
            "one array",
        ),
    ),
    Mistake(
        "an aux that is not returned",
        "jax.grad(lambda x: x.sum(), has_aux=True)(jnp.ones(3))",
        (
            "pair (result, aux)",
            "one array",
        ),
    ),
    Mistake(
        "a gradient of a vector",
        "jax.grad(lambda x: x * 2)(jnp.ones(6))",
        (
            "(6,)",
            "sum",
            "jacrev",
        ),
    ),
    Mistake(
        "a gradient in an integer",
        "jax.grad(lambda n: n * 2.0)(3)",
        (
            "n has",
            "3.0",
        ),
    ),
    Mistake(
        "a cotangent of another size",
        "jax.vjp(jnp.sin, jnp.ones(6))[1](jnp.ones(5))",
        (
            "float32[5]",
            "float32[6]",
        ),
    ),
    Mistake(
        "a tangent of integers",
        "jax.jvp(jnp.sin, (jnp.ones(3),), (jnp.ones(3, int),))",
        (
            "tangents[0]",
            "float32[3]",
        ),
    ),
    Mistake(
        "lanes of two numbers",
        "jax.vmap(lambda a, b: a + b)(jnp.ones(6), jnp.ones(5))",
        (
            "for a of",
            "for b of",
        ),
    ),
    Mistake(
        "a lane's axis that is not there",
        "jax.vmap(lambda a: a, out_axes=2)(jnp.ones(3))",
        (
            "out_axes",
            "axis 2",
        ),
    ),
    Mistake(
        "a list as a static argument",
        "jax.jit(lambda x, n: x, static_argnums=1)(1.0, [1])",
        (
            "hashable",
            "tuple",
        ),
    ),
    Mistake(
        "a static name that is another's",
        'jax.jit(lambda x: x, static_argnames="m")(1.0)',
        (
            "'m'",
            "x",
        ),
    ),
    Mistake(
        "a size that is traced",
        "jax.jit(lambda x, n: jnp.zeros(n))(1.0, 3)",
        (
            "'shape'",
            "lambda: n",
            "static_argn",
        ),
    ),
    Mistake(
        "the uniques of a traced array",
        "jax.jit(lambda x: jnp.unique(x))(jnp.ones(3))",
        (
            "size=",
            "lambda: x",
        ),
    ),
    Mistake(
        "an array in the place of a key",
        "jax.random.normal(jnp.ones(6))",
        (
            "key",
            "float32[6]",
        ),
    ),
    Mistake(
        "keys fewer than none",
        "jax.random.split(jax.random.key(0), -1)",
        (
            "split: num",
            "(-1,)",
        ),
    ),
    Mistake(
        "chances of another number",
        "jax.random.choice(jax.random.key(0), 3, p=jnp.ones(4) / 4)",
        (
            "p must",
            "3",
            "(4,)",
        ),
    ),
    Mistake(
        "a dtype that is none",
        'jnp.zeros(3, dtype="float31")',
        (
            "'float31'",
            "'float32'",
        ),
    ),
    Mistake(
        "trees with other keys",
        'jax.tree.map(lambda a, b: a, {"a": 1}, {"b": 1})',
        (
            "'a'",
            "'b'",
        ),
    ),
    Mistake(
        "a kernel of other features",
        'lax.conv(jnp.ones((1, 3, 8, 8)), jnp.ones((4, 2, 3, 3)), (1, 1), "SAME")',
        (
            "has 3 features",
            "takes 2",
        ),
    ),
    Mistake(
        "a slice larger than the array",
        "lax.dynamic_slice(jnp.ones((3, 4)), (0, 0), (4, 4))",
        (
            "slice_sizes",
            "(3, 4)",
        ),
    ),
    Mistake(
        "a pair for each of too many axes",
        "jnp.pad(jnp.ones((3, 4)), ((1, 1), (1, 1), (1, 1)))",
        (
            "pad_width",
            "2 axes",
        ),
    ),
    Mistake(
        "a function without its rules", "jax.grad(jax.custom_vjp(lambda x: x))(1.0)", ("defvjp",)
    ),
    Mistake(
        "points fewer than values",
        "jnp.interp(1.0, jnp.ones(6), jnp.ones(5))",
        (
            "xp and fp",
            "(6,)",
            "(5,)",
        ),
    ),
    Mistake(
        "a side that is none",
        'jnp.searchsorted(jnp.ones(3), 1.0, side="mid")',
        (
            "'left'",
            "'mid'",
        ),
    ),
    Mistake(
        "an axis twice",
        "jnp.ones((3, 4)).sum((0, 0))",
        (
            "(0, 0)",
            "twice",
        ),
    ),
    Mistake(
        "an axis that is not one",
        "jnp.ones((3, 4)).squeeze(0)",
        (
            "dimension 0",
            "not 1",
        ),
    ),
    Mistake(
        "copies fewer than none",
        "jnp.tile(jnp.ones(3), -1)",
        (
            "tile: reps",
            "(-1,)",
        ),
    ),
    Mistake(
        "counts of other elements",
        "jnp.repeat(jnp.ones(6), jnp.array([1, 2]))",
        (
            "6",
            "(2,)",
        ),
    ),
    Mistake(
        "a negative power of integers",
        "jnp.arange(3) ** -1",
        (
            "-1",
            "float",
        ),
    ),
    Mistake(
        "a truth of many",
        "bool(jnp.ones(3) == 1)",
        (
            ".any()",
            ".all()",
        ),
    ),
    Mistake("a matrix of a negative size", "jnp.eye(-1)", ("eye", "N=-1")),
    Mistake(
        "a vector to minimize",
        'jax.scipy.optimize.minimize(lambda x: x**2, jnp.ones(3), method="BFGS")',
        (
            "minimize",
            "(3,)",
            "sum",
        ),
    ),
    Mistake(
        "bytes that are no whole elements",
        'jnp.frombuffer(b"abc", dtype="float32")',
        (
            "frombuffer",
            "3 bytes",
            "float32 has 4",
        ),
    ),
    Mistake(
        "a pytree node without functions",
        'jax.tree_util.register_pytree_node(type("Node", (), {}), None, None)',
        (
            "Node",
            "None",
            "takes an instance",
        ),
    ),
    Mistake("a text before a number", '"loss: " + jnp.sum(jnp.ones(3))', ("a str", 'f"{x}"')),
    Mistake("a number before a text", 'jnp.ones(()) + " metres"', ("+:", "a str", 'f"{x}"')),
    Mistake(
        "a function that returns nothing",
        "def half(x):\n    x / 2\n2.0 * (jnp.ones(3) + half(jnp.ones(3)))",
        ("+:", "None", "return"),
    ),
    Mistake(
        "a bound that is a text",
        'jax.random.uniform(jax.random.key(0), (3,), minval="0")',
        ("uniform: minval", "'0'"),
    ),
    Mistake("a shift that is a float", "jnp.roll(jnp.ones(3), 1.5)", ("shift is 1.5", "int")),
]
