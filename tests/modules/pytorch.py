"""Write modules of PyTorch's functions: `python -m tests.modules.pytorch WAY FOLDER`, where WAY is
torch_mlir, torchax or torch_xla. For each there are NAME.mlir, and NAME.npz with arguments and what
PyTorch computes. It runs where PyTorch and the way's package are installed.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(0)


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.heads(x, x, x)[0]


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(5, 7)

    def forward(self, x: Any) -> Any:
        state = torch.zeros(2, 7), torch.zeros(2, 7)
        for step in x:
            state = self.cell(step, state)
        return state[0]


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4))

    def forward(self, x: Any) -> Any:
        return functional.relu(x + self.block(x))


def draw(*shape: int) -> Any:
    return torch.randn(*shape)


def places(most: int, *shape: int) -> Any:
    return torch.randint(0, most, shape)


Case = tuple[nn.Module | Callable[..., Any], tuple[Any, ...]]

LAYERS: dict[str, Case] = {
    "mlp": (nn.Sequential(nn.Linear(12, 33), nn.GELU(), nn.Linear(33, 3)), (draw(5, 12),)),
    "conv": (
        nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten()),
        (draw(2, 3, 8, 8),),
    ),
    "residual": (Residual(), (draw(2, 4, 6, 6),)),
    "batch_norm": (nn.BatchNorm1d(6), (draw(9, 6),)),
    "layer_norm": (nn.LayerNorm(16), (draw(3, 16),)),
    "group_norm": (nn.GroupNorm(2, 8), (draw(3, 8, 5),)),
    "embedding": (
        nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 50), nn.LogSoftmax(-1)),
        (places(50, 3, 4),),
    ),
    "attention": (Attention(), (draw(2, 6, 16),)),
    "transformer": (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), (draw(2, 6, 16),)),
    "lstm": (Recurrent(), (draw(3, 2, 5),)),
    "gru": (nn.GRU(5, 7, batch_first=True), (draw(2, 3, 5),)),
    "max_pool": (nn.MaxPool2d(2), (draw(1, 2, 6, 6),)),
    "average_pool": (nn.AvgPool2d(3, stride=2), (draw(1, 2, 9, 9),)),
    "adaptive_pool": (nn.AdaptiveAvgPool2d(1), (draw(2, 3, 5, 5),)),
    "conv_dilated": (nn.Conv1d(3, 4, 3, dilation=2), (draw(2, 3, 11),)),
    "conv_transpose": (nn.ConvTranspose2d(3, 2, 3, stride=2), (draw(1, 3, 4, 4),)),
    "conv_grouped": (nn.Conv2d(4, 8, 3, groups=4), (draw(1, 4, 6, 6),)),
    "conv3d": (nn.Conv3d(2, 3, 2), (draw(1, 2, 4, 4, 4),)),
    "prelu": (nn.PReLU(), (draw(4, 5),)),
    "activations": (
        nn.Sequential(nn.ELU(), nn.Mish(), nn.Softplus(), nn.LeakyReLU(0.1), nn.Hardswish()),
        (draw(4, 5),),
    ),
    "glu": (nn.GLU(), (draw(4, 6),)),
    "bfloat16": (nn.Linear(12, 3).bfloat16(), (draw(5, 12).bfloat16(),)),
    "float64": (nn.Linear(12, 30).double(), (draw(5, 12).double(),)),
}

FUNCTIONS: dict[str, Case] = {
    "softmax": (lambda x: torch.softmax(x, -1), (draw(3, 5),)),
    "cumsum": (lambda x: torch.cumsum(x, 1), (draw(3, 5),)),
    "sort": (lambda x: torch.sort(x, dim=1)[0], (draw(3, 5),)),
    "topk": (lambda x: torch.topk(x, 2)[0], (draw(3, 5),)),
    "argmax": (lambda x: torch.argmax(x, 1), (draw(3, 5),)),
    "gather": (lambda x, i: torch.gather(x, 1, i), (draw(3, 5), places(5, 3, 2))),
    "rows": (lambda x, i: x[i], (draw(6, 5), places(6, 4))),
    "scatter_add": (
        lambda x, i, s: x.scatter_add(0, i, s),
        (draw(5, 3), places(5, 4, 3), draw(4, 3)),
    ),
    "index_put": (
        lambda x, i, s: x.index_put((i,), s, accumulate=True),
        (draw(5, 3), places(5, 4), draw(4, 3)),
    ),
    "where": (lambda x: torch.where(x > 0, x, x.exp()), (draw(3, 5),)),
    "special": (lambda x: torch.erf(x) + torch.expm1(x) + torch.log1p(x.abs()), (draw(3, 5),)),
    "deviation": (lambda x: torch.std(x, 1), (draw(3, 5),)),
    "logsumexp": (lambda x: torch.logsumexp(x, 1), (draw(3, 5),)),
    "einsum": (
        lambda a, b: torch.einsum("bij,bjk->bik", a, b),
        (draw(2, 3, 4), draw(2, 4, 5)),
    ),
    "norm": (lambda a: torch.linalg.norm(a, dim=1), (draw(3, 4),)),
    "pad": (lambda a: functional.pad(a, (1, 2, 0, 1)), (draw(3, 4),)),
    "reflect": (lambda a: functional.pad(a, (1, 2), mode="reflect"), (draw(1, 3, 4),)),
    "bilinear": (
        lambda a: functional.interpolate(a, scale_factor=2, mode="bilinear"),
        (draw(1, 2, 4, 4),),
    ),
    "causal_attention": (
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        (draw(1, 2, 5, 4), draw(1, 2, 5, 4), draw(1, 2, 5, 4)),
    ),
    "cross_entropy": (functional.cross_entropy, (draw(4, 5), places(5, 4))),
    "huber": (functional.huber_loss, (draw(4, 5), draw(4, 5))),
    "roll": (lambda x: torch.roll(x, 1, 0).flip([1]), (draw(4, 5),)),
    "stack": (
        lambda x, y: torch.cat([x, y, torch.stack([x[0], y[0]])]),
        (draw(4, 5), draw(4, 5)),
    ),
    "triangle": (lambda x: torch.tril(x) - torch.triu(x, 1), (draw(5, 5),)),
    "atan2": (torch.atan2, (draw(4, 5), draw(4, 5))),
    "integers": (
        lambda x: (x * 2 + 1) // 3,
        (torch.randint(-20, 20, (4, 5), dtype=torch.int32),),
    ),
    "rounded": (lambda x: torch.clamp(x, -1, 1).round() + torch.floor(x), (3 * draw(4, 5),)),
    "largest": (lambda x: torch.amax(x, (0, 1)), (draw(4, 5, 3),)),
    "product": (lambda x: torch.prod(x, 1), (draw(4, 5),)),
    "variance": (lambda x: torch.var_mean(x, 1)[0], (draw(4, 5),)),
    "mask": (lambda x: x * (x > 0), (draw(4, 5),)),
    "not_a_number": (lambda x: torch.nan_to_num(torch.log(x)), (draw(4, 5),)),
    "distances": (torch.cdist, (draw(4, 5), draw(3, 5))),
    "windows": (lambda x: x.unfold(1, 3, 2), (draw(4, 9),)),
    "spectrum": (lambda x: torch.fft.rfft(x).abs(), (draw(4, 8),)),
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.T + 5 * torch.eye(4)), (draw(4, 4),)),
    "determinant": (torch.linalg.det, (draw(4, 4),)),
    "solve": (torch.linalg.solve, (draw(4, 4), draw(4, 2))),
}

CASES = LAYERS | FUNCTIONS


Arrays = list[np.ndarray[Any, Any]]
Written = tuple[str, Arrays]
"""A module's text, and its arguments."""


