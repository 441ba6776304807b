"""Train on the nodes of a Ray cluster: an actor for each process, which join one job.

python examples/hosts/on_ray.py run 2
"""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import ray  # pyright: ignore[reportMissingImports]


@ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
class Worker:
    """A node's part: it runs the program in a process of its own, which may end."""

    def address(self) -> str:
        """Return where the first process can serve."""
        with socket.create_server(("", 0)) as server:
            return f"{ray.util.get_node_ip_address()}:{server.getsockname()[1]}"

    def run(self, rank: int, size: int, address: str, *arguments: str) -> int:
        """Run the program; return its exit status."""
        place = {
            "JAX_COORDINATOR_ADDRESS": address,
            "JAX_NUM_PROCESSES": str(size),
            "JAX_PROCESS_ID": str(rank),
        }
        command = [sys.executable, str(Path(__file__).with_name("train.py")), *arguments]
        return subprocess.run(["env", *(f"{k}={v}" for k, v in place.items()), *command]).returncode


def main(folder: str, size: str) -> None:
    """Start again until the training is done, twenty times at most."""
    ray.init()
    for _ in range(20):
        if Path(folder, "finished").exists():
            break
        workers = [Worker.remote() for _ in range(int(size))]  # pyright: ignore[reportAttributeAccessIssue]
        try:
            address = ray.get(workers[0].address.remote())
            ray.get([w.run.remote(i, int(size), address, folder) for i, w in enumerate(workers)])
        except ray.exceptions.RayError as error:
            print(error, file=sys.stderr)
        for worker in workers:
            ray.kill(worker)


if __name__ == "__main__":
    main(*sys.argv[1:])
