"""A headless Chromium, steered over the DevTools protocol."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Iterator

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 60.0


def program() -> str | None:
    """The browser of this machine; $ORC_CHROMIUM overrides."""
    chosen = os.environ.get("ORC_CHROMIUM")
    if chosen:
        return shutil.which(chosen)
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Failure(Exception):
    """What the page or the browser reported."""


class Browser:
    """One browser process with one page. Use it as a context manager."""

    def __init__(self, width: int = 1280, height: int = 800) -> None:
        self.size = (width, height)
        self.problems: list[str] = []  # of the page's console: errors, warnings, exceptions, blocked resources
        self._answers: dict[int, dict[str, Any]] = {}
        self._arrived = threading.Condition()
        self._numbers = itertools.count(1)
        self._session: str | None = None

    def __enter__(self) -> Browser:
        self._profile = tempfile.mkdtemp(prefix="orc_browser_")
        found = program()
        assert found, "no Chromium"
        shell = "headless-shell" in found
        self._process = subprocess.Popen(
            [found, *([] if shell else ["--headless=new"]), "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--mute-audio", f"--window-size={self.size[0]},{self.size[1]}",
             f"--user-data-dir={self._profile}", "--remote-debugging-port=0", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            self._socket = connect(self._address(), max_size=None, compression=None)
            threading.Thread(target=self._read, daemon=True).start()
            targets = self.call("Target.getTargets")["targetInfos"]
            page = next(each for each in targets if each["type"] == "page")
            attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self.call(f"{domain}.enable")
            self.resize(*self.size)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        with self._arrived:
            if not self._arrived.wait_for(lambda: number in self._answers, PATIENCE_S):
                raise Failure(f"the browser does not answer {method}")
            answer = self._answers.pop(number)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url: str) -> None:
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.body && document.body.dataset.view")

    def reload(self) -> None:
        self.run("document.body.removeAttribute('data-view')")
        self.call("Page.reload")
        self.wait("document.body && document.body.dataset.view")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; waits for a promise."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{_exception(answer['exceptionDetails'])} in {script}")
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 30.0) -> Any:
        """Waits until an expression is true, and returns it."""
        deadline = time.monotonic() + seconds
        last: Any = None
        while time.monotonic() < deadline:
            try:
                last = self.run(script)
            except Failure as error:  # a page that is loading has no elements yet
                last = error
            if not isinstance(last, Failure) and (last or last == {}):  # {}: an element
                return last
            time.sleep(0.02)
        raise Failure(f"not within {seconds:.0f} s: {script}; last: {last!r}\n{self.text()[:2000]}")

    def text(self) -> str:
        return self.run("document.body.innerText") or ""

    def click(self, selector: str) -> None:
        """A real click into the middle of an element."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle(self, selector: str) -> tuple[float, float]:
        place = self.wait(f"(() => {{ const it = document.querySelector({json.dumps(selector)});"
                          "if (!it) return null; it.scrollIntoView({block: 'nearest'});"
                          "const r = it.getBoundingClientRect();"
                          "return r.width > 0 && [r.x + r.width / 2, r.y + r.height / 2]; })()")
        return place[0], place[1]

    def move(self, x: float, y: float, pressed: bool = False) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left" if pressed else "none",
                  buttons=1 if pressed else 0)

    def press(self, x: float, y: float, down: bool) -> None:
        self.call("Input.dispatchMouseEvent", type="mousePressed" if down else "mouseReleased", x=x, y=y,
                  button="left", buttons=1 if down else 0, clickCount=1)

    def drag(self, source: str, target: str) -> None:
        """Drags one element onto another with the mouse."""
        self.call("Input.setInterceptDrags", enabled=False)
        from_x, from_y = self.middle(source)
        self.move(from_x, from_y)
        self.press(from_x, from_y, True)
        self.move(from_x + 8, from_y + 8, True)
        to_x, to_y = self.middle(target)
        for step in range(1, 4):
            self.move(from_x + (to_x - from_x) * step / 3, from_y + (to_y - from_y) * step / 3, True)
        self.move(to_x, to_y, True)
        self.press(to_x, to_y, False)

    def key(self, key: str) -> None:
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        codes = {"Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "End": 35, "Home": 36, "Escape": 27, "PageDown": 34}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode=codes.get(key, ord(key[0].upper())))

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def resize(self, width: int, height: int) -> None:
        self.size = (width, height)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme: str) -> None:
        """`light` or `dark`, as the system's setting."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> None:
        shot = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    @contextlib.contextmanager
    def no_problems_expected_until(self, *allowed: str) -> Iterator[None]:
        """What the page reports inside, and contains one of these texts, is expected: connections that a test breaks."""
        before = len(self.problems)
        yield
        self.problems[before:] = [each for each in self.problems[before:] if not any(text in each for text in allowed)]

    def _address(self) -> str:
        chosen = Path(self._profile, "DevToolsActivePort")
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self._process.poll() is None:
            lines = chosen.read_text().split() if chosen.exists() else []
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.02)
        raise Failure("the browser does not start")

    def _read(self) -> None:
        with contextlib.suppress(ConnectionClosed, OSError):
            for text in self._socket:
                message = json.loads(text)
                with self._arrived:
                    if "id" in message:
                        self._answers[message["id"]] = message
                        self._arrived.notify_all()
                    else:
                        self._event(message["method"], message["params"])

    def _event(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(_exception(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(each.get("value", each.get("description"))) for each in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")


def _exception(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details.get("text"))
