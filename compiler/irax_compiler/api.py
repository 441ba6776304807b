"""The compiler's facade: transformations, evaluation and compilation of modules.

    module = parse(text)                            any StableHLO module, text or bytecode
    jvp(module, wrt=[0])                            adds a derived function, and returns its record
    artefact = compile(lower(module), "iree-cpu")   for a target
    evaluate(module, "main", arrays)                what it means, in NumPy

Transformations add private functions to the module that they are given, and leave those that it
has. Their names, and what their arguments and results are, is in the record that is returned.

What builds operations is in the families of `irax_compiler.ops`; the module `irax_compiler.mlir`
has the types of the IR, and `irax_compiler.targets` the targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irax_compiler.apart.scalars import set_apart as set_scalars_apart
from irax_compiler.apart.weights import put_back as put_weights_back
from irax_compiler.apart.weights import set_apart as set_weights_apart
from irax_compiler.bounds_by_value import arguments_of_bounds, with_bounds
from irax_compiler.cost import cost_of
from irax_compiler.effects import remove_dead_operations
from irax_compiler.extensions import load as load_extensions
from irax_compiler.forms.reading import read_data
from irax_compiler.forms.reading import read_module as parse
from irax_compiler.forms.sizes_by_value import arguments_of_sizes, shapes_of_arguments, with_values
from irax_compiler.hlo_text import hlo_text
from irax_compiler.importing import import_module
from irax_compiler.mlir import Module
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.derived import (
    Batched,
    Derived,
    Differentiated,
    Linearized,
    Reversed,
    Transposed,
    Vjp,
)
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes import Pass, PassError
from irax_compiler.passes import by_name as passes
from irax_compiler.passes.core import CSE, INLINE, REMOVE_DEAD_FUNCTIONS, find_function, nested
from irax_compiler.passes.derive.batch import check_mapped, derive_batched
from irax_compiler.passes.derive.jvp import active_arguments, derive_jvp
from irax_compiler.passes.derive.linearize import Linearize, derive_linearized
from irax_compiler.passes.derive.transpose import derive_transpose
from irax_compiler.passes.derive.vjp import derive_reversed, derive_vjp
from irax_compiler.passes.host.deferred_rules import write_rules
from irax_compiler.passes.host.user_lowerings import write_lowerings
from irax_compiler.pipeline import parse_pipeline, run_passes, run_pipeline, text_of
from irax_compiler.shardy.layouts import StatedLayouts
from irax_compiler.shardy.layouts import state as state_layouts
from irax_compiler.shardy.sharded_types import AmbiguousLayoutError, ShardedTypes
from irax_compiler.spans import spanned
from irax_compiler.targets import compile

if TYPE_CHECKING:
    from irax_compiler.blas import without_blas as without_blas
    from irax_compiler.coloring.acyclic import Forest as Forest
    from irax_compiler.coloring.acyclic import color_acyclic as color_acyclic
    from irax_compiler.coloring.acyclic import forest as forest
    from irax_compiler.coloring.choice import Algorithms as Algorithms
    from irax_compiler.coloring.choice import choose_colors as choose_colors
    from irax_compiler.coloring.choice import flat_places as flat_places
    from irax_compiler.coloring.choice import num_of_columns as num_of_columns
    from irax_compiler.coloring.choice import places_of_elements as places_of_elements
    from irax_compiler.coloring.columns import COLUMN_ORDERS as COLUMN_ORDERS
    from irax_compiler.coloring.columns import color_columns as color_columns
    from irax_compiler.coloring.stars import color_stars as color_stars
    from irax_compiler.detours import detours as detours
    from irax_compiler.iree.invocation import CompileError
    from irax_compiler.kept_programs import about as about
    from irax_compiler.lowering import (
        check,
        layouts_of,
        layouts_of_results,
        lower,
        mesh_of,
        notes,
        partition,
    )
    from irax_compiler.passes.derive.jacobian import derive_jacobian
    from irax_compiler.passes.derive.sparsity import pattern_of
    from irax_compiler.passes.host.annotate import signature
    from irax_compiler.passes.host.donation import overwritten as overwritten
    from irax_compiler.passes.legalize.canonicalize import Canonicalize
    from irax_compiler.passes.legalize.decompose import Decompose
    from irax_compiler.passes.optimize.simplify import Simplify
    from irax_compiler.passes.repairs.split_large_signatures import (
        arguments_read as arguments_read,
    )
    from irax_compiler.passes.sizes.refine import is_sized, refined, values_for
    from irax_compiler.precision.ranges import RangeReport, range_report
    from irax_compiler.precision.report import PrecisionReport, precision_report
    from irax_compiler.precision.tuning import Plan, precision_plan
    from irax_compiler.repetition import FOR_LOOPS as FOR_LOOPS
    from irax_compiler.repetition import repeated_lines as repeated_lines

_LATER = {
    **dict.fromkeys(
        ("check", "layouts_of", "layouts_of_results", "lower", "mesh_of", "notes", "partition"),
        "lowering",
    ),
    "about": "kept_programs",
    "FOR_LOOPS": "repetition",
    "detours": "detours",
    "without_blas": "blas",
    "repeated_lines": "repetition",
    "signature": "passes.host.annotate",
    "Canonicalize": "passes.legalize.canonicalize",
    "Decompose": "passes.legalize.decompose",
    "derive_jacobian": "passes.derive.jacobian",
    "pattern_of": "passes.derive.sparsity",
    "overwritten": "passes.host.donation",
    "Simplify": "passes.optimize.simplify",
    "arguments_read": "passes.repairs.split_large_signatures",
    "CompileError": "iree.invocation",
    **dict.fromkeys(("PrecisionReport", "precision_report"), "precision.report"),
    **dict.fromkeys(("Plan", "precision_plan"), "precision.tuning"),
    **dict.fromkeys(("RangeReport", "range_report"), "precision.ranges"),
    **dict.fromkeys(("Forest", "color_acyclic", "forest"), "coloring.acyclic"),
    **dict.fromkeys(
        ("Algorithms", "choose_colors", "flat_places", "num_of_columns", "places_of_elements"),
        "coloring.choice",
    ),
    **dict.fromkeys(("COLUMN_ORDERS", "color_columns"), "coloring.columns"),
    "color_stars": "coloring.stars",
    **dict.fromkeys(("is_sized", "refined", "values_for"), "passes.sizes.refine"),
}
"""The modules of names that are imported when they are first used: a process that finds its
programs in the cache lowers nothing."""

__all__ = [
    "CSE",
    "INLINE",
    "REMOVE_DEAD_FUNCTIONS",
    "AmbiguousLayoutError",
    "Batched",
    "Canonicalize",
    "CompileError",
    "Decompose",
    "Derived",
    "Differentiated",
    "Evaluator",
    "Linearize",
    "Linearized",
    "Module",
    "Pass",
    "PassError",
    "Plan",
    "PrecisionReport",
    "RangeReport",
    "Reversed",
    "ShardedTypes",
    "Simplify",
    "StatedLayouts",
    "Transposed",
    "UnsupportedOp",
    "Vjp",
    "active_arguments",
    "arguments_of_bounds",
    "arguments_of_sizes",
    "batch",
    "check",
    "check_mapped",
    "compile",
    "cost_of",
    "derive_jacobian",
    "evaluate",
    "find_function",
    "hlo_text",
    "is_sized",
    "jvp",
    "layouts_of",
    "layouts_of_results",
    "linearize",
    "load_extensions",
    "lower",
    "mesh_of",
    "nested",
    "notes",
    "parse",
    "parse_pipeline",
    "partition",
    "passes",
    "pattern_of",
    "precision_plan",
    "precision_report",
    "put_weights_back",
    "range_report",
    "read_data",
    "refined",
    "remove_dead_operations",
    "reverse",
    "run_passes",
    "run_pipeline",
    "set_scalars_apart",
    "set_weights_apart",
    "shapes_of_arguments",
    "signature",
    "state_layouts",
    "text_of",
    "transpose",
    "values_for",
    "vjp",
    "with_bounds",
    "with_values",
    "write_lowerings",
    "write_rules",
]

batch = spanned("transform", "batch", derive_batched)
jvp = spanned("transform", "jvp", derive_jvp)
linearize = spanned("transform", "linearize", derive_linearized)
reverse = spanned("transform", "reverse", derive_reversed)
transpose = spanned("transform", "transpose", derive_transpose)
vjp = spanned("transform", "vjp", derive_vjp)


def evaluate(module: Module, func: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the results of a module's function for arrays, by the reference evaluator. To evaluate
    it several times, keep an `Evaluator`.
    """
    return Evaluator(module)(func, arguments)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"irax_compiler.{_LATER[name]}"), name)
    return globals().setdefault(name, found)
