"""The options of irax: their values for the process and for a thread, from the environment and from
`config.update`.
"""

import operator
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from typing import Any, NoReturn

from irax.core.settings import xla_options

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")
_TRUTH = {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}


def _from_environment(name: str, default: bool = False) -> bool:
    variable = f"IRAX_{name.upper()}"
    text = os.environ.get(variable, "").strip().lower() or str(default).lower()
    if text not in _TRUE + _FALSE:
        raise ValueError(
            f"the environment variable {variable} is {text!r}; expected one of "
            f"{', '.join(_TRUE)} to turn the option on or {', '.join(_FALSE)} to leave it off"
        )
    return text in _TRUE


_LEVELS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
GUARDS_OF_DIRECTIONS = (
    "transfer_guard_host_to_device",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
)
_GUARDS = ("transfer_guard", *GUARDS_OF_DIRECTIONS)
_CHOICES: dict[str, tuple[Any, ...]] = {
    "compile": ("at_once", "background"),
    "default_matmul_precision": (
        *(None, "default", "high", "highest", "bfloat16", "tensorfloat32", "float32"),
        *("ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY"),
        *("ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16"),
        *("BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9"),
        *("TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64"),
    ),
    "default_prng_impl": (
        *("threefry2x32", "threefry4x32", "philox2x32", "philox4x32", "rbg", "unsafe_rbg"),
    ),
    "deterministic": (None, "batch"),
    "explicit_x64_dtypes": ("allow", "warn", "error"),
    "legacy_prng_key": ("allow", "warn", "error"),
    "numpy_dtype_promotion": ("standard", "strict"),
    "numpy_rank_promotion": ("allow", "warn", "raise"),
    "spmd": ("one_buffer", "threads"),
    **dict.fromkeys(_GUARDS, (None, *_LEVELS)),
    "traceback_filtering": (
        *("auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"),
    ),
}
"""Options that are not booleans, and their values."""


def _choice_from_environment(name: str, default: str | None) -> Any:
    variable = f"IRAX_{name.upper()}"
    value = os.environ.get(variable, "").strip() or default
    if value not in _CHOICES[name]:
        raise ValueError(
            f"the environment variable {variable} is {value!r}; expected one of "
            f"{', '.join(map(str, _CHOICES[name]))}"
        )
    return value


_updating = threading.Lock()


