"""Imports of modules when they are used, while Python does not look for garbage."""

import gc
import importlib
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest

from irax_compiler.importing import deferred, uncollected


@pytest.fixture(autouse=True)
def unfrozen() -> Iterator[None]:
    """The tests freeze what they import, which would hide what is looked through."""
    was_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    yield
    gc.unfreeze()
    if was_frozen:
        gc.freeze()


class Loop:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collector_is_as_it_was(is_enabled: bool) -> None:
    was_enabled = gc.isenabled()
    (gc.enable if is_enabled else gc.disable)()
    try:
        with pytest.raises(ImportError, match=r"irax\.False"), uncollected():
            importlib.import_module(f"irax.{gc.isenabled()}")
        assert gc.isenabled() is is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_garbage_of_imports_is_found_later() -> None:
    with uncollected():
        found = weakref.ref(Loop())
        assert found() is not None
    gc.collect()
    assert found() is None


def test_new_objects_are_not_looked_through() -> None:
    looks: list[object] = []
    look = lambda *_: looks.append(1)
    gc.callbacks.append(look)
    try:
        with uncollected():
            made = [[] for _ in range(10_000)]
        made += [[] for _ in range(100)]
    finally:
        gc.callbacks.remove(look)
    assert not looks


def test_what_a_program_froze_stays_frozen() -> None:
    gc.freeze()
    with uncollected():
        pass
    assert gc.get_freeze_count() > 0


def test_what_a_program_froze_is_not_counted_where_nothing_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gc.collect()
    monkeypatch.setattr(gc, "get_freeze_count", lambda: pytest.fail("this takes long"))
    with uncollected():
        pass


def test_a_deferred_module_is_imported_when_something_of_it_is_used() -> None:
    there, missing = deferred("wsgiref", "headers", "nothing")
    assert "wsgiref.headers" not in sys.modules
    assert there.Headers().items() == []
    assert there.Headers is sys.modules["wsgiref.headers"].Headers
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = there.absent
    with pytest.raises(ModuleNotFoundError, match=r"wsgiref\.nothing"):
        _ = missing.anything


ADDITION = """
import sys
import numpy as np
import irax
irax.jit(lambda x, y: x + y)(np.ones(1000, np.float32), np.ones(1000, np.float32))
names = ("loops.kernels", "moves.gathers", "moves.copies", "blas.tiles", "reductions.kernels")
print([name for name in names if f"irax_compiler.passes.{name}" in sys.modules])
"""


def test_an_addition_needs_no_kernels_of_other_operations() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ADDITION], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
