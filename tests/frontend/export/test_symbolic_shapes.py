"""Functions with symbolic dimensions: traced, differentiated, mapped and exported once."""

import numpy as np
import pytest
from tests.frontend import case_checks, lax_cases, linalg_cases, nn_cases, numpy_cases
from tests.frontend.numpy_operands import CASES
from tests.sampling import sample

import irax
import irax.numpy as jnp
import irax_runtime
from irax import errors, export, lax
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.sizes.refine import refined

TABLES = (lax_cases, linalg_cases, nn_cases, numpy_cases)
SIZES = (1, 2, 5)


def spec(shape, dtype="float32", **options):
    return irax.ShapeDtypeStruct(export.symbolic_shape(shape, **options), dtype)


def arrays(*shapes):
    rng = np.random.default_rng(1)
    return [rng.uniform(-1, 1, s).astype(np.float32) for s in shapes]


def at_sizes(function, specs, shapes_of, sizes=SIZES, reference=None):
    """A function that is traced once does for several sizes what it does when it is called. Its
    module is read from its text, and evaluated.
    """
    made = export.export(irax.jit(function))(*specs)
    run = irax.ir.load(made.mlir_module(), device="reference")
    for n in sizes:
        given = arrays(*shapes_of(n))
        expected = (reference or function)(*given)
        results = run(*given)
        for x, y in zip(irax.tree.leaves(results), irax.tree.leaves(expected), strict=True):
            assert x.shape == np.shape(y)
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)
    return made


# ---- tracing -------------------------------------------------------------------------------------


def mlp(w, x):
    return jnp.tanh(x @ w + 1.0).sum(0) / x.shape[0]


def test_a_function_of_a_batch():
    made = at_sizes(mlp, [spec("4, 3"), spec("batch, 4")], lambda n: [(4, 3), (n, 4)])
    assert str(made.in_avals) == "(float32[4,3], float32[batch,4])"
    assert 'tensor<?x3xf32, #irax.sizes<"batch, 3">>' in made.mlir_module()


def loss(w, x):
    h = jax_like_softmax(jnp.maximum(x @ w, 0.0))
    return -jnp.log(h[:, 0] + 1e-3).mean()


def jax_like_softmax(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_derivatives():
    specs, shapes = [spec("4, 3"), spec("batch, 4")], lambda n: [(4, 3), (n, 4)]
    at_sizes(irax.value_and_grad(loss), specs, shapes)
    at_sizes(irax.jacfwd(loss), specs, shapes, (1, 3))
    at_sizes(lambda w, x: irax.jvp(loss, (w, x), (w * 2, x + 1)), specs, shapes, (1, 3))
    v = np.ones((4, 3), np.float32)
    hvp = irax.grad(lambda w, x: (irax.grad(loss)(w, x) * v).sum())
    at_sizes(hvp, specs, shapes, (1, 3))


def test_maps_over_an_axis_of_unknown_size():
    specs, shapes = [spec("4, 3"), spec("batch, n, 4")], lambda n: [(4, 3), (n, n + 1, 4)]
    at_sizes(irax.vmap(irax.grad(loss), (None, 0)), specs, shapes)


def test_loops_of_unknown_length():
    def running(xs):
        return irax.lax.scan(lambda c, x: (c * 0.5 + jnp.sin(x), c), jnp.zeros(2), xs)

    def energy(xs):
        last, rows = running(xs)
        return last.sum() + (rows**2).sum()

    at_sizes(running, [spec("t, 2")], lambda n: [(n, 2)])
    at_sizes(irax.grad(energy), [spec("t, 2")], lambda n: [(n, 2)])

    def counted(x):
        x = jnp.asarray(x)
        return irax.lax.fori_loop(0, x.shape[0], lambda i, c: c + jnp.sin(x[i] * i), 0.0)

    at_sizes(counted, [spec("t")], lambda n: [(n,)])
    at_sizes(irax.grad(counted), [spec("t")], lambda n: [(n,)])


def test_derivatives_of_folds():
    products = irax.grad(lambda x: jnp.asarray(x).prod())
    at_sizes(products, [spec("n")], lambda n: [(n,)])
    at_sizes(
        irax.grad(lambda x: (jnp.cumprod(x, 1) ** 2).sum()), [spec("m, n")], lambda n: [(2, n)]
    )
    at_sizes(irax.grad(lambda x: irax.lax.cummax(x).sum()), [spec("n")], lambda n: [(n,)])


def test_matrices_of_unknown_size():
    def f(x):
        y = x + 3 * jnp.eye(x.shape[0])
        return jnp.triu(x), jnp.tril(x, -1), jnp.linalg.det(y), jnp.linalg.slogdet(y)[1]

    at_sizes(f, [spec("n, n")], lambda n: [(n, n)])
    at_sizes(irax.hessian(lambda x: jnp.asarray(x).prod()), [spec("n")], lambda n: [(n,)])


def test_custom_rules():
    @irax.custom_vjp
    def f(x):
        return jnp.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (2 * jnp.cos(x) * ct,))
    at_sizes(irax.grad(lambda x: f(x).sum()), [spec("n, 3")], lambda n: [(n, 3)])


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2.0
    places = jnp.arange(q.shape[1])[:, None] >= jnp.arange(k.shape[1])
    weights = irax.nn.softmax(jnp.where(places, scores, -1e9), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*q.shape[:2], -1)


