"""Phases of IREE that are run as pipelines, in invocations of their own."""

import dataclasses
import os
import re
import subprocess
import sys
from collections import OrderedDict

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import api, mlir, targets
from irax_compiler.iree import (
    compiler,
    invocation,
    local,
    managers,
    pipelines,
    sessions,
    straight,
)
from irax_compiler.iree.pipelines import ALLOCATION
from irax_compiler.mlir import Module
from irax_compiler.targets import cpu as cpu_target
from irax_runtime.iree.cpu import cpu


def elementwise(x, y):
    """An operation for which IREE makes a kernel, and one for which irax does."""
    return x + y, jnp.tanh(x).sum(0)


def history(x, y):
    """A loop that carries an array which it updates, and whose length is not known."""

    def step(carry):
        i, rows = carry
        return i + 1, lax.dynamic_update_slice(rows, y[i][None] * rows[i - 1], (i, 0))

    return lax.while_loop(lambda carry: carry[0] < jnp.int32(y[0, 0]), step, (jnp.int32(1), x))[1]


def lowered(function) -> Module:
    shapes = [np.ones((60, 70), np.float32)] * 2
    module = mlir.parse_module(irax.jit(function).lower(*shapes).as_text())
    return api.lower(module, function.__name__, "iree-cpu")


def with_constants(text: str) -> str:
    """A function with its constants where they are used: their order is of no account."""
    lines = text.splitlines()
    constants = dict(re.findall(r"(%[\w-]+) = (vm\.const\.\S+.*)", text))
    rest = [line for line in lines if " = vm.const." not in line]
    return re.sub(r"%[\w-]+", lambda name: constants.get(name[0], name[0]), "\n".join(rest))


def parts(module: Module, monkeypatch) -> dict[str, str]:
    """The functions of the program of a module, but that which finds the device, and its code."""
    texts = []

    def program(run):
        texts.append(run.text())
        return real(run)

    real = invocation.Invocation.program
    with monkeypatch.context() as patches:
        patches.setattr(invocation.Invocation, "program", program)
        targets.compile(module, "iree-cpu")
    functions = re.findall(r"^    vm\.func private @(\w+)\((.*?)^    }", texts[0], re.M | re.S)
    found = {name: with_constants(text) for name, text in functions if name != "__init"}
    return {**found, "code": str(re.findall(r'dense<"0x7F454C46\w*">', texts[0]))}