class Config(threading.local):
    """The options of irax, read as attributes: use the one instance, `irax.config`.

    The class attributes are the values of the process; `threading.local` puts the overrides of a
    thread in front of them. So reading an option is a plain attribute look-up.

    Attributes:
        enable_x64: keep 64-bit types; otherwise they become 32-bit types where they enter irax.
        debug_nans: raise `FloatingPointError` where an operation first makes a NaN; compiled
            functions are looked at when they return one.
        debug_infs: the same for infinities.
        disable_jit: run jitted functions operation by operation, as plain Python.
        threefry_partitionable: draw random bits in an order that is cheap to split over devices,
            as is the default. Off, a key gives the bits that the older, sequential order gives.
        default_device: the device, or the platform, that programs run on whose arrays were put
            nowhere; None is the first device there is. `platform_name` and `platforms` set it too.
        compile: when jitted functions are compiled: "at_once", when they are called, or in the
            "background", while the evaluator runs the first calls (see `irax.jit`).
        compilation_cache_dir: the folder in which compiled programs are kept. None stands for the
            environment variable `IRAX_CACHE_DIR`, and without it for the user's cache folder.
        compilation_cache_max_size: the most bytes of that folder; -1 leaves it to the environment
            variable `IRAX_CACHE_SIZE`, and without it is 2 GB.
        enable_compilation_cache: keep compiled programs for other processes.
        cpu_enable_async_dispatch: calls on the processor that take long return before their work is
            done. Off, all calls return when it is. It is an option of the process.
        check_static_indices: raise `IndexError` where `x[...]` has a Python int out of range.
        check_tracer_leaks: raise an error where a traced array outlives its trace, and not only
            where it is used then. Slow: all of Python's objects are looked through.
        debug_key_reuse: raise `irax.errors.KeyReuseError` where a typed key is used twice.
        default_matmul_precision: the `precision` of products that are given none.
        default_prng_impl: the generator of random keys that name none: "threefry2x32", or another
            of `irax.random.key`.
        enable_custom_prng: `random.PRNGKey` returns typed keys, as `random.key` does.
        deterministic: "batch" has compiled programs give a row of their results the same bits in
            batches of any size, and on any number of threads; None leaves that open.
        explain_cache_misses: log why jitted functions are traced; `explain` is the same option.
        random_seed_offset: an integer that is added to the seeds of random keys.
        specialize_sizes: a program for all sizes (`jit(dynamic_shapes=...)`) makes way for one of
            its own for sizes whose calls take long, or are many: another thread compiles it.
        spmd: how programs for several devices run where these are the processor of this process:
            on "one_buffer", as a program for one device, or in "threads", one for each.
        explicit_x64_dtypes: "warn" where a 64-bit dtype is asked for by name and 64-bit types are
            off, and narrow it, or make it an "error"; "allow" it, so that arrays of 64 bits stand
            beside others, and only what nobody asks for is narrow.
        legacy_prng_key: "allow" keys of raw words, "warn" of them, or make them an "error".
        log_compiles: log what is traced and compiled, and how long it takes.
        enable_checks: accepted for JAX's sake, without effect: what irax checks, it checks always.
        no_execution: raise an error where a compiled program would run.
        no_tracing: raise an error where a jitted function would be traced.
        progress: tell on a terminal of compilations that take more than two seconds.
        num_cpu_devices: how many devices the processor is, to be set before they are asked for;
            -1 leaves it to the environment variable `IRAX_CPU_DEVICES`.
        numpy_dtype_promotion: "standard", or "strict": operands must be of one dtype, Python's
            numbers aside.
        numpy_rank_promotion: "allow" operands of different ranks, "warn" of them, or "raise".
        transfer_guard: what to do with copies between the host and devices: "allow", "log" or
            "disallow" those that no `device_put` or `device_get` asks for, "log_explicit" or
            "disallow_explicit" all. It sets the three options of directions, and None none of them.
        transfer_guard_host_to_device: the same for copies of NumPy's arrays and Python's numbers.
        transfer_guard_device_to_device: the same for copies of arrays to other devices.
        transfer_guard_device_to_host: the same for copies from devices other than the processor.
        unbiased_random: draw integers without the bias that large ranges have in JAX, and floats of
            fewer than 32 bits as finely as float32 (`irax.random.bernoulli` of bfloat16); Poisson
            and binomial numbers of means of 1e7 by densities that keep their digits. Off, keys give
            JAX's numbers.
        traceback_filtering: how irax's own frames are hidden in tracebacks. "quiet_remove_frames"
            removes them, "remove_frames" does and keeps the whole traceback as the error's cause,
            "tracebackhide" marks them for IPython, "off" shows them; "auto" is "tracebackhide"
            where IPython runs, and else "quiet_remove_frames".

    Example:
        >>> from irax.config import config
        >>> config.update("enable_x64", False)
    """

    enable_x64: bool = _from_environment("enable_x64")
    debug_nans: bool = _from_environment("debug_nans")
    debug_infs: bool = _from_environment("debug_infs")
    disable_jit: bool = _from_environment("disable_jit")
    threefry_partitionable: bool = _from_environment("threefry_partitionable", True)
    default_device: Any = None
    compile: str = _choice_from_environment("compile", "at_once")
    compilation_cache_dir: Any = None
    compilation_cache_max_size: int = -1
    enable_compilation_cache: bool = True
    cpu_enable_async_dispatch: bool = _from_environment("cpu_enable_async_dispatch", True)
    check_static_indices: bool = _from_environment("check_static_indices")
    check_tracer_leaks: bool = _from_environment("check_tracer_leaks")
    debug_key_reuse: bool = _from_environment("debug_key_reuse")
    default_matmul_precision: Any = _choice_from_environment("default_matmul_precision", None)
    default_prng_impl: str = _choice_from_environment("default_prng_impl", "threefry2x32")
    deterministic: Any = _choice_from_environment("deterministic", None)
    enable_custom_prng: bool = _from_environment("enable_custom_prng")
    explain_cache_misses: bool = _from_environment(
        "explain_cache_misses", _from_environment("explain")
    )
    explicit_x64_dtypes: str = _choice_from_environment("explicit_x64_dtypes", "warn")
    legacy_prng_key: str = _choice_from_environment("legacy_prng_key", "allow")
    log_compiles: bool = _from_environment("log_compiles")
    enable_checks: bool = _from_environment("enable_checks")
    no_execution: bool = _from_environment("no_execution")
    no_tracing: bool = _from_environment("no_tracing")
    num_cpu_devices: int = -1
    progress: bool = _from_environment("progress", True)
    numpy_dtype_promotion: str = _choice_from_environment("numpy_dtype_promotion", "standard")
    numpy_rank_promotion: str = _choice_from_environment("numpy_rank_promotion", "allow")
    random_seed_offset: int = 0
    specialize_sizes: bool = _from_environment("specialize_sizes", True)
    spmd: str = _choice_from_environment("spmd", "one_buffer")
    transfer_guard: Any = _choice_from_environment("transfer_guard", None)
    transfer_guard_host_to_device: Any = _choice_from_environment(
        "transfer_guard_host_to_device", transfer_guard
    )
    transfer_guard_device_to_device: Any = _choice_from_environment(
        "transfer_guard_device_to_device", transfer_guard
    )
    transfer_guard_device_to_host: Any = _choice_from_environment(
        "transfer_guard_device_to_host", transfer_guard
    )
    unbiased_random: bool = _from_environment("unbiased_random")
    traceback_filtering: str = _choice_from_environment("traceback_filtering", "auto")

    def update(self, name: str, val: Any) -> None:
        """Set an option for the whole process.

        A thread inside a `with` block that overrides the option sees the new value after it.

        Args:
            name: the option; a prefix `irax_` or `jax_` is ignored. JAX's options that are about
                XLA alone (`core.xla_options`) are kept, and change nothing.
            val: True or False; for `default_device` a device, a platform or None; for options
                with names for values one of these.

        Raises:
            AttributeError: no option has this name.
            TypeError: the value isn't of a type that the option takes.
            ValueError: the option has names for values, and this is none of them.
            RuntimeError: the number of devices is set after they were asked for.

        Example:
            >>> from irax.config import config
            >>> config.update("jax_debug_nans", False)
        """
        name = _option(name)
        if name in xla_options.DEFAULTS:
            setattr(Config, name, val)
            return
        value = checked(name, val)
        if name in _EFFECTS:
            _EFFECTS[name](value)
        if name == "transfer_guard":
            for direction in GUARDS_OF_DIRECTIONS:
                self._set(direction, value)
        self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        with _updating:
            setattr(Config, name, value)
            for found, value in _derived(Config).items():
                setattr(Config, found, value)
        if "traced" in self.__dict__:  # in a `with` block
            self.__dict__.update(_derived(self))

    def set_profiling(self, value: bool) -> None:
        """Say if a profile is being taken, for the whole process."""
        self._set("profiling", value)

    def set_mesh(self, value: Any) -> None:
        """Set the mesh of the context, for the whole process."""
        self._set("mesh", value)

    def mesh_of_process(self) -> Any:
        """Return the mesh of the context outside of `with` blocks."""
        return Config.mesh

    # These are not annotated: they are no options.

    profiling = False
    """True while a profile is being taken: calls of jitted functions are recorded."""

    mesh = None
    """The mesh of the context (see `core.meshes`), which functions whose arguments were put nowhere
    run on."""

    entered_mesh = None
    """The mesh of the innermost block `with mesh:` (see `core.meshes`)."""

    abstract_mesh = None
    """The abstract mesh in the place of the mesh of the context (see `core.meshes`)."""

    no_collectives = None
    """The axes along which devices are not to exchange data, a set (see `core.shardings`)."""

    given = None
    """The user's operands of the library function that runs (see `core.strictness`)."""

    transfers_are_explicit = False
    """True within a function that is asked for copies (see `core.transfer_guards`)."""

    def read(self, name: str) -> Any:
        """The value of an option for the whole process, whatever a thread has overridden.

        Raises:
            AttributeError: no option has this name.

        Example:
            >>> from irax.config import config
            >>> config.read("jax_numpy_rank_promotion")
            'allow'
        """
        return getattr(Config, _option(name))

    @property
    def values(self) -> dict[str, Any]:
        """The values of all options for the whole process, by JAX's names.

        >>> irax.config.values["jax_numpy_rank_promotion"]
        'allow'
        """
        return {f"jax_{name}": self.read(name) for name in (*_OPTIONS, *xla_options.DEFAULTS)}

    def config_with_absl(self) -> None:
        """Declares the options as flags of absl's: see `irax.flags`."""
        from irax.core.settings import flags

        flags.declare(self.update, options())

    def parse_flags_with_absl(self) -> None:
        """Takes options from the command line (`--jax_debug_nans=true`): see `irax.flags`.

        Raises:
            ImportError: absl is not installed.
        """
        from irax.core.settings import flags

        flags.parse(self.update, options())

    @property
    def x64_enabled(self) -> bool:
        """The option `enable_x64`."""
        return self.enable_x64

    traced: tuple[Any, ...] = ()
    """The values of options that traces depend on: part of the key of what is kept."""

    state: tuple[Any, ...] = ()
    """The values of all options that a call depends on: the same object while none changes."""

    guards_transfers = False
    """True if copies between the host and devices are logged or forbidden."""

    stepwise = False
    """True if operations run one by one, to look at each: nothing is replayed."""

    @contextmanager
    def scoped(self, name: str, value: Any) -> Iterator[None]:
        """Sets an attribute in this thread for the length of a `with` block, unchecked."""
        overrides = self.__dict__  # those of this thread
        before = dict(overrides)
        overrides[name] = value
        overrides.update(_derived(self))
        try:
            yield
        finally:
            for changed in (name, *_DERIVED):
                overrides.pop(changed)
                if changed in before:
                    overrides[changed] = before[changed]

    @contextmanager
    def as_traced(self, values: tuple[Any, ...]) -> Iterator[None]:
        """Sets the options that traces depend on in this thread for the length of a `with` block,
        to those of a tuple `traced`. Meshes and axes stay what they are: they are no options.
        """
        with ExitStack() as stack:
            for name, value in zip(SEEN_IN_TRACES, values, strict=True):
                if name in _OPTIONS and getattr(self, name) != value:
                    stack.enter_context(self.scoped(name, value))
            yield

    def __setattr__(self, name: str, value: object) -> None:
        name = _option(name)
        raise AttributeError(
            f"config.{name} can't be assigned: call config.update({name!r}, {value!r}), or use "
            f"`with irax.{name}({value!r}):` to set it in this thread for a while"
        )

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={getattr(self, name)}' for name in _OPTIONS)})"


