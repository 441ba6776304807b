"""Names of JAX's that classes of irax say are theirs, and their modules, where it stands for JAX.

Libraries choose by them: `type(x).__module__` begins with `jaxlib` for arrays, and with `jax` for
traced ones. Pickles name them, so that each of the two can read what the other has written.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from irax.core import origins
from irax.core.avals import ShapedArray

CLASSES: dict[str, dict[str, str]] = {
    "irax.core.array": {"Array": "jax.Array", "ConcreteArray": "jaxlib._jax.ArrayImpl"},
    "irax.core.avals": {
        "AbstractRef": "jax._src.state.types.AbstractRef",
        "ManualAxisType": "jax._src.core.ManualAxisType",
        "UnreducedKind": "jax._src.partition_spec.UnreducedKind",
        "ShapeDtypeStruct": "jax.ShapeDtypeStruct",
        "ShapedArray": "jax._src.core.ShapedArray",
    },
    "irax.core.dtypes.kinds": {
        "KeyType": "jax._src.random.prng.KeyTy",
        "extended": "jax.dtypes.extended",
        "prng_key": "jax.dtypes.prng_key",
    },
    "irax.core.dtypes.lattice": {"TypePromotionError": "jax.dtypes.TypePromotionError"},
    "irax.core.key_arrays": {"KeyArray": "jax._src.random.prng.PRNGKeyArray"},
    "irax.core.shardings.layouts": {
        "Format": "jax._src.layout.Format",
        "Layout": "jax._src.layout.Layout",
    },
    "irax.core.shardings.meshes": {
        "AbstractDevice": "jax._src.mesh.AbstractDevice",
        "AbstractMesh": "jax._src.mesh.AbstractMesh",
        "AxisType": "jax._src.mesh.AxisType",
        "BaseMesh": "jax._src.mesh.BaseMesh",
        "Mesh": "jax._src.mesh.Mesh",
    },
    "irax.core.settings.options": {"Config": "jax._src.config.Config"},
    "irax.core.shardings.partition_specs": {"PartitionSpec": "jax.P"},
    "irax.core.trees.registry_object": {"PyTreeRegistry": "jax._src.tree_util.PyTreeRegistry"},
    "irax.core.refs.refs": {"Ref": "jax._src.core.Ref"},
    "irax.core.shardings.sharded": {"Shard": "jax._src.array.Shard"},
    "irax.core.shardings.shardings": {
        "NamedSharding": "jax.sharding.NamedSharding",
        "Sharding": "jaxlib._jax.Sharding",
        "SingleDeviceSharding": "jax.sharding.SingleDeviceSharding",
    },
    "irax.core.tracing": {
        "Trace": "jax._src.core.Trace",
        "Tracer": "jax._src.interpreters.partial_eval.DynamicJaxprTracer",
    },
    "irax.core.trees.registry": {
        "DictKey": "jaxlib._jax.pytree.DictKey",
        "FlattenedIndexKey": "jaxlib._jax.pytree.FlattenedIndexKey",
        "GetAttrKey": "jaxlib._jax.pytree.GetAttrKey",
        "Partial": "jax.tree_util.Partial",
        "SequenceKey": "jaxlib._jax.pytree.SequenceKey",
    },
    "irax.core.trees.treedefs": {"PyTreeDef": "jaxlib._jax.pytree.PyTreeDef"},
    "irax.execution.jitted": {"PjitFunction": "jaxlib._jax.PjitFunction"},
    "irax.experimental.checkify.errors": {
        "Error": "jax._src.checkify.Error",
        "JaxRuntimeError": "jax._src.checkify.JaxRuntimeError",
    },
    "irax.experimental.sparse.bcoo": {"BCOO": "jax.experimental.sparse.bcoo.BCOO"},
    "irax.experimental.sparse.bcsr": {"BCSR": "jax.experimental.sparse.bcsr.BCSR"},
    "irax.experimental.sparse.forms": {"JAXSparse": "jax.experimental.sparse._base.JAXSparse"},
    "irax.experimental.sparse.matrices": {
        "COO": "jax.experimental.sparse.coo.COO",
        "CSC": "jax.experimental.sparse.csr.CSC",
        "CSR": "jax.experimental.sparse.csr.CSR",
    },
    "irax.export": {"Exported": "jax._src.export._export.Exported"},
    "irax.extend.linear_util": {"WrappedFun": "jax._src.linear_util.WrappedFun"},
    "irax.extend.primitive": {"Primitive": "jax._src.core.Primitive"},
    "irax.extend.zeros": {
        "UndefinedPrimal": "jax._src.interpreters.ad.UndefinedPrimal",
        "Zero": "jax._src.ad_util.Zero",
    },
    "irax.jaxprs.language": {
        name: f"jax._src.core.{name}" for name in ("DropVar", "Jaxpr", "JaxprEqn", "Literal", "Var")
    },
    "irax.lax.accuracy": {
        name: f"jax._src.lax.lax.{name}"
        for name in ("AccuracyMode", "DotAlgorithm", "DotAlgorithmPreset", "Tolerance")
    },
    "irax.lax.contraction": {"Precision": "jax._src.lax.lax.Precision"},
    "irax.lax.convolution": {
        "ConvDimensionNumbers": "jax._src.lax.convolution.ConvDimensionNumbers"
    },
    "irax.lax.elementwise": {"RoundingMethod": "jax._src.lax.lax.RoundingMethod"},
    "irax.lax.fourier": {"FftType": "jax._src.lax.fft.FftType"},
    "irax.lax.gathering": {
        name: f"jax._src.lax.slicing.{name}"
        for name in ("GatherDimensionNumbers", "GatherScatterMode", "ScatterDimensionNumbers")
    },
    "irax.lax.ragged": {"RaggedDotDimensionNumbers": "jax._src.lax.lax.RaggedDotDimensionNumbers"},
    "irax.lax.random_bits": {"RandomAlgorithm": "jax._src.lax.lax.RandomAlgorithm"},
    "irax.numpy.array_methods": {"_reconstruct_array": "jax._src.array._reconstruct_array"},
    "irax.numpy.indexing.updates": {
        "At": "jax._src.numpy.array_methods._IndexUpdateHelper",
        "AtIndex": "jax._src.numpy.array_methods._IndexUpdateRef",
    },
    "irax.numpy.scalars": {"ScalarType": "jax._src.numpy.scalar_types._ScalarMeta"},
    "irax.numpy.ufunc_objects": {"ufunc": "jax.numpy.ufunc"},
    "irax.stages": {
        name: f"jax._src.stages.{name}" for name in ("ArgInfo", "Compiled", "Lowered", "Traced")
    },
    "irax.transforms.custom_jvp": {"custom_jvp": "jax._src.custom_derivatives.custom_jvp"},
    "irax.transforms.custom_vjp": {"custom_vjp": "jax._src.custom_derivatives.custom_vjp"},
    "irax.transforms.custom_vmap": {"custom_vmap": "jax._src.custom_batching.custom_vmap"},
    "irax.transforms.symbolic_zeros": {
        "CustomVJPPrimal": "jax._src.custom_derivatives.CustomVJPPrimal",
        "SymbolicZero": "jax._src.ad_util.SymbolicZero",
    },
    "irax_compiler.ops.control_flow.policies": {
        "Offloadable": "jax._src.interpreters.partial_eval.Offloadable"
    },
    "irax_compiler.sizes.expressions": {"Size": "jax._src.export.shape_poly._DimExpr"},
    "irax_compiler.sizes.scopes": {"SymbolicScope": "jax._src.export.shape_poly.SymbolicScope"},
    "irax_runtime.device": {"Device": "jaxlib._jax.Device"},
    "irax_runtime.distributed": {"RemoteDevice": "jaxlib._jax.Device"},
    "irax_runtime.iree.cpu": {"CpuDevice": "jaxlib._jax.Device"},
    "irax_runtime.iree.gpu": {"GpuDevice": "jaxlib._jax.Device"},
    "irax_runtime.pjrt.client": {"PjrtDevice": "jaxlib._jax.Device"},
}
"""The names of JAX's of what irax defines, by module and name. Other public classes and functions
are named after the public module that they are in."""
PUBLIC: tuple[str, ...] = tuple(
    f"irax.{name}".rstrip(".")
    for name in (
        *("ad_checkpoint", "custom_batching", "custom_derivatives", "debug", "dlpack", "dtypes"),
        *("errors", "export", "ffi", "flatten_util", "image", "lax", "lax.linalg", "nn"),
        *("nn.initializers", "numpy", "numpy.fft", "numpy.linalg", "ops", "profiler", "random"),
        *("ref", "scipy.cluster.vq", "scipy.fft", "scipy.integrate", "scipy.interpolate"),
        *("scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.signal"),
        *("scipy.sparse.linalg", "scipy.spatial.transform", "scipy.special", "sharding", "stages"),
        *("tree", "tree_util", "experimental.sparse", "experimental.ode", ""),
    )
)
"""Modules of irax's that are also JAX's: what they have says the name of the first that has it."""
_NAMES_OF_TRACERS = {"jit": "Jit", "grad": "Grad", "jvp": "JVP", "vmap": "Vmap"}


def apply(module: ModuleType) -> None:
    """Let what a module of irax has say the names of JAX's, and show itself as JAX's does."""
    for name, told in CLASSES.get(module.__name__, {}).items():
        said_of, _, last = told.rpartition(".")
        origins.rename(vars(module)[name], said_of, last)
    for name, (shown, text) in _SHOWN.get(module.__name__, {}).items():
        vars(module)[name].__repr__ = shown
        vars(module)[name].__str__ = text or shown
    if module.__name__ in PUBLIC:
        name_after(module)


def apply_to_loaded() -> None:
    """Do so for the modules that are there: others follow when they are imported."""
    for name in (*CLASSES, *PUBLIC):
        if name in sys.modules:
            apply(sys.modules[name])


def defined_as(told: str) -> Any:
    """Return the class or function of irax's that says a name of JAX's; None for none."""
    for module, names in CLASSES.items():
        for name, said in names.items():
            if said == told:
                return getattr(importlib.import_module(module), name)
    return None


def name_after(module: ModuleType) -> None:
    """Let the functions and classes that a public module has say its name, as JAX has it."""
    said_of = module.__name__.replace("irax", "jax", 1)
    for key, value in list(vars(module).items()):
        if key.startswith("_") or getattr(value, "__name__", None) != key or not callable(value):
            continue
        home = getattr(value, "__module__", None)
        if isinstance(home, str) and home.partition(".")[0] == "irax":
            origins.rename(value, said_of, key)


def _aval(aval: Any) -> str:
    weak = ", weak_type=True" * aval.weak_type
    return f"ShapedArray({_OWN_TEXT(aval).removesuffix(' (weak)')}{weak})"


def _aval_text(aval: Any) -> str:
    told = _OWN_TEXT(aval)
    return "~" + told.removesuffix(" (weak)") if aval.weak_type else told


def _tracer(x: Any) -> str:
    return f"{_NAMES_OF_TRACERS.get(x.home.kind, 'Jit')}Tracer({x.aval})"


def _ufunc(x: Any) -> str:
    return f"<jnp.ufunc {x.__name__!r}>"


def _jitted(x: Any) -> str:
    try:
        return f"<PjitFunction of {x.__wrapped__!r}>"
    except Exception:  # of the user's class
        return "<PjitFunction>"


_OWN_TEXT = ShapedArray.__str__
_Text = Callable[[Any], str]
_SHOWN: dict[str, dict[str, tuple[_Text, _Text | None]]] = {
    "irax.core.avals": {"ShapedArray": (_aval, _aval_text)},
    "irax.core.tracing": {"Tracer": (_tracer, None)},
    "irax.execution.jitted": {"PjitFunction": (_jitted, None)},
    "irax.numpy.ufunc_objects": {"ufunc": (_ufunc, None)},
}
"""Functions that give what `repr` shows of an object, and `str` where that differs, by class."""
