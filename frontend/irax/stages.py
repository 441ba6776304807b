"""A jitted function on its way to a program, a step at a time: traced, compiled, called.

traced = jit(f).trace(x)       shapes and dtypes of what goes in and comes out
lowered = jit(f).lower(x)      its module, which can be looked at
compiled = lowered.compile()   the program, which takes arrays like x and compiles nothing more
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

from irax import tree_util
from irax.core.array import Array, as_array, zeros_of
from irax.core.avals import AbstractRef, ShapedArray, ShapeDtypeStruct
from irax.core.copies import OfThisProcess
from irax.core.key_arrays import KeyArray
from irax.core.refs.refs import Ref
from irax.core.settings.xla_options import check_compiler_options
from irax.core.shardings.layouts import Format
from irax.core.shardings.shardings import Sharding
from irax.core.tables import table
from irax.core.tracing import Tracer
from irax.core.trees import array_trees
from irax.core.trees.errors import unlike_compiled
from irax.execution import backend
from irax.execution.diagnostics.memory_analysis import MemoryAnalysis, analyse, of_plugin
from irax.execution.jit_refs import Ahead
from irax.execution.program import Program
from irax.execution.shardings import program_shardings
from irax.transforms.deferred_rules import with_rules
from irax_compiler import api, mlir, targets
from irax_runtime.device import Device
from irax_runtime.mesh import MeshDevice, devices_of

if TYPE_CHECKING:
    from irax_runtime.pjrt.topology import Topology

CompilerOptions = dict[str, str | bool]
"""Options of XLA's, by name: accepted, and of no effect."""


@dataclass(frozen=True)
class ArgInfo:
    """The type of an argument; `donated` is True if it is donated."""

    shape: tuple[int, ...]
    dtype: Any
    donated: bool


