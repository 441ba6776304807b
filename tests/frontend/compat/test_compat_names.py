"""Names of JAX's that libraries import, under `irax.compat`."""

import subprocess
import sys

import pytest
from tests.ecosystem import names


def _run(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "irax.compat", "-c", code],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr


def test_helpers_that_libraries_import():
    _run("""
import jax, jax.numpy as jnp
from jax._src import ad_util, core, dtypes, tree_util, util
from jax._src.array import Index, Shape
assert util.flatten([[1], [2, 3]]) == [1, 2, 3]
kinds = jnp.float32, jnp.bfloat16, jnp.int32, jnp.float8_e4m3fn
assert [dtypes.supports_inf(d) for d in kinds] == [True, True, False, False]
f = util.wraps(jnp.sin, namestr="my_{fun}", docstr="Doc of {fun}.")(lambda x: x)
assert (f.__name__, f.__doc__) == ("my_sin", "Doc of sin.")
made = lambda c: util.HashableFunction(lambda x: x + c, (c,))
assert made(1) == made(1) != made(2) and hash(made(1)) == hash(made(1)) and made(2)(3) == 5
part = lambda c: util.HashablePartial(lambda x, y, z: x + y + z, c, z=4)
assert part(1) == part(1) != part(2) and hash(part(1)) == hash(part(1)) and part(2)(3) == 9
class Owner: pass
calls = []
keep = util.weakref_lru_cache(lambda owner, y: calls.append(y))
owner = Owner()
keep(owner, 1), keep(owner, 1), keep(owner, 2)
assert calls == [1, 2]
keep.cache_clear()
keep(owner, 1)
assert calls == [1, 2, 1]
keys = jax.random.split(jax.random.key(0))
assert str(core.physical_aval(jax.typeof(keys))) == "uint32[2,2]"
assert core.physical_aval(jax.typeof(1.0)) == jax.typeof(1.0)
(error,) = tree_util.prefix_errors((0, {"b": 1}), (1, {"a": 2}))
assert "in_axes" in str(error("in_axes"))
assert not tree_util.prefix_errors((0, {"a": 1}), (1, {"a": {"c": 2}}))
assert ad_util.add_any_p.name == "add_any"
from jax._src import custom_derivatives, debugging
assert core.canonicalize_shape([2, 3]) == (2, 3)
assert core.call_p.bind(1.0, jaxpr=jax.make_jaxpr(jnp.sin)(1.0), name="sin")[0] == jnp.sin(1.0)
assert custom_derivatives.custom_jvp_call_jaxpr_p is custom_derivatives.custom_jvp_call_p
assert isinstance(debugging.debug_effect, debugging.DebugEffect)
assert debugging.debug_callback_p.name == "debug_callback"
from jax.experimental.ode import api_util, odeint, ravel_first_arg, ravel_pytree
y, unravel = ravel_pytree({"a": jnp.ones(2), "b": 3.0})
slope = lambda y, t: {"a": -y["a"] * t, "b": y["b"]}
flat = ravel_first_arg(slope, unravel, api_util.debug_info("odeint", slope, (), {}))
assert flat(y, 2.0).tolist() == [-2.0, -2.0, 3.0]
assert odeint(flat, y, jnp.array([0.0, 0.0])).shape == (2, 3)
from jax.experimental.sparse.linalg import _check_inputs, _eigh_ascending, _mm, lobpcg_standard
matrix = jnp.diag(jnp.arange(12.0))
assert _eigh_ascending(_mm(matrix, matrix))[0].round(3)[:2].tolist() == [121.0, 100.0]
_check_inputs(lambda x: matrix @ x, jnp.ones((12, 2)))
for product, k in ((lambda x: x, 3), (lambda x: x, 0), (lambda x: x[1:], 2)):
    try:
        _check_inputs(product, jnp.ones((12, k)))
    except ValueError:
        continue
    raise AssertionError
""")


