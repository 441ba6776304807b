"""JAX's options that choose among ways of XLA, its plugins or JAX's compiler. Programs may set and
read them; they change nothing in irax.
"""

from __future__ import annotations

from typing import Any

_OFF = (
    *("bcoo_cusparse_lowering", "compilation_cache_check_contents"),
    *("compilation_cache_expect_pgle", "compilation_cache_include_metadata_in_key"),
    *("custom_vjp3", "debug_leaked_clients_on_clear_backends", "disable_most_optimizations"),
    *("distributed_debug", "enable_checks", "enable_pgle", "enable_recoverability"),
    *("export_ignore_forward_compatibility", "log_checkpoint_residuals", "mosaic_allow_hlo"),
    *("pallas_enable_debug_checks", "pallas_poison_buffers", "pallas_verbose_errors"),
    *("raise_persistent_cache_errors", "refs_to_pins", "remat3", "scan3"),
    *("share_binary_between_hosts", "softmax_custom_jvp", "threefry_gpu_kernel_lowering"),
    *("use_emit_pipeline_primitive", "use_simplified_jaxpr_constants"),
)
_ON = (
    *("allow_f16_reductions", "compiler_enable_remat_pass", "enable_preemption_service"),
    *("include_debug_info_in_dumps", "include_full_tracebacks_in_locations"),
    *("pallas_use_mosaic_gpu", "pprint_use_color", "use_direct_linearize"),
    "use_shardy_partitioner",
)
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(_OFF, False),
    **dict.fromkeys(_ON, True),
    "backend_target": "",
    "captured_constants_report_frames": 0,
    "captured_constants_warn_bytes": 2_000_000_000,
    "cpu_collectives_implementation": "gloo",
    "cuda_visible_devices": "all",
    "exec_time_optimization_effort": 0.0,
    "logging_level": "NOTSET",
    "memory_fitting_effort": 0.0,
    "memory_fitting_level": "O2",
    "optimization_level": "UNKNOWN",
    "persistent_cache_enable_xla_caches": "xla_gpu_per_fusion_autotune_cache_dir",
    "persistent_cache_min_compile_time_secs": 1.0,
    "persistent_cache_min_entry_size_bytes": 0,
    "pgle_aggregation_percentile": 90,
    "pgle_profiling_runs": 3,
    "rocm_visible_devices": "all",
    "send_traceback_to_runtime": "off",
    "traceback_in_locations_limit": 100,
    "tracer_error_num_traceback_frames": 5,
    "use_magma": "auto",
    "xla_backend": "",
    "xla_profile_version": 0,
}
"""The options, with JAX's defaults."""
