"""Programs that are found in the cache by the module as it was traced, and not lowered again."""

import dataclasses
import hashlib
import os

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.core.dispatch import bind
from irax_compiler import api, kept_programs, mlir, own_files, targets
from irax_compiler.iree.compiler import compile
from irax_compiler.iree.target import iree_target, passes_after
from irax_compiler.ops import elementwise, registry
from irax_compiler.ops.composite import COMPOSED
from irax_compiler.ops.special.series import ByFormula
from irax_compiler.passes.core import CSE, Pass
from irax_compiler.passes.legalize import target


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def refused(monkeypatch):
    """Refuse to lower from now on."""

    def refuse():
        def lower(*_, **__):
            raise AssertionError("lowered again")

        monkeypatch.setattr(api, "lower", lower)

    return refuse


def key_of(function, *args, target="iree-cpu", donated=()):
    ir = irax.make_ir(function)(*args)
    return kept_programs.key(ir.module, ir.func, target, donated)


def test_an_equal_module_is_not_lowered_again(refused):
    def model(scale):
        return irax.jit(lambda x: {"sum": jnp.sin(x * scale).sum(), "same": x})

    x = np.arange(4.0, dtype=np.float32)
    expected = model(2.0)(x)
    refused()
    found = model(2.0)(x)
    np.testing.assert_array_equal(found["sum"], expected["sum"])
    np.testing.assert_array_equal(found["same"], x)
    with pytest.raises(AssertionError, match="lowered again"):
        model(3.0)(x)
    with pytest.raises(AssertionError, match="lowered again"):
        model(2.0)(x[:3])


def test_keys_tell_programs_apart(monkeypatch):
    x = jnp.ones(3)

    def f(x):
        return x + 1

    same = key_of(f, x)
    assert same is not None
    assert key_of(f, x) == same
    others = [
        key_of(lambda x: x + 2, x),
        key_of(f, jnp.ones(4)),
        key_of(f, x, target="iree-vulkan"),
        key_of(f, x, target="iree-cuda:sm_89"),
        key_of(f, x, donated=[0]),
    ]
    monkeypatch.setenv("IRAX_BLAS", "off")
    others.append(key_of(f, x))
    monkeypatch.delenv("IRAX_BLAS")
    monkeypatch.setattr(kept_programs, "processors", lambda: 77)
    others.append(key_of(f, x))
    monkeypatch.undo()
    monkeypatch.setattr(kept_programs, "_code", lambda: "another")
    others.append(key_of(f, x))
    assert len({same, None, *others}) == len(others) + 2


def test_what_depends_on_the_process_is_lowered():
    x = jnp.ones(3)

    def called_back(x):
        return irax.pure_callback(np.sin, x, x)

    @irax.custom_batching.custom_vmap
    def batched(x):
        return x + 1

    @batched.def_vmap
    def rule(size, is_batched, x):
        return x, True

    mesh = irax.make_mesh((1,), ("a",))
    spec = irax.sharding.PartitionSpec("a")
    divided = irax.shard_map(lambda x: x, mesh=mesh, in_specs=spec, out_specs=spec)
    for function in (called_back, batched, divided):
        assert key_of(function, x) is None


def test_targets_of_other_packages_are_lowered_for(monkeypatch):
    assert targets.is_own("iree-cpu:host")
    changed = dataclasses.replace(targets.find("iree-cpu"), name="theirs")
    monkeypatch.setitem(target._targets, "theirs", changed)  # as `register` does
    assert not targets.is_own("theirs")


@dataclasses.dataclass
class Theirs(Pass):
    """A pass of another package."""

    name = "theirs"

    def run(self, module):
        pass


def test_a_target_with_passes_of_another_package_is_lowered_for(monkeypatch):
    x = jnp.ones(3)
    assert key_of(jnp.sin, x) is not None
    cpu = targets.find("iree-cpu")
    changed = dataclasses.replace(cpu, passes=(*cpu.passes, Theirs()))
    monkeypatch.setitem(target._targets, "iree-cpu", changed)
    assert key_of(jnp.sin, x) is None


def test_passes_of_another_package_between_irees_phases_are_run_each_time(folder):
    """Their options are part of the key, but their code is not known."""
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    lowered = mlir.bytecode(api.lower(api.parse(text)))
    flags = iree_target("iree-cpu").flags_for()
    for passes, kept in [([Theirs()], 0), ([CSE, Theirs()], 0), ([CSE], 1)]:
        compile(lowered, flags, rewrites=[passes_after("flow", passes)])
        assert len(list(folder.iterdir())) == kept


@dataclasses.dataclass(frozen=True)
class Doubled(ByFormula):
    """x + x, an op of another package."""

    name = "theirs.doubled"

    def formula(self, *operands):
        return operands[0] + operands[0]


def test_ops_of_other_packages_are_lowered(monkeypatch):
    x = jnp.ones(3)

    def f(x):
        return irax.jit(lambda x: bind(Doubled(), x))(x)

    monkeypatch.setitem(COMPOSED, Doubled.name, Doubled)
    assert key_of(f, x) is None
    assert key_of(jnp.sin, x) is not None


