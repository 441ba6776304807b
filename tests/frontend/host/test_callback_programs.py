"""Random programs with callbacks in loops, branches and transformed functions, which do the same
compiled and at once: what they return, and which effects they have, in which order.

IRAX_FUZZ=100 for a hundred of them.
"""

import os
import random

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.experimental import io_callback

SCALAR = irax.ShapeDtypeStruct((), "float32")


class World:
    """A record of what has happened, and a number that each look at it changes."""

    def __init__(self):
        self.events = []
        self.number = 0

    def record(self, tag, x):
        io_callback(lambda x: self.events.append((tag, float(x))), None, lax.stop_gradient(x))
        return x

    def draw(self):
        def tick():
            self.number += 1
            return np.float32(self.number % 7)

        return io_callback(tick, SCALAR)

    def leaf(self, x):
        self.record("leaf", x)
        big = irax.pure_callback(
            lambda x: np.float32(x > 3), SCALAR, lax.stop_gradient(x), vmap_method="sequential"
        )
        return 2 * x + self.draw() + big

    # Each makes a function of a number of another one.

    def scan(self, f):
        def loop(x):
            last, before = lax.scan(lambda c, row: (f(c * row), c), x, jnp.float32([1, 2]))
            return last + before.sum()

        return loop

    def backwards(self, f):
        return lambda x: lax.scan(
            lambda c, row: (f(c * row), c), x, jnp.float32([1, 2]), reverse=True
        )[1].sum()

    def unneeded(self, f):
        return lambda x: (lax.fori_loop(0, 2, lambda i, c: f(c) + i, x), 3 * x)[1]

    def bounded(self, f):
        return lambda x: lax.while_loop(
            lambda s: self.record("test", s[1]) < 20,
            lambda s: (s[0] + 1, abs(f(s[1])) + 1),
            (0, x),
            max_steps=3,
        )[1]

    def unbounded(self, f):
        def goes_on(state):
            i, x = state
            return (i < 4) & (self.record("test", x) < 20)

        return lambda x: lax.while_loop(goes_on, lambda s: (s[0] + 1, f(s[1])), (0, x))[1]

    def cond(self, f):
        return lambda x: lax.cond(
            self.record("which", x) > 1.5, f, lambda x: self.record("else", x) - 1, x
        )

    def switch(self, f):
        return lambda x: lax.switch(x.astype("int32"), [lambda x: x, f, lambda x: f(x) + 1], x)

    def jit(self, f):
        return irax.jit(f)

    def checkpoint(self, f):
        return irax.checkpoint(f)

    def twice(self, f):
        return lambda x: f(self.record("first", x)) + f(x)


WRAPPERS = {
    "value": lambda f: f,
    "grad": irax.grad,
    "vmap": irax.vmap,
    "grad of lanes": lambda f: irax.vmap(irax.grad(f)),
    "grad over lanes": lambda f: irax.grad(lambda x: irax.vmap(f)(x).sum()),
}
NESTINGS = [name for name in vars(World) if name not in ("__init__", "record", "draw", "leaf")]
NESTINGS = [name for name in NESTINGS if not name.startswith("_")]


def programs():
    yield ["switch", "backwards", "cond"], "grad of lanes"
    yield ["unneeded", "jit", "scan"], "grad"
    yield ["bounded", "checkpoint", "cond"], "grad over lanes"
    yield ["unbounded", "cond", "unbounded"], "vmap"
    rng = random.Random(os.environ.get("SEED", "0"))
    for _ in range(int(os.environ.get("IRAX_FUZZ", "4"))):
        names = rng.choices(NESTINGS, k=rng.choice([2, 3, 3, 4]))
        wrapper = rng.choice(list(WRAPPERS))
        if "grad" in wrapper:
            names = [name for name in names if name != "unbounded"]
        yield names, wrapper


@pytest.mark.parametrize(
    ("names", "wrapper"), list(programs()), ids=lambda x: x if isinstance(x, str) else "-".join(x)
)
@pytest.mark.slow
def test_compiled_it_does_the_same(names, wrapper):
    world = World()
    f = world.leaf
    for name in names:
        f = getattr(world, name)(f)
    f = WRAPPERS[wrapper](f)
    x = jnp.float32([1.25, 2] if wrapper not in ("value", "grad") else 1.25)
    expected, events = f(x), world.events
    world.events, world.number = [], 0
    found = irax.jit(f)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert world.events == events
    assert events
