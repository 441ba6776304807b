"""Facts of what objects say they are, on JAX or on irax: a program for both, of `import jax`.

python identities.py FOLDER [OTHER]: writes facts.json and a pickle of each object to FOLDER, and
reads those of OTHER.
"""

import collections
import collections.abc
import json
import pickle
import sys
from pathlib import Path

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax._src import core as internal_core
from jax._src.array import ArrayImpl
from jax._src.basearray import Array as InternalArray
from jax._src.interpreters.partial_eval import DynamicJaxprTracer
from jax._src.mesh import Mesh as InternalMesh
from jax._src.named_sharding import NamedSharding as InternalSharding
from jax._src.partition_spec import PartitionSpec as InternalSpec
from jax._src.random.prng import PRNGKeyArray
from jax._src.sharding import Sharding as InternalBase
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec, Sharding
from jaxlib import _jax  # pyright: ignore[reportAttributeAccessIssue]
from jaxlib.xla_client import Device

Point = collections.namedtuple("Point", ["x", "y"])
x = jnp.arange(3.0)
key = jax.random.key(0)
mesh = Mesh(np.array(jax.devices()[:1]), ("x",))
traced: dict[str, object] = {}


@jax.jit
def remember(y, k):
    traced.update(y=y, k=k)
    return y


remember(x, key)
lowered = jax.jit(jnp.sin).lower(x)
OBJECTS = {
    "array": x,
    "weak": jnp.asarray(1.0),
    "bfloat16": jnp.ones(2, jnp.bfloat16),
    "int4": jnp.ones(2, jnp.int4),
    "empty": jnp.zeros((0, 3)),
    "tree": {"a": [x, (x, None)]},
    "key": key,
    "keys": jax.random.split(jax.random.key(3, impl="rbg"), 2),
    "key dtype": key.dtype,
    "traced": traced["y"],
    "traced keys": traced["k"],
    "device": jax.devices()[0],
    "sharding": x.sharding,
    "named sharding": NamedSharding(mesh, PartitionSpec("x")),
    "mesh": mesh,
    "abstract mesh": AbstractMesh((2,), ("x",)),
    "spec": PartitionSpec("x", None, ("y", "z")),
    "axis type": AxisType.Explicit,
    "aval": x.aval,
    "weak_aval": jnp.asarray(1.0).aval,
    "struct": jax.ShapeDtypeStruct((3,), np.float32, weak_type=True),
    "treedef": jax.tree.structure({"b": (1, None, ()), "a": [2, Point(1, {})]}),
    "leaf": jax.tree.structure(1),
    "own treedef": jax.tree.structure(jax.tree_util.Partial(jax.nn.gelu, 1.0)),
    "partial": jax.tree_util.Partial(jax.nn.gelu, 1.0),
    "dict key": jax.tree_util.DictKey("a"),
    "sequence key": jax.tree_util.SequenceKey(1),
    "attribute key": jax.tree_util.GetAttrKey("a"),
    "numbered key": jax.tree_util.FlattenedIndexKey(1),
    "jitted": jax.jit(jnp.sin),
    "lowered": lowered,
    "compiled": lowered.compile(),
    "jaxpr": jax.make_jaxpr(jnp.sin)(x),
    "ufunc": jnp.add,
    "at": x.at,
    "custom_jvp": jax.custom_jvp(jnp.sin),
    "custom_vjp": jax.custom_vjp(jnp.sin),
    "precision": jax.lax.Precision.HIGHEST,
    "mode": jax.lax.GatherScatterMode.CLIP,
    "dimensions": jax.lax.conv_dimension_numbers((1, 1, 1), (1, 1, 1), None),
    "layout": x.format.layout,  # pyright: ignore[reportAttributeAccessIssue]
    "size": jax.export.symbolic_shape("a")[0],
    "shard": x.addressable_shards[0],
    "config": jax.config,
    "ref": jax.new_ref(x),
}
CLASSES = {
    name: getattr(jnp, name)
    for name in ("bool_", "int8", "int32", "uint8", "float32", "bfloat16", "complex64", "int4")
} | {"error": jax.errors.ConcretizationTypeError, "array class": type(x)}
FUNCTIONS = {
    "sum": jnp.sum,
    "jit": jax.jit,
    "gelu": jax.nn.gelu,
    "normal": jax.random.normal,
    "scan": jax.lax.scan,
    "expit": jax.scipy.special.expit,
    "map": jax.tree.map,
    "uniform": jax.nn.initializers.glorot_uniform,
}
SHOWN = (
    "array weak bfloat16 key keys traced aval weak_aval struct spec mesh sharding precision partial"
)
BASES = {
    "jax.Array": jax.Array,
    "jnp.ndarray": jnp.ndarray,
    "internal Array": InternalArray,
    "ArrayImpl": ArrayImpl,
    "_jax.ArrayImpl": _jax.ArrayImpl,
    "PRNGKeyArray": PRNGKeyArray,
    "Tracer": jax.core.Tracer,
    "internal Tracer": internal_core.Tracer,
    "DynamicJaxprTracer": DynamicJaxprTracer,
    "Device": jax.Device,
    "xla_client.Device": Device,
    "Sharding": Sharding,
    "internal Sharding": InternalBase,
    "NamedSharding": NamedSharding,
    "internal NamedSharding": InternalSharding,
    "Mesh": Mesh,
    "internal Mesh": InternalMesh,
    "PartitionSpec": PartitionSpec,
    "internal PartitionSpec": InternalSpec,
    "ShapedArray": jax.core.ShapedArray,
    "AbstractValue": jax.core.AbstractValue,
    "PjitFunction": _jax.PjitFunction,
    "ShapeDtypeStruct": jax.ShapeDtypeStruct,
    "Compiled": jax.stages.Compiled,
    "tuple": tuple,
    "Hashable": collections.abc.Hashable,
}


