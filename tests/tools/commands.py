"""Commands of irax, each in a process forked from one that has imported everything: imports take
ten times as long as most commands.

As a script, with the server's socket and a command's arguments, this is the command: it lends the
server its folder, environment, input and output, and exits with its code.
"""

import gc
import json
import os
import select
import socket
import sys
from collections.abc import Sequence


def run(server: str, arguments: Sequence[str], folder: str, files: Sequence[int]) -> int:
    """A command's exit code. The files are its standard input, output and error."""
    request = [list(arguments), folder, dict(os.environ)]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(server)
        data = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(connection, [data], files)
        connection.sendall(data[sent:])
        return int(connection.recv(10))


def serve(path: str) -> None:
    """Runs commands until standard input ends."""
    _import_everything()
    gc.freeze()
    answering = 0
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    _answer(connection)
            answering += 1
            while answering and os.waitpid(-1, os.WNOHANG)[0]:
                answering -= 1
    for _ in range(answering):
        os.wait()
    gc.unfreeze()


def _import_everything() -> None:
    import importlib
    import pkgutil

    for name in ("irax_compiler", "irax_runtime", "irax", "irax_tools"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)


def _answer(connection: socket.socket) -> None:
    data, files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while not data.endswith(b"\n"):
        data += connection.recv(1 << 16)
    command = os.fork()
    if command == 0:
        connection.close()
        _become(files, *json.loads(data))
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    connection.sendall(str(code).encode())
    os._exit(0)


def _become(
    files: Sequence[int], arguments: list[str], folder: str, environment: dict[str, str]
) -> None:
    from irax_tools import cli

    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["irax", *arguments]
    sys.path[0] = folder  # as `python -m` has it
    try:
        cli.start()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(
            int(end.code or 0)
        )  # to take the interpreter down would take longer than the command


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    else:
        sys.exit(run(sys.argv[1], sys.argv[2:], os.getcwd(), (0, 1, 2)))
