"""Training steps, and optimizers of many tensors."""

from __future__ import annotations

from typing import Any

from benchmarks.peers.program import Race, f32, i32, weights
from benchmarks.peers.sequences import block_weights, encoder_block, encoder_module

RATE = 0.01


def _step(network: Any) -> Any:
    """A step of gradient descent on the cross-entropy of labels."""

    def make(lib: Any, jnp: Any) -> Any:
        def loss(params: Any, inputs: Any, labels: Any) -> Any:
            predicted = lib.nn.log_softmax(network(lib, jnp, params, inputs))
            return -jnp.mean(jnp.take_along_axis(predicted, labels[..., None], -1))

        def step(params: Any, inputs: Any, labels: Any) -> Any:
            value, grads = lib.value_and_grad(loss)(params, inputs, labels)
            return lib.tree_util.tree_map(lambda p, g: p - RATE * g, params, grads), value

        return step

    return make


def _trainer(make: Any) -> Any:
    """Such a step by PyTorch's SGD; the module that is compiled is that of the network."""

    def trainer(torch: Any, compiled: Any, params: Any, inputs: Any, labels: Any) -> Any:
        module = make(torch, params)
        network = compiled(module)
        optimizer = torch.optim.SGD(module.parameters(), RATE, foreach=True)
        labels = labels.long()

        def step() -> Any:
            optimizer.zero_grad()
            predicted = network(inputs).flatten(0, -2)
            loss = torch.nn.functional.cross_entropy(predicted, labels.flatten())
            loss.backward()
            optimizer.step()
            return params, loss.detach()  # the module's parameters are in the memory of these

        return step

    return trainer


def _mlp(lib: Any, jnp: Any, params: Any, x: Any) -> Any:
    for w, b in params[:-1]:
        x = lib.nn.relu(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def _mlp_module(torch: Any, params: Any) -> Any:
    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.all = torch.nn.ParameterList(torch.nn.Parameter(x) for p in params for x in p)

        def forward(self, x: Any) -> Any:
            for i in range(0, len(self.all) - 2, 2):
                x = torch.relu(torch.addmm(self.all[i + 1], x, self.all[i]))
            return torch.addmm(self.all[-1], x, self.all[-2])

    return Network()


def _cnn(lib: Any, jnp: Any, params: Any, x: Any) -> Any:
    numbers, pad = ("NHWC", "OIHW", "NHWC"), [(1, 1)] * 2
    for kernel in params[:-1]:
        x = lib.lax.conv_general_dilated(x, kernel, (2, 2), pad, dimension_numbers=numbers)
        x = lib.nn.relu(x)
    return x.reshape(x.shape[0], -1) @ params[-1]


def _cnn_module(torch: Any, params: Any) -> Any:
    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.all = torch.nn.ParameterList(torch.nn.Parameter(x) for x in params)

        def forward(self, x: Any) -> Any:
            x = x.permute(0, 3, 1, 2)
            for kernel in self.all[:-1]:
                x = torch.relu(torch.nn.functional.conv2d(x, kernel, stride=2, padding=1))
            return x.permute(0, 2, 3, 1).flatten(1) @ self.all[-1]

    return Network()


def _gpt(lib: Any, jnp: Any, params: Any, tokens: Any) -> Any:
    x = params["tokens"][tokens] + params["places"]
    for block in params["blocks"]:
        x = encoder_block(lib, jnp, block, x, 4, causal=True)
    return x @ params["last"]


def _gpt_module(torch: Any, params: Any) -> Any:
    parameter = torch.nn.Parameter

    class GPT(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = parameter(params["tokens"]), parameter(params["places"])
            self.blocks = torch.nn.ModuleList(
                encoder_module(torch, block, 4, causal=True) for block in params["blocks"]
            )
            self.last = parameter(params["last"])

        def forward(self, tokens: Any) -> Any:
            x = torch.nn.functional.embedding(tokens, self.tokens) + self.places
            for block in self.blocks:
                x = block(x)
            return x @ self.last

    return GPT()


GPT = {
    "blocks": [block_weights(128)] * 2,
    "last": weights(128, 512),
    "places": f32(128, 128, scale=0.1),
    "tokens": f32(512, 128, scale=0.1),
}


def _adam(lib: Any, jnp: Any) -> Any:
    def update(params: Any, means: Any, squares: Any, count: Any, grads: Any) -> Any:
        count = count + 1
        corrected, corrected2 = 1 - 0.9**count, 1 - 0.999**count

        def one(p: Any, m: Any, s: Any, g: Any) -> Any:
            m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
            step = 1e-3 * (m / corrected) / (jnp.sqrt(s / corrected2) + 1e-8)
            return p - step, m, s

        done = [one(*each) for each in zip(params, means, squares, grads, strict=True)]
        return *(list(x) for x in zip(*done, strict=True)), count

    return update


def _adam_trainer(
    torch: Any, compiled: Any, params: Any, means: Any, squares: Any, count: Any, grads: Any
) -> Any:
    for p, g in zip(params, grads, strict=True):
        p.grad = g
    optimizer = torch.optim.Adam(params, 1e-3, fused=True)
    for p, m, s in zip(params, means, squares, strict=True):
        state = {"step": torch.zeros(()), "exp_avg": m.detach(), "exp_avg_sq": s.detach()}
        optimizer.state[p] = state
    step = compiled(optimizer.step)

    def update() -> Any:
        step()
        return params, means, squares, optimizer.state[params[0]]["step"]

    return update


def _adam_race(name: str, *shapes: tuple[int, ...]) -> Race:
    tensors = [f32(*shape) for shape in shapes]
    squares = [f32(*shape, scale=0.0) for shape in shapes]
    return Race(
        name,
        (tensors, squares, squares, f32(scale=0.0), tensors),
        _adam,
        trainer=_adam_trainer,
        carried=4,
        bytes=7.0 * sum(4 * _size(shape) for shape in shapes),
    )


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


MLP = [[weights(n, m), f32(m, scale=0.1)] for n, m in ((784, 512), (512, 512), (512, 10))]
CNN = [f32(16, 1, 3, 3, scale=0.3), f32(32, 16, 3, 3, scale=0.08), weights(7 * 7 * 32, 10)]

RACES = [
    Race(
        "MLP 784-512-512-10, step",
        (MLP, f32(128, 784), i32(128, below=10)),
        _step(_mlp),
        trainer=_trainer(_mlp_module),
        carried=1,
        flops=3 * 2.0 * 128 * (784 * 512 + 512 * 512 + 512 * 10),
    ),
    Race(
        "CNN of 28x28, batch 64, step",
        (CNN, f32(64, 28, 28, 1), i32(64, below=10)),
        _step(_cnn),
        trainer=_trainer(_cnn_module),
        carried=1,
        flops=3 * 2.0 * 64 * (14 * 14 * 9 * 16 + 7 * 7 * 9 * 16 * 32 + 7 * 7 * 32 * 10),
    ),
    Race(
        "GPT of 2 blocks of 128, step",
        (GPT, i32(4, 128, below=512), i32(4, 128, below=512)),
        _step(_gpt),
        trainer=_trainer(_gpt_module),
        carried=1,
        flops=3 * (2.0 * 512 * (2 * 12 * 128**2 + 128 * 512) + 2 * 4.0 * 4 * 128 * 128 * 128 / 2),
        tolerance=5e-3,
    ),
    _adam_race("Adam of 150 tensors of 64x64", *[(64, 64)] * 150),
    _adam_race("Adam of 200 tensors, of 16 to 65536", *[(256, 256), (256,), (64, 64), (16,)] * 50),
]
