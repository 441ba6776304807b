"""Parsing of constants' elements from MLIR's text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np


def parse(text: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The array that is printed as `dense<text>`."""
    if text.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(text[3:-1]), dtype).reshape(shape).copy()
    part = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
    scalar = part if dtype.kind == "c" else dtype
    bits = np.dtype(f"u{scalar.itemsize}")

    def number(token: str) -> Any:
        if token.startswith("0x"):  # a bit pattern: how MLIR prints nan and inf
            return np.array(int(token, 16), bits).view(scalar)[()]
        return np.array(float(token)).astype(scalar)[()]

    tokens = [number(t) for t in re.findall(r"0x[0-9A-Fa-f]+|[-+]?[0-9.]+(?:[eE][-+]?\d+)?", text)]
    flat = np.array(tokens, scalar)
    if dtype.kind == "c":
        flat = flat.view(dtype)
    return (np.full(shape, flat[0]) if flat.size == 1 else flat.reshape(shape)).astype(dtype)
