"""irax.numpy has JAX's names and signatures, and docs/api.md says what there is."""

import importlib
import inspect
import re
from types import ModuleType

import pytest
from tests import oracle
from tests.frontend.api_table import PATH, jax_names, reason, recorded, table, there

from irax.core import absent_names

VERSION, NAMES = recorded()


def test_docs_are_up_to_date():
    assert PATH.read_text("utf-8") == table(), "docs/api.md is out of date: run `make docs`"


@pytest.mark.parametrize("module", NAMES)
def test_what_is_missing_has_a_reason(module):
    missing = set(NAMES[module]) - there(module)
    assert not [name for name in sorted(missing) if reason(module, name) is None]


def test_what_has_a_reason_is_missing():
    for full in absent_names.WHY_ABSENT:
        module, _, name = f"jax.{full}".rpartition(".")
        assert name in NAMES[module]
        assert name not in there(module)


@pytest.mark.parametrize("full", [*sorted(absent_names.WHY_ABSENT.keys() - {"core"}), "lax.scan_p"])
def test_the_error_for_a_missing_name_says_why(full, monkeypatch):
    module, _, name = f"irax.{full}".rpartition(".")
    found = importlib.import_module(module)
    if isinstance(vars(found).get(name), ModuleType):  # another test has imported it
        monkeypatch.delattr(found, name)
    with pytest.raises(AttributeError, match=re.escape(absent_names.why_absent(module, name))):
        getattr(found, name)


@pytest.mark.parametrize("module", NAMES)
def test_the_names_are_those_of_jax(module):
    jax = pytest.importorskip("jax", reason="compares with JAX")
    if jax.__version__ != VERSION:
        pytest.skip(f"the names recorded are those of JAX {VERSION}, this is {jax.__version__}")
    assert jax_names(module) == NAMES[module]


# ---- signatures ----------------------------------------------------------------------------------

ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
DIFFERENT = {
    *("remat", "checkpoint", "permute_dims"),  # an argument may be left out, unlike JAX's
    "eig",  # derivatives by default
    *("all_gather", "breakpoint"),  # of several devices; an error that says what to use
    *("check_jvp", "check_vjp"),  # a step for each dtype
    "checkify",  # the class of failed checks, which is in a default, has another module
    *("issubdtype",),  # JAX's names in jax.numpy and in jax.dtypes differ
}
"""Functions that differ on purpose."""


@pytest.mark.parametrize("module", NAMES)
def test_signatures_are_those_of_jax(module):
    pytest.importorskip("jax", reason="compares with JAX")
    theirs = importlib.import_module(module)
    ours = importlib.import_module(module.replace("jax", "irax", 1))
    wrong = []
    for name in sorted(there(module) - DIFFERENT - oracle.lacking(module)):
        function = getattr(theirs, name, None)  # None: a module that is not imported with it
        own = getattr(ours, name)
        if not callable(function) or not callable(own) or inspect.isclass(function):
            continue
        try:
            wanted = inspect.signature(function).parameters
        except ValueError:
            continue
        had = inspect.signature(own).parameters
        lacking = [p for i, p in enumerate(wanted.values()) if not fits(i, p, had)]
        wrong += [f"{name}: {', '.join(map(str, lacking))}"] if lacking else []
    assert not wrong


CLASSES = """
Array ShapeDtypeStruct tree_util.Partial tree_util.PyTreeDef export.Exported stages.Compiled
stages.Lowered stages.Traced sharding.AbstractMesh sharding.Mesh sharding.NamedSharding
sharding.PartitionSpec sharding.SingleDeviceSharding custom_jvp custom_vjp
"""
INTERNAL = {"check_compatible_aval", "to_lo", "to_tangent_spec", "to_ct_spec"}
"""Methods that JAX calls itself."""


@pytest.mark.parametrize("full", sorted({*CLASSES.split()} - oracle.LACKING.keys()))
def test_methods_are_those_of_jax(full):
    pytest.importorskip("jax", reason="compares with JAX")
    module, _, name = full.rpartition(".")
    theirs, own = (
        getattr(importlib.import_module(f"{library}.{module}".rstrip(".")), name)
        for library in ("jax", "irax")
    )
    wrong = []
    for method, function in vars(theirs).items():
        if method[0] == "_" or method in INTERNAL or not inspect.isfunction(function):
            continue
        had = dict([*inspect.signature(getattr(own, method)).parameters.items()][1:])
        _, *wanted = inspect.signature(function).parameters.values()
        lacking = [p for i, p in enumerate(wanted) if not fits(i, p, had)]
        wrong += [f"{method}: {', '.join(map(str, lacking))}"] if lacking else []
    assert not wrong


def fits(place, parameter, had):
    """Return True if a parameter can be given as to JAX's function: its name, place and default."""
    if parameter.name.startswith("_") or parameter.kind in ANY_NUMBER:
        return True
    if parameter.kind is parameter.POSITIONAL_ONLY:
        return place < len(had) and list(had.values())[place].kind is not parameter.KEYWORD_ONLY
    own = had.get(parameter.name)
    if own is None or not same_default(own, parameter):
        return False
    if parameter.kind is parameter.KEYWORD_ONLY:
        return True
    return list(had).index(parameter.name) == place and own.kind is not own.KEYWORD_ONLY


def same_default(own, theirs):
    """Return True if parameters have one default; JAX's own objects mark that nothing was given."""
    name = getattr(theirs.default, "name", None)  # of an enumeration
    if name is not None:
        return own.default.name == name
    default = str(theirs.default).replace("jax.", "irax.")
    return "object at 0x" in default or "nspecified" in default or str(own.default) == default
