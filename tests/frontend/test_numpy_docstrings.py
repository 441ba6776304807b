"""The examples in docstrings of irax.numpy, irax.lax and irax.nn run, and each function has one."""

import doctest
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import irax


def _modules(package: ModuleType) -> list[str]:
    """The modules of a package and of its rooms."""
    root = Path(str(package.__file__)).parent
    paths = [path.relative_to(root) for path in root.rglob("*.py") if path.stem != "__init__"]
    return sorted(".".join((package.__name__, *path.with_suffix("").parts)) for path in paths)


MODULES = [
    "irax.execution.callbacks",
    "irax.execution.shardings.show_shardings",
    "irax.debug",
    *(f"irax.nn.{name}" for name in ("activations", "attention", "axes", "initializers", "scaled")),
    *(f"irax.random.{name}" for name in ("basic", "continuous", "counts", "gammas", "keys")),
    *(f"irax.random.{name}" for name in ("normals", "selection")),
    "irax.experimental.ode",
    "irax.flatten_util",
    "irax.scipy.sparse.linalg",
    *(f"irax.scipy.linalg.{name}" for name in ("factorizations", "functions")),
    *(f"irax.scipy.linalg.{name}" for name in ("solutions", "special")),
    *(f"irax.scipy.special.{name}" for name in ("bessels", "gammas", "hypergeometric")),
    *(f"irax.scipy.special.{name}" for name in ("integrals", "logarithms", "normal")),
    *(f"irax.scipy.stats.{name}" for name in ("kde", "multivariate", "samples")),
    *(f"irax.scipy.{name}" for name in ("cluster.vq", "fft", "interpolate", "ndimage", "optimize")),
    "irax.image",
    "irax.scipy.signal.convolutions",
    "irax.scipy.signal.spectra",
    "irax.scipy.spatial.transform",
    *_modules(irax.lax),
    *_modules(irax.numpy),
]


GLOBALS = {"irax": irax, "jnp": irax.numpy, "stats": irax.scipy.stats}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    results = doctest.testmod(module, extraglobs=GLOBALS, verbose=False)
    assert not results.failed


@pytest.mark.parametrize(
    "module", [irax.numpy, irax.numpy.linalg, irax.lax, irax.lax.linalg, irax.nn]
)
def test_every_function_says_what_it_does(module):
    silent = [
        name
        for name in dir(module)
        if not name.startswith("_")
        for value in [getattr(module, name)]
        if inspect.isfunction(value)
        if not value.__doc__
    ]
    assert not silent


@pytest.mark.parametrize("module", [irax.numpy, irax.lax])
def test_functions_are_called_what_they_are(module):
    aliases = {"pow": "power", "mod": "remainder", "fix": "trunc"}
    for name in dir(module):
        value = getattr(module, name)
        ours = inspect.isfunction(value) and value.__module__.startswith("irax")
        if ours and not name.startswith("_") and name not in aliases:
            assert getattr(module, value.__name__) is value, name
