"""jax.example_libraries.stax: layers as pairs of functions.

init, apply = serial(Dense(64), Relu, Dense(10))
_, params = init(key, (-1, 28))
y = apply(params, x)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import irax.numpy as jnp
from irax import lax, nn, random
from irax.nn.initializers import glorot_normal, normal, ones, zeros

glorot, randn = glorot_normal, normal

Layer = tuple[Callable[..., Any], Callable[..., Any]]

# ---- layers with parameters ----------------------------------------------------------------------


def Dense(out_dim: int, W_init: Any = None, b_init: Any = None) -> Layer:
    """Return a layer of matrix products."""
    W_init, b_init = W_init or glorot_normal(), b_init or normal()

    def init(rng: Any, input_shape: Any) -> Any:
        k1, k2 = random.split(rng)
        W = W_init(k1, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (W, b_init(k2, (out_dim,)))

    def apply(params: Any, inputs: Any, **_: Any) -> Any:
        W, b = params
        return jnp.dot(inputs, W) + b

    return init, apply


def _convolution(convolve: Callable[..., Any], shape_of: Callable[..., Any]) -> Any:
    """Return a maker of layers that convolve, of which `shape_of` gives the shapes of results."""

    def make(
        dimension_numbers: tuple[str, str, str],
        out_chan: int,
        filter_shape: Sequence[int],
        strides: Sequence[int] | None = None,
        padding: Any = "VALID",
        W_init: Any = None,
        b_init: Any = None,
    ) -> Layer:
        """Return a layer of convolutions."""
        lhs_spec, rhs_spec, out_spec = dimension_numbers
        strides = tuple(strides or [1] * len(filter_shape))
        W_init = W_init or glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))
        b_init = b_init or normal(1e-6)

        def init(rng: Any, input_shape: Any) -> Any:
            sizes = iter(filter_shape)
            channels = {"I": input_shape[lhs_spec.index("C")], "O": out_chan}
            kernel = [channels[c] if c in channels else next(sizes) for c in rhs_spec]
            output = shape_of(input_shape, kernel, strides, padding, dimension_numbers)
            bias = [out_chan if c == "C" else 1 for c in out_spec]
            k1, k2 = random.split(rng)
            return output, (W_init(k1, kernel), b_init(k2, bias))

        def apply(params: Any, inputs: Any, **_: Any) -> Any:
            W, b = params
            found = convolve(inputs, W, strides, padding, dimension_numbers=dimension_numbers)
            return found + b

        return init, apply

    return make


GeneralConv: Callable[..., Layer] = _convolution(
    lax.conv_general_dilated, lax.conv_general_shape_tuple
)
GeneralConvTranspose: Callable[..., Layer] = _convolution(
    lax.conv_transpose, lax.conv_transpose_shape_tuple
)
Conv: Callable[..., Layer] = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
ConvTranspose: Callable[..., Layer] = functools.partial(
    GeneralConvTranspose, ("NHWC", "HWIO", "NHWC")
)
Conv1DTranspose: Callable[..., Layer] = functools.partial(
    GeneralConvTranspose, ("NHC", "HIO", "NHC")
)


def BatchNorm(
    axis: Sequence[int] = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """Return a layer that normalizes over a batch."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init(rng: Any, input_shape: Any) -> Any:
        shape = tuple(n for d, n in enumerate(input_shape) if d not in axes)
        k1, k2 = random.split(rng)
        beta = beta_init(k1, shape) if center else ()
        return input_shape, (beta, gamma_init(k2, shape) if scale else ())

    def apply(params: Any, x: Any, **_: Any) -> Any:
        beta, gamma = params
        spread = tuple(None if d in axes else slice(None) for d in range(jnp.ndim(x)))
        z = nn.standardize(x, axes, epsilon=epsilon)
        z = gamma[spread] * z if scale else z
        return z + beta[spread] if center else z

    return init, apply


# ---- layers without parameters -------------------------------------------------------------------


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """Return a layer that applies a function to each element."""
    return _unchanged, lambda params, inputs, **_: fun(inputs, **fun_kwargs)


def _unchanged(rng: Any, input_shape: Any) -> Any:
    return input_shape, ()


Tanh: Layer = elementwise(jnp.tanh)
Relu: Layer = elementwise(nn.relu)
Exp: Layer = elementwise(jnp.exp)
LogSoftmax: Layer = elementwise(nn.log_softmax, axis=-1)
Softmax: Layer = elementwise(nn.softmax, axis=-1)
Softplus: Layer = elementwise(nn.softplus)
Sigmoid: Layer = elementwise(nn.sigmoid)
Elu: Layer = elementwise(nn.elu)
LeakyRelu: Layer = elementwise(nn.leaky_relu)
Selu: Layer = elementwise(nn.selu)
Gelu: Layer = elementwise(nn.gelu)
Identity: Layer = (_unchanged, lambda params, inputs, **_: inputs)


