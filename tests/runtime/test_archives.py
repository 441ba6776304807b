"""Archives that claim too much, or are not what they should be: one error, before anything is
unpacked.
"""

from __future__ import annotations

import io
import json
import os
import random
import struct
import zipfile
from collections.abc import Iterator

import numpy as np
import pytest

import irax
import irax.numpy as jnp
import irax_runtime
from irax_compiler import containers
from irax_compiler.ops.core import UnsupportedOp
from irax_runtime import archives, exported
from irax_runtime.printable import printable


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    def step(state, x, *, scale=1.0):
        return state["a"] * scale, (x, None), jnp.sin(x)

    saved = irax.export.export(irax.jit(step))({"a": np.ones(2, "f")}, np.ones(3, "f"), scale=2.0)
    return archives.read(saved.serialize(), "saved")


def claiming(size: int, name: str = exported.MANIFEST) -> bytes:
    """An archive with a compressed file, of which the directory claims another size."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b" " * 1000)
    found = bytearray(data.getvalue())
    entry = found.rindex(b"PK\x01\x02")
    found[entry + 24 : entry + 28] = struct.pack("<I", size)
    return bytes(found)


@pytest.fixture
def _nothing_is_unpacked(monkeypatch):
    def read(*_):
        raise AssertionError("unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "read", read)


@pytest.mark.usefixtures("_nothing_is_unpacked")
@pytest.mark.parametrize("size", [archives.LARGEST + 10_000, (1 << 32) - 2])
def test_archives_that_claim_too_much(size):
    for use in (irax_runtime.load, irax.export.deserialize):
        with pytest.raises(
            ValueError, match=rf"bytes claim to hold {size}; expected at most 1 GiB"
        ):
            use(claiming(size))
    with pytest.raises(ValueError, match=f"{size} bytes of text, which are not unpacked"):
        containers.module_in(claiming(size, exported.MODULE))


@pytest.mark.usefixtures("_nothing_is_unpacked")
@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_ways_to_compress_that_take_memory_unasked(method):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive, archive.open("x", "w") as file:
        file.write(b"x")
    with pytest.raises(ValueError, match="'x' is compressed in a way that irax does not read"):
        archives.read(data.getvalue(), "file")


def test_a_file_holds_no_more_than_is_claimed():
    """zipfile keeps to it, so that a false claim is damage."""
    with pytest.raises(ValueError, match=r"file: not a compiled program, or damaged: Bad CRC-32"):
        archives.read(claiming(10), "file")


def test_what_would_be_refused_is_written_so_that_it_is_not(monkeypatch):
    text = {exported.MODULE: b"x" * 10_000}
    assert len(exported.write(text)) < 1000
    monkeypatch.setattr(archives, "LARGEST", 5000)
    assert archives.read(exported.write(text), "file") == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (b"{", "JSONDecodeError"),
        (b"[]", "TypeError"),
        (b"\xff", "UnicodeDecodeError"),
        (b"[" * 100_000, "RecursionError"),
        (b"{}", "KeyError: 'irax'"),
        ({"name": 3}, "AttributeError"),
        ({"name": "st\x1b[2Jep"}, "a name has control characters"),
        ({"programs": None}, "TypeError"),
        ({"programs": {"iree-cpu": {"file": "none.vmfb"}}}, "no program 'none.vmfb'"),
        ({"arguments": 3}, "TypeError"),
        ({"arguments": {"tree": {"tuple": [0, 1, 2]}, "leaves": []}}, "leaves are not those"),
        ({"results": {"tree": -1, "leaves": []}}, "leaves are not those of its tree"),
        ({"results": {"tree": {"abacus": 1}, "leaves": []}}, "a tree of an unknown kind"),
        ({"results": {"tree": 0, "leaves": [{"name": "x", "type": "f3[]"}]}}, "element type f3"),
    ],
)
def test_a_damaged_manifest(contents, change, message):
    if isinstance(change, dict):
        change = json.dumps(json.loads(contents[exported.MANIFEST]) | change).encode()
    data = exported.write(contents | {exported.MANIFEST: change})
    for use in (irax_runtime.load, irax.export.deserialize):
        with pytest.raises(ValueError, match=f"manifest.json is damaged: .*{message}") as raised:
            use(data)
        assert str(raised.value).isprintable()


def test_a_module_without_the_function(contents):
    other = contents | {exported.MODULE: b"module {}"}
    with pytest.raises(ValueError, match="its module has no function 'step'"):
        irax.export.deserialize(exported.write(other))


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("damage") / "f.irax"
    irax.export.export(irax.jit(lambda x: {"y": jnp.sin(x)}))(np.ones(3, "f")).save(path)
    return path.read_bytes()


def damages(file: bytes, seed: int) -> Iterator[bytes]:
    """Yield the file with bits turned, cut, and with one of its texts changed."""
    chosen, contents = random.Random(seed), archives.read(file, "file")
    turned = bytearray(file)
    for _ in range(chosen.choice([1, 2, 8])):
        turned[chosen.randrange(len(file))] ^= 1 << chosen.randrange(8)
    yield bytes(turned)
    yield file[: chosen.randrange(len(file))]
    for name in (exported.MANIFEST, exported.MODULE):
        text = bytearray(contents[name])
        text[chosen.randrange(len(text))] = chosen.randrange(256)
        yield exported.write(contents | {name: bytes(text)})
    manifest = json.loads(contents[exported.MANIFEST])
    inner = chosen.choice([manifest, manifest["arguments"], manifest["results"]["leaves"][0]])
    inner[chosen.choice(list(inner))] = chosen.choice([None, 1, -1, 10**30, "x", [], {}, True])
    yield exported.write(contents | {exported.MANIFEST: json.dumps(manifest).encode()})


@pytest.mark.parametrize("seed", range(int(os.environ.get("IRAX_DAMAGE", "4"))))
def test_any_damage_is_one_error_or_none(file, seed):
    x, expected = np.ones(3, "f"), np.sin(np.ones(3, "f"))
    for data in damages(file, seed):
        for run in (irax_runtime.load, lambda data: irax.export.deserialize(data).call):
            try:
                (found,) = irax.tree.leaves(run(data)(x))
            except (ValueError, UnsupportedOp):
                continue
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_printable():
    assert printable("plain\n\ttext é √") == "plain\n\ttext é √"
    assert printable("\x1b]0;t\x07 \r \u202e \x9b \x7f") == r"\x1b]0;t\x07 \r \u202e \x9b \x7f"
