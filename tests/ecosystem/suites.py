"""Runs samples of libraries' own tests on irax.

python -m tests.ecosystem.suites SOURCES [--tests N] [--seed S] [--record --jax PYTHON] [NAME ...]

SOURCES is a folder with the repositories of libraries, each at the version that is installed; what
is not there is cloned. N tests of each are drawn at random, and each has some minutes. A test that
fails and is not in `suites.json` as one that does is an error. With `--record` the file gets what
was found, and what PYTHON, which has JAX and the libraries, makes of the same tests; `table` shows
it.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

RESULTS = Path(__file__).resolve().parent / "suites.json"
SAMPLE, SEED = "IRAX_SUITE_SAMPLE", "IRAX_SUITE_SEED"
LACKING = re.compile(r"No module named '(?!jax)|cannot import name '\w+' from '(?!jax|irax)")
SECONDS = 240
"""The time of the processor that a test has, whatever else runs there."""


@dataclass(frozen=True)
class Suite:
    """The place of the tests of a library."""

    repository: str
    """On GitHub."""
    folder: str
    """The folder in which the tests run."""
    tests: str
    """The folder of the tests in it."""
    tag: str = "v"
    """The tag of a version, up to its number."""
    calls_python: bool = False
    """True if programs of it call Python functions, which PJRT's do not; XLA compiles faster."""
    left_out: str = ""
    """A test that ends the process for those after it, by what is to run at its end."""


SUITES = {
    "blackjax": Suite("blackjax-devs/blackjax", ".", "tests", ""),
    "chex": Suite("google-deepmind/chex", ".", "chex", left_out="test_uninspected_checks"),
    "diffrax": Suite("patrick-kidger/diffrax", ".", "test", calls_python=True),
    "equinox": Suite("patrick-kidger/equinox", ".", "tests", calls_python=True),
    "flax linen": Suite("google/flax", "tests", "linen"),
    "flax nnx": Suite("google/flax", "tests", "nnx"),
    "lineax": Suite("patrick-kidger/lineax", ".", "tests", calls_python=True),
    "numpyro": Suite("pyro-ppl/numpyro", ".", "test", ""),
    "opt_einsum": Suite("dgasmith/opt_einsum", ".", "opt_einsum/tests"),
    "optax": Suite("google-deepmind/optax", ".", "optax"),
}
"""By the names of libraries; the second word names a part of one."""


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keep a sample of the tests: this module is a plugin of pytest's. Names alone decide, so that
    irax and JAX get the same tests.
    """

    def lot(item: Any) -> bytes:
        return hashlib.sha256(f"{os.environ[SEED]}{item.nodeid}".encode()).digest()

    drawn = set(sorted(items, key=lot)[: int(os.environ[SAMPLE])])
    items[:] = [item for item in items if item in drawn]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """End a test that takes too long."""

    def end(*_: Any) -> None:
        raise TimeoutError(f"the test took more than {SECONDS} seconds")

    limits = {signal.SIGPROF: (signal.ITIMER_PROF, SECONDS)}
    limits[signal.SIGALRM] = signal.ITIMER_REAL, 5 * SECONDS  # for a test that waits
    for number, limit in limits.items():
        signal.signal(number, end)
        signal.setitimer(*limit)
    try:
        return (yield)
    finally:
        for timer, _ in limits.values():
            signal.setitimer(timer, 0)


def package(name: str) -> str:
    """The name of the package that a suite is of."""
    return name.partition(" ")[0]


def sources(name: str, folder: Path) -> Path:
    """Return the folder of a library's sources, which are cloned if they are not there."""
    path = folder / package(name)
    if not path.exists():
        suite = SUITES[name]
        tag = suite.tag + importlib.metadata.version(package(name))
        url = f"https://github.com/{suite.repository}"
        subprocess.run(["git", "clone", "-q", "--depth=1", "-b", tag, url, str(path)], check=True)
    return path / SUITES[name].folder


def run(
    python: list[str], name: str, folder: Path, sample: int, seed: int
) -> tuple[dict[str, Any], int]:
    """Run a sample of a suite in a process of its own; return which tests failed, with their
    errors, and how many ran.
    """
    with tempfile.TemporaryDirectory() as temporary:
        report, plugin = Path(temporary) / "report.xml", Path(temporary) / "irax_sample.py"
        plugin.symlink_to(__file__)  # by a name of its own: libraries have packages called tests
        options = "-p irax_sample -p no:cacheprovider -c /dev/null --rootdir . -q --tb=short"
        command = [*python, "-m", "pytest", *options.split(), "--continue-on-collection-errors"]
        if SUITES[name].left_out:
            command += ["-k", f"not {SUITES[name].left_out}"]
        environment = {
            **({} if SUITES[name].calls_python else {"IRAX_PLATFORMS": "pjrt:cpu"}),
            **os.environ,
            "PYTHONPATH": os.pathsep.join([temporary, os.environ.get("PYTHONPATH", "")]),
            SAMPLE: str(sample),
            SEED: str(seed),
        }
        subprocess.run(
            [*command, f"--junitxml={report}", SUITES[name].tests],
            cwd=sources(name, folder),
            env=environment,
            check=False,
        )
        cases = ElementTree.parse(report).getroot().iter("testcase")
        ran = [c for c in cases if c.find("skipped") is None and not _lacks_a_package(c)]
    failed = {}
    for case in ran:
        errors = [e for e in case if e.tag in ("failure", "error")]
        if errors:
            told = errors[0].get("message", "")[:200]
            failed[f"{case.get('classname')}.{case.get('name')}"] = told
    return failed, len(ran)


def _lacks_a_package(case: Any) -> bool:
    """True for a file that needs a package which is not installed, and no module of JAX's."""
    error = case.find("error")
    return error is not None and bool(LACKING.search(error.text or ""))


def main() -> int:
    """Run samples; return 1 if a test failed that is not known to fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--tests", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--jax")
    given = parser.parse_intermixed_args()
    known = json.loads(RESULTS.read_text("utf-8"))
    is_wrong = False
    for name in given.names or SUITES:
        drawn = name, given.sources, given.tests, given.seed
        failed, ran = run([sys.executable, "-m", "irax.compat"], *drawn)
        print(f"{name}: {ran - len(failed)} of {ran} tests passed", flush=True)
        if given.record:
            on_jax = run([given.jax], *drawn) if given.jax else ({}, ran)
            known[name] = {
                "version": importlib.metadata.version(package(name)),
                "run": ran,
                "failed": failed,
                "jax_run": on_jax[1],
                "jax_failed": on_jax[0],
            }
            text = json.dumps(dict(sorted(known.items())), indent=1) + "\n"
            RESULTS.write_text(text, "utf-8")
            continue
        unknown = failed.keys() - known.get(name, {}).get("failed", {}).keys()
        for test in sorted(unknown):
            print(f"    {test}: {failed[test]}")
        is_wrong |= bool(unknown)
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
