"""The passes at the beginning of every target's pipeline."""

from __future__ import annotations

from irax_compiler.passes.core import CSE, INLINE, REMOVE_DEAD_FUNCTIONS, NativePass, Pass
from irax_compiler.passes.host.annotate import Annotate
from irax_compiler.passes.host.callbacks import Callbacks
from irax_compiler.passes.host.progress import Progress
from irax_compiler.passes.legalize.canonicalize import Canonicalize
from irax_compiler.passes.legalize.check import Check
from irax_compiler.passes.legalize.decompose import Decompose
from irax_compiler.passes.legalize.encode import Encode
from irax_compiler.passes.legalize.legalize import Legalize, LegalizeChlo
from irax_compiler.passes.legalize.widen import Widen
from irax_compiler.passes.mesh.batch_shard_maps import BatchShardMaps
from irax_compiler.passes.mesh.combine_all_reduces import CombineAllReduces
from irax_compiler.passes.mesh.communicate import Communicate
from irax_compiler.passes.on_demand import (
    MANY_OPERATIONS,
    OnDemand,
    has,
    has_many_arrays,
    has_operations,
)
from irax_compiler.passes.optimize.constant_folding import ConstantFolding
from irax_compiler.passes.optimize.outline import Outline
from irax_compiler.passes.optimize.simplify import Simplify
from irax_compiler.passes.sizes.dynamic_forms import DynamicForms
from irax_compiler.passes.sizes.dynamic_shapes import DynamicShapes
from irax_compiler.passes.sizes.inline_sized import InlineSized

FEW = 16
"""The most elements of a constant that may be part of a kernel where drivers compile kernels: one
that has a mask of 33 x 33 in it takes some of them half a minute."""

_HAS_LOOPS = has("stablehlo.while")

EXPAND_CHLO = NativePass("func.func(chlo-legalize-to-stablehlo)")


def standard_passes(
    target: str,
    largest_constant: int = ConstantFolding.elements,
    calls_formulas: bool = False,
    kernels_of_loops: bool = False,
) -> tuple[Pass, ...]:
    """Return the passes that make any module StableHLO without calls, composites and CHLO, legal on
    a target, with constants of up to `largest_constant` elements folded. Calls of formulas remain
    if the target's own passes lower them. With `kernels_of_loops`, what legalizations make of
    constants is folded, so that kernels need not read it, moves in loops are left for another
    `Legalize` after the pass loops, and small products of rows are computed a few at a time.
    """
    folding = ConstantFolding(largest_constant)
    equal_parts = OnDemand("outline-components", has_many_arrays)
    sequences = OnDemand("outline-sequences", has_operations(MANY_OPERATIONS))
    return (
        REMOVE_DEAD_FUNCTIONS,
        BatchShardMaps(),
        REMOVE_DEAD_FUNCTIONS,
        Decompose(target, elementwise=not calls_formulas),
        REMOVE_DEAD_FUNCTIONS,
        Check(target),
        INLINE,
        REMOVE_DEAD_FUNCTIONS,
        Progress(),
        OnDemand("hoist-row-products", _HAS_LOOPS, ("kernels",) if kernels_of_loops else ()),
        OnDemand("sink-outer-products", _HAS_LOOPS),
        Callbacks(),
        Widen(),
        Encode(target),
        *((folding, Outline(), Decompose(target), INLINE, equal_parts) if calls_formulas else ()),
        LegalizeChlo(),
        EXPAND_CHLO,
        CSE,
        Simplify(),
        folding,
        CSE,
        OnDemand("loop-invariant-code-motion", _HAS_LOOPS),
        *((sequences,) if calls_formulas else ()),
        Legalize(target, "later" if kernels_of_loops else ""),
        *((folding,) if kernels_of_loops else ()),
        Canonicalize(),
        CSE,
        CombineAllReduces(target),
        Communicate(target),
        Annotate(),
    )


def dynamic_passes(target: str, kernels: tuple[Pass, ...] = ()) -> tuple[Pass, ...]:
    """Return the passes that make a function with symbolic dimensions one with `?`, for targets
    that compile those; `kernels` are passes that write kernels for sizes that are not known.
    """
    return (
        REMOVE_DEAD_FUNCTIONS,
        Decompose(target),
        REMOVE_DEAD_FUNCTIONS,
        Check(target),
        InlineSized(),
        REMOVE_DEAD_FUNCTIONS,
        Widen(),
        Encode(target),
        DynamicForms(),
        LegalizeChlo(),
        EXPAND_CHLO,
        CSE,
        Simplify(),
        CSE,
        Legalize(target, sizes="open"),
        CSE,
        *kernels,
        DynamicShapes(),
        CSE,
    )