@pytest.mark.slow
@pytest.mark.parametrize("function", [elementwise, history])
def test_pipelines_make_the_programs_that_phases_make(function, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    # The pass place runs within a phase of IREE's.
    monkeypatch.setattr(cpu_target, "has_large_arrays", lambda text: False)
    monkeypatch.setattr(compiler, "is_straight", lambda text: False)  # compared below
    module = lowered(function)
    by_pipelines = parts(module, monkeypatch)
    monkeypatch.setattr(compiler, "_has_pipelines", lambda flags: False)
    for phase in list(pipelines.PIPELINES):
        monkeypatch.delitem(pipelines.PIPELINES, phase)
    allocation = "iree-hal-resolve-device-promises,iree-stream-tensor-transformation-pipeline"
    allocation += ",iree-stream-async-transformation-pipeline"
    rest = local.PIPELINES["stream"]  # with IREE's own, kernels have other arguments
    monkeypatch.setitem(pipelines.PIPELINES, "stream", f"{allocation},{rest}")
    monkeypatch.setattr(compiler, "AFRESH", ())
    by_phases = parts(module, monkeypatch)
    assert by_pipelines == by_phases
    assert function.__name__ in by_phases
    assert len(by_phases["code"]) > 1000


@pytest.mark.slow
def test_sessions_serve_for_several_programs(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    monkeypatch.setattr(sessions, "_waiting", OrderedDict())
    module = lowered(elementwise)
    first = targets.compile(module, "iree-cpu")
    kept = {key: found for key, (found, _) in sessions._waiting.items()}
    assert targets.compile(module, "iree-cpu") == first
    assert {key: found for key, (found, _) in sessions._waiting.items()} == kept != {}
    for _ in range(2):  # a session is for a certain number of programs
        monkeypatch.setattr(sessions, "USES", 2)
        targets.compile(module, "iree-cpu")
    assert not kept.items() & {key: found for key, (found, _) in sessions._waiting.items()}.items()


def test_threads_work_on_large_modules(monkeypatch):
    used: list[bool] = []
    use = sessions._use_threads
    monkeypatch.setattr(
        sessions, "_use_threads", lambda *given: (used.append(given[1]), use(*given))
    )
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    monkeypatch.setattr(sessions, "OF_HOSTS", {})

    def addition(x, y):
        return x + y

    module = lowered(addition)
    by_one = targets.compile(module, "iree-cpu")
    assert used
    assert not any(used)
    for most in (0, 1 << 20, 0):  # sessions that there are serve for both
        used.clear()
        monkeypatch.setattr(sessions, "SMALL", most)
        assert targets.compile(module, "iree-cpu") == by_one
        assert set(used) == {most == 0}


def test_a_session_with_an_error_is_not_kept(monkeypatch):
    monkeypatch.setattr(sessions, "_waiting", OrderedDict())
    with pytest.raises(api.CompileError), invocation.invocation(b"module {", (), "text"):
        pass
    assert not sessions._waiting


def with_vm(given: local.Pipelines, passes: str) -> local.Pipelines:
    return dataclasses.replace(given, phases={**given.phases, "vm": passes})


def test_a_pipeline_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(local, "OF_ALL", with_vm(local.OF_ALL, "no-such-pass"))
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    with pytest.raises(api.CompileError, match="no-such-pass"):
        targets.compile(lowered(history), "iree-cpu")


def test_a_pipeline_that_fails_without_a_word_goes_on(monkeypatch):
    """So does a pass of IREE's that finds more to do after ten rounds."""
    real, ran = managers.Managers.run, []

    def run_by(*given):
        ran.append(given[1])
        return real(*given) and len(ran) > 1

    monkeypatch.setattr(managers.Managers, "run", run_by)
    with invocation.invocation(b"module {}", ()) as run:
        run.run_pipeline("canonicalize")
    assert ran == ["canonicalize"] * 2


def test_kernels_with_too_much_to_simplify_are_simplified_before(monkeypatch, tmp_path):
    """The pass that does so fails without a word, and cannot go on where it was."""
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path))
    irax.clear_caches()
    real, ran = managers.Managers.run, []

    def run_by(manager, passes, *given):
        ran.append(passes)
        found = real(manager, passes, *given)
        return found and (pipelines.MATERIALIZE not in passes or pipelines.SETTLE in passes)

    monkeypatch.setattr(managers.Managers, "run", run_by)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(irax.jit(lambda x: jnp.sin(x) @ x.T)(x), np.sin(x) @ x.T, 1e-5)
    given = [x for x in ran if pipelines.MATERIALIZE in x]
    assert given[1:] == [f"{pipelines.SETTLE},{given[0]}"]


