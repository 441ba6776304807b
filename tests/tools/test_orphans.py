"""Children of commands end with them, also where the commands are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="kills as POSIX has it")

GUARDED = """
import os, time
from irax_tools import guard

parent = os.getpid()
{change}

def command():
    print("started", flush=True)
    while True:  # at full load
        pass

guard.run(command)
"""
CHANGES = {
    "by the system": "",
    "by a pipe": "guard._is_killed_with_parent = lambda: False",
    "before it was asked for": """
asked = guard._is_killed_with_parent
def late():
    print("started", flush=True)
    while os.getppid() == parent:
        time.sleep(0.001)
    return asked()
guard._is_killed_with_parent = late
""",
}


def start(code: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_command_ends_with_its_parent(change):
    with start(GUARDED.format(change=change)) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"
        parent.kill()
        parent.wait()
        assert parent.stdout.read() == ""  # which the child has open as long as it lives


def test_the_trial_of_bytecode_ends_with_its_parent(tmp_path: Path):
    fifo, reader = tmp_path / "fifo", tmp_path / "reader"
    os.mkfifo(fifo)
    reader.write_text(f'#!/bin/sh\nexec 7>"{fifo}"\necho started >&7\nwhile :; do :; done\n')
    reader.chmod(0o755)
    code = f"""
    from irax_compiler import trial
    trial._reader = lambda: {str(reader)!r}
    trial.read_elsewhere(b"bytecode")
    """
    with start(code) as parent, fifo.open() as told:
        assert told.readline() == "started\n"
        parent.kill()
        parent.wait()
        assert told.read() == ""


def test_the_trial_of_bytecode_ends_when_it_is_interrupted(tmp_path: Path):
    reader = tmp_path / "reader"
    reader.write_text("#!/bin/sh\necho started >&2\nexec sleep 600\n")
    reader.chmod(0o755)
    code = f"""
    import signal, subprocess
    from irax_compiler import trial
    trial._reader = lambda: {str(reader)!r}
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        trial.read_elsewhere(b"bytecode")
    except KeyboardInterrupt:
        print("interrupted")
    """
    with start(code) as parent:
        out, _ = parent.communicate(timeout=60)
        assert (parent.returncode, out) == (0, "interrupted\n")


def test_a_killed_command_leaves_nothing(folder):
    (folder / "loop.mlir").write_text("""
    func.func @main(%x: tensor<i32>) -> tensor<i32> {
      %0 = stablehlo.while(%i = %x) : tensor<i32>
      cond { %t = stablehlo.constant dense<true> : tensor<i1>
             stablehlo.return %t : tensor<i1> }
      do { stablehlo.return %i : tensor<i32> }
      return %0 : tensor<i32>
    }
    """)
    command = [sys.executable, "-m", "irax_tools.cli", "--debug", "run", "loop.mlir"]
    command += ["--input", "i32=1", "--device", "reference"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None and not children.read_text():
            pass
        process.send_signal(signal.SIGKILL)
        assert process.stdout.read() == b""
