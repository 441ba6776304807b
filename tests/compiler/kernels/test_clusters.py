"""Clusters of operations on few elements, which become kernels: what is around them stays there."""

from irax_compiler import mlir
from irax_compiler.pipeline import run_pipeline

_LARGE, _SMALL = "tensor<4096xf32>", "tensor<4xf32>"


def _module() -> str:
    """Return a function of large operations, a cluster, and large operations, a part of which do
    not need the cluster; a second cluster needs the first by a large operation.
    """
    lines = [f"%start = stablehlo.exponential %x : {_LARGE}"]
    lines += [f"%s0 = stablehlo.slice %start [0:4] : ({_LARGE}) -> {_SMALL}"]
    lines += [f"%s{i + 1} = stablehlo.sine %s{i} : {_SMALL}" for i in range(40)]
    lines += [f"%copy = stablehlo.cosine %start : {_LARGE}"]
    lines += [
        f"%b = stablehlo.broadcast_in_dim %s40, dims = [0] : ({_SMALL}) -> tensor<4x1024xf32>",
        f"%wide = stablehlo.reshape %b : (tensor<4x1024xf32>) -> {_LARGE}",
        f"%y = stablehlo.multiply %wide, %copy : {_LARGE}",
        f"%t0 = stablehlo.slice %y [0:4] : ({_LARGE}) -> {_SMALL}",
    ]
    lines += [f"%t{i + 1} = stablehlo.cosine %t{i} : {_SMALL}" for i in range(40)]
    lines += [f"%u = stablehlo.add %t40, %s1 : {_SMALL}"]
    lines += [f"%z = stablehlo.tanh %start : {_LARGE}"]
    lines += [f"return %y, %u, %z : {_LARGE}, {_SMALL}, {_LARGE}"]
    results = f"({_LARGE}, {_SMALL}, {_LARGE})"
    return f"func.func @main(%x: {_LARGE}) -> {results} {{\n" + "\n".join(lines) + "\n}"


def test_what_follows_a_cluster_stays_behind_it():
    module = mlir.parse_module(_module())
    run_pipeline(module, "loops")
    (function,) = mlir.functions(module).values()
    names = [view.operation.name for view in mlir.body(function).operations]
    first, second = (i for i, name in enumerate(names) if name == "flow.dispatch")
    assert names.index("stablehlo.exponential") < first
    assert first < names.index("stablehlo.cosine") < second < names.index("stablehlo.tanh")


def test_many_products_of_few_elements_are_several_kernels():
    """The code of a kernel has their multiplications one by one. LLVM takes four times as long for
    twice as many.
    """
    type_, count = "tensor<8x8xf32>", 100
    dims = "contracting_dims = [1] x [0]"
    lines = [
        line
        for i in range(count)
        for line in (
            f"%y{i} = stablehlo.dot_general %x{i}, %w, {dims} : ({type_}, {type_}) -> {type_}",
            f"%x{i + 1} = stablehlo.tanh %y{i} : {type_}",
        )
    ]
    signature = f"func.func @main(%x0: {type_}, %w: {type_}) -> {type_} {{"
    module = mlir.parse_module("\n".join([signature, *lines, f"return %x{count} : {type_}", "}"]))
    run_pipeline(module, "loops")
    (function,) = mlir.functions(module).values()
    names = [view.operation.name for view in mlir.body(function).operations]
    assert names.count("flow.dispatch") == 2
    assert "stablehlo.dot_general" not in names
