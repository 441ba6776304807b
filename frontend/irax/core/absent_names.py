"""Names that JAX has and irax has not: why, and what to use instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

_PRIMITIVES = (
    "it is one of JAX's primitives: irax traces to StableHLO's operations (docs/ops.md), and the "
    "function without _p makes them"
)

_REASONS = {
    "StableHLO's integers of 1 bit are its booleans: use bool": ("numpy: int1 uint1",),
    "exported files have no such checks to turn off: what cannot run is refused": (
        "export: DisabledSafetyCheck",
    ),
    "exported files say their own version": (
        "export: maximum_supported_calling_convention_version",
        "export: minimum_supported_calling_convention_version",
    ),
    "shardings follow from arguments and constraints: irax.lax.with_sharding_constraint": (
        ": auto_pcast remove_size_one_mesh_axis_from_type",
    ),
    "it has no counterpart in irax; irax.compat has it for libraries that import jax": (
        ": api_util example_libraries interpreters lib",
        "core: AbstractValue",
        "experimental: array_serialization colocated_python",
        "extend: mlir",
    ),
    "a collective ends when its result is read: irax.lax.psum_scatter": (
        "lax: psum_scatter_start",
    ),
    "jaxprs run as functions: irax.extend.core.jaxpr_as_fun": ("core: eval_jaxpr",),
    "it names a type of Python, for annotations: use typing.Any, or irax.extend.core": (
        "core: Atom ParamDict Value",
    ),
    "operations on known arrays run at once in a block of irax.ensure_compile_time_eval": (
        "core: eval_context",
    ),
    "devices are those of irax.devices": ("experimental.mesh_utils: device_kind_handler_dict",),
    "kernels are the compiler's: a pass can write them (docs/architecture.md), and a C "
    "function can be called (irax.ffi)": (
        "experimental: mosaic pallas fused",
        "extend: pallas",
    ),
    "use irax.jit, which takes in_shardings and out_shardings": ("experimental: pjit",),
    "use irax.shard_map": ("experimental: shard_map",),
    "modules are StableHLO, for other tools too: irax.export": ("experimental: jax2tf",),
    "use irax.pure_callback, or irax.ffi for C functions": ("experimental: buffer_callback",),
    "programs are kept on disk: see the option compilation_cache_dir, and irax cache": (
        "experimental: compilation_cache",
        "extend.backend: clear_in_memory_compilation_cache",
    ),
    "programs run whole on the device of their arguments": (
        "experimental: overlap scheduling_groups thunky",
    ),
    "hosts of a job exchange arrays by collectives: irax.shard_map, and multihost_utils": (
        "experimental: transfer",
    ),
    "arrays have their elements in row-major order on all devices": (
        "experimental.layout: explicit_layout",
    ),
    "state how arrays are divided: irax.shard_map and irax.lax.with_sharding_constraint": (
        "extend: sharding",
    ),
    "use mutable arrays, irax.new_ref, and pytrees of one's own": (
        "experimental: hijax primal_tangent_dtype",
    ),
    "keys that are used again are not found": ("experimental: key_reuse",),
    "use irax.profiler, irax.explain, and irax run --time": ("experimental: profiler roofline",),
    "irax show has the lines of each operation, stage by stage": ("experimental: source_mapper",),
    "XLA alone reads such metadata": ("experimental: xla_metadata",),
    "a platform is added as docs/devices.md says": (
        "extend.backend: register_backend_cache register_backend_factory",
    ),
    "it is a program of JAX's: the command irax has irax's": (": collect_profile tools",),
    "it is a part of XLA, and irax compiles by IREE and by any PJRT plugin": (
        "extend: ifrt_programs xla",
        "extend.backend: backend_xla_version get_compile_options",
    ),
    "it is internal to JAX and has no counterpart": (
        ": make_user_context",
        "experimental: EArray",
        "extend: lowering",
        "ad_checkpoint: checkpoint_name_fwd",
        "ffi: abstract_token",
        "extend.core: create_call_primitive eval_jaxpr_transpose register_call_primitive_rules",
        "debug: DebugEffect OrderedDebugEffect",
        "extend.core: AbstractToken DebugInfo Effects nonempty_axis_env_DO_NOT_USE",
        "extend.core: unsafe_am_i_under_a_jit_DO_NOT_USE unsafe_am_i_under_a_vmap_DO_NOT_USE",
        "extend.core: unsafe_get_axis_names_DO_NOT_USE",
        "extend.source_info_util: NameStack extend_name_stack new_name_stack",
        "extend.source_info_util: reset_name_stack set_name_stack transform_name_stack",
    ),
    "it is an option of JAX's that irax has no counterpart of": (
        ": allow_f16_reductions array_garbage_collection_guard thread_guard",
        ": jax2tf_associative_scan_reductions",
        ": softmax_custom_jvp",
    ),
    "use the platform's tools: irax run --time, perf, Tracy": (": monitoring",),
    "a profile has the spans of its own process": ("profiler: register_subprocess",),
    "a C function has irax's signature, not XLA's: irax.ffi.register_ffi_target": (
        "ffi: build_ffi_lowering_function register_ffi_target_as_batch_partitionable",
        "ffi: register_ffi_type register_ffi_type_id",
    ),
}
"""For each reason the names: the module within `irax`, a colon, and names in it."""


def _by_name() -> dict[str, str]:
    found = {}
    for reason, lines in _REASONS.items():
        for line in lines:
            module, _, names = line.partition(": ")
            prefix = f"{module}." if module else ""
            found |= {prefix + name: reason for name in names.split()}
    return found


WHY_ABSENT = _by_name()
"""The reason for each name, which is without `irax.`; primitives have one in common."""


def why_absent(module: str, name: str) -> str | None:
    """The reason why a module of irax lacks a name that JAX's has; None for any other name.

    >>> why_absent("irax.core", "eval_jaxpr")
    'jaxprs run as functions: irax.extend.core.jaxpr_as_fun'
    """
    inner = f"{module}.{name}".removeprefix("irax.")
    return WHY_ABSENT.get(inner, _PRIMITIVES if name.endswith("_p") else None)


def _alike(module: str, name: str) -> str:
    """Return the end of a message that asks for the module's nearest name; empty if none is."""
    import difflib
    import sys

    if name.startswith("_"):
        return ""
    there = [x for x in dir(sys.modules.get(module)) if not x.startswith("_")]
    alike = difflib.get_close_matches(name, there, n=1, cutoff=0.8)
    return f": did you mean {alike[0]}?" if alike else ""


def missing_attribute(module: str, name: str) -> AttributeError:
    """The error for a name that a module does not have."""
    reason = why_absent(module, name)
    why = f": JAX has it, irax has not: {reason}" if reason else _alike(module, name)
    return AttributeError(f"module {module!r} has no attribute {name!r}{why}", name=name)


GetAttr = Callable[[str], NoReturn]
"""The type of a module's `__getattr__`."""


def refuse_names(module: str) -> GetAttr:
    """The `__getattr__` of a module: it says why a name is not there."""

    def __getattr__(name: str) -> NoReturn:
        raise missing_attribute(module, name)

    return __getattr__
