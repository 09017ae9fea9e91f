"""Parameters and services in orc-web: the page's protocol, its hostile clients, and the page.

usage: controls_test.py [CASE…]

Runs the functions case_… below, all of them without arguments. Each has a system of its own.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any, Callable

import page_test
import server_test
from cases import run_cases

MISSING = page_test.MISSING or server_test.MISSING
if not MISSING:
    import foxglove_test
    from browser import program
    from system import BIN, PATIENCE_S, System, serving

    MISSING = foxglove_test.MISSING or foxglove_test.MISSING_NATIVE or ("" if (BIN / "orc-web").exists() else "orc-web was not built")
if not MISSING:
    from foxglove_services_test import Program
    from foxglove_test import native


def named(name: str, good: Callable[[dict[str, Any]], bool] = lambda item: True) -> Callable[[dict[str, Any]], bool]:
    """Whether a message tells of this item, and it is good."""
    return lambda message: any(each["name"] == name and good(each) for each in message["changed"])


def of_call(identity: int) -> Callable[[dict[str, Any]], bool]:
    return lambda message: message.get("id") == identity


def case_parameters() -> None:
    with serving("--allow-publish") as system, native(system) as owner:
        gain = owner.parameter("pid/gain", 1.0, min=0, max=10, unit="N", description="of the inner loop")
        owner.parameter("pid/version", "1.2", read_only=True)
        with server_test.Client(system) as client:
            client.send("parameters", on=True)
            message = client.until("parameters", named("pid/gain", lambda each: each["value"] is not None))
            found = next(each for each in message["changed"] if each["name"] == "pid/gain")
            assert (found["value"], found["type"], found["unit"], found["read_only"]) == (1.0, "number", "N", False), found
            assert "10" in found["allowed"] and found["owner"]["pid"] > 0, found
            client.send("set", id=5, name="pid/gain", value=2.5)
            client.until("done", of_call(5))
            assert gain.value == 2.5
            gain.value = 3.5
            client.until("parameters", named("pid/gain", lambda each: each["value"] == 3.5))
            for value, name, words in ((11, "pid/gain", "10"), ("x", "pid/version", "read-only"), (1, "none", "none"), ({}, "pid/gain", "")):
                client.send("set", id=6, name=name, value=value)
                assert words in client.until("error", of_call(6))["message"]
            with native(system) as second:
                second.parameter("late", 1)
                client.until("parameters", named("late"))
            client.until("parameters", lambda message: message["gone"] == ["late"])


def case_services() -> None:
    with serving("--allow-publish") as system, Program(system) as server, server_test.Client(system) as client:
        client.send("services", on=True)
        known: set[str] = set()
        while not {"gripper/close", "echo", "wait", "bytes"} <= known:
            known.update(each["name"] for each in client.until("services")["changed"])
        client.send("call", id=1, name="gripper/close", value={"force": 20}, deadline=10)
        assert json.loads(client.until("reply", of_call(1))["text"]) == {"width": 5.0}
        client.send("call", id=2, name="gripper/close", value={"force": -1}, deadline=10)
        assert "above 0 N" in client.until("error", of_call(2))["message"]
        client.send("call", id=3, name="wait", value=None, deadline=3)
        client.until("error", of_call(3))
        assert server.cancelled.acquire(timeout=PATIENCE_S)
        client.send("call", id=4, name="wait", value="later", deadline=60)
        client.send("call", id=4, name="echo", value=1, deadline=60)
        assert "open already" in client.until("error", of_call(4))["message"]
        client.send("cancel", id=4)
        client.until("error", of_call(4))
        assert server.cancelled.acquire(timeout=PATIENCE_S)
        client.send("call", id=4, name="tell", value=3, deadline=60)
        feedback = client.until("feedback", of_call(4))
        assert json.loads(feedback["text"]) == {"step": 1}, feedback
        server.go_on.set()
        assert json.loads(client.until("reply", of_call(4))["text"]) == 3


def case_not_allowed() -> None:
    with serving() as system, Program(system), native(system) as owner, server_test.Client(system) as client:
        gain = owner.parameter("gain", 1.0)
        client.send("parameters", on=True)
        client.send("services", on=True)
        client.until("parameters", named("gain"))
        client.send("set", id=1, name="gain", value=2)
        assert "--allow-publish" in client.until("error", of_call(1))["message"]
        client.send("call", id=2, name="echo", value=2, deadline=1)
        assert "--allow-publish" in client.until("error", of_call(2))["message"]
        assert gain.value == 1.0


def case_hostile_clients() -> None:  # [memory]
    with serving("--allow-publish") as system, Program(system) as server:
        with server_test.Client(system) as client:
            for bad, words in (({"op": "set", "id": 1, "name": "gain", "value": 1}, "parameters"),
                               ({"op": "call", "id": 1, "name": "echo", "value": 1, "deadline": 1}, "services"),
                               ({"op": "parameters"}, "on"), ({"op": "services", "on": 1}, "on"), ({"op": "set", "id": -1}, "id"),
                               ({"op": "set", "id": 1, "name": 5, "value": 1}, "name"), ({"op": "set", "id": 1, "name": "x"}, "value"),
                               ({"op": "call", "id": 1, "name": "x" * 5000, "value": 1, "deadline": 1}, "name"),
                               ({"op": "call", "id": 1, "name": "echo", "value": 1, "deadline": 1e9}, "deadline"),
                               ({"op": "call", "id": 1, "name": "echo", "value": 1, "deadline": -1}, "deadline"),
                               ({"op": "call", "id": 1, "name": "echo", "value": 1}, "deadline"), ({"op": "cancel"}, "id")):
                client.send(**bad)
                assert words in client.until("error")["message"], bad
            client.send("cancel", id=99)
            client.send("services", on=True)
            client.until("services", named("wait"))
            for call in range(9):
                client.send("call", id=call, name="wait", value=call, deadline=3600)
            assert "8 is the limit" in client.until("error", of_call(8))["message"]
            client.send("call", id=8, name="none", value=1, deadline=1)
            assert client.until("error", of_call(8))["message"]
            for _ in range(8):
                assert server.waiting.acquire(timeout=PATIENCE_S)
            with server_test.Client(system) as other:
                other.send("services", on=True)
                other.until("services", named("echo"))
                other.send("call", id=1, name="echo", value="quick", deadline=10)
                assert json.loads(other.until("reply", of_call(1))["text"]) == "quick"
        for _ in range(8):  # the client has left
            assert server.cancelled.acquire(timeout=PATIENCE_S)


def case_page() -> None:
    if not program():
        print("[orc: skipped] no Chromium (tools/dev setup --web)")
        return
    gain_row = "document.querySelector('.parameter[data-name=\"pid/gain\"]')"
    service = "document.querySelector('.service[data-name=\"gripper/close\"]')"
    with System() as system, native(system) as owner, Program(system):
        gain = owner.parameter("pid/gain", 1.0, min=0, max=10, unit="N", description="of the inner loop")
        owner.parameter("pid/mode", "auto", choices=["auto", "off"])
        owner.parameter("pid/evil", "<img src=x onerror=\"document.title='owned'\">")
        with page_test.page(system, "--allow-publish", at="#view=parameters") as browser:
            browser.wait(f"{gain_row}?.querySelector('input')?.value === '1.0' || {gain_row}?.querySelector('input')?.value === '1'")
            browser.click(".parameter[data-name='pid/gain'] input")
            browser.run(f"{gain_row}.querySelector('input').select()")
            browser.type("2.5")
            changed = threading.Event()
            gain.on_change(lambda value: changed.set() if value == 2.5 else None)
            browser.key("Enter")
            assert changed.wait(PATIENCE_S)
            browser.wait(f"{gain_row}.querySelector('.result').hidden")
            browser.run(f"{gain_row}.querySelector('input').select()")
            browser.type("11")
            browser.key("Enter")
            browser.wait(f"{gain_row}.querySelector('.result').textContent.includes('10')")
            assert gain.value == 2.5
            browser.run("document.activeElement.blur()")
            gain.value = 4.5
            browser.wait(f"{gain_row}.querySelector('input').value === '4.5'")
            browser.click("#tab-services")
            browser.wait(service)
            browser.click(".service[data-name='gripper/close'] summary")
            browser.run(f"{service}.querySelector('textarea').value = '{{\"force\": 20}}'")
            browser.click(".service[data-name='gripper/close'] .primary")
            browser.wait(f"{service}.querySelector('.result').textContent.includes('\"width\": 5')")
            browser.run(f"{service}.querySelector('textarea').value = '{{\"force\": -1}}'")
            browser.click(".service[data-name='gripper/close'] .primary")
            browser.wait(f"{service}.querySelector('.result.wrong').textContent.includes('above 0 N')")
        with page_test.page(system, at="#view=parameters", size=(400, 800)) as browser:
            browser.wait(f"{gain_row} && !{gain_row}.querySelector('input')")
            assert browser.run("document.documentElement.scrollWidth") <= 400


if __name__ == "__main__":
    sys.exit(run_cases(globals(), MISSING))
