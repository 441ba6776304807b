"""jax._src.distributed: the place of this process in its job, and what its processes tell."""

from __future__ import annotations

from irax.compat.jax._src.distributed_client import DistributedRuntimeClient
from irax_runtime import distributed


class State:
    """The place of this process in its job. Its store is served by process 0."""

    service: None = None

    @property
    def client(self) -> DistributedRuntimeClient | None:
        """The client that tells other processes something; None without a job."""
        return DistributedRuntimeClient() if distributed.is_started() else None

    @property
    def coordinator_address(self) -> str | None:
        """The address at which processes have met; None if MPI has connected them."""
        return distributed.coordinator_address()

    @property
    def process_id(self) -> int:
        """The number of this process."""
        return distributed.process_index()

    @property
    def num_processes(self) -> int:
        """The number of processes."""
        return distributed.process_count()


global_state: State = State()
