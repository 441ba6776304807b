"""JAX's options that irax has not. Those that choose among ways of XLA, its plugins or JAX's
compiler may be set and read; they change nothing. Of the others an error says what to use instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OFF = (
    *("bcoo_cusparse_lowering", "compilation_cache_check_contents"),
    *("compilation_cache_expect_pgle", "compilation_cache_include_metadata_in_key"),
    *("custom_vjp3", "debug_leaked_clients_on_clear_backends", "disable_most_optimizations"),
    *("disable_vmap_shmap_error", "disallow_mesh_context_manager", "eager_constant_folding"),
    *("experimental_unsafe_xla_runtime_errors", "force_dcn_cross_host_transfers"),
    *("jax2tf_associative_scan_reductions", "ragged_dot_use_gpu_pallas_triton_lowering"),
    *("remove_custom_partitioning_ptr_from_cache_key",),
    *("distributed_debug", "enable_pgle", "enable_recoverability"),
    *("export_ignore_forward_compatibility", "log_checkpoint_residuals", "mosaic_allow_hlo"),
    *("pallas_enable_debug_checks", "pallas_poison_buffers", "pallas_verbose_errors"),
    *("raise_persistent_cache_errors", "refs_to_pins", "remat3", "scan3"),
    *("share_binary_between_hosts", "softmax_custom_jvp", "threefry_gpu_kernel_lowering"),
    *("use_emit_pipeline_primitive", "use_simplified_jaxpr_constants"),
)
_ON = (
    *("allow_f16_reductions", "check_proxy_envs", "jax2tf_default_native_serialization"),
    *("ragged_dot_use_ragged_dot_instruction", "sort_devices_by_process_index"),
    *("compiler_enable_remat_pass", "enable_preemption_service"),
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
    "compiler_detailed_logging_min_ops": 10,
    "cpu_collectives_implementation": "gloo",
    "cpu_get_global_topology_timeout_minutes": 5,
    "cpu_get_local_topology_timeout_minutes": 2,
    "cross_host_transfer_socket_address": "",
    "cross_host_transfer_timeout_seconds": None,
    "cross_host_transfer_transfer_size": None,
    "cross_host_transport_addresses": "",
    "cuda_visible_devices": "all",
    "debug_log_modules": "",
    "embedded_constants_max_bytes": 32,
    "exec_time_optimization_effort": 0.0,
    "hlo_source_file_canonicalization_regex": None,
    "logging_level": "NOTSET",
    "memory_fitting_effort": 0.0,
    "memory_fitting_level": "O2",
    "oneapi_visible_devices": "all",
    "optimization_level": "UNKNOWN",
    "persistent_cache_enable_xla_caches": "xla_gpu_per_fusion_autotune_cache_dir",
    "persistent_cache_min_compile_time_secs": 1.0,
    "persistent_cache_min_entry_size_bytes": 0,
    "accurate_erf_inv": False,
    "custom_jvp3": False,
    "mosaic_unzip_debug_locations": True,
    "pallas_auto_assign_collective_ids": "no",
    "pallas_auto_assign_collective_ids_limit": 25,
    "raise_on_ppermute_sort_diff": True,
    "remat_barrier_no_cotangents": False,
    "use_cpp_shard_args": False,
    "use_hlo_logistic_lowering": None,
    "use_rgv3": True,
    "pgle_aggregation_percentile": 90,
    "pgle_profiling_runs": 3,
    "pjrt_client_create_options": None,
    "rocm_visible_devices": "all",
    "send_traceback_to_runtime": "off",
    "share_binary_between_hosts_timeout_ms": 1_200_000,
    "source_url_schema": None,
    "traceback_in_locations_limit": 100,
    "tracer_error_num_traceback_frames": 5,
    "use_magma": "auto",
    "xla_backend": "",
    "xla_profile_version": 0,
}
"""Options without effect, with JAX's defaults."""

_REASONS = {
    "use debug_nans, debug_infs, or irax.experimental.checkify": (
        *("error_checking_behavior_divide", "error_checking_behavior_nan"),
        "error_checking_behavior_oob",
    ),
    "irax compile --save-stages writes the module of each stage": ("dump_ir_modes", "dump_ir_to"),
    "irax.random.gumbel takes mode='high'": ("high_dynamic_range_gumbel",),
    "irax.shard_map takes check_vma": ("check_vma",),
    "exported files say their own version": (
        *("export_calling_convention_version", "export_deserialize_expired_versions"),
        "serialization_version",
    ),
    "irax.lax.pcast, and shardings of arguments, say it": (
        *("auto_pcast", "remove_size_one_mesh_axis_from_type"),
    ),
    "devices are those that are there": ("mock_gpu_topology", "mock_num_gpu_processes"),
    "connections between processes are those of the network, without certificates": (
        *("distributed_verify_secure_credentials", "mtls_ca_file", "mtls_cert_file"),
        *("mtls_key_file", "mtls_peer_uri_prefix"),
    ),
    "irax has no counterpart of it": (
        *("array_garbage_collection_guard", "disable_bwd_checks"),
        *("mutable_array_checks", "thread_guard"),
    ),
}
ABSENT = {name: reason for reason, names in _REASONS.items() for name in names}
"""For each option that cannot be set, why, or what to use instead."""

_OF_PROGRAMS = (
    *("exec_time_optimization_effort", "fdo_profile", "memory_fitting_effort"),
    *("memory_fitting_level", "optimization_level"),
)


def check_compiler_options(options: Mapping[str, Any] | None) -> None:
    """Check the names of options to compile with, which are XLA's and of no effect.

    Raises:
        RuntimeError: a name that is none of XLA's, which begin with "xla_" but for a few.
    """
    for name in options or ():
        if not (isinstance(name, str) and name.startswith("xla_")) and name not in _OF_PROGRAMS:
            raise RuntimeError(
                f"compiler_options: no such option: {name!r}; expected XLA's names, which begin "
                f"with 'xla_', or one of {', '.join(_OF_PROGRAMS)}"
            )
