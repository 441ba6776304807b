"""jax._src.public_test_util: jax.test_util, and a comparison of pytrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import tree_util
from irax.test_util import *  # noqa: F403


def check_close(
    xs: Any, ys: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = ""
) -> None:
    """Check that pytrees have one structure, and elements that are close.

    Raises:
        AssertionError: they differ.
    """
    assert tree_util.tree_structure(xs) == tree_util.tree_structure(ys), err_msg

    def check(x: Any, y: Any) -> None:
        np.testing.assert_allclose(
            np.asarray(x), np.asarray(y), atol=atol or 0.0, rtol=rtol or 1e-6, err_msg=err_msg
        )

    tree_util.tree_map(check, xs, ys)
