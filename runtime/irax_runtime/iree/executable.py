"""Functions of compiled modules, on the CPU devices of IREE.

A call runs in the calling thread, on IREE's workers, or in the device's queue (see `in_flight`).
"""

from __future__ import annotations

import contextvars
import ctypes
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from math import inf
from typing import Any, Protocol

import iree.runtime as rt
import numpy as np

from irax_runtime import host, in_flight, instructions, interruptible, libraries, meter
from irax_runtime.choice import Choice
from irax_runtime.device import Device, OutOfMemoryError
from irax_runtime.iree import modules, scheduling, shared_library
from irax_runtime.iree.buffers import ArgumentLists, IreeBuffer, elements, keep_addresses, pushed
from irax_runtime.signature import TensorType

_unusable_contexts: list[Any] = []
_WORTH_PACKING = 4
"""The number of arguments from which it is faster to pack their views."""


class Processor(Device, Protocol):
    """The part of a CPU device that its executables use."""

    instance: Any
    """IREE's virtual machine, in which contexts of programs are made."""
    hal_modules: dict[str, Any]
    """The module that programs import, for each driver."""
    ways: tuple[str, ...]
    """Ways to run a program, from which the fastest is chosen."""
    placement: scheduling.Placement
    lists: ArgumentLists
    in_flight: in_flight.InFlight
    has_fixed: bool
    """True if the address of any buffer was asked for."""
    executables: weakref.WeakSet[IreeExecutable]
    """Programs loaded on the device."""

    def view_of(self, array: np.ndarray[Any, Any], may_alias: bool) -> tuple[Any, bool]:
        """Return a view of the array in the device's memory, and True if no array of NumPy's that
        others may have shares that.
        """
        ...


