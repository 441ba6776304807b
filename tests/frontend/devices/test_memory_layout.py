"""Memory that leaves irax: in row-major order without gaps, whatever view made it, and whatever
dtype object it came in.
"""

import io
import pickle

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

VIEWS = {
    "transpose": (lambda x: x.T, lambda x: x.T),
    "slice": (lambda x: x[:, ::2], lambda x: x[:, ::2]),
    "column": (lambda x: x[..., 1], lambda x: x[..., 1]),
    "flip": (lambda x: jnp.flip(x, 1), lambda x: x[:, ::-1]),
    "broadcast": (lambda x: jnp.broadcast_to(x, (5, 2, 3, 4)), lambda x: np.stack([x] * 5)),
    "diagonal": (jnp.diagonal, lambda x: x.diagonal()),
    "einsum": (lambda x: jnp.einsum("ijk->kij", x), lambda x: np.einsum("ijk->kij", x)),
    "moved": (lambda x: jnp.moveaxis(x, 0, 2), lambda x: np.moveaxis(x, 0, 2)),
    "lanes": (lambda x: irax.vmap(lambda a: a, 2, 1)(x), lambda x: x.transpose(0, 2, 1)),
    "full": (lambda x: jnp.full((3, 4), x[0, 0, 1]), lambda x: np.full((3, 4), 1.0)),
    "gathered": (
        lambda x: jnp.take(x, jnp.array([1, 0]), 1),
        lambda x: x[:, [1, 0]],
    ),
    "factor": (lambda x: jnp.linalg.qr(x[0].T)[0] * 0 + x[0].T, lambda x: x[0].T),
}

DOORS = {
    "asarray": np.asarray,
    "array": np.array,
    "device_get": irax.device_get,
    "pickle": lambda x: np.asarray(pickle.loads(pickle.dumps(x))),
    "dlpack": np.from_dlpack,
    "callback": lambda x: _given_to_callback(x),
    "buffer": lambda x: np.asarray(x.__buffer__(0)),
}


def _given_to_callback(x):
    given = []

    def keep(value):
        given.append(np.asarray(value))

    irax.debug.callback(keep, x)
    return given[0]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("view", VIEWS)
def test_memory_is_contiguous(view, door):
    make, expected = VIEWS[view]
    found = DOORS[door](make(jnp.asarray(X)))
    assert found.flags.c_contiguous
    memory = found.tobytes("A")  # as it lies
    np.testing.assert_array_equal(
        np.frombuffer(memory, found.dtype).reshape(found.shape), expected(X)
    )


def test_the_copy_is_kept():
    x = jnp.asarray(X).T
    assert np.shares_memory(np.asarray(x), np.asarray(x))
    assert not np.asarray(x).flags.writeable


OWN = ["bool", "uint8", "int32", "float16", "float32", "complex64"]
WIDE = ["int64", "float64", "complex128"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [*OWN, *WIDE, "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("kind", ["pickled", "native"])
def test_dtypes_of_other_objects(name, kind):
    """A dtype from a pickle, or of a byte order, equals NumPy's but is another object."""
    own = np.dtype(getattr(ml_dtypes, name, name))
    other = own.newbyteorder("=") if kind == "native" else pickle.loads(pickle.dumps(own))
    x = np.array([1, 0, 1], other)
    with irax.enable_x64(True):
        ours = jnp.asarray(x)
        assert ours.dtype == own
        found = {
            "asarray": np.asarray(ours),
            "jit": np.asarray(irax.jit(lambda x: jnp.where(x == x, x, x))(x)),
            "pickle": np.asarray(pickle.loads(pickle.dumps(ours))),
            "dlpack": np.asarray(jnp.from_dlpack(ours)),
            "callback": irax.pure_callback(np.asarray, irax.ShapeDtypeStruct((3,), other), x),
            "view": np.asarray(ours.view(other)),
        }
        if name not in ("bfloat16", "float8_e4m3fn"):
            found["buffer"] = np.asarray(ours.__buffer__(0))
            file = io.BytesIO()
            jnp.save(file, x)
            file.seek(0)
            found["save"] = np.asarray(jnp.load(file))
        for way, value in found.items():
            assert value.dtype == own, way
            np.testing.assert_array_equal(np.asarray(value), np.array([1, 0, 1], own), way)
