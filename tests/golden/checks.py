"""Compares what a command prints with CHECK lines as LLVM's FileCheck does, and strictly.

    // CHECK: after what matched before        // CHECK-NOT: not between the matches around it
    // CHECK-NEXT: on the next line            // CHECK-DAG: in any order with those beside it
    // CHECK-SAME: on the same line            // CHECK-LABEL: sought first; lines before it end
    // CHECK-COUNT-3: so many times               there, those after it begin there

`{{...}}` is a regular expression, `[[X:...]]` one with a name, `[[X]]` the same text again. Runs of
spaces are one space. A comment that looks like a directive and is none is an error; so is a regular
expression that LLVM does not have, but for `\\w`, which `for_llvm` spells out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

DIRECTIVE = re.compile(
    r"\s*// CHECK(?:-(NEXT|SAME|NOT|DAG|LABEL|COUNT-(?P<count>[1-9]\d*)))?:\s+(?P<pattern>.*\S)\s*"
)
OF_THE_HARNESS = re.compile(r"// (RUN|CHIP): .*")
LOOKS_LIKE_A_DIRECTIVE = re.compile(r".*CHECK|.*//\s*([A-Z][A-Z0-9_-]*|(?i:check)[\w-]*)\s*:")
PART = re.compile(r"\{\{(?P<regex>.+?)\}\}|\[\[(?P<name>[A-Za-z_]\w*)(:(?P<of>.+?))?\]\]")
NOT_OF_LLVM = re.compile(r"\\[A-Za-vx-z0-9]|\(\?|[*+?]\?")


class Failed(Exception):
    """A line of checks that is wrong, or does not hold."""

    def __init__(self, line: int, problem: str):
        super().__init__(f"line {line}: {problem}")


@dataclass(frozen=True)
class Directive:
    """One line of checks: its kind, empty for CHECK itself, and its pattern."""

    line: int
    kind: str
    count: int
    pattern: str

    def expression(self, values: dict[str, str]) -> re.Pattern[str]:
        """The regular expression of the pattern, where names have these values."""
        parts, end = [], 0
        defined: set[str] = set()
        for part in PART.finditer(self.pattern):
            parts.append(self._literal(self.pattern[end : part.start()]))
            end = part.end()
            if (name := part["name"]) is None:
                parts.append(f"(?:{self._checked(part['regex'])})")
            elif part["of"] is not None:
                if name in defined:
                    raise Failed(self.line, f"[[{name}:...]] stands twice")
                parts.append(f"(?P<{name}>{self._checked(part['of'])})")
                defined.add(name)
            elif name in defined:
                parts.append(f"(?P={name})")
            elif name in values:
                parts.append(re.escape(values[name]))
            else:
                raise Failed(self.line, f"[[{name}]] has no value")
        parts.append(self._literal(self.pattern[end:]))
        return re.compile("".join(parts), re.ASCII)

    def _literal(self, text: str) -> str:
        if "{{" in text or "[[" in text:
            raise Failed(self.line, f"expected {{{{...}}}}, [[NAME]] or [[NAME:...]]: {text}")
        return re.escape(text)

    def _checked(self, regex: str) -> str:
        if found := NOT_OF_LLVM.search(regex):
            raise Failed(self.line, f"LLVM's regular expressions do not have {found[0]}")
        return regex.replace("[^", r"[^\n")


def directives(text: str) -> list[Directive]:
    """The checks of a file; an error if a comment only looks like one."""
    found: list[Directive] = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := DIRECTIVE.fullmatch(line):
            kind = (match[1] or "").split("-")[0]
            directive = Directive(number, kind, int(match["count"] or 1), spaced(match["pattern"]))
            if kind == "LABEL" and "[[" in directive.pattern:
                raise Failed(number, "CHECK-LABEL has no names")
            if kind in ("NEXT", "SAME") and all(d.kind == "NOT" for d in found):
                raise Failed(number, f"CHECK-{kind} stands first")
            found.append(directive)
        elif LOOKS_LIKE_A_DIRECTIVE.match(line) and not OF_THE_HARNESS.fullmatch(line):
            raise Failed(number, f"no directive: {line.strip()}")
    if not found:
        raise Failed(1, "no CHECK line")
    return found


def spaced(text: str) -> str:
    """The text with one space for each run of them."""
    return re.sub(r"[ \t]+", " ", text)


@dataclass
class Matching:
    """The state of a comparison: a position in what was printed, and the end of the region."""

    output: str
    position: int = 0
    end: int = 0
    values: dict[str, str] = field(default_factory=dict)
    excluded: list[Directive] = field(default_factory=list)
    group: list[tuple[int, int]] = field(default_factory=list)

    def find(self, check: Directive, start: int) -> re.Match[str]:
        """The first match of a check after the start."""
        match = check.expression(self.values).search(self.output, start, self.end)
        if match is None:
            raise Failed(check.line, f"no match for: {check.pattern}\n{self.around(start)}")
        return match

    def around(self, position: int) -> str:
        """The lines of what was printed after a position."""
        line = self.output.count("\n", 0, position) + 1
        return f"from line {line}: " + "\n".join(self.output[position:].split("\n")[:3])

    def take(self, check: Directive) -> None:
        """Go on behind the matches of a check."""
        if check.kind != "DAG":
            self.close_group()
        if check.kind == "NOT":
            self.excluded.append(check)
        elif check.kind == "DAG":
            self.take_in_any_order(check)
        else:
            self.take_in_order(check)

    def take_in_order(self, check: Directive) -> None:
        match = self.find(check, self.position)
        lines = self.output.count("\n", self.position, match.start())
        if check.kind in ("NEXT", "SAME") and lines != (check.kind == "NEXT"):
            where = self.around(match.start())
            raise Failed(check.line, f"the first match is {lines} lines further, {where}")
        self.values |= match.groupdict()
        self.exclude(match.start())
        self.position = match.end()
        for _ in range(check.count - 1):
            match = self.find(check, self.position)
            self.values |= match.groupdict()
            self.position = match.end()

    def take_in_any_order(self, check: Directive) -> None:
        match = self.find(check, self.position)
        while taken := [
            end for start, end in self.group if start < match.end() and match.start() < end
        ]:
            match = self.find(check, min(taken))
        self.values |= match.groupdict()
        self.group.append(match.span())

    def close_group(self) -> None:
        """Go on behind the matches of checks in any order; what was excluded stood before them."""
        if self.group:
            self.exclude(min(self.group)[0])
            self.position = max(end for _, end in self.group)
            self.group.clear()

    def exclude(self, end: int) -> None:
        """Fail if what is excluded matches before the end."""
        for check in self.excluded:
            expression = check.expression(self.values)
            if match := expression.search(self.output, self.position, end):
                where = self.around(match.start())
                raise Failed(check.line, f"excluded: {check.pattern}\n{where}")
        self.excluded.clear()


def regions(checks: list[Directive]) -> Iterator[list[Directive]]:
    """The checks up to each label, and those after the last."""
    start = 0
    for i, check in enumerate(checks):
        if check.kind == "LABEL":
            yield checks[start : i + 1]
            start = i + 1
    yield checks[start:]


def complaint(text: str, output: str) -> str:
    """The first fault of a text's checks, or by them of an output; empty if there is none."""
    matching = Matching(spaced(output))
    try:
        for region in regions(directives(text)):
            matching.end = len(matching.output)
            if region and region[-1].kind == "LABEL":
                matching.end = matching.find(region[-1], matching.position).end()
            for check in region:
                matching.take(check)
            if not region or region[-1].kind != "LABEL":
                matching.close_group()
                matching.exclude(matching.end)
    except Failed as failed:
        return str(failed)
    return ""


def for_llvm(text: str) -> str:
    """A file's text as LLVM's FileCheck reads it."""
    return text.replace(r"\w", "[[:alnum:]_]")