class IreeExecutable:
    """A function of a compiled IREE module. Any number of threads may call it at a time."""

    def __init__(
        self,
        device: Processor,
        module: Any,
        name: str,
        undefined: Collection[str] | None,
        notes: Mapping[str, str] | None = None,
        contexts: dict[str, list[Any]] | None = None,
    ) -> None:
        """`undefined` has the symbols that a program expects to find, if it is a shared library.
        `notes` go before the reflection attributes that the program has, and `contexts` are those
        of another executable of the same program.
        """
        self.device = device
        self.name = name
        self._module = module
        self._function = module.lookup_function(name)
        self._reflection = reflection = {**self._function.reflection, **(notes or {})}
        self.largest_size = int(reflection.get("irax.largest_size", 0))
        """The largest size that a name in symbolic sizes may be; 0 where there is no limit."""
        self._undefined = undefined
        driver = reflection.get("irax.driver", "task")
        if driver not in device.hal_modules:
            raise ValueError(
                f"irax.driver is {driver!r}; expected one of {', '.join(device.hal_modules)}"
            )
        self._driver = driver
        self._choice = Choice(*device.ways)
        takes, imports = reflection.get("irax.takes"), reflection.get("irax.host")
        has_imports = imports is not None or "irax.meter" in reflection
        self._imports = (imports or "[]") if has_imports else ""
        instructions.ask_for_matrices()
        loaded = libraries.load(reflection.get("irax.libraries", ""))
        libraries.load_functions(reflection.get("irax.functions", "[]"))
        self._is_shared_library = undefined is not None
        if undefined is not None:
            shared_library.check(undefined, loaded)
        # A context serves one call at a time; each call takes one that is free, or makes one more.
        self._contexts = contexts or {driver: [] for driver in device.hal_modules}
        if contexts is None:
            self._contexts[driver].append(self._context(driver))
        self.arguments = modules.signature(reflection, "irax.args")
        self.results = modules.signature(reflection, "irax.results")
        self._num_results = len(self.results or ()) or 4
        self._takes_list = "irax.lists" in reflection
        self._donated = _numbers(reflection, "irax.donated")
        self._in_place = _numbers(reflection, "irax.in_place")
        self._is_long = False
        self._invoke_on = {kind: self._invoking(kind) for kind in ("sync", "task", "fixed")}
        self._invoke = self._invoke_on[driver]
        self._ran_out = meter.invoking(
            self._contexts["sync"], lambda: self._context("sync"), self._function
        )
        self._run: Callable[[Any, Any], None] = self._await
        if takes == "moments" and not host.may_take_long(imports or "[]"):
            self._run = self._invoke if driver == "sync" else self._invoke_by_faster
        elif takes == "metered" and driver == "sync":
            acts = imports or self._in_place or "irax.functions" in reflection
            self._run = self._await if acts else self._invoke_metered  # which may run it twice
        self._may_be_queued = bool(self.results) and not (
            "irax.functions" in reflection or host.has_effects(imports or "[]")
        )
        self._is_brief = takes == "moments" and not imports
        self._cost = in_flight.Cost(
            varies=takes != "moments",
            is_long=self._run == self._await,
            stops=self._run == self._invoke_metered,
            arrays=len(self.arguments or ()) + len(self.results or ()),
        )
        self._shared = _numbers(reflection, "irax.shared")
        own = {*_numbers(reflection, "irax.own")}
        results = enumerate(self.results or ())
        self._types = [(i, x.shape, x.dtype, i in own) for i, x in results]
        """The number of each result, its type, and if nothing else may have its memory."""
        self._gives_up = bool(self._donated or self._in_place)
        self._run_on = self._running()
        self.run = self._run_on_donated if self._gives_up else self._run_on
        """Runs, or has the device begin to, without checking the arguments, deleted ones aside: for
        callers that know that they fit."""
        device.executables.add(self)

    def _context(self, driver: str) -> meter.Metered:
        left = meter.new()
        host_modules = [self._host_module(ctypes.addressof(left))] if self._imports else []
        modules = [self.device.hal_modules[driver], *host_modules, self._module]
        with shared_library.loading() if self._is_shared_library else nullcontext():
            return rt.VmContext(self.device.instance, modules), left

    def _host_module(self, address: int) -> Any:
        device = self.device

        def read(reference: Any, type_: TensorType) -> np.ndarray[Any, Any]:
            return elements(reference, type_.shape, type_.dtype)

        def put(array: np.ndarray[Any, Any]) -> Any:
            return device.view_of(array, True)[0].ref

        return host.host_module(self._imports, read, put, address)

    def forget_contexts(self) -> None:
        """Makes new contexts from now on. Those that there are stay, unused: to free them could
        mean to wait for threads.
        """
        for contexts in self._contexts.values():
            _unusable_contexts.extend(contexts)
            contexts.clear()

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the function.

        Raises:
            TypeError: the wrong number of arguments, or one of another dtype.
            ValueError: an argument of another shape.
            RuntimeError: the program failed; an OutOfMemoryError where memory was what lacked.
            Exception: whatever a function of the user's raised, which the program called.
        """
        if self.arguments is not None:
            modules.check(self.name, arguments, self.arguments)
        return self.run(arguments)

    def _running(self) -> Callable[..., list[Any]]:
        """Return `run`: all that calls have in common is looked up once."""
        device, work, takes_list, cost = self.device, self._run, self._takes_list, self._cost
        make_list, count, dispatch = rt.VmVariantList, self._num_results, self._dispatch
        always_now = not self._may_be_queued
        shared = [] if self._gives_up else self._shared  # `_run_on_donated` shares at its end
        is_small = self.arguments is not None and len(self.arguments) < _WORTH_PACKING
        listed = pushed if is_small else device.lists.packed
        types = self._types

        def run(arguments: Sequence[Any], now: bool = False) -> list[Any]:
            now = now or always_now
            if not (now or cost.is_brief):
                return dispatch(arguments)
            for i in shared:
                arguments[i].is_own = False
            inputs = listed(arguments)
            if inputs is None:
                if not now:
                    return dispatch(arguments)
                inputs = pushed(_awaited(arguments))
            outputs = make_list(count)
            try:
                if takes_list:
                    work(_listed(inputs), outputs)
                    outputs = outputs.get_as_list(0)
                else:
                    work(inputs, outputs)
            except RuntimeError as failure:
                error = host.take_error() or self._error(failure)
                raise error from error.__cause__
            except _TakesLong:
                return self._enqueue(arguments)
            found: list[Any] = []
            for i, shape, dtype, is_own in types:
                found.append(IreeBuffer(outputs.get_as_ref(i), shape, dtype, device, is_own))
            return found if types else self._untyped_results(outputs)

        return run

    def _run_on_donated(self, arguments: Sequence[Any], now: bool = False) -> list[Any]:
        if not now and not (self._cost.is_brief and not self.device.in_flight.is_busy):
            return self._dispatch(arguments)
        given = self._writable(arguments) if self._in_place else arguments
        try:
            results = self._run_on(given, True)
        except BaseException:
            if not any(x.is_deleted() for x in given):  # then it may have written to its arguments
                for i in self._in_place:
                    given[i].delete()
            raise
        given_up = [arguments[i] for i in _only_once(arguments, self._donated)]
        if self.device.has_fixed and not self.device.in_flight.is_unordered:
            keep_addresses(given_up, results)
        for buffer in given_up:
            buffer.delete()
        self._share(arguments)
        return results

    def _share(self, arguments: Sequence[Any]) -> None:
        """Note that results may be in the memory of arguments, which is no longer theirs alone."""
        for i in self._shared:
            arguments[i].is_own = False

    # ---- calls in flight (see `in_flight`) -------------------------------------------------------

    def _dispatch(self, arguments: Sequence[Any]) -> list[Any]:
        """Run a call, or put it into the device's queue: if it will take long, needs what is being
        computed, or writes to what a call in the queue may read.
        """
        there = self.device.in_flight
        writes = bool(self._in_place) and there.is_busy
        is_needed = self._cost.pays() or writes or not all(x.is_ready() for x in arguments)
        if self.device.has_fixed and any(arguments[i].is_fixed for i in self._donated):
            writes = there.is_busy  # now, so that the results are told of their places
            is_needed = False
        if is_needed and self._may_be_queued and there.takes():
            return self._enqueue(arguments)
        if writes:
            there.drain()
        return self._run_timed(arguments)

    def _run_timed(self, arguments: Sequence[Any]) -> list[Any]:
        _awaited(arguments)
        start = time.perf_counter()
        results = self.run(arguments, True)
        self._cost.tell(time.perf_counter() - start)
        return results

    def _enqueue(self, arguments: Sequence[Any]) -> list[Any]:
        kept = {id(x): x.snapshot() for x in arguments}
        work = partial(self._run_timed, [kept[id(x)] for x in arguments])
        if self._imports:  # functions of NumPy's see the caller's context, such as `np.errstate`
            work = partial(contextvars.copy_context().run, work)
        pending = [in_flight.Pending() for _ in self._types]
        results = [
            IreeBuffer(ref, shape, dtype, self.device, is_own)
            for ref, (_, shape, dtype, is_own) in zip(pending, self._types, strict=True)
        ]
        call = in_flight.Call(work, pending, self._cost, self._is_brief, not self._in_place)
        for i in _only_once(arguments, self._donated):
            arguments[i].delete()
        self.device.in_flight.enter(call)
        self._share(arguments)
        return results

    def _writable(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the arguments, with copies of those that the program writes to and that others may
        read.
        """
        given = list(arguments)
        is_ordered = not self.device.in_flight.is_unordered
        alone = {*_only_once(arguments, self._in_place)} if is_ordered else ()
        for i in self._in_place:
            if not (i in alone and given[i].is_exclusive):
                given[i] = self.device.put(given[i].numpy())
        return given

    def _invoking(self, way: str) -> Callable[[Any, Any], None]:
        """Return the function that runs the program in a way: `sync`, `task`, or `fixed`, which is
        the driver `task` with workers that each have a processor of their own.
        """
        driver = "sync" if way == "sync" else "task"
        free, function = self._contexts[driver], self._function
        placement = self.device.placement
        place = placement.fix if way == "fixed" else placement.free

        def invoke(inputs: Any, outputs: Any) -> None:
            try:
                context = free.pop()
            except IndexError:
                context = self._context(driver)
            try:
                context[0].invoke(function, inputs, outputs)
            finally:
                free.append(context)

        def invoke_workers(inputs: Any, outputs: Any) -> None:
            place()
            invoke(inputs, outputs)

        return invoke if way == "sync" else scheduling.without_preemption(invoke_workers)

    def invoke_on(self, driver: str, inputs: Any, outputs: Any) -> None:
        """Runs the function on lists of IREE's, by the driver `sync` or `task`."""
        self._invoke_on[driver](inputs, outputs)

    def _invoke_by_faster(self, inputs: Any, outputs: Any) -> None:
        """Run in the way that has been the fastest."""
        way = self._choice.next()
        start = time.perf_counter()
        self._invoke_on[way](inputs, outputs)
        self._choice.tell(way, time.perf_counter() - start)

    def _await(self, inputs: Any, outputs: Any) -> None:
        """Run in a way that Ctrl-C ends."""
        interruptible.run(self._invoke, inputs, outputs)

    def _invoke_metered(self, inputs: Any, outputs: Any) -> None:
        """Run in the calling thread, if the last call was short. A call that is not starts anew, in
        the queue or in a way that Ctrl-C ends.
        """
        if not self._is_long and threading.current_thread() is threading.main_thread():
            self._is_long = self._ran_out(inputs, outputs)
            if not self._is_long:
                return
            if self._may_be_queued and self.device.in_flight.takes():
                self._cost.tell(inf)
                raise _TakesLong
        start = time.perf_counter_ns()
        self._await(inputs, outputs)
        self._is_long = time.perf_counter_ns() - start > meter.BRIEF // 4  # estimates are rough

    def _error(self, failure: RuntimeError) -> RuntimeError:
        """The exception to raise for an error of IREE's."""
        text = str(failure)
        if "RESOURCE_EXHAUSTED" not in text:
            return failure
        return OutOfMemoryError(f"{self.device!r} does not have the memory: {text}")

    def _untyped_results(self, outputs: Any) -> list[IreeBuffer]:
        views = [outputs.get_as_object(i, rt.HalBufferView) for i in range(len(outputs))]
        types = map(modules.type_of_view, views)
        return [
            IreeBuffer(view.ref, type_.shape, type_.dtype, self.device)
            for view, type_ in zip(views, types, strict=True)
        ]


class _TakesLong(Exception):
    """A call has turned out to be long, and may go into the queue."""


def _numbers(reflection: Mapping[str, str], name: str) -> list[int]:
    """Return the numbers that a reflection attribute lists."""
    return [int(word) for word in reflection.get(name, "").split(",") if word]


def _awaited(arguments: Sequence[Any]) -> Sequence[Any]:
    """Return the arguments once they have been computed."""
    for argument in arguments:
        argument.wait()
    return arguments


def _only_once(arguments: Sequence[Any], places: Sequence[int]) -> Sequence[int]:
    """Return those of some numbers of arguments whose argument is given just once."""
    own = [*map(id, arguments)]
    if len({*own}) == len(own):
        return places
    counts = Counter(own)
    return [i for i in places if counts[own[i]] == 1]


def _listed(values: Any) -> Any:
    """A list that has one element, a list."""
    outer = rt.VmVariantList(1)
    outer.push_list(values)
    return outer
