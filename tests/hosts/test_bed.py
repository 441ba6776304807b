"""The hosts that other tests run programs on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
from tests.hosts.bed import ROOT, Bed, why_not

pytestmark = [pytest.mark.needs_system(why_not()), pytest.mark.slow]

SEND = "import socket; socket.create_connection(('h2', 5000), 1).sendall(b'hello')"
RECEIVE = """
import socket, sys
listener = socket.create_server(('', 5000))
print('ready', flush=True)
connection, address = listener.accept()
print(socket.gethostname(), address[0], connection.recv(5).decode())
"""


def test_hosts_reach_each_other_unless_a_cable_is_cut():
    with Bed(2) as bed:
        receiver = bed[1].start([sys.executable, "-c", RECEIVE])
        assert receiver.stdout
        assert receiver.stdout.readline() == "ready\n"
        bed[1].cut()
        with pytest.raises(RuntimeError, match=r"timed out|No route"):
            bed[0].run([sys.executable, "-c", SEND])
        bed[1].restore()
        bed[0].limit_rate("100mbit")
        bed[0].run([sys.executable, "-c", SEND])
        assert receiver.communicate()[0] == "h2 10.77.0.1 hello\n"
        bed[0].fill_disk()
        full = [sys.executable, "-c", "open('/mnt/more', 'w').write('x' * 100_000)"]
        with pytest.raises(RuntimeError, match="No space left"):
            bed[0].run(full)
        bed[1].run([*full[:2], full[2]])


def test_a_host_that_dies_takes_its_processes_along():
    with Bed(2) as bed:
        sleepers = [host.start(["sleep", "1000"]) for host in bed.hosts]
        while not (bed[0].processes("sleep 1000") and bed[1].processes("sleep 1000")):
            time.sleep(0.05)
        bed[1].die()
        assert sleepers[1].wait(10) != 0
        assert bed[1].processes("") == []
        assert sleepers[0].poll() is None
    assert sleepers[0].wait(10) != 0


def test_nothing_is_left_when_the_maker_is_killed():
    code = """
from tests.hosts.bed import Bed
bed = Bed(2)
running = [host.start(["sleep", "4321"]) for host in bed.hosts]
print(bed.folder, flush=True)
import time; time.sleep(1000)
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout
        assert "irax-hosts" in maker.stdout.readline()
        maker.send_signal(signal.SIGKILL)
    end = time.monotonic() + 10
    while subprocess.run(["pgrep", "-f", "^sleep 4321"], capture_output=True).stdout:
        assert time.monotonic() < end
        time.sleep(0.05)
