"""A process that interrupts itself, as Ctrl-C does: `python interrupts.py CASE`.

It prints what came of it, and ends with 7 while native code is still at work.
"""

import hashlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import targets
from irax_compiler.ops import dot, elementwise
from irax_compiler.ops.linalg import spectral
from irax_runtime import host, in_flight, interruptible

SCALAR = irax.ShapeDtypeStruct((), "float32")


def compiled(function: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    return irax.jit(function).lower(*args).compile()


def is_waiting() -> bool:
    """Return True while the main thread waits for native code, or runs what that calls back."""
    frame = sys._current_frames()[threading.main_thread().ident or 0]
    waiting = (interruptible.__file__, in_flight.__file__)
    while frame is not None and frame.f_code.co_filename not in waiting:
        frame = frame.f_back
    return frame is not None


def interrupted(function: Callable[..., Any], *args: Any) -> str:
    """Calls a function, and waits for its result, which Ctrl-C ends while it is at work."""

    def press() -> None:
        while not is_waiting():
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    try:
        irax.block_until_ready(function(*args))
    except KeyboardInterrupt:
        return "interrupted"
    return "not interrupted"


def for_ever(x: Any) -> Any:
    """A loop that is one kernel."""
    return lax.while_loop(lambda c: c >= 0.0, lambda c: jnp.abs(jnp.cos(c)), x)


def for_ever_in_steps(x: Any) -> Any:
    """A loop that launches kernels, on all cores."""
    return lax.while_loop(lambda c: c[0, 0] >= 0.0, lambda c: jnp.abs(jnp.cos(c @ c)), x)


def loops() -> None:
    matrix = jnp.ones((128, 128))
    steps, kernel = compiled(for_ever_in_steps, matrix), compiled(for_ever, 1.0)
    print(interrupted(steps, matrix))
    print(interrupted(kernel, 1.0))
    print(float(irax.jit(lambda x: x + 1.0)(1.0)))


def compiling() -> None:
    """The compiler takes minutes."""
    of_compiler = targets.compile
    targets.compile = lambda *_: hashlib.pbkdf2_hmac("sha256", b"", b"", 1 << 29)
    print(interrupted(irax.jit(jnp.cos), 1.0))
    targets.compile = of_compiler
    print(float(irax.jit(lambda x: x + 1.0)(1.0)))


def libraries() -> None:
    """A function of a library takes minutes, in a program that is itself short."""
    host.FUNCTIONS["svd"] = lambda *_, **options: hashlib.pbkdf2_hmac("sha256", b"", b"", 1 << 29)
    for is_queued in (True, False):
        in_flight.enable(is_queued)
        program = compiled(lambda x: jnp.linalg.svd(x)[1], matrix := jnp.ones((300, 300)))
        print(interrupted(program, matrix))
    print(float(irax.jit(lambda x: x + 1.0)(1.0)))


def eager() -> None:
    """Operations outside of `jit`: by themselves, in a derivative, and in the loop of an evaluated
    function.
    """
    matrix = jnp.ones((300, 300))

    def loop(x: Any) -> Any:
        return irax.grad(lambda x: lax.fori_loop(0, 5, lambda _, y: jnp.sin(y @ y), x).sum())(x)

    loop(matrix)
    for_minutes: Any = lambda *_, **options: hashlib.pbkdf2_hmac("sha256", b"", b"", 1 << 29)
    spectral.singular_vectors = for_minutes
    print(interrupted(jnp.linalg.svd, matrix))
    print(interrupted(irax.grad(lambda x: jnp.linalg.svd(x)[1].sum()), matrix))
    np.sort = for_minutes
    print(interrupted(jnp.sort, jnp.ones(100_000)))
    elementwise_op: Any = type(elementwise.sine)
    small = elementwise_op.evaluate
    elementwise_op.evaluate = lambda op, call, *operands: (
        small(op, call, *operands) if operands[0].size < 1_000_000 else for_minutes()
    )
    print(interrupted(jnp.sin, jnp.ones(1_000_000)))
    dot.DotGeneral.evaluate = for_minutes
    print(interrupted(loop, matrix))
    print(float(jnp.abs(jnp.float32(-2.0))))


def callbacks() -> None:
    """Functions of Python run in the thread that called the program, which sees its options, and is
    where Ctrl-C comes up.
    """

    def seen(x: Any) -> Any:
        assert threading.current_thread() is threading.main_thread()
        assert irax.config.debug_infs
        return np.float32(inner(x)) + np.float32(1.0)

    def told(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: irax.pure_callback(function, SCALAR, x)

    def until(bound: float, step: Callable[..., Any]) -> Callable[..., Any]:
        return compiled(lambda x: lax.while_loop(lambda c: c < bound, step, x), 0.0)

    inner = until(3.0, lambda x: x + 3.0)
    outer = until(8.0, told(seen))
    with irax.debug_infs(True):
        print(float(outer(0.0)))
    asleep = until(8.0, told(lambda x: time.sleep(600)))
    print(interrupted(asleep, 0.0))
    left: list[bool] = []
    print(interrupted(until(np.inf, told(lambda x: left.append(True) or x)), 0.0))
    time.sleep(0.2)  # it has ended at its next callback
    count = len(left)
    time.sleep(0.2)
    print(len(left) == count, interruptible.is_work_left_behind())


def ending() -> None:
    """The loop comes to its end while Python does: the last module to go takes longer."""

    class Slow:
        def __del__(self, sleep: Callable[[float], None] = time.sleep) -> None:
            sleep(3.0)

    def counted(x: Any, count: Any) -> Any:
        step: Any = lambda c: (jnp.cos(c[0]), c[1] + 1)
        return lax.while_loop(lambda c: c[1] < count, step, (x, 0))[0]

    loop = compiled(counted, 1.0, 1)
    start = time.perf_counter()
    loop(1.0, 1_000_000).block_until_ready()
    each = (time.perf_counter() - start) / 1_000_000
    sys.modules["slow"] = Slow()  # pyright: ignore[reportArgumentType]
    print(interrupted(loop, 1.0, int(1.0 / each)))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    sys.stdout.flush()
    sys.exit(7)
