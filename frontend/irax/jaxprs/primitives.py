"""The primitives of irax's own operations, as equations of jaxprs have them. To bind one builds the
operation for the given operands and parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from irax import tree
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.dispatch import bind, call
from irax.core.module_builder import ModuleBuilder
from irax.core.settings.hints import Inline
from irax.core.shardings.layouts import UNSPECIFIED
from irax.core.shardings.meshes import Mesh
from irax.execution.jit import jit
from irax.execution.shapes import eval_shape
from irax.extend.linear_util import wrap_init
from irax.extend.primitive import Primitive
from irax.jaxprs.forms import FORMS, Form
from irax.jaxprs.groups import Groups, nones, pack, sizes
from irax.jaxprs.language import Jaxpr
from irax.jaxprs.running import jaxpr_as_fun
from irax.lax.control_flow.branches import switch
from irax.lax.control_flow.loops import while_loop
from irax.lax.control_flow.scans import scan
from irax.transforms.autodiff import jvp, vjp
from irax.transforms.checkpoint import checkpoint
from irax.transforms.custom_jvp import custom_jvp
from irax.transforms.custom_vjp import custom_vjp
from irax_compiler import mlir
from irax_compiler.mlir import Operation
from irax_compiler.ops.comparison import Select
from irax_compiler.ops.shape import BroadcastInDim


class Built(Primitive):
    """A primitive of irax's own: its results are what `bind` returns."""

    def impl(self, *args: Any, **params: Any) -> Any:
        """Return the results."""
        return self.bind(*args, **params)

    def abstract_eval(self, *avals: Any, **params: Any) -> tuple[Any, set[Any]]:
        """Return the types of the results for those of operands, and the effects."""
        found = eval_shape(lambda *args: self.bind(*args, **params), *avals)
        return tree.map(lambda x: ShapedArray(x.shape, x.dtype, x.weak_type), found), set()