def by_torch_mlir(module: nn.Module, arguments: tuple[Any, ...]) -> Written:
    """Weights are constants of the module."""
    from torch_mlir import fx

    made = fx.export_and_import(module, *arguments, output_type="stablehlo", func_name="main")
    return str(made), [plain(x) for x in arguments]


def by_torch_xla(module: nn.Module, arguments: tuple[Any, ...]) -> Written:
    """Weights are arguments of the module, in an order that the exported graph tells."""
    from torch_xla.stablehlo import VariableType, exported_program_to_stablehlo

    graph = exported_program_to_stablehlo(torch.export.export(module, arguments))
    bundle: Any = graph._bundle

    def argument(place: Any) -> np.ndarray[Any, Any]:
        if place.type_ == VariableType.INPUT_ARG:
            return plain(arguments[place.position])
        if place.type_ == VariableType.CONSTANT:
            return np.asarray(bundle.additional_constants[place.position])
        return np.asarray(bundle.state_dict[place.name])

    own, wanted = (f(*arguments) for f in (graph, module))
    if not isinstance(wanted, tuple) and own.shape != wanted.shape:
        raise ValueError(f"torch_xla itself returns {own.shape} for {wanted.shape}")
    places = bundle.stablehlo_funcs[0].meta.input_locations
    return graph.get_stablehlo_text(), [argument(place) for place in places]


def by_torchax(module: nn.Module, arguments: tuple[Any, ...]) -> Written:
    """The graph is a function of JAX, whose weights are constants here."""
    import jax
    import torchax.export

    jax.config.update("jax_enable_x64", True)
    exported = torch.export.export(module, arguments)
    weights, function = torchax.export.exported_program_to_jax(exported)
    lowered = jax.jit(lambda *xs: function(weights, xs)).lower(*_as_arrays(arguments))
    return lowered.as_text(), [plain(x) for x in arguments]


def _as_arrays(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    import jax.numpy as jnp

    return tuple(
        jnp.asarray(x.float().numpy(), "bfloat16") if x.dtype == torch.bfloat16 else x.numpy()
        for x in arguments
    )


WAYS = {
    "torch_mlir": (by_torch_mlir, "torch-mlir"),
    "torchax": (by_torchax, "torchax"),
    "torch_xla": (by_torch_xla, "torch_xla"),
}


def plain(x: Any) -> np.ndarray[Any, Any]:
    """Return a tensor as an array of NumPy, which has no bfloat16."""
    found: np.ndarray[Any, Any] = (x.float() if x.dtype == torch.bfloat16 else x).numpy()
    return found


def write(folder: Path, name: str, way: Callable[[nn.Module, tuple[Any, ...]], Written]) -> None:
    function, arguments = CASES[name]
    module = function if isinstance(function, nn.Module) else Function(function)
    module = module.eval()
    with torch.no_grad():
        wanted = module(*arguments)
        text, given = way(module, arguments)
    (folder / f"{name}.mlir").write_text(text)
    first = wanted[0] if isinstance(wanted, tuple) else wanted
    named = {f"argument{i}": x for i, x in enumerate(given)}
    np.savez(folder / f"{name}.npz", result=plain(first), **named)


def main(way: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    export, package = WAYS[way]
    for name in CASES:
        try:
            write(folder, name, export)
        except Exception as error:  # what the exporter itself refuses
            print(
                f"{way} does not export {name}: {type(error).__name__}: {error!s:.100}", flush=True
            )
    versions = f"PyTorch {torch.__version__}, {package} {importlib.metadata.version(package)}"
    (folder / "versions.txt").write_text(versions)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
