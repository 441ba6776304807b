"""irax.compat: `import jax` gives irax, in processes of their own."""

import os
import subprocess
import sys

import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.compat.jax.interpreters.ad import JVPTracer

PROGRAM = """
import irax, irax.compat, importlib, importlib.metadata, sys
irax.compat.install()
irax.compat.install()
import jax, jax.numpy as jnp, jaxlib
import jax.numpy.linalg, jax.scipy.special, jax.lax.linalg, jax.experimental.ode
assert jax.numpy is irax.numpy and sys.modules["jax.numpy.linalg"] is irax.numpy.linalg
assert irax.numpy.__name__ == irax.numpy.__spec__.name == "irax.numpy"
assert jax.jit is irax.jit and isinstance(jnp.ones(2), jax.Array)
import jax.core, jax.extend.core.primitives, jax.api_util, jax.experimental.pjit
import jax.interpreters.ad as ad, jax.scipy.stats.norm as norm
import jax.scipy.stats.multivariate_normal as multivariate_normal
from jax.interpreters import batching, mlir, partial_eval
from jax.example_libraries import optimizers, stax
from jax.extend import linear_util
import jax._src.xla_bridge
from jax.experimental import mesh_utils, multihost_utils
assert multihost_utils is irax.experimental.multihost_utils
assert mesh_utils is irax.experimental.mesh_utils
assert jax.core is not irax.core
assert jax.core.ShapedArray is irax.core.ShapedArray is type(jnp.ones(2).aval)
assert norm.pdf(0.0) == irax.scipy.stats.norm.pdf(0.0)
assert multivariate_normal is irax.scipy.stats.multivariate_normal
assert jax.lax.sin_p.bind(jnp.zeros(2)).shape == (2,)
from jax._src import api
from jax._src.lax import lax
from jax._src.util import safe_zip
from jax.extend.mlir.dialects import hlo
assert api.grad is irax.grad and lax.add is irax.lax.add and safe_zip([1], [2]) == [(1, 2)]
product_sum = jax.extend.core.Primitive("product_sum")
product_sum.def_abstract_eval(lambda x, y: x)
rule = lambda ctx, x, y: [hlo.AddOp(hlo.MulOp(x, y), hlo.negate(y)).result]
mlir.register_lowering(product_sum, rule, platform="cpu")
text = jax.jit(product_sum.bind).lower(2.0, 3.0).as_text()
assert all("stablehlo." + name in text for name in ("multiply", "negate", "add")), text
try:
    hlo.ReduceOp
except AttributeError as error:
    assert "lower_fun" in str(error)
else:
    raise AssertionError("hlo.ReduceOp")
assert jax.__version__ == jax.lib.__version__
assert jax.__version__ == jaxlib.__version__ == importlib.metadata.version("jaxlib")
for name in ("jax.nothing", "jax.numpy.nothing", "jax.numpy.sin"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name == name
    else:
        raise AssertionError(name)
try:
    jax.nothing
except AttributeError:
    pass
print(sorted(m for m in sys.modules if m.split(".")[0] == "jax")[:2])
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=100)


def test_modules_are_those_of_irax():
    done = python("-W", "error", "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['jax', 'jax._src']\n"


@pytest.mark.slow
def test_the_version_of_jax_that_libraries_are_told():
    code = """
import sys, irax.compat
irax.compat.install(*sys.argv[1:])
import jax, jaxlib, importlib.metadata as metadata
from jax.version import __version_info__
assert jax.__version_info__ is __version_info__
print(jax.__version__, jaxlib.__version__, metadata.version("jax"), __version_info__)
"""
    done = python("-c", code)
    assert done.stdout == "0.12.0.1 0.12.0.1 0.12.0.1 (0, 12, 0, 1)\n", done.stderr
    done = python("-c", code, "0.10.2")
    assert done.stdout == "0.10.2 0.10.2 0.10.2 (0, 10, 2)\n", done.stderr
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "IRAX_JAX_VERSION": "new"},
    )
    assert "a version of JAX is such as 0.12.0.1, got 'new'" in done.stderr


def test_internal_modules_that_libraries_import():
    code = """
