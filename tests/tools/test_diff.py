"""irax diff: what makes modules different, and what does not."""

from __future__ import annotations

import pytest

from irax_compiler import api, mlir
from irax_tools.diff.telling import Written, differences

OLD = """
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.tanh %x : tensor<4xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<4xf32>
  %3 = func.call @g(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "stablehlo.if"(%p) ({
    %5 = stablehlo.slice %3 [0:2:1] : (tensor<4xf32>) -> tensor<2xf32>
    %7 = stablehlo.concatenate %5, %5, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    stablehlo.return %7 : tensor<4xf32>
  }, {
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
"""
LAST = "  return %4 : tensor<4xf32>\n"


def told(new: str, old: str = OLD) -> list[str]:
    sides = [
        Written(name, mlir.parse_module(text, name), text)
        for name, text in (("old.mlir", old), ("new.mlir", new))
    ]
    return [line.strip() for line in differences(*sides)]


def reordered() -> str:
    """Return OLD with other names, other places, and another order of independent parts."""
    first, second = OLD.split("func.func @f")
    lines = f"func.func @f{second}".splitlines()
    lines[1], lines[2] = lines[2], lines[1]
    text = "\n".join(lines).replace("%0", "%sine").replace("%1", "%tanh").replace("%x", "%input")
    return f"{text}\n\n\n{first}"


def test_what_makes_no_difference():
    assert told(OLD) == []
    assert reordered().index("stablehlo.tanh") < reordered().index("stablehlo.sine")
    assert told(reordered()) == []
    printed = mlir.text_of(mlir.parse_module(OLD).operation, locations=True)
    assert told(printed) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "[0:2:1]",
            "[1:3:1]",
            [
                "@f:",
                "~ old.mlir:12: %5 = stablehlo.slice %3 [0:2:1] : (tensor<4xf32>) -> tensor<2xf32>",
                "new.mlir:12: %5 = stablehlo.slice %3 [1:3:1] : (tensor<4xf32>) -> tensor<2xf32>",
                "limit_indices: array<i64: 2> -> array<i64: 3>",
                "start_indices: array<i64: 0> -> array<i64: 1>",
            ],
        ),
        (
            "subtract %0, %1",
            "subtract %1, %0",
            [
                "@f:",
                "~ old.mlir:9: %2 = stablehlo.subtract %0, %1 : tensor<4xf32>",
                "new.mlir:9: %2 = stablehlo.subtract %1, %0 : tensor<4xf32>",
                "operand 0: stablehlo.sine of line 7 -> stablehlo.tanh of line 8",
                "operand 1: stablehlo.tanh of line 8 -> stablehlo.sine of line 7",
            ],
        ),
        (
            LAST,
            f"  %8 = stablehlo.negate %4 : tensor<4xf32>\n{LAST.replace('%4', '%8')}",
            [
                "@f:",
                "~ old.mlir:18: return %4 : tensor<4xf32>",
                "new.mlir:19: return %8 : tensor<4xf32>",
                "operand 0: stablehlo.if of line 11 -> stablehlo.negate of line 18",
                "+ new.mlir:18: %8 = stablehlo.negate %4 : tensor<4xf32>",
            ],
        ),
        (
            "%0 = stablehlo.cosine %x",
            "%0 = stablehlo.sine %x",
            [
                "@g:",
                "~ old.mlir:4: return %0 : tensor<4xf32>",
                "new.mlir:4: return %0 : tensor<4xf32>",
                "operand 0: stablehlo.cosine of line 3 -> stablehlo.sine of line 3",
                "- old.mlir:3: %0 = stablehlo.cosine %x : tensor<4xf32>",
                "+ new.mlir:3: %0 = stablehlo.sine %x : tensor<4xf32>",
            ],
        ),
        (
            "@g",
            "@h",
            ["~ @g is @h: new.mlir:2: func.func private @h(%x: tensor<4xf32>) -> tensor<4xf32> {"],
        ),
        (
            "func.func private @g",
            "func.func @g",
            ["@g:", 'sym_visibility: "private" -> none'],
        ),
    ],
)
def test_what_does(old, new, expected):
    """And nothing else: operations that read changed ones are not changed themselves."""
    assert told(OLD.replace(old, new)) == expected


def test_functions_come_and_go():
    other = (
        "func.func @other() -> tensor<f32> {\n  %0 = stablehlo.constant dense<1.0> : tensor<f32>"
    )
    other += "\n  return %0 : tensor<f32>\n}\n"
    assert told(OLD + other)[0].startswith("+ @other: new.mlir:20: func.func @other()")
    assert told(OLD, OLD + other)[0].startswith("- @other: old.mlir:20: func.func @other()")


def test_what_passes_leave_is_the_same():
    """Text that MLIR printed says what the module does; simplified, it says less."""
    module = mlir.parse_module(OLD)
    copy = mlir.clone_module(module)
    assert list(differences(Written("a", module), Written("b", copy))) == []
    api.run_pipeline(copy, "inline,symbol-dce")
    lines = list(differences(Written("a", module), Written("b", copy)))
    assert any(line.startswith("- @g") for line in lines)
    assert any("+ b" in line and "stablehlo.cosine" in line for line in lines)


def test_the_command(folder, irax):
    (folder / "old.mlir").write_text(OLD)
    (folder / "new.mlir").write_text(reordered())
    done = irax("diff", "old.mlir", "new.mlir")
    assert (done.returncode, done.stdout) == (0, "")
    other = irax("diff", "old.mlir", "-", stdin=OLD.replace("tanh", "cosine"))
    assert other.returncode == 1
    assert "- old.mlir:8: %1 = stablehlo.tanh %x : tensor<4xf32>" in other.stdout
    both = irax("diff", "-", "-")
    assert both.returncode == 2
    assert "there is one standard input" in both.stderr
    assert irax("diff", "old.mlir", "none.mlir").returncode == 2
