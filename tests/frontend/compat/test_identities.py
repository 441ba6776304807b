"""Under `irax.compat` classes say what JAX's say, and each reads the other's pickles."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests import oracle

import irax
import irax.numpy as jnp
from irax.core.array import ConcreteArray

PROGRAM = Path(__file__).with_name("identities.py")
OF_A_PROCESS = {"device", "mesh", "named sharding", "sharding", "shard", "ref", "custom_vjp"}
"""JAX pickles none of these, since it pickles no device."""
NOT_READ = {"aval", "weak_aval", "at", "size", "own treedef"}
"""Objects whose parts differ: pickled and read by each of the two alone."""
DIFFERENT = {"class of traced keys", "bases of traced keys", "bases of shard", "function map"}
"""Facts in which irax's classes are others: typed keys of traced words are typed keys, shards are
tuples, and `jax.tree.map` is `jax.tree_util.tree_map`."""


def _run(*command: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr


def _json(path: Path) -> dict[str, object]:
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    pytest.importorskip("jax")
    of_jax, of_irax = tmp_path_factory.mktemp("jax"), tmp_path_factory.mktemp("irax")
    _run(PROGRAM, of_jax)
    _run("-m", "irax.compat", PROGRAM, of_irax)
    return of_jax, of_irax


def test_classes_say_what_those_of_jax_say(folders):
    expected, found = (_json(folder / "facts.json") for folder in folders)
    kinds = ("class", "bases", "function", "repr")
    others = {f"{kind} {name}" for name in oracle.OTHER_CLASSES for kind in ("class", "class of")}
    told = [name for name in expected if name.split()[0] in kinds or " and " in name]
    wrong = {
        n: (found[n], expected[n])
        for n in set(told) - DIFFERENT - others
        if found[n] != expected[n]
    }
    wrong.pop("repr of partial")  # which has an address
    assert not wrong
    assert len(told) > 140


@pytest.mark.parametrize("reader", ["irax", "jax"])
def test_pickles_are_read_by_the_other(folders, reader):
    of_jax, of_irax = folders
    if reader == "irax":
        _run("-m", "irax.compat", PROGRAM, of_irax, of_jax)
        own, other = of_irax, of_jax
    else:
        _run(PROGRAM, of_jax, of_irax)
        own, other = of_jax, of_irax
    expected = _json(other / "facts.json")
    read = _json(own / "read.json")
    names = {f"value of {name}" for name in OF_A_PROCESS | NOT_READ | oracle.OTHER_CLASSES}
    names |= {"value of map", "value of gelu"} if reader == "jax" else set()
    wrong = {n: (read[n], expected.get(n)) for n in read.keys() - names if read[n] != expected[n]}
    assert not wrong
    assert len(read) > 35


def test_names_are_irax_own_without_compat():
    assert ConcreteArray.__module__ == "irax.core.array"
    assert irax.P.__module__ == "irax.core.shardings.partition_specs"
    assert jnp.sum.__module__ == "irax.numpy"
    assert "irax" in repr(jnp.add)


@pytest.mark.parametrize(
    "value",
    [
        irax.P("x", None, ("y", "z")),
        irax.P(None, unreduced={"x"}),
        irax.ShapeDtypeStruct((2,), "float32", weak_type=True),
        irax.tree_util.DictKey("a"),
        irax.tree_util.GetAttrKey("a"),
        irax.sharding.AbstractMesh((2,), ("x",)),
        irax.random.key(0).dtype,
        irax.tree_util.tree_structure({"b": (1, None), "a": [2, {}]}),
        irax.tree_util.tree_structure(irax.tree_util.Partial(jnp.sin, 1.0)),
        irax.lax.Precision.HIGH,
        irax.lax.GatherScatterMode.CLIP,
        jnp.bfloat16,
        jnp.ones(2).aval,
    ],
    ids=lambda value: type(value).__name__,
)
def test_pickles_and_copies(value):
    for protocol in (2, 5):
        assert pickle.loads(pickle.dumps(value, protocol)) == value


def test_scalar_types_hash_as_numpys():
    types = {jnp.int32, jnp.float32, jnp.bfloat16}
    assert np.int32 in types
    assert np.float64 not in types
    assert jnp.bfloat16.dtype.type in types
    assert jnp.int32 in {np.int32: 1}
    assert np.float32 in {jnp.float32: 1}


def test_iterating_over_a_ref_ends():
    """`numpy.asarray(ref)` did not: indices out of range are clipped."""
    ref = irax.new_ref(jnp.arange(3.0))
    assert [float(x) for x in ref] == [0, 1, 2]
    np.testing.assert_array_equal(np.asarray(ref), [0, 1, 2])


def test_classes_are_told_from_devices():
    assert not issubclass(int, irax.Device)
    assert issubclass(type(irax.devices()[0]), irax.Device)
    assert isinstance(irax.devices()[0], irax.Device)
    assert not isinstance(3, irax.Device)
