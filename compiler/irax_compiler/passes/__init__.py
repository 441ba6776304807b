"""The passes. Each rewrites a StableHLO module into a StableHLO module."""

from __future__ import annotations

from collections.abc import Mapping

from irax_compiler import extensions
from irax_compiler.importing import alone
from irax_compiler.once import once
from irax_compiler.passes.core import Pass, PassError

__all__ = ["Pass", "PassError", "by_name"]


@once
def by_name() -> Mapping[str, type[Pass]]:
    """Return all passes by name. They are imported when first asked for, because tracing needs few
    of them.

    >>> by_name()["vjp"].name
    'vjp'
    """
    with alone():
        from irax_compiler.passes import (
            advance,
            alignments,
            anchor,
            annotate,
            balance,
            barriers,
            batch,
            blas,
            callbacks,
            canonicalize,
            carries,
            chain,
            check,
            combine,
            communicate,
            components,
            configure,
            constant_folding,
            core,
            decompose,
            defer,
            direct,
            divide,
            donation,
            dynamic_forms,
            dynamic_shapes,
            elementwise,
            emplace,
            encode,
            fills,
            foreign_functions,
            fourier,
            host,
            inline_sized,
            jacobian,
            jvp,
            lanes,
            legalize,
            lift,
            linearize,
            link,
            loop_invariant_code_motion,
            loops,
            merge,
            nested_constants,
            outline,
            overwrite,
            partial_sums,
            partition,
            piecewise,
            placement,
            prune,
            reductions,
            refine,
            release,
            repetitions,
            simplify,
            sparsity,
            split,
            store,
            ties,
            transpose,
            turns,
            vary,
            vjp,
            widen,
        )

    extensions.load("irax.passes")
    return core.PASSES
