"""Sources of functions whose results depend on what is easily overlooked."""

_CELLS = """
def make():
    n = 0
    def write(v):
        nonlocal n
        n = v
    def read(): return n
    return write, read
write, read = make()
def f(x):
    write(3)
    y = x * read()
    write(0)
    return y
"""
_VIEWS = """
B = np.zeros(4, 'f4')
A = B[:2]
def f(x):
    A[0] = 5
    y = x * B[0]
    A[0] = 0
    return y
"""
_ABSTRACT = """
import abc, numbers
from collections.abc import Sequence
class B(abc.ABC): pass
class D(B): pass
class E(Sequence): pass
class C: pass
c = C()
def f(x): return x * 2 if isinstance(c, ASKED) else x
ASKED = B
"""
_DOCUMENTED = "P = 'doc'\ndef g(): pass\ng.__doc__ = 'a'\n"
_GIVEN = "ns = {'__name__': 'user'}\nexec('def g(x): return x * 2', ns)\ng = ns['g']\n"
_IDENTITY = "A = 1000\nB = A\ndef f(x): return x * 2 if A is B else x"

TRAPS = {
    "the sign of a NaN": (
        "N = float('nan')\ndef f(x): return x * math.copysign(1, N)",
        *("float(", "-float("),
    ),
    "the sign of a complex NaN": (
        "N = complex(float('nan'), 0)\ndef f(x): return x * math.copysign(1, N.real)",
        *("float(", "-float("),
    ),
    "a NaN in a list": (
        "A = float('nan')\nB = [A]\ndef f(x): return x * 2 if A in B else x",
        *("[A]", "[float('nan')]"),
    ),
    "a NaN in a dict": (
        "A = float('nan')\nB = {A: 1}\ndef f(x): return x * 2 if A in B else x",
        *("{A", "{float('nan')"),
    ),
    "the identity of a number": (_IDENTITY, "B = A", "B = int('1000')"),
    "the identity of a number, by a function": (
        "import operator\n" + _IDENTITY.replace("A is B", "operator.is_(A, B)"),
        *("B = A", "B = int('1000')"),
    ),
    "the identity of a tuple": (
        _IDENTITY.replace("1000", "(1, 2)"),
        *("B = A", "B = tuple([1, 2])"),
    ),
    "the identity of a method": (
        "class C:\n    def g(self): pass\nc = C()\n" + _IDENTITY.replace("1000", "c.g"),
        *("B = A", "B = c.g"),
    ),
    "the order of an array": (
        "A = np.arange(4.).reshape(2, 2)\ndef f(x): return x[0] * A.ravel(order='K')",
        *("(2, 2)", "(2, 2).T.copy().T"),
    ),
    "the flags of an array": (
        "A = np.arange(4.)\nA.flags.writeable = True\ndef f(x): return x * A.flags.writeable",
        *("True", "False"),
    ),
    "the strides of an array": (
        "A = np.zeros(4, 'f4')\ndef f(x): return x * A.strides[0]",
        *("np.zeros(4, 'f4')", "np.zeros(8, 'f4')[::2]"),
    ),
    "a view": (_VIEWS, "B[:2]", "B[:2].copy()"),
    "the place of a view": (_VIEWS, "B[:2]", "B[2:]"),
    "the fields of a scalar": (
        "S = np.zeros(1, [('a', 'i4'), ('b', 'i4')])\nS['a'] = 2\nS = S[0]\n"
        "def f(x): return x * int(S[0])",
        *("[('a', 'i4'), ('b', 'i4')]", "[('a', 'i2'), ('b', 'i2'), ('c', 'i4')]"),
    ),
    "a dtype with a shape": (
        "D = np.dtype(('i4', (2,)))\ndef f(x): return x * D.shape[0]",
        *("('i4', (2,))", "('i2', (4,))"),
    ),
    "a variable of two functions": (
        _CELLS,
        *("write, read = make()", "write, _ = make()\n_, read = make()"),
    ),
    "a special name that a global has": (
        _DOCUMENTED + "N = '__doc__'\ndef f(x): return x * len(getattr(g, N))",
        *("'a'", "'ab'"),
    ),
    "a special name that is put together": (
        _DOCUMENTED + "def f(x): return x * len(getattr(g, f'__{P}__'))",
        *("'a'", "'ab'"),
    ),
    "globals that are computed": (
        "class D(dict):\n    def __missing__(self, k): return 2\n"
        "ns = D(__name__='user', __builtins__={})\nexec('def f(x): return x * absent', ns)\n"
        "f = dict.get(ns, 'f')",
        *("return 2", "return 3"),
    ),
    "a module that says it is irax's": (
        _GIVEN.replace("user", "irax.numpy.own") + "def f(x): return g(x)",
        *("x * 2", "x * 3"),
    ),
    "a module that says it is Python's": (
        _GIVEN.replace("user", "functools") + "def f(x): return g(x)",
        *("x * 2", "x * 3"),
    ),
    "a module that is named as what makes named tuples": (
        _GIVEN.replace("user", "namedtuple_own") + "def f(x): return g(x)",
        *("x * 2", "x * 3"),
    ),
    "a registered subclass": (_ABSTRACT, "ASKED = B", "ASKED = B\nB.register(C)"),
    "a registered subclass of a subclass": (_ABSTRACT, "ASKED = B", "ASKED = B\nD.register(C)"),
    "a registered sequence": (
        _ABSTRACT.replace("= B", "= Sequence"),
        *("= Sequence", "= Sequence\nSequence.register(C)"),
    ),
    "a registered subclass of a sequence": (
        _ABSTRACT.replace("= B", "= Sequence"),
        *("= Sequence", "= Sequence\nE.register(C)"),
    ),
    "a registered number": (
        _ABSTRACT.replace("= B", "= numbers.Number"),
        *("= numbers.Number", "= numbers.Number\nnumbers.Number.register(C)"),
    ),
    "a subclass that computes its subclasses": (
        _ABSTRACT.replace("class D(B): pass", "class D(B): __subclasshook__ = lambda c: False"),
        *("lambda c: False", "lambda c: True"),
    ),
    "a sequence that is matched": (
        "from collections.abc import Sequence\nclass C:\n    def __len__(self): return 2\n"
        "    def __getitem__(self, i): return [3, 4][i]\nc = C()\ndef f(x):\n    match c:\n"
        "        case [a, b]: return x * a\n        case _: return x",
        *("c = C()", "c = C()\nSequence.register(C)"),
    ),
    "a named tuple that is another pytree": (
        "import typing\nclass T(typing.NamedTuple):\n    a: object\n"
        "irax.tree_util.register_pytree_node(\n"
        "    T, lambda s: ((s.a * 2.0,), None), lambda _, c: T(*c))\n"
        "def f(x): return irax.tree.map(lambda y: y + 1, T(x)).a",
        *("* 2.0", "* 3.0"),
    ),
    "an attribute of a module, in a format": (
        "jnp.own = 2\nN = '{0.own}'\ndef f(x): return x * float(N.format(jnp))",
        *("own = 2", "own = 3"),
    ),
    "an annotation": (
        "import typing\nclass C:\n    def __init__(self, n): self.n = n\n"
        "    def __repr__(self): return 'C()'\nT = typing.Annotated[int, C(2)]\n"
        "def f(x): return x * typing.get_args(T)[1].n",
        *("C(2)", "C(3)"),
    ),
}
"""For each: the source of a function, a part of it, and what takes the place of that. Such
functions are told from each other, or are traced.
"""
