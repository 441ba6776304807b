"""irax.export: functions traced once, written down, read again."""

from __future__ import annotations

import doctest
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import export
from irax_runtime import archives

X = jnp.array([1.0, 2.0, 3.0])
N = jnp.array([4, 5])


def f(params, n, *, power=2):
    return {"y": jnp.sum(params["w"] ** power) * n[0], "n": n + 1}


def exported(**options):
    return export.export(irax.jit(f), **options)({"w": X}, N)


@pytest.fixture(params=["exported", "deserialized"])
def some(request):
    made = exported()
    return made if request.param == "exported" else export.deserialize(made.serialize())


def test_what_it_says(some):
    assert some.fun_name == "f"
    assert [str(a) for a in some.in_avals] == ["float32[3]", "int32[2]"]
    assert [str(a) for a in some.out_avals] == ["int32[2]", "float32[]"]
    assert some.in_tree == irax.tree_util.tree_structure((({"w": 0}, 0), {}))
    assert some.out_tree == irax.tree_util.tree_structure({"y": 0, "n": 0})
    assert (some.platforms, some.nr_devices) == (("cpu",), 1)
    assert "func.func @f(" in some.mlir_module()
    assert irax.ir.load(some.mlir_module_serialized, "f")(X, N)[1] == 56


def test_call(some):
    found = some.call({"w": X}, N)
    assert found["y"] == 14 * 4
    np.testing.assert_array_equal(found["n"], [5, 6])


def test_under_transformations(some):
    def g(w):
        return some.call({"w": w}, N)["y"]

    np.testing.assert_allclose(irax.grad(g)(X), 8 * np.asarray(X))
    np.testing.assert_allclose(irax.jit(irax.hessian(g))(X), 8 * np.eye(3))
    np.testing.assert_allclose(irax.vmap(g)(jnp.stack([X, 2 * X])), [56, 224])


def test_vjp():
    made = exported()
    assert made.has_vjp()
    pulled_back = made.vjp()
    assert len(pulled_back.in_avals) == 4
    slope, integers = pulled_back.call(X, N, N, 2.0)
    np.testing.assert_allclose(slope, 16 * np.asarray(X))
    np.testing.assert_array_equal(integers, [0, 0])
    assert integers.dtype == np.int32
    second = export.deserialize(pulled_back.serialize()).vjp()
    # d/dx of <c, 8 x u> is 8 u c, for u = 1 and c = X
    np.testing.assert_allclose(second.call(X, N, N, 1.0, X, N)[0], 8 * np.asarray(X))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (({"w": X},), "f: args has 1 items; expected 2"),
        (({"v": X}, N), r"f: args\[0\] is a dict with the keys 'v'; .* the keys 'w'"),
        (({"w": X[:2]}, N), r"f: args\[0\]\['w'\] is float32\[2\]; exported for float32\[3\]"),
        (({"w": N}, N), r"f: args\[0\]\['w'\] is int32\[2\]; exported for float32\[3\]"),
        (({"w": X}, [N]), "expected an array or a number|is a list of 1"),
    ],
)
def test_other_arguments(some, args, message):
    error = TypeError if isinstance(args[-1], list) else ValueError
    with pytest.raises(error, match=message):
        some.call(*args)


def test_what_comes_from_outside_is_in_the_file():
    outside = jnp.arange(100000.0)
    made = export.export(irax.jit(lambda x: jnp.sum(outside * x)))(1.0)
    again = export.deserialize(made.serialize())
    np.testing.assert_allclose(again.call(2.0), 2 * np.arange(1e5).sum(), rtol=1e-4)


def test_custom_rules_and_loops_survive():
    @irax.custom_jvp
    def odd(x):
        return x * x

    odd.defjvp(lambda x, dx: (odd(*x), 100 * dx[0]))

    def body(carry, x):
        return irax.lax.cond(x > 1, odd, jnp.sin, carry) + x, x

    def loop(x):
        return irax.lax.scan(body, x, X)[0]

    again = export.deserialize(export.export(irax.jit(loop))(1.0).serialize())
    np.testing.assert_allclose(again.call(0.5), loop(0.5), rtol=1e-6)
    np.testing.assert_allclose(irax.grad(again.call)(0.5), irax.grad(loop)(0.5), rtol=1e-6)
    assert irax.grad(again.call)(0.5) == pytest.approx(100**2 * np.cos(0.5))


def test_static_arguments_stay_what_they_were():
    made = export.export(irax.jit(f, static_argnames="power"))({"w": X}, N, power=3)
    assert made.call({"w": X}, N)["y"] == 36 * 4


def test_callbacks_are_refused():
    def g(x):
        return irax.pure_callback(np.sin, irax.ShapeDtypeStruct((), "float32"), x)

    with pytest.raises(NotImplementedError, match=r"g calls a Python function at .*test_export.py"):
        export.export(irax.jit(g))(1.0)