_OPTIONS = tuple(Config.__annotations__)
SEEN_IN_TRACES = (
    *("enable_x64", "threefry_partitionable", "default_matmul_precision", "explicit_x64_dtypes"),
    *("numpy_dtype_promotion", "numpy_rank_promotion", "legacy_prng_key", "debug_key_reuse"),
    "deterministic",
    *("enable_custom_prng", "check_static_indices", "random_seed_offset"),
    *("default_prng_impl", "unbiased_random", "mesh", "entered_mesh", "abstract_mesh"),
    "no_collectives",
)
"""The names of the values in `Config.traced`."""

_OF_CALLS = (
    *("disable_jit", "debug_nans", "debug_infs", "default_device", "spmd", "profiling"),
    "no_execution",
    *GUARDS_OF_DIRECTIONS,
)

_DERIVED = ("traced", "state", "stepwise", "guards_transfers")
"""Values that follow from options, kept beside them because every call asks for them."""


_values = operator.attrgetter(*SEEN_IN_TRACES, *_OF_CALLS)


def _derived(options: Config | type[Config]) -> dict[str, Any]:
    state = _values(options)
    with suppress(TypeError):  # an option that has no hash
        state = _first_equal(state)
    levels = [getattr(options, name) for name in GUARDS_OF_DIRECTIONS]
    guards = any(level not in (None, "allow") for level in levels)
    stepwise = options.debug_nans or options.debug_infs or options.given is not None or guards
    values = (state[: len(SEEN_IN_TRACES)], state, stepwise, guards)
    return dict(zip(_DERIVED, values, strict=True))


