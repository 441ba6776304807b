"""Modules of functions for `test_untraced_starts.py`, and what changes their results."""

HEAD = """
import dataclasses, functools, math, types
import numpy as np
import irax
import irax.numpy as jnp
"""

CHANGES = {
    "a global number": ("RATE = 2.0\ndef f(x): return x * RATE", "RATE = 2.0", "RATE = 3.0"),
    "a global list": ("N = [1, 2]\ndef f(x): return x * sum(N)", "[1, 2]", "[1, 3]"),
    "a global dict": ("N = {'a': 1}\ndef f(x): return x * N['a']", "'a': 1", "'a': 4"),
    "a global array": ("A = np.arange(3.)\ndef f(x): return x + A", "arange(3.)", "arange(3.) * 2"),
    "an irax array": (
        "A = jnp.arange(64.)\ndef f(x): return x + A.sum()",
        *("arange(64.)", "arange(64.) * 2"),
    ),
    "a constant": ("def f(x): return x * 2", "* 2", "* 3"),
    "the type of a constant": ("def f(x): return x.astype(int) * 2", "* 2", "* 2.0"),
    "a sign of zero": ("Z = 0.0\ndef f(x): return x / Z", "0.0", "-0.0"),
    "an operator": ("def f(x): return x * 2", "*", "+"),
    "a helper": (
        "def g(x): return x * 2\ndef f(x): return g(x) + 1",
        *("return x * 2", "return x * 3"),
    ),
    "the helper of a helper": (
        "def h(x): return x * 2\ndef g(x): return h(x)\ndef f(x): return g(x) + 1",
        *("return x * 2", "return x * 3"),
    ),
    "a helper within a function": (
        "def h(x): return x * 2\ndef f(x):\n    def g(y): return h(y)\n    return g(x)",
        *("return x * 2", "return x * 3"),
    ),
    "a lambda in a comprehension": (
        "N = 2\ndef f(x): return sum([(lambda y: y * N)(x) for _ in range(3)])",
        *("N = 2", "N = 5"),
    ),
    "a default": ("def f(x, n=2): return x * n", "n=2", "n=3"),
    "a default by name": ("def f(x, *, n=2): return x * n", "n=2", "n=3"),
    "the default of a helper": (
        "def g(x, n=2): return x * n\ndef f(x): return g(x)",
        *("n=2", "n=3"),
    ),
    "a closure": (
        "def make(n):\n    def f(x): return x * n\n    return f\nf = make(2)",
        *("make(2)", "make(3)"),
    ),
    "a closure over an array": (
        "def make(a):\n    def f(x): return x * a\n    return f\nf = make(jnp.arange(3.))",
        *("arange(3.)", "arange(3.) + 1"),
    ),
    "a closure over a function": (
        "def make(g):\n    def f(x): return g(x)\n    return f\nf = make(lambda x: x * 2)",
        *("x * 2", "x * 3"),
    ),
    "a partial": (
        "def g(n, x): return x * n\nf = functools.partial(g, 2)",
        *("(g, 2)", "(g, 3)"),
    ),
    "a class attribute": (
        "class C:\n    n = 2\n    def g(self, x): return x * self.n\nc = C()\n"
        "def f(x): return c.g(x)",
        *("n = 2", "n = 3"),
    ),
    "an inherited class attribute": (
        "class B:\n    n = 2\nclass C(B):\n    def g(self, x): return x * self.n\nc = C()\n"
        "def f(x): return c.g(x)",
        *("n = 2", "n = 3"),
    ),
    "an attribute of an instance": (
        "class C:\n    def __init__(self, n): self.n = n\nc = C(2)\ndef f(x): return x * c.n",
        *("C(2)", "C(3)"),
    ),
    "a slot": (
        "class C:\n    __slots__ = ('n',)\n    def __init__(self, n): self.n = n\nc = C(2)\n"
        "def f(x): return x * c.n",
        *("C(2)", "C(3)"),
    ),
    "a property": (
        "class C:\n    @property\n    def n(self): return 2\nc = C()\ndef f(x): return x * c.n",
        *("return 2", "return 3"),
    ),
    "an operator of a class": (
        "class C:\n    def __rmul__(self, x): return x + 2\nc = C()\ndef f(x): return 3 * c * x",
        *("x + 2", "x + 3"),
    ),
    "a metaclass": (
        "class M(type):\n    def __call__(cls): return 2\nclass C(metaclass=M): pass\n"
        "def f(x): return x * C()",
        *("return 2", "return 3"),
    ),
    "a dataclass": (
        "@dataclasses.dataclass(frozen=True)\nclass C:\n    n: int = 2\ndef f(x): return x * C().n",
        *("int = 2", "int = 3"),
    ),
    "a namespace": (
        "c = types.SimpleNamespace(n=2)\ndef f(x): return x * c.n",
        *("n=2", "n=3"),
    ),
    "a bound method": (
        "class C:\n    def __init__(self, n): self.n = n\n    def g(self, x): return x * self.n\n"
        "f = C(2).g",
        *("C(2)", "C(3)"),
    ),
    "a decorator": (
        "def twice(g):\n    @functools.wraps(g)\n    def h(x): return g(x) * 2\n    return h\n"
        "@twice\ndef f(x): return x + 1",
        *("* 2", "* 3"),
    ),
    "a decorator that is gone": (
        "def twice(g):\n    @functools.wraps(g)\n    def h(x): return g(x) * 2\n    return h\n"
        "@twice\ndef f(x): return x + 1",
        *("@twice\n", ""),
    ),
    "a gradient": (
        "def loss(x): return (x ** 2).sum()\nf = irax.grad(loss)",
        *("** 2", "** 3"),
    ),
    "a gradient inside": (
        "def loss(x): return (x ** 2).sum()\ndef f(x): return irax.vmap(irax.grad(loss))(x)",
        *("** 2", "** 3"),
    ),
    "a transformation": (
        "def g(x): return x.sum()\ndef f(x): return irax.grad(g)(x)",
        *("irax.grad(g)", "irax.vmap(g)"),
    ),
    "a jitted helper": (
        "@irax.jit\ndef g(x): return x * 2\ndef f(x): return g(x)",
        *("* 2", "* 3"),
    ),
    "a derivative rule": (
        "@irax.custom_jvp\ndef g(x): return x * 2\n"
        "g.defjvp(lambda x, t: (g(*x), 5 * t[0]))\n"
        "def f(x): return irax.grad(lambda y: g(y).sum())(x)",
        *("5 * t[0]", "6 * t[0]"),
    ),
    "a function of irax": ("g = jnp.sin\ndef f(x): return g(x)", "sin", "cos"),
    "a ufunc of irax": ("g = jnp.add\ndef f(x): return g(x, 2)", "add", "multiply"),
    "a dtype": ("T = jnp.float16\ndef f(x): return x.astype(T)", "float16", "bfloat16"),
    "a dtype of NumPy": ("T = np.dtype('f2')\ndef f(x): return x.astype(T)", "'f2'", "'i4'"),
    "a builtin": ("def f(x): return abs(-2) * x\nabs = abs", "abs = abs", "abs = float"),
    "an attribute of a function": ("def f(x): return x * f.n\nf.n = 2", "f.n = 2", "f.n = 3"),
    "an attribute of a module": (
        "m = types.ModuleType('m')\nm.n = 2\ndef f(x): return x * m.n",
        *("m.n = 2", "m.n = 3"),
    ),
    "a function of a module of a module": (
        "m = types.ModuleType('m')\nm.k = types.ModuleType('m.k')\nm.k.g = lambda x: x * 2\n"
        "def f(x): return m.k.g(x)",
        *("x * 2", "x * 3"),
    ),
    "a module in a closure": (
        "m = types.ModuleType('m')\nm.n = 2\ndef make(m):\n"
        "    def f(x): return [x * m.n for _ in x]\n    return f\nf = make(m)",
        *("m.n = 2", "m.n = 3"),
    ),
    "a module in a closure of a helper": (
        "m = types.ModuleType('m')\nm.n = 2\ndef make(m):\n    def f(x):\n"
        "        def g(y): return y * m.n\n        return g(x)\n    return f\nf = make(m)",
        *("m.n = 2", "m.n = 3"),
    ),
    "an attribute of irax that is passed on": (
        "def g(m, x): return m.sin(x)\ndef f(x): return g(jnp, x)",
        *("m.sin", "m.cos"),
    ),
    "a module of irax that is passed on": (
        "def g(m, x): return m.sin(x)\ndef f(x): return g(jnp, x)",
        *("g(jnp, x)", "g(irax.lax, x) + 1"),
    ),
    "a descriptor": (
        "class D:\n    def __get__(self, *_): return 2\nclass C:\n    n = D()\n"
        "def f(x): return x * C().n",
        *("return 2", "return 3"),
    ),
    "an attribute that is computed": (
        "class C:\n    def __getattr__(self, name): return 2\nc = C()\ndef f(x): return x * c.n",
        *("return 2", "return 3"),
    ),
    "a context manager": (
        "import contextlib\n@contextlib.contextmanager\ndef g():\n    yield 2\n"
        "def f(x):\n    with g() as n: return x * n",
        *("yield 2", "yield 3"),
    ),
    "a member of an enumeration": (
        "import enum\nclass E(enum.Enum):\n    A = 2\ndef f(x): return x * E.A.value",
        *("A = 2", "A = 3"),
    ),
    "a field's default of a named tuple": (
        "import typing\nclass C(typing.NamedTuple):\n    n: int = 2\ndef f(x): return x * C().n",
        *("int = 2", "int = 3"),
    ),
    "a protocol of arrays": (
        "class C:\n    def __jax_array__(self): return jnp.float32(2)\nc = C()\n"
        "def f(x): return jnp.multiply(x, c)",
        *("float32(2)", "float32(3)"),
    ),
    "how a class is a pytree": (
        "class C:\n    def __init__(self, x): self.x = x\n"
        "irax.tree_util.register_pytree_node(C, lambda c: ((c.x,), None), lambda _, x: C(*x))\n"
        "def f(x): return irax.tree.map(lambda y: y * 2, C(x)).x",
        *("((c.x,), None)", "((c.x + 1,), None)"),
    ),
    "a condition": ("FLAG = True\ndef f(x): return x if FLAG else -x", "True", "False"),
}
"""For each: the source of a function, a part of it, and what takes the place of that."""

