"""Values of classes that a library defines, which hold arrays and change, as arguments of functions
and outside of them: compared with the same in Python.
"""

import dataclasses
import gc

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.compat.jax.experimental import cur_qdd, hijax
from irax.core.refs import refs


@pytest.fixture(autouse=True)
def mutable_arrays_expected_no_more():
    """Calls look for mutable arrays once there were such values; those of later tests do not."""
    yield
    refs._expected.clear()


@dataclasses.dataclass(frozen=True)
class BoxState:
    """The types of the arrays in a box, and their structure."""

    avals: tuple
    tree: object


class BoxType(hijax.MutableHiType):
    """The type of boxes."""

    def __hash__(self) -> int:
        return hash(BoxType)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoxType)

    def __repr__(self) -> str:
        return "Box"

    def new_from_loval(self, state: BoxState, *arrays: object) -> "Box":
        box = Box.__new__(Box)
        box.leaves, box.tree = list(arrays), state.tree
        return box

    def read_loval(self, state: BoxState, box: "Box") -> list:
        found = read_p.bind(box)
        return [y for x, aval in zip(found, state.avals, strict=True) for y in aval.lower_val(x)]

    def update_from_loval(self, state: BoxState, box: "Box", *arrays: object) -> None:
        raised = (aval.raise_val(x) for x, aval in zip(arrays, state.avals, strict=True))
        write_p.bind(box, *raised, tree=state.tree)


class Box:
    """A pytree that can be replaced; it has no weak references, as flax's variables."""

    __slots__ = ("leaves", "tree")

    def __new__(cls, *content: object) -> "Box":
        return new_p.bind(*irax.tree.leaves(content), tree=irax.tree.structure(content))

    @property
    def content(self):
        return irax.tree.unflatten(self.tree, read_p.bind(self))

    @content.setter
    def content(self, content: object) -> None:
        write_p.bind(self, *irax.tree.leaves(content), tree=irax.tree.structure(content))

    def cur_qdd(self) -> BoxState:
        return BoxState(tuple(map(irax.typeof, self.leaves)), self.tree)


class New(hijax.HiPrimitive):
    """Makes a box."""

    def impl(self, *leaves: object, tree: object) -> Box:
        box = object.__new__(Box)
        box.leaves, box.tree = list(leaves), tree
        return box


class Read(hijax.HiPrimitive):
    """Reads a box."""

    multiple_results = True

    def impl(self, box: Box) -> list:
        return box.leaves


class Write(hijax.HiPrimitive):
    """Writes to a box."""

    multiple_results = True

    def impl(self, box: Box, *leaves: object, tree: object) -> list:
        box.leaves, box.tree = list(leaves), tree
        return []


new_p, read_p, write_p = New("new_box"), Read("read_box"), Write("write_box")
hijax.register_hitype(Box, lambda box: BoxType())


def count_up(box: Box, x):
    total, n = box.content
    box.content = (total + x, n + 1)
    return total * n


def held(box: Box) -> list[float]:
    return [float(x) for x in box.content]


def test_types():
    box = Box(jnp.ones(2), jnp.zeros(3, int))
    assert irax.typeof(box) == BoxType()
    assert [str(a) for a in cur_qdd(box).avals] == ["float32[2]", "int32[3]"]
    assert repr(new_p) == "new_box"


def test_jit_writes_to_its_arguments():
    boxes = [Box(jnp.float32(2), jnp.int32(3)) for _ in range(2)]
    traced = []

    @irax.jit
    def jitted(a, b, x):
        traced.append(x)
        return count_up(a, x), count_up(b, 2 * x), count_up(a, x)

    expected = [[2.0, 3], [2.0, 3]]
    for _ in range(3):
        out = jitted(*boxes, 5.0)
        a, b = expected
        by_hand = a[0] * a[1], b[0] * b[1], (a[0] + 5) * (a[1] + 1)
        expected = [[a[0] + 10, a[1] + 2], [b[0] + 10, b[1] + 1]]
        assert [float(x) for x in out] == list(by_hand)
        assert [held(box) for box in boxes] == expected
    assert len(traced) == 1


