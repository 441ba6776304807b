"""Write files of `jax.export`: `python -m tests.foreign.make_exports FOLDER`, with JAX and the
package flatbuffers. NAME.jax is a file, NAME.npz has the leaves of arguments and of JAX's results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

FOLDER = Path(__file__).parent / "exports"


class Pair(NamedTuple):
    first: Any
    second: Any


def tree(params: Any, numbers: Any, unused: Any, *, scale: Any) -> Any:
    """Return results of arguments of all kinds of containers, some of which are not used."""
    y = jnp.tanh(params["w"] @ numbers[0]) * scale
    return {"sum": y.sum(), "pair": Pair(y, None), "list": [numbers[1] + 1]}


def eigenvalues(x: Any) -> Any:
    """Return what platforms compute by other custom calls, and one by another formula."""
    values = jnp.linalg.eigvalsh(x + x.T)
    first = jax.lax.platform_dependent(x[0], cpu=lambda v: 2 * v, default=lambda v: 3 * v)
    return jnp.sort(values) + first


def keys(key: Any, x: Any) -> Any:
    return jax.random.uniform(key, (3,)) + x, jax.random.split(key)


def sized(w: Any, x: Any, unused: Any) -> Any:
    return jnp.tanh(x @ w).sum(1) / x.shape[0]


def summed(w: Any, x: Any) -> Any:
    """Return what a window of dynamic shape computes."""
    return jnp.cumsum(x @ w, 0)


def write(
    folder: Path, name: str, f: Callable[..., Any], *args: Any, specs: Any = None, **kwargs: Any
) -> None:
    options: Any = {"platforms": ["tpu", "cpu", "cuda"]} if name == "platforms" else {}
    exported = export.export(jax.jit(f), **options)(*(specs or args), **kwargs)
    (folder / f"{name}.jax").write_bytes(exported.serialize(vjp_order=2 * (name == "sized")))

    def plain(x: Any) -> np.ndarray[Any, Any]:
        is_key = jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
        found = np.asarray(jax.random.key_data(x) if is_key else x)
        return found.astype("f") if found.dtype == jnp.bfloat16 else found

    sides = {"argument": (args, kwargs), "result": f(*args, **kwargs)}
    arrays = {
        f"{kind}{i}": plain(x)
        for kind, side in sides.items()
        for i, x in enumerate(jax.tree.leaves(side))
    }
    np.savez_compressed(folder / f"{name}.npz", allow_pickle=False, **arrays)


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    export.register_namedtuple_serialization(Pair, serialized_name="tests.Pair")
    random = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return jnp.asarray(random.normal(size=shape), jnp.float32)

    params = {"w": draw(3, 2), "u": jnp.arange(7)}
    numbers = draw(2), jnp.asarray(4)
    write(folder, "tree", tree, params, numbers, draw(5).astype("bfloat16"), scale=draw())
    write(folder, "platforms", eigenvalues, draw(4, 4))
    write(folder, "keys", keys, jax.random.key(3), draw())
    x, z = draw(8, 3), draw(8)
    named = export.symbolic_args_specs((x, z), ("batch, 3", "batch"))
    shape = jax.ShapeDtypeStruct((3, 2), jnp.float32)
    write(folder, "sized", sized, draw(3, 2), x, z, specs=(shape, *named))
    even = export.symbolic_args_specs((x,), ("2*b, 3",))
    write(folder, "summed", summed, draw(3, 2), x, specs=(shape, *even))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
