"""Networks of sequences: attention, recurrent networks, a Llama block with its cache."""

from __future__ import annotations

from typing import Any

from benchmarks.peers.program import Race, f32, weights


def block_weights(width: int) -> dict[str, Any]:
    """The weights of a block of a transformer's encoder."""
    return {
        "norms": [[f32(width), f32(width)]] * 2,
        "qkv": weights(width, 3 * width),
        "out": weights(width, width),
        "up": weights(width, 4 * width),
        "down": weights(4 * width, width),
    }


def _norm(lib: Any, jnp: Any, x: Any, scale: Any, shift: Any) -> Any:
    mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    return (x - mean) * lib.lax.rsqrt(variance + 1e-5) * scale + shift


def encoder_block(lib: Any, jnp: Any, p: Any, x: Any, heads: int, causal: bool = False) -> Any:
    """A block with its norms first."""
    batch, length, width = x.shape
    qkv = _norm(lib, jnp, x, *p["norms"][0]) @ p["qkv"]
    q, k, v = jnp.split(qkv.reshape(batch, length, 3 * heads, width // heads), 3, axis=2)
    mixed = lib.nn.dot_product_attention(q, k, v, is_causal=causal)
    x = x + mixed.reshape(batch, length, width) @ p["out"]
    return x + lib.nn.gelu(_norm(lib, jnp, x, *p["norms"][1]) @ p["up"]) @ p["down"]


def encoder_module(torch: Any, p: Any, heads: int, causal: bool = False) -> Any:
    """The module of such a block."""
    functional = torch.nn.functional
    parameter = torch.nn.Parameter

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norms = torch.nn.ParameterList(parameter(x) for pair in p["norms"] for x in pair)
            self.qkv, self.out = parameter(p["qkv"]), parameter(p["out"])
            self.up, self.down = parameter(p["up"]), parameter(p["down"])

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            qkv = functional.layer_norm(x, (width,), self.norms[0], self.norms[1]) @ self.qkv
            split = qkv.reshape(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(
                split[0], split[1], split[2], is_causal=causal
            )
            x = x + mixed.transpose(1, 2).reshape(batch, length, width) @ self.out
            hidden = functional.layer_norm(x, (width,), self.norms[2], self.norms[3]) @ self.up
            return x + functional.gelu(hidden, approximate="tanh") @ self.down

    return Block()


def _attention(lib: Any, jnp: Any) -> Any:
    def attend(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.mT * q.shape[-1] ** -0.5
        return lib.nn.softmax(scores, -1) @ v

    return attend


def _attention_torch(torch: Any) -> Any:
    return lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v)


def _lstm(lib: Any, jnp: Any) -> Any:
    def run(params: Any, xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            h, c = carry
            gates = x @ params["in"] + h @ params["hidden"] + params["bias"]
            i, f, g, o = jnp.split(gates, 4, axis=-1)
            c = lib.nn.sigmoid(f) * c + lib.nn.sigmoid(i) * jnp.tanh(g)
            h = lib.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((xs.shape[1], params["hidden"].shape[0]), xs.dtype)
        return lib.lax.scan(step, (zeros, zeros), xs)[1]

    return run


def _gru(lib: Any, jnp: Any) -> Any:
    def run(params: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            of_x = jnp.split(x @ params["in"] + params["bias"], 3, axis=-1)
            of_h = jnp.split(h @ params["hidden"], 3, axis=-1)
            r = lib.nn.sigmoid(of_x[0] + of_h[0])
            z = lib.nn.sigmoid(of_x[1] + of_h[1])
            h = (1 - z) * jnp.tanh(of_x[2] + r * of_h[2]) + z * h
            return h, h

        zeros = jnp.zeros((xs.shape[1], params["hidden"].shape[0]), xs.dtype)
        return lib.lax.scan(step, zeros, xs)[1]

    return run


def _recurrent(kind: str) -> Any:
    def make(torch: Any, params: Any) -> Any:
        inputs, hidden = params["in"].shape[0], params["hidden"].shape[0]

        class Network(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.cells = getattr(torch.nn, kind)(inputs, hidden)
                self.cells.weight_ih_l0.data = params["in"].T.contiguous()
                self.cells.weight_hh_l0.data = params["hidden"].T.contiguous()
                self.cells.bias_ih_l0.data = params["bias"]
                self.cells.bias_hh_l0.data = torch.zeros_like(params["bias"])

            def forward(self, xs: Any) -> Any:
                return self.cells(xs)[0]

        return Network().eval()

    return make


# A Llama block: root mean square norms, rotary places, SwiGLU, and 8 heads of 64 on 4 of keys.

WIDTH, HEADS, KEYS, SIZE = 512, 8, 4, 64
LLAMA = {
    "norms": [f32(WIDTH)] * 2,
    "q": weights(WIDTH, HEADS * SIZE),
    "k": weights(WIDTH, KEYS * SIZE),
    "v": weights(WIDTH, KEYS * SIZE),
    "out": weights(HEADS * SIZE, WIDTH),
    "gate": weights(WIDTH, 1408),
    "up": weights(WIDTH, 1408),
    "down": weights(1408, WIDTH),
}
LLAMA_WEIGHTS = WIDTH * (2 * HEADS * SIZE + 2 * KEYS * SIZE + 3 * 1408)


def _llama(lib: Any, jnp: Any, cached: bool) -> Any:
    def norm(x: Any, scale: Any) -> Any:
        return x * lib.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale

    def rotated(x: Any, places: Any) -> Any:
        angles = places[:, None] * 10_000.0 ** (-jnp.arange(0, SIZE, 2) / SIZE)
        cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
        a, b = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    def block(p: Any, x: Any, old_keys: Any, old_values: Any) -> Any:
        length, before = x.shape[0], old_keys.shape[0]
        places = jnp.arange(before, before + length, dtype=jnp.float32)
        normed = norm(x, p["norms"][0])
        q = rotated((normed @ p["q"]).reshape(length, HEADS, SIZE), places)
        k = rotated((normed @ p["k"]).reshape(length, KEYS, SIZE), places)
        v = (normed @ p["v"]).reshape(length, KEYS, SIZE)
        if cached:
            k, v = jnp.concatenate([old_keys, k]), jnp.concatenate([old_values, v])
        mixed = lib.nn.dot_product_attention(q, k, v, is_causal=not cached)
        x = x + mixed.reshape(length, HEADS * SIZE) @ p["out"]
        normed = norm(x, p["norms"][1])
        return x + (lib.nn.silu(normed @ p["gate"]) * (normed @ p["up"])) @ p["down"]

    return block


def _llama_module(torch: Any, p: Any, cached: bool) -> Any:
    functional = torch.nn.functional
    names = ("q", "k", "v", "out", "gate", "up", "down")

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name in names:
                layer = torch.nn.Linear(*p[name].shape, bias=False)
                layer.weight.data = p[name].T.contiguous()
                setattr(self, name, layer)
            self.first, self.second = map(torch.nn.Parameter, p["norms"])
            self.rates = 10_000.0 ** (-torch.arange(0, SIZE, 2) / SIZE)

        def rotated(self, x: Any, places: Any) -> Any:
            angles = places[:, None] * self.rates
            cos, sin = angles.cos()[:, None], angles.sin()[:, None]
            a, b = x.chunk(2, -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

        def forward(self, x: Any, old_keys: Any, old_values: Any) -> Any:
            length, before = x.shape[0], old_keys.shape[0]
            places = torch.arange(before, before + length, dtype=torch.float32)
            normed = functional.rms_norm(x, (WIDTH,), self.first, 1e-6)
            q = self.rotated(self.q(normed).reshape(length, HEADS, SIZE), places)
            k = self.rotated(self.k(normed).reshape(length, KEYS, SIZE), places)
            v = self.v(normed).reshape(length, KEYS, SIZE)
            if cached:
                k, v = torch.cat([old_keys, k]), torch.cat([old_values, v])
            mixed = functional.scaled_dot_product_attention(
                *(y.transpose(0, 1)[None] for y in (q, k, v)),
                is_causal=not cached,
                enable_gqa=True,
            )
            x = x + self.out(mixed[0].transpose(0, 1).reshape(length, HEADS * SIZE))
            normed = functional.rms_norm(x, (WIDTH,), self.second, 1e-6)
            return x + self.down(functional.silu(self.gate(normed)) * self.up(normed))

    return Block().eval()


def _llama_race(name: str, length: int, before: int, flops: float) -> Race:
    cache = f32(before, KEYS, SIZE)
    return Race(
        name,
        (LLAMA, f32(length, WIDTH), cache, cache),
        lambda lib, jnp: _llama(lib, jnp, cached=before > 1),
        module=lambda torch, p: _llama_module(torch, p, cached=before > 1),
        openvino=True,
        flops=2.0 * length * LLAMA_WEIGHTS + flops,
    )


def _gates(kind: int) -> dict[str, Any]:
    return {
        "in": weights(256, kind * 256),
        "hidden": weights(256, kind * 256),
        "bias": f32(kind * 256, scale=0.1),
    }


RACES = [
    Race(
        "attention of 8x256x64",
        (f32(8, 256, 64),) * 3,
        _attention,
        _attention_torch,
        openvino=True,
        flops=4.0 * 8 * 256 * 256 * 64,
    ),
    Race(
        "LSTM 100x32x256",
        (_gates(4), f32(100, 32, 256)),
        _lstm,
        module=_recurrent("LSTM"),
        openvino=True,
        flops=2.0 * 100 * 32 * 512 * 1024,
    ),
    Race(
        "GRU 100x32x256",
        (_gates(3), f32(100, 32, 256)),
        _gru,
        module=_recurrent("GRU"),
        openvino=True,
        flops=2.0 * 100 * 32 * 512 * 768,
    ),
    _llama_race("Llama block of 512, 256 tokens", 256, 1, 2.0 * 256 * 256 * WIDTH),
    _llama_race("Llama block of 512, a token after 1023", 1, 1023, 4.0 * 1024 * WIDTH),
]
