"""Wrong programs of one call: loops and branches, transformations, rules, keys and meshes."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

FURTHER = [
    Mistake(
        "rows of two lengths",
        "lax.scan(lambda c, x: (c + x[0], None), 0.0, (jnp.ones(3), jnp.ones(4)))",
        ("xs[0]: 3", "xs[1]: 4"),
    ),
    Mistake(
        "a scan of nothing", "lax.scan(lambda c, x: (c, c), 0.0, None)", ("no arrays", "length")
    ),
    Mistake(
        "a condition that is a number",
        "lax.while_loop(lambda x: x, lambda x: x + 1, 0.0)",
        ("boolean scalar", "float32[]"),
    ),
    Mistake(
        "a condition of a loop for each element",
        "lax.while_loop(lambda x: x < jnp.ones(3), lambda x: x + 1, jnp.zeros(3))",
        ("bool[3]", "irax.numpy.all"),
    ),
    Mistake(
        "a branch for each element",
        "lax.cond(jnp.ones(2) > 0, jnp.sin, jnp.cos, 1.0)",
        ("predicate", "(2,)", "irax.numpy.where"),
    ),
    Mistake(
        "the number of a branch as a float",
        "lax.switch(1.5, [jnp.sin, jnp.cos], 1.0)",
        ("index", "float32", ".astype(int)"),
    ),
    Mistake(
        "a branch without arguments",
        "lax.cond(True, lambda x: x, lambda: 1.0, 2.0)",
        ("takes 0 positional", "lax.cond calls true_fun(*operands)"),
    ),
    Mistake(
        "a loop's body of one argument",
        "lax.fori_loop(0, 3, lambda x: x, 0.0)",
        ("takes 1 positional", "lax.fori_loop calls body_fun(i, value)"),
    ),
    Mistake(
        "rows that are columns",
        "lax.map(lambda x, y: x, (jnp.ones(3), jnp.ones(3)))",
        ("missing 1 required", "lax.map calls f(row)"),
    ),
    Mistake(
        "a bound that is a float",
        "lax.fori_loop(0, 2.5, lambda i, x: x, 0.0)",
        ("upper", "integer", "float32"),
    ),
    Mistake(
        "a start too few",
        "lax.dynamic_slice(jnp.ones((3, 4)), (0,), (2, 2))",
        ("start index for each of the 2", "got 1"),
    ),
    Mistake(
        "a padding that is misspelt",
        "x, k = jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3))\n"
        "lax.conv_general_dilated(x, k, (1, 1), 'SAEM')",
        ("'SAEM'", "'SAME'"),
    ),
    Mistake("more than all", "lax.top_k(jnp.ones(3), 5)", ("k must be 0 to 3", "got 5")),
    Mistake(
        "two dtypes in lax",
        "lax.add(jnp.ones(3), jnp.ones(3, 'int32'))",
        ("float32 and int32", "irax.numpy, which promotes"),
    ),
    Mistake(
        "a name of no axis", "lax.psum(jnp.ones(3), 'batch')", ("'batch'", "vmap(f, axis_name=")
    ),
    Mistake(
        "a number in the place of dimensions",
        "lax.rev(jnp.ones(3), 0)",
        ("lax.rev: dimensions is 0", "a sequence of ints"),
    ),
    Mistake(
        "dimension numbers forgotten",
        "lax.gather(jnp.ones(3), jnp.zeros(1, int), None, (1,))",
        ("lax.gather: dimension_numbers is None",),
    ),
    Mistake(
        "a bound that does not broadcast",
        "jnp.clip(jnp.ones(3), min=jnp.ones(2))",
        ("clip: shapes (3,) and (2,)",),
    ),
    Mistake(
        "a list in the place of a truth",
        "jnp.logical_not([True])",
        ("logical_not: x", "list", "irax.numpy.array"),
    ),
    Mistake(
        "a text among arrays",
        "jnp.concatenate([jnp.ones(2), 'a'])",
        ("concatenate: arrays[1]", "'a' of type str"),
    ),
    Mistake("a text beside an array", "jnp.isclose(jnp.ones(3), 'a')", ("isclose: b", "'a'")),
    Mistake("nothing in the place of an array", "jnp.median(None)", ("median: a", "None")),
    Mistake(
        "a value of another shape",
        "jnp.full((2, 2), jnp.ones(3))",
        ("full: cannot broadcast", "(3,)", "(2, 2)"),
    ),
    Mistake(
        "a dimension that is not of size 1",
        "jnp.squeeze(jnp.ones((2, 3)), 0)",
        ("squeeze: cannot squeeze dimension 0", "(2, 3)"),
    ),
    Mistake(
        "a mode that is misspelt",
        "jnp.take(jnp.ones(3), 0, mode='clp')",
        ("take: mode must be 'clip'", "'clp'"),
    ),
    Mistake(
        "axes without their places",
        "jnp.moveaxis(jnp.ones((2, 3)), (0, 1), 0)",
        ("source=(0, 1)", "destination=0"),
    ),
    Mistake(
        "a matrix that is not square", "jnp.linalg.inv(jnp.ones((2, 3)))", ("square", "(2, 3)")
    ),
    Mistake(
        "a right side of another size",
        "jnp.linalg.solve(jnp.ones((2, 2)), jnp.ones(3))",
        ("linalg.solve: a has shape (2, 2) and b (3,)",),
    ),
    Mistake("parts that are not equal", "jnp.split(jnp.ones(5), 2)", ("evenly", "array_split")),
    Mistake("bits of floats", "jnp.bitwise_and(1.0, 2)", ("bitwise_and", "integers", ".astype")),
    Mistake("the maximum of nothing", "jnp.max(jnp.ones(0))", ("max", "(0,)", "initial=")),
    Mistake("counts of floats", "jnp.bincount(jnp.ones(3))", ("bincount", "integers", "float32")),
    Mistake("an element that is deleted", "x = jnp.ones(3)\ndel x[0]", ("irax.numpy.delete(x",)),
    Mistake(
        "an update that is no function",
        "jnp.zeros(3).at[0].apply(3)",
        ("not callable", "apply: func is 3"),
    ),
    Mistake("a format of many numbers", "f'{jnp.ones(3):.2f}'", ("'.2f'", "(3,)", "one by one")),
    Mistake("lists of two lengths", "jnp.array([[1, 2], [3]])", ("different lengths", "[3]")),
    Mistake(
        "axes for more than the arguments",
        "jax.vmap(lambda x, y: x + y, in_axes=(0, None, 0))(jnp.ones(3), 1.0)",
        ("in_axes has 3 entries", "2 positional"),
    ),
    Mistake(
        "lanes without an axis",
        "jax.vmap(lambda x: x, out_axes=None)(jnp.ones(3))",
        ("out_axes: None", "shape ()", "mapped axis"),
    ),
    Mistake("a gradient of nothing", "jax.grad(lambda x: None)(1.0)", ("scalar", "None")),
    Mistake(
        "a gradient of a complex result",
        "jax.grad(lambda x: x + 1j)(1.0)",
        ("complex64", "holomorphic=True"),
    ),
    Mistake(
        "the gradient of a list",
        "jax.grad(lambda x: jnp.sum(x))([1.0, 2.0])",
        ("sum: a", "list", "irax.numpy.array"),
    ),
    Mistake("primals that are no tuple", "jax.jvp(jnp.sin, 1.0, 1.0)", ("primals", "tuple")),
    Mistake(
        "the transpose of a sine",
        "jax.linear_transpose(jnp.sin, 1.0)(1.0)",
        ("linear_transpose: sin must be linear", "sine", "program.py:1"),
    ),
    Mistake("a static argument too far", "jax.jit(jnp.sin, static_argnums=3)(1.0)", ("3", "1 pos")),
    Mistake(
        "a device by a name of PyTorch's",
        "jax.jit(jnp.sin, device='cuda:0')(1.0)",
        ("'cuda:0'", "irax.devices('cuda')[0]"),
    ),
    Mistake(
        "a set as an argument",
        "jax.jit(lambda x: x)({1, 2})",
        ("lambda: x", "type set", "static_argn"),
    ),
    Mistake(
        "keys without an order", "jax.jit(lambda d: d)({1: 1.0, 'a': 2.0})", ("order", "[1, 'a']")
    ),
    Mistake(
        "Python's maximum", "jax.jit(lambda x: max(x, 0.0))(1.0)", ("lambda: x", "irax.numpy.where")
    ),
    Mistake(
        "a slice up to an argument",
        "jax.jit(lambda n: jnp.ones(5)[:n])(3)",
        ("known while tracing", "dynamic_slice_in_dim"),
    ),
    Mistake(
        "a forward rule without residuals",
        "f = jax.custom_vjp(lambda x: x)\nf.defvjp(lambda x: x, lambda r, g: g)\njax.grad(f)(1.0)",
        ("fwd of lambda", "pair (result, residuals)"),
    ),
    Mistake(
        "a rule with too many cotangents",
        "f = jax.custom_vjp(lambda x: x)\n"
        "f.defvjp(lambda x: (x, None), lambda r, g: (g, g))\n"
        "jax.grad(f)(1.0)",
        ("bwd of lambda", "1 arguments", "got 2"),
    ),
    Mistake(
        "a rule for an argument that there is not",
        "f = jax.custom_jvp(lambda x: x)\n"
        "f.defjvps(lambda t, ans, x: t, None)\n"
        "jax.jvp(f, (1.0,), (1.0,))",
        ("defjvps", "1 arguments", "2 rules"),
    ),
    Mistake(
        "a callback of another shape",
        "jax.pure_callback(lambda x: np.ones(3), jax.ShapeDtypeStruct((2,), 'float32'), 1.0)",
        ("pure_callback of <lambda>", "(3,)", "(2,)"),
    ),
    Mistake(
        "the gradient of a callback",
        "jax.grad(lambda x: jax.pure_callback(lambda y: y, x, x))(1.0)",
        ("pure_callback", "irax.custom_vjp", "stop_gradient"),
    ),
    Mistake(
        "a placeholder without a number", "jax.debug.print('{} {}', 1.0)", ("'{} {}'", "1 argument")
    ),
    Mistake(
        "an option that is misspelt",
        "jax.config.update('jax_enable_x46', True)",
        ("'enable_x46'", "'enable_x64'"),
    ),
    Mistake(
        "more draws than there are",
        "jax.random.choice(jax.random.key(0), jnp.ones(3), (5,), replace=False)",
        ("5 of 3", "replacement"),
    ),
    Mistake("a seed that is a float", "jax.random.key(1.5)", ("seed", "integer", "float32")),
    Mistake(
        "arithmetic with a key", "jax.random.key(0) + 1", ("random keys are no numbers", "key_data")
    ),
    Mistake(
        "integers that are normal",
        "jax.random.normal(jax.random.key(0), (3,), dtype=int)",
        ("normal: dtype", "int32"),
    ),
    Mistake(
        "segments of other rows",
        "jax.ops.segment_sum(jnp.ones(3), jnp.zeros(2, int))",
        ("segment_ids", "(2,)", "(3,)"),
    ),
    Mistake(
        "an interpolation that is misspelt",
        "jax.image.resize(jnp.ones((4, 4)), (8, 8), 'bicubik')",
        ("image.resize", "'bicubik'", "'bicubic'"),
    ),
    Mistake(
        "a mesh larger than the machine",
        "jax.make_mesh((8, 8), ('a', 'b'))",
        ("64 devices", "IRAX_CPU_DEVICES=64"),
    ),
    Mistake(
        "a mesh of one number",
        "jax.make_mesh(1, 'a')",
        ("make_mesh: axis_sizes is 1", "devices along each axis"),
    ),
    Mistake(
        "axes without names",
        "jax.make_mesh((1,), ('a', 'b'))",
        ("make_mesh", "1 dim", "('a', 'b')"),
    ),
    Mistake(
        "the shape of a struct as a number",
        "jax.ShapeDtypeStruct(3, 'float32')",
        ("shape must be a tuple", "(3,)"),
    ),
    Mistake(
        "a profile that nobody began", "jax.profiler.stop_trace()", ("no profile", "start_trace")
    ),
]
