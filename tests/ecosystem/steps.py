"""Steps of training, solving and sampling with libraries for JAX, which `speed` times.

Each function here prepares a program, and returns a function that takes its next step.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Step = Callable[[], Any]
RNG = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    """Random numbers of a shape."""
    return RNG.normal(size=shape).astype(np.float32)


def repeated(step: Callable[..., Any], *state: Any) -> Step:
    """Return a function that takes a step from where the last one ended."""
    kept = list(state)

    def once() -> Any:
        kept[:] = step(*kept)
        return kept

    return once


def optax_mlp() -> Step:
    """optax: AdamW on a network of two layers"""
    import optax

    x, y = floats(64, 784), RNG.integers(0, 10, 64)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    params = {"w": 0.05 * floats(784, 128), "b": jnp.zeros(128), "v": 0.1 * floats(128, 10)}

    def loss(p: Any) -> Any:
        logits = jax.nn.relu(x @ p["w"] + p["b"]) @ p["v"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    return repeated(jax.jit(trained(loss, optimizer)), params, optimizer.init(params))


def trained(loss: Callable[[Any], Any], optimizer: Any) -> Callable[..., Any]:
    """Return a step of an optimizer."""
    import optax

    def step(params: Any, state: Any) -> Any:
        updates, state = optimizer.update(jax.grad(loss)(params), state, params)
        return optax.apply_updates(params, updates), state

    return step


def linen_resnet() -> Step:
    """flax.linen: a small residual network on images, with batch norm"""
    import flax.linen as nn
    import optax

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.Conv(16, (3, 3))(x)
            for _ in range(2):
                y = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(16, (3, 3))(x)))
                x = x + nn.BatchNorm(use_running_average=False)(nn.Conv(16, (3, 3))(y))
            return nn.Dense(10)(x.mean((1, 2)))

    x, y = floats(16, 16, 16, 3), RNG.integers(0, 10, 16)
    network, optimizer = Network(), optax.sgd(0.01, momentum=0.9)
    variables = network.init(jax.random.key(0), x)
    params, statistics = variables["params"], variables["batch_stats"]

    def step(params: Any, statistics: Any, state: Any) -> Any:
        def loss(params: Any) -> Any:
            given = {"params": params, "batch_stats": statistics}
            logits, updated = network.apply(given, x, mutable=["batch_stats"])
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, y)
            return losses.mean(), updated["batch_stats"]

        grads, after = jax.grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), after, state

    return repeated(jax.jit(step), params, statistics, optimizer.init(params))


def linen_transformer() -> Step:
    """flax.linen: two blocks of a transformer, by scan"""
    import flax.linen as nn
    import optax

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: Any, _: Any) -> Any:
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(nn.LayerNorm()(x))
            y = nn.Dense(64)(nn.gelu(nn.Dense(128)(nn.LayerNorm()(x))))
            return x + y, None

    class Network(nn.Module):
        @nn.compact
        def __call__(self, tokens: Any) -> Any:
            x = nn.Embed(100, 64)(tokens)
            layers = nn.scan(
                Block, variable_axes={"params": 0}, split_rngs={"params": True}, length=2
            )
            return nn.Dense(100)(layers()(x, None)[0])

    tokens = RNG.integers(0, 100, (8, 32))
    network, optimizer = Network(), optax.adam(1e-3)
    params = network.init(jax.random.key(0), tokens)

    def loss(params: Any) -> Any:
        logits = network.apply(params, tokens)
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens).mean()

    return repeated(jax.jit(trained(loss, optimizer)), params, optimizer.init(params))


def nnx_gpt() -> Step:
    """flax.nnx: a block of a causal transformer"""
    import optax
    from flax import nnx

    class Network(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.embed = nnx.Embed(100, 64, rngs=rngs)
            self.norm = nnx.LayerNorm(64, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(4, 64, rngs=rngs, decode=False)
            self.up = nnx.Linear(64, 128, rngs=rngs)
            self.down = nnx.Linear(128, 100, rngs=rngs)

        def __call__(self, tokens: Any) -> Any:
            x = self.embed(tokens)
            x = x + self.attention(self.norm(x), mask=nnx.make_causal_mask(tokens))
            return self.down(nnx.gelu(self.up(x)))

    tokens = RNG.integers(0, 100, (8, 32))
    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    @nnx.jit
    def step(model: Any, optimizer: Any) -> Any:
        def loss(model: Any) -> Any:
            losses = optax.softmax_cross_entropy_with_integer_labels(model(tokens), tokens)
            return losses.mean()

        value, grads = nnx.value_and_grad(loss)(model)
        optimizer.update(model, grads)
        return value

    return lambda: step(model, optimizer)


def equinox_vae() -> Step:
    """equinox: a variational autoencoder of two MLPs"""
    import equinox as eqx
    import optax

    x = floats(64, 100)
    keys = jax.random.split(jax.random.key(0), 3)
    model = (
        eqx.nn.MLP(100, 16, 64, 1, key=keys[0]),
        eqx.nn.MLP(8, 100, 64, 1, key=keys[1]),
    )
    optimizer = optax.adam(1e-3)

    @eqx.filter_jit
    def step(model: Any, state: Any, key: Any) -> Any:
        def loss(model: Any) -> Any:
            mean, scale = jnp.split(jax.vmap(model[0])(x), 2, axis=1)
            z = mean + jnp.exp(scale) * jax.random.normal(key, mean.shape)
            divergence = jnp.mean(mean**2 + jnp.exp(2 * scale) - 2 * scale)
            return jnp.mean((jax.vmap(model[1])(z) - x) ** 2) + divergence

        updates, state = optimizer.update(eqx.filter_grad(loss)(model), state)
        return eqx.apply_updates(model, updates), state, jax.random.split(key)[0]

    return repeated(step, model, optimizer.init(eqx.filter(model, eqx.is_array)), keys[2])


def haiku_lstm() -> Step:
    """dm-haiku: an LSTM over 20 places"""
    import haiku as hk
    import optax

    xs = floats(20, 8, 16)

    def network(xs: Any) -> Any:
        core = hk.LSTM(32)
        return hk.dynamic_unroll(core, xs, core.initial_state(8))[0]

    forward = hk.without_apply_rng(hk.transform(network))
    params = forward.init(jax.random.PRNGKey(0), xs)
    optimizer = optax.adam(1e-3)
    step = trained(lambda params: jnp.mean(forward.apply(params, xs) ** 2), optimizer)
    return repeated(jax.jit(step), params, optimizer.init(params))


def jraph_network() -> Step:
    """jraph: gradient descent on a graph network"""
    import jraph

    graph = jraph.GraphsTuple(
        nodes=floats(100, 8),
        edges=floats(300, 8),
        senders=RNG.integers(0, 100, 300),
        receivers=RNG.integers(0, 100, 300),
        n_node=np.array([60, 40]),
        n_edge=np.array([200, 100]),
        globals=floats(2, 8),
    )

    def loss(params: Any) -> Any:
        def layer(name: str) -> Any:
            return lambda *xs: jnp.tanh(jnp.concatenate(xs, -1) @ params[name])

        made = jraph.GraphNetwork(layer("edge"), layer("node"), layer("global"))(graph)
        return jnp.mean((made.globals - 1.0) ** 2)

    params = {k: 0.1 * floats(n * 8, 8) for k, n in {"edge": 4, "node": 4, "global": 3}.items()}

    @jax.jit
    def step(params: Any) -> Any:
        return [jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))]

    return repeated(step, params)


def logdensity(x: Any) -> Any:
    """The log density of a Gaussian."""
    return -0.5 * jnp.sum((x - 1.0) ** 2 / jnp.array([1.0, 0.25, 4.0]))


def blackjax_chain(algorithm: Any) -> Step:
    """Return a function that draws 50 samples."""

    @jax.jit
    def draw(state: Any, key: Any) -> Any:
        def one(state: Any, key: Any) -> Any:
            return algorithm.step(key, state)[0], None

        key, of_chain = jax.random.split(key)
        return jax.lax.scan(one, state, jax.random.split(of_chain, 50))[0], key

    return repeated(draw, algorithm.init(jnp.zeros(3)), jax.random.key(0))


def blackjax_hmc() -> Step:
    """blackjax: 50 samples by Hamiltonian Monte Carlo"""
    import blackjax

    return blackjax_chain(blackjax.hmc(logdensity, 0.2, jnp.ones(3), 8))


def blackjax_nuts() -> Step:
    """blackjax: 50 samples by NUTS"""
    import blackjax

    return blackjax_chain(blackjax.nuts(logdensity, 0.3, jnp.ones(3)))


def numpyro_nuts() -> Step:
    """numpyro: 50 samples of a regression by NUTS"""
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    x = np.linspace(-1, 1, 20, dtype=np.float32)
    y = 0.7 * x + 0.1 * floats(20)

    def model(x: Any, y: Any) -> None:
        slope = numpyro.sample("slope", dist.Normal(0, 1))
        noise = numpyro.sample("noise", dist.HalfNormal(1))
        with numpyro.plate("data", 20):
            numpyro.sample("y", dist.Normal(slope * x, noise), obs=y)

    chain = MCMC(
        NUTS(model), num_warmup=50, num_samples=50, progress_bar=False, jit_model_args=True
    )
    chain.warmup(jax.random.key(0), x, y)

    def draw() -> Any:
        chain.run(jax.random.key(1), x, y)
        return chain.get_samples()

    return draw


def ppo_pole() -> Step:
    """flax.linen and optax: an update of PPO, of 16 poles on carts for 32 steps, 8 batches"""
    import optax
    from flax import linen as nn

    class Agent(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            hidden = [nn.tanh(nn.Dense(64)(x)) for _ in range(2)]
            return nn.Dense(2)(hidden[0]), nn.Dense(1)(hidden[1])[..., 0]

    agent, poles, length = Agent(), 16, 32
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-4))

    def act(params: Any, poles_and_key: Any, _: Any) -> Any:
        x, key = poles_and_key
        key, own = jax.random.split(key)
        logits, value = agent.apply(params, x)
        action = jax.random.categorical(own, logits)
        log = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
        _, speed, angle, turn = x.T
        pull = 10.0 * (2 * action - 1) + 0.05 * turn**2 * jnp.sin(angle)
        bend = (9.8 * jnp.sin(angle) - jnp.cos(angle) * pull / 1.1) / 0.65
        moved = (speed, pull / 1.1 - 0.045 * bend * jnp.cos(angle), turn, bend)
        after = x + 0.02 * jnp.stack(moved, 1)
        fell = (jnp.abs(after[:, 0]) > 2.4) | (jnp.abs(after[:, 2]) > 0.2)
        after = jnp.where(fell[:, None], 0.01, after)
        return (after, key), (x, action, log, value, fell)

    def advantage(later: Any, row: Any) -> Any:
        total, next_value = later
        value, fell = row
        goes_on = 1.0 - fell
        total = 1.0 + 0.99 * next_value * goes_on - value + 0.94 * goes_on * total
        return (total, value), total

    def loss(params: Any, batch: Any) -> Any:
        x, action, before, gain, target = batch
        logits, value = agent.apply(params, x)
        logs = jax.nn.log_softmax(logits)
        log = jnp.take_along_axis(logs, action[:, None], 1)[:, 0]
        ratio, gain = jnp.exp(log - before), (gain - gain.mean()) / (gain.std() + 1e-8)
        chosen = jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain)
        entropy = -(jnp.exp(logs) * logs).sum(1).mean()
        return ((value - target) ** 2).mean() - chosen.mean() - 0.01 * entropy

    def learn(state: Any, batch: Any) -> Any:
        params, memory = state
        updates, memory = optimizer.update(jax.grad(loss)(params, batch), memory, params)
        return (optax.apply_updates(params, updates), memory), None

    @jax.jit
    def update(params: Any, memory: Any, x: Any, key: Any) -> Any:
        (x, key), rows = jax.lax.scan(lambda c, _: act(params, c, _), (x, key), None, length)
        seen, action, log, value, fell = rows
        last = jnp.zeros(poles), agent.apply(params, x)[1]
        gain = jax.lax.scan(advantage, last, (value, fell), reverse=True)[1]
        flat = [v.reshape(-1, *v.shape[2:]) for v in (seen, action, log, gain, gain + value)]
        key, own = jax.random.split(key)
        order = jax.random.permutation(own, poles * length)
        batches = [v[order].reshape(8, -1, *v.shape[1:]) for v in flat]
        params, memory = jax.lax.scan(learn, (params, memory), batches)[0]
        return params, memory, x, key

    x = 0.01 * floats(poles, 4)
    params = agent.init(jax.random.key(0), x)
    return repeated(update, params, optimizer.init(params), x, jax.random.key(1))


def diffrax_loss(adjoint: Any) -> Callable[..., Any]:
    """Return the end of the solution of an equation, as a function of its coefficients."""
    import diffrax

    def field(t: Any, y: Any, args: Any) -> Any:
        a, b, c, d = args
        return jnp.stack([a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]])

    def loss(args: Any) -> Any:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=3.0,
            dt0=0.1,
            y0=jnp.array([10.0, 10.0]),
            args=args,
            stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-4),
            adjoint=adjoint,
            max_steps=256,
        )
        return solution.ys[-1].sum()

    return loss


COEFFICIENTS = np.array([1.1, 0.1, 0.4, 0.1], np.float32)


def diffrax_solve() -> Step:
    """diffrax: an ordinary differential equation"""
    import diffrax

    solve = jax.jit(diffrax_loss(diffrax.RecursiveCheckpointAdjoint()))
    return lambda: solve(COEFFICIENTS)


def diffrax_backsolve() -> Step:
    """diffrax: its gradient by the adjoint equation"""
    import diffrax

    gradient = jax.jit(jax.grad(diffrax_loss(diffrax.BacksolveAdjoint())))
    return lambda: gradient(COEFFICIENTS)


def optimistix_fit() -> Step:
    """optimistix: a curve, by Levenberg-Marquardt"""
    import optimistix as optx

    x = np.linspace(0.0, 2.0, 10, dtype=np.float32)
    solver = optx.LevenbergMarquardt(1e-5, 1e-5)

    def residuals(y: Any, target: Any) -> Any:
        return y[0] * jnp.exp(-y[1] * x) - target

    @jax.jit
    def fit(start: Any) -> Any:
        return optx.least_squares(residuals, solver, start, args=3 * jnp.exp(-1.5 * x)).value

    return lambda: fit(np.ones(2, np.float32))


def brax_pendulum() -> Step:
    """brax: a step of an inverted pendulum"""
    from brax import envs

    environment = envs.get_environment("inverted_pendulum", backend="generalized")
    step = jax.jit(environment.step)
    start = jax.jit(environment.reset)(jax.random.PRNGKey(0))
    return repeated(lambda state: [step(state, jnp.zeros(1))], start)


STEPS: dict[str, Callable[[], Step]] = {
    prepare.__name__: prepare
    for prepare in (
        optax_mlp,
        linen_resnet,
        linen_transformer,
        nnx_gpt,
        equinox_vae,
        haiku_lstm,
        jraph_network,
        blackjax_hmc,
        blackjax_nuts,
        numpyro_nuts,
        ppo_pole,
        diffrax_solve,
        diffrax_backsolve,
        optimistix_fit,
        brax_pendulum,
    )
}
