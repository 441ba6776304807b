"""Links of Markdown files, as the repository has them and as the site needs them.

Files link to each other by their paths, so that they can be read without the site. A file outside
of docs/ that the site has too is one of `OUTSIDE`; of links to others the site has the text alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

OUTSIDE = {
    "examples/README.md": "gallery.md",
    "examples/extension/README.md": "extension.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Files of the repository, and the pages that they are."""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)


def linked(markdown: str, source: str, here: str, exists: Callable[[str], bool]) -> str:
    """Return the text of the file `source` with its links as the page `here` needs them."""

    def link(match: re.Match[str]) -> str:
        mark, text, address = match.groups()
        text = LINK.sub(link, text)  # a picture may be what a link is on
        path, hash_, anchor = address.partition("#")
        if not path or "://" in path:
            return f"{mark}[{text}]({address})"
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        name = OUTSIDE.get(file) or file.removeprefix("docs/")
        if file in OUTSIDE or file.startswith("docs/") or exists(name):
            relative = posixpath.relpath(name, posixpath.dirname(here) or ".")
            return f"{mark}[{text}]({relative}{hash_}{anchor})"
        return text

    # Links may have code for their text: only what is between fences stays as it is.
    return "".join(
        part if part.startswith("```") else LINK.sub(link, part) for part in FENCE.split(markdown)
    )