def test_kernels_that_are_loops_already_are_not_tiled():
    text = str(lowered(elementwise))
    kernels = text.count("stream.executable private")
    assert kernels == text.count("pipeline = #iree_codegen.no_pipeline") > 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_compiles_and_ends():
    source = """
import os, sys
import numpy as np
import irax
def doubled(x): return x + x
x = np.ones(3, np.float32)
irax.jit(doubled)(x)
child = os.fork()
if child == 0:
    sys.exit(int(irax.jit(lambda x: x * 5)(x)[0]))
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", source],
        env={**os.environ, "IRAX_CACHE_DIR": "off"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("5", "")


def pipelines_run(
    monkeypatch: pytest.MonkeyPatch, error: str, failing: str = local.PIPELINES["stream"]
) -> list[str]:
    """Have a pipeline fail with an error; return the list of what runs from now on."""
    real, ran = invocation.Invocation.run_pipeline, []

    def run_pipeline(run, passes):
        if failing in passes:
            raise invocation.CompileError(f"loc(unknown): {error}")
        ran.append(passes)
        real(run, passes)

    monkeypatch.setattr(invocation.Invocation, "run_pipeline", run_pipeline)
    return ran


def test_programs_of_too_many_waits_keep_them(monkeypatch, tmp_path):
    """IREE gives up the phase stream if it does not find which are superfluous."""
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path))
    ran = pipelines_run(monkeypatch, pipelines.NOT_SOLVED)
    x = np.full((5, 3), 7, np.float32)
    y = np.arange(1, 16, dtype=np.float32).reshape(5, 3) + [[4, 0, 0]] * 5
    expected = x.copy()
    for i in range(1, int(y[0, 0])):
        expected[i] = y[i] * expected[i - 1]
    np.testing.assert_allclose(irax.jit(history)(x, y.astype(np.float32)), expected)
    assert pipelines.WITHOUT_ITERATION["stream"] in ran


def test_other_errors_of_a_phase_are_those_of_the_module(monkeypatch):
    def run_pipeline(run, passes):
        raise invocation.CompileError("another error")

    monkeypatch.setattr(invocation.Invocation, "run_pipeline", run_pipeline)
    with pytest.raises(invocation.CompileError, match="another error"):
        targets.compile(lowered(history), "iree-cpu")


@pytest.mark.parametrize("phase", pipelines.WITHOUT_ITERATION)
def test_passes_that_do_not_settle_are_given_up(monkeypatch, tmp_path, phase):
    """IREE repeats passes until they change nothing, which some modules never reach, and others
    after more iterations than IREE allows.
    """
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path))
    irax.clear_caches()
    monkeypatch.setattr(compiler, "is_straight", lambda text: False)
    ran = pipelines_run(monkeypatch, pipelines.NOT_SETTLED, local.PIPELINES[phase])
    np.testing.assert_array_equal(irax.jit(elementwise)(np.ones((2, 3)), np.ones((2, 3)))[0], 2)
    assert pipelines.WITHOUT_ITERATION[phase] in ran


@pytest.mark.slow
@pytest.mark.parametrize("number", [lambda i, t: i + 1.0, lambda i, t: jnp.asarray(t)[i] * 2])
def test_numbers_that_groups_of_kernels_and_a_loop_use(number):
    """IREE lost an array of a number that two groups of kernels use, and a loop between them."""
    table, size = np.linspace(0.1, 0.9, 7).astype(np.float32), 300

    def step(i, x):
        t = number(i, table).astype(np.float32)
        y = jnp.sin(x @ x) * t
        y = lax.cond(
            y.sum() > t,
            lambda y: lax.while_loop(lambda s: s.sum() > t, lambda s: jnp.sin(s @ s) * t - 2, y),
            lambda y: y,
            y,
        )
        z = jnp.sin(y @ y) * t
        return lax.cond(z.sum() > t, lambda: jnp.cos(y @ z) + t, lambda: y)

    x = np.full((size, size), 0.01, np.float32)
    expected = x
    for i in range(2):
        expected = irax.jit(step)(np.int32(i), expected)
    found = irax.jit(lambda x: lax.fori_loop(0, 2, step, x))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


MOVED = """
func.func @main(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3x2xf32>) {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %e = stablehlo.exponential %t : tensor<3x3xf32>
  %b = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<3x3xf32>) -> tensor<3x3x2xf32>
  %d = stablehlo.exponential %b : tensor<3x3x2xf32>
  return %e, %d : tensor<3x3xf32>, tensor<3x3x2xf32>
}
"""
"""Two operations that are one as soon as the second is moved before the broadcast."""


def test_operations_before_transposes_are_not_lost_in_the_conversion():
    executable = cpu().load(targets.compile(mlir.parse_module(MOVED), "iree-cpu"))
    x = np.arange(9, dtype=np.float32).reshape(3, 3) / 9
    one, two = (y.numpy() for y in executable([cpu().put(x)]))
    np.testing.assert_allclose(one, np.exp(x.T), rtol=1e-6)
    np.testing.assert_allclose(two, np.repeat(np.exp(x.T)[:, :, None], 2, 2), rtol=1e-6)


def test_operations_before_reshapes_compile():
    text = """
    func.func @main(%mask: tensor<2xi1>, %at: tensor<1x1xi32>) -> (tensor<1xi8>, tensor<1x4xi8>) {
      %x = "stablehlo.gather"(%mask, %at) <{dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
        slice_sizes = array<i64: 1>}> : (tensor<2xi1>, tensor<1x1xi32>) -> tensor<1xi1>
      %one = stablehlo.convert %x : (tensor<1xi1>) -> tensor<1xi8>
      %row = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1xi1>) -> tensor<1x4xi1>
      %four = stablehlo.convert %row : (tensor<1x4xi1>) -> tensor<1x4xi8>
      return %one, %four : tensor<1xi8>, tensor<1x4xi8>
    }
    """
    executable = cpu().load(targets.compile(mlir.parse_module(text), "iree-cpu"))
    given = np.array([False, True]), np.array([[1]], np.int32)
    one, four = (y.numpy() for y in executable([cpu().put(x) for x in given]))
    np.testing.assert_array_equal(one, [1])
    np.testing.assert_array_equal(four, [[1] * 4])


def normalized(found: dict[str, str]) -> dict[str, str]:
    """Parts of a program with values in their order. A failure passes its status on to what
    reports it, or does not.
    """
    plain = {}
    for name, text in found.items():
        text = re.sub(r"\^bb(\d+)\(%[\w-]+ ?: i32\)", r"^bb\1", text)
        text = re.sub(r"vm\.fail %[\w-]+", "vm.fail", text)
        values = [*dict.fromkeys(re.findall(r"%[\w-]+", text))]
        for number, value in enumerate(values):
            text = re.sub(rf"{value}(?![\w-])", f"%%{number}", text)
        plain[name] = text
    return plain


def several(x, y):
    """Kernels of irax's and of IREE's, with arrays between them."""
    z = jnp.tanh(x @ y.T)
    return z, z.sum(0) + 1, jnp.flip(z, 1)


def pipelines_of(module: Module, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The pipelines that a module goes through."""
    real, ran = invocation.Invocation.run_pipeline, set()
    with monkeypatch.context() as patches:
        patches.setenv("IRAX_CACHE_DIR", "off")
        patches.setattr(
            invocation.Invocation,
            "run_pipeline",
            lambda run, passes: (ran.add(passes), real(run, passes)),
        )
        targets.compile(module, "iree-cpu")
    return ran


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", [elementwise, several])
def test_straight_programs_are_those_of_all_steps(function, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    module = lowered(function)
    few = {*straight.PHASES.values(), local.OF_STRAIGHT.to_hal, local.OF_STRAIGHT.after_code}
    assert few <= pipelines_of(module, monkeypatch)
    by_few = parts(module, monkeypatch)
    monkeypatch.setattr(compiler, "is_straight", lambda text: False)
    assert not few & pipelines_of(module, monkeypatch)
    assert normalized(by_few) == normalized(parts(module, monkeypatch))


def updated(x, y):
    """An update at a place that the program computes, which it reads outside of kernels."""
    return lax.dynamic_update_slice(x, y[:1], (y[0, 0].astype(jnp.int32), 0))


def with_tables(x, y):
    """Kernels that read constants."""
    return jnp.abs(jnp.fft.fft2(x + y))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", [updated, with_tables, history])
def test_programs_of_other_kinds_take_all_steps(function, monkeypatch):
    ran = pipelines_of(lowered(function), monkeypatch)
    assert not {straight.PHASES[ALLOCATION], straight.PHASES["vm"]} & ran
    assert {local.PIPELINES[ALLOCATION], local.PIPELINES["vm"]} <= ran


def test_programs_that_few_steps_refuse_take_all(monkeypatch):
    monkeypatch.setattr(local, "OF_STRAIGHT", with_vm(local.OF_STRAIGHT, "no-such-pass"))
    ran = pipelines_of(lowered(elementwise), monkeypatch)
    assert {straight.PHASES["stream"], local.PIPELINES["vm"]} <= ran


def test_a_module_with_several_functions_is_not_straight():
    text = "module {\n  func.func @main() {\n    return\n  }\n}"
    assert compiler.is_straight(text)
    assert not compiler.is_straight(text + "\n  func.func private @other()")
    assert not compiler.is_straight("")
