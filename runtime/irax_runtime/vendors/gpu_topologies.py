"""Topologies of GPUs that need not be here: `h100:1x1x4`, of 1 partition of 1 host with 4 GPUs.

XLA's plugin for CUDA compiles for GPUs that it is told all of, in the text of the protocol buffer
`GpuTargetConfigProto`.
"""

from __future__ import annotations

import re

_TOPOLOGY = re.compile(r"(?P<kind>\w+):(?P<sizes>[1-9]\d{0,3}x[1-9]\d{0,3}x[1-9]\d{0,3})")

_H100 = """
gpu_device_info {
  cuda_compute_capability { major: 9 }
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: 233472
  threads_per_core_limit: 2048
  core_count: 132
  fpus_per_core: 128
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000
  l2_cache_size: 52428800
  clock_rate_ghz: 1.98
  device_memory_size: 84978434048
  shared_memory_per_block_optin: 232448
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 13 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""

CHIPS = {"h100": _H100}
"""Descriptions of the chips there are, by name."""


def is_one(name: str) -> bool:
    """Return True for the name of a topology of GPUs.

    >>> is_one("h100:1x1x4"), is_one("v5e:2x2x1")
    (True, False)
    """
    return name.partition(":")[0] in CHIPS


def check(name: str) -> None:
    """Raises ValueError for names of topologies that are none."""
    found = _TOPOLOGY.fullmatch(name)
    if found is None or found["kind"] not in CHIPS:
        raise ValueError(
            f"no topology {name!r}: expected one of the chips {', '.join(CHIPS)}, and the numbers "
            "of partitions, of hosts in each and of GPUs in each of these, like h100:1x1x4"
        )


def options(name: str) -> dict[str, str | int | bool]:
    """The plugin's options for a topology."""
    kind, _, sizes = name.partition(":")
    return {"target_config": CHIPS[kind], "topology": sizes}
