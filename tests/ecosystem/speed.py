"""Times steps with libraries for JAX, on irax and on JAX, into speed.json.

python -m tests.ecosystem.speed --jax PYTHON [NAME ...]

PYTHON has JAX and the libraries. Times are of the processor, which other programs disturb little:
of the first call, and the shortest of some that follow, the two taking turns. Programs are
compiled anew.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("speed.json")
ROUNDS, SECONDS = 5, 0.3


def serve(name: str) -> None:
    """Prepare a program, take its first step, and then a round of steps for each line of input.
    A line of output is the processor's time in seconds: of the first step, of each later one.
    """
    import jax
    from tests.ecosystem.steps import STEPS

    def timed(count: int) -> float:
        start = time.process_time()
        for _ in range(count):
            jax.block_until_ready(step())
        return (time.process_time() - start) / count

    start = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):  # some libraries print when they are imported
        step = STEPS[name]()
        jax.block_until_ready(step())
    print(time.process_time() - start, flush=True)
    count = max(1, round(SECONDS / max(min(timed(1) for _ in range(3)), 1e-5)))
    for _ in sys.stdin:
        print(timed(count), flush=True)


class Process:
    """A program that runs on irax or on JAX."""

    def __init__(self, name: str, python: list[str], environment: dict[str, str]) -> None:
        code = f"from tests.ecosystem.speed import serve; serve({name!r})"
        pipe: Any = subprocess.PIPE
        self._process = subprocess.Popen(
            [*python, "-c", code],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
            # Python keeps what it compiled of irax, as of any package that is installed.
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | environment,
        )
        self.first = self._line()

    def _line(self) -> float:
        assert self._process.stdout is not None
        return float(self._process.stdout.readline() or "nan")

    def round(self) -> float:
        """Take a round of steps, and return the time of one."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._line()

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def measured(name: str, jax: str) -> dict[str, float]:
    """Return the seconds of a program on irax and on JAX: of the first call, and of later ones."""
    with tempfile.TemporaryDirectory() as cache:
        mine = Process(name, [sys.executable, "-m", "irax.compat"], {"IRAX_CACHE_DIR": cache})
        its = Process(name, [jax], {"JAX_PLATFORMS": "cpu"})
        try:
            rounds = [(mine.round(), its.round()) for _ in range(ROUNDS)]
        finally:
            mine.end()
            its.end()
    steps = [min(times) for times in zip(*rounds, strict=True)]
    return {"first": mine.first, "step": steps[0], "jax_first": its.first, "jax_step": steps[1]}


def main(arguments: list[str]) -> None:
    """Measure programs, and write down what was found."""
    import irax.compat

    irax.compat.install()
    from tests.ecosystem.steps import STEPS

    _, jax, *names = arguments
    known = json.loads(PATH.read_text("utf-8")) if PATH.exists() else {}
    for name in names or STEPS:
        known[name] = measured(name, jax)
        times = {key: f"{1e6 * seconds:.4g} us" for key, seconds in known[name].items()}
        print(f"{name:18} {times}", flush=True)
    ordered = {name: known[name] for name in STEPS if name in known}
    PATH.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
