"""Evaluation of a function for each device of a mesh, in a thread for each.

One thread runs at a time, until it comes to a collective: there it waits for the others that take
part. So programs are evaluated as they are written, device by device, and not by `batch`.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeVar

R = TypeVar("R")


class Deadlock(RuntimeError):
    """Devices wait for each other at different collectives."""


class _OtherFailed(RuntimeError):
    """Another device has failed, so this one ends too."""


@dataclass
class _Exchange:
    """A collective that devices are at: what each has brought, and what each takes away."""

    what: Any
    brought: dict[int, Any] = field(default_factory=dict)
    taken: dict[int, Any] | None = None


class _Hub:
    """Lets one thread of many run at a time, and has the collectives that they wait at."""

    def __init__(self) -> None:
        self.turn = threading.Condition()
        self.running = 0
        self.failure: BaseException | None = None
        self.exchanges: dict[Any, _Exchange] = {}
        self._awaited: list[Callable[[], bool]] = []

    def fail(self, error: BaseException) -> None:
        """End all threads, with this error if it is the first."""
        self.failure = self.failure or error
        self.turn.notify_all()

    def wait(self, is_ready: Callable[[], bool]) -> None:
        """Let other threads run until something is ready."""
        self._awaited.append(is_ready)
        self.leave()
        self.turn.wait_for(lambda: self.failure is not None or is_ready())
        self._awaited.remove(is_ready)
        self.running += 1
        if self.failure is not None:
            raise _OtherFailed

    def leave(self) -> None:
        """One thread less runs; fail where none is left that anyone could wait for."""
        self.running -= 1
        if not self.running and not any(is_ready() for is_ready in self._awaited):
            waiting = ", ".join(sorted({str(e.what) for e in self.exchanges.values()}))
            self.fail(
                Deadlock(
                    f"some devices wait at {waiting}, which others never come to: all devices of "
                    "an axis must call the same collectives in the same order"
                )
            )
        self.turn.notify_all()


@dataclass(frozen=True)
class _Place:
    hub: _Hub
    coordinates: Mapping[str, int]


class _State(threading.local):
    place: _Place | None = None


_state = _State()


def index_along(axis: str) -> int | None:
    """Return the place along an axis of the device that this thread evaluates for; None if it does
    so for no device of such an axis.
    """
    place = _state.place
    return None if place is None else place.coordinates.get(axis)


def exchange(
    what: Any,
    axis: str,
    group: Sequence[int],
    value: Any,
    combine: Callable[[list[Any]], Sequence[Any]],
) -> Any:
    """Return what this device gets from a collective among a group of the devices along an axis.

    Args:
        what: the collective, which all must call.
        axis: the axis of the mesh.
        group: the places along it that take part.
        value: what this device brings.
        combine: the results of all in the order of the group, from what they bring.
    """
    place = _state.place
    assert place is not None
    hub, coordinates = place.hub, place.coordinates
    others = tuple(sorted((a, i) for a, i in coordinates.items() if a != axis))
    key = (axis, tuple(group), others)
    here = hub.exchanges.setdefault(key, _Exchange(what))
    if here.what != what:
        raise Deadlock(f"one device is at {here.what}, another one of the same axis at {what}")
    here.brought[coordinates[axis]] = value
    if len(here.brought) == len(group):
        del hub.exchanges[key]
        found = combine([here.brought[i] for i in group])
        here.taken = dict(zip(group, found, strict=True))
        hub.turn.notify_all()
    else:
        hub.wait(lambda: here.taken is not None)
    assert here.taken is not None
    return here.taken[coordinates[axis]]


def for_each_device(
    axes: Mapping[str, int], function: Callable[[Mapping[str, int]], R]
) -> list[tuple[Mapping[str, int], R]]:
    """Return for each device of a mesh its place along each axis, and the result of a function of
    that; the last axis is the fastest. The function may `exchange` values between devices.

    Raises:
        Deadlock: the devices do not call the same collectives.
    """
    around = _state.place
    hub = _Hub() if around is None else around.hub
    outer = {} if around is None else around.coordinates
    places = [
        dict(zip(axes, numbers, strict=True)) for numbers in product(*map(range, axes.values()))
    ]
    results: dict[int, R] = {}

    def run(number: int) -> None:
        with hub.turn:
            try:
                if hub.failure is None:
                    _state.place = _Place(hub, {**outer, **places[number]})
                    results[number] = function(places[number])
            except BaseException as error:
                hub.fail(error)
            finally:
                hub.leave()

    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(run, n), daemon=True)
        for n in range(len(places))
    ]
    if around is None:
        hub.turn.acquire()
        hub.running = 1
    try:
        hub.running += len(threads)
        for thread in threads:
            thread.start()
        hub.wait(lambda: len(results) == len(places))
    except _OtherFailed:
        if around is not None:
            raise
    except BaseException as error:  # such as an interrupt, while this thread waits
        hub.fail(error)
        raise
    finally:
        if around is None:
            hub.turn.release()
    for thread in threads:
        thread.join()
    if hub.failure is not None:
        raise hub.failure
    return [(place, results[n]) for n, place in enumerate(places)]
