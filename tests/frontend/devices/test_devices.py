"""Devices as users see them: naming them, putting arrays there, and where programs run."""

from __future__ import annotations

import copy
import hashlib
import pickle

import numpy as np
import pytest
from tests.runtime.pjrt.pjrt_programs import needs_plugin, prints

import irax
import irax.numpy as jnp
from irax_runtime.devices import NoDevice, numbered
from irax_runtime.distributed import RemoteDevice
from irax_runtime.iree import cpu as iree

PJRT = "pjrt:cpu"


def double(x):
    return x * 2.0


def add(x, y):
    return x + y


@pytest.fixture
def cpu():
    return irax.devices("cpu")[0]


@pytest.fixture
def pjrt():
    return irax.devices(PJRT)[0]


def test_the_processor_is_the_default(cpu):
    assert irax.devices() == irax.local_devices() == [cpu]
    assert irax.default_backend() == "cpu"
    assert irax.local_device_count() == irax.device_count("cpu") == 1
    assert jnp.ones(3).device is irax.jit(double)(jnp.ones(3)).device is cpu
    assert cpu.memory_stats() is None


def test_the_processor_has_the_memories_of_jax(cpu):
    memory, *others = cpu.addressable_memories()
    assert [x.kind for x in others] == ["pinned_host", "unpinned_host"]
    assert [cpu.memory(x.kind) for x in others] == others
    assert memory == cpu.default_memory() == cpu.memory("device")
    assert (memory.kind, memory.platform, memory.process_index) == ("device", "cpu", 0)
    assert memory.addressable_by_devices() == [cpu]
    assert jnp.ones(2).sharding.memory_kind == memory.kind
    with pytest.raises(ValueError, match=r"no memory 'hbm'; it has 'device', 'pinned_host', "):
        cpu.memory("hbm")


def test_an_unknown_platform_is_named_with_those_there_are():
    with pytest.raises(
        RuntimeError,
        match=r"^Unknown backend: no platform 'abacus' here; there are 'cpu', 'tpu', 'cuda'",
    ):
        irax.devices("abacus")
    with pytest.raises(RuntimeError, match=r"^Unknown backend: no platform 'abacus' here"):
        irax.local_device_count("abacus")
    with pytest.raises(RuntimeError, match="no platform 'abacus'"):
        irax.jit(double, backend="abacus")(1.0)
    with pytest.raises(RuntimeError, match=r"'gpu' here;.* 'cuda', 'hip' or 'vulkan'(\n|$)"):
        irax.devices("gpu")
    with pytest.raises(RuntimeError, match=r"'cpu:1' here;.*irax.devices\('cpu'\)\[1\](\n|$)"):
        irax.device_put(1.0, "cpu:1")


def test_what_is_no_device():
    with pytest.raises(TypeError, match="expected the name of a platform, such as 'cpu', got 3"):
        irax.devices(3)
    for device in (3, irax.devices()):
        with pytest.raises(TypeError, match=r"jit: device: expected a device of irax\.devices"):
            irax.jit(double, device=device)
    with pytest.raises(TypeError, match=r"irax\.devices\(\).*got 3"), irax.default_device(3):
        pass
    with pytest.raises(ValueError, match=r"irax\.devices\(\).*got 3"):
        irax.device_put(1.0, 3)
    with pytest.raises(ValueError, match="device and backend"):
        irax.jit(double, device=irax.devices()[0], backend="cpu")


@needs_plugin
def test_arrays_know_their_device(cpu, pjrt):
    x = irax.device_put(np.ones(3, np.float32), pjrt)
    assert (x.device, x.devices()) == (pjrt, {pjrt})
    assert irax.device_put(x, cpu).device is cpu
    assert x.copy().device is copy.deepcopy(x).device is jnp.array(x).device is pjrt
    assert irax.device_put([x, {"a": 1.0}], PJRT)[1]["a"].device is pjrt
    assert x.block_until_ready() is x
    assert x.is_ready()
    np.testing.assert_array_equal(irax.device_get(x), np.ones(3))
    np.testing.assert_array_equal(irax.device_put(x, cpu), np.ones(3))


