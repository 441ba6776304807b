"""Jitted functions with the options `in_shardings` and `out_shardings`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from irax.core.dispatch import staged
from irax.core.shardings.shardings import NamedSharding, Sharding
from irax.core.tracebacks import hide_frames
from irax.core.trees import array_trees
from irax.core.wrapping import wraps
from irax.execution import jit_refs
from irax.execution.bound_call import OTHER, BoundCall
from irax.execution.jit_parameters import Parameters
from irax.execution.jitted import PjitFunction
from irax.execution.program import Program
from irax.execution.programs import Programs
from irax.execution.shardings.jit_shardings import (
    Divisions,
    divided_arguments,
    divided_results,
    of_leaves,
    spread,
)
from irax_runtime.device import Device

P = ParamSpec("P")
R = TypeVar("R")


class DividedFunction(PjitFunction[P, R]):
    """A jitted function whose arguments and results are divided among the devices of a mesh."""

    def __init__(
        self,
        fun: Callable[P, R],
        static: Parameters,
        donated: Parameters,
        in_shardings: Any,
        out_shardings: Any,
    ) -> None:
        @wraps(fun)
        def divided(*args: P.args, **kwargs: P.kwargs) -> Any:
            results = fun(*self._divided(args), **kwargs)  # pyright: ignore
            return divided_results("jit", out_shardings, results)

        super().__init__(divided, static, donated)
        self._arguments = (fun, static, donated, in_shardings, out_shardings)
        self._in_shardings, self._out_shardings = in_shardings, out_shardings
        self._of_arguments = Divisions("jit: in_shardings", in_shardings)
        self._of_results = Divisions("jit: shardings", out_shardings)
        self._cache.direct = self._direct = Programs()
        """The short ways of calls whose arguments and results are divided as they are to be."""
        self._fixed = static[0]
        """The numbers of the static arguments."""

    def __reduce__(self) -> Any:
        return DividedFunction, self._arguments

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            found = staged(lambda: self._direct.called(args, kwargs), lambda _: OTHER)
        except (Exception, KeyboardInterrupt) as error:
            hide_frames(error)
            raise
        if found is not OTHER:
            return found
        self._check_keywords(kwargs)
        results = super().__call__(*self._divided(args), **kwargs)  # pyright: ignore
        if self._of_results.are_in(results):
            return results
        return divided_results("jit", self._out_shardings, results)

    def _divides(self, leaves: Sequence[Any], own: tuple[Any, ...]) -> Sequence[bool]:
        asked = [] if self._in_shardings is None else self.shardings_of(own)
        found = [isinstance(sharding, NamedSharding) for sharding in asked]
        return found + [False] * (len(leaves) - len(found))

    def _bind(self, key: Any, bound: BoundCall, result: Any) -> None:
        super()._bind(key, bound, result)
        if self._of_results.are_in(result):
            self._direct.bind(key, bound)

    def _check_keywords(self, kwargs: Mapping[str, Any]) -> None:
        """Raise ValueError for arguments by keyword that `in_shardings` cannot be about."""
        if self._in_shardings is not None:
            refuse_keywords(kwargs.keys() - self._static[1])

    def _divided(self, args: tuple[Any, ...]) -> Sequence[Any]:
        """Return the positional arguments of a call, those that are not static divided."""
        if self._in_shardings is None:
            return args
        fixed = {n % len(args) for n in self._fixed if -len(args) <= n < len(args)}
        places = [n for n in range(len(args)) if n not in fixed]
        own = tuple([args[n] for n in places])
        found = divided_arguments("jit", self._of_arguments, own)
        if found is own:
            return args
        given = list(args)
        for n, argument in zip(places, found, strict=True):
            given[n] = argument
        return given

    def traced_for(
        self, args: Any, kwargs: Any
    ) -> tuple[Program, Any, Device | str | None, Sequence[Sharding | None], jit_refs.Ahead | None]:
        """As of any jitted function; the program tells where its results are to be."""
        self._check_keywords(kwargs)
        program, tree, device, told, found = super().traced_for(args, kwargs)
        results = array_trees.tree_unflatten(program.out_tree, program.traced.results)
        returned = results if found is None else results[0]
        program.out_shardings = spread("jit: out_shardings", self._out_shardings, returned)
        return program, tree, device, told, found

    def _told(self, leaves: Sequence[Any], own: tuple[Any, ...]) -> Sequence[Sharding | None]:
        told = super()._told(leaves, own)
        if self._in_shardings is None:
            return told
        asked = self.shardings_of(own)
        return [*(a or b for a, b in zip(asked, told, strict=False)), *told[len(asked) :]]

    def shardings_of(self, own: tuple[Any, ...]) -> Sequence[Sharding | None]:
        """Return what the option `in_shardings` has for each leaf of the positional arguments that
        are not static.
        """
        return spread("jit: in_shardings", self._in_shardings, own)


class PlacedFunction(PjitFunction[P, R]):
    """A jitted function of one device that has shardings, of which its arguments and results have
    the structure.
    """

    def __init__(self, fun: Callable[P, R], shardings: tuple[Any, Any], *options: Any) -> None:
        super().__init__(fun, *options)
        self._arguments = (fun, shardings, *options)
        self._in_shardings, self._out_shardings = shardings
        self._cache = Programs()  # those of the function without shardings were not compared

    def __reduce__(self) -> Any:
        found = super().__reduce__()
        return found if isinstance(found, str) else (PlacedFunction, self._arguments)

    def _trace(self, leaves: Sequence[Any], tree: Any, *others: Any, **options: Any) -> Program:
        own, named = array_trees.tree_unflatten(tree, leaves)
        if self._in_shardings is not None:
            refuse_keywords(named)
            of_leaves("jit: in_shardings", self._in_shardings, own)
        program = super()._trace(leaves, tree, *others, **options)
        if self._out_shardings is not None:
            results = array_trees.tree_unflatten(program.out_tree, program.traced.results)
            found = of_leaves("jit: out_shardings", self._out_shardings, results)
            program.out_shardings = [x if isinstance(x, Sharding) else None for x in found]
        return program


def refuse_keywords(named: Iterable[str]) -> None:
    """Raise ValueError for arguments by keyword, which `in_shardings` cannot be about."""
    if own := sorted(named):
        raise ValueError(
            f"jit: in_shardings are of positional arguments, and {', '.join(own)} was given by "
            "keyword: pass it by position, or leave in_shardings out"
        )
