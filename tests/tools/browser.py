"""A real browser without a window, driven over the pipe that Chromium has for that.

It speaks the DevTools protocol: messages of JSON, each ended by a zero byte, on its file
descriptors 3 (what it is told) and 4 (what it says).
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
needs_browser = pytest.mark.needs_system(
    "" if PROGRAM else "no chromium: `apt-get install chromium` installs it"
)
PATIENCE = 60.0

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--remote-debugging-pipe"),
)
_ABOVE = 10  # so that moving a descriptor to 3 or 4 closes none of the others


@contextlib.contextmanager
def started(folder: Path) -> Iterator[Browser]:
    """A browser, which keeps what it must in a folder."""
    browser = Browser(folder)
    try:
        yield browser
    finally:
        browser.close()


class Browser:
    """One page of it."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        (told, self._tell), (self._hear, said) = _pipe(), _pipe()
        null = os.open(os.devnull, os.O_RDWR)
        self._pid = os.posix_spawn(
            PROGRAM,
            [PROGRAM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            os.environ,
            file_actions=[
                *((os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)),
                (os.POSIX_SPAWN_DUP2, told, 3),
                (os.POSIX_SPAWN_DUP2, said, 4),
            ],
        )
        for descriptor in (told, said, null):
            os.close(descriptor)
        self._unread = b""
        self._count = 0
        self._session: dict[str, str] = {}
        self.errors: list[str] = []
        """Exceptions in the page, and errors on the console."""
        self.requests: list[str] = []
        """The addresses that the page asked for."""
        self._loaded = False
        pages = self.send("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        end = time.monotonic() + PATIENCE / 10
        os.kill(self._pid, signal.SIGTERM)
        while not os.waitpid(self._pid, os.WNOHANG)[0]:
            if time.monotonic() > end:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.01)
        os.close(self._tell)
        os.close(self._hear)

    def send(self, method: str, **parameters: Any) -> Any:
        """A command's result. Raises RuntimeError where it fails."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters, **self._session}
        os.write(self._tell, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def open(
        self, page: Path | str, address: str = "", width: int = 1440, height: int = 900
    ) -> None:
        """Opens a file or a URL, and forgets what other pages did wrong."""
        self.errors.clear()
        self.requests.clear()
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **screen)
        target = page if isinstance(page, str) else page.as_uri()
        for url in ("about:blank", f"{target}{address}"):  # not a mere change of address
            self._loaded = False
            self.send("Page.navigate", url=url)
            while not self._loaded:
                self._note(self._receive())

    def evaluate(self, script: str) -> Any:
        """The value of an expression of JavaScript. Raises RuntimeError where it throws."""
        done = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"]["description"])
        return done["result"].get("value")

    def wait(self, script: str) -> Any:
        """Wait until a script's value is true, and return it."""
        end = time.monotonic() + PATIENCE
        while (value := self.evaluate(script)) in (None, False, 0, ""):
            assert time.monotonic() < end, f"{script}: not true after {PATIENCE} s; {self.errors}"
            time.sleep(0.02)
        return value

    def click(self, selector: str) -> None:
        """Clicks an element, where a person would: near its left end, as long as it may be."""
        x, y = self._place(selector)
        self._mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self._mouse(kind, x, y, button="left", clickCount=1)

    def move_to(self, selector: str) -> None:
        """Moves the mouse to an element."""
        self._mouse("mouseMoved", *self._place(selector))

    def press(self, *keys: str) -> None:
        """Presses keys, one after the other; one of several characters is named: ArrowDown."""
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            for kind in ("keyDown", "keyUp"):
                self.send("Input.dispatchKeyEvent", type=kind, key=key, text=text)

    def picture(self, path: Path) -> None:
        """Saves what there is to see."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))

    def _place(self, selector: str) -> tuple[float, float]:
        """The middle of an element, which is scrolled to if it is out of sight."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"{found} && ({found}.scrollIntoView({{block: 'nearest'}}), true)")
        x, y = self.wait(
            f"{found} && ((r) => [r.x + Math.min(r.width / 2, 30), r.y + r.height / 2])"
            f"({found}.getBoundingClientRect())"
        )
        return x, y

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def _receive(self) -> Any:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._hear], [], [], PATIENCE)
            part = os.read(self._hear, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("the browser does not answer")
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def _note(self, event: Any) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                thrown = details.get("exception", {}).get("description")
                self.errors.append(thrown or details["text"])
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                self.errors.append(str(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] == "error":
                self.errors.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])


def _pipe() -> tuple[int, int]:
    """The ends to read from and to write to."""
    ends = os.pipe()
    above = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for end in ends]
    for end in ends:
        os.close(end)
    return above[0], above[1]