@runtime_checkable
class Wrapped(Protocol):
    """A function that can be called, traced and lowered, as `jit` returns it.

    >>> isinstance(irax.jit(jnp.sin), irax.stages.Wrapped)
    True
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        ...

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for these arguments."""
        ...

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Lower the function for these arguments."""
        ...


class Stage(OfThisProcess):
    """The base class of the stages of a jitted function."""

    def __init__(
        self,
        traced: Program,
        in_tree: Any,
        device: Device | str | None,
        told: Sequence[Sharding | None],
        refs: Ahead | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self._traced = traced
        self._device = device
        self._in_tree = in_tree
        self._told = told
        """The sharding of each leaf of the program's; None for those that were put nowhere."""
        self._refs = refs
        """The function's Refs, if it touches some."""
        self._names = names
        """The names of the leaves of the arguments, such as `params['w']`."""

    def _arguments(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """Return those of the program's leaves that are leaves of the arguments."""
        return leaves if self._refs is None else leaves[self._refs.num_captured :]

    @property
    def _out_tree(self) -> Any:
        """The structure of the result, keys being their words."""
        tree = self._traced.out_tree
        return tree if self._refs is None else tree.children()[0]

    def _returned(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """Return those of the program's results that the function returns."""
        return leaves if self._refs is None else leaves[: self._out_tree.num_leaves]

    @property
    def in_tree(self) -> tree_util.PyTreeDef:
        """The structure of `(args, kwargs)`."""
        return tree_util.tree_structure(self.in_avals)

    @property
    def out_tree(self) -> tree_util.PyTreeDef:
        """The structure of its result."""
        return tree_util.tree_structure(self._results(self._traced.out_shardings))

    @property
    def in_avals(self) -> Any:
        """Shapes and dtypes of the arguments, as `(args, kwargs)`.

        >>> jit(lambda x, y: x + y).lower(1.0, jnp.ones(2)).in_avals
        ((float32[] (weak), float32[2]), {})
        """
        avals: Sequence[Any] = self._arguments(self._traced.argument_avals())
        if self._refs is not None:
            are_refs = self._refs.are_refs
            avals = [AbstractRef(a) if r else a for a, r in zip(avals, are_refs, strict=True)]
        return array_trees.tree_unflatten(self._in_tree, avals)

    @property
    def args_info(self) -> Any:
        """The types of the arguments, as `(args, kwargs)`: an `ArgInfo` each, which says if it is
        donated.

        >>> jit(lambda x: x, donate_argnums=0).lower(1.0).args_info
        ((ArgInfo(shape=(), dtype=dtype('float32'), donated=True),), {})
        """
        donated = set(self._traced.donated)
        infos = [
            ArgInfo(aval.shape, aval.dtype, i in donated)
            for i, aval in enumerate(self._traced.argument_avals())
        ]

        def whole(key: KeyArray) -> ArgInfo:
            info: Any = key.data
            return ArgInfo(key.shape, key.dtype, info.donated)

        return _tree_of(self._in_tree, self._arguments(infos), whole)

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The positions of the donated arguments among the leaves of all arguments."""
        return tuple(self._traced.donated)

    @property
    def out_info(self) -> Any:
        """The shapes and dtypes of its results, and their shardings, as far as the option
        `out_shardings` and explicit axes of a mesh tell them.
        """
        return self._results(self._traced.out_shardings)

    def _results(self, shardings: Sequence[Sharding | None]) -> Any:
        """The results as a pytree of structs, with these shardings of the leaves."""
        structs = [
            ShapeDtypeStruct(a.shape, a.dtype, sharding=own or a.told, weak_type=a.weak_type)
            for a, own in zip_longest(self._traced.traced.results, shardings)
        ]
        tree = array_trees.tree_unflatten(self._out_tree, self._returned(structs))
        return array_trees.without_words(tree)

    def cost_analysis(self) -> dict[str, float]:
        """Floating-point operations, elements of transcendental functions, and bytes that the
        operations read and write, each for itself, before any are fused.

        >>> jit(jnp.dot).lower(jnp.ones(3), jnp.ones(3)).cost_analysis()["flops"]
        6.0
        """
        cost = api.cost_of(self._traced.traced.builder.module, self._traced.traced.name)
        return {
            "flops": float(cost.flops),
            "transcendentals": float(cost.transcendentals),
            "bytes accessed": float(cost.bytes),
        }

    def _rows(self) -> list[tuple[str, object]]:
        """The rows of the table as which notebooks show it."""
        leaves = array_trees.tree_leaves(self.in_avals)
        results = array_trees.tree_leaves(self._results(self._traced.out_shardings))
        return [
            *((name, leaf) for name, leaf in zip(self._names, leaves, strict=True)),
            *((f"result {i}", ShapedArray(x.shape, x.dtype)) for i, x in enumerate(results)),
            *((name, int(cost)) for name, cost in self.cost_analysis().items()),
        ]

    def _target(self) -> str:
        """The compiler's target, also for a platform that is not here."""
        if isinstance(self._device, str):
            return targets.for_platform(self._device)
        return backend.resolve_device(self._device).target

    def _public_module(self) -> mlir.Module:
        module = with_rules(self._traced.traced.builder).module
        mlir.make_public(mlir.functions(module)[self._traced.traced.name])
        return module

    def _text(self, stage: str, locations: bool = False) -> str:
        name = self._traced.traced.name
        module = self._public_module()
        texts = {"traced": mlir.text_of(module.operation, locations)}
        texts["stablehlo"] = texts["traced"]
        if stage not in texts:

            def keep(pass_: str, module: mlir.Module) -> None:
                texts[pass_.split("{")[0]] = texts["lowered"] = mlir.text_of(module.operation)

            api.lower(module, name, self._target(), keep)
        if stage not in texts:
            raise ValueError(f"as_text: no stage {stage!r}; there are {', '.join(texts)}")
        return texts[stage]


class Traced(Stage):
    """A traced function, as `jit(f).trace(*args)` returns it."""

    if TYPE_CHECKING:
        # attached by irax.jaxprs.of_traced
        jaxpr: Any
        effects: Any
        closure_convert: Any
        with_consts_as_arg: Any

    def __repr__(self) -> str:
        return f"<Traced {self.fun_name}>"

    @property
    def fun_name(self) -> str:
        """The function's name."""
        return self._traced.traced.name

    @property
    def out_avals(self) -> Any:
        """The shapes and dtypes of its results."""
        results = self._returned(self._traced.traced.results)
        return array_trees.tree_unflatten(self._out_tree, results)

    def lower(self, *, lowering_platforms: Sequence[str] | None = None) -> Lowered:
        """Lower the function to a module, to look at and to compile.

        Args:
            lowering_platforms: platforms such as "cpu" and "cuda", which need not be here. The
                module is compiled for the default device if it is of one of them, otherwise for
                the first.

        Raises:
            ValueError: irax has no target for a platform.

        >>> lowered = jit(jnp.sin).trace(1.0).lower(lowering_platforms=("cuda",))
        >>> "hal" in lowered.as_text("lowered")
        False
        """
        device = self._device
        if lowering_platforms is not None:
            device = _one_of(lowering_platforms, device)
        return Lowered(self._traced, self._in_tree, device, self._told, self._refs, self._names)


def _one_of(platforms: Sequence[str], device: Device | str | None) -> Device | str | None:
    """Return the device if it is of one of these platforms, otherwise the first of them."""
    if isinstance(platforms, str) or not platforms:
        raise ValueError(
            f"lower: lowering_platforms must be a tuple of names of platforms, got {platforms!r}"
        )
    for name in platforms:
        targets.for_platform(name)
    return device if backend.resolve_device(device).platform in platforms else platforms[0]


@dataclass(frozen=True)
class Computation:
    """A program as XLA's tools have it, for those that compare its text."""

    name: str
    _module: mlir.Module

    def as_hlo_text(self) -> str:
        """Return the program in the form of HLO's text.

        >>> print(jit(lambda x: x * x).lower(1.0).compiler_ir("hlo").as_hlo_text())
        HloModule lambda
        <BLANKLINE>
        ENTRY lambda.3 {
          Arg_0.1 = f32[] parameter(0)
          ROOT multiply.2 = f32[] multiply(Arg_0.1, Arg_0.1)
        }
        """
        return api.hlo_text(self._module, self.name)


class Lowered(Stage):
    """A lowered function, as `jit(f).lower(*args)` returns it: a module, not compiled yet."""

    def __repr__(self) -> str:
        return f"<Lowered {self._traced.traced.name}>"

    def _repr_html_(self) -> str:
        """As a notebook shows it: its types and costs."""
        return table(["", ""], self._rows(), repr(self))

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Return the module's text.

        Args:
            dialect: "stablehlo", or "traced", is the module as it was traced; "lowered" is the
                module lowered for the device, and the name of a pass is the module after that pass
                of the lowering.
            debug_info: True for text with locations, of a module as it was traced.

        Raises:
            ValueError: there is no such stage.

        >>> "stablehlo.sine" in jit(jnp.sin).lower(1.0).as_text()
        True
        """
        return self._text(dialect or "traced", debug_info)

    def compiler_ir(self, dialect: str | None = None) -> mlir.Module | Computation | None:
        """A copy of the module as it was traced, as an object of MLIR's bindings; for the dialect
        "hlo" a `Computation`, None for any other than "stablehlo".
        """
        if dialect == "hlo":
            return Computation(self._traced.traced.name, self._public_module())
        if dialect not in (None, "stablehlo"):
            return None
        return self._public_module()

    @overload
    def compile(
        self,
        compiler_options: CompilerOptions | None = None,
        *,
        device_assignment: Sequence[Device] | None = None,
        topology: None = None,
    ) -> Compiled: ...
    @overload
    def compile(
        self,
        compiler_options: CompilerOptions | None = None,
        *,
        device_assignment: None = None,
        topology: str,
    ) -> CompiledForTopology: ...
    def compile(
        self,
        compiler_options: CompilerOptions | None = None,
        *,
        device_assignment: Sequence[Device] | None = None,
        topology: str | None = None,
    ) -> Compiled | CompiledForTopology:
        """Compile the function to a program.

        Args:
            compiler_options: XLA's options, by name; they are of no effect.
            device_assignment: the device to compile for and to run on, in a tuple.
            topology: chips to compile for that need not be here: "v5e:2x2x1" are four TPUs,
                "h100:1x1x4" four GPUs. The program tells what it costs, and can be taken to where
                such chips are.

        Raises:
            RuntimeError: the device, or its compiler, is not there or refuses the module; XLA has
                no such option.
            ValueError: there is no such topology; or not one device in `device_assignment`.

        >>> jit(lambda x: x + x).lower(1.0).compile()(2.0)
        Array(4., dtype=float32, weak_type=True)
        """
        check_compiler_options(compiler_options)
        if topology is not None:
            return CompiledForTopology.by_name(self._traced, self._in_tree, topology)
        device = self._traced.device(self._device)
        elsewhere = getattr(devices_of(device)[0], "topology", None)
        if elsewhere is not None:
            return CompiledForTopology(self._traced, self._in_tree, elsewhere, device, self._told)
        if device_assignment is not None:
            device = _only_device(device_assignment)
        self._traced.compile(device)
        return Compiled(self._traced, self._in_tree, device, self._told, self._refs, self._names)


def _only_device(devices: Sequence[Device]) -> Device:
    if len(devices) != 1:
        raise ValueError(
            f"compile: device_assignment must have one device for this program, got {len(devices)}"
        )
    backend.check_device(devices[0], "compile: device_assignment")
    return backend.resolve_device(devices[0])


def _tree_of(tree: Any, leaves: Sequence[Any], whole: Callable[[KeyArray], Any]) -> Any:
    """Return the pytree with a leaf for each array, keys being `whole`."""

    def leaf(x: Any) -> Any:
        return whole(x) if isinstance(x, KeyArray) else x

    return tree_util.tree_map(leaf, array_trees.tree_unflatten(tree, leaves))


def _of_words(key: KeyArray) -> Any:
    return key.data


def _row_major(aval: Any, sharding: Sharding) -> Format:
    return Format.row_major(len(aval.shape), sharding)


class Compiled(Stage):
    """A program for arguments of fixed shapes and dtypes. It is called with the arguments that were
    not static.
    """

    def __repr__(self) -> str:
        return f"<Compiled {self._traced.traced.name}>"

    def _repr_html_(self) -> str:
        """As a notebook shows it: its types, costs and memory."""
        return table(["", ""], self._rows(), repr(self))

    def _rows(self) -> list[tuple[str, object]]:
        memory = self.memory_analysis()
        return [
            *super()._rows(),
            ("bytes of arguments", memory.argument_size_in_bytes),
            ("bytes of results", memory.output_size_in_bytes),
            ("bytes of temporaries", memory.temp_size_in_bytes),
        ]

    @property
    def input_shardings(self) -> Any:
        """The shardings that the arguments should have, as `(args, kwargs)`.

        >>> jit(jnp.sin).lower(1.0).compile().input_shardings
        ((SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device),), {})
        """
        return _tree_of(self._in_tree, self._arguments(self._shardings), _of_words)

    @property
    def output_shardings(self) -> Any:
        """The shardings of the results."""
        return _tree_of(self._out_tree, self._returned(self._out_shardings), _of_words)

    @property
    def out_info(self) -> Any:
        """The shapes, dtypes and shardings of the results.

        >>> jit(jnp.sin).lower(1.0).compile().out_info.sharding
        SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)
        """
        return self._results(self._out_shardings)

    @property
    def input_formats(self) -> Any:
        """The layout and the sharding of each argument, as `(args, kwargs)`. All are row-major."""
        return tree_util.tree_map(_row_major, self.in_avals, self.input_shardings)

    @property
    def output_formats(self) -> Any:
        """The layout and the sharding of each result."""
        return tree_util.tree_map(_row_major, self.out_info, self.output_shardings)

    @cached_property
    def _shardings(self) -> list[Sharding]:
        return program_shardings.of_arguments(self._traced, self._device, self._told)

    @cached_property
    def _out_shardings(self) -> list[Sharding]:
        return program_shardings.of_results(self._traced, self._device, self._shardings)

    def as_text(self) -> str:
        """Return the text of the module that was compiled."""
        return self._text("lowered")

    def memory_analysis(self) -> MemoryAnalysis:
        """Return the bytes that a call takes for arguments, results, temporaries and code.

        >>> memory = jit(lambda x: x @ x).lower(jnp.ones((8, 8))).compile().memory_analysis()
        >>> memory.argument_size_in_bytes, memory.output_size_in_bytes
        (256, 256)
        """
        traced = self._traced.traced
        executable = self.runtime_executable()
        function = mlir.functions(traced.builder.module)[traced.name]
        arguments = [
            ShapedArray(mlir.shape_of(x), mlir.dtype_of(x)) for x in mlir.arguments(function)
        ]
        avals = arguments, traced.results
        donated = self._traced.donated
        return analyse(executable, traced.builder.module, traced.name, avals, donated)

    def runtime_executable(self) -> Any:
        """Return the device's own executable."""
        return self._traced.compile(self._device).executable

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the program."""
        return self(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the program.

        Raises:
            TypeError: arguments of another structure, shape or dtype, or traced ones.
            ValueError: arguments were put elsewhere, or are divided in another way.
        """
        name = self._traced.traced.name
        leaves, tree = array_trees.tree_flatten((args, kwargs))
        if tree != self._in_tree:
            raise unlike_compiled(name, self.in_tree.spec, (args, kwargs))
        if self._refs is None:
            return self._run(leaves, self._names)
        for leaf, is_ref, where in zip(leaves, self._refs.are_refs, self._names, strict=True):
            if isinstance(leaf, Ref) != is_ref:
                expected = "a Ref" if is_ref else "an array"
                given = getattr(leaf, "aval", leaf)
                raise TypeError(f"{name}: {where} is {given}; compiled for {expected}")

        def run(captured: Sequence[Array], *values: Any) -> Any:
            outside = [f"a Ref that {name} uses"] * len(captured)
            return self._run([*captured, *values], [*outside, *self._names])

        return self._refs.call(run, leaves)

    def _run(self, leaves: Sequence[Any], names: Sequence[str]) -> Any:
        """Run the program for some leaves, by the names that errors have for them."""
        name = self._traced.traced.name
        function = mlir.functions(self._traced.traced.builder.module)[name]
        expected = mlir.arguments(function)[: len(leaves)]  # then the captured arrays
        arrays = []
        for leaf, parameter, where in zip(leaves, expected, names, strict=True):
            if isinstance(leaf, ShapeDtypeStruct) and not mlir.num_uses(parameter, 1):
                leaf = zeros_of(leaf)
            array = as_array(leaf, f"{name}: {where}")
            if isinstance(array, Tracer):
                raise TypeError(
                    f"{name}: {where} is traced: a compiled program cannot be transformed or be "
                    "part of another; use the jitted function"
                )
            aval = ShapedArray(mlir.shape_of(parameter), mlir.dtype_of(parameter))
            if (array.shape, array.dtype) != (aval.shape, aval.dtype):
                raise TypeError(f"{name}: {where} is {array.aval}; compiled for {aval}")
            arrays.append(array)
        program_shardings.check_places(name, names, arrays, self._shardings)
        arrays = list(map(program_shardings.placed_as_told, arrays, self._told))
        return self._traced.run(arrays, self._device, fixed=True)


