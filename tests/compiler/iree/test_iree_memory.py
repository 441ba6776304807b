"""The most memory that is allocated at a time, in modules after IREE's phase `stream`."""

import re

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.iree.memory import peak_memory

BODIES = {
    "one after the other": (
        48,
        """
    %a = ALLOCATE c32
    FREE %a c32
    %b = ALLOCATE c48
    FREE %b c48
    util.return""",
    ),
    "a view keeps it": (
        80,
        """
    %a = ALLOCATE c32
    %part = stream.resource.subview %a[%c0]
      : !stream.resource<transient>{%c32} -> !stream.resource<transient>{%c16}
    %b = ALLOCATE c48
    FREE %b c48
    FREE %part c16
    util.return""",
    ),
    "a loop's carry": (
        64,
        """
    %a = ALLOCATE c32
    cf.br ^next(%a : !stream.resource<transient>)
  ^next(%carry: !stream.resource<transient>):
    cf.cond_br %more, ^body, ^end
  ^body:
    %b = ALLOCATE c32
    FREE %carry c32
    cf.br ^next(%b : !stream.resource<transient>)
  ^end:
    util.optimization_barrier %carry : !stream.resource<transient>
    util.return""",
    ),
    "a loop's carries that are parts of a block": (
        80,
        """
    %a = ALLOCATE c48
    %first = stream.resource.subview %a[%c0]
      : !stream.resource<transient>{%c48} -> !stream.resource<transient>{%c32}
    %second = stream.resource.subview %a[%c32]
      : !stream.resource<transient>{%c48} -> !stream.resource<transient>{%c16}
    cf.br ^next(%first, %second : !stream.resource<transient>, !stream.resource<transient>)
  ^next(%x: !stream.resource<transient>, %y: !stream.resource<transient>):
    cf.cond_br %more, ^body, ^end
  ^body:
    %b = ALLOCATE c16
    FREE %y c16
    cf.br ^next(%x, %b : !stream.resource<transient>, !stream.resource<transient>)
  ^end:
    util.optimization_barrier %x : !stream.resource<transient>
    util.return""",
    ),
    "a loop's carries that are parts of each step's block": (
        96,
        """
    %a = ALLOCATE c48
    cf.br ^next(%a, %a : !stream.resource<transient>, !stream.resource<transient>)
  ^next(%x: !stream.resource<transient>, %y: !stream.resource<transient>):
    cf.cond_br %more, ^body, ^end
  ^body:
    %b = ALLOCATE c48
    util.optimization_barrier %x, %y : !stream.resource<transient>, !stream.resource<transient>
    cf.br ^next(%b, %b : !stream.resource<transient>, !stream.resource<transient>)
  ^end:
    util.optimization_barrier %x : !stream.resource<transient>
    util.return""",
    ),
    "a loop's last two allocations": (
        96,
        """
    %a = ALLOCATE c32
    cf.br ^next(%a, %a : !stream.resource<transient>, !stream.resource<transient>)
  ^next(%x: !stream.resource<transient>, %y: !stream.resource<transient>):
    cf.cond_br %more, ^body, ^end
  ^body:
    %b = ALLOCATE c32
    util.optimization_barrier %x, %y : !stream.resource<transient>, !stream.resource<transient>
    cf.br ^next(%b, %x : !stream.resource<transient>, !stream.resource<transient>)
  ^end:
    util.optimization_barrier %x : !stream.resource<transient>
    util.return""",
    ),
    "a buffer of rows": (
        64,
        """
    %none = util.null : !hal.allocator
    %queue = arith.constant -1 : i64
    %kind = arith.constant 0 : i32
    %rows = hal.allocator.allocate<%none : !hal.allocator> affinity(%queue) type(%kind)
      usage(%kind) : !hal.buffer{%c48}
    %row = hal.buffer.subspan<%rows : !hal.buffer>[%c0, %c16] : !hal.buffer
    %x = stream.tensor.import consume %row : !hal.buffer
      -> tensor<4xf32> in !stream.resource<external>{%c16}
    %b = ALLOCATE c16
    FREE %b c16
    util.optimization_barrier %x : !stream.resource<external>
    util.return""",
    ),
    "of a callee": (
        60,
        """
    %a = ALLOCATE c48
    util.call @callee() : () -> ()
    FREE %a c48
    util.return
  }
  util.func private @callee() {
    %now = stream.timepoint.immediate => !stream.timepoint
    %c12 = arith.constant 12 : index
    %a = ALLOCATE c12
    FREE %a c12
    util.return""",
    ),
}


def written_out(body: str) -> str:
    """A body with `%x = ALLOCATE size` and `FREE %x size` as IREE writes them."""
    block, point = "!stream.resource<transient>", "!stream.timepoint"
    body = re.sub(
        r"%(\w+) = ALLOCATE (\w+)",
        rf"%\1, %made_\1 = stream.resource.alloca uninitialized : {block}{{%\2}} => {point}",
        body,
    )
    free = rf"%freed_\1 = stream.resource.dealloca await(%now) => %\1 : {block}{{%\2}} => {point}"
    return re.sub(r"FREE %(\w+) (\w+)", free, body)


@pytest.mark.parametrize("name", BODIES)
def test_memory_that_is_allocated_at_a_time(name: str):
    size, body = BODIES[name]
    text = f"""
  util.func public @main(%more: i1) {{
    %now = stream.timepoint.immediate => !stream.timepoint
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    {written_out(body)}
  }}"""
    assert peak_memory(mlir.parse_module(text)) == size


@pytest.mark.slow
def test_parts_that_follow_each_other_share_memory():
    """A solver on the host divides a program into parts, whose temporaries do not add up."""

    def repeated(times):
        def f(x):
            for _ in range(times):
                x = jnp.linalg.solve(x @ x.T + jnp.eye(64), x)
            return x

        x = np.eye(64, dtype=np.float32)
        return irax.jit(f).lower(x).compile().memory_analysis().temp_size_in_bytes

    assert 64 * 64 * 4 <= repeated(3) == repeated(6)