def test_ops_in_the_place_of_irax_s_are_lowered(monkeypatch):
    x = jnp.ones(3)
    theirs = dataclasses.replace(elementwise.logistic)
    monkeypatch.setitem(registry._TRAITS, theirs.name, theirs)
    assert key_of(irax.lax.logistic, x) is None
    assert key_of(jnp.cos, x) is not None


def test_a_compiler_that_was_edited_while_it_runs_is_not_trusted(monkeypatch):
    monkeypatch.setattr(own_files, "_BEGUN", 0)
    monkeypatch.setattr(own_files, "compiler", own_files.compiler.__wrapped__)
    monkeypatch.setattr(kept_programs, "_code", kept_programs._code.__wrapped__)
    assert key_of(lambda x: x, jnp.ones(3)) is None


def test_files_of_the_compiler_are_part_of_the_key(tmp_path, monkeypatch):
    monkeypatch.setattr(own_files, "__file__", str(tmp_path / "own_files.py"))
    code = own_files.compiler.__wrapped__
    found = {code()}
    for name, text in [("a.py", "1"), ("passes/b.py", "1"), ("a.py", "12")]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, ns=(5, 5))
        found.add(code())
    os.utime(path, ns=(5, 6))
    found.add(code())
    assert len(found) == 5


def ruled(rule):
    """A function with derivative rules of both kinds, which are not asked for, and one of vmap."""

    @irax.custom_jvp
    def f(x):
        return jnp.sin(x)

    f.defjvp(lambda primals, tangents: (f(*primals), rule * tangents[0]))

    @irax.custom_vjp
    def g(x):
        return jnp.cos(x)

    g.defvjp(lambda x: (g(x), x), lambda x, ct: (rule * ct,))
    return lambda x: f(x).sum() + g(x).sum() + irax.vmap(f)(x).sum() + irax.vmap(g)(x).sum()


def test_names_of_rules_are_no_part_of_keys():
    """They differ between processes, and between traces. What rules compute is part of them."""
    x = jnp.ones(3)
    assert key_of(ruled(2.0), x) == key_of(ruled(2.0), x) is not None
    assert key_of(irax.grad(ruled(2.0)), x) == key_of(irax.grad(ruled(2.0)), x) is not None
    assert key_of(irax.grad(ruled(2.0)), x) != key_of(irax.grad(ruled(3.0)), x)
    assert key_of(ruled(2.0), x) != key_of(irax.grad(ruled(2.0)), x)


def test_programs_with_rules_are_not_lowered_again(refused):
    x = np.arange(3.0, dtype=np.float32)
    expected = irax.jit(irax.value_and_grad(ruled(2.0)))(x)
    refused()
    found = irax.jit(irax.value_and_grad(ruled(2.0)))(x)
    irax.tree.map(np.testing.assert_array_equal, found, expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cut", [0, 1000, None])
def test_whole_files_that_do_not_load_are_compiled_again(folder, cut):
    def model():
        return irax.jit(lambda x: x * 2 + 1)

    x = np.array([1.0, 2.0], np.float32)
    model()(x)
    files = [path for path in folder.iterdir() if len(path.name) == 64]
    sizes = {path: path.stat().st_size for path in files}
    assert files
    for path in files:
        data = path.read_bytes()[32:][:cut] if cut is not None else b"no program" * 100
        path.write_bytes(hashlib.sha256(data).digest() + data)
    np.testing.assert_array_equal(model()(x), [3.0, 5.0])
    assert {path: path.stat().st_size for path in files} == sizes


def test_what_the_compiler_made_and_does_not_load_is_an_error(monkeypatch):
    device = irax.devices()[0]

    def load(artefact, name):
        raise RuntimeError("no room for the program")

    monkeypatch.setattr(type(device), "load", lambda self, *given: load(*given))
    with pytest.raises(RuntimeError, match="no room for the program"):
        irax.jit(lambda x: x * 5 + 2)(np.ones(3, np.float32))


def test_a_function_that_is_not_compiled_for_all_sizes_is_not_tried_again(refused):
    def running():
        return irax.jit(lambda x: jnp.sort(x) * 2.0, dynamic_shapes={"x": "n"})

    x = np.array([3.0, 1.0], np.float32)
    first = running()
    np.testing.assert_array_equal(first(x), [2.0, 6.0])
    refused()
    again = running()
    np.testing.assert_array_equal(again(x), [2.0, 6.0])
    assert irax.explain(again).sizes == irax.explain(first).sizes


def test_what_iree_compiles_is_kept_for_this_code_of_the_compiler(folder, monkeypatch):
    """irax's passes run between IREE's phases, so the module that IREE gets does not say all."""
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"

    def kept():
        targets.compile(api.lower(api.parse(text)), "iree-cpu")
        return len(list(folder.iterdir()))

    assert (kept(), kept()) == (1, 1)
    monkeypatch.setattr(own_files, "compiler", lambda: "other code")
    assert kept() == 2
    monkeypatch.setattr(own_files, "compiler", lambda: None)
    assert kept() == 2