import inspect, pytest, jax, jax.numpy as jnp, numpy as np
assert "tensorsolve" not in vars(__import__("irax")) and "angle" in vars(jnp)
from jax._src import pjit, sharding_impls
from jax._src.api_util import infer_argnums_and_argnames
from jax._src.core import Tracer
from jax._src.interpreters import ad, batching
from jax._src.numpy.util import promote_args_inexact, promote_dtypes_complex, promote_dtypes_numeric
from jax._src.lib import ifrt_version, jaxlib_extension_version, pytree, version, version_str
assert version == jax.__version_info__ and version_str == jax.lib.__version__
assert jaxlib_extension_version > ifrt_version > 0 and hasattr(pytree, "DictKey")
from jax._src.public_test_util import check_close
from jax._src.scipy.special import gammaln
from jax._src.tree_util import _registry
from jaxlib._jax import PjitFunction
from jaxlib.xla_client import Device
import jax._src.numpy, jax._src.random
assert Tracer is jax.core.Tracer and gammaln is jax.scipy.special.gammaln
assert ad.Zero is jax.interpreters.ad.Zero and not batching.is_vmappable(1)
assert jax._src.numpy.sin is jnp.sin and jax._src.random.key is jax.random.key
signature = inspect.signature(lambda a, b, *, c: 0)
assert infer_argnums_and_argnames(signature, 1, None) == ((1,), ("b",))
assert infer_argnums_and_argnames(signature, None, ["a", "c"]) == ((0,), ("a", "c"))
assert promote_dtypes_complex(1, np.float32(2))[1].dtype == jnp.complex64
assert promote_dtypes_numeric(True, False)[0].dtype == jnp.int32
x, y = promote_args_inexact("f", 1, jnp.ones((2, 3), int))
assert x.shape == (1, 1) and y.dtype == jnp.float32
check_close({"a": jnp.ones(2)}, {"a": np.ones(2)})
with pytest.raises(AssertionError):
    check_close(jnp.ones(2), jnp.zeros(2))
assert isinstance(jax.jit(jnp.sin), PjitFunction) and isinstance(jax.devices()[0], Device)
assert sharding_impls.canonicalize_sharding(None, "f") is None
children, whole = _registry[dict].to_iter({"b": 1, "a": (2, 3)})
assert children == ((2, 3), 1) and _registry[dict].from_iter(whole, [4, 5]) == {"a": 4, "b": 5}
assert int not in _registry
"""
    done = python("-m", "irax.compat", "-c", code)
    assert done.returncode == 0, done.stderr


def test_names_of_pallas_raise_when_they_are_called():
    code = """
import jax.experimental.pallas.tpu as pltpu
from jax.experimental import pallas as pl
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel
assert isinstance(pl.BlockSpec, type) and not isinstance(1, pl.BlockSpec)
for absent in (pl.pallas_call, pltpu.CompilerParams, splash_attention_kernel.make_splash_mha):
    try:
        absent(print, grid=(1,))
    except NotImplementedError as error:
        assert absent.__name__ in str(error) and "irax.numpy" in str(error)
    else:
        raise AssertionError(absent)
"""
    done = python("-m", "irax.compat", "-c", code)
    assert done.returncode == 0, done.stderr


def test_names_of_jax2tf_raise_when_they_are_called():
    code = """
from jax.experimental import jax2tf
from jax.experimental.jax2tf import call_tf, convert
for absent in (convert, call_tf, jax2tf.PolyShape):
    try:
        absent(print, enable_xla=False)
    except NotImplementedError as error:
        assert absent.__name__ in str(error) and "irax.export" in str(error)
    else:
        raise AssertionError(absent)
"""
    done = python("-m", "irax.compat", "-c", code)
    assert done.returncode == 0, done.stderr


def test_processes_are_registered_with_profilers_by_libraries():
    code = """
import jax
from jax import profiler
from jax.profiler import TraceAnnotation
unregister = profiler.register_subprocess(1, 9000)
assert unregister() is None and jax.profiler.TraceAnnotation is TraceAnnotation
"""
    done = python("-m", "irax.compat", "-c", code)
    assert done.returncode == 0, done.stderr


def test_jax_that_was_imported_before_is_refused(tmp_path):
    (tmp_path / "jax.py").write_text("")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport jax, irax.compat\n"
    done = python("-c", code + "irax.compat.install()")
    assert "ImportError: irax.compat.install(): jax had been imported before" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", [("-m", "irax.compat"), ("-m", "irax_tools.cli", "python")])
def test_programs_run(command, tmp_path):
    script = tmp_path / "program.py"
    script.write_text("import sys, jax, helper\nprint(sys.argv[1:], jax.numpy.sum(helper.X))")
    (tmp_path / "helper.py").write_text("X = [1]\nimport jax\nX = jax.numpy.ones(3)")
    done = python(*command, str(script), "--flag", "value")
    assert done.stdout == "['--flag', 'value'] 3.0\n", done.stderr
    assert done.returncode == 0


@pytest.mark.slow
def test_options_from_the_environment_of_jax(monkeypatch):
    code = "import irax.compat; irax.compat.install(); import jax; print(jax.numpy.ones(2).dtype)"
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setenv("JAX_ENABLE_X64", "True")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_MAX_SIZE", "1000000")
    assert python("-c", code).stdout == "float64\n"
    monkeypatch.setenv("JAX_NUMPY_RANK_PROMOTION", "never")
    problem = "ValueError: the environment variable JAX_NUMPY_RANK_PROMOTION is 'never': the option"
    assert problem in python("-c", code).stderr


@pytest.mark.slow
def test_training_by_the_example_libraries():
    code = """
