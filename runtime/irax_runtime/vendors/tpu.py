"""The particulars of TPUs and their plugin, libtpu."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

DEVICE_FILES = ("/dev/accel[0-9]*", "/dev/vfio/[0-9]*")

_WITHOUT_CHIPS = {
    "TPU_SKIP_MDS_QUERY": "1",  # it would ask the cloud's network for minutes
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_LOG_DIR": "disabled",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # several processes may compile at a time
}
_TOPOLOGY = re.compile(r"(?P<kind>[a-z0-9]+):(?P<sizes>\d+x\d+(x\d+)?)(_twisted|_untwisted)?")
_EXAMPLE = "expected a kind of chip and how many there are each way, such as v5e:2x2x1"
_LARGEST = {"v5e": 16}
_LARGEST_OF_OTHERS = 64


def is_here() -> bool:
    """Return True if a TPU may be on this machine."""
    return any(map(glob.glob, DEVICE_FILES))


def check_there_is_one() -> None:
    """Raises LookupError where there is no TPU: libtpu would look for one for minutes."""
    if not is_here():
        raise LookupError(
            "no TPU on this machine: no /dev/accel0, nothing in /dev/vfio; programs for one can be "
            "compiled: irax compile --device tpu --topology v5e:2x2x1",
        )


@contextmanager
def only_to_compile() -> Iterator[None]:
    """While libtpu is loaded, the environment tells it not to look for chips, where none are here.
    On the host of a TPU it is left alone.
    """
    names = {} if is_here() else {n: v for n, v in _WITHOUT_CHIPS.items() if n not in os.environ}
    os.environ.update(names)
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]


def check_topology(name: str) -> None:
    """Raises ValueError for names of topologies that are none, or that libtpu would end the process
    for.
    """
    found = _TOPOLOGY.fullmatch(name)
    if found is None:
        raise ValueError(f"no topology {name!r}: {_EXAMPLE}")
    largest = _LARGEST.get(found["kind"], _LARGEST_OF_OTHERS)
    if not all(0 < int(size) <= largest for size in found["sizes"].split("x")):
        raise ValueError(
            f"no topology {name!r}: expected from 1 to {largest} chips of {found['kind']} each way"
        )
