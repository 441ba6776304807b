"""Profiles: the spans that they have, and the memory that they tell of."""

import gzip
import json

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
