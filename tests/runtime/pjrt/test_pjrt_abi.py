"""The PJRT C API in ctypes: what the header says, and what a C compiler makes of it."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.runtime.pjrt.pjrt_programs import needs_plugin

from irax_runtime.pjrt import abi
from irax_tools import pjrt_abi

STRUCTS = [
    kind
    for kind in vars(abi).values()
    if isinstance(kind, type) and hasattr(kind, "SIZE") and kind is not abi.Args
]


@needs_plugin
def test_the_module_is_what_the_generator_makes_of_the_installed_header():
    assert pjrt_abi.TARGET.read_text() == pjrt_abi.generate(pjrt_abi.installed_header().read_text())


@needs_plugin
def test_a_c_compiler_lays_structs_out_alike(tmp_path: Path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    lines = ["#include <stdio.h>", f'#include "{pjrt_abi.installed_header()}"', "int main() {"]
    expected = []
    for kind in STRUCTS:
        name = f"PJRT_{kind.__name__}"
        struct = name if name == "PJRT_Api" else f"struct {name}"
        for field in _fields(kind):
            lines.append(f'printf("%zu ", offsetof({struct}, {_in_c(field)}));')
            expected.append(getattr(kind, field).offset)
        lines.append(f'printf("%zu ", sizeof({struct}));')
        expected.append(ctypes.sizeof(kind))
        if kind.__name__ not in ("Extension_Base", "Chunk", "Api"):
            lines.append(f'printf("%zu ", (size_t){name}_STRUCT_SIZE);')
            expected.append(kind.SIZE)
    lines += ["return 0;", "}"]
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text("\n".join(lines))
    subprocess.run([compiler, "-o", program, source], check=True)
    told = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    assert list(map(int, told)) == expected
    assert len(STRUCTS) > 130


def _fields(kind: type) -> list[str]:
    """The fields that C has names for: a union has none."""
    return [
        f for base in kind.__mro__[::-1] for f, *_ in vars(base).get("_fields_", ()) if f != "union"
    ]


def _in_c(field: str) -> str:
    functions = {name for name, _ in abi.Api._fields_} - {"pjrt_api_version"}
    return f"PJRT_{field}" if field in functions else field


HEADER = """
#define PJRT_API_MAJOR 0
#define PJRT_API_MINOR 99
typedef enum {
  PJRT_Colour_kRed = 0,
  // A comment, with a struct PJRT_No { in it
  PJRT_Colour_kDarkBlue,
  PJRT_Colour_LAST = 7,
} PJRT_Colour;
struct PJRT_Paint_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* name;
  PJRT_Colour colour;
  union {
    int64_t number;
    bool yes;
  };
  void (*deleter)(void* data,
                  void* arg);
  bool is_dry;  // out
};
"""


def test_a_small_header():
    module: dict = {}
    exec(pjrt_abi.generate(HEADER), module)
    assert (module["MAJOR"], module["MINOR"]) == (0, 99)
    assert {c.name: c.value for c in module["Colour"]} == {"RED": 0, "DARK_BLUE": 1, "LAST": 7}
    paint = module["Paint_Args"]
    assert paint.SIZE == 49
    assert ctypes.sizeof(paint) == 56
    assert paint.yes.offset == paint.number.offset == 32
    assert [paint.name.offset, paint.colour.offset, paint.deleter.offset] == [16, 24, 40]


def test_a_type_that_is_not_known_is_named():
    header = re.sub("bool is_dry", "long double is_dry", HEADER)
    with pytest.raises(ValueError, match="long double"):
        pjrt_abi.generate(header)
