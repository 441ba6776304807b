"""irax's linker of object files, and what falls to the one that comes with IREE."""

import ctypes
import re
import subprocess
import sys

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import chips
from irax_compiler.iree import blas, elf, linking
from irax_compiler.iree.invocation import CompileError

pytestmark = pytest.mark.skipif(
    not (chips.IS_X86 and sys.platform == "linux"), reason="irax links for x86-64 on Linux"
)


@pytest.fixture
def linked(monkeypatch):
    """The object files that are linked, and the libraries that are made of them."""
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    irax.clear_caches()
    found, real = [], elf.link

    def link(data, *given):
        made = real(data, *given)
        found.append((data, made))
        return made

    monkeypatch.setattr(elf, "link", link)
    return found


def cases():
    x = np.random.default_rng(0).random((40, 40)).astype(np.float32)
    yield "constants", lambda x: jnp.sin(x) + x * 3, x, np.sin(x) + x * 3
    yield "functions of C", jnp.arctan2, x.astype(np.float64), None
    yield "functions of BLAS", lambda x: jnp.linalg.solve(x, x), x, np.eye(40)
    yield "several kernels", lambda x: (x @ x).sum(0) + jnp.sort(x, 1), x, None


@pytest.mark.parametrize(
    ("function", "x", "expected"), [pytest.param(*c[1:], id=c[0]) for c in cases()]
)
def test_programs_are_linked(linked, function, x, expected):
    if function is jnp.arctan2:
        with irax.enable_x64(True):
            result, expected = irax.jit(function)(x, x + 1), np.arctan2(x, x + 1)
    else:
        result = irax.jit(function)(x)
    if expected is None:
        expected = (x @ x).sum(0) + np.sort(x, 1)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
    assert linked


def test_what_a_program_does_not_reach_is_left_out(linked):
    irax.jit(lambda x: x + x)(np.ones(7, np.float32))
    [(data, library)] = linked
    assert b"__extendhfsf2" in data
    assert b"__extendhfsf2" not in library
    assert len(library) < len(data) / 2


def test_a_library_has_what_the_dynamic_linker_reads(linked, tmp_path):
    irax.jit(lambda x: jnp.linalg.solve(x, x))(np.eye(9, dtype=np.float32))
    file = tmp_path / "kernels.so"
    file.write_bytes(linked[-1][1])
    assert elf.soname(blas.library()) in linked[-1][1]
    ctypes.CDLL(str(blas.library()), ctypes.RTLD_GLOBAL)
    query = ctypes.CDLL(str(file))[linking.EXPORTED]
    query.restype, query.argtypes = ctypes.c_void_p, [ctypes.c_uint32, ctypes.c_void_p]
    assert query(6, None)  # the version of its interface that IREE's runtime asks for


def test_functions_at_addresses(linked, tmp_path):
    """Known addresses are written into the table; no library has these functions."""
    irax.jit(lambda x: jnp.linalg.solve(x, x))(np.eye(9, dtype=np.float32))
    data = linked[-1][0]
    name = min(re.findall(rb"scipy_\w+", data))
    made = elf.link(data, linking.EXPORTED, {name: 0x123456789A})
    assert name not in made
    assert (0x123456789A).to_bytes(8, "little") in made


def test_what_irax_does_not_link_goes_to_the_linker_of_iree(linked, monkeypatch):
    def link(*given):
        raise elf.NotLinked("relocations of the kind 99")

    monkeypatch.setattr(elf, "link", link)
    x = np.eye(9, dtype=np.float32) * 2
    np.testing.assert_allclose(irax.jit(lambda x: jnp.linalg.solve(x, x + 1))(x), 0.5 + np.eye(9))
    assert not linked


def test_errors_of_the_linker_of_iree_are_told(monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "undefined symbol: f\n")
    monkeypatch.setattr(subprocess, "run", lambda *given, **options: failed)
    with pytest.raises(CompileError, match="could not link the program:\n  undefined symbol: f"):
        linking.linker(b"").link(b"no object file")


@pytest.mark.parametrize("data", [b"", b"\x7fELF\x02\x01".ljust(64, b"\0")])
def test_other_files_are_refused(data):
    with pytest.raises(elf.NotLinked, match="not an object file of x86-64"):
        elf.link(data.ljust(64, b"\0"), "f")


def test_other_files_have_no_name(tmp_path):
    file = tmp_path / "text"
    file.write_text("text")
    with pytest.raises(elf.NotLinked, match="not a shared library"):
        elf.soname(file)


def test_relocations_that_are_not_known_are_refused(linked):
    irax.jit(lambda x: jnp.sin(x))(np.ones(7, np.float32))
    data = linked[-1][0]
    sections, _ = elf._read(data)
    number = next(i for i, s in enumerate(sections) if s.relocations and s.flags & 4)
    where, _, symbol, added = sections[number].relocations[0]
    old = elf._RELOCATION.pack(where, 2 | symbol << 32, added)
    assert old in data
    with pytest.raises(elf.NotLinked, match="relocations of the kind 99"):
        elf.link(
            data.replace(old, elf._RELOCATION.pack(where, 99 | symbol << 32, added)),
            linking.EXPORTED,
        )
    with pytest.raises(elf.NotLinked, match="does not define no_function"):
        elf.link(data, "no_function")