@lru_cache(maxsize=256)
def _first_equal(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the tuple that was first of those equal to `state`. Calls compare it by identity, and
    `with` blocks set the same options over and over.
    """
    return state


for _name, _value in _derived(Config).items():
    setattr(Config, _name, _value)
_PREFIXES = ("irax_", "jax_")
_SYNONYMS = {
    "explain": "explain_cache_misses",
    "platform_name": "default_device",
    "platforms": "default_device",
}
"""Other names of options: a short one, and JAX's for the platform to run on."""

# Aliases as properties, because a `__getattr__` would double the time that reading an option takes.
for _name, _value in xla_options.DEFAULTS.items():
    setattr(Config, _name, _value)
for _name in (*_OPTIONS, *_SYNONYMS, *xla_options.DEFAULTS):
    for _prefix in _PREFIXES:
        _getter = operator.attrgetter(_SYNONYMS.get(_name, _name))
        setattr(Config, _prefix + _name, property(_getter))


def _option(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    name = _SYNONYMS.get(name, name)
    if name not in _OPTIONS and name not in xla_options.DEFAULTS:
        raise _missing_option(name)
    return name


def _missing_option(name: str) -> AttributeError:
    reason = xla_options.ABSENT.get(name)
    if reason:
        return AttributeError(f"irax has no option {name!r}, which JAX has: {reason}", name=name)
    import difflib  # an error is rare

    near = difflib.get_close_matches(name, [*_OPTIONS, *_SYNONYMS], n=1)
    told = f"did you mean {near[0]!r}?" if near else f"its options are {', '.join(_OPTIONS)}"
    return AttributeError(f"irax has no option {name!r}; {told}", name=name)


def _refuse(name: str) -> property:
    """Return the attribute of an option that JAX has and irax has not."""

    def get(_: Config) -> NoReturn:
        raise _missing_option(name)

    return property(get)


for _name in xla_options.ABSENT:
    for _prefix in _PREFIXES:
        setattr(Config, _prefix + _name, _refuse(_name))


def _choose_cpu_devices(count: int) -> None:
    if count > 0:
        from irax_runtime.platforms import choose_cpu_devices

        choose_cpu_devices(count)


def _let_calls_return_early(value: bool) -> None:
    from irax_runtime import in_flight

    in_flight.enable(value)


def _keep_programs(name: str) -> Callable[[Any], None]:
    """Return what sets a setting of the compiler's cache."""

    def choose(value: Any) -> None:
        from irax_compiler import cache

        setattr(cache.settings, name, value)

    return choose


_EFFECTS: dict[str, Callable[[Any], None]] = {
    "num_cpu_devices": _choose_cpu_devices,
    "cpu_enable_async_dispatch": _let_calls_return_early,
    "compilation_cache_dir": _keep_programs("folder"),
    "compilation_cache_max_size": _keep_programs("size"),
    "enable_compilation_cache": _keep_programs("is_on"),
}
"""Options of the process that the compiler or the runtime has to know."""


def checked(name: str, value: object) -> Any:
    """Return the value that an option is to have.

    Raises:
        TypeError: the value isn't of a type that the option takes.
        ValueError: the option has names for values, and this is none of them.
    """
    if name == "num_cpu_devices":
        if isinstance(value, int) and (value > 0 or value == -1):
            return int(value)
        raise TypeError(
            f"the option num_cpu_devices must be a number of devices, 1 or more, got {value!r}"
        )
    if name == "random_seed_offset":
        if isinstance(value, int):
            return int(value)
        raise TypeError(f"the option {name} must be an integer, got {value!r}")
    if name == "default_device":
        if value is None or isinstance(value, str) or hasattr(value, "put"):
            return value
        raise TypeError(
            f"the option default_device must be one of irax.devices(), a platform or None, got "
            f"{value!r}"
        )
    if name == "compilation_cache_dir":
        if value is None or isinstance(value, (str, os.PathLike)):
            return value if value is None else os.fspath(value)
        raise TypeError(f"the option {name} must be a folder or None, got {value!r}")
    if name == "compilation_cache_max_size":
        if isinstance(value, int) and value >= -1:
            return value
        raise TypeError(f"the option {name} must be a number of bytes, or -1, got {value!r}")
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            listed = ", ".join(map(repr, _CHOICES[name]))
            raise ValueError(f"the option {name} must be one of {listed}, got {value!r}")
        return value
    if not isinstance(value, bool):
        raise TypeError(f"the option {name} must be True or False, got {value!r}")
    return value


def options() -> dict[str, Any]:
    """The options by name, with what values they take: bool, str, or a tuple of values."""
    numbers = ("num_cpu_devices", "compilation_cache_max_size", "random_seed_offset")
    kinds = {name: _CHOICES.get(name, bool) for name in _OPTIONS if name not in numbers}
    return kinds | {"default_device": str, "compilation_cache_dir": str}


def take_jax_environment() -> None:
    """Set the options that JAX's environment variables (`JAX_ENABLE_X64`) name.

    Raises:
        ValueError: a variable has a value that its option has not.
    """
    platforms = os.environ.get("JAX_PLATFORMS", "")
    if platforms:
        os.environ.setdefault("IRAX_PLATFORMS", platforms)
    for name in _OPTIONS:
        variable = f"JAX_{name.upper()}"
        text = os.environ.get(variable, "").strip()
        if not text:
            continue
        kind: Any = type(getattr(Config, name))
        try:
            value = _TRUTH.get(text.lower(), text) if kind is bool else text
            config.update(name, int(text) if kind is int else value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the environment variable {variable} is {text!r}: {error}") from None


config: Config = Config()
