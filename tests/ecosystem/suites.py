"""Runs a sample of a library's own tests on irax, and writes down how many passed.

python -m tests.ecosystem.suites LIBRARY SOURCES [--tests N] [--seed S] [PATH ...]

SOURCES is the folder in which the library's tests run: that of its repository, at the version that
is installed, or the one in which its tests lie. N tests are drawn at random from those in PATHs, 50
if it is not given. `suites.json` gets the numbers, and `table` shows them. A LIBRARY of two words
is a part of one: "flax linen".
"""

import argparse
import importlib.metadata
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

RESULTS = Path(__file__).parent / "suites.json"
SAMPLE, SEED = "IRAX_SUITE_SAMPLE", "IRAX_SUITE_SEED"


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keep a sample of the tests: this module is a plugin of pytest's."""
    wanted = int(os.environ[SAMPLE])
    drawn = random.Random(os.environ[SEED]).sample(range(len(items)), min(wanted, len(items)))
    items[:] = [items[i] for i in sorted(drawn)]


def run(sources: Path, paths: list[str], sample: int, seed: int) -> ElementTree.Element:
    """Run a sample of the tests in a process of its own; return pytest's report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = (
            "-p tests.ecosystem.suites -p no:cacheprovider -c /dev/null --rootdir . -q --tb=short"
        )
        command = [sys.executable, "-m", "irax.compat", "-m", "pytest", *options.split()]
        ours = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        subprocess.run(
            [*command, "--continue-on-collection-errors", f"--junitxml={report}", *paths],
            cwd=sources,
            env={**os.environ, "PYTHONPATH": ours, SAMPLE: str(sample), SEED: str(seed)},
            check=False,
        )
        return ElementTree.parse(report).getroot()


def counts(report: ElementTree.Element) -> dict[str, Any]:
    """Return how many tests ran and passed, and the names and errors of those that did not."""
    cases = [c for c in report.iter("testcase") if c.find("skipped") is None]
    failed = {}
    for case in cases:
        found = [e for e in case if e.tag in ("failure", "error")]
        if found:
            failed[f"{case.get('classname')}.{case.get('name')}"] = found[0].get("message", "")[
                :200
            ]
    return {"passed": len(cases) - len(failed), "run": len(cases), "failed": failed}


def main() -> int:
    """Run a sample; return 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("sources", type=Path)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--tests", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_intermixed_args()
    found = counts(run(given.sources, given.paths, given.tests, given.seed))
    package = given.library.partition(" ")[0]
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    known[given.library] = {"version": importlib.metadata.version(package)} | found
    RESULTS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", "utf-8")
    print(f"{given.library}: {found['passed']} of {found['run']} tests passed")
    return int(found["passed"] < found["run"])


if __name__ == "__main__":
    sys.exit(main())
