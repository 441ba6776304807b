"""Options: the process's values, a thread's overrides, the environment, and the two spellings."""

import doctest
import importlib
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from irax.core.settings import xla_options

# Not `import irax.config`: that name is the Config object once irax itself has been imported.
module = importlib.import_module("irax.config")
config = module.config

OPTIONS = ["enable_x64", "debug_nans", "debug_infs", "disable_jit", "threefry_partitionable"]


@pytest.fixture(autouse=True)
def restore():
    before = {name: getattr(config, name) for name in OPTIONS}
    yield
    for name, value in before.items():
        config.update(name, value)


def in_a_new_thread(f):
    result = []
    thread = threading.Thread(target=lambda: result.append(f()))
    thread.start()
    thread.join()
    return result[0]


def python(code, path=None, **env):
    """Run code in a fresh interpreter, with the irax at `path`."""
    path = Path(module.__file__).parent.parent if path is None else path
    env = {k: v for k, v in os.environ.items() if not k.startswith("IRAX_")} | env
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=env | {"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def house(tmp_path):
    """A package irax whose `config` is the Config object, and with nothing else in it."""
    package = tmp_path / "irax"
    (package / "core").mkdir(parents=True)
    (package / "core" / "__init__.py").touch()
    (package / "__init__.py").write_text("from irax.config import config, enable_x64\n")
    source = Path(module.__file__).parent
    core = ("origins.py", "wrapping.py", "settings", "dtypes")
    for name in ("config.py", "dtypes.py", *(f"core/{name}" for name in core)):
        (package / name).symlink_to(source / name)
    return tmp_path


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("prefix", ["", "irax_", "jax_"])
def test_update_is_for_every_thread_and_every_alias(name, prefix):
    config.update(name, False)
    config.update(prefix + name, True)
    assert getattr(config, name) is True
    assert getattr(config, prefix + name) is True
    assert in_a_new_thread(lambda: getattr(config, name)) is True


@pytest.mark.parametrize("name", OPTIONS)
def test_an_override_is_for_one_thread_and_one_block(name):
    override = getattr(module, name)
    config.update(name, False)
    with override(True):
        assert getattr(config, name) is True
        assert in_a_new_thread(lambda: getattr(config, name)) is False
        with override(False):
            assert getattr(config, name) is False
        assert getattr(config, name) is True
        assert getattr(config, "jax_" + name) is True
    assert getattr(config, name) is False


def test_an_override_ends_with_an_exception():
    config.update("enable_x64", False)
    with pytest.raises(KeyError), module.enable_x64():
        raise KeyError
    assert config.enable_x64 is False


def test_blocks_with_the_same_options_have_the_same_state():
    """So a call in each finds the program of the one before, without a search."""
    states = []
    for x64 in (True, False, True, False):
        with module.enable_x64(x64):
            states.append(config.state)
    assert states[0] is states[2]
    assert states[1] is states[3]
    assert states[0] != states[1]


def test_update_inside_an_override_shows_after_it():
    config.update("debug_nans", False)
    with module.debug_nans(False):
        config.update("debug_nans", True)
        assert config.debug_nans is False
        assert in_a_new_thread(lambda: config.debug_nans) is True
    assert config.debug_nans is True


UNKNOWN = {
    "enable_x46": "did you mean 'enable_x64'",
    "jax_platform_nam": "did you mean 'platform_name'",
    **dict.fromkeys(["update", "", "__class__"], "enable_x64, debug_nans, debug_infs, disable_jit"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_option_is_named_with_those_there_are(name):
    with pytest.raises(AttributeError, match=rf"no option.*{UNKNOWN[name]}"):
        config.update(name, True)


def test_options_of_jax_that_are_missing_say_why():
    for ask in (lambda: config.jax_dump_ir_to, lambda: config.read("jax_dump_ir_to")):
        with pytest.raises(AttributeError, match="which JAX has: irax compile --save-stages"):
            ask()
    assert not hasattr(config, "jax_check_vma")


def test_options_of_jax_are_there_or_have_a_reason():
    jax = pytest.importorskip("jax", reason="compares with JAX")
    # JAX's modules for tests add options of their own, so another process tells the library's
    names = python("import jax; print(*jax.config.values)").stdout.split()
    assert "jax_enable_x64" in names
    for name in names:
        value = jax.config.values[name]
        bare = name.removeprefix("jax_")
        if bare in xla_options.ABSENT:
            assert not hasattr(config, name)
        else:
            assert hasattr(config, name), name
        if bare in xla_options.DEFAULTS:
            assert config.read(name) == value


def test_reading_an_unknown_option():
    with pytest.raises(AttributeError, match="enable_x46"):
        _ = config.enable_x46


@pytest.mark.parametrize("value", [1, "true", None, 0.0])
def test_the_value_must_be_a_bool(value):
    with pytest.raises(TypeError, match="enable_x64 must be True or False, got"):
        config.update("jax_enable_x64", value)
    with pytest.raises(TypeError, match="enable_x64 must be True or False, got"):
        module.enable_x64(value).__enter__()
    assert isinstance(config.enable_x64, bool)


def test_assignment_is_refused_with_the_cure():
    with pytest.raises(AttributeError, match=r"config.update\('enable_x64', True\)"):
        config.enable_x64 = True


def test_repr_shows_the_values():
    config.update("disable_jit", True)
    assert "disable_jit=True" in repr(config)


@pytest.mark.parametrize("text, value", [("1", True), ("True", True), ("on", True), ("0", False)])
def test_the_environment_sets_the_first_value(house, text, value):
    done = python("import irax; print(irax.config)", house, IRAX_ENABLE_X64=text)
    assert f"enable_x64={value}, debug_nans=False" in done.stdout, done.stderr


def test_a_bad_value_in_the_environment_is_named(house):
    done = python("import irax", house, IRAX_DEBUG_NANS="maybe")
    assert "ValueError: the environment variable IRAX_DEBUG_NANS is 'maybe'" in done.stderr


def test_both_spellings_work_at_once(house):
    done = python(
        """
        import irax
        irax.config.update("jax_enable_x64", True)
        from irax.config import config
        assert config is irax.config
        assert config.enable_x64
        from irax.dtypes import canonicalize_dtype
        assert canonicalize_dtype("float64") == "float64"
        with irax.enable_x64(False):
            assert not irax.config.enable_x64
            assert canonicalize_dtype("float64") == "float32"
        from irax.config import config as again, disable_jit
        assert again is irax.config
        import irax.config
        assert irax.config is config
        import sys
        assert sys.modules["irax.config"].config is config
        print("done")
        """,
        house,
    )
    assert done.stdout == "done\n", done.stderr


def test_examples():
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_read_is_the_value_of_the_process():
    with module.debug_nans(True):
        assert config.read("jax_debug_nans") is config.read("debug_nans") is False
    assert config.x64_enabled is config.jax_enable_x64
    with pytest.raises(AttributeError, match="no option 'nonsense'"):
        config.read("nonsense")


def test_the_platform_has_jax_names():
    try:
        config.update("jax_platform_name", "cpu")
        assert config.default_device == config.jax_platform_name == config.jax_platforms == "cpu"
    finally:
        config.update("jax_platforms", None)
    assert config.default_device is None


def test_options_of_the_cache(tmp_path):
    """JAX's lines that name a folder for compiled programs do so, and its size and switch count."""
    folder = tmp_path / "programs"
    code = f"""
        import irax, irax.numpy as jnp
        from irax_compiler import cache
        irax.config.update("jax_compilation_cache_dir", {str(folder)!r})
        irax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
        irax.config.update("jax_compilation_cache_max_size", 10_000_000)
        irax.config.update("jax_enable_compilation_cache", False)
        irax.jit(lambda x: x + 1)(jnp.ones(3))
        print(cache.directory(), len(cache.entries()))
        irax.config.update("jax_enable_compilation_cache", True)
        irax.jit(lambda x: x + 2)(jnp.ones(3))
        print(cache.directory(), len(cache.entries()) > 0, cache.size_limit())
        print(irax.config.jax_persistent_cache_min_compile_time_secs)
    """
    done = python(code, os.pathsep.join(sys.path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"None 0\n{folder} True 10000000\n0.5\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [("compilation_cache_dir", 3), ("compilation_cache_max_size", -2), ("enable_x64", 1)],
)
def test_values_of_another_type_are_refused(name, value):
    with pytest.raises(TypeError, match=f"the option {name} must be .*, got {value}"):
        config.update(name, value)
