"""Booleans of constants as text of older MLIR has them: eight to a byte, the first in its last bit.

TensorFlow 2.21 has them so. MLIR of 2026 has a byte for each in text; in bytecode it reads both.
"""

from __future__ import annotations

import math
import re

import numpy as np

_ELEMENTS = re.compile(r'dense<"0x([0-9A-Fa-f]*)"> : tensor<((?:\d+x)+)i1>')
_TOLD = re.compile(_ELEMENTS.pattern.replace("([0-9A-Fa-f]*)", ""))


def unpacked(text: str, told: str) -> str:
    """Return a module's text, whose words are `told` (see `words`), with a byte for each boolean.

    >>> packed = 'stablehlo.constant dense<"0x0502"> : tensor<2x5xi1>'
    >>> unpacked(packed, packed)[-44:]
    '"0x01000100000000000100"> : tensor<2x5xi1>'
    """
    return _ELEMENTS.sub(_with_bytes, text) if _TOLD.search(told) else text


def _with_bytes(match: re.Match[str]) -> str:
    digits, sizes = match.groups()
    count = math.prod(int(n) for n in sizes.split("x")[:-1])
    if count == 1 or len(digits) != 2 * -(-count // 8):
        return match.group()
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(digits), np.uint8), bitorder="little")
    return match.group().replace(digits, bits[:count].tobytes().hex().upper())
