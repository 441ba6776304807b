"""`irax python`: programs run as Python runs them. Python itself is what it is compared with."""

import subprocess
import sys

import pytest

from irax.compat.running import split

IRAX = ("-m", "irax_tools.cli", "python")
PROGRAM = """
import sys, warnings, pickle, __main__
class Mine:
    pass
print(sys.argv[1:], __name__, isinstance(pickle.loads(pickle.dumps(Mine())), __main__.Mine))
print(sys.flags.optimize, sys.flags.utf8_mode, sys.dont_write_bytecode, __debug__)
warnings.warn("shown")
def wrong(x):
    return {}[x]
wrong("missing")
"""


def python(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=given, timeout=100)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "__main__.py").write_text(PROGRAM)
    (tmp_path / "program.py").write_text(PROGRAM)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "arguments",
    [
        ("program.py", "--flag", "-W"),
        ("-W", "ignore", "-OBX", "utf8", "program.py", "value"),
        ("-Wignore", "-c", PROGRAM, "-c"),
        ("-Bm", "package", "-x"),
        ("-", "value"),
        ("missing.py",),
    ],
    ids=lambda arguments: " ".join(arguments)[:20],
)
def test_programs_run_as_pythons(arguments, files):
    """Output, warnings, traceback and exit code are the same."""
    expected = python(*arguments, given=PROGRAM)
    done = python(*IRAX, *arguments, given=PROGRAM)
    assert done.stdout == expected.stdout
    assert (done.returncode, expected.returncode) in [(1, 1), (2, 2)]
    if arguments == ("missing.py",):
        assert "can't open file 'missing.py'" in done.stderr
        return
    frames = expected.stderr.index("Traceback")
    told = expected.stderr[frames:]
    if "package" in told:  # Python shows the frames of runpy
        told = "\n".join(line for line in told.split("\n") if "runpy" not in line)
        assert done.stderr.splitlines()[-4:] == told.splitlines()[-4:]
        return
    assert done.stderr == expected.stderr
    assert "KeyError: 'missing'" in done.stderr


@pytest.mark.slow
def test_syntax_errors_are_shown_as_pythons():
    code = "x = (1,\ny = 2"
    assert python(*IRAX, "-c", code).stderr == python("-c", code).stderr


def test_options_of_python_are_told_from_the_program():
    assert split(["a.py", "-W", "x"]) == ([], ["a.py", "-W", "x"])
    assert split(["-Xdev", "-uO", "-"]) == (["-Xdev", "-uO"], ["-"])
    assert split(["-X", "dev", "--check-hash-based-pycs", "never", "a.py"])[1] == ["a.py"]
    assert split(["-uccode", "-W"]) == (["-u"], ["-c", "code", "-W"])
    assert split([]) == ([], [])


def test_a_folder_without_a_main_module_is_refused_as_python_does(tmp_path):
    expected, done = python(str(tmp_path)), python(*IRAX, str(tmp_path))
    assert (done.returncode, expected.returncode) == (1, 1)
    words = f"can't find '__main__' module in {str(tmp_path)!r}"
    assert words in expected.stderr
    assert done.stderr.endswith(f"{words}\n")
    assert "Traceback" not in done.stderr
