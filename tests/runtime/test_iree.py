"""The CPU device: round trips, lifetimes, checks, threads. Each program costs a compile."""

from __future__ import annotations

import gc
import threading

import ml_dtypes
import numpy as np
import pytest

from irax_compiler.targets import cache, iree_cpu
from irax_runtime.iree import cpu
from irax_runtime.signature import TensorType, parse_signature

DTYPES = [
    np.bool_,
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
    *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
]

SINE = """
module @m {
  func.func public @main(%x: tensor<16xf32>) -> tensor<16xf32> attributes {
      iree.reflection = {irax.driver = "DRIVER", irax.args = "f32[16]", irax.results = "f32[16]"}} {
    %0 = stablehlo.sine %x : tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}"""


@pytest.fixture(scope="module", params=["sync", "task"])
def sine(request):
    return cpu().load(iree_cpu.compile(SINE.replace("DRIVER", request.param)))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (100, 100)], ids=str)
@pytest.mark.parametrize("may_alias", [False, True])
def test_round_trip(dtype, shape, may_alias):
    array = np.asarray(np.random.default_rng(0).uniform(0, 3, shape)).astype(dtype)
    back = cpu().put(array, may_alias).numpy()  # the buffer itself is dropped here
    gc.collect()
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    np.testing.assert_array_equal(
        back.view(np.uint8) if shape else back, array.view(np.uint8) if shape else array
    )


def test_numpy_view_is_read_only():
    view = cpu().put(np.ones(4, np.float32)).numpy()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 2


def test_put_copies_unless_allowed_to_alias():
    array = np.zeros(100_000, np.float32)
    buffer = cpu().put(array)
    array[:] = 1
    assert buffer.numpy().max() == 0


@pytest.mark.parametrize("offset", range(0, 64, 4))
def test_memory_of_any_alignment(sine, offset):
    memory = np.zeros(256, np.uint8)
    x = memory[offset : offset + 64].view(np.float32)
    x[:] = np.arange(16)
    (result,) = sine([cpu().put(x, may_alias=True)])
    np.testing.assert_allclose(result.numpy(), np.sin(np.arange(16)), atol=1e-6)


def test_results_outlive_their_program():
    program = cpu().load(iree_cpu.compile(SINE.replace("DRIVER", "sync")))
    (result,) = program([cpu().put(np.ones(16, np.float32))])
    del program
    gc.collect()
    np.testing.assert_allclose(result.numpy(), np.sin(1.0), atol=1e-6)


def test_arguments_are_checked(sine):
    good = cpu().put(np.zeros(16, np.float32))
    with pytest.raises(TypeError, match="main takes 1 arguments, got 2"):
        sine([good, good])
    with pytest.raises(TypeError, match=r"argument 0 has dtype int32; expected float32\[16\]"):
        sine([cpu().put(np.zeros(16, np.int32))])
    with pytest.raises(ValueError, match=r"argument 0 has shape \(3,\); expected float32\[16\]"):
        sine([cpu().put(np.zeros(3, np.float32))])


def test_threads_share_a_program(sine):
    failures = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).normal(size=16).astype(np.float32)
        for _ in range(200):
            (result,) = sine([cpu().put(x)])
            if not np.allclose(result.numpy(), np.sin(x), atol=1e-5):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("artefact", [b"", b"garbage", b"\0" * 200])
def test_what_is_no_program_is_refused(artefact):
    with pytest.raises(ValueError, match="not a compiled IREE module"):
        cpu().load(artefact)


def test_unknown_entry_names_those_there_are(sine):
    artefact = iree_cpu.compile(SINE.replace("DRIVER", "sync"))
    with pytest.raises(ValueError, match="no function other; it has main"):
        cpu().load(artefact, "other")


def test_signature():
    assert parse_signature("f32[4,4];i1[]") == [
        TensorType(np.dtype(np.float32), (4, 4)),
        TensorType(np.dtype(np.bool_), ()),
    ]
    assert parse_signature("") == []


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("garbage", "custom op 'garbage'"),
        (SINE.replace("stablehlo.sine", "stablehlo.sign_of"), "stablehlo.sign_of"),
        (SINE.replace("-> tensor<16xf32>", "-> tensor<5xf32>"), "type of return operand 0"),
    ],
)
def test_compile_errors_are_diagnostics(module, message):
    with pytest.raises(iree_cpu.CompileError, match=message):
        iree_cpu.compile(module)


def test_compile_errors_carry_source_locations():
    module = """
    func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = "stablehlo.cholesky"(%x) {lower = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
        loc("user.py":12:5)
      return %0 : tensor<4x4xf32>
    }"""
    with pytest.raises(iree_cpu.CompileError, match=r"user\.py:12:5: .*cholesky"):
        iree_cpu.compile(module)


# ---- the disk cache ------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_cache_returns_what_was_stored(folder):
    name = cache.key(b"module", ["--flag"])
    assert cache.load(name) is None
    cache.store(name, b"artefact")
    assert cache.load(name) == b"artefact"
    assert cache.load(cache.key(b"module", ["--other"])) is None


@pytest.mark.parametrize("damage", [lambda d: d[:-1], lambda d: b"", lambda d: d[:-1] + b"?"])
def test_damaged_artefacts_are_not_used(folder, damage):
    cache.store("name", b"artefact")
    path = folder / "name"
    path.write_bytes(damage(path.read_bytes()))
    assert cache.load("name") is None


def test_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    monkeypatch.setenv("IRAX_CACHE_DIR", str(occupied))
    cache.store("name", b"artefact")
    assert cache.load("name") is None


def test_cache_off(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    cache.store("name", b"artefact")
    assert cache.load("name") is None


def test_cache_drops_what_was_unused_for_longest(folder, monkeypatch):
    monkeypatch.setattr(cache, "SIZE_LIMIT", 250)
    for i, name in enumerate(("a", "b", "c")):
        cache.store(name, bytes(64))
        if (folder / name).exists():
            import os

            os.utime(folder / name, (i, i))
    assert cache.load("a") is None
    assert cache.load("c") == bytes(64)
