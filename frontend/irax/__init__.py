"""irax: NumPy's interface, traced to StableHLO, differentiated and batched by passes over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irax_compiler.importing import import_module as _import_module
from irax_compiler.importing import uncollected as _uncollected

with _uncollected():
    from irax.config import check_tracer_leaks as check_tracer_leaks
    from irax.config import checking_leaks as checking_leaks
    from irax.config import config as config
    from irax.config import debug_infs as debug_infs
    from irax.config import debug_key_reuse as debug_key_reuse
    from irax.config import debug_nans as debug_nans
    from irax.config import default_device as default_device
    from irax.config import default_matmul_precision as default_matmul_precision
    from irax.config import default_prng_impl as default_prng_impl
    from irax.config import deterministic as deterministic
    from irax.config import disable_jit as disable_jit
    from irax.config import enable_checks as enable_checks
    from irax.config import enable_custom_prng as enable_custom_prng
    from irax.config import enable_x64 as enable_x64
    from irax.config import explain_cache_misses as explain_cache_misses
    from irax.config import explicit_x64_dtypes as explicit_x64_dtypes
    from irax.config import legacy_prng_key as legacy_prng_key
    from irax.config import log_compiles as log_compiles
    from irax.config import no_execution as no_execution
    from irax.config import no_tracing as no_tracing
    from irax.config import numpy_dtype_promotion as numpy_dtype_promotion
    from irax.config import numpy_rank_promotion as numpy_rank_promotion
    from irax.config import threefry_partitionable as threefry_partitionable
    from irax.config import transfer_guard as transfer_guard
    from irax.config import transfer_guard_device_to_device as transfer_guard_device_to_device
    from irax.config import transfer_guard_device_to_host as transfer_guard_device_to_host
    from irax.config import transfer_guard_host_to_device as transfer_guard_host_to_device
    from irax.core.array import Array as Array
    from irax.core.avals import ShapeDtypeStruct as ShapeDtypeStruct
    from irax.core.closures import closure_convert as closure_convert
    from irax.core.settings.hints import CompilerEffortLevel as CompilerEffortLevel
    from irax.core.settings.hints import Inline as Inline
    from irax.core.shardings.explicit_axes import typeof as typeof
    from irax.core.shardings.meshes import get_abstract_mesh as get_abstract_mesh
    from irax.core.shardings.meshes import use_abstract_mesh as use_abstract_mesh
    from irax.core.shardings.partition_specs import PartitionSpec as P
    from irax.core.shardings.sharded import Shard as Shard
    from irax.core.shardings.shardings import NamedSharding as NamedSharding
    from irax.core.source import named_call as named_call
    from irax.core.source import named_scope as named_scope
    from irax.core.tracing import ensure_compile_time_eval as ensure_compile_time_eval
    from irax.dtypes import float0 as float0
    from irax.execution.backend import default_backend as default_backend
    from irax.execution.backend import device_count as device_count
    from irax.execution.backend import devices as devices
    from irax.execution.backend import local_device_count as local_device_count
    from irax.execution.backend import local_devices as local_devices
    from irax.execution.callbacks import effects_barrier as effects_barrier
    from irax.execution.callbacks import pure_callback as pure_callback
    from irax.execution.jit import block_until_ready as block_until_ready
    from irax.execution.jit import jit as jit
    from irax.execution.jitted import clear_caches as clear_caches
    from irax.execution.processes import host_count as host_count
    from irax.execution.processes import host_id as host_id
    from irax.execution.processes import host_ids as host_ids
    from irax.execution.processes import process_count as process_count
    from irax.execution.processes import process_index as process_index
    from irax.execution.processes import process_indices as process_indices
    from irax.execution.shapes import eval_shape as eval_shape
    from irax.execution.shardings.constraints import reshard as reshard
    from irax.execution.shardings.global_arrays import (
        make_array_from_callback as make_array_from_callback,
    )
    from irax.execution.shardings.global_arrays import (
        make_array_from_process_local_data as make_array_from_process_local_data,
    )
    from irax.execution.shardings.global_arrays import (
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
    )
    from irax.execution.shardings.make_meshes import get_mesh as get_mesh
    from irax.execution.shardings.make_meshes import make_mesh as make_mesh
    from irax.execution.shardings.make_meshes import set_mesh as set_mesh
    from irax.execution.transfers import copy_to_host_async as copy_to_host_async
    from irax.execution.transfers import device_get as device_get
    from irax.execution.transfers import device_put as device_put
    from irax.ir import make_ir as make_ir
    from irax.ir import show as show
    from irax.jaxprs import of_traced
    from irax.numpy.indexing.windows import ds as ds
    from irax.transforms.autodiff import fwd_and_bwd as fwd_and_bwd
    from irax.transforms.autodiff import grad as grad
    from irax.transforms.autodiff import jvp as jvp
    from irax.transforms.autodiff import linearize as linearize
    from irax.transforms.autodiff import value_and_grad as value_and_grad
    from irax.transforms.autodiff import vjp as vjp
    from irax.transforms.checkpoint import checkpoint as checkpoint
    from irax.transforms.checkpoint import checkpoint_policies as checkpoint_policies
    from irax.transforms.checkpoint import remat as remat
    from irax.transforms.custom_gradient import custom_gradient as custom_gradient
    from irax.transforms.custom_jvp import custom_jvp as custom_jvp
    from irax.transforms.custom_vjp import custom_vjp as custom_vjp
    from irax.transforms.jacobians import hessian as hessian
    from irax.transforms.jacobians import jacfwd as jacfwd
    from irax.transforms.jacobians import jacobian as jacobian
    from irax.transforms.jacobians import jacrev as jacrev
    from irax.transforms.linear_transpose import linear_transpose as linear_transpose
    from irax.transforms.pmap import pmap as pmap
    from irax.transforms.shard_map import shard_map as shard_map
    from irax.transforms.smap import smap as smap
    from irax.transforms.vmap import vmap as vmap
    from irax.tree_util import tree_flatten as tree_flatten
    from irax.tree_util import tree_leaves as tree_leaves
    from irax.tree_util import tree_map as tree_map
    from irax.tree_util import tree_multimap as tree_multimap
    from irax.tree_util import tree_structure as tree_structure
    from irax.tree_util import tree_unflatten as tree_unflatten
    from irax_runtime.device import Device as Device

of_traced.attach()

if TYPE_CHECKING:
    from irax import (
        ad,
        ad_checkpoint,
        custom_derivatives,
        debug,
        distributed,
        dlpack,
        dtypes,
        errors,
        experimental,
        export,
        extend,
        ffi,
        flatten_util,
        image,
        ir,
        lax,
        memory,
        nn,
        numpy,
        ops,
        profiler,
        random,
        ref,
        scipy,
        sharding,
        stages,
        test_util,
        tree,
        tree_util,
        typing,
        version,
    )
    from irax.execution.diagnostics.environment import live_arrays as live_arrays
    from irax.execution.diagnostics.environment import (
        print_environment_info as print_environment_info,
    )
    from irax.execution.diagnostics.explanations import explain as explain
    from irax.jaxprs.make import make_jaxpr as make_jaxpr
    from irax.ref import Ref as Ref
    from irax.ref import empty_ref as empty_ref
    from irax.ref import free_ref as free_ref
    from irax.ref import freeze as freeze
    from irax.ref import new_ref as new_ref
    from irax.transforms import custom_vmap
    from irax.transforms.digits import precision as precision
    from irax.version import __version__ as __version__

_MODULES = {
    "ad",
    "ad_checkpoint",
    "core",
    "custom_batching",
    "custom_derivatives",
    "debug",
    "distributed",
    "dlpack",
    "dtypes",
    "errors",
    "experimental",
    "extend",
    "export",
    "ffi",
    "flatten_util",
    "image",
    "ir",
    "lax",
    "memory",
    "nn",
    "numpy",
    "ops",
    "profiler",
    "random",
    "ref",
    "scipy",
    "sharding",
    "stages",
    "test_util",
    "tree",
    "tree_util",
    "typing",
    "version",
}
_FUNCTIONS = {
    **dict.fromkeys(("Ref", "empty_ref", "free_ref", "freeze", "new_ref"), "ref"),
    "__version__": "version",
    "explain": "execution.diagnostics.explanations",
    "live_arrays": "execution.diagnostics.environment",
    "make_jaxpr": "jaxprs.make",
    "precision": "transforms.digits",
    "print_environment_info": "execution.diagnostics.environment",
}
"""Functions that are seldom used, by the submodules that they are in."""


def __getattr__(name: str) -> Any:
    """Import submodules, and functions that are seldom used, when they are first used."""
    if name in _MODULES:
        return _import_module(f"irax.{name}")
    if name in _FUNCTIONS:
        return getattr(_import_module(f"irax.{_FUNCTIONS[name]}"), name)
    from irax.core.absent_names import missing_attribute

    raise missing_attribute(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    plumbing = {"Any", "TYPE_CHECKING", "annotations", "irax", "of_traced"}
    rooms = {"execution", "jaxprs", "transforms"}
    return sorted((globals().keys() | _MODULES | _FUNCTIONS.keys()) - plumbing - rooms)


# Attaches the operators and methods of arrays, once the functions behind them are defined.
import irax.numpy.array_methods  # noqa: E402