def test_names_that_libraries_import():
    _run("""
import collections, jax, jax.numpy as jnp, numpy as np
import jax.experimental.shard_map, jax._src.shard_map
from jax.experimental import shard_map
assert callable(shard_map.shard_map) and jax.experimental.shard_map is shard_map
from jax._src.core import is_constant_dim
from jax.core import definitely_equal_shape, is_constant_shape
n, = jax.export.symbolic_shape("n")
assert is_constant_dim(3) and not is_constant_dim(n) and not is_constant_shape((2, n))
assert definitely_equal_shape((n, 2), (n, 2)) and not definitely_equal_shape((2,), (3,))
from jax._src.lib import xla_client
from jax._src.lib.xla_client import XlaRuntimeError
assert issubclass(XlaRuntimeError, RuntimeError)
from jax._src.numpy.ufuncs import ufunc
assert isinstance(jnp.add, ufunc)
from jax.interpreters import pxla
mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
assert pxla.thread_resources.env.physical_mesh.empty
with mesh:
    assert pxla.thread_resources.env.physical_mesh is mesh
from jax._src.mesh import thread_resources
assert thread_resources is pxla.thread_resources
from jax._src.util import merge_lists, partition_list, split_list, unzip2
assert split_list([1, 2, 3, 4], [1, 2]) == [[1], [2, 3], [4]]
parts = partition_list([True, False, True], [1, 2, 3])
assert parts == ([2], [1, 3]) and merge_lists([True, False, True], *parts) == [1, 2, 3]
assert unzip2([(1, 2), (3, 4)]) == ((1, 3), (2, 4))
from jax._src.dtypes import to_complex_dtype
assert to_complex_dtype(jnp.float32) == np.complex64
from jax._src.effects import lowerable_effects
class Mine(jax.extend.core.Effect): pass
lowerable_effects.add_type(Mine)
assert lowerable_effects.filter_in([Mine(), 1])[0].__class__ is Mine
from jax.interpreters.batching import BatchTracer
kinds = []
jax.vmap(lambda x: kinds.append(isinstance(x, BatchTracer)) or x)(jnp.ones(2))
jax.jit(lambda x: kinds.append(isinstance(x, BatchTracer)) or x)(jnp.ones(2))
assert kinds == [True, False]
keys = []
jax.jit(lambda k: keys.append(isinstance(k, jax.core.Tracer)) or k)(jax.random.key(0))
assert keys == [True] and not isinstance(jax.random.key(0), jax.core.Tracer)
""")


def test_subclasses_of_primitive_define_their_rules_as_methods():
    _run("""
import jax, jax.numpy as jnp
class Double(jax.extend.core.Primitive):
    def impl(self, x):
        return 2 * x
    def abstract_eval(self, x):
        return x, set()
double = Double("double")
assert double.bind(3.0) == 6 and jax.jit(double.bind)(jnp.ones(2)).tolist() == [2, 2]
bare = jax.extend.core.Primitive("bare")
try:
    bare.bind(1.0)
except NotImplementedError as error:
    assert "def_impl" in str(error)
bare.def_impl(lambda x: x)
assert bare.bind(1.0) == 1
""")


