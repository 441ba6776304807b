"""Files that irax.export and irax compile wrote, run by the runtime alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections import OrderedDict, namedtuple
from pathlib import Path

import numpy as np
import pytest

import irax
import irax.numpy as jnp
import irax_runtime
from irax_compiler import mlir
from irax_compiler.blas import library
from irax_compiler.lowering import lower
from irax_compiler.targets import compile as compile_module
from irax_runtime import archives, exported, instructions, trees

DOCS = Path(__file__).parents[2] / "docs" / "export.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if name.startswith("iree.compiler") or package in (
            "irax", "irax_compiler", "irax_tools", "scipy", "optree", "jax", "click"
        ):
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Missing())
"""
Point = namedtuple("Point", "x y")


@pytest.mark.slow
def test_a_training_step_in_a_process_without_a_compiler(tmp_path):
    """The two programs of docs/export.md."""
    (train, serve), printed = (
        [text for kind, text in BLOCKS if kind == "py"],
        next(text for kind, text in BLOCKS if kind == "text"),
    )
    for name, program in (("train.py", train), ("serve.py", WITHOUT + serve)):
        (tmp_path / name).write_text(program)
        done = subprocess.run(
            [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout == printed


@pytest.mark.parametrize("calls", [True, False])
def test_what_a_file_needs_is_printed_when_it_is_saved(tmp_path, capsys, calls):
    """A QR factorization calls OpenBLAS, unless that is not wanted."""
    matrix = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    saved = irax.export.export(irax.jit(jnp.linalg.qr), blas=calls)(matrix)
    saved.save(tmp_path / "f.irax")
    needed = " and scipy-openblas64 (blas=False does without)" if calls and library() else ""
    printed = capsys.readouterr()
    assert re.fullmatch(r"\d+ kB, for cpu; runs with irax-runtime(.*)\n", told(printed.err))
    assert printed.err.endswith(f"irax-runtime{needed}\n")
    assert printed.out == ""
    q, r = irax_runtime.load(tmp_path / "f.irax")(matrix)
    np.testing.assert_allclose(q @ r, matrix, atol=1e-5)
    saved.vjp().save(tmp_path / "vjp.irax")
    assert capsys.readouterr().err.endswith(f"irax-runtime{needed}\n")


def told(line):
    return line.rpartition("f.irax: ")[2]


def step(state, x, *, scale=1.0):
    return Point(state["a"] * x * scale, [jnp.sum(state["b"]), None]), (x,)


STATE = {"b": np.arange(6, dtype=np.int32).reshape(2, 3), "a": np.ones((2, 3), np.float32)}
X = np.array([1, 2, 3], np.float32)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "step.irax"
    irax.export.export(irax.jit(step))(STATE, X, scale=2.0).save(path)
    return path


def test_pytrees(file):
    program = irax_runtime.load(file)
    point, (same,) = program(STATE, X, scale=3)
    assert type(point).__name__ == "Point"
    np.testing.assert_array_equal(point.x, 3 * np.ones((2, 3)) * X)
    assert point.y == [15, None]
    np.testing.assert_array_equal(same, X)
    assert not same.flags.writeable
    assert str(program.arguments[0][0]["b"]) == "int32[2,3]"
    again, _ = program(STATE, same, scale=np.float32(3))
    np.testing.assert_array_equal(again.x, point.x)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        ((STATE, X), {}, TypeError, r"step: kwargs is a dict .* \(\); expected .* keys 'scale'"),
        ((STATE,), {"scale": 1}, TypeError, "step: args has 1 items; expected 2"),
        (({"a": 1}, X), {"scale": 1}, TypeError, r"args\[0\] is a dict with the keys 'a'; expec"),
        ((None, X), {"scale": 1}, TypeError, r"args\[0\] is None; expected a dict"),
        (
            (STATE, X.astype(float)),
            {"scale": 1},
            TypeError,
            r"args\[1\] is float64\[3\]; expected float32\[3\]: convert it with astype\('float32'",
        ),
        ((STATE, X[:2]), {"scale": 1}, ValueError, r"args\[1\] is float32\[2\]; expected float32"),
        ((STATE, X), {"scale": 1j}, TypeError, r"kwargs\['scale'\] is complex128\[\]; expected"),
    ],
)
def test_other_arguments(file, args, kwargs, error, message):
    with pytest.raises(error, match=message):
        irax_runtime.load(file)(*args, **kwargs)


