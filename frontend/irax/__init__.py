"""irax: NumPy's interface, traced to StableHLO, differentiated and batched by passes over it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from irax.array import Array as Array
from irax.autodiff import grad as grad
from irax.autodiff import jvp as jvp
from irax.autodiff import linearize as linearize
from irax.autodiff import value_and_grad as value_and_grad
from irax.autodiff import vjp as vjp
from irax.aval import ShapeDtypeStruct as ShapeDtypeStruct
from irax.backend import default_backend as default_backend
from irax.backend import device_count as device_count
from irax.backend import device_get as device_get
from irax.backend import device_put as device_put
from irax.backend import devices as devices
from irax.backend import local_device_count as local_device_count
from irax.backend import local_devices as local_devices
from irax.batching import vmap as vmap
from irax.callbacks import effects_barrier as effects_barrier
from irax.callbacks import pure_callback as pure_callback
from irax.checkpointing import checkpoint as checkpoint
from irax.checkpointing import checkpoint_policies as checkpoint_policies
from irax.checkpointing import remat as remat
from irax.closures import closure_convert as closure_convert
from irax.config import config as config
from irax.config import debug_infs as debug_infs
from irax.config import debug_nans as debug_nans
from irax.config import default_device as default_device
from irax.config import disable_jit as disable_jit
from irax.config import enable_x64 as enable_x64
from irax.config import threefry_partitionable as threefry_partitionable
from irax.forward_rules import custom_jvp as custom_jvp
from irax.ir import make_ir as make_ir
from irax.jacobians import hessian as hessian
from irax.jacobians import jacfwd as jacfwd
from irax.jacobians import jacobian as jacobian
from irax.jacobians import jacrev as jacrev
from irax.jit import block_until_ready as block_until_ready
from irax.jit import eval_shape as eval_shape
from irax.jit import jit as jit
from irax.reverse_rules import custom_gradient as custom_gradient
from irax.reverse_rules import custom_vjp as custom_vjp
from irax.transposition import linear_transpose as linear_transpose
from irax.tree_util import tree_flatten as tree_flatten
from irax.tree_util import tree_leaves as tree_leaves
from irax.tree_util import tree_map as tree_map
from irax.tree_util import tree_multimap as tree_multimap
from irax.tree_util import tree_structure as tree_structure
from irax.tree_util import tree_unflatten as tree_unflatten

if TYPE_CHECKING:
    from irax import (
        ad_checkpoint,
        custom_derivatives,
        debug,
        dlpack,
        dtypes,
        errors,
        experimental,
        export,
        flatten_util,
        image,
        ir,
        lax,
        nn,
        numpy,
        ops,
        random,
        scipy,
        stages,
        test_util,
        tree,
        tree_util,
    )

_MODULES = {
    "ad_checkpoint",
    "custom_derivatives",
    "debug",
    "dlpack",
    "dtypes",
    "errors",
    "experimental",
    "export",
    "flatten_util",
    "image",
    "ir",
    "lax",
    "nn",
    "numpy",
    "ops",
    "random",
    "scipy",
    "stages",
    "test_util",
    "tree",
    "tree_util",
}


def __getattr__(name: str) -> Any:
    """Submodules are imported when they are first used."""
    if name in _MODULES:
        return importlib.import_module(f"irax.{name}")
    raise AttributeError(f"module 'irax' has no attribute {name!r}")


# Operators and methods of arrays are attached there.
import irax.numpy  # noqa: E402
