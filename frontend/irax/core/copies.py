"""A base of classes whose objects belong to one process: modules, and objects that hold them."""

from __future__ import annotations

from typing import Any, NoReturn, Self


class OfThisProcess:
    """A base of classes whose objects are shared: copies are the object itself, pickling fails."""

    pickle_instead = "the function that they were made of, and transform that where it is unpickled"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects belong to this process and cannot be pickled: pickle "
            f"{self.pickle_instead}"
        )
