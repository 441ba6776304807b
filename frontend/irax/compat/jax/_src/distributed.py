"""jax._src.distributed: the place of this process in its job."""

from irax_runtime import distributed


class State:
    """The place of this process in its job; irax has no coordination service."""

    client: None = None
    service: None = None
    coordinator_address: None = None

    @property
    def process_id(self) -> int:
        """The number of this process."""
        return distributed.process_index()

    @property
    def num_processes(self) -> int:
        """The number of processes."""
        return distributed.process_count()


global_state: State = State()