def test_other_files(file, tmp_path):
    with pytest.raises(FileNotFoundError):
        irax_runtime.load(tmp_path / "none.irax")
    (tmp_path / "notes.txt").write_text("nonsense")
    for other, name in ((b"nonsense", "the program"), (tmp_path / "notes.txt", "notes.txt")):
        with pytest.raises(ValueError, match=rf"{name}: not a compiled IREE module.*irax compile"):
            irax_runtime.load(other)
    with pytest.raises(ValueError, match=r"no program for .*; it has some for iree-cpu"):
        irax_runtime.load(file, Elsewhere())
    contents = archives.read(file.read_bytes(), "f")
    for change, message in (
        ({"irax": 99}, "written in version 99 of this format; this irax reads version 1"),
        ({"programs": {}}, "no compiled program: it was written with `serialize`"),
        (
            {"programs": {"iree-cpu": {"file": "iree-cpu.vmfb", "processor": ["avx9000"]}}},
            "for a processor with avx9000, which this one does not have",
        ),
        (
            {"programs": {"iree-cpu": {"file": "iree-cpu.vmfb", "processor": [1]}}},
            "manifest.json is damaged.*processor",
        ),
        ({"results": {"tree": 0, "leaves": [{"name": "y", "type": "f32[]"}]}}, "is damaged.*weak"),
        (
            {"programs": {"iree-cuda": {"file": "iree-cpu.vmfb"}}},
            "programs for iree-cuda, and there is no such device",
        ),
    ):
        manifest = json.loads(contents["manifest.json"]) | change
        changed = exported.write(contents | {"manifest.json": json.dumps(manifest).encode()})
        with pytest.raises(ValueError, match=message):
            irax_runtime.load(changed)


class Elsewhere:
    target = "iree-vulkan"


def test_damage_is_found(file):
    data = bytearray(file.read_bytes())
    random = np.random.default_rng(0)
    found = 0
    for place in random.integers(0, len(data), 300):
        damaged = data.copy()
        damaged[place] ^= 1 << random.integers(8)
        try:
            program = irax_runtime.load(bytes(damaged))
            np.testing.assert_array_equal(program(STATE, X, scale=1)[1][0], X)
        except ValueError:
            found += 1
    assert found > 250  # elsewhere are dates and the like
    for length in range(0, len(data), 997):
        with pytest.raises(ValueError, match=r"damaged|not a compiled"):
            irax_runtime.load(bytes(data[:length]))


def test_compiled_modules():
    text = """
    func.func @main(%x: tensor<2xf32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<i32>) {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0, %n : tensor<2xf32>, tensor<i32>
    }
    """
    artefact = compile_module(lower(mlir.parse_module(text)), "iree-cpu")
    program = irax_runtime.load(artefact)
    assert repr(program) == "<main(float32[2], int32[]) -> (float32[2], int32[])>"
    doubled, n = program(X[:2], 7)
    np.testing.assert_array_equal(doubled, [2, 4])
    assert n == 7
    damaged = bytearray(artefact)
    damaged[len(artefact) // 2] ^= 4
    with pytest.raises(ValueError, match="or damaged: "):
        irax_runtime.load(bytes(damaged))


def test_an_archive_that_anybody_can_open(file):
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == ["manifest.json", "module.mlir", "iree-cpu.vmfb"]
        assert b'"stablehlo.multiply"' in archive.read("module.mlir")


TREES = [
    (0, [1, (2, None)], {"b": [3], "a": 4}),
    OrderedDict(z=(), a=[]),
    {3: 0, 1: {"x": 1}},
    Point(0, (Point(1, 2),)),
]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_trees(tree):
    leaves, structure = irax.tree_util.tree_flatten(tree)
    numbered = irax.tree_util.tree_unflatten(structure, map(trees.Leaf, range(len(leaves))))
    spec = json.loads(json.dumps(trees.describe(numbered, no_parts)))
    assert trees.build(spec, leaves) == tree
    assert type(trees.build(spec, leaves)).__name__ == type(tree).__name__
    wrapped = {"tuple": [spec]}
    assert trees.flatten(wrapped, (tree,), ("args",), "f") == leaves


def no_parts(x):
    raise TypeError(type(x).__name__)


def test_trees_that_cannot_be_described():
    with pytest.raises(TypeError, match=r"keys \[1.5\]: expected strings or ints"):
        trees.describe({1.5: trees.Leaf(0)}, no_parts)
    with pytest.raises(TypeError, match="object"):
        trees.describe([object()], no_parts)
    with pytest.raises(ValueError, match="of an unknown kind"):
        trees.build({"set": [0]}, [1])


def test_instructions_that_the_system_refuses_are_none_of_the_processor(monkeypatch):
    facts = Path("/proc/cpuinfo")
    if not facts.exists():
        pytest.skip("the system does not tell")
    text = "flags : fma amx_tile avx2\n"
    monkeypatch.setattr(Path, "read_text", lambda self: text)
    for allowed in (True, False):
        monkeypatch.setattr(instructions, "ask_for_matrices", lambda allowed=allowed: allowed)
        assert ("amx_tile" in exported.processor_features()) == allowed
        assert {"fma", "avx2"} <= set(exported.processor_features())