def test_jit_writes_to_what_it_finds():
    box = Box(jnp.float32(2), jnp.int32(3))
    jitted = irax.jit(lambda x: count_up(box, x))
    assert [float(jitted(1.0)) for _ in range(3)] == [6, 12, 20]
    box.content = jnp.float32(10), jnp.int32(1)
    assert float(jitted(1.0)) == 10
    assert held(box) == [11, 2]


def test_a_new_value_is_new_in_each_call():
    def run(x):
        box = Box(x, 0)
        count_up(box, 1.0)
        lax.fori_loop(0, 3, lambda i, c: count_up(box, c), x)
        return box.content

    jitted = irax.jit(run)
    for x in (1.0, 2.0, 1.0):
        assert [float(y) for y in jitted(x)] == [float(y) for y in run(x)]


def test_loops_and_branches_write():
    def run(box):
        lax.scan(lambda c, x: (c + count_up(box, x), None), 0.0, jnp.arange(4.0))
        lax.cond(box.content[1] > 2, lambda: count_up(box, 100.0), lambda: 0.0)

    box, other = (Box(jnp.float32(1), jnp.int32(0)) for _ in range(2))
    run(box)
    irax.jit(run)(other)
    assert held(box) == held(other) == [107, 5]


def test_gradients_of_functions_that_write():
    box = Box(jnp.float32(2), jnp.int32(3))

    def loss(x, box):
        count_up(box, lax.stop_gradient(x))
        return x**2 * box.content[1]

    assert irax.grad(loss)(3.0, box) == 2 * 3 * 4
    assert irax.jit(irax.grad(loss))(3.0, box) == 2 * 3 * 5
    assert irax.grad(lambda x: loss(x, box))(3.0) == 2 * 3 * 6
    assert held(box) == [11, 6]


def test_keys_are_held():
    def draw(box):
        key, own = irax.random.split(box.content[0])
        box.content = (key,)
        return irax.random.uniform(own)

    boxes = [Box(irax.random.key(0)) for _ in range(2)]
    np.testing.assert_allclose(
        [draw(boxes[0]) for _ in range(3)], [irax.jit(draw)(boxes[1]) for _ in range(3)]
    )


def test_eval_shape_changes_nothing():
    box, ref = Box(jnp.float32(2), jnp.int32(3)), irax.new_ref(jnp.zeros(2))
    assert irax.eval_shape(count_up, box, 1.0).dtype == np.float32
    assert irax.eval_shape(lambda r: r[...] + box.content[0], ref).shape == (2,)
    assert held(box) == [2, 3]


def test_the_number_of_arrays_stays():
    box = Box(jnp.float32(2))

    def grow(box, x):
        box.content = (*box.content, x)

    with pytest.raises(NotImplementedError, match=r"Box: .* there were 1 and are 2: give it all"):
        irax.jit(grow)(box, 1.0)
    grow(box, 1.0)
    assert held(box) == [2, 1]


def test_one_value_is_one_argument():
    box = Box(jnp.float32(2), jnp.int32(3))
    with pytest.raises(ValueError, match="only one reference to a mutable array"):
        irax.jit(lambda a, b: count_up(a, 1.0) + count_up(b, 1.0))(box, box)


def test_values_of_a_trace_end_with_it():
    @irax.jit
    def f(box):
        inner = Box(jnp.zeros(2))
        inner.content = (box.content[0] + 1,)
        box.content = inner.content

    gc.collect()
    before = len(refs._alive)
    for n in range(1, 4):
        box = Box(jnp.zeros(n))
        f(box)
        np.testing.assert_array_equal(box.content[0], np.ones(n))
    f.clear_cache()
    del box
    gc.collect()
    assert len(refs._alive) == before
