"""Lines of the user's, as messages name them: those of a notebook's cells by the cell's number."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import Any


def cell_name(file: str) -> str | None:
    """Return a notebook's cell as IPython numbers it, such as `In[3]`; None for other files."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    naming: Any = getattr(getattr(shell, "compile", None), "format_code_name", None)
    told = naming and naming(file)
    return told[1] if told else None


def place(file: str, line: int, short: bool = False) -> str:
    """Return the text of a line's place, `file:line` or `In[3]:line`; the file's name alone where
    it is to be `short`.

    >>> place("/home/me/model.py", 3), place("/home/me/model.py", 3, short=True)
    ('/home/me/model.py:3', 'model.py:3')
    """
    name = cell_name(file) or (PurePath(file).name if short else file)
    return f"{name}:{line}"
