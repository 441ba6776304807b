"""Products, factorizations and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.program import Drawn, Race, f32, of


def _product(name: str, *shapes: tuple[int, ...], **options: Any) -> Race:
    flops = 2.0 * np.prod(shapes[0]) * shapes[1][-1]
    return Race(
        name,
        tuple(f32(*shape) for shape in shapes),
        lambda lib, jnp: lambda x, y: x @ y,
        lambda torch: lambda x, y: x @ y,
        flops=float(flops),
        **options,
    )


def _bfloat16(lib: Any, jnp: Any) -> Any:
    return lambda x, y: (x @ y).astype(jnp.float32)


def _integers(lib: Any, jnp: Any) -> Any:
    return lambda x, y: lib.lax.dot_general(
        x, y, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32
    )


def _wide(torch: Any) -> Any:
    return lambda x, y: (x @ y).float()


def _layer(lib: Any, jnp: Any) -> Any:
    return lambda x, w, b: lib.nn.gelu(x @ w + b)


def _layer_torch(torch: Any) -> Any:
    return lambda x, w, b: torch.nn.functional.gelu(torch.addmm(b, x, w), approximate="tanh")


def _positive(size: int) -> Drawn:
    def draw(generator: np.random.Generator) -> Any:
        x = generator.normal(size=(size, size)) / size**0.5
        return (x @ x.T + np.eye(size)).astype(np.float32)

    return Drawn(draw)


def _regular(count: int, size: int) -> Drawn:
    return Drawn(
        lambda g: (g.normal(size=(count, size, size)) + 3 * np.eye(size)).astype(np.float32)
    )


def _complex(*shape: int) -> Any:
    return of("complex64", *shape)


RACES = [
    _product("product 1024x1024x1024", (1024, 1024), (1024, 1024), openvino=True),
    _product("product 8x1024x1024", (8, 1024), (1024, 1024), openvino=True),
    _product("product 32x512x512", (32, 512), (512, 512)),
    _product("product 1000x10x1000", (1000, 10), (10, 1000)),
    _product("products 256 x 32x32x32", (256, 32, 32), (256, 32, 32)),
    Race(
        "matrix 2000x2000 by vector",
        (f32(2000, 2000), f32(2000)),
        lambda lib, jnp: lambda x, y: x @ y,
        lambda torch: lambda x, y: x @ y,
    ),
    Race(
        "dense layer with gelu 512x768x3072",
        (f32(512, 768), f32(768, 3072, scale=768**-0.5), f32(3072)),
        _layer,
        _layer_torch,
        openvino=True,
        flops=2.0 * 512 * 768 * 3072,
    ),
    Race(
        "product 1024x1024x1024 bfloat16",
        (of("bfloat16", 1024, 1024), of("bfloat16", 1024, 1024)),
        _bfloat16,
        _wide,
        flops=2.0 * 1024**3,
        peak="bfloat16",
        tolerance=2e-2,
    ),
    Race(
        "product 1024x1024x1024 int8",
        (of("int8", 1024, 1024), of("int8", 1024, 1024)),
        _integers,
        lambda torch: lambda x, y: torch._int_mm(x, y),
        flops=2.0 * 1024**3,
        peak="int8",
    ),
    Race(
        "solve 4096 systems of 3",
        (_regular(4096, 3), f32(4096, 3, 1)),
        lambda lib, jnp: lambda a, b: jnp.linalg.solve(a, b),
        lambda torch: lambda a, b: torch.linalg.solve(a, b),
    ),
    Race(
        "solve 512, 16 right sides",
        (_positive(512), f32(512, 16)),
        lambda lib, jnp: lambda a, b: jnp.linalg.solve(a, b),
        lambda torch: lambda a, b: torch.linalg.solve(a, b),
        flops=2 / 3 * 512**3 + 2 * 512**2 * 16,
    ),
    Race(
        "Cholesky 512",
        (_positive(512),),
        lambda lib, jnp: lambda a: jnp.linalg.cholesky(a),
        lambda torch: lambda a: torch.linalg.cholesky(a),
        flops=512**3 / 3,
    ),
    Race(
        "eigenvalues of symmetric 256, with vectors",
        (_positive(256),),
        lambda lib, jnp: lambda a: jnp.linalg.eigh(a)[0],
        lambda torch: lambda a: torch.linalg.eigh(a)[0],
        flops=4 / 3 * 256**3,
    ),
    Race(
        "singular values of 128, with vectors",
        (f32(128, 128),),
        lambda lib, jnp: lambda a: jnp.linalg.svd(a)[1],
        lambda torch: lambda a: torch.linalg.svd(a)[1],
        flops=8 / 3 * 128**3,
    ),
    Race(
        "FFT 256x1024",
        (_complex(256, 1024),),
        lambda lib, jnp: lambda x: jnp.fft.fft(x),
        lambda torch: lambda x: torch.fft.fft(x),
        flops=5.0 * 256 * 1024 * 10,
    ),
    Race(
        "FFT 2-D 512x512",
        (_complex(512, 512),),
        lambda lib, jnp: lambda x: jnp.fft.fft2(x),
        lambda torch: lambda x: torch.fft.fft2(x),
        flops=5.0 * 512 * 512 * 18,
    ),
]
