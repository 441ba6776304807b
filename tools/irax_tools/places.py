"""Locations in messages, cut to the line that a user looks for."""

from __future__ import annotations

import re

LONGEST = 200
"""The most characters of a location that is printed whole."""

_NAME = re.compile(r'"[^"]+"')
_PLACE = re.compile(r'"[^"]*":\d+:\d+')
_INSTALLED = ("site-packages", "dist-packages")
_START = "loc("


def abridged(message: str) -> str:
    """Return a message in which long locations are one line of a file: the first of the user's own,
    or the first there is; of those without lines, the first name.

    >>> abridged('sine at loc("sin"("f.py":3:1)) fails')
    'sine at loc("sin"("f.py":3:1)) fails'
    """
    parts, place = [], 0
    while (start := message.find(_START, place)) >= 0:
        end = _end(message, start + len(_START))
        found = message[start:end]
        parts += [message[place:start], found if len(found) <= LONGEST else _short(found)]
        place = end
    return "".join([*parts, message[place:]])


def _short(location: str) -> str:
    places = _PLACE.findall(location)
    own = [x for x in places if not any(folder in x for folder in _INSTALLED)]
    first = next(iter([*own, *places, *_NAME.findall(location)]), location[len(_START) :])
    return f"loc({first[:LONGEST]} ...; all of it: irax --debug)"


def _end(text: str, place: int) -> int:
    """Return the end of what is in parentheses, of which text has the first before `place`."""
    depth, quoted = 1, False
    while place < len(text) and depth:
        letter = text[place]
        if letter == '"':
            quoted = not quoted
        elif letter == "\\":
            place += 1
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(letter, 0)
        place += 1
    return min(place, len(text))
