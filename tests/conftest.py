"""Settings of all tests: hypothesis, a compile cache of the run's own, and JAX's device."""

import atexit
import gc
import os
import tempfile
from collections.abc import Iterator

import hypothesis
import pytest
from tests.sampling import mark_slow

# A compile in the middle of an example is no reason to fail it for being slow.
hypothesis.settings.register_profile("irax", deadline=None)
hypothesis.settings.load_profile("irax")


def pytest_configure(config: pytest.Config) -> None:
    """Keep executables out of the user's cache, JAX, the oracle, from looking for TPUs, irax's
    frames in tracebacks, and bytecode for the processes that tests start. The workers of xdist
    inherit the choice.
    """
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("IRAX_PLATFORMS", "cpu")  # where there is a GPU, too
    os.environ.setdefault("IRAX_TRACEBACK_FILTERING", "off")
    if "IRAX_CACHE_DIR" not in os.environ:
        os.environ["IRAX_CACHE_DIR"] = _folder(config, "irax-test-cache-")
    # Processes that tests start would compile all files of irax anew, half of their time.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = _folder(config, "irax-test-bytecode-")


def _folder(config: pytest.Config, prefix: str) -> str:
    """A folder that is there until the tests end."""
    folder = tempfile.TemporaryDirectory(prefix=prefix)
    config.add_cleanup(folder.cleanup)
    return folder.name


@pytest.fixture(autouse=True)
def lowered_anew(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests that may patch the compiler get what it makes of their programs, and leave that to no
    other test.
    """
    if "monkeypatch" not in request.fixturenames or "test_kept_programs" in request.node.nodeid:
        yield
        return
    from irax_compiler import kept_programs

    key, kept_programs.key = kept_programs.key, lambda *_: None
    yield
    kept_programs.key = key


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need what is not there are skipped. Tests on Vulkan come last: with Mesa's driver
    for the processor, a process that has opened a device keeps two cores busy until it ends. They
    are the last of all with `--dist load`, which hands tests out in order: with `worksteal`, the
    worker that has done them goes on with others, twice as slowly.
    """
    for item in items:
        for mark in item.iter_markers("needs_system"):
            if mark.args[0]:
                item.add_marker(pytest.mark.skip(reason=mark.args[0]))
    items.sort(key=lambda item: "vulkan" in item.nodeid)
    mark_slow(items)


def pytest_collection() -> None:
    """Freeze what is collected: to look for garbage among it takes a second."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Set thousands of tests aside from the garbage that each `gc.collect()` of a test looks for:
    to walk them took half a second. At the end Python frees them as ever.
    """
    gc.enable()
    gc.freeze()
    atexit.register(gc.unfreeze)