import numpy as np, jax, jax.numpy as jnp
from jax.example_libraries import optimizers, stax
init, apply = stax.serial(stax.Dense(8), stax.Relu, stax.Dense(1))
x = np.linspace(-1, 1, 16, dtype=np.float32)[:, None]
_, params = init(jax.random.PRNGKey(0), (-1, 1))
loss = lambda p: jnp.mean((apply(p, x) - x**2) ** 2)
for make in (optimizers.sgd(0.1), optimizers.momentum(0.1, 0.9), optimizers.nesterov(0.1, 0.9),
             optimizers.adam(0.01), optimizers.adamax(0.01), optimizers.adagrad(0.1),
             optimizers.rmsprop(0.01), optimizers.rmsprop_momentum(0.001), optimizers.sm3(0.1)):
    state = make.init_fn(params)
    for i in range(30):
        grads = optimizers.clip_grads(jax.grad(loss)(make.params_fn(state)), 1.0)
        state = make.update_fn(i, grads, state)
    assert loss(make.params_fn(state)) < 0.8 * loss(params)
    assert optimizers.pack_optimizer_state(optimizers.unpack_optimizer_state(state)) == state
scalar = optimizers.sm3(0.1)
state = scalar.update_fn(0, jnp.array(1.0), scalar.init_fn(jnp.array(1.0)))
assert np.isclose(scalar.params_fn(state), 0.99)
"""
    done = python("-m", "irax.compat", "-c", code)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_transposed_convolutions_of_the_example_libraries():
    code = """
import numpy as np, jax, jax.numpy as jnp
from jax.example_libraries import stax
init, apply = stax.serial(stax.Conv(4, (3, 3), (2, 2)), stax.ConvTranspose(2, (3, 3), (2, 2)))
shape, params = init(jax.random.PRNGKey(0), (-1, 9, 9, 3))
assert shape == (-1, 9, 9, 2)
assert apply(params, jnp.ones((5, 9, 9, 3))).shape == (5, 9, 9, 2)
init, apply = stax.Conv1DTranspose(6, (4,), padding="SAME", W_init=stax.randn())
shape, params = init(jax.random.PRNGKey(0), (2, 7, 3))
y = apply(params, jnp.zeros((2, 7, 3)).at[0, 3].set(1.0))
assert y.shape == shape == (2, 7, 6)
np.testing.assert_allclose(y[0, 2:6] - params[1][0], params[0].sum(1)[::-1], rtol=1e-5, atol=1e-5)
"""
    done = python("-m", "irax.compat", "-c", code)
    assert done.returncode == 0, done.stderr


def test_arrays_that_have_a_derivative_are_known():
    """Libraries ask which traced arrays depend on what is differentiated."""
    found = {}

    def f(x, outside):
        found.update(
            argument=x,
            sine=jnp.sin(x) + outside,
            branch=lax.cond(x > 0, lambda: x, lambda: 0.0),
            outside=jnp.sin(outside),
            constant=jnp.ones(2) * 2,
            stopped=lax.stop_gradient(x) * 3,
            rounded=(x > 1).astype(float) + 1,
        )
        return {name: isinstance(y, JVPTracer) for name, y in found.items()}

    told = {}
    irax.jit(lambda y: irax.jvp(lambda x: told.update(f(x, y)) or x, (1.0,), (1.0,)))(2.0)
    names = {name for name, is_perturbed in told.items() if is_perturbed}
    assert names == {"argument", "sine", "branch"}
    assert not isinstance(1.0, JVPTracer)


ERRORS = """
import irax.compat
irax.compat.install()
import jax, jax.numpy as jnp
from jax.experimental import io_callback

class Mine(KeyError):
    pass

def fails(x):
    raise Mine("no such number")

x = jnp.ones(2)
def wrong(x):
    return x[0]

for call, function in ((jax.pure_callback, fails), (io_callback, fails), (io_callback, wrong)):
    for run in (lambda f: f, jax.jit):
        try:
            run(lambda x: call(function, x, x) + 1)(x)
        except jax.errors.JaxRuntimeError as error:
            print("Mine: 'no such number'" in str(error), type(error.__cause__).__name__)
"""


@pytest.mark.slow
def test_errors_of_callbacks_are_those_of_the_device():
    """Libraries look for the classes of their own in the text, as equinox does."""
    done = python("-c", ERRORS)
    assert done.stdout == "True Mine\n" * 4 + "False ValueError\n" * 2, done.stderr


def test_jax_imports_the_modules_in_which_libraries_look():
    code = "import jax, sys; print(sys.modules['jax.version'].__version_info__[:2])"
    assert python("-m", "irax.compat", "-c", code).stdout == "(0, 12)\n"
    assert (
        "(0, 12)" in python("-m", "irax.compat", "-c", "import jaxlib, jax.version; " + code).stdout
    )
