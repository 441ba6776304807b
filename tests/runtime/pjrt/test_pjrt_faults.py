"""Faults that must not end the process: each in a process of its own, which it might."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from tests.runtime.pjrt.pjrt_programs import ADD, artefact, needs_plugin, prints

pytestmark = needs_plugin

START = f"""
import gc, sys
import numpy as np
from irax_runtime.pjrt.api import load_plugin
from irax_runtime.pjrt.client import Client, client_for
from irax_runtime.pjrt.errors import PjrtError
from irax_runtime.pjrt.plugins import plugin_for

ADD = {artefact(ADD, "add")!r}

def refused(use):
    try:
        use()
    except PjrtError as error:
        return str(error)
    raise AssertionError(use)

client = Client(load_plugin(plugin_for("cpu").path), {{"cpu_device_count": 2}})
one, other = client.devices()
x = one.put(np.ones(3, np.float32))
add = one.load(ADD)
"""


def survives(expected: str, code: str) -> None:
    prints(expected, START + textwrap.dedent(code))


def test_several_devices_of_a_client():
    survives(
        "[2. 2. 2.] add: argument 0 is on PjrtDevice('pjrt:cpu', id=1); expected "
        "PjrtDevice('pjrt:cpu', id=0)",
        """
        y = other.put(np.ones(3, np.float32))
        there = other.load(ADD)([y, y])[0]
        assert there.device is other
        try:
            add([y, y])
        except ValueError as error:
            print(there.numpy(), error)
        """,
    )


def test_a_client_that_is_closed_while_arrays_and_programs_live():
    survives(
        "[1. 1. 1.] [2. 2. 2.] 9",
        """
        y, sum_ = one.put(np.zeros(3, np.float32)), add([x, x])[0]
        shown, computed = x.numpy(), sum_.numpy()
        client.close()
        client.close()
        uses = [y.numpy, y.wait, y.is_ready, lambda: add([y, y]), add.serialize, add.cost_analysis,
                lambda: one.put(np.ones(3)), one.memory_stats, lambda: one.load(ADD)]
        told = [refused(use) for use in uses]
        assert all("is closed" in text for text in told), told
        y.delete()
        del x, y, sum_, add, one, other, client
        gc.collect()
        print(shown, computed, len(told))
        del shown, computed
        gc.collect()
        """,
    )


def test_arrays_outlive_everything_else():
    survives(
        "[2. 2. 2.]",
        """
        shown = add([x, x])[0].numpy()
        del x, add, one, other, client
        gc.collect()
        print(shown)
        """,
    )


def test_cycles_are_collected_in_any_order():
    survives(
        "done",
        """
        class Holder: pass
        for _ in range(3):
            client = Client(load_plugin(plugin_for("cpu").path))
            holder = Holder()
            holder.me, holder.client = holder, client
            holder.x = client.devices()[0].put(np.ones(3, np.float32))
            holder.add = client.devices()[0].load(ADD)
            holder.y = holder.add([holder.x, holder.x])[0]
            holder.shown = holder.add([holder.x, holder.x])[0].numpy()
            del client, holder
            gc.collect()
        print("done")
        """,
    )


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "dropped"])
def test_a_process_that_ends_while_a_program_runs(kept: bool):
    steps = "\\n".join(
        f"%{i + 1} = stablehlo.dot_general %{i}, %{i}, contracting_dims = [1] x [0] : "
        "(tensor<900x900xf32>, tensor<900x900xf32>) -> tensor<900x900xf32>"
        for i in range(20)
    )
    survives(
        "False",
        f"""
        program = '''// irax: {{"name": "f", "args": "f32[900,900]", "results": "f32[900,900]"}}
        func.func @main(%x: tensor<900x900xf32>) -> tensor<900x900xf32> {{
          %0 = stablehlo.negate %x : tensor<900x900xf32>
          {steps}
          return %20 : tensor<900x900xf32>
        }}'''
        f = one.load(program.encode())
        result = f([one.put(np.zeros((900, 900), np.float32))])[0]
        print(result.is_ready())
        if not {kept}:
            del result, f, x, add, one, other, client
            gc.collect()
        """,
    )


def test_a_forked_process_is_told_to_be_another():
    survives(
        "True 0",
        """
        import os
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            text = refused(lambda: add([x, x])) + refused(x.numpy)
            del x, add
            gc.collect()
            print(text.count("spawn") == 2, end=" ", flush=True)
            sys.exit(0)
        print(os.waitpid(child, 0)[1])
        """,
    )


def test_a_name_for_a_file_that_is_gone():
    prints(
        "no platform 'pjrt:cpu' here: /no/such.so: no such file",
        """
        from irax_runtime.devices import NoDevice, devices
        try:
            devices("pjrt:cpu")
        except NoDevice as error:
            print(error)
        """,
        PJRT_NAMES_AND_LIBRARY_PATHS="cpu:/no/such.so",
    )


def test_processes_share_a_device():
    code = START + (
        "for _ in range(200):\n"
        "    y = add([x, x])[0].numpy()\n"
        "print(y)\n"
    )  # fmt: skip
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in running:
        out, errors = process.communicate(timeout=300)
        assert (process.returncode, out.strip()) == (0, "[2. 2. 2.]"), errors[-2000:]


def test_a_device_that_is_lost():
    survives(
        "gone (UNAVAILABLE) [2. 2. 2.] 0",
        """
        import ctypes
        from irax_runtime.pjrt.abi import Error_Code
        from irax_runtime.pjrt.errors import error_of_code

        program, fail = add._execute, client.api.fail
        add._execute = lambda address: 1  # as the plugin gives the address of an error
        def lost(error):
            raise error_of_code(Error_Code.UNAVAILABLE, "gone")
        client.api.fail = lost
        before = len(client._buffers)
        told = refused(lambda: add([x, x]))
        leaked = len(client._buffers) - before
        add._execute, client.api.fail = program, fail
        print(told, add([x, x])[0].numpy(), leaked)
        """,
    )


def test_a_program_that_fails_while_it_runs_fails_what_is_computed_from_it():
    size = 1 << 46
    survives(
        "OutOfMemoryError OutOfMemoryError [2. 2. 2.]",
        f"""
        fill = one.load(b'''// irax: {{"name": "f", "args": "f32[3]", "results": "f32[{size}]"}}
        func.func @main(%x: tensor<3xf32>) -> tensor<{size}xf32> {{
          %0 = stablehlo.slice %x [0:1] : (tensor<3xf32>) -> tensor<1xf32>
          %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
          %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<{size}xf32>
          return %2 : tensor<{size}xf32>
        }}''')
        some = one.load(b'''// irax: {{"name": "g", "args": "f32[{size}]", "results": "f32[3]"}}
        func.func @main(%x: tensor<{size}xf32>) -> tensor<3xf32> {{
          %0 = stablehlo.slice %x [0:3] : (tensor<{size}xf32>) -> tensor<3xf32>
          return %0 : tensor<3xf32>
        }}''')
        def told(use):
            try:
                use()
            except PjrtError as error:
                return type(error).__name__

        first = told(lambda: fill([x])[0].wait())
        second = told(lambda: some(fill([x]))[0].numpy())
        print(first, second, add([x, x])[0].numpy())
        """,
    )


def test_a_plugin_without_a_setting_of_irax_s():
    survives(
        "[2. 2. 2.] No such compile option: 'xla_of_tomorrow' (INVALID_ARGUMENT)",
        """
        from irax_runtime.pjrt import executables
        from irax_runtime.platforms import PjrtPlatform
        tomorrow = PjrtPlatform(
            name="pjrt:cpu", plugin="cpu", settings=lambda: {"xla_of_tomorrow": True}
        )
        executables.of_plugin = lambda plugin: tomorrow
        again = one.load(ADD)
        program = executables.programs.split(ADD)[1]
        settings = {"xla_of_tomorrow": 1}
        told = refused(lambda: executables._compile_with(client, [one.id], program, settings))
        print(again([x, x])[0].numpy(), told)
        """,
    )
