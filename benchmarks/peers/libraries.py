"""The libraries that race: how each takes a program's arguments, and what a call of it is."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.program import Race

Call = Callable[[], Any]
LIBRARIES = ("irax", "JAX", "PyTorch", "torch.compile", "Numba", "OpenVINO")


def set_threads(threads: int) -> None:
    """Have all libraries in this process use so many threads; before any is imported."""
    chosen = sorted(os.sched_getaffinity(0))[:threads]
    os.sched_setaffinity(0, chosen)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "IRAX_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["IRAX_CACHE_DIR"] = tempfile.mkdtemp()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()


def races(library: str, race: Race) -> bool:
    """True if a library has a form of a program."""
    torch = bool(race.torch or race.module or race.trainer)
    has = {"PyTorch": torch, "torch.compile": torch, "Numba": bool(race.numba)}
    return {**has, "OpenVINO": race.openvino}.get(library, True)


def imported(library: str) -> None:
    """Import a library, which takes seconds, so that no first call includes it."""
    modules = {
        "irax": ("irax", "irax.numpy", "irax.scipy.stats"),
        "JAX": ("jax", "jax.numpy", "jax.scipy.stats"),
        "Numba": ("numba",),
        "OpenVINO": ("torch", "openvino"),
    }
    for name in modules.get(library, ("torch",)):
        importlib.import_module(name)


def prepare(library: str, race: Race, threads: int) -> Call:
    """A function that runs a program on its arguments and waits for the result."""
    arguments = race.draw()
    if library in ("irax", "JAX"):
        return _traced(importlib.import_module(library.lower()), race, arguments)
    if library == "Numba":
        assert race.numba is not None
        function = race.numba(importlib.import_module("numba"))
        return lambda: function(*arguments)
    if library == "OpenVINO":
        return _converted(race, arguments, threads)
    return _of_torch(race, arguments, library == "torch.compile")


def _traced(lib: Any, race: Race, drawn: tuple[Any, ...]) -> Call:
    jnp = importlib.import_module(f"{lib.__name__}.numpy")
    function = lib.jit(race.jax(lib, jnp), donate_argnums=tuple(range(race.carried)))
    arguments = list(lib.device_put(drawn))

    def call() -> Any:
        result = lib.block_until_ready(function(*arguments))
        if race.carried:
            arguments[: race.carried] = result[: race.carried]
        return result

    return call


def _tensors(torch: Any, tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _tensors(torch, value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_tensors(torch, value) for value in tree]
    if tree.dtype.name == "bfloat16":
        return torch.from_numpy(tree.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(np.array(tree))


def _of_torch(race: Race, drawn: tuple[Any, ...], compiled: bool) -> Call:
    torch = importlib.import_module("torch")
    compiling = torch.compile if compiled else (lambda function: function)
    tensors = [_tensors(torch, argument) for argument in drawn]
    if race.trainer is not None:
        return race.trainer(torch, compiling, *tensors)
    function, inputs = _inference(torch, race, tensors)
    function = compiling(function)

    def call() -> Any:
        with torch.inference_mode():
            return function(*inputs)

    return call


def _inference(torch: Any, race: Race, tensors: list[Any]) -> tuple[Any, list[Any]]:
    if race.module is not None:
        return race.module(torch, tensors[0]), tensors[1:]
    assert race.torch is not None
    return race.torch(torch), tensors


def _converted(race: Race, drawn: tuple[Any, ...], threads: int) -> Call:
    torch, openvino = importlib.import_module("torch"), importlib.import_module("openvino")
    tensors = [_tensors(torch, argument) for argument in drawn]
    function, inputs = _inference(torch, race, tensors)
    if not isinstance(function, torch.nn.Module):
        plain = function

        class Module(torch.nn.Module):
            def forward(self, *inputs: Any) -> Any:
                return plain(*inputs)

        function = Module()
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": str(threads)}
    with torch.inference_mode():
        model = openvino.convert_model(function, example_input=tuple(inputs))
    for port, value in zip(model.inputs, inputs, strict=True):
        port.get_node().set_partial_shape(openvino.PartialShape(list(value.shape)))
    model.validate_nodes_and_infer_types()
    request = openvino.compile_model(model, "CPU", options).create_infer_request()
    arrays = [value.numpy() for value in inputs]
    return lambda: [*request.infer(arrays, share_inputs=True, share_outputs=True).values()]


def leaves(tree: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of a result, in wide dtypes; those of dictionaries by their keys."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in leaves(value)]
    if hasattr(tree, "detach"):  # a tensor; NumPy has no bfloat16 of PyTorch's
        tree = tree.detach().float() if "bfloat16" in str(tree.dtype) else tree.detach()
    array = np.array(tree)
    return [array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)]


def sizes(tree: Any) -> int:
    """The bytes of all arrays."""
    if isinstance(tree, dict):
        return sum(map(sizes, tree.values()))
    return sum(map(sizes, tree)) if isinstance(tree, (list, tuple)) else tree.nbytes
