"""Imports while Python does not look for garbage."""

import gc
import importlib
import weakref
from collections.abc import Iterator

import pytest

from irax_compiler.importing import uncollected


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