def facts() -> dict[str, object]:
    """Return the facts, by names."""
    found: dict[str, object] = {}
    for name, value in OBJECTS.items():
        kind = type(value)
        found[f"class of {name}"] = [kind.__module__, kind.__name__, kind.__qualname__]
        found[f"bases of {name}"] = [base for base in BASES if isinstance(value, BASES[base])]
    for name, kind in CLASSES.items():
        found[f"class {name}"] = [kind.__module__, kind.__name__, repr(kind), repr(type(kind))]
    for name, function in FUNCTIONS.items():
        found[f"function {name}"] = [function.__module__.partition(".")[0], function.__name__]
    for name in SHOWN.split():
        found[f"repr of {name}"] = [repr(OBJECTS[name]), str(OBJECTS[name])]
    for name, scalar in CLASSES.items():
        if not isinstance(getattr(scalar, "dtype", None), np.dtype):
            continue
        for other in (np.int32, np.dtype("int32"), jnp.int32, "int32", int, scalar.dtype.type):
            equal = [scalar == other, other == scalar, scalar != other]
            found[f"{name} and {other}"] = [*map(bool, equal), other in {scalar}, scalar in {other}]
    return found


def described(value: object) -> str:
    """Return the value of an object, as far as it is one."""
    leaves = [
        np.asarray(jax.random.key_data(y) if _is_key(y) else y) for y in jax.tree.leaves(value)
    ]
    is_numeric = all(leaf.dtype != object for leaf in leaves)
    shown = [(leaf.dtype.name, leaf.tolist()) for leaf in leaves] if is_numeric else str(value)
    return f"{type(value).__name__} {shown}" if not callable(value) else str(type(value))


def _is_key(y: object) -> bool:
    return isinstance(y, jax.Array) and jnp.issubdtype(y.dtype, jax.dtypes.prng_key)


def main(folder: Path, other: Path | None) -> None:
    found = facts()
    if other is None:
        for name, value in {**OBJECTS, **CLASSES, **FUNCTIONS}.items():
            try:
                data = pickle.dumps(value)
                found[f"value of {name}"] = described(pickle.loads(data))
                (folder / f"{name}.pickle").write_bytes(data)
            except Exception as error:
                found[f"pickle of {name}"] = repr(error)
    else:
        found = {}
        for path in sorted(other.glob("*.pickle")):
            try:
                found[f"value of {path.stem}"] = described(pickle.loads(path.read_bytes()))
            except Exception as error:
                found[f"value of {path.stem}"] = repr(error)
    (folder / ("read.json" if other else "facts.json")).write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
