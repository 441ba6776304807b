"""Programs with shard_map, for irax and for JAX.

`python -m tests.frontend.meshes.shard_map_programs FILE` writes what JAX computes
on four devices of the processor, as `shard_map_expected.npz` has it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

X = np.linspace(-1.0, 2.0, 64, dtype=np.float32).reshape(8, 8)
W = np.linspace(0.5, 1.5, 8, dtype=np.float32)
GROUPS = [[0, 3], [2, 1]]
UNEVEN = [[3], [2, 0, 1]]


def programs(jax: Any, mesh: Any, line: Any) -> dict[str, Callable[[], Any]]:
    """Return the programs by name; `mesh` is of 2 x 2 devices "a" and "b", `line` of 4, "i"."""
    jnp, lax, P = jax.numpy, jax.lax, jax.P
    rows = P("i")
    x, w = jnp.asarray(X), jnp.asarray(W)
    found: dict[str, Callable[[], Any]] = {}

    def on_line(f: Any, ins: Any = rows, outs: Any = rows, **options: Any) -> Any:
        return jax.shard_map(f, mesh=line, in_specs=ins, out_specs=outs, **options)

    def on_mesh(f: Any, ins: Any, outs: Any, **options: Any) -> Any:
        return jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, **options)

    def add(name: str, program: Callable[[], Any]) -> None:
        assert name not in found
        found[name] = program

    # Collectives along one axis: values, and gradients with respect to the operand.
    perm = [(0, 1), (1, 3), (3, 0)]
    collectives: dict[str, Callable[[Any], Any]] = {
        "psum": lambda v: lax.psum(v, "i"),
        "pmean": lambda v: lax.pmean(v, "i"),
        "all_gather": lambda v: lax.all_gather(v, "i"),
        "all_gather tiled": lambda v: lax.all_gather(v, "i", axis=1, tiled=True),
        "all_gather invarying": lambda v: lax.all_gather(v, "i", to="invarying"),
        "psum_scatter": lambda v: lax.psum_scatter(v, "i", scatter_dimension=1, tiled=True),
        "all_to_all": lambda v: lax.all_to_all(v, "i", 1, 0, tiled=True),
        "ppermute": lambda v: lax.ppermute(v, "i", perm),
        "pshuffle": lambda v: lax.pshuffle(v, "i", [3, 0, 1, 2]),
        "axis_index": lambda v: v * lax.axis_index("i"),
    }
    for name, f in collectives.items():
        for check in (True, False):
            label = f"{name} {check}"
            add(label, lambda f=f, c=check: on_line(lambda v: jnp.atleast_3d(f(v)), check_vma=c)(x))

            def loss(v: Any, f: Any = f) -> Any:
                out = f(v)
                weights = jnp.cos(jnp.arange(out.size, dtype=v.dtype)).reshape(out.shape)
                return (out * weights).sum()

            add(
                f"grad inside {label}",
                lambda f=loss, c=check: on_line(jax.grad(f), check_vma=c)(x),
            )

            def outside(v: Any, f: Any = loss, c: bool = check) -> Any:
                return on_line(lambda u: f(u)[None], check_vma=c)(v).sum()

            add(f"grad outside {label}", lambda f=outside: jax.grad(f)(x))
    for name, f in {
        "pmax": lambda v: lax.pmax(v, "i"),
        "pmin": lambda v: lax.pmin(v, ("i",)),
        "psum of ints": lambda v: lax.psum((v * 3).astype(jnp.int32), "i"),
        "psum of a number": lambda v: v + lax.psum(2, "i"),
        "psum of what all have": lambda v: v + lax.psum(w, "i"),
        "axis_size": lambda v: v * lax.axis_size("i"),
    }.items():
        add(name, lambda f=f: on_line(f)(x))
    for name, f in {
        "psum": lambda v: lax.psum(v, "i", axis_index_groups=GROUPS),
        "all_gather": lambda v: lax.all_gather(v, "i", axis_index_groups=GROUPS, tiled=True),
        "psum_scatter": lambda v: lax.psum_scatter(v, "i", axis_index_groups=GROUPS, tiled=True),
        "all_to_all": lambda v: lax.all_to_all(v, "i", 1, 0, axis_index_groups=GROUPS, tiled=True),
    }.items():
        add(f"groups {name}", lambda f=f: on_line(f, check_vma=False)(x))
        add(
            f"grad groups {name}",
            lambda f=f: jax.grad(
                lambda v: (on_line(f, check_vma=False)(v) ** 3).sum(), allow_int=False
            )(x),
        )

    for name, f in {
        "psum": lambda v: lax.psum(v, "i", axis_index_groups=UNEVEN),
        "pmax": lambda v: lax.pmax(v, "i", axis_index_groups=UNEVEN),
        "pmin of ints": lambda v: lax.pmin(
            (v * 9).astype(jnp.int32), "i", axis_index_groups=UNEVEN
        ),
    }.items():
        add(f"uneven groups {name}", lambda f=f: on_line(f, check_vma=False)(x))
    add(
        "grad uneven groups psum",
        lambda: jax.grad(
            lambda v: (
                on_line(lambda v: lax.psum(v, "i", axis_index_groups=UNEVEN) ** 3, check_vma=False)(
                    v
                )
            ).sum()
        )(x),
    )

    # Groups along several axes.
    for order in (("a", "b"), ("b", "a")):
        for name, f in {
            "psum": lambda v, o: lax.psum(v, o, axis_index_groups=GROUPS),
            "pmean": lambda v, o: lax.pmean(v, o, axis_index_groups=GROUPS),
            "pmax": lambda v, o: lax.pmax(v, o, axis_index_groups=UNEVEN),
            "all_gather": lambda v, o: lax.all_gather(v, o, axis_index_groups=GROUPS, tiled=True),
            "stack": lambda v, o: lax.all_gather(v, o, axis_index_groups=GROUPS, axis=1),
            "psum_scatter": lambda v, o: lax.psum_scatter(
                v, o, scatter_dimension=1, axis_index_groups=GROUPS, tiled=True
            ),
            "all_to_all": lambda v, o: lax.all_to_all(
                v, o, 1, 0, axis_index_groups=GROUPS, tiled=True
            ),
        }.items():
            spec = P(("a", "b"))
            add(
                f"groups {name} {order}",
                lambda f=f, o=order, s=spec: on_mesh(lambda v: f(v, o), s, s, check_vma=False)(x),
            )

    # Several axes.
    both = P("a", "b")
    add("psum of both", lambda: on_mesh(lambda v: lax.psum(v, ("a", "b")), both, P())(x))
    add("psum of one", lambda: on_mesh(lambda v: lax.psum(v, "b"), both, P("a"))(x))
    add("pmean of both", lambda: on_mesh(lambda v: lax.pmean(v, ("b", "a")), both, P())(x))
    for order in (("a", "b"), ("b", "a")):
        spec = P(order)
        add(
            f"all_gather {order}",
            lambda o=order, s=spec: on_mesh(lambda v: lax.all_gather(v, o, tiled=True), s, s)(x),
        )
        add(
            f"psum_scatter {order}",
            lambda o=order, s=spec: on_mesh(
                lambda v: lax.psum_scatter(v, o, scatter_dimension=1, tiled=True), s, s
            )(x),
        )
        add(
            f"all_to_all {order}",
            lambda o=order, s=spec: on_mesh(lambda v: lax.all_to_all(v, o, 1, 0, tiled=True), s, s)(
                x
            ),
        )
        add(
            f"axis_index {order}",
            lambda o=order, s=spec: on_mesh(lambda v: v + lax.axis_index(o), s, s)(x),
        )
        add(f"identity {order}", lambda s=spec: on_mesh(lambda v: 2 * v, s, P(None, s[0]))(x))
    add(
        "some axes manual",
        lambda: jax.jit(on_mesh(lambda v: v - lax.psum(v, "a"), P("a"), P("a"), axis_names={"a"}))(
            x
        ),
    )

    # Derivatives.
    def layer(w: Any, v: Any) -> Any:
        return jnp.tanh(v @ jnp.outer(w, w))

    def mean_loss(w: Any, v: Any) -> Any:
        return lax.pmean((layer(w, v) ** 2).mean(), "i")

    for check in (True, False):
        total = on_line(mean_loss, (P(), P("i")), P(), check_vma=check)
        add(f"loss {check}", lambda f=total: f(w, x))
        add(f"grad of loss {check}", lambda f=total: jax.grad(f)(w, x))
        add(f"grad of jitted loss {check}", lambda f=total: jax.jit(jax.grad(f))(w, x))
        add(f"hessian of loss {check}", lambda f=total: jax.hessian(f)(w, x))
        add(f"jvp of loss {check}", lambda f=total: jax.jvp(f, (w, x), (w, x)))
        add(
            f"vmap of grad {check}",
            lambda f=total: jax.vmap(jax.grad(f), (0, None))(jnp.stack([w, 2 * w]), x),
        )
        add(
            f"vmap inside {check}",
            lambda c=check: on_line(
                lambda v: jax.vmap(lambda row: row - lax.pmean(row, "i"))(v), check_vma=c
            )(x),
        )
    step = on_line(jax.grad(mean_loss), (P(), P("i")), P())
    add("step", lambda: step(w, x))
    add("jitted step", lambda: jax.jit(step)(w, x))
    add("grad of a step", lambda: jax.grad(lambda w: (step(w, x) ** 2).sum())(w))
    add(
        "jvp inside",
        lambda: on_line(lambda v: jax.jvp(lambda u: lax.psum(u**2, "i"), (v,), (v,))[1], outs=P())(
            x
        ),
    )
    add(
        "linearize inside",
        lambda: on_line(lambda v: jax.linearize(lambda u: lax.psum(u**2, "i"), v)[1](v), outs=P())(
            x
        ),
    )
    add(
        "grad of an argument that all have",
        lambda: on_line(lambda w, v: jax.grad(lambda w: (w * v).sum())(w), (P(), P("i")), P())(
            w, x
        ),
    )
    add(
        "grad of a pcast argument",
        lambda: on_line(
            lambda w, v: jax.grad(lambda w: (w * v).sum())(lax.pcast(w, "i", to="varying"))[None],
            (P(), P("i")),
            P("i"),
        )(w, x),
    )
    add(
        "grad through a closure",
        lambda: jax.grad(lambda w: on_line(lambda v: jnp.sin(w * v))(x).sum())(w),
    )
    add(
        "second derivative through a closure",
        lambda: jax.grad(
            lambda w: jax.grad(lambda u: on_line(lambda v: jnp.sin(u * v))(x).sum())(w).sum()
        )(w),
    )
    add(
        "checkpoint",
        lambda: on_line(lambda w, v: jax.grad(jax.checkpoint(mean_loss))(w, v), (P(), P("i")), P())(
            w, x
        ),
    )

    @jax.custom_vjp
    def doubled(v: Any) -> Any:
        return 2 * v

    doubled.defvjp(lambda v: (2 * v, None), lambda _, ct: (3 * ct,))
    add(
        "custom_vjp",
        lambda: on_line(
            lambda w, v: jax.grad(lambda w: lax.psum((doubled(w) * v).sum(), "i"))(w),
            (P(), P("i")),
            P(),
        )(w, x),
    )

    @jax.custom_jvp
    def sine(v: Any) -> Any:
        return jnp.sin(v)

    sine.defjvp(lambda primals, tangents: (sine(*primals), 5 * tangents[0] * primals[0]))
    add("custom_jvp", lambda: on_line(jax.grad(lambda v: lax.psum(sine(v).sum(), "i")))(x))

    # Loops, branches, calls.
    def ring(v: Any) -> Any:
        def turn(carry: Any, _: Any) -> Any:
            total, own = carry
            own = lax.ppermute(own, "i", [(i, (i + 1) % 4) for i in range(4)])
            return (total + own, own), total.sum()

        return lax.scan(turn, (v, v), None, length=3)

    add("scan", lambda: on_line(lambda v: ring(v)[0])(x))
    add(
        "grad of scan",
        lambda: jax.grad(lambda v: (on_line(lambda u: ring(u)[0][0])(v) ** 2).sum())(x),
    )
    add("grad in scan", lambda: on_line(jax.grad(lambda v: (ring(v)[0][0] ** 2).sum()))(x))
    add(
        "scan of weights",
        lambda: on_line(
            jax.grad(
                lambda w, v: (
                    lax.scan(
                        lambda c, r: (c + (w * r).sum(), None),
                        lax.pcast(jnp.float32(0), "i", to="varying"),
                        v,
                    )[0]
                    ** 2
                )
            ),
            (P(), P("i")),
            P(),
        )(w, x),
    )
    add(
        "while",
        lambda: on_line(
            lambda v: lax.while_loop(
                lambda c: lax.psum((c**2).sum(), "i") < 1000, lambda c: c * 1.5 + 0.1, v
            )
        )(x),
    )
    add(
        "fori",
        lambda: on_line(lambda v: lax.fori_loop(0, 3, lambda n, c: c + lax.pmean(c, "i") * n, v))(
            x
        ),
    )
    add(
        "cond",
        lambda: on_line(lambda v: lax.cond(v.sum() > 1, lambda u: 2 * u, lambda u: -u, v))(x),
    )
    add("jit inside", lambda: on_line(jax.jit(lambda v: v / lax.psum(jnp.abs(v), "i")))(x))
    add("jit outside", lambda: jax.jit(on_line(lambda v: v / lax.psum(jnp.abs(v), "i")))(x))
    add(
        "vmap outside",
        lambda: jax.vmap(on_line(lambda v: v + lax.psum(v, "i")), in_axes=1, out_axes=1)(x),
    )
    add(
        "vmap of what all share",
        lambda: jax.vmap(on_line(lambda v, w: v * w, (P("i"), P())), (None, 0))(w, jnp.arange(3.0)),
    )
    add("in scan", lambda: lax.scan(lambda c, r: (on_line(jnp.sin)(c) + r, c.sum()), w, x))
    add(
        "nested",
        lambda: jax.jit(
            on_mesh(
                lambda v: jax.shard_map(
                    lambda u: u - lax.psum(u, "b") + lax.psum(u, "a"),
                    in_specs=P(None, "b"),
                    out_specs=P(None, "b"),
                    axis_names={"b"},
                )(v),
                P("a"),
                P("a"),
                axis_names={"a"},
            )
        )(x),
    )
    add(
        "rows of tuples",
        lambda: on_line(lambda t: {"s": t[0] + t[1]["k"]}, ((P("i"), {"k": P()}),), {"s": P("i")})(
            (w, {"k": w[:2]})
        ),
    )
    for name, program in _pmap_programs(jax, list(line.devices.flat)).items():
        add(name, program)
    add(
        "smap",
        lambda: _with_mesh(
            jax,
            line,
            lambda: jax.smap(
                lambda v: v * lax.axis_index("i"), in_axes=1, out_axes=1, axis_name="i"
            )(x),
        ),
    )
    return found


def _pmap_programs(jax: Any, devices: list[Any]) -> dict[str, Callable[[], Any]]:
    """Return programs with pmap, for four devices."""
    jnp, lax = jax.numpy, jax.lax
    x, w = jnp.asarray(X[:4]), jnp.asarray(W)

    def pmap(f: Any, axis_name: Any = "i", **options: Any) -> Any:
        return jax.pmap(f, axis_name, devices=devices, **options)

    def loss(w: Any, v: Any) -> Any:
        return jnp.sum(jnp.tanh(w * v) ** 2)

    def step(w: Any, v: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(w, v)
        return w - 0.1 * lax.pmean(slope, "i"), lax.psum(value, "i")

    def product(tree: Any, shared: Any, *, scale: Any) -> Any:
        return tree["x"] * shared, scale

    add_all = pmap(lambda v: lax.psum(v, "i") + v)
    train = pmap(step, in_axes=(None, 0), out_axes=(None, 0))
    return {
        "pmap": lambda: pmap(lambda v: v / lax.psum(v, "i"))(x),
        "pmap, grad inside": lambda: pmap(jax.grad(lambda v: lax.psum((v**2).sum(), "i")))(x),
        "pmap, grad outside": lambda: jax.grad(lambda v: (add_all(v) ** 3).sum())(x),
        "pmap, grad of what all have": lambda: jax.grad(
            lambda v: pmap(loss, in_axes=(None, 0))(v, x).sum()
        )(w),
        "pmap, collectives": lambda: pmap(
            lambda v: (
                lax.axis_index("i"),
                lax.all_gather(v, "i"),
                lax.pmax(v, "i"),
                lax.ppermute(v, "i", [(0, 1), (1, 0)]),
                lax.all_to_all(v[:4], "i", 0, 0),
                lax.psum_scatter(v[:4], "i"),
            )
        )(x),
        "pmap, axes": lambda: pmap(product, in_axes=({"x": 1}, None), out_axes=(1, 0))(
            {"x": x.T}, 2.0, scale=jnp.arange(4)
        ),
        "pmap, without a name": lambda: pmap(jnp.sin, None)(x),
        "pmap, static": lambda: pmap(
            lambda v, power, u: v**power + u,
            static_broadcasted_argnums=1,
            in_axes=(0, None, None),
        )(x, 2, 1.0),
        "pmap, all have the same": lambda: train(w, x),
        "pmap, twice": lambda: train(train(w, x)[0], x),
        "pmap, in jit": lambda: jax.jit(lambda v: add_all(v) * 2)(x),
        "pmap, in vmap": lambda: jax.vmap(add_all, in_axes=1, out_axes=1)(x),
        "pmap, of vmap": lambda: pmap(jax.vmap(lambda v: lax.psum(v, "i") * v))(x),
        "pmap, in scan": lambda: lax.scan(lambda c, v: (add_all(c) * v, c), x, w),
        "pmap, keys": lambda: pmap(lambda k: jax.random.uniform(k, (2,)))(
            jax.random.split(jax.random.key(0), 4)
        ),
    }


def _with_mesh(jax: Any, mesh: Any, f: Callable[[], Any]) -> Any:
    with jax.set_mesh(mesh):
        return f()


def flat(jax: Any, result: Any) -> list[np.ndarray]:
    """Return the arrays of a result."""
    return [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(result)]


def _main(file: str) -> None:
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
    import jax

    devices = np.array(jax.devices())
    mesh = jax.sharding.Mesh(devices.reshape(2, 2), ("a", "b"))
    line = jax.sharding.Mesh(devices, ("i",))
    results = {}
    for name, program in programs(jax, mesh, line).items():
        try:
            for number, array in enumerate(flat(jax, program())):
                results[f"{name}/{number}"] = array
        except Exception as error:
            results[f"{name}/error"] = np.array(f"{type(error).__name__}: {error}"[:300])
    np.savez_compressed(file, **results)


if __name__ == "__main__":
    _main(sys.argv[1])