REFUSED = {
    "prints": "def f(x):\n    print('traced')\n    return x",
    "appends": "seen = []\ndef f(x):\n    seen.append(1)\n    return x",
    "counts": "def make():\n    n = 0\n    def f(x):\n        nonlocal n\n        n += 1\n"
    "        return x * n\n    return f\nf = make()",
    "memoizes": "memo = {}\ndef f(x):\n    memo['x'] = 1\n    return x",
    "writes a global": "n = 0\ndef f(x):\n    global n\n    n = 1\n    return x",
    "sets an attribute": "class C: pass\nc = C()\ndef f(x):\n    c.n = 1\n    return x",
    "sets an attribute of another object": "class C:\n    def __init__(self):\n"
    "        for x in (0, 1):\n            self.n = 1\n            self = C\n"
    "def f(x): return (C, x)[1]",
    "sets an attribute of irax": "def f(x):\n    irax.Array.n = 1\n    return x\n",
    "asks the time": "import time\ndef f(x): return x * time.time()",
    "draws a number": "import random\ndef f(x): return x * random.random()",
    "draws a number of NumPy": "def f(x): return x * np.random.rand()",
    "reads the environment": "import os\ndef f(x): return x * len(os.environ)",
    "opens a file": "def f(x):\n    open('/dev/null').close()\n    return x",
    "imports": "def f(x):\n    import math\n    return x * math.pi",
    "evaluates text": "def f(x): return eval('x')",
    "asks for an address": "def f(x): return x * (id(x) % 7)",
    "asks for a hash": "def f(x): return x * (hash('a') % 7)",
    "orders a set": "def f(x):\n    for n in {'a', 'b'}: x = x * len(n)\n    return x",
    "iterates": "steps = iter([1, 2, 3])\ndef f(x): return x * next(steps)",
    "generates": "steps = (n for n in [1, 2])\ndef f(x): return x * next(steps)",
    "passes a module": "import math\ndef g(m, x): return m.sin(2) * x\ndef f(x): return g(math, x)",
    "passes a module of a closure": "import math\ndef g(m, x): return m.sin(2) * x\n"
    "def make(m):\n    def f(x):\n        def h(y): return g(m, y)\n        return h(x)\n"
    "    return f\nf = make(math)",
    "passes a module whose attributes are computed": "def g(m, x): return getattr(m, 'sin')(x)\n"
    "def f(x): return g(jnp, x)",
    "passes a module with effects": "def g(m, x):\n    m.debug.print('x')\n    return x\n"
    "def f(x): return g(irax, x)",
    "matches a module": "def g(m, x):\n    match m:\n        case object(sin=s): return s(x)\n"
    "def f(x): return g(jnp, x)",
    "reads all globals": "def f(x): return x * len(globals())",
    "reads the globals of a function": "def g(): pass\ndef f(x): return x * len(g.__globals__)",
    "names them in a text": "def f(x): return x * len(getattr(f, '__globals__'))",
    "reads a frame": "import sys\ndef f(x): return x * sys._getframe().f_lineno",
    "has a cache": "@functools.lru_cache\ndef g(n): return n\ndef f(x): return x * g(2)",
    "makes a class": "def f(x):\n    class C: n = 2\n    return x * C.n",
    "draws with an object": "r = np.random.default_rng(0)\ndef f(x): return x * r.random()",
    "has a pattern": "import re\np = re.compile('a')\ndef f(x): return x * len(p.findall('aa'))",
    "prints traced values": "def f(x):\n    irax.debug.print('{}', x)\n    return x",
    "calls back": "def f(x): return irax.pure_callback(lambda y: y, x, x)",
    "counts devices": "def f(x): return x * irax.device_count()",
    "reads an option": "def f(x): return x * irax.config.enable_x64",
    "has elements unset": "def f(x): return x * np.empty(1).size",
    "reads its documentation": "def f(x):\n    'Doc.'\n    return x * len(f.__doc__)",
    "loads a library": "def f(x): return x * len(np.ctypeslib.as_array(C()))\n"
    "import ctypes\nC = ctypes.c_int * 1",
    "has a module that computes": "class M(types.ModuleType): n = 2\nm = M('m')\n"
    "def f(x): return x * m.n",
    "reads types": "import typing\ndef f(x): return x * len(typing.get_type_hints(f))",
    "warns": "def f(x): return x.astype('float64')",
    "has large arrays": "A = np.zeros(2_000_000)\ndef f(x): return x + A[:3].astype('f4')",
    "puts on a device": "def f(x): return irax.device_put(x, irax.devices()[0])",
    "has a file": "import io\no = io.StringIO()\ndef f(x):\n    o.write('x')\n    return x",
    "has a thread's value": "import threading\nl = threading.local()\nl.n = 2\n"
    "def f(x): return x * l.n",
    "has a mock": "from unittest import mock\nm = mock.Mock(return_value=2)\n"
    "def f(x): return x * m()",
    "has a class of C's": "import datetime\ndef f(x): return x * datetime.date.today().year",
    "is asynchronous": "async def g(): pass\ndef f(x):\n    g().close()\n    return x",
}
"""Sources of functions that are traced by each process."""
