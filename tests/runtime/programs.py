"""Programs for the tests of the runtime. Each that is compiled costs a third of a second."""

from __future__ import annotations

import functools

from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu
from irax_runtime.iree.executable import IreeExecutable


def function(signature: str, body: str, reflection: str = "") -> str:
    """The text of a module with one public function, `main`."""
    attributes = f" attributes {{iree.reflection = {{{reflection}}}}}" if reflection else ""
    return f"module @m {{ func.func public @main{signature}{attributes} {{\n{body}\n}} }}"


def elementwise(op: str, type_: str = "f32", driver: str = "sync") -> str:
    """One elementwise operation on 16 elements."""
    return function(
        f"(%x: tensor<16x{type_}>) -> tensor<16x{type_}>",
        f"%0 = stablehlo.{op} %x : tensor<16x{type_}>\n return %0 : tensor<16x{type_}>",
        f'irax.driver = "{driver}", irax.args = "{type_}[16]", irax.results = "{type_}[16]"',
    )


@functools.cache
def artefact(text: str) -> bytes:
    return CPU.compile_text(text)


def load(text: str) -> IreeExecutable:
    return cpu().load(artefact(text))