@needs_plugin
def test_devices_are_copied_as_themselves(cpu, pjrt):
    for device in (cpu, pjrt):
        assert copy.deepcopy(device) is pickle.loads(pickle.dumps(device)) is device
    with pytest.raises(NoDevice, match=r"'cpu' has no device 7 here; it has \[CpuDevice"):
        numbered("cpu", 7)


@needs_plugin
def test_keys_are_put_on_devices(pjrt):
    key = irax.random.key(3)
    there = irax.device_put({"key": key}, pjrt)["key"]
    assert there.device is irax.random.split(there).device is pjrt
    drawn = irax.random.bits(there, (5,))
    assert drawn.device is pjrt
    np.testing.assert_array_equal(drawn, irax.random.bits(key, (5,)))


def test_arrays_with_a_mask_are_refused():
    array = np.ma.array([1.0, 2.0], mask=[False, True])
    for use in (irax.device_put, jnp.sin, irax.jit(double)):
        with pytest.raises(ValueError, match=r"no arrays with a mask.*filled"):
            use(array)


def test_one_number_in_many_places_takes_no_memory():
    def f(x):
        return jnp.sum(jnp.broadcast_to(x, (1 << 20, 1 << 20)) * 2.0, dtype="float32")

    assert "dense<2.0" in irax.jit(f).lower(1.0).as_text()


@needs_plugin
def test_programs_run_where_their_arrays_were_put(cpu, pjrt):
    there = irax.device_put(jnp.arange(3.0), pjrt)
    result = irax.jit(double)(there)
    assert result.device is pjrt
    assert irax.jit(double)(result).device is pjrt
    assert irax.jit(add)(jnp.ones(3), there).device is pjrt
    assert irax.jit(add)(2.0, there).device is pjrt
    assert irax.jit(double)(jnp.arange(3.0)).device is cpu
    np.testing.assert_array_equal(irax.jit(add)(irax.jit(double)(jnp.ones(3)), there), [2, 3, 4])


@needs_plugin
def test_arrays_that_were_put_on_different_devices(cpu, pjrt):
    here, there = irax.device_put(jnp.ones(3), cpu), irax.device_put(jnp.ones(3), pjrt)
    message = (
        r"add: .*arrays on CpuDevice\(id=0\) and on PjrtDevice\('pjrt:cpu', id=0\).*device_put"
    )
    with pytest.raises(ValueError, match=message):
        irax.jit(add)(here, there)
    with pytest.raises(ValueError, match="cannot be used together"):
        irax.jit(add)(irax.jit(double)(here), irax.jit(double)(there))
    assert irax.jit(add)(irax.device_put(here, pjrt), there).device is pjrt


@needs_plugin
def test_a_device_of_its_own_for_a_function(cpu, pjrt):
    on_pjrt = irax.jit(double, device=pjrt)
    assert on_pjrt(jnp.ones(3)).device is pjrt
    assert irax.jit(double, backend=PJRT)(1.0).device is pjrt
    assert irax.jit(backend=PJRT)(double)(1.0).device is pjrt
    here = irax.device_put(jnp.ones(3), cpu)
    assert on_pjrt(here).device is on_pjrt(here).device is pjrt
    there = irax.jit(double, out_shardings=irax.sharding.SingleDeviceSharding(pjrt))
    with pytest.raises(ValueError, match=r"float32\[3\] on CpuDevice.* was used on PjrtDevice"):
        there(here)


@needs_plugin
def test_the_default_device(cpu, pjrt):
    x = jnp.ones(3)
    with irax.default_device(pjrt):
        assert irax.default_backend() == PJRT
        assert irax.local_device_count() == len(irax.devices(PJRT))
        assert jnp.ones(2).device is irax.jit(double)(x).device is pjrt
        assert irax.jit(double)(irax.device_put(x, cpu)).device is cpu
        with irax.default_device(None):
            assert irax.jit(double)(x).device is cpu
        assert irax.jit(double)(x).device is pjrt
    assert irax.jit(double)(x).device is cpu


@needs_plugin
def test_what_a_function_captures_goes_where_it_runs(cpu, pjrt):
    large, small = irax.device_put(jnp.arange(100.0), cpu), irax.device_put(jnp.ones(100), pjrt)
    result = irax.jit(lambda x: x + large)(small)
    assert result.device is pjrt
    np.testing.assert_array_equal(result, np.arange(100.0) + 1)


