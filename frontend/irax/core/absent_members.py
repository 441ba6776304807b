"""Members that arrays lack, and that users of NumPy and PyTorch look for: what has them instead."""

from __future__ import annotations

_CHANGED = "arrays cannot be changed: "

_INSTEAD = {
    "append": f"{_CHANGED}irax.numpy.append(x, values) makes a longer one",
    "backward": "derivatives are of functions: irax.grad(f)(x)",
    "cat": "irax.numpy.concatenate([x, y]) joins arrays",
    "contiguous": "arrays are contiguous",
    "cpu": "irax.device_put(x, irax.devices('cpu')[0]) puts it there",
    "cuda": "irax.device_put(x, irax.devices('cuda')[0]) puts it there",
    "detach": "irax.lax.stop_gradient(x) has no derivative",
    "dim": "x.ndim is the number of dimensions",
    "double": "x.astype('float64') converts it",
    "expand": "irax.numpy.broadcast_to(x, shape) repeats it",
    "extend": f"{_CHANGED}irax.numpy.concatenate([x, y]) makes a longer one",
    "fill": f"{_CHANGED}irax.numpy.full_like(x, value) makes one",
    "float": "x.astype('float32') converts it",
    "grad": "derivatives are of functions: irax.grad(f)(x)",
    "half": "x.astype('float16') converts it",
    "int": "x.astype('int32') converts it",
    "long": "x.astype('int64') converts it",
    "masked_fill": "irax.numpy.where(mask, value, x) makes a changed copy",
    "norm": "irax.numpy.linalg.norm(x) is its norm",
    "numel": "x.size is the number of elements",
    "numpy": "numpy.asarray(x) is an array of NumPy's",
    "permute": "x.transpose(axes) has other axes",
    "put": f"{_CHANGED}x.at[i].set(values) makes a changed copy",
    "requires_grad": "derivatives are of functions: irax.grad(f)(x)",
    "resize": f"{_CHANGED}irax.numpy.resize(x, shape) makes one",
    "scatter": "x.at[i].set(values) makes a changed copy",
    "softmax": "irax.nn.softmax(x) is a function",
    "t": "x.T is the transpose",
    "tile": "irax.numpy.tile(x, reps) repeats it",
    "to": "x.astype(dtype) converts it, and irax.device_put(x, device) puts it elsewhere",
    "type": "x.astype(dtype) converts it",
    "unsqueeze": "irax.numpy.expand_dims(x, axis) has an axis more, as x[None] has",
}


def told(name: str) -> str:
    """Return the message for a name that arrays lack; tracebacks add a name that is alike."""
    message = f"an array has no attribute {name!r}"
    if name in _INSTEAD:
        return f"{message}: {_INSTEAD[name]}"
    if name.endswith("_") and not name.startswith("_"):
        return f"{message}: {_CHANGED}functions and x.at[i].set(values) make new ones"
    return message
