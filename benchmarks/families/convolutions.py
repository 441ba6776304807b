"""Convolutions of ResNet-18 and MobileNet, forward and in their gradients, and pooling."""

from __future__ import annotations

from typing import Any

from benchmarks.program import Program, f32, program, weights


def _convolution(layout: str, strides: int, groups: int) -> Any:
    numbers = ("NHWC", "HWIO", "NHWC") if layout == "NHWC" else ("NCHW", "OIHW", "NCHW")

    def make(lib: Any, jnp: Any) -> Any:
        return lambda x, kernel: lib.lax.conv_general_dilated(
            *(x, kernel, (strides, strides), "SAME"),
            dimension_numbers=numbers,
            feature_group_count=groups,
        )

    return make


def _conv(
    name: str, batch: int, image: int, inputs: int, outputs: int, kernel: int = 3, strides: int = 1,
    depthwise: bool = False, layout: str = "NHWC", of: str = "",
) -> Program:  # fmt: skip
    """`of` names what a gradient is taken in: inputs or kernels; without it there is none."""
    make = _convolution(layout, strides, inputs if depthwise else 1)
    images = (batch, image, image, inputs)
    filters = (kernel, kernel, 1 if depthwise else inputs, outputs)
    if layout == "NCHW":
        images = (batch, inputs, image, image)
        filters = (outputs, inputs, kernel, kernel)

    def gradient(lib: Any, jnp: Any) -> Any:
        function = make(lib, jnp)
        wrt = ("inputs", "kernels").index(of)
        return lib.grad(lambda x, kernel: jnp.sum(jnp.sin(function(x, kernel))), wrt)

    scale = (kernel * kernel * filters[2]) ** -0.5 if layout == "NHWC" else inputs**-0.5 / kernel
    return program(name, gradient if of else make, f32(*images), f32(*filters, scale=scale))


def _pool(lib: Any, jnp: Any) -> Any:
    return lambda x: lib.lax.reduce_window(
        x, -jnp.inf, lib.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"
    )


def _average(lib: Any, jnp: Any) -> Any:
    return lambda x: lib.lax.reduce_window(x, 0.0, lib.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


PROGRAMS = [
    _conv("first 7x7 224, 3 to 64", 1, 224, 3, 64, 7, 2),
    _conv("3x3 56, 64", 8, 56, 64, 64),
    _conv("3x3 56, 64 NCHW", 8, 56, 64, 64, layout="NCHW"),
    _conv("3x3 28, 128", 8, 28, 128, 128),
    _conv("3x3 28, 128 NCHW", 8, 28, 128, 128, layout="NCHW"),
    _conv("3x3 14, 256", 8, 14, 256, 256),
    _conv("3x3 7, 512", 8, 7, 512, 512),
    _conv("3x3 56, 64 to 128 strided", 8, 56, 64, 128, 3, 2),
    _conv("1x1 56, 64 to 128 strided", 8, 56, 64, 128, 1, 2),
    _conv("1x1 14, 256 to 512", 8, 14, 256, 512, 1),
    _conv("depthwise 56, 128", 8, 56, 128, 128, depthwise=True),
    _conv("depthwise 56, 128 strided", 8, 56, 128, 128, 3, 2, depthwise=True),
    _conv("depthwise 14, 512", 8, 14, 512, 512, depthwise=True),
    _conv("MNIST 28, 1 to 16 strided", 64, 28, 1, 16, 3, 2),
    _conv("MNIST 14, 16 to 32 strided", 64, 14, 16, 32, 3, 2),
    _conv("gradient in inputs 28, 128", 8, 28, 128, 128, of="inputs"),
    _conv("gradient in kernels 28, 128", 8, 28, 128, 128, of="kernels"),
    _conv("gradient in inputs 7, 512", 8, 7, 512, 512, of="inputs"),
    _conv("gradient in kernels 7, 512", 8, 7, 512, 512, of="kernels"),
    _conv("gradient in kernels 28, 128 strided", 8, 28, 128, 128, 3, 2, of="kernels"),
    _conv("gradient in kernels, depthwise 28, 128", 4, 28, 128, 128, depthwise=True, of="kernels"),
    program("max pool 3x3 8x112x112x64", _pool, f32(8, 112, 112, 64)),
    program("average pool 2x2 8x56x56x64", _average, f32(8, 56, 56, 64)),
    program(
        "1D 5, 64x256x32 to 64",
        lambda lib, jnp: (
            lambda x, kernel: lib.lax.conv_general_dilated(
                x, kernel, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")
            )
        ),
        *(f32(64, 256, 32), weights(5, 32, 64)),
    ),
]
