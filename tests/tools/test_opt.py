"""irax opt as mlir-opt: its options, pipelines, several modules in a file, expected diagnostics."""

from __future__ import annotations

import pytest

from irax_tools.opt import chunks, diagnostics, pipelines

TWICE = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.sine %x : tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
WRONG_TYPE = """
func.func @g(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  %0 = stablehlo.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
"""
UNKNOWN = """
func.func @h(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "foo.bar"(%x) : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{foo.bar}}
  return %0 : tensor<4xf32>
}
"""
SEPARATOR = "// -----\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--pipeline", "cse"),
        ("--passes=cse",),
        ("--pass-pipeline=builtin.module(cse)",),
        ("--pass-pipeline=builtin.module(func.func(cse))",),
        ("--pass-pipeline", "any(cse)"),
        ("--cse",),
        ("-cse",),
    ],
)
def test_ways_to_name_passes(irax, options):
    for arguments in ((*options, "-"), ("-", *options), options):
        done = irax("opt", *arguments, stdin=TWICE)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("stablehlo.sine") == 1


def test_passes_as_options_run_in_order_with_their_options(irax):
    done = irax("opt", "in.mlir", "--vjp=func=main wrt=0", "--batch=func=main.vjp size=3", "-cse")
    assert done.returncode == 0, done.stderr
    assert "@main.vjp.batch(%arg0: tensor<3x4xf32>" in done.stdout


def test_modules_on_the_way(irax):
    options = ("--mlir-print-ir-before-all", "--mlir-print-ir-after-all")
    done = irax("opt", "--cse", "--canonicalize", *options, stdin=TWICE)
    assert done.returncode == 0
    dumps = [line for line in done.stderr.splitlines() if "IR Dump" in line]
    assert dumps == [
        f"// -----// IR Dump {when} {name} //----- //"
        for name in ("cse", "canonicalize")
        for when in ("Before", "After")
    ]
    assert [part.count("stablehlo.sine") for part in done.stderr.split("IR Dump")] == [
        0,
        2,
        1,
        1,
        1,
    ]
    assert "IR Dump" not in done.stdout


def test_forms_of_output(irax):
    generic = irax("opt", "--mlir-print-op-generic", stdin=TWICE)
    assert '"stablehlo.sine"(' in generic.stdout
    for option in ("--locations", "-mlir-print-debuginfo"):
        assert 'loc("-":3:8)' in irax("opt", option, stdin=TWICE).stdout


def test_several_modules(irax):
    text = f"{TWICE}{SEPARATOR}{TWICE}"
    done = irax("opt", "-split-input-file", "-cse", stdin=text)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split(SEPARATOR)
    assert first == second
    assert "redefinition of symbol" in irax("opt", "--cse", stdin=text).stderr
    again = irax("opt", "-split-input-file", stdin=done.stdout)
    assert again.stdout == done.stdout


def test_a_module_that_fails_leaves_the_others(irax):
    text = f"{TWICE}{SEPARATOR}{WRONG_TYPE}{SEPARATOR}{TWICE}"
    done = irax("opt", "-split-input-file", "-cse", stdin=text)
    assert done.returncode == 1
    assert done.stdout.count("stablehlo.sine") == 2
    line = text.splitlines().index("  %0 = stablehlo.add %x, %x : (tensor<4xf32>, tensor<4xf32>) "
                                   "-> tensor<5xf32>") + 1  # fmt: skip
    assert f"-:{line}: error: 'stablehlo.add' op requires the same shape" in done.stderr


def test_expected_diagnostics(irax):
    text = SEPARATOR.join([TWICE, WRONG_TYPE, UNKNOWN])
    done = irax("opt", "-split-input-file", "-verify-diagnostics", "--check", stdin=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert "func.func @f" in done.stdout


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (WRONG_TYPE.replace("the same shape", "cheese"), 'expected error "requires cheese'),
        (WRONG_TYPE.replace("@+1", ""), "-:4: unexpected error: 'stablehlo.add' op requires"),
        (UNKNOWN.replace("error", "warning"), 'expected warning "foo.bar" was not produced'),
        (UNKNOWN.replace("// expected-error {{foo.bar}}", ""), "unexpected error: "),
        (TWICE.replace("%0 =", "// expected-error@below {{x}}\n %0 ="), "was not produced"),
    ],
)
def test_unexpected_diagnostics(irax, text, complaint):
    done = irax("opt", "--verify-diagnostics", "--check", stdin=text)
    assert done.returncode == 1
    assert complaint in done.stderr


@pytest.mark.parametrize(
    ("comment", "line", "message", "is_met"),
    [
        ("// expected-error@above {{is wrong}}", 1, "this is wrong here", True),
        ("// expected-error@-1 {{is wrong}}", 1, "this is right", False),
        ("// expected-error@below {{is wrong}}", 3, "is wrong", True),
        ("// expected-error@+2 {{is wrong}}", 4, "is wrong", True),
        ("// expected-error@unknown {{is wrong}}", 0, "is wrong", True),
        ("// expected-error-re@above {{{{a|b}} is {{[0-9]+}}.}}", 1, "b is 35.", True),
        ("// expected-error-re@above {{{{a|b}} is {{[0-9]+}}.}}", 1, "b is 35!", False),
        ("// expected-error @above {{tensor<4x{f32}>}}", 1, "a tensor<4x{f32}>", True),
    ],
)
def test_comments(comment, line, message, is_met):
    (wanted,) = diagnostics.expected(f"a\n{comment}\nb\nc\n")
    assert wanted.is_met_by(diagnostics.Diagnostic("error", line, message)) is is_met


def test_comments_above_each_other_mean_the_same_line():
    text = "// expected-error@below {{a}}\n// expected-note@below {{b}}\n%0 = x\n"
    assert [(e.kind, e.line) for e in diagnostics.expected(text)] == [("error", 3), ("note", 3)]


def test_parts():
    assert chunks.split("a\n// -----\nb\n\n// -----  \nc") == ["a\n", "\n\nb\n\n", "\n\n\n\n\nc"]
    assert chunks.split("// ----- no\na") == ["// ----- no\na"]
    assert pipelines.of_pipeline("vjp{func=main}") == "vjp{func=main}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.mlir", "b.mlir"), "got a.mlir and b.mlir: expected one module"),
        (("--pipeline", "cse", "--cse"), "expected one of them"),
        (("none.mlir",), "none.mlir: No such file"),
        (("a.py",), "a.py: a Python program; expected a module"),
    ],
)
def test_misuse(irax, arguments, message):
    done = irax("opt", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_an_option_that_is_no_pass(irax):
    done = irax("opt", "in.mlir", "--no-such-pass")
    assert done.returncode == 1
    assert "unknown pass 'no-such-pass'" in done.stderr
