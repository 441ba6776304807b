"""Networks of images: convolutions, pooling, MobileNet, ResNet, U-Net, ViT.

Images have their channels last, which is the fast layout of PyTorch's, too.
"""

from __future__ import annotations

from typing import Any

from benchmarks.peers.program import Race, f32, of, weights
from benchmarks.peers.sequences import block_weights, encoder_block, encoder_module

CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")


def _convolved(lib: Any, x: Any, kernel: Any, stride: int = 1) -> Any:
    """A convolution with the padding of PyTorch's; one kernel a channel if these have one input."""
    pad = kernel.shape[0] // 2
    groups = x.shape[-1] // kernel.shape[2]
    return lib.lax.conv_general_dilated(
        *(x, kernel, (stride, stride), [(pad, pad)] * 2),
        dimension_numbers=CHANNELS_LAST,
        feature_group_count=groups,
    )


def _normalized(lib: Any, x: Any, layer: Any, stride: int = 1) -> Any:
    """A convolution and a batch norm whose statistics are in its scale and shift."""
    return _convolved(lib, x, layer["kernel"], stride) * layer["scale"] + layer["shift"]


def _layer(size: int, inputs: int, outputs: int, groups: int = 1) -> dict[str, Any]:
    return {
        "kernel": weights(size, size, inputs // groups, outputs),
        "scale": f32(outputs, scale=0.1),
        "shift": f32(outputs, scale=0.1),
    }


def _modules(torch: Any) -> Any:
    """The function that makes a module of a layer's weights: a convolution and a batch norm."""

    def make(layer: Any, stride: int = 1, relu: bool = True) -> Any:
        size, _, inputs, outputs = layer["kernel"].shape
        groups = outputs if inputs == 1 and outputs > 1 else 1
        convolution = torch.nn.Conv2d(
            inputs * groups, outputs, size, stride, size // 2, groups=groups, bias=False
        )
        convolution.weight.data = layer["kernel"].permute(3, 2, 0, 1).contiguous()
        norm = torch.nn.BatchNorm2d(outputs, eps=0.0)
        norm.weight.data, norm.bias.data = layer["scale"], layer["shift"]
        return torch.nn.Sequential(convolution, norm, *([torch.nn.ReLU()] if relu else []))

    return make


def _whole(torch: Any, forward: Any, modules: list[Any]) -> Any:
    """A module of a function of images whose channels are first."""

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList(modules)

        def forward(self, x: Any) -> Any:
            return forward(self.parts, x.permute(0, 3, 1, 2))

    return Network().eval().to(memory_format=torch.channels_last)


# MobileNet: depthwise and pointwise convolutions in turns.

STAGES = ((32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2))
STAGES += ((512, 512, 1),) * 5 + ((512, 1024, 2), (1024, 1024, 1))
MOBILE_NET = {
    "first": _layer(3, 3, 32),
    "stages": [[_layer(3, n, n, n), _layer(1, n, m)] for n, m, _ in STAGES],
    "dense": weights(1024, 1000),
}


def _mobile_net(lib: Any, jnp: Any) -> Any:
    def predict(params: Any, x: Any) -> Any:
        x = lib.nn.relu(_normalized(lib, x, params["first"], 2))
        for (depthwise, pointwise), (_, _, stride) in zip(params["stages"], STAGES, strict=True):
            x = lib.nn.relu(_normalized(lib, x, depthwise, stride))
            x = lib.nn.relu(_normalized(lib, x, pointwise))
        return jnp.mean(x, (1, 2)) @ params["dense"]

    return predict


def _mobile_net_module(torch: Any, params: Any) -> Any:
    make = _modules(torch)
    layers = [make(params["first"], 2)]
    for (depthwise, pointwise), (_, _, stride) in zip(params["stages"], STAGES, strict=True):
        layers += [make(depthwise, stride), make(pointwise)]

    def forward(parts: Any, x: Any) -> Any:
        for part in parts:
            x = part(x)
        return x.mean((2, 3)) @ params["dense"]

    return _whole(torch, forward, layers)


# ResNet18

WIDTHS = (64, 128, 256, 512)


def _residual(inputs: int, outputs: int) -> dict[str, Any]:
    both = {"first": _layer(3, inputs, outputs), "second": _layer(3, outputs, outputs)}
    return both if inputs == outputs else {**both, "short": _layer(1, inputs, outputs)}


RESNET = {
    "first": _layer(7, 3, 64),
    "blocks": [
        _residual(n, m)
        for width, before in zip(WIDTHS, (64, *WIDTHS), strict=False)
        for n, m in ((before, width), (width, width))
    ],
    "dense": weights(512, 1000),
}


def _largest(lib: Any, jnp: Any, x: Any) -> Any:
    return lib.lax.reduce_window(
        *(x, -jnp.inf, lib.lax.max, (1, 3, 3, 1), (1, 2, 2, 1)),
        ((0, 0), (1, 1), (1, 1), (0, 0)),
    )


def _resnet(lib: Any, jnp: Any) -> Any:
    def predict(params: Any, x: Any) -> Any:
        x = lib.nn.relu(_normalized(lib, x, params["first"], 2))
        x = _largest(lib, jnp, x)
        for block in params["blocks"]:
            stride = 2 if "short" in block else 1
            short = _normalized(lib, x, block["short"], 2) if "short" in block else x
            hidden = lib.nn.relu(_normalized(lib, x, block["first"], stride))
            x = lib.nn.relu(_normalized(lib, hidden, block["second"]) + short)
        return jnp.mean(x, (1, 2)) @ params["dense"]

    return predict


def _resnet_module(torch: Any, params: Any) -> Any:
    make = _modules(torch)
    layers = [make(params["first"], 2)]
    for block in params["blocks"]:
        stride = 2 if "short" in block else 1
        layers += [make(block["first"], stride), make(block["second"], relu=False)]
        layers += [make(block["short"], 2, relu=False)] if stride == 2 else [torch.nn.Identity()]

    def forward(parts: Any, x: Any) -> Any:
        x = torch.nn.functional.max_pool2d(parts[0](x), 3, 2, 1)
        for i in range(1, len(layers), 3):
            x = torch.relu(parts[i + 1](parts[i](x)) + parts[i + 2](x))
        return x.mean((2, 3)) @ params["dense"]

    return _whole(torch, forward, layers)


# U-Net of three levels

LEVELS = (16, 32, 64)
U_NET = {
    "down": [[_layer(3, n, m), _layer(3, m, m)] for n, m in zip((3, 16, 32), LEVELS, strict=True)],
    "up": [[_layer(3, 96, 32), _layer(3, 32, 32)], [_layer(3, 48, 16), _layer(3, 16, 16)]],
    "last": _layer(1, 16, 2),
}


def _u_net(lib: Any, jnp: Any) -> Any:
    def segment(params: Any, x: Any) -> Any:
        kept: list[Any] = []
        for i, layers in enumerate(params["down"]):
            if i:
                kept.append(x)
                window = ((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
                x = lib.lax.reduce_window(x, -jnp.inf, lib.lax.max, *window)
            for layer in layers:
                x = lib.nn.relu(_normalized(lib, x, layer))
        for layers in params["up"]:
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = jnp.concatenate([x, kept.pop()], -1)
            for layer in layers:
                x = lib.nn.relu(_normalized(lib, x, layer))
        return _normalized(lib, x, params["last"])

    return segment


def _u_net_module(torch: Any, params: Any) -> Any:
    make = _modules(torch)
    both = [*params["down"], *params["up"]]
    layers = [torch.nn.Sequential(make(first), make(second)) for first, second in both]
    layers.append(make(params["last"], relu=False))

    def forward(parts: Any, x: Any) -> Any:
        first = parts[0](x)
        second = parts[1](torch.nn.functional.max_pool2d(first, 2))
        x = parts[2](torch.nn.functional.max_pool2d(second, 2))
        x = parts[3](torch.cat([torch.nn.functional.interpolate(x, scale_factor=2), second], 1))
        x = parts[4](torch.cat([torch.nn.functional.interpolate(x, scale_factor=2), first], 1))
        return parts[5](x).permute(0, 2, 3, 1)

    return _whole(torch, forward, layers)


# ViT: four blocks of 192 on patches of 16

VIT = {
    "patches": weights(768, 192),
    "places": f32(196, 192, scale=0.1),
    "blocks": [block_weights(192)] * 4,
    "dense": weights(192, 1000),
}


def _vit(lib: Any, jnp: Any) -> Any:
    def predict(params: Any, x: Any) -> Any:
        patches = x.reshape(1, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(1, 196, 768)
        x = patches @ params["patches"] + params["places"]
        for block in params["blocks"]:
            x = encoder_block(lib, jnp, block, x, 3)
        return jnp.mean(x, 1) @ params["dense"]

    return predict


def _vit_module(torch: Any, params: Any) -> Any:
    class ViT(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList(
                encoder_module(torch, block, 3) for block in params["blocks"]
            )

        def forward(self, x: Any) -> Any:
            patches = x.reshape(1, 14, 16, 14, 16, 3).permute(0, 1, 3, 2, 4, 5)
            x = patches.reshape(1, 196, 768) @ params["patches"] + params["places"]
            for block in self.blocks:
                x = block(x)
            return x.mean(1) @ params["dense"]

    return ViT().eval()


def _convolution(torch: Any, params: Any) -> Any:
    outputs = params.shape[3]
    convolution = torch.nn.Conv2d(params.shape[2], outputs, 3, 1, 1, bias=False)
    convolution.weight.data = params.permute(3, 2, 0, 1).contiguous()
    return _whole(torch, lambda parts, x: parts[0](x).permute(0, 2, 3, 1), [convolution])


def _averaged(lib: Any, jnp: Any) -> Any:
    def pool(x: Any) -> Any:
        window = ((1, 3, 3, 1), (1, 2, 2, 1), "VALID")
        return lib.lax.reduce_window(x, 0.0, lib.lax.add, *window) / 9

    return pool


def _averaged_first(lib: Any, jnp: Any) -> Any:
    def pool(x: Any) -> Any:
        window = ((1, 1, 3, 3), (1, 1, 2, 2), "VALID")
        return lib.lax.reduce_window(x, 0.0, lib.lax.add, *window) / 9

    return pool


def _averaged_torch(torch: Any) -> Any:
    def pool(x: Any) -> Any:
        pooled = torch.nn.functional.avg_pool2d(x.permute(0, 3, 1, 2), 3, 2)
        return pooled.permute(0, 2, 3, 1)

    return pool


def _largest_torch(torch: Any) -> Any:
    def pool(x: Any) -> Any:
        pooled = torch.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1)
        return pooled.permute(0, 2, 3, 1)

    return pool


def _conv(dtype: str, **options: Any) -> Race:
    return Race(
        f"convolution 3x3, 8x28x28x128{'' if dtype == 'float32' else ' ' + dtype}",
        (of(dtype, 3, 3, 128, 128, scale=0.03), of(dtype, 8, 28, 28, 128)),
        lambda lib, jnp: lambda kernel, x: _convolved(lib, x, kernel).astype(jnp.float32),
        module=_convolution,
        flops=2.0 * 8 * 28 * 28 * 128 * 9 * 128,
        peak=dtype,
        **options,
    )


RACES = [
    _conv("float32", openvino=True),
    _conv("bfloat16", tolerance=2e-2),
    Race(
        "average pool 3x3, 8x56x56x64",
        (f32(8, 56, 56, 64),),
        _averaged,
        _averaged_torch,
        openvino=True,
    ),
    Race(
        "average pool 3x3, channels first, 8x64x56x56",
        (f32(8, 64, 56, 56),),
        _averaged_first,
        lambda torch: lambda x: torch.nn.functional.avg_pool2d(x, 3, 2),
        openvino=True,
    ),
    Race(
        "max pool 3x3, 8x56x56x64",
        (f32(8, 56, 56, 64),),
        lambda lib, jnp: lambda x: _largest(lib, jnp, x),
        _largest_torch,
        openvino=True,
    ),
    Race(
        "MobileNet, image of 128",
        (MOBILE_NET, f32(1, 128, 128, 3)),
        _mobile_net,
        module=_mobile_net_module,
        openvino=True,
        flops=2 * 186e6,
    ),
    Race(
        "ResNet18, image of 224",
        (RESNET, f32(1, 224, 224, 3)),
        _resnet,
        module=_resnet_module,
        openvino=True,
        flops=2 * 1.81e9,
    ),
    Race(
        "U-Net, image of 128",
        (U_NET, f32(1, 128, 128, 3)),
        _u_net,
        module=_u_net_module,
        openvino=True,
        flops=2.0 * 128**2 * (9 * (3 * 16 + 16 * 16) + 9 * (48 * 16 + 16 * 16) + 16 * 2)
        + 2.0 * 64**2 * 9 * (16 * 32 + 32 * 32 + 96 * 32 + 32 * 32)
        + 2.0 * 32**2 * 9 * (32 * 64 + 64 * 64),
    ),
    Race(
        "ViT of 4 blocks of 192, image of 224",
        (VIT, f32(1, 224, 224, 3)),
        _vit,
        module=_vit_module,
        openvino=True,
        flops=2.0 * 196 * (768 * 192 + 4 * 12 * 192**2) + 4 * 4.0 * 196**2 * 192,
    ),
]
