"""jax.example_libraries.optimizers: optimizers as triples of functions.

init, update, get_params = adam(1e-3)
state = init(params)
state = update(step, grads, state)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import irax.numpy as jnp
from irax import tree_util

Schedule = Callable[[Any], Any]
Step = Any


class Optimizer(NamedTuple):
    """The functions of an optimizer."""

    init_fn: Callable[..., Any]
    """From parameters to the state."""
    update_fn: Callable[..., Any]
    """From a step's number, gradients and the state to the next state."""
    params_fn: Callable[..., Any]
    """From the state to the parameters."""


@tree_util.register_pytree_node_class
@dataclass
class OptimizerState:
    """The state of an optimizer: for each parameter, a pytree of arrays."""

    packed_state: Any
    """For each parameter, the leaves of its state."""
    tree_def: Any
    """The structure of the parameters."""
    subtree_defs: Any
    """For each parameter, the structure of its state."""

    def tree_flatten(self) -> tuple[Any, Any]:
        """Return the arrays, and the structures."""
        return (self.packed_state,), (self.tree_def, self.subtree_defs)

    @classmethod
    def tree_unflatten(cls, structures: Any, children: Any) -> OptimizerState:
        """Return the state of what `tree_flatten` returned."""
        return cls(children[0], *structures)

    @classmethod
    def of(cls, states: Sequence[Any], tree_def: Any) -> OptimizerState:
        """Return the state of the parameters' states."""
        parts = [tree_util.tree_flatten(s) for s in states]
        return cls([leaves for leaves, _ in parts], tree_def, tuple(d for _, d in parts))

    def states(self) -> list[Any]:
        """Return the state of each parameter."""
        return [
            tree_util.tree_unflatten(d, leaves)
            for d, leaves in zip(self.subtree_defs, self.packed_state, strict=True)
        ]


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """Make an optimizer of pytrees of one of single arrays; a decorator."""

    @functools.wraps(opt_maker)
    def tree_opt_maker(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def tree_init(x0_tree: Any) -> OptimizerState:
            leaves, tree = tree_util.tree_flatten(x0_tree)
            return OptimizerState.of([init(x) for x in leaves], tree)

        def tree_update(i: Step, grad_tree: Any, opt_state: OptimizerState) -> OptimizerState:
            grads, tree = tree_util.tree_flatten(grad_tree)
            if tree != opt_state.tree_def:
                raise TypeError(
                    f"optimizer update: the gradients have structure {tree}; expected that of the "
                    f"parameters, {opt_state.tree_def}"
                )
            states = zip(grads, opt_state.states(), strict=True)
            return OptimizerState.of([update(i, g, s) for g, s in states], tree)

        def tree_params(opt_state: OptimizerState) -> Any:
            params = [get_params(s) for s in opt_state.states()]
            return tree_util.tree_unflatten(opt_state.tree_def, params)

        return Optimizer(tree_init, tree_update, tree_params)

    return tree_opt_maker


# ---- optimizers ----------------------------------------------------------------------------------


@optimizer
def sgd(step_size: Any) -> Any:
    """Gradient descent."""
    rate = make_schedule(step_size)
    return lambda x: x, lambda i, g, x: x - rate(i) * g, lambda x: x


@optimizer
def momentum(step_size: Any, mass: float) -> Any:
    """Gradient descent with momentum."""
    rate = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * velocity, velocity

    return lambda x: (x, jnp.zeros_like(x)), update, _first


@optimizer
def nesterov(step_size: Any, mass: float) -> Any:
    """Gradient descent with Nesterov's momentum."""
    rate = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * (mass * velocity + g), velocity

    return lambda x: (x, jnp.zeros_like(x)), update, _first


@optimizer
def adagrad(step_size: Any, momentum: float = 0.9) -> Any:
    """Adagrad."""
    rate = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, squares, m = state
        squares = squares + jnp.square(g)
        scale = jnp.where(squares > 0, 1.0 / jnp.sqrt(squares), 0.0)
        m = (1.0 - momentum) * (g * scale) + momentum * m
        return x - rate(i) * m, squares, m

    return lambda x: (x, jnp.zeros_like(x), jnp.zeros_like(x)), update, _first


@optimizer
def rmsprop(step_size: Any, gamma: float = 0.9, eps: float = 1e-8) -> Any:
    """RMSProp."""
    rate = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, average = state
        average = average * gamma + jnp.square(g) * (1.0 - gamma)
        return x - rate(i) * g / jnp.sqrt(average + eps), average

    return lambda x: (x, jnp.zeros_like(x)), update, _first


@optimizer
def rmsprop_momentum(
    step_size: Any, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> Any:
    """RMSProp with momentum."""
    rate = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, average, m = state
        average = average * gamma + jnp.square(g) * (1.0 - gamma)
        m = momentum * m + rate(i) * g / jnp.sqrt(average + eps)
        return x - m, average, m

    return lambda x: (x, jnp.zeros_like(x), jnp.zeros_like(x)), update, _first


@optimizer
def adam(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Adam."""
    rate = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * jnp.square(g) + b2 * v
        steps: Any = jnp.asarray(i + 1, m.dtype)
        mean, variance = m / (1 - b1**steps), v / (1 - b2**steps)
        return x - rate(i) * mean / (jnp.sqrt(variance) + eps), m, v

    return lambda x: (x, jnp.zeros_like(x), jnp.zeros_like(x)), update, _first


@optimizer
def adamax(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """AdaMax."""
    rate = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = jnp.maximum(b2 * v, jnp.abs(g))
        steps: Any = jnp.asarray(i + 1, m.dtype)
        return x - (rate(i) / (1 - b1**steps)) * m / (v + eps), m, v

    return lambda x: (x, jnp.zeros_like(x), jnp.zeros_like(x)), update, _first


@optimizer
def sm3(step_size: Any, momentum: float = 0.9) -> Any:
    """SM3, which keeps a vector for each dimension of a parameter."""
    rate = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, jnp.zeros_like(x), [jnp.zeros(n, x.dtype) for n in x.shape or ((),)]

    def update(i: Step, g: Any, state: Any) -> Any:
        x, m, vectors = state
        ndim = x.ndim
        spread = [
            v.reshape([-1 if d == axis else 1 for d in range(ndim)])
            for axis, v in enumerate(vectors)
        ]
        squares = functools.reduce(jnp.minimum, spread) + jnp.square(g)
        scale = jnp.where(squares > 0, 1.0 / jnp.sqrt(squares), 0.0)
        m = (1.0 - momentum) * (g * scale) + momentum * m
        others = [tuple(d for d in range(ndim) if d != axis) for axis in range(len(vectors))]
        return x - rate(i) * m, m, [squares.max(o) for o in others]

    return init, update, _first


def _first(state: Any) -> Any:
    return state[0]


# ---- schedules -----------------------------------------------------------------------------------


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """Return a function of the step's number, of one or of a number.

    Raises:
        TypeError: it is neither.
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if jnp.ndim(scalar_or_schedule):
        raise TypeError(f"step_size: expected a number or a function, got {scalar_or_schedule!r}")
    return constant(scalar_or_schedule)


def constant(step_size: Any) -> Schedule:
    """Return the schedule of one step size."""
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """Return a schedule that shrinks by `decay_rate` in `decay_steps`."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """Return a schedule that shrinks with the inverse of time."""

    def schedule(i: Step) -> Any:
        time = jnp.floor(i / decay_steps) if staircase else i / decay_steps
        return step_size / (1 + decay_rate * time)

    return schedule


def polynomial_decay(
    step_size: Any, decay_steps: Any, final_step_size: Any, power: float = 1.0
) -> Schedule:
    """Return a schedule that goes to `final_step_size` by a power."""

    def schedule(i: Step) -> Any:
        remaining = (1 - jnp.minimum(i, decay_steps) / decay_steps) ** power
        return remaining * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """Return a schedule of one value between any two boundaries.

    Raises:
        ValueError: there isn't one value more than boundaries.
    """
    limits, sizes = jnp.array(boundaries), jnp.array(values)
    if limits.ndim != 1 or sizes.shape != (limits.size + 1,):
        raise ValueError(
            f"piecewise_constant: {limits.size} boundaries need {limits.size + 1} values, got "
            f"shape {sizes.shape}"
        )
    return lambda i: sizes[jnp.sum(i > limits)]


# ---- gradients -----------------------------------------------------------------------------------


def l2_norm(tree: Any) -> Any:
    """Return the norm of all arrays of a pytree together."""
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in tree_util.tree_leaves(tree)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """Return gradients whose norm is at most `max_norm`."""
    norm = l2_norm(grad_tree)
    return tree_util.tree_map(
        lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree
    )


class JoinPoint:
    """A mark in a pytree, below which the state of a parameter stands."""

    def __init__(self, subtree: Any) -> None:
        self.subtree: Any = subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """Return a state as a pytree of `JoinPoint`s, to be saved."""
    return tree_util.tree_unflatten(opt_state.tree_def, map(JoinPoint, opt_state.states()))


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """Return the state that `unpack_optimizer_state` took apart."""
    points, tree = tree_util.tree_flatten(marked_pytree)
    return OptimizerState.of([p.subtree for p in points], tree)