def test_attention_over_an_unknown_length():
    specs = [spec("b, t, 2, 4")] * 3
    at_sizes(attention, specs, lambda n: [(n + 1, n, 2, 4)] * 3)
    total = irax.grad(lambda q, k, v: (attention(q, k, v) ** 2).sum(), (0, 1, 2))
    at_sizes(total, specs, lambda n: [(2, n, 2, 4)] * 3)


def test_sizes_in_arithmetic():
    def f(x):
        n = x.shape[0]
        assert export.is_symbolic_dim(n) or isinstance(n, int)
        halves = x[: n // 2].sum() + x[n // 2 :].sum() * 2 + x[::-1][0] + x[-1]
        steps = jnp.arange(n, dtype="float32") * n + jnp.linspace(0, 1, n)[0]
        wide = jnp.concatenate([x, jnp.zeros(n + 1), jnp.full((2 * n,), n)])
        padded = jnp.pad(x, (1, n))
        return halves, steps, wide.reshape(-1, 1), padded, jnp.eye(n) * 2.5 * n, jnp.roll(x, 1)

    at_sizes(f, [spec("n", constraints=["n >= 2"])], lambda n: [(n,)], (2, 3, 6))


def test_indices():
    def f(x, i):
        x = jnp.asarray(x)
        chosen = x[jnp.clip(i, 0, x.shape[0] - 1).astype("int32")]
        return x[1:-1, 0], x.at[-1].set(2.0), x.at[1:].add(1.0), chosen, x[0], x[:, None, ::2]

    specs = [spec("n, 5", constraints=["n >= 2"]), spec("3")]
    at_sizes(f, specs, lambda n: [(n, 5), (3,)], (2, 3, 6))


# ---- every function of the tables ----------------------------------------------------------------


def _named():
    """A case of each function, with the size of its arrays that becomes a variable."""
    found = {}
    for case in CASES:
        _, operands = case_checks.bound(case, 0)
        sizes = sorted({n for a in operands for n in np.shape(a) if n > 1})
        if sizes and case.full_name not in found:
            found[case.full_name] = case, sizes[-1]
    return found


NAMED = _named()


@pytest.mark.parametrize("name", sample(sorted(NAMED), 8))
def test_functions(name):
    case, size = NAMED[name]
    call, operands = case_checks.bound(case, 0)
    n = export.symbolic_shape("n", constraints=[f"n >= {size}"])[0]

    def traced(open_):
        structs = [
            irax.ShapeDtypeStruct([n if open_ and m == size else m for m in x.shape], x.dtype)
            for x in map(np.asarray, operands)
        ]
        found = irax.jit(lambda *given: call(case.function, given)).trace(*structs)
        return found._traced.traced

    try:
        known = traced(False)
    except (irax.errors.JAXTypeError, TypeError, ValueError, IndexError):
        return  # it needs the values of its arguments
    try:
        named = traced(True)
    except (errors.InconclusiveDimensionOperation, TypeError, ValueError):
        return  # the case has arguments that fit one size, or the function's form depends on it
    module = refined(named.builder.module, named.name, {"n": size})
    given = [np.asarray(jnp.asarray(x)) for x in operands]
    results = Evaluator(module)(named.name, [*given, *(x.value for x in named.captures)])
    expected = known.builder.evaluator(known.name, [*given, *(x.value for x in known.captures)])
    for x, y in zip(results, expected, strict=True):
        case_checks.compare(case, x, y)


# ---- names and errors ----------------------------------------------------------------------------


def test_symbolic_args_specs():
    args = {
        "x": np.zeros((8, 4), np.float32),
        "y": (np.zeros(3), irax.ShapeDtypeStruct((), "int8")),
    }
    found = export.symbolic_args_specs(args, {"x": "b, ...", "y": None})
    assert found["x"].shape[0] == export.symbolic_shape("b")[0]
    assert (found["x"].shape[1], found["y"][0].shape, found["y"][1].dtype) == (4, (3,), np.int8)
    found = export.symbolic_args_specs((np.zeros((2, 2)), np.zeros((3, 2))), "n, _")
    assert found[0].shape == found[1].shape
    scope = export.SymbolicScope(["n >= 2"])
    (n,) = export.symbolic_shape("n", scope=scope)
    assert n >= 2
    for call, what in [
        (lambda: export.symbolic_shape("n", scope=scope, constraints=["n >= 3"]), "give one"),
        (lambda: export.symbolic_shape(3), "expected text"),
        (lambda: export.symbolic_shape("n", scope=3), "must be an irax.export.SymbolicScope"),
        (lambda: export.symbolic_args_specs((1.0,), {"a": "n"}), "shapes_specs"),
    ]:
        with pytest.raises(ValueError, match=what):
            call()


def test_questions_that_depend_on_the_size():
    @irax.jit
    def f(x):
        return x * 2 if x.shape[0] > 8 else x

    with pytest.raises(
        errors.InconclusiveDimensionOperation,
        match=r"'n > 8' is inconclusive.*such as constraints=\['n >= 9'\]",
    ):
        export.export(f)(spec("n"))
    made = export.export(f)(spec("n", constraints=["n >= 9"]))
    assert made.call(np.ones(9, np.float32))[0] == 2
    with pytest.raises(ValueError, match=r"f: .*n >= 9 does not hold for n = 8"):
        made.call(np.ones(8, np.float32))
    with pytest.raises(errors.InconclusiveDimensionOperation, match="has a value only while"):
        jnp.asarray(export.symbolic_shape("n")[0])
    with pytest.raises(TypeError, match=r"shapes \(n,\) and \(m,\) do not fit together"):
        export.export(irax.jit(jnp.add))(*(spec(s, scope=SCOPE) for s in ("n", "m")))


SCOPE = export.SymbolicScope()


# ---- exported functions --------------------------------------------------------------------------


@pytest.mark.slow
def test_exported_functions():
    specs = export.symbolic_args_specs(
        (np.zeros((4, 3), "f"), np.zeros((2, 4), "f")), ("...", "b, _")
    )
    made = export.export(irax.jit(mlp))(*specs)
    again = export.deserialize(made.serialize())
    assert str(again) == str(made) == "<Exported mlp: (float32[4,3], float32[b,4]) -> (float32[3])>"
    w, x = arrays((4, 3), (5, 4))
    np.testing.assert_allclose(again.call(w, x), mlp(w, x), rtol=1e-5)
    # inside other functions, with sizes that are known or symbolic there
    gradient = irax.jit(irax.grad(lambda w, x: again.call(w, x).sum()))(w, x)
    np.testing.assert_allclose(gradient, irax.grad(lambda w, x: mlp(w, x).sum())(w, x), rtol=1e-5)
    outer = export.export(irax.jit(lambda w, x: again.call(w, x[:-1]) * 2))
    outer = outer(specs[0], spec("k, 4", constraints=["k >= 2"]))
    np.testing.assert_allclose(outer.call(w, x), mlp(w, x[:-1]) * 2, rtol=1e-5)
    # its derivative, for all sizes
    pulled = again.vjp()
    assert str(pulled.out_avals) == "(float32[4,3], float32[b,4])"
    np.testing.assert_allclose(pulled.call(w, x, np.ones(3, "f"))[0], gradient, rtol=1e-5)
    for bad, error, what in [
        (np.ones((0, 4), "f"), ValueError, r"mlp: .*size b for args\[1\].shape\[0\] with b >= 1"),
        (np.ones((2, 5), "f"), ValueError, r"expected size 4 for args\[1\].shape\[1\], got 5"),
        (np.ones(4, "f"), ValueError, r"args\[1\] is float32\[4\]; exported for float32\[b,4\]"),
        (np.ones((2, 4), "i"), ValueError, "exported for"),
    ]:
        with pytest.raises(error, match=what):
            again.call(w, bad)


def test_constraints_name_dimensions_of_arguments():
    (m,) = export.symbolic_shape("m", constraints=["m >= m1"])
    x = irax.ShapeDtypeStruct((m,), np.float32)
    with pytest.raises(ValueError, match=r"the constraints m >= m1 name m1, which is in no shape"):
        export.export(irax.jit(jnp.sin))(x)


def test_elements_of_arrays_that_may_be_empty():
    """JAX asks for a constraint too: there is no element to read of an empty array."""
    scope = export.SymbolicScope()
    n = export.symbolic_shape("n", scope=scope)[0]
    i = irax.ShapeDtypeStruct((), "int32")
    rows = irax.ShapeDtypeStruct((n - 1, 3), "float32")
    for index in (i, irax.ShapeDtypeStruct((2,), "int32")):
        with pytest.raises(errors.InconclusiveDimensionOperation, match="n - 1 < 1"):
            export.export(irax.jit(lambda x, i: x[i]))(rows, index)
    written = export.export(irax.jit(lambda x, i: x.at[i].set(1.0)))(rows, i)
    assert written.call(jnp.zeros((0, 3)), np.int32(0)).shape == (0, 3)
    read = export.export(irax.jit(lambda x, i: x[i]))(irax.ShapeDtypeStruct((n, 3), "float32"), i)
    np.testing.assert_array_equal(read.call(jnp.ones((1, 3)), np.int32(4)), np.ones(3))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("constraints", "fits", "others"),
    [
        (["a == b"], [(3, 3), (5, 5)], [(3, 4)]),
        (["b == 2*a"], [(3, 6), (5, 10)], [(3, 7), (3, 3)]),
        (["a == b", "a >= 4"], [(4, 4)], [(3, 3)]),
        (["a == b + 2"], [(3, 1), (5, 3)], [(3, 3)]),
        (["a == b", "mod(a, 4) == 0"], [(8, 8)], [(6, 6)]),
    ],
)
def test_exported_functions_of_dimensions_that_equalities_define(
    constraints, fits, others, tmp_path
):
    scope = export.SymbolicScope(constraints)
    shapes = [export.symbolic_shape(name, scope=scope) for name in ("a", "b")]
    structs = [irax.ShapeDtypeStruct(shape, "float32") for shape in shapes]
    exported = export.export(irax.jit(lambda x, y: x.sum() - y.sum()))(*structs)
    exported.save(tmp_path / "f.irax")
    calls = [
        exported.call,
        export.deserialize(exported.serialize()).call,
        irax_runtime.load(tmp_path / "f.irax"),
    ]
    for call in calls:
        for m, n in fits:
            assert call(np.ones(m, np.float32), np.ones(n, np.float32)) == m - n
        for m, n in others:
            with pytest.raises(ValueError, match=r"expected size|does not hold|no .* fits"):
                call(np.ones(m, np.float32), np.ones(n, np.float32))


def test_gradient_of_a_selection_that_is_padded():
    """The size of the cotangent is another expression than that of the operand."""

    def loss(x):
        chosen = jnp.where(x < 0.3, x, 1.5)
        return jnp.sum(lax.pad(chosen, 0.5, [(0, 1, 0), (0, 1, 1)]) ** 2)

    (n,) = export.symbolic_shape("n")
    struct = irax.ShapeDtypeStruct((2, n - 1), "float32")
    exported = export.export(irax.jit(irax.grad(loss)))(struct)
    for size in (1, 2, 5):
        x = np.linspace(-1, 1, 2 * size, dtype=np.float32).reshape(2, size)
        np.testing.assert_allclose(exported.call(x), np.where(x < 0.3, 2 * x, 0))
