"""Types of what is sent to other devices, which orbax names."""

from collections.abc import Sequence
from typing import Any, TypeAlias

DeviceList: TypeAlias = Sequence[Any]
