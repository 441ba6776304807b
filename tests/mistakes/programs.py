"""Programs that are wrong, as people write them: each with what its message has to say.

`jax`, `jnp`, `lax` and `np` are there. The words are looked for in what irax says.
"""

from __future__ import annotations

from tests.mistakes.further_programs import FURTHER
from tests.mistakes.mistake import Mistake
from tests.mistakes.small_programs import SMALL

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
    Mistake("PyTorch's cuda", "jnp.ones(3).cuda()", ("'cuda'", "device_put")),
    Mistake("PyTorch's unsqueeze", "jnp.ones(3).unsqueeze(0)", ("'unsqueeze'", "expand_dims")),
    Mistake("PyTorch's backward", "(jnp.ones(3) ** 2).sum().backward()", ("grad(f)(x)",)),
    Mistake("a method that changes its array", "jnp.ones(3).add_(1)", ("'add_'", "cannot be")),
    Mistake("a list's append", "jnp.array([1]).append(2)", ("'append'", "numpy.append")),
    Mistake("arithmetic with at", "jnp.zeros(3).at[0] + 1.0", ("x.at[i].add(v)",)),
    Mistake("an assignment to at", "jnp.zeros(3).at[0] = 1.0", ("y = x.at[i].set(values)",)),
    Mistake("an update without a name", "jnp.zeros(3).at[0].replace(1)", ("'replace'", "set, add")),
    Mistake("a shape of two arguments", "jnp.zeros(2, 3)", ("3 is not a dtype", "one tuple")),
    Mistake(
        "bounds in the place of the dtype",
        "jax.random.uniform(jax.random.key(0), (), 0.0, 1.0)",
        ("0.0 is not a dtype", "by name"),
    ),
    Mistake("a dtype that is misspelt", "jnp.zeros(3, dtype='flaot32')", ("'flaot32'", "float32")),
    Mistake("a list in the place of an array", "jax.nn.softmax([1, 2])", ("list", "numpy.array")),
    Mistake(
        "a letter that no operand has",
        "jnp.einsum('ij,jk->il', jnp.ones((2, 3)), jnp.ones((3, 5)))",
        ("'l' is not among them",),
    ),
    Mistake(
        "a product of shapes that do not fit",
        "def layer(w, x):\n    return w @ x\njax.jit(layer)(jnp.ones((3, 4)), jnp.ones((3,)))",
        ("(3, 4)", "(3,)", "(4) must equal"),
    ),
    Mistake("an axis that is not there", "jnp.sum(jnp.ones((2, 3)), axis=2)", ("-2 to 1",)),
    Mistake(
        "a gradient by an argument's name",
        "jax.grad(lambda x, y: x * y, argnums='y')(1.0, 2.0)",
        ("'y'", "positions"),
    ),
    Mistake(
        "a gradient of an integer in a tree",
        "def loss(params, x):\n    return params['w'] * x\njax.grad(loss)({'w': 1}, 2.0)",
        ("params['w']", "int32", "astype(float)"),
    ),
    Mistake(
        "a branch in lanes",
        "def f(x, n):\n    return x if n > 2 else -x\njax.vmap(f)(jnp.ones(3), jnp.ones(3))",
        ("f: n", "in_axes=None"),
    ),
    Mistake(
        "a branch on a row of a scan",
        "lax.scan(lambda c, x: (c + 1 if x > 0 else c, x), 0, jnp.ones(3))",
        ("a row of xs", "lax.cond"),
    ),
    Mistake(
        "a jitted method",
        "class M:\n    @jax.jit\n    def f(self, x):\n        return x\nM().f(1.0)",
        ("f: self", "static_argnums=0", "register_dataclass"),
    ),
    Mistake(
        "a name among parameters",
        "jax.jit(lambda p: p)({'w': jnp.ones(2), 'name': 'layer1'})",
        ("p['name']", "out of the pytree"),
    ),
    Mistake(
        "a dict as a static argument",
        "jax.jit(lambda x, c: x, static_argnums=1)(1.0, {'a': 2})",
        ("'a': 2", "dataclass"),
    ),
    Mistake(
        "where with one argument in jit",
        "jax.jit(lambda x: jnp.where(x > 0))(jnp.ones(3))",
        ("Give size=", "lambda: x"),
    ),
    Mistake(
        "counts that are arguments",
        "jax.jit(lambda x, n: jnp.repeat(x, n))(jnp.ones(3), 2)",
        ("Give total_repeat_length=", "lambda: n"),
    ),
    Mistake(
        "a condition for each element",
        "lax.while_loop(lambda x: x < 3, lambda x: x + 1, jnp.zeros(2))",
        ("bool[2]", "numpy.all or any"),
    ),
    Mistake(
        "arguments of a loop in another order",
        "lax.fori_loop(lambda i, x: x + i, 0, 10, 0)",
        ("body_fun", "lower, upper, body_fun, init_val"),
    ),
    Mistake("a scan without a function", "lax.scan(jnp.ones(3), 0.0)", ("f must be", "init, xs")),
    Mistake("a transformation of a value", "jax.checkpoint(jnp.sin(1.0))", ("function", "0.84")),
    Mistake(
        "a compiled program for another shape",
        "def f(x):\n    return 2 * x\njax.jit(f).lower(jnp.ones(3)).compile()(jnp.ones(4))",
        ("f: x", "float32[4]", "float32[3]"),
    ),
    Mistake(
        "a compiled program without an argument",
        "jax.jit(lambda x, *, s: x * s).lower(1.0, s=2.0).compile()(1.0)",
        ("compiled", "keys 's'"),
    ),
    *FURTHER,
    *SMALL,
]