@needs_plugin
def test_transformations_on_a_device(pjrt):
    x = irax.device_put(jnp.linspace(0, 1, 5), pjrt)
    gradient = irax.jit(irax.grad(lambda x: jnp.sum(jnp.sin(x) * x)))(x)
    assert gradient.device is pjrt
    np.testing.assert_allclose(gradient, np.sin(x) + x * np.cos(x), rtol=1e-6)
    assert irax.jit(irax.vmap(double))(x).device is pjrt
    at_once = irax.grad(lambda x: jnp.sum(jnp.sin(x) * x))(x)
    np.testing.assert_allclose(at_once, gradient, rtol=1e-6)
    assert at_once.device is irax.vmap(double)(x).device is pjrt


@needs_plugin
def test_donated_arguments(cpu, pjrt):
    def step(state, batch, scale=1.0):
        return {k: v + scale * batch for k, v in state.items()}

    for donate in (dict(donate_argnums=0), dict(donate_argnames="state")):
        jitted = irax.jit(step, static_argnames="scale", **donate)
        state = irax.device_put({"a": jnp.zeros(3), "b": jnp.ones(3)}, pjrt)
        batch = irax.device_put(jnp.ones(3), pjrt)
        new = jitted(state, batch, scale=2.0)
        np.testing.assert_array_equal(new["b"], [3, 3, 3])
        assert state["a"].is_deleted()
        assert not batch.is_deleted()
        with pytest.raises(RuntimeError, match="donated"):
            np.asarray(state["a"])
        with pytest.raises(RuntimeError, match="donated"):
            jitted(state, batch, scale=2.0)
        np.testing.assert_array_equal(jitted(new, batch)["a"], [3, 3, 3])
        np.testing.assert_array_equal(batch, [1, 1, 1])
        here = {"a": jnp.zeros(3)}
        jitted(here, jnp.ones(3))
        assert here["a"].is_deleted()


def test_donated_arguments_that_there_are_none_of():
    with pytest.raises(ValueError, match="donate_argnums=2 is out of range"):
        irax.jit(add, donate_argnums=2)


@needs_plugin
def test_callbacks_are_refused_by_name(pjrt):
    def f(x):
        return irax.pure_callback(np.sin, irax.ShapeDtypeStruct((3,), "float32"), x)

    with pytest.raises(
        NotImplementedError, match=r"callback at .*test_devices.py.*Python functions"
    ):
        irax.jit(f, device=pjrt)(jnp.ones(3))


@needs_plugin
@pytest.mark.slow
def test_the_environment_chooses_the_platforms():
    code = """
    import irax, irax.numpy as jnp
    print(irax.default_backend(), irax.jit(lambda x: x + 1)(jnp.ones(2)).device)
    """
    prints("pjrt:cpu pjrt:cpu:0", code, IRAX_PLATFORMS="pjrt:cpu,cpu")
    prints("cpu cpu:0", code, IRAX_PLATFORMS="cpu,pjrt:cpu")


@needs_plugin
@pytest.mark.slow
def test_the_processor_as_several_devices():
    code = """
    import irax
    try:
        x = irax.device_put(1.0, irax.devices("pjrt:cpu")[-1])
        print(x.device, irax.jit(lambda x: x + 1)(x).device, irax.device_count("pjrt:cpu"))
    except RuntimeError as error:
        print(error)
    """
    last = "pjrt:cpu:2"
    prints(f"{last} {last} 3", code, IRAX_CPU_DEVICES="3")
    flags = "--xla_dump_to=x --xla_force_host_platform_device_count=3"
    prints(f"{last} {last} 3", code, XLA_FLAGS=flags, IRAX_CPU_DEVICES="")
    told = "IRAX_CPU_DEVICES=none: expected a number of devices, 1 or more"
    refused = f"Unknown backend: no platform 'pjrt:cpu' here: {told}"
    prints(refused, code, IRAX_CPU_DEVICES="none")