def test_platforms(tmp_path):
    with pytest.raises(ValueError, match="no platform 'abacus'; there are cpu, cuda"):
        exported(platforms=["abacus"])
    with pytest.raises(ValueError, match="no chip 'sm_1'"):
        exported(platforms=["cuda:sm_1"])
    with pytest.raises(ValueError, match=r"expected a jitted function, .*: export\(jit\(f\)\)"):
        export.export(f)
    with pytest.raises(ValueError, match="expected a jitted function, got 3"):
        export.export(3)
    assert export.export(jnp.sin)(1.0).call(2.0) == jnp.sin(2.0)
    made = exported(platforms=["cpu:generic", "tpu"])
    made.save(tmp_path / "f.irax")
    again = export.load(tmp_path / "f.irax")
    assert again.platforms == ("cpu:generic", "tpu")
    assert again.call({"w": X}, N)["y"] == 56
    import irax_runtime

    program = irax_runtime.load(tmp_path / "f.irax")
    assert program({"w": np.asarray(X)}, np.asarray(N))["y"] == 56


def test_other_bytes(tmp_path):
    with pytest.raises(ValueError, match="not a compiled program, or damaged"):
        export.deserialize(b"nonsense")
    blob = exported().serialize()
    with pytest.raises(ValueError, match="damaged"):
        export.deserialize(blob[:-9])
    contents = archives.read(blob, "blob")
    with pytest.raises(ValueError, match=r"deserialize: module.mlir is damaged"):
        export.deserialize(archives.write({**contents, "module.mlir": b"\xff\xfe"}))
    artefact = irax_artefact()
    with pytest.raises(ValueError, match="not an exported function, but a compiled module"):
        export.deserialize(artefact)
    with pytest.raises(FileNotFoundError):
        export.load(tmp_path / "none")


def test_what_jax_serialised():
    path = Path(__file__).parents[2] / "foreign" / "exported" / "serialised.jax"
    found = export.deserialize(path.read_bytes())
    assert [str(a) for a in found.in_avals] == ["float32[3,2]", "float32[4,3]"]
    w, x = np.ones((3, 2), np.float32), np.ones((4, 3), np.float32)
    loss = found.call({"w": w}, x)["loss"]
    assert float(loss) == pytest.approx(8 * np.tanh(3))
    slope = irax.grad(lambda w: found.call({"w": w}, x)["loss"])(w)
    np.testing.assert_allclose(slope, 4 * (1 - np.tanh(3) ** 2) * w, rtol=1e-4)


def irax_artefact():
    from irax_compiler.lowering import lower
    from irax_compiler.targets import compile as compile_module

    return compile_module(lower(exported()._module, "f"), "iree-cpu")


Point = namedtuple("Point", "x y")
Place = namedtuple("Place", "x y")


class Ball:
    def __init__(self, radius, name):
        self.radius, self.name = radius, name


irax.tree_util.register_pytree_node(
    Ball, lambda b: ((b.radius,), b.name), lambda name, children: Ball(*children, name)
)


def test_named_tuples():
    made = export.export(irax.jit(lambda p: Place(p.y, p.x)))(Point(1.0, 2.0))
    again = export.deserialize(made.serialize())
    found = again.call(Point(3.0, 4.0))
    assert type(found) is not Place
    assert (type(found).__name__, found.x, found.y) == ("Place", 4, 3)
    export.register_namedtuple_serialization(Place, serialized_name="tests.Place")
    again = export.deserialize(export.export(irax.jit(lambda p: Place(*p)))((1.0, 2.0)).serialize())
    assert type(again.call((3.0, 4.0))) is Place


def test_random_keys():
    def draw(keys):
        return irax.random.normal(keys["k"], (3,)), irax.random.split(keys["k"])

    keys = {"k": irax.random.key(7)}
    made = export.export(irax.jit(draw), platforms=["cpu"])(keys)
    again = export.deserialize(made.serialize())
    for exported_ in (made, again):
        numbers, split = exported_.call(keys)
        np.testing.assert_allclose(numbers, draw(keys)[0], rtol=1e-6)
        np.testing.assert_array_equal(
            irax.random.key_data(split), irax.random.key_data(draw(keys)[1])
        )
    import irax_runtime

    words = np.asarray(irax.random.key_data(keys["k"]))
    numbers, split = irax_runtime.load(made.to_bytes())({"k": words})
    np.testing.assert_allclose(numbers, draw(keys)[0], rtol=1e-6)
    assert (split.shape, split.dtype) == ((2, 2), np.uint32)


def test_classes(tmp_path):
    def grow(ball):
        return Ball(2 * ball.radius, ball.name + "!")

    made = export.export(irax.jit(grow))(Ball(1.0, "b"))
    assert made.call(Ball(2.0, "b")).name == "b!"
    with pytest.raises(TypeError, match="a Ball cannot be written to a file: register its class"):
        made.serialize()
    options = dict(serialize_auxdata=str.encode, deserialize_auxdata=bytes.decode)
    export.register_pytree_node_serialization(Ball, serialized_name="tests.Ball", **options)
    with pytest.raises(ValueError, match="is registered already"):
        export.register_pytree_node_serialization(Ball, serialized_name="other", **options)
    with pytest.raises(ValueError, match="Path is no pytree"):
        export.register_pytree_node_serialization(type(tmp_path), serialized_name="p", **options)
    again = export.deserialize(made.serialize())
    ball = again.call(Ball(2.0, "b"))
    assert (type(ball), ball.radius, ball.name) == (Ball, 4, "b!")
    with pytest.raises(ValueError, match=r"args\[0\] is .*; expected a tests.Ball like before"):
        again.call(Ball(2.0, "c"))


def test_examples():
    names = {"irax": irax, "jit": irax.jit, "jnp": jnp}
    assert doctest.testmod(export, extraglobs=names).failed == 0