def _pooling(reducer: Any, start: float, average: bool = False) -> Callable[..., Layer]:
    def make(
        window_shape: Sequence[int],
        strides: Sequence[int] | None = None,
        padding: str = "VALID",
        spec: str = "NHWC",
    ) -> Layer:
        """Return a layer that reduces windows."""
        steps, sizes = list(strides or [1] * len(window_shape)), list(window_shape)
        for place in sorted([spec.index("N"), spec.index("C")]):
            steps.insert(place, 1)
            sizes.insert(place, 1)

        def pooled(x: Any) -> Any:
            return lax.reduce_window(x, start, reducer, tuple(sizes), tuple(steps), padding)

        def init(rng: Any, input_shape: Any) -> Any:
            padding_values = lax.padtype_to_pads(input_shape, sizes, steps, padding)
            ones_ = (1,) * len(input_shape)
            shape = lax.reduce_window_shape_tuple(
                input_shape, sizes, steps, padding_values, ones_, ones_
            )
            return tuple(shape), ()

        def apply(params: Any, inputs: Any, **_: Any) -> Any:
            found = pooled(inputs)
            return found / pooled(jnp.ones_like(inputs)) if average else found

        return init, apply

    return make


MaxPool: Callable[..., Layer] = _pooling(lax.max, -jnp.inf)
SumPool: Callable[..., Layer] = _pooling(lax.add, 0.0)
AvgPool: Callable[..., Layer] = _pooling(lax.add, 0.0, average=True)


def _flattened(rng: Any, input_shape: Any) -> Any:
    return (input_shape[0], prod(input_shape[1:])), ()


Flatten: Layer = (
    _flattened,
    lambda params, inputs, **_: jnp.reshape(inputs, (inputs.shape[0], -1)),
)


def FanOut(num: int) -> Layer:
    """Return a layer that repeats its input."""
    return (
        lambda rng, input_shape: ([input_shape] * num, [()] * num),
        lambda params, inputs, **_: [inputs] * num,
    )


FanInSum: Layer = (
    lambda rng, input_shape: (input_shape[0], ()),
    lambda params, inputs, **_: sum(inputs),
)


def FanInConcat(axis: int = -1) -> Layer:
    """Return a layer that concatenates its inputs."""

    def init(rng: Any, input_shape: Any) -> Any:
        first, place = input_shape[0], axis % len(input_shape[0])
        total = sum(shape[place] for shape in input_shape)
        return (*first[:place], total, *first[place + 1 :]), ()

    return init, lambda params, inputs, **_: jnp.concatenate(inputs, axis)


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Return a layer that keeps elements with probability `rate` while it trains."""

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError("Dropout: apply needs a key, rng=")
        if mode != "train":
            return inputs
        keep = random.bernoulli(rng, rate, inputs.shape)
        return jnp.where(keep, inputs / rate, 0)

    return _unchanged, apply


# ---- layers of layers ----------------------------------------------------------------------------


def serial(*layers: Layer) -> Layer:
    """Return the layer that applies layers one after the other."""

    def init(rng: Any, input_shape: Any) -> Any:
        params = []
        for init_layer, _ in layers:
            rng, layer_rng = random.split(rng)
            input_shape, param = init_layer(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.pop("rng", None)
        rngs = [None] * len(layers) if rng is None else random.split(rng, len(layers))
        for (_, apply_layer), param, key in zip(layers, params, rngs, strict=True):
            inputs = apply_layer(param, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def parallel(*layers: Layer) -> Layer:
    """Return the layer that applies each of some layers to an input of its own."""

    def init(rng: Any, input_shape: Any) -> Any:
        rngs = random.split(rng, len(layers))
        found = [
            layer(key, shape)
            for (layer, _), key, shape in zip(layers, rngs, input_shape, strict=True)
        ]
        return [shape for shape, _ in found], [param for _, param in found]

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.pop("rng", None)
        rngs = [None] * len(layers) if rng is None else random.split(rng, len(layers))
        return [
            layer(p, x, rng=key, **kwargs)
            for (_, layer), p, x, key in zip(layers, params, inputs, rngs, strict=True)
        ]

    return init, apply


def shape_dependent(make_layer: Callable[..., Layer]) -> Layer:
    """Return a layer that is made when the shape of its input is known."""
    return (
        lambda rng, input_shape: make_layer(input_shape)[0](rng, input_shape),
        lambda params, inputs, **kwargs: make_layer(inputs.shape)[1](params, inputs, **kwargs),
    )