@pytest.mark.slow
@needs_plugin
def test_each_of_several_devices_runs_programs_of_its_own():
    code = """
    import threading
    import irax, irax.numpy as jnp, numpy as np

    def f(x):
        return jnp.sin(x) + 1

    def told(use):
        try:
            use()
        except ValueError as error:
            return str(error)

    here = irax.devices()
    xs = [irax.device_put(jnp.arange(3.0) + i, d) for i, d in enumerate(here[:4])]
    for x, d in zip(xs, here):
        assert irax.jit(f)(x).device is (x + 1).device is d
        assert irax.grad(lambda x: f(x).sum())(x).device is irax.device_put(x, d).device is d
        assert irax.vmap(lambda y: x * y)(jnp.ones(3)).device is d  # of few elements, captured
        assert irax.grad(lambda y: (x * y).sum())(1.0).device is irax.jacrev(f)(x).device is d
        assert jnp.nonzero(x)[0].device is d
    between = told(lambda: irax.jit(jnp.add)(xs[0], xs[1])), told(lambda: xs[2] * xs[3])
    assert all("used together; move one" in text and "id=" in text for text in between), between
    assert irax.jit(f, device=here[2])(1.0).device is here[2]
    assert irax.jit(f, backend="cpu")(1.0).device is here[4]
    with irax.default_device(here[3]):
        assert irax.jit(f)(1.0).device is jnp.ones(2).device is here[3]
    assert irax.device_put(xs[0], here[1]).device is here[1]
    results = [None] * 4

    def work(i):
        results[i] = float(irax.jit(lambda x: (x @ x).sum())(jnp.ones((99, 99)).to_device(here[i])))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [99.0**3] * 4
    print(len(here), irax.local_device_count(), irax.default_backend(), irax.device_count("cpu"))
    """
    prints("8 4 pjrt:cpu 4", code, IRAX_CPU_DEVICES="4", IRAX_PLATFORMS="pjrt:cpu,cpu")


def test_falling_back_is_said_once():
    prints(
        "[CpuDevice(id=0)] 1 True",
        """
        import warnings, irax
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            irax.devices()
            irax.jit(lambda x: x)(1.0)
            print(irax.devices(), len(caught), "no platform 'abacus'" in str(caught[0].message))
        """,
        IRAX_PLATFORMS="abacus,cpu",
    )


def test_no_platform_at_all():
    prints(
        "IRAX_PLATFORMS=abacus: no platform 'abacus' here; there are 'cpu', 'tpu', 'cuda', "
        "'hip', 'vulkan', 'metal' and, with a plugin of that name, 'pjrt:NAME'",
        """
        import irax
        try:
            irax.devices()
        except RuntimeError as error:
            print(error)
        """,
        IRAX_PLATFORMS="abacus",
    )


def test_the_error_is_one_that_jax_users_expect():
    assert issubclass(NoDevice, RuntimeError)


