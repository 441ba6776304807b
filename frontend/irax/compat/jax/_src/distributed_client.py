"""The client of JAX's coordination service, by the store of irax's job.

Libraries tell the processes of a job by it where files are, and wait for each other outside of
compiled programs, also in threads.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from irax.errors import JaxRuntimeError
from irax_runtime import distributed
from irax_runtime.communication import store

_OWN = "jax"
"""The folder of the keys of JAX's programs in the store."""


class DistributedRuntimeClient:
    """Values by key, and barriers, of the processes of this job. Any thread may use it.

    Keys may have slashes, as files in folders. Times are in milliseconds.
    """

    _barriers: ClassVar[Counter[str]] = Counter()
    """The number of times that this process has come to each barrier: one may be used again."""
    _counting: ClassVar[threading.Lock] = threading.Lock()

    def connect(self) -> None:
        """Do nothing: this process has joined the job."""

    def shutdown(self) -> None:
        """Do nothing: the store ends with process 0, after the others."""

    def key_value_set(self, key: str, value: str, allow_overwrite: bool = False) -> None:
        """Tell a text.

        Raises:
            JaxRuntimeError: the key has a value, and it may not be replaced.
        """
        self.key_value_set_bytes(key, value.encode(), allow_overwrite)

    def key_value_set_bytes(self, key: str, value: bytes, allow_overwrite: bool = False) -> None:
        """Tell bytes.

        Raises:
            JaxRuntimeError: the key has a value, and it may not be replaced.
        """
        if allow_overwrite:
            store.of_process().put(_place(key), value)
        elif not store.of_process().put_new(_place(key), value):
            raise JaxRuntimeError(f"ALREADY_EXISTS: key {key} already exists.")

    def blocking_key_value_get(self, key: str, timeout_in_ms: int) -> str:
        """Return a text, when some process has told it.

        Raises:
            JaxRuntimeError: none has in time.
        """
        return self.blocking_key_value_get_bytes(key, timeout_in_ms).decode()

    def blocking_key_value_get_bytes(self, key: str, timeout_in_ms: int) -> bytes:
        """Return bytes, when some process has told them.

        Raises:
            JaxRuntimeError: none has in time.
        """
        found = store.of_process().find(_place(key), timeout_in_ms / 1000)
        if found is None:
            raise JaxRuntimeError(
                f"DEADLINE_EXCEEDED: no process has told {key} within {timeout_in_ms} ms"
            )
        return found

    def key_value_try_get(self, key: str) -> str:
        """Return a text that some process has told.

        Raises:
            JaxRuntimeError: none has.
        """
        return self.key_value_try_get_bytes(key).decode()

    def key_value_try_get_bytes(self, key: str) -> bytes:
        """Return bytes that some process has told.

        Raises:
            JaxRuntimeError: none has.
        """
        found = store.of_process().find(_place(key), 0.0)
        if found is None:
            raise JaxRuntimeError(f"NOT_FOUND: Config key {key} not found.")
        return found

    def key_value_dir_get(self, key: str) -> list[tuple[str, str]]:
        """Return the keys and texts in a folder, and in those below it."""
        return [(name, value.decode()) for name, value in self.key_value_dir_get_bytes(key)]

    def key_value_dir_get_bytes(self, key: str) -> list[tuple[str, bytes]]:
        """Return the keys and bytes in a folder, and in those below it."""
        found = store.of_process().below(_place(key))
        return [(name.removeprefix(f"{_OWN}/"), value) for name, value in found.items()]

    def key_value_increment(self, key: str, increment: int) -> int:
        """Add to a number that processes have told, which is 0 at first; return the sum.

        Raises:
            JaxRuntimeError: what they have told is no number.
        """
        try:
            return store.of_process().increase(_place(key), increment)
        except ValueError as error:
            raise JaxRuntimeError(f"FAILED_PRECONDITION: {error}") from error

    def key_value_delete(self, key: str) -> None:
        """Forget what a key has, or all of a folder."""
        store.of_process().remove(_place(key))

    def wait_at_barrier(
        self, barrier_id: str, timeout_in_ms: int, process_ids: Sequence[int] | None = None
    ) -> None:
        """Wait until processes have come here: all of the job, or some.

        Raises:
            JaxRuntimeError: they have not all come in time, or a number is of no process.
        """
        size = distributed.process_count()
        expected = sorted(set(range(size) if process_ids is None else process_ids))
        if strange := [one for one in expected if not 0 <= one < size]:
            raise JaxRuntimeError(
                f"INVALID_ARGUMENT: wait_at_barrier: process_ids has {strange}, but the job has "
                f"{size} processes"
            )
        with self._counting:
            self._barriers[barrier_id] += 1
            place = f"irax: barriers/{barrier_id}/{self._barriers[barrier_id]}"
        shared = store.of_process()
        shared.put(f"{place}/{distributed.process_index()}", b"")
        end = time.monotonic() + timeout_in_ms / 1000
        missing = [
            one
            for one in expected
            if shared.find(f"{place}/{one}", max(0.0, end - time.monotonic())) is None
        ]
        if missing:
            raise JaxRuntimeError(
                f"DEADLINE_EXCEEDED: Barrier timed out. Id: {barrier_id}: processes {missing} have "
                f"not come within {timeout_in_ms} ms"
            )

    def get_live_nodes(self, process_ids: Sequence[int]) -> dict[int, int]:
        """Return the given processes, which live: a job ends in all if one dies."""
        return dict.fromkeys(process_ids, 1)


def _place(key: str) -> str:
    return f"{_OWN}/{key.strip('/')}"