class CompiledForTopology(Stage):
    """A program for chips that need not be here. `libtpu` has the compiler for TPUs, the package
    jax-cuda13-pjrt that for GPUs.
    """

    def __init__(
        self,
        traced: Program,
        in_tree: Any,
        topology: Topology,
        device: Any = None,
        told: Sequence[Sharding | None] = (),
    ) -> None:
        """Compiles it, for one of the chips; or for the chips that are a mesh's devices, whose
        arguments are divided as they are `told`.
        """
        super().__init__(traced, in_tree, None, ())
        module, name = traced.traced.builder.module, traced.traced.name
        self._device, self._shardings, self._out_shardings = device, [], []
        chips: list[int] | None = None
        if device is not None:
            self._shardings = program_shardings.of_arguments(traced, device, told)
            module, self._out_shardings = program_shardings.divided(traced, device, self._shardings)
            if isinstance(device, MeshDevice):
                chips = [chip.id for chip in device.devices]
        lowered = api.lower(module, name, topology.target)
        artefact = targets.compile(lowered, topology.target, traced.donated)
        self._program = topology.compile(artefact, chips)

    @classmethod
    def by_name(cls, traced: Program, in_tree: Any, topology: str) -> CompiledForTopology:
        """Compiles it for one of the chips of a topology."""
        from irax_runtime.pjrt.topology import topology_for
        from irax_runtime.vendors import gpu_topologies

        platform = "cuda" if gpu_topologies.is_one(topology) else "tpu"
        return cls(traced, in_tree, topology_for(platform, topology))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._program!r}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises RuntimeError: the program is not for a device of this process."""
        raise RuntimeError(
            f"{self._traced.traced.name} was compiled for {self._program.topology!r} and cannot "
            "be called here"
        )

    @property
    def input_shardings(self) -> Any:
        """The shardings of the arguments, as `(args, kwargs)`, where the chips are devices.

        Raises:
            ValueError: the program was compiled for a topology by its name.
        """
        self._check_devices()
        return _tree_of(self._in_tree, self._arguments(self._shardings), _of_words)

    @property
    def output_shardings(self) -> Any:
        """The shardings of the results, where the chips are devices.

        Raises:
            ValueError: the program was compiled for a topology by its name.
        """
        self._check_devices()
        return _tree_of(self._out_tree, self._returned(self._out_shardings), _of_words)

    def _check_devices(self) -> None:
        if self._device is None:
            raise ValueError(
                f"{self._traced.traced.name} was compiled for {self._program.topology.name!r} by "
                "its name: take devices from irax.experimental.topologies"
            )

    def as_text(self) -> str:
        """Return the program as text: the HLO that XLA's compiler has optimised."""
        return self._program.optimized_hlo()

    def cost_analysis(self) -> dict[str, float]:
        """Return the compiler's estimates of a call, such as `flops` and `optimal_seconds`; nan
        where it has none.
        """
        return self._program.cost_analysis()

    def memory_analysis(self) -> MemoryAnalysis:
        """Return the bytes that a call takes for arguments, results, temporaries and code."""
        return of_plugin(self._program.memory_analysis())

    def serialize(self) -> bytes:
        """The program for a file, which `irax run` takes where such a chip is.

        Raises:
            ValueError: it uses arrays from outside, which a file has not.
        """
        if self._traced.traced.captures:
            raise ValueError(
                f"{self._traced.traced.name} uses {len(self._traced.traced.captures)} arrays from "
                "outside: to be run in another process, it must have them as arguments"
            )
        return self._program.serialize()
