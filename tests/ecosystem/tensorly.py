"""TensorLy on JAX's arrays: decompositions of a tensor, and a gradient through one."""

import jax
import tensorly as tl
from tensorly.decomposition import non_negative_parafac, parafac, tensor_train, tucker


def run():
    tl.set_backend("jax")
    x = tl.tensor(jax.random.uniform(jax.random.key(0), (4, 5, 6)))
    core, factors = tucker(x, rank=[2, 3, 2], n_iter_max=5)
    cp = parafac(x, rank=2, init="svd", n_iter_max=5)
    train = tensor_train(x, rank=[1, 2, 3, 1])
    positive = non_negative_parafac(x, rank=2, n_iter_max=5)
    return {
        "tucker": tl.tucker_to_tensor((core, factors)),
        "cp": tl.cp_to_tensor(cp),
        "train": tl.tt_to_tensor(train),
        "positive": tl.cp_to_tensor(positive),
        "slope": jax.grad(lambda c: tl.norm(tl.tucker_to_tensor((c, factors)) - x))(core),
        "unfolded": tl.unfold(x, 1),
        "norm": tl.norm(x),
    }