@needs_plugin
@pytest.mark.slow
def test_programs_are_compiled_once_on_a_machine(tmp_path):
    code = """
    import irax, irax.numpy as jnp, numpy as np
    from irax_runtime.pjrt import executables
    compiled = []
    compile = executables._compile_for
    executables._compile_for = lambda *args: compiled.append(args) or compile(*args)
    step = irax.jit(lambda x, y: x + y, donate_argnums=0, backend="pjrt:cpu")
    x = irax.device_put(jnp.ones(3), "pjrt:cpu")
    print(step(x, 1.0), len(compiled))
    try:
        print(x)
    except RuntimeError as error:
        print("donated" in str(error))
    """
    prints("[2. 2. 2.] 1\nTrue", code, IRAX_CACHE_DIR=str(tmp_path))
    prints("[2. 2. 2.] 0\nTrue", code, IRAX_CACHE_DIR=str(tmp_path))
    # What the plugin cannot load is compiled again: its program, beside the smaller module.
    file = max(tmp_path.iterdir(), key=lambda file: file.stat().st_size)
    data = file.read_bytes()[32:]
    header, program = data.split(b"\n", 1)
    damaged = header + b"\n" + program[: len(program) // 2]
    file.write_bytes(hashlib.sha256(damaged).digest() + damaged)
    prints("[2. 2. 2.] 1\nTrue", code, IRAX_CACHE_DIR=str(tmp_path))


@needs_plugin
def test_a_module_from_a_file_on_a_device(cpu, pjrt):
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    for device in (pjrt, PJRT):
        assert irax.ir.load(text, device=device)(jnp.ones(3)).device is pjrt
    anywhere = irax.ir.load(text)
    assert anywhere(jnp.ones(3)).device is cpu
    assert anywhere(irax.device_put(jnp.ones(3), pjrt)).device is pjrt
    with pytest.raises(RuntimeError, match="no platform 'abacus'"):
        irax.ir.load(text, device="abacus")


# ---- operations outside of jit ----


@needs_plugin
def test_operations_run_where_their_arrays_were_put(pjrt):
    x = irax.device_put(jnp.arange(6.0).reshape(2, 3), pjrt)
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    for result, expected in [
        (x + 1, host + 1),
        (2 * x, host * 2),
        (x + x[0], host + host[0]),
        (x.T @ x, host.T @ host),
        (jnp.sin(x).sum(0), np.sin(host).sum(0)),
        (jnp.where(x > 2, x, 0), np.where(host > 2, host, 0)),
        (x.astype("int32"), host.astype("int32")),
        (x.at[0].set(7.0), np.array([[7, 7, 7], [3, 4, 5]])),
        (jnp.concatenate([x, x], 1), np.concatenate([host, host], 1)),
        (x == jnp.ones(3), host == 1),
        (irax.lax.fori_loop(0, 3, lambda i, y: y * 2, x), host * 8),
    ]:
        assert result.device is pjrt
        np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert (x + 1).weak_type is False
    assert (x + 1).dtype == np.float32
    assert irax.device_put(1.0, pjrt).weak_type
    assert (irax.device_put(1.0, pjrt) + 1).weak_type


@needs_plugin
def test_operations_on_arrays_of_different_devices(cpu, pjrt):
    x, y = irax.device_put(jnp.ones(3), cpu), irax.device_put(jnp.ones(3), pjrt)
    for use in (lambda: x + y, lambda: jnp.where(x > 0, y, y), lambda: jnp.concatenate([x, y])):
        with pytest.raises(ValueError, match=r"on CpuDevice.* and on PjrtDevice.* used together"):
            use()


@needs_plugin
def test_an_operation_is_compiled_once(pjrt, monkeypatch):
    from irax.execution import backend

    x = irax.device_put(jnp.ones(7), pjrt)
    np.testing.assert_array_equal(jnp.maximum(x, x + 2), 3 * np.ones(7))
    monkeypatch.setattr(backend, "compile", None)
    np.testing.assert_array_equal(jnp.maximum(x, x + 2), 3 * np.ones(7))


@needs_plugin
def test_devices_are_numbered_on_their_host(pjrt):
    assert [iree.cpu(n).local_hardware_id for n in range(3)] == [0, 1, 2]
    assert pjrt.local_hardware_id == 0
    elsewhere = RemoteDevice(7, 1, "cpu", "cpu", "iree-cpu")
    assert elsewhere.local_hardware_id == -1


@needs_plugin
def test_what_does_not_fit_is_the_same_error(cpu, pjrt):
    for device in (cpu, pjrt):
        x = irax.device_put(jnp.ones(3), device)
        with pytest.raises(TypeError, match=r"\(3,\).*\(2,\)"):
            x + jnp.ones(2)
        with pytest.raises(TypeError, match="bitwise_and"):
            x & 1


def test_the_client_of_a_device(cpu):
    client = cpu.client
    assert (client.platform, client.process_index) == ("cpu", 0)
    assert client.platform_version == cpu.driver
    assert client.devices() == client.local_devices() == [cpu]
    assert client.device_count() == client.local_device_count() == 1


@needs_plugin
def test_the_client_of_a_plugin(pjrt):
    assert pjrt in pjrt.client.devices()
    assert pjrt.client.device_count() == len(irax.devices(PJRT))
    assert pjrt.client.platform_version


def test_the_devices_of_a_process(cpu):
    assert irax.local_devices(0) == irax.local_devices(backend="cpu", host_id=0) == [cpu]
    with pytest.raises(ValueError, match="no process 1"):
        irax.local_devices(process_index=1)


def test_devices_are_instances_of_device():
    assert all(isinstance(device, irax.Device) for device in irax.devices())
    assert not isinstance(irax, irax.Device)
