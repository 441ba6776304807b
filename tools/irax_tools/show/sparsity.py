"""The pattern of a function's Jacobian, with its colors: `irax show --sparsity`."""

from __future__ import annotations

from typing import Any

from irax_tools import derive
from irax_tools.show.model import Matrix
from irax_tools.show.way import Way
from irax_tools.sources import Source


def matrix_of(source: Source, way: Way) -> Matrix:
    """The Jacobian of the function that is shown, with respect to the arguments in `way.wrt`; of a
    gradient, that is the Hessian, and its colors are those of a symmetric matrix.

    Raises PassError where the function has no argument to differentiate with respect to.
    """
    from irax import sparse

    shown = way.derived(source)
    found = derive.sparsity(shown, way.wrt)
    pattern = sparse.SparsityPattern.fromscipy(found)
    is_hessian = way.grad and way.vmap is None
    coloring = sparse.color(pattern, "symmetric" if is_hessian else "auto")
    counts = f"{pattern.shape[0]} x {pattern.shape[1]}, {pattern.nnz} elements"
    title = f"Jacobian of {way.title(source.func)}"
    if is_hessian:
        title = f"Hessian of {source.func}"
    return Matrix(title, f"{counts}, {_told(coloring)}", coloring.spy(), coloring.spy("svg"))


def _told(coloring: Any) -> str:
    """The colors in words: 3 colors, 1 of columns and 2 of rows."""
    count, of_columns = coloring.num_colors, coloring.of_columns
    told = f"{count} color{'s' * (count != 1)}"
    if 0 < of_columns < count:
        return f"{told}, {of_columns} of columns and {count - of_columns} of rows"
    return f"{told} of {'rows' if coloring.mode == 'rev' else 'columns'}"


def text_of(matrix: Matrix) -> str:
    """The pattern for a terminal."""
    return f"{matrix.title}: {matrix.told}\n{matrix.dots}"