SPARSE = """
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import sparse
from jax.experimental.sparse import bcoo, coo, csr
from jax.experimental.sparse.coo import COOInfo, coo_todense_p
from jax.experimental.sparse.util import SparseInfo
m = np.array([[0.0, 1, 2], [3, 0, 0]], np.float32)
data, row, col, indptr = np.array([1, 2, 3], np.float32), [0, 0, 1], [1, 2, 0], [0, 2, 3]
row, col, indptr = (np.array(x, np.int32) for x in (row, col, indptr))
places = np.stack([row, col], 1)
v, b = np.arange(1.0, 4, dtype=np.float32), np.arange(6.0, dtype=np.float32).reshape(3, 2)
info, known = COOInfo((2, 3), True, False), SparseInfo((2, 3), True, True)
numbers = (((1,), (0,)), ((), ()))
general = dict(dimension_numbers=numbers, preferred_element_type=np.dtype("float32"))
def check(name, expected, *args, **params):
    primitive = getattr(sparse, name)
    bind = lambda *a: primitive.bind(*a, **params)
    for found in (bind(*args), jax.jit(bind)(*args)):
        found, wanted = (x if isinstance(x, (list, tuple)) else [x] for x in (found, expected))
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_allclose(x, y)
assert coo_todense_p is sparse.coo_todense_p and bcoo.bcoo_todense_p is sparse.bcoo_todense_p
check("coo_todense_p", m, data, row, col, spinfo=info)
check("coo_matvec_p", m @ v, data, row, col, v, spinfo=info, transpose=False)
check("coo_matmat_p", m @ b, data, row, col, b, spinfo=info, transpose=False)
check("coo_fromdense_p", [data, row, col], m, nse=3, index_dtype=np.int32)
check("csr_todense_p", m, data, col, indptr, shape=(2, 3))
check("csr_matvec_p", m.T @ v[:2], data, col, indptr, v[:2], shape=(2, 3), transpose=True)
check("csr_matmat_p", m @ b, data, col, indptr, b, shape=(2, 3), transpose=False)
check("csr_fromdense_p", [data, col, indptr], m, nse=3, index_dtype=np.int32)
check("bcoo_todense_p", m, data, places, spinfo=known)
check("bcoo_extract_p", data, places, m, assume_unique=True)
check("bcoo_dot_general_p", m @ v, data, places, v, lhs_spinfo=known, **general)
check("bcoo_transpose_p", [data, places[:, ::-1]], data, places, permutation=(1, 0), spinfo=known)
check("bcoo_sort_indices_p", [data, places], data[::-1].copy(), places[::-1].copy(),
      spinfo=SparseInfo((2, 3)))
check("bcoo_sum_duplicates_p", [data, places], data, places, spinfo=known, nse=3)
check("bcoo_dot_general_sampled_p", (b @ m)[row, col], b, m, places, dimension_numbers=numbers)
options = dict(nse=3, n_batch=0, n_dense=0, index_dtype=np.int32)
check("bcoo_fromdense_p", [data, places], m, **options)
check("bcsr_fromdense_p", [data, col, indptr], m, **options)
check("bcsr_todense_p", m, data, col, indptr, spinfo=known)
check("bcsr_extract_p", data, col, indptr, m)
check("bcsr_dot_general_p", m @ b, data, col, indptr, b, lhs_spinfo=known, **general)
"""


@pytest.mark.slow
def test_sparse_primitives():
    _run(SPARSE)


