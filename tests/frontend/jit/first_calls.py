"""Sixteen threads that do everything for the first time: `python first_calls.py SEED`, in a process
of its own, which ends with 1 where a result is wrong and prints what each thread raised.
"""

import faulthandler
import functools
import random
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
import irax_runtime
from irax import lax

THREADS = 16


@irax.jit
def weighted(x: Any) -> Any:
    return jnp.sum(jnp.cos(x) * x)


@irax.jit
def outer(x: Any) -> Any:
    return weighted(x) + weighted(2.0 * x)


@irax.jit
def doubled(x: Any) -> Any:
    return x * 2.0


@irax.jit
def counted(x: Any) -> Any:
    return lax.fori_loop(0, 5, lambda _, c: c + x, x)


def expected(x: Any) -> Any:
    return np.sum(np.cos(x) * x)


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-6)


def jit_of_four_shapes(number: int) -> None:
    x = np.linspace(0, 1, 3 + number % 4, dtype=np.float32)
    same(weighted(x), expected(x))


def jit_within_jit(_: int) -> None:
    same(outer(1.0), expected(1.0) + expected(2.0))


def loop(_: int) -> None:
    same(counted(2.0), 12.0)


def grad(number: int) -> None:
    same(irax.grad(weighted)(float(number)), np.cos(number) - number * np.sin(number))


def vmap(_: int) -> None:
    x = np.linspace(0, 1, 4, dtype=np.float32)
    same(irax.vmap(weighted)(x), np.cos(x) * x)


def eager(number: int) -> None:
    same(jnp.median(jnp.arange(5.0)), 2.0)
    same(jnp.linalg.norm(jnp.ones((3, 3))), 3.0)
    same(jnp.sort(jnp.arange(4)[::-1]), np.arange(4))
    assert 0 <= irax.random.uniform(irax.random.key(number)) < 1


def export(number: int) -> None:
    """Through bytes, and through a file, which holds a compiled program."""
    if number < 2:
        exported = irax.export.export(weighted)(np.float32(number))
        same(exported.call(1.0), expected(1.0))
        same(irax.export.deserialize(exported.serialize()).call(2.0), expected(2.0))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "weighted.irax")
            exported.save(path)
            same(irax_runtime.load(path)(np.float32(3)), expected(3.0))
            same(irax.export.load(path).call(3.0), expected(3.0))


def devices(number: int) -> None:
    (device,) = {irax.devices()[0], irax.devices("cpu")[0], *irax.local_devices()}
    assert irax.device_count() == irax.local_device_count() == 1
    put = irax.device_put({"x": np.full(3, number, np.float32), "n": number}, device)
    assert put["x"].device is put["n"].device is device
    same(put["x"] + put["n"], [2 * number] * 3)
    copied = irax.device_put(put["x"], device, may_alias=False)
    same(doubled(copied), [2 * number] * 3)


def callback(number: int) -> None:
    """Functions of one name: each must be called back as itself."""

    def told(x: Any) -> Any:
        return x + np.float32(number)

    called = functools.partial(irax.pure_callback, told, irax.ShapeDtypeStruct((), "float32"))
    same(called(1.0), 1.0 + number)
    if number < 2:
        same(irax.jit(called)(1.0), 1.0 + number)


KINDS = (
    *(jit_of_four_shapes, jit_within_jit, loop, grad, vmap),
    *(eager, export, devices, callback),
)


def main(seed: int) -> int:
    faulthandler.enable()
    faulthandler.dump_traceback_later(120, exit=True)  # a deadlock tells where
    sys.setswitchinterval(1e-5)
    raised: list[str] = []
    together = threading.Barrier(THREADS)
    order = random.Random(seed)
    orders = [order.sample(KINDS, len(KINDS)) for _ in range(THREADS)]
    first = KINDS[seed % len(KINDS)]  # which all do at once

    def work(number: int) -> None:
        together.wait()
        for kind in (first, *orders[number]):
            try:
                kind(number)
            except BaseException:
                raised.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("\n".join(raised))
    return int(bool(raised))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
