"""Profiles: the spans that they have, and the memory that they tell of."""

import gzip
import json
import urllib.error
import urllib.request

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import profiler


def events(folder):
    (file,) = folder.glob("plugins/profile/*/*.trace.json.gz")
    found = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return [event for event in found if event["ph"] == "X"]


def inside(inner, outer):
    begin, end = inner["ts"], inner["ts"] + inner["dur"]
    return outer["ts"] <= begin and end <= outer["ts"] + outer["dur"]


def test_spans_of_a_new_function_and_of_its_calls(tmp_path, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")

    @irax.jit
    def step(x):
        return x * 2 + 1

    x = jnp.ones(3)
    with profiler.trace(tmp_path), profiler.StepTraceAnnotation("train", step_num=3):
        step(x)
        step(x)
        step(x)
    found = events(tmp_path)
    by_kind = {}
    for event in found:
        by_kind.setdefault(event["cat"], []).append(event)
    (train,) = by_kind["user"]
    assert train["name"] == "train"
    assert train["args"] == {"step_num": "3"}
    assert [e["name"] for e in by_kind["trace"]] == ["step"]
    assert [e["name"] for e in by_kind["execute"]] == ["step"] * 3
    assert [e["name"] for e in by_kind["compile"]] == ["step"]
    assert [e["name"] for e in by_kind["target"]] == ["iree-cpu"]
    assert len(by_kind["load"]) == 1
    assert "simplify" in {e["name"] for e in by_kind["pass"]}
    assert all(inside(event, train) for event in found)
    (lower,), (target,) = by_kind["lower"], by_kind["target"]
    assert all(inside(event, lower) or inside(event, target) for event in by_kind["pass"])


def test_calls_of_the_short_way_are_spans_too(tmp_path):
    step = irax.jit(lambda x: x + 1)
    step(1.0)
    step(1.0)
    with profiler.trace(tmp_path, create_perfetto_trace=True):
        assert step(1.0) == 2.0
    assert [e["cat"] for e in events(tmp_path)] == ["execute"]
    assert len(list(tmp_path.glob("plugins/profile/*/perfetto_trace.json.gz"))) == 1
    step(1.0)
    assert step._cache.recent


def test_annotations_outside_of_profiles_and_of_functions(tmp_path):
    annotated = profiler.annotate_function(lambda x: x + 1, "plus", kind="demo")
    assert annotated(1) == 2
    with profiler.trace(tmp_path):
        annotated(1)
        with pytest.raises(ZeroDivisionError), profiler.TraceAnnotation("failing"):
            1 / 0  # noqa: B018
    plus, failing = events(tmp_path)
    assert (plus["name"], plus["args"], failing["name"]) == ("plus", {"kind": "demo"}, "failing")


def test_one_profile_at_a_time(tmp_path):
    with pytest.raises(RuntimeError, match="no profile"):
        profiler.stop_trace()
    with pytest.raises(NotImplementedError, match="create_perfetto_link"):
        profiler.start_trace(tmp_path, create_perfetto_link=True)
    with profiler.trace(tmp_path), pytest.raises(RuntimeError, match="already"):
        profiler.start_trace(tmp_path)


def test_profiles_in_memory(tmp_path):
    options = profiler.ProfileOptions()
    options.session_id = "first"
    with profiler.trace(profiler_options=options) as session:
        assert session.is_running
        assert profiler.TraceAnnotation.is_enabled()
        with profiler.TraceAnnotation("mine", a=1) as span:
            irax.jit(jnp.cos)(1.0)
            span.set_metadata(b=2)
    assert not session.is_running
    assert not profiler.TraceAnnotation.is_enabled()
    plane = session.profile_data.find_plane_with_name("/host:CPU")
    assert session.profile_data.find_plane_with_name("/device:TPU:0") is None
    found = {e.name: e for line in plane.lines for e in line.events}
    mine = found["mine"]
    assert dict(mine.stats) == {"a": "1", "b": "2"}
    assert mine.start_ns <= found["cos"].start_ns <= found["cos"].end_ns <= mine.end_ns
    session.export_profile_data(tmp_path, session_id="second")
    (file,) = tmp_path.glob("plugins/profile/second/*.trace.json.gz")
    read = profiler.ProfileData.from_file(file)
    assert {e.name for p in read.planes for line in p.lines for e in line.events} == set(found)
    file.write_bytes(b"{}")
    with pytest.raises(ValueError, match=r"expected a file \*.trace.json.gz"):
        profiler.ProfileData.from_file(file)
    with pytest.raises(ValueError, match="no profile yet"):
        profiler.ProfileSession().export_profile_data(tmp_path)


@pytest.mark.parametrize(("level", "names"), [(0, []), (1, ["mine"]), (2, ["mine", "tanh"])])
def test_levels_of_profiles(tmp_path, level, names):
    f = irax.jit(jnp.tanh)
    f(1.0)
    options = profiler.ProfileOptions()
    options.host_tracer_level, options.session_id = level, "session"
    profiler.start_trace(tmp_path, profiler_options=options)
    with profiler.TraceAnnotation("mine"):
        f(1.0)
    profiler.stop_trace()
    assert sorted(e["name"] for e in events(tmp_path)) == names
    assert (tmp_path / "plugins/profile/session").is_dir()


def test_profiles_are_served():
    server = profiler.start_server(0)
    address = f"http://127.0.0.1:{server.port}"
    try:
        with pytest.raises(ValueError, match="a server already"):
            profiler.start_server(0)
        with urllib.request.urlopen(f"{address}/profile?duration_ms=20") as answer:
            content = json.loads(gzip.decompress(answer.read()))
        assert content["displayTimeUnit"] == "ms"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}/profile?duration_ms=-1")
        with profiler.trace(), pytest.raises(urllib.error.HTTPError, match="409"):
            urllib.request.urlopen(f"{address}/profile?duration_ms=1")
    finally:
        profiler.stop_server()
    with pytest.raises(ValueError, match="there is no server"):
        profiler.stop_server()


def fields(message):
    """The fields of a protocol buffer: pairs of a number and an int or bytes."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        value = varint()
        if key & 7:
            value, at = message[at : at + value], at + value
        found.append((key >> 3, value))
    return found


def test_memory_of_live_arrays(tmp_path):
    held = [jnp.asarray(np.zeros((7, 300), np.int16)) for _ in range(3)]
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    message = fields(gzip.decompress((tmp_path / "memory.prof").read_bytes()))
    strings = [value.decode() for number, value in message if number == 6]
    names = {}
    for number, value in message:
        if number == 5:
            function = dict(fields(value))
            names[function[1]] = strings[function[2]]
    samples = {}
    for number, value in message:
        if number == 2:
            sample = fields(value)
            samples[names[sample[0][1]]] = [v for n, v in sample if n == 2]
    assert strings[0] == ""
    assert samples["int16[7,300]"] == [3, 3 * 7 * 300 * 2]
    assert len(held) == 3