@pytest.mark.slow
def test_sparse_primitives_of_jax_agree():
    pytest.importorskip("jax")
    done = subprocess.run([sys.executable, "-c", SPARSE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_page_of_names_is_of_today():
    users = names.kept()
    assert names.PAGE.read_text() == names.page(users, names.there(users))


def test_modules_are_attributes_of_their_packages():
    """Modules that JAX itself imports are there without an import of one's own."""
    _run("""
import jax, jaxlib
assert jaxlib._jax.PjitFunction is type(jax.jit(abs)) and jaxlib.xla_client and jaxlib.utils
src = jax._src
assert src.state.types and src.state.primitives and src.lax.linalg.lu is jax.lax.linalg.lu
assert jax.lax.linalg.cholesky_p.name == 'cholesky'
assert src.export._export.Exported is jax.export.Exported
""")


def test_private_helpers_that_libraries_import():
    _run("""
import jax, jax.numpy as jnp
from jax._src import dispatch, source_info_util
from jax._src.core import full_lower, safe_zip
from jax._src.interpreters.batching import BatchTrace, make_iota, to_elt
from jax._src.nn.initializers import _complex_truncated_normal, _complex_uniform
from jax._src.typing import SupportsDType
from jax.core import trace_ctx
assert full_lower(3) == 3 and safe_zip([1], [2]) == [(1, 2)]
assert make_iota(3).tolist() == [0, 1, 2] and to_elt(None, None, 5, None) == 5
assert dispatch.apply_primitive(jax.lax.sin_p, 0.0) == 0
key = jax.random.key(0)
numbers = _complex_truncated_normal(key, 2, (1000,), jnp.complex64)
assert 1.8 < abs(numbers).max() <= 2 and abs(_complex_uniform(key, (9,), jnp.complex64)).max() < 1.5
from jax._src.sharding_impls import UNSPECIFIED
none = {"in_shardings": UNSPECIFIED, "out_shardings": UNSPECIFIED}
assert jax.jit(jnp.sin, **none)(0.0) == 0 == jax.lax.sin_p.impl(0.0)
seen = []
jax.vmap(lambda x: seen.append(isinstance(trace_ctx.trace, BatchTrace)) or x)(jnp.ones(2))
assert seen == [True] and trace_ctx.is_top_level() and trace_ctx.trace is None
with jax.named_scope("a"), jax.named_scope("b"):
    assert source_info_util.current_name_stack() == "a/b"
""")


def test_traces_take_further_arguments():
    _run("""
import jax, jax.numpy as jnp
from jax._src import core, source_info_util
table = jnp.linspace(0.0, 1.0, 1000)

def f(x):
    trace = core.trace_ctx.trace
    def read():
        aval = jax.core.ShapedArray((3,), jnp.float32)
        return trace.new_arg(aval, source_info=source_info_util.current())
    return jax.jit(lambda z: z * read())(x) + table[:3]

closed = jax.make_jaxpr(f)(2.0)
assert [v.aval.shape for v in closed.jaxpr.invars] == [(), (3,)] and len(closed.consts) == 1
state = jnp.array([1.0, 2.0, 3.0])
(found,) = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 2.0, state)
assert jnp.allclose(found, 2 * state + table[:3])
try:
    jax.jit(f)(2.0)
except TypeError as error:
    assert "make_jaxpr alone" in str(error)
else:
    raise AssertionError
""")


def test_parts_of_jacobians():
    """Both Jacobians of a function of a pytree to a pytree, as libraries build them."""
    _run("""
from functools import partial
import jax, jax.numpy as jnp, numpy as np
from jax._src.api import (
    _check_input_dtype_jacfwd, _check_input_dtype_jacrev, _check_output_dtype_jacfwd,
    _check_output_dtype_jacrev, _ensure_index, _jacfwd_unravel, _jacrev_unravel, _jvp, _std_basis,
    argnums_partial2, tree_map, vmap,
)
from jax._src.api_util import _ensure_index_tuple, check_callable
def f(x, y):
    return jnp.sin(x["a"]) * y, jnp.sum(x["b"] ** 2)
x = {"a": jnp.array([0.5, 1.0]), "b": jnp.arange(6.0).reshape(2, 3)}
given, arguments = argnums_partial2(f, _ensure_index(0), (x, 3.0), {})
y, columns = vmap(partial(_jvp, given, arguments), out_axes=(None, -1))(_std_basis(arguments))
forward = tree_map(partial(_jacfwd_unravel, x), y, columns)
y, pullback = jax.vjp(given, *arguments)
rows = vmap(pullback)(_std_basis(y))[0]
reverse = tree_map(partial(_jacrev_unravel, y), x, rows)
for i, d in ((0, np.diag(3 * np.cos([0.5, 1.0]))), (1, np.zeros(2))):
    np.testing.assert_allclose(forward[i]["a"], d, rtol=1e-6)
    np.testing.assert_allclose(reverse["a"][i], d, rtol=1e-6)
for found in (forward[1]["b"], reverse["b"][1]):
    np.testing.assert_allclose(found, 2 * x["b"])
assert _ensure_index([1, 2]) == (1, 2) and _ensure_index_tuple(1) == (1,)
n, z = jnp.arange(2), jnp.ones(2, complex)
for check, good, bad in (
    (partial(_check_input_dtype_jacfwd, False), x["a"], n),
    (partial(_check_input_dtype_jacfwd, True), z, x["a"]),
    (partial(_check_output_dtype_jacfwd, True), z, x["a"]),
    (partial(_check_input_dtype_jacrev, False, False), z, n),
    (partial(_check_input_dtype_jacrev, True, False), z, x["a"]),
    (partial(_check_output_dtype_jacrev, False), x["a"], z),
    (check_callable, f, 5),
    (check_callable, f, staticmethod(f)),
):
    check(good)
    try:
        check(bad)
    except TypeError:
        continue
    raise AssertionError(check)
_check_input_dtype_jacrev(False, True, n)
_check_output_dtype_jacfwd(False, n)
""")


def test_parts_of_vectorize_and_of_solves():
    _run("""
import jax, jax.numpy as jnp, numpy as np
from jax._src.numpy.vectorize import (
    _apply_excluded, _check_output_dims, _parse_gufunc_signature, _parse_input_dimensions,
)
from jax._src.numpy.index_tricks import CClass, RClass
from jax._src.random import Shape
from jax._src.typing import DType
from jax._src.util import canonicalize_axis
assert isinstance(jnp.c_, CClass) and isinstance(jnp.r_, RClass) and DType is np.dtype
inputs, outputs = _parse_gufunc_signature("(a,b),(b)->(a),()")
assert inputs == [("a", "b"), ("b",)] and outputs == [("a",), ()]
shape, sizes = _parse_input_dimensions((np.ones((4, 2, 3)), np.ones(3)), inputs)
assert shape == (4,) and sizes == {"a": 2, "b": 3}
f, args, kwargs = _apply_excluded(lambda x, y, z: (x, y, z), {1, "z"}, (1, 2), {"z": 7})
assert list(args) == [1] and kwargs == {} and f(5) == (5, 2, 7)
good = lambda *_: (jnp.ones(2), 1.0)
assert _check_output_dims(good, sizes, outputs)()[1] == 1.0
for wrong in (
    lambda: _parse_input_dimensions((np.ones((2, 3)), np.ones(2)), inputs),
    lambda: _parse_input_dimensions((np.ones(3), np.ones(3)), inputs),
    lambda: _check_output_dims(lambda: (jnp.ones(3), 1.0), sizes, outputs)(),
    lambda: _check_output_dims(lambda: (1.0, 1.0), sizes, outputs)(),
    lambda: canonicalize_axis(-3, 2),
):
    try:
        wrong()
    except ValueError:
        continue
    raise AssertionError
assert canonicalize_axis(-1, 2) == 1
from jax._src.lax.linalg import lu_solve
rng = np.random.default_rng(0)
a = rng.normal(size=(3, 4, 4)) + 1j * rng.normal(size=(3, 4, 4))
b = rng.normal(size=(3, 4, 2))
with jax.enable_x64(True):
    lu, _, permutation = jax.lax.linalg.lu(a)
    for trans, m in enumerate((a, a.swapaxes(1, 2), a.conj().swapaxes(1, 2))):
        found = lu_solve(lu, permutation, b, trans)
        np.testing.assert_allclose(found, np.linalg.solve(m, b), rtol=1e-9)
        one = lu_solve(lu[0], permutation[0], b[0, :, 0], trans)
        np.testing.assert_allclose(one, np.linalg.solve(m[0], b[0, :, 0]), rtol=1e-9)
""")


def test_names_gone_from_jax_core_stay_with_a_warning():
    _run("""
import warnings
import jax, jax.extend.core
with warnings.catch_warnings(record=True) as met:
    warnings.simplefilter("always")
    assert jax.core.Jaxpr is jax.extend.core.Jaxpr is jax._src.core.Jaxpr
    from jax.core import ClosedJaxpr
    assert jax.core.ShapedArray is type(jax.numpy.ones(2).aval)
    assert not hasattr(jax.core, "no_such_name")
told = {(w.category, str(w.message).split()[0]) for w in met}
assert told == {(DeprecationWarning, f"jax.core.{n}") for n in ("Jaxpr", "ClosedJaxpr")}, told
""")
