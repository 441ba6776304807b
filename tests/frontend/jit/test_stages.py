"""jit(f).lower(x).compile(): the steps from a function to a program."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from tests.runtime.pjrt.pjrt_programs import needs_plugin

import irax
import irax.numpy as jnp
from irax import P, stages
from irax.core.shardings.layouts import Format, Layout
from irax.sharding import Mesh, NamedSharding, SingleDeviceSharding
from irax_runtime.iree.cpu import cpu


def loss(params, x, *, power):
    return jnp.sum(jnp.tanh(x @ params["w"]) ** power)


PARAMS = {"w": np.ones((3, 2), np.float32)}
X = np.arange(12, dtype=np.float32).reshape(4, 3) / 10


def lowered():
    return irax.jit(loss, static_argnames="power").lower(PARAMS, X, power=2)


def test_it_computes_what_the_function_computes():
    compiled = lowered().compile()
    np.testing.assert_allclose(compiled(PARAMS, X), loss(PARAMS, X, power=2), rtol=1e-6)
    np.testing.assert_allclose(compiled(PARAMS, 2 * X), loss(PARAMS, 2 * X, power=2), rtol=1e-6)


def test_nothing_is_traced_or_compiled_again():
    calls = []

    def f(x):
        calls.append(x)
        return x + 1

    compiled = irax.jit(f).lower(irax.ShapeDtypeStruct((2,), "float32")).compile()
    for _ in range(3):
        compiled(jnp.ones(2))
    assert len(calls) == 1


def test_what_is_used_from_outside_comes_along():
    outside = jnp.arange(100000.0)
    compiled = irax.jit(lambda x: jnp.sum(outside * x)).lower(1.0).compile()
    np.testing.assert_allclose(compiled(2.0), 2 * np.arange(1e5).sum(), rtol=1e-4)


def test_text_of_each_stage():
    first = lowered()
    assert "func.func @loss(" in first.as_text()
    assert irax.ir.load(first.as_text(), "loss")(PARAMS["w"], X) == loss(PARAMS, X, power=2)
    assert "iree.reflection" not in first.as_text()
    assert "iree.reflection" in first.as_text("lowered")
    assert first.as_text("lowered") == first.compile().as_text()
    assert first.as_text("inline") != first.as_text()
    with pytest.raises(ValueError, match="no stage 'nonsense'; there are traced, "):
        first.as_text("nonsense")


def test_what_goes_in_and_comes_out():
    first = lowered()
    assert irax.tree_util.tree_unflatten(first.in_tree, [1, 2]) == (({"w": 1}, 2), {})
    assert (first.out_info.shape, first.out_info.dtype) == ((), np.float32)


def test_cost():
    cost = irax.jit(jnp.matmul).lower(np.ones((4, 5), "f"), np.ones((5, 3), "f")).cost_analysis()
    assert cost["flops"] == 2 * 4 * 5 * 3
    assert cost["bytes accessed"] == 4 * (20 + 15 + 12)
    assert lowered().cost_analysis() == lowered().compile().cost_analysis()
    assert lowered().cost_analysis()["transcendentals"] == 8

    def loop(x):
        return irax.lax.fori_loop(0, 10, lambda _, x: jnp.sin(x), x)

    assert irax.jit(loop).lower(jnp.ones(3)).cost_analysis()["transcendentals"] == 30


@pytest.mark.slow
def test_memory():
    def f(x):
        return jnp.sum(jnp.sin(x @ x) @ x, axis=1)

    memory = irax.jit(f).lower(jnp.ones((64, 64))).compile().memory_analysis()
    array = 64 * 64 * 4
    assert memory.argument_size_in_bytes == array
    assert memory.output_size_in_bytes == 64 * 4
    assert memory.alias_size_in_bytes == 0
    assert array <= memory.temp_size_in_bytes <= 3 * array  # x @ x, and its product with x
    assert memory.peak_memory_in_bytes >= array + memory.temp_size_in_bytes
    assert 1000 < memory.generated_code_size_in_bytes < 100_000
    nothing = irax.jit(lambda x: x + 1).lower(1.0).compile().memory_analysis()
    assert nothing.temp_size_in_bytes == 0


def test_memory_of_arguments_that_are_not_read_is_the_caller_s():
    lowered = irax.jit(lambda x, y: x + y.size).lower(jnp.ones(3), jnp.ones((64, 64)))
    memory = lowered.compile().memory_analysis()
    assert memory.argument_size_in_bytes == 3 * 4
    assert memory.peak_memory_in_bytes == 2 * 3 * 4


@needs_plugin
def test_memory_as_a_plugin_tells_it():
    compiled = irax.jit(lambda x: x @ x, backend="pjrt:cpu").lower(jnp.ones((64, 64))).compile()
    assert compiled.memory_analysis().argument_size_in_bytes == 64 * 64 * 4


def test_wrong_arguments():
    compiled = lowered().compile()
    with pytest.raises(TypeError, match=r"x is float32\[2,3\]; compiled for float32\[4,3\]"):
        compiled(PARAMS, X[:2])
    with pytest.raises(TypeError, match=r"x is int32\[4,3\]; compiled for float32\[4,3\]"):
        compiled(PARAMS, X.astype(np.int32))
    with pytest.raises(
        TypeError, match=r"loss was compiled for other arguments: .* differs first at"
    ):
        compiled(X, PARAMS)
    with pytest.raises(TypeError, match="is traced: a compiled program cannot be transformed"):
        irax.grad(lambda x: compiled(PARAMS, x))(X)
    with pytest.raises(TypeError, match="is traced"):
        irax.jit(lambda x: compiled(PARAMS, x))(X)


def test_examples():
    names = {"irax": irax, "jit": irax.jit, "jnp": jnp}
    assert doctest.testmod(stages, extraglobs=names).failed == 0
    examples = doctest.DocTestFinder().find(irax.jit(jnp.sin).lower.__func__, globs=names)
    (result,) = [doctest.DocTestRunner().run(example) for example in examples]
    assert result.failed == 0


def test_information_of_arguments():
    def f(x, d, *, key):
        return x + d["a"], d["b"], irax.random.split(key)

    jitted = irax.jit(f, donate_argnums=(0,), donate_argnames=("key",))
    key = irax.random.key(0)
    traced = jitted.trace(jnp.ones(2), {"a": 1.0, "b": 2}, key=key)
    (x, d), named = traced.args_info
    assert (x.shape, x.dtype, x.donated) == ((2,), np.float32, True)
    assert (d["a"].donated, d["b"].dtype) == (False, np.int32)
    assert (named["key"].shape, named["key"].dtype, named["key"].donated) == ((), key.dtype, True)
    assert traced.lower().donate_argnums == (0, 3)
    assert traced.fun_name == "f"
    assert traced.out_avals[0].shape == traced.out_info[0].shape == (2,)
    assert jitted.eval_shape(jnp.ones(2), {"a": 1.0, "b": 2}, key=key) == traced.out_info


def test_the_module_of_a_stage():
    first = irax.jit(jnp.sin).lower(1.0)
    assert "stablehlo.sine" in str(first.compiler_ir("stablehlo"))
    assert "ROOT sine.2 = f32[] sine(Arg_0.1)" in first.compiler_ir("hlo").as_hlo_text()
    assert first.compiler_ir("mhlo") is None
    assert first.as_text("stablehlo") == first.as_text()
    assert "loc(" in first.as_text(debug_info=True)
    assert "loc(" not in first.as_text()
    assert first.compile().runtime_executable() is not None


@pytest.mark.parametrize("name", ["xla_gpu_autotune_level", "optimization_level"])
def test_options_of_xlas_compiler(name):
    assert irax.jit(jnp.sin).lower(1.0).compile(compiler_options={name: "0"})(0.0) == 0
    assert irax.jit(jnp.sin, compiler_options={name: "0"})(0.0) == 0


def test_options_that_xlas_compiler_has_not():
    lowered = irax.jit(jnp.sin).lower(1.0)
    with pytest.raises(irax.errors.JaxRuntimeError, match="no such option: 'nonsense'"):
        lowered.compile(compiler_options={"nonsense": "0"})
    with pytest.raises(irax.errors.JaxRuntimeError, match="no such option: 'nonsense'"):
        irax.jit(compiler_options={"nonsense": "0"})(jnp.sin)


def test_donated_memory_that_no_result_can_take():
    total = irax.jit(lambda x, y: (jnp.sum(x), y), donate_argnums=(0, 1))
    with pytest.warns(UserWarning, match=r"not usable: float32\[3\]: "):
        total(jnp.ones(3), jnp.ones(4))
    irax.jit(lambda x: x + 1, donate_argnums=0)(jnp.ones(3))  # warnings are errors


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: irax.jit(lambda x: x, static_argnames="x", donate_argnames="x"), ValueError),
        (lambda: irax.jit(lambda x: x, static_argnums=0, donate_argnums=0), ValueError),
        (lambda: irax.jit(lambda a, /, b: a, static_argnames="a"), ValueError),
        (lambda: irax.jit(lambda *args, b: b, donate_argnames="args"), ValueError),
        (lambda: irax.jit(staticmethod(jnp.sin)), TypeError),
        (lambda: irax.jit(generator), TypeError),
    ],
)
def test_parameters_that_cannot_be(call, kind):
    with pytest.raises(kind):
        call()


def generator(x):
    yield x


def test_attributes_of_the_function_stay():
    def f(x):
        return x

    f.note = 7
    assert irax.jit(f).note == 7


def test_lowering_for_platforms_that_are_not_here():
    traced = irax.jit(jnp.sin).trace(1.0)
    lowered = traced.lower(lowering_platforms=("cuda", "vulkan"))
    assert "func.func public @sin" in lowered.as_text("lowered")
    both = traced.lower(lowering_platforms=("cuda", "cpu"))
    assert both.compile(device_assignment=irax.devices()[:1])(0.0) == 0.0
    for platforms in (("nowhere",), "cpu", ()):
        with pytest.raises(ValueError, match="platform"):
            traced.lower(lowering_platforms=platforms)
    with pytest.raises(ValueError, match="one device"):
        both.compile(device_assignment=irax.devices()[:1] * 2)
    assert isinstance(irax.jit(jnp.sin), irax.stages.Wrapped)
    assert isinstance(jnp.sin, irax.stages.Wrapped)
    assert not isinstance(irax.tree.map, irax.stages.Wrapped)


class OnOneDevice:
    """A sharding as `jit` knows one."""

    def __init__(self, *devices):
        self.device_set = set(devices)


def test_shardings_of_one_device():
    (device,) = irax.devices()[:1]
    here = OnOneDevice(device)
    f = irax.jit(lambda x, y: x + y, in_shardings=(here, None), out_shardings=here)
    assert f(1.0, 2.0) == 3.0
    assert irax.jit(in_shardings=None, out_shardings=None)(jnp.sin)(0.0) == 0.0
    with pytest.raises(NotImplementedError, match="2 devices"):
        irax.jit(jnp.sin, in_shardings=OnOneDevice(device, "another"))
    with pytest.raises(TypeError, match="shardings"):
        irax.jit(jnp.sin, in_shardings=3)
    with pytest.raises(ValueError, match="one of them"):
        irax.jit(jnp.sin, in_shardings=here, device=device)


def test_selections_and_conversions_are_arithmetic():
    def select(x):
        return jnp.where(x > 0, x.astype("int32"), 0)

    assert irax.jit(select).lower(np.ones(5, "f")).cost_analysis()["flops"] == 15


def test_it_tells_where_arguments_and_results_are():
    here = SingleDeviceSharding(irax.devices()[0])
    compiled = (
        irax.jit(lambda x, key: {"x": x, "key": key}).lower(X, key=irax.random.key(0)).compile()
    )
    assert compiled.input_shardings == ((here,), {"key": here})
    assert compiled.output_shardings == {"x": here, "key": here}
    assert compiled.input_formats[0] == (Format(Layout((0, 1), ()), here),)
    assert compiled.output_formats["x"] == Format(Layout((0, 1), ()), here)


def test_programs_for_a_mesh_tell_where_arguments_and_results_are():
    mesh = Mesh(np.array([cpu(n) for n in range(4)], dtype=object), ("a",))
    rows, whole = NamedSharding(mesh, P("a")), NamedSharding(mesh, P())
    big = irax.device_put(X, rows)  # is captured

    def f(x, y):
        return x + big, (x + y).sum(), y

    struct = irax.ShapeDtypeStruct((4, 3), "float32", sharding=rows)
    for jitted, x in (
        (irax.jit(f), big),
        (irax.jit(f), struct),
        (irax.jit(f, in_shardings=(rows, None)), X),
    ):
        compiled = jitted.lower(x, X).compile()
        assert compiled.input_shardings == ((rows, whole), {})
        assert compiled.output_shardings == (rows, whole, whole)
        for given in (X, big):
            found = compiled(given, X)
            assert tuple(result.sharding for result in found) == compiled.output_shardings


def test_structs_on_several_devices_are_refused():
    structs = [
        irax.ShapeDtypeStruct((), "f", sharding=SingleDeviceSharding(cpu(n))) for n in (0, 1)
    ]
    with pytest.raises(ValueError, match="incompatible devices"):
        irax.jit(jnp.add).lower(*structs)


def test_types_of_results_tell_where_they_are():
    mesh = Mesh(np.array([cpu(0), cpu(1)], dtype=object), ("a",))
    rows, whole = NamedSharding(mesh, P("a")), NamedSharding(mesh, P())
    x = irax.device_put(jnp.ones((4, 2)), rows)
    keys = irax.random.split(irax.random.key(0), 4)

    def f(x, keys):
        return {"x": 2 * x, "sum": x.sum(), "keys": keys}

    def shardings(infos):
        return {name: info.sharding for name, info in infos.items()}

    asked = {"x": None, "sum": None, "keys": rows}
    traced = irax.jit(f, out_shardings=asked).trace(x, keys)
    assert shardings(traced.out_info) == shardings(traced.lower().out_info) == asked
    compiled = traced.lower().compile()
    found = shardings(compiled.out_info)
    assert found == compiled.output_shardings == {"x": rows, "sum": whole, "keys": rows}
    assert compiled.out_info["keys"].shape == (4,)
    assert shardings(irax.tree.map(jnp.empty_like, compiled.out_info | {"keys": x}))["x"] == rows
    assert shardings(irax.eval_shape(irax.jit(f, out_shardings=asked), x, keys)) == asked
    assert shardings(irax.eval_shape(irax.jit(f), x, keys)) == dict.fromkeys(asked)


def test_structs_of_keys_tell_where_these_are():
    mesh = Mesh(np.array([cpu(0), cpu(1)], dtype=object), ("a",))
    rows = NamedSharding(mesh, P("a"))
    keys = irax.ShapeDtypeStruct((4,), irax.random.key(0).dtype, sharding=rows)
    compiled = irax.jit(lambda keys: keys).lower(keys).compile()
    assert compiled.input_shardings == ((rows,), {})
    assert compiled.out_info.sharding == rows


def test_weak_types_of_arguments_are_told():
    lowered = irax.jit(lambda x, y: x * y).lower(1.0, jnp.ones(2))
    for stage in (lowered, lowered.compile()):
        assert [aval.weak_type for aval in stage.in_avals[0]] == [True, False]
    assert [a.weak_type for a in irax.jit(jnp.sin).trace(1.0).jaxpr.in_avals] == [True]


def test_a_jitted_function_counts_its_signatures():
    function = irax.jit(lambda x: x + 1)
    sizes = [function._cache_size()]
    for argument in (jnp.ones(2), jnp.ones(2), jnp.ones(3), 1.0, 2.0):
        function(argument)
        sizes.append(function._cache_size())
    assert sizes == [0, 1, 1, 2, 3, 3]
    function.clear_cache()
    assert function._cache_size() == 0