class OpPrimitive(Built):
    """The primitive of an op; of a class of ops, whose fields are the parameters."""

    def __init__(self, name: str, op: Any) -> None:
        super().__init__(name)
        self.op: Any = op
        self.multiple_results: bool = op.num_results != 1

    def made(self, params: dict[str, Any], args: Sequence[Any]) -> Any:
        """Return the op with some parameters."""
        return self.op(**params) if isinstance(self.op, type) else self.op

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the op."""
        op = self.made(params, args)
        return bind(op, *_operands(op, _arrays(args)))


class FormPrimitive(Built):
    """A primitive that has JAX's operands and parameters."""

    def __init__(self, name: str, op: Any) -> None:
        super().__init__(name)
        self._form: Form = FORMS[op]
        self.multiple_results: bool = op.num_results != 1 and not self._form.has_one_result

    def made(self, params: dict[str, Any], args: Sequence[Any]) -> Any:
        """Return the op with some parameters, for some arguments."""
        return self._form.op(self.name, params, args)

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the op."""
        arrays = self._form.arguments(self.name, _arrays(args))
        op = self.made(params, arrays)
        found = bind(op, *_operands(op, arrays))
        return found[0] if self._form.has_one_result else found


@cache
def of_form(name: str, op: Any) -> FormPrimitive:
    """Return the one primitive of a name, for a class of ops that has a form."""
    return FormPrimitive(name, op)


@cache
def of_op(name: str, op: Any) -> OpPrimitive:
    """Return the one primitive of an op, or of a class of them."""
    return OpPrimitive(name, op)


class _Call(Built):
    """The primitive of a call of a jitted function."""

    multiple_results = True

    def bind(
        self,
        *args: Any,
        jaxpr: Jaxpr | None = None,
        subfuns: Sequence[Any] = (),
        name: str = "",
        **params: Any,
    ) -> Any:
        """Call the function: that of a jaxpr, or a `WrappedFun`."""
        if jaxpr is None:
            (function,) = subfuns
            return list(function.call_wrapped(*args))
        return list(jit(jaxpr_as_fun(jaxpr))(*args))


class _While(Built):
    multiple_results = True

    def bind(
        self,
        *args: Any,
        cond_jaxpr: Jaxpr,
        body_jaxpr: Jaxpr,
        cond_nconsts: int,
        body_nconsts: int,
    ) -> Any:
        """Run the loop."""
        first, second = cond_nconsts, cond_nconsts + body_nconsts
        cond_consts, body_consts, init = args[:first], args[first:second], args[second:]
        condition, body = jaxpr_as_fun(cond_jaxpr), jaxpr_as_fun(body_jaxpr)
        return while_loop(
            lambda carry: condition(*cond_consts, *carry)[0],
            lambda carry: list(body(*body_consts, *carry)),
            list(init),
        )


class _Cond(Built):
    multiple_results = True

    def bind(self, *args: Any, branches: tuple[Jaxpr, ...], **params: Any) -> Any:
        """Run one of the branches."""
        index, *operands = args
        index = as_array(index).astype("int32")
        return list(switch(index, [jaxpr_as_fun(b) for b in branches], *operands))


class _Scan(Built):
    multiple_results = True

    def bind(
        self,
        *args: Any,
        jaxpr: Jaxpr,
        length: int,
        reverse: bool,
        num_consts: int = 0,
        num_carry: int = 0,
        ft_in: Groups | None = None,
        **params: Any,  # unroll, which changes nothing
    ) -> Any:
        """Run the loop."""
        if ft_in is not None:  # it tells the same, and is what rules for JAX 0.11 and later set
            num_consts, num_carry, _ = sizes(ft_in)
        consts, rest = args[:num_consts], args[num_consts:]
        init, xs = list(rest[:num_carry]), list(rest[num_carry:])
        step = jaxpr_as_fun(jaxpr)

        def body(carry: list[Array], row: list[Array]) -> tuple[list[Array], list[Array]]:
            found = step(*consts, *carry, *row)
            return found[:num_carry], found[num_carry:]

        carry, ys = scan(body, init, xs, length, reverse)
        return [*carry, *ys]


def groups_of_scan(
    num_consts: int, num_carry: int, num_rows: int, num_stacked: int
) -> dict[str, Any]:
    """Return the parameters of a scan that group its operands and results: as JAX 0.10 has them,
    and as 0.12 has them, for rules of either.
    """
    return {
        "num_consts": num_consts,
        "num_carry": num_carry,
        "ft_in": pack(map(nones, (num_consts, num_carry, num_rows))),
        "ft_out": pack(map(nones, (num_carry, num_stacked))),
    }


def parameters_of_jit(name: str, jaxpr: Jaxpr) -> dict[str, Any]:
    """Return the parameters of a call of a jitted function: as JAX has them where `jit` is given
    none of its options, which modules do not keep.
    """
    given, returned = len(jaxpr.invars), len(jaxpr.outvars)
    return {
        "jaxpr": jaxpr,
        "in_shardings": (UNSPECIFIED,) * given,
        "out_shardings": (UNSPECIFIED,) * returned,
        "in_layouts": (None,) * given,
        "out_layouts": (None,) * returned,
        "donated_invars": (False,) * given,
        "ctx_mesh": Mesh(np.empty((), object), ()),
        "name": "<lambda>" if _OF_LAMBDA.fullmatch(name) else name,
        "keep_unused": False,
        "inline": Inline.AUTO,
        "compiler_options_kvs": (),
    }


_OF_LAMBDA = re.compile(r"lambda(_\d+)?")
"""The names of functions in modules that have none in Python, where it is a keyword."""

call_p: Primitive = _Call("jit")
while_p: Primitive = _While("while")
cond_p: Primitive = _Cond("cond")
scan_p: Primitive = _Scan("scan")


class InModule:
    """An operation of a module, as a parameter: what an equation does that has no other form."""

    def __init__(self, builder: ModuleBuilder, operation: Operation, inputs: list[Any]) -> None:
        self._builder: ModuleBuilder = builder
        self._operation: Operation = operation
        self._inputs: list[Any] = inputs
        self._function = ""
        self.jaxpr: Jaxpr | None = None
        """The function that it calls, if it does."""

    def __repr__(self) -> str:
        return self._operation.name

    def function(self) -> str:
        """The name of a function of the module that does what the operation does."""
        if not self._function:
            module, types = self._builder.module, [v.type for v in self._inputs]
            name = mlir.unique_name(module, "equation")
            function = mlir.new_function(module, name, types, self._operation.location)
            env = dict(zip(self._inputs, mlir.arguments(function), strict=True))
            with mlir.InsertionPoint(mlir.body(function)), self._operation.location:
                results = mlir.clone(self._operation, env)
            mlir.finish_function(function, results)
            self._function = name
        return self._function

    def __call__(self, *args: Any) -> list[Array]:
        arrays = _arrays(args)
        return call(self._builder, self.function(), arrays, [])


class InModulePrimitive(Built):
    """The primitive of operations that are known by their place in a module alone."""

    multiple_results = True

    def bind(
        self,
        *args: Any,
        operation: InModule,
        call_jaxpr: Jaxpr | None = None,
        jaxpr: Jaxpr | None = None,
        **params: Any,
    ) -> Any:
        """Do what the operation does; if it calls a function, and is given another one than it was
        traced with, that in its place, with the same derivatives.
        """
        call_jaxpr = call_jaxpr or jaxpr  # the parameter of `remat2`
        if call_jaxpr is None or call_jaxpr is operation.jaxpr:
            return operation(*args)
        return list(_in_place_of(self.name, operation, jaxpr_as_fun(call_jaxpr))(*args))

    def get_bind_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of `bind`, with the function that a call with rules calls."""
        if self.name not in ("custom_jvp_call", "custom_vjp_call"):
            return params
        return params | {"subfuns": (wrap_init(jaxpr_as_fun(params["call_jaxpr"])),)}


