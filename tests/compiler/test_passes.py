"""Properties of every pass: the module verifies, and its operations know the user's lines.

The golden files serve as examples, their RUN lines as pipelines.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from irax_compiler import mlir, passes
from irax_compiler.mlir import Module, Operation
from irax_compiler.passes import PassError, by_name
from irax_compiler.passes.core import Pass, nested
from irax_compiler.pipeline import parse_pipeline, run_pipeline

GOLDEN = Path(__file__).parent.parent / "golden"
FILES = sorted(str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*.mlir"))
RUN = re.compile(r'^// RUN: --pipeline "(.*)"$', re.MULTILINE)
USER = r'"-":\d+:\d+'  # the parser gives each operation its place in the text


def run_golden(name: str, after: Callable[[str, Module], None] | None = None) -> Module:
    text = (GOLDEN / name).read_text("utf-8")
    module = mlir.parse_module(text)
    for pipeline in RUN.findall(text):
        run_pipeline(module, pipeline, after)
    return module


def location(operation: Operation) -> str:
    return str(operation.location).removeprefix("loc(").removesuffix(")")


def name_of(text: str) -> str:
    """The name of a pass in a pipeline's text."""
    return text.partition("{")[0]


def built(function: Operation) -> Iterator[Operation]:
    """The operations of a function but its return."""
    return (o for o in nested(function) if o.name not in ("func.return", "stablehlo.return"))


@pytest.mark.parametrize("name", FILES)
def test_every_pass_leaves_a_module_that_verifies_and_knows_its_lines(name: str):
    ran = []

    def check(text: str, module: Module) -> None:
        ran.append(text)
        module.operation.verify()
        assert str(mlir.parse_module(str(module))) == str(module)
        # MLIR's own passes forget where constants came from that they merge.
        merged = any(text == "canonicalize" or name_of(text) not in by_name() for text in ran)
        for operation in nested(module.operation):
            if merged and operation.name == "stablehlo.constant":
                continue
            assert re.search(USER, location(operation)), (
                f"{text}: no line of the user's: {operation}"
            )

    run_golden(name, check)
    assert ran


@pytest.mark.parametrize("name", [n for n in FILES if n.startswith("jvp/")])
def test_what_jvp_made_says_so(name: str):
    module = run_golden(name)
    functions = mlir.functions(module)
    for derived in [n for n in functions if n.endswith(".jvp")]:
        there = {location(o) for o in built(functions[derived.removesuffix(".jvp")])}
        made = [o for o in built(functions[derived]) if location(o) not in there]
        for operation in made:
            assert re.fullmatch(rf'"jvp"\({USER}\)', location(operation)), operation
        marked = {location(o) for o in made}
        assert all(m.removeprefix('"jvp"(').removesuffix(")") in there for m in marked)


def test_transformations_are_named_from_the_outside_in():
    module = mlir.parse_module("""
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.sine %x : tensor<4xf32> loc("user.py":7:5)
          return %0 : tensor<4xf32>
        }""")
    run_pipeline(module, "vjp{func=main},batch{func=main.vjp size=3}")
    functions = mlir.functions(module)
    operations = [o for n in ("main.fwd.batch", "main.bwd.batch") for o in built(functions[n])]
    assert {o.name.removeprefix("stablehlo."): location(o) for o in operations} == {
        "sine": '"batch"("user.py":7:5)',
        "cosine": '"batch"("jvp"("user.py":7:5))',
        "multiply": '"batch"("transpose"("jvp"("user.py":7:5)))',
    }


CALLS = """
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    "pipeline, public",
    [
        ("jvp{func=main}", {"main.jvp"}),
        ("linearize{func=main}", {"main.fwd", "main.lin"}),
        (
            "linearize{func=main},transpose{func=main.lin wrt=1}",
            {"main.fwd", "main.lin", "main.bwd"},
        ),
        ("vjp{func=main}", {"main.vjp"}),
        ("batch{func=main size=3}", {"main.batch"}),
        ("jvp{func=f}", {"f.jvp"}),
    ],
)
def test_what_was_asked_for_is_public_and_stays(pipeline: str, public: set[str]):
    module = mlir.parse_module(CALLS)
    run_pipeline(module, f"{pipeline},prune,simplify,canonicalize,cse,symbol-dce")
    functions = mlir.functions(module)
    assert {name for name, f in functions.items() if mlir.is_public(f)} == {"main"} | public


@pytest.mark.parametrize("cls", by_name().values(), ids=by_name())
def test_every_pass_says_what_it_guarantees(cls: type[Pass]):
    documentation = cls.__doc__ or ""
    assert not documentation.startswith(f"{cls.__name__}(")  # what @dataclass writes by itself
    assert len(documentation) > 60, "the docstring says too little of the module that it leaves"


def test_every_pass_is_known_by_its_name():
    folder = Path(passes.__file__).parent
    registering = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if "\n@register_pass\n" in path.read_text("utf-8")
    }
    command = (
        "from irax_compiler.passes import by_name\n"
        "print(*(cls.__module__ for cls in by_name().values()))"
    )
    found = subprocess.run([sys.executable, "-c", command], capture_output=True, check=True)
    known = {name.removeprefix(f"{passes.__name__}.") for name in found.stdout.decode().split()}
    unknown = registering - known
    assert not unknown, f"import {sorted(unknown)} in irax_compiler/passes/__init__.py"


def test_every_pass_is_in_a_golden_file():
    texts = [run for name in FILES for run in RUN.findall((GOLDEN / name).read_text("utf-8"))]
    shown = {name_of(str(one)) for text in texts for one in parse_pipeline(text)}
    assert by_name().keys() - shown == {"check"}  # which changes nothing: test_check.py


@pytest.mark.parametrize(
    "text, told",
    [
        ("decompose{elementwise=1}", "decompose: option elementwise='1': expected true or false"),
        ("batch{func=main size=many}", "batch: option size='many': expected one of type int"),
    ],
)
def test_the_value_that_an_option_expects_is_told(text: str, told: str):
    with pytest.raises(PassError, match=told):
        parse_pipeline(text)


@pytest.mark.parametrize("name", ["jvp", "linearize", "transpose", "vjp", "batch"])
def test_a_function_that_is_not_there_is_named(name: str):
    with pytest.raises(PassError, match=r"func=g: the module has no function @g; it has @f, @main"):
        run_pipeline(mlir.parse_module(CALLS), f"{name}{{func=g}}")


def test_functions_are_after_those_that_they_call():
    calls = {"a": ["b", "c"], "b": ["d"], "c": ["d", "b"], "d": []}
    assert mlir.callees_first(["a"], calls.__getitem__) == ["d", "b", "c", "a"]
    assert mlir.callees_first(["d", "c"], calls.__getitem__) == ["d", "b", "c"]
    assert mlir.callees_first(["a"], lambda x: calls[x] or ["b"]) is None
