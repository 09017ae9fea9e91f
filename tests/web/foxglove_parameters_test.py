"""Parameters as viewers see them that speak Foxglove's WebSocket protocols.

usage: foxglove_parameters_test.py [CASE…]

Runs the functions case_… below, all of them without arguments. Each has a system of its own.
"""

from __future__ import annotations

import sys
from typing import Any, Callable

import foxglove_test
from cases import run_cases

MISSING = foxglove_test.MISSING or foxglove_test.MISSING_NATIVE
if not MISSING:
    import numpy
    import websockets.exceptions as closed
    from foxglove_requests import Requests
    from foxglove_test import ERROR, POLICY_VIOLATION, SDK, WEBSOCKET, Client, native
    from system import serving


def values(message: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in message["parameters"]}


def answer(client: Client, identity: str) -> dict[str, Any]:
    return client.until("parameterValues", lambda message: message.get("id") == identity)


def update(client: Client, good: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return client.until("parameterValues", lambda message: "id" not in message and good(values(message)))


def reading_setting_and_following(protocol: str) -> None:
    with serving("--allow-publish") as system, native(system) as owner:
        gain = owner.parameter("pid/gain", 1.0, max=10)
        owner.parameter("pid/gains", numpy.array([1.0, 2.5]))
        steps = owner.parameter("pid/steps", 3)
        owner.parameter("pid/mode", "auto", choices=["auto", "off"])
        owner.parameter("pid/on", True)
        with Client(system, protocol) as client, Client(system, protocol) as other:
            assert {"parameters", "parametersSubscribe"} <= set(client.info["capabilities"]), client.info
            client.send("getParameters", parameterNames=[], id="all")
            found = answer(client, "all")
            assert values(found) == {"pid/gain": 1.0, "pid/gains": [1.0, 2.5], "pid/mode": "auto", "pid/on": True,
                                     "pid/steps": 3}, found
            types = {each["name"]: each.get("type") for each in found["parameters"]}
            assert types == {"pid/gain": "float64", "pid/gains": "float64_array", "pid/mode": None, "pid/on": None,
                             "pid/steps": None}, types
            client.send("getParameters", parameterNames=["pid/mode", "none"], id="some")
            assert values(answer(client, "some")) == {"pid/mode": "auto"}

            other.send("subscribeParameterUpdates", parameterNames=["pid/gain", "late"])
            update(other, lambda now: now == {"pid/gain": 1.0})
            client.send("setParameters", id="set", parameters=[{"name": "pid/gain", "value": 2, "type": "float64"},
                                                               {"name": "pid/steps", "value": 4}])
            assert values(answer(client, "set")) == {"pid/gain": 2.0, "pid/steps": 4}
            assert (gain.value, steps.value) == (2.0, 4)
            update(other, lambda now: now == {"pid/gain": 2.0})
            gain.value = 7.5  # by the program itself
            update(other, lambda now: now == {"pid/gain": 7.5})
            with native(system) as second:
                second.parameter("late", "here")
                update(other, lambda now: now == {"late": "here"})
            update(other, lambda now: now == {"late": None})  # it ended with its program

            # what is refused: the viewer learns why, and what is in force
            client.send("setParameters", id="bad", parameters=[{"name": "pid/gain", "value": 11},
                                                               {"name": "pid/mode", "value": {"a": 1}}])
            client.until_all(lambda each: each["op"] == "status" and "pid/gain" in each["message"] and "10" in each["message"],
                             lambda each: each["op"] == "status" and "pid/mode" in each["message"],
                             lambda each: each["op"] == "parameterValues" and each.get("id") == "bad"
                             and values(each) == {"pid/gain": 7.5, "pid/mode": "auto"})
            client.send("setParameters", parameters=[{"name": "none", "value": 1}])
            client.status("none")
            other.send("unsubscribeParameterUpdates", parameterNames=["pid/gain"])
            other.send("subscribeParameterUpdates", parameterNames=["pid/on"])
            update(other, lambda now: now == {"pid/on": True})
            client.send("setParameters", id="more", parameters=[{"name": "pid/gain", "value": 3}, {"name": "pid/on", "value": False}])
            answer(client, "more")
            update(other, lambda now: now == {"pid/on": False})


def case_over_sdk_v1() -> None:  # [memory]
    reading_setting_and_following(SDK)


def case_over_websocket_v1() -> None:
    reading_setting_and_following(WEBSOCKET)


def case_foreign_client() -> None:
    with serving("--allow-publish") as system, native(system) as owner:
        gain = owner.parameter("gain", 1.0)
        with Requests(system, WEBSOCKET) as client:
            client.call("getParameters", ["gain"], "all")
            first = client.until("parameterValues", lambda value: value.get("id") == "all")
            assert first["parameters"] == [{"name": "gain", "value": 1, "type": "float64"}], first
            client.call("subscribeParameterUpdates", ["gain"])
            client.call("setParameters", [{"name": "gain", "value": 2.5, "type": "float64"}], "set")
            client.until("parameterValues", lambda value: value.get("id") == "set" and value["parameters"][0]["value"] == 2.5)
            gain.value = 4.5
            client.until("parameterValues", lambda value: "id" not in value and value["parameters"][0]["value"] == 4.5)


def case_setting_is_off() -> None:
    with serving() as system, native(system) as owner:
        gain = owner.parameter("gain", 1.0)
        with Client(system) as client:
            client.send("getParameters", parameterNames=["gain"], id="first")
            assert values(answer(client, "first")) == {"gain": 1.0}
            client.send("setParameters", id="set", parameters=[{"name": "gain", "value": 2}])
            client.until_all(lambda each: each["op"] == "status" and each["level"] == ERROR and "--allow-publish" in each["message"],
                             lambda each: each["op"] == "parameterValues" and values(each) == {"gain": 1.0})
            assert gain.value == 1.0


def case_a_program_that_hangs() -> None:
    """It keeps no one but those that set its parameters from anything."""
    with serving("--allow-publish") as system, native(system) as owner:
        quick = owner.parameter("quick", 1.0)
        hung = system.publish("parameter", "hung")
        with Client(system) as client, Client(system) as other:
            for each in (client, other):
                each.send("getParameters", parameterNames=["hung", "quick"], id="first")
                assert values(answer(each, "first")) == {"hung": 1.0, "quick": 1.0}
            hung.stop()
            for number in range(64):
                client.send("setParameters", parameters=[{"name": "hung", "value": number}])
            client.send("setParameters", parameters=[{"name": "hung", "value": 1}])
            client.status("64 is the limit")
            other.send("setParameters", id="set", parameters=[{"name": "quick", "value": 2}])
            assert values(answer(other, "set")) == {"quick": 2.0} and quick.value == 2.0
            client.status("'hung' is not set")  # at its deadline


def case_restarts_heal() -> None:
    with serving() as system, native(system) as owner, Client(system) as client:
        gain = owner.parameter("gain", 1.0)
        client.send("subscribeParameterUpdates", parameterNames=[])
        update(client, lambda now: now == {"gain": 1.0})
        system.broker.kill()
        system.broker = system.start_broker()
        gain.value = 2.0
        update(client, lambda now: now.get("gain") == 2.0)
        program = system.publish("parameter", "new")
        update(client, lambda now: now.get("new") == 1.0)
        program.kill()
        update(client, lambda now: now == {"new": None})


def case_hostile_clients() -> None:  # [memory]
    with serving("--allow-publish") as system, native(system) as owner:
        owner.parameter("gain", 1.0)
        with Client(system) as client:
            for bad, words in (({"op": "getParameters"}, "parameterNames"), ({"op": "getParameters", "parameterNames": [1]}, "parameterNames"),
                               ({"op": "getParameters", "parameterNames": ["x"] * 1025}, "parameterNames"),
                               ({"op": "getParameters", "parameterNames": ["x" * 5000]}, "parameterNames"),
                               ({"op": "getParameters", "parameterNames": [], "id": "x" * 257}, '"id"'),
                               ({"op": "setParameters"}, "parameters"),
                               ({"op": "getParameters", "parameterNames": [], "id": 5}, '"id"'),
                                ({"op": "setParameters", "parameters": [5]}, "name"),
                               ({"op": "setParameters", "parameters": [{"name": "gain"}]}, "removed"),
                               ({"op": "setParameters", "parameters": [{"name": "gain", "value": "AA==", "type": "byte_array"}]}, "byte_array"),
                               ({"op": "setParameters", "parameters": [{"name": "gain", "value": 1}] * 65}, "parameters"),
                               ({"op": "setParameters", "parameters": [{"name": "gain", "value": [[[1]]]}]}, "'gain' is not set"),
                               ({"op": "setParameters", "parameters": [{"name": "a b", "value": 1}]}, "'a b' is not set"),
                               ({"op": "setParameters", "parameters": [{"name": "", "value": 1}]}, "is not set"),
                               ({"op": "subscribeParameterUpdates", "parameterNames": {}}, "parameterNames"),
                               ({"op": "setParameters", "parameters": [{"name": "gain", "value": "x" * 900_000}]}, "'gain' is not set"),
                               ({"op": "unsubscribeParameterUpdates"}, "parameterNames")):
                client.send(**bad)
                client.status(words)
            client.send("subscribeParameterUpdates", parameterNames=[f"none/{number}" for number in range(1024)])
            client.send("subscribeParameterUpdates", parameterNames=["one/more"])
            client.status("1024 is the limit")
            client.send("unsubscribeParameterUpdates", parameterNames=["none/1", "unknown"])
            client.send("getParameters", parameterNames=["gain"], id="")
            assert values(answer(client, "")) == {"gain": 1.0}
        for flood in ({"op": "getParameters", "parameterNames": []},
                      {"op": "setParameters", "id": "x", "parameters": [{"name": "gain", "value": 1}]}):
            with Client(system) as client:
                try:
                    for _ in range(10_000):
                        client.send(**flood)
                except closed.ConnectionClosed:
                    pass
                assert client.close_frame()[0] == POLICY_VIOLATION
        with Client(system) as client:
            client.send("getParameters", parameterNames=["gain"], id="after")
            assert values(answer(client, "after")) == {"gain": 1.0}


def case_recording() -> None:
    with foxglove_test.System() as system:
        publisher = system.publish("count", "counted", "200")
        file = system.record(0.5)
        publisher.kill()
        system.start_web(file)
        with Client(system) as client:
            client.send("getParameters", parameterNames=[])
            client.status("recording")


if __name__ == "__main__":
    sys.exit(run_cases(globals(), MISSING))