def _in_place_of(
    name: str, operation: InModule, function: Callable[..., list[Array]]
) -> Callable[..., list[Array]]:
    """Return a function that stands for that of an operation, with the operation's derivatives."""
    if name == "remat2":
        return checkpoint(function)
    if name == "custom_jvp_call":
        with_rule = custom_jvp(function)
        with_rule.defjvp(lambda primals, tangents: jvp(operation, primals, tangents))
        return with_rule
    if name == "custom_vjp_call":
        with_rules = custom_vjp(function)
        with_rules.defvjp(
            lambda *args: (function(*args), args), lambda args, cts: vjp(operation, *args)[1](cts)
        )
        return with_rules
    return function


@cache
def in_module(name: str) -> InModulePrimitive:
    """Return the one such primitive of a name."""
    return InModulePrimitive(name)


def parameters_of_call(name: str, jaxpr: Jaxpr) -> dict[str, Any]:
    """Return the parameters of a call with rules that have the function."""
    if name == "remat2":
        return {"jaxpr": jaxpr, "prevent_cse": True, "differentiated": False, "policy": None}
    return {"call_jaxpr": jaxpr}


def _arrays(args: Any) -> list[Array]:
    return [as_array(x, "an operand of a primitive") for x in args]


def takes_numbers(op: Any) -> bool:
    """Return True for an op whose primitive takes numbers beside arrays."""
    return op.elementwise and not isinstance(op, Select)


def _operands(op: Any, arrays: list[Array]) -> list[Array]:
    """Return operands of one shape."""
    shapes = {x.shape for x in arrays}
    if len(shapes) != 2 or () not in shapes or not takes_numbers(op):
        return arrays
    shape = max(shapes, key=len)
    return [x if x.shape else bind(BroadcastInDim(shape, ()), x) for x in arrays]
