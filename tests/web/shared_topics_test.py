"""A topic with several publishers: its figures in orc-web, on the page, and for viewers.

usage: shared_topics_test.py [CASE…]

Runs the functions case_… below, all of them without arguments. Each has a system of its own.
"""

from __future__ import annotations

import sys
from typing import Any

import page_test
import server_test
from cases import run_cases

MISSING = page_test.MISSING or server_test.MISSING
if not MISSING:
    import foxglove_test
    from browser import program
    from system import BIN, System, serving

    MISSING = foxglove_test.MISSING or foxglove_test.MISSING_NATIVE or ("" if (BIN / "orc-web").exists() else "orc-web was not built")


def shared_topic(message: dict[str, Any]) -> dict[str, Any]:
    return next((each for each in message["topics"] if each["name"] == "stop"), {})


def publishers(message: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in shared_topic(message).get("shared_by", [])}


def case_figures_of_each_publisher() -> None:
    with serving() as system, server_test.Client(system) as client:
        client.send("system", on=True)
        system.publish("once", "alone")
        system.publish("shared", "gate", "stop", "200")
        panel = system.publish("shared", "panel", "stop", "20")

        def both_measured(message: dict[str, Any]) -> bool:
            of = publishers(message)
            return set(of) == {"gate", "panel"} and all(each["rate"] for each in of.values())

        figures = client.until("system", both_measured)
        of, topic = publishers(figures), shared_topic(figures)
        assert of["gate"]["sent"] > of["panel"]["sent"] > 0, of
        assert of["gate"]["pid"] != of["panel"]["pid"], of
        assert topic["sent"] == of["gate"]["sent"] + of["panel"]["sent"], topic
        assert abs(topic["rate"] - of["gate"]["rate"] - of["panel"]["rate"]) < 0.01 * topic["rate"], topic
        alone = next(each for each in figures["topics"] if each["name"] == "alone")
        assert "shared_by" not in alone and alone["publisher"]["name"] == "once publisher", alone

        panel.kill()
        client.until("system", lambda message: set(publishers(message)) == {"gate"})


def case_page() -> None:
    if not program():
        print("[orc: skipped] no Chromium (tools/dev setup --web)")
        return
    rows = "[...document.querySelectorAll('.panel .publishers tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    part = "document.querySelector('.panel .publishers')"
    with System() as system:
        system.publish("shared", "gate", "stop", "200")
        panel = system.publish("shared", "panel", "stop", "20")
        with page_test.page(system, at="#topic=stop") as browser:
            browser.wait(f"{rows}.length === 2 && {rows}.every((row) => row.slice(1, 3).every(Boolean))")
            assert sorted(row[0] for row in browser.run(rows)) == ["gate", "panel"]
            browser.wait("document.querySelector('.panel .about').textContent.includes('2 publishers')")
            cells = browser.wait(page_test.row("stop"))
            assert any(cell in ("2: gate, panel", "2: panel, gate") for cell in cells), cells
            browser.run("document.querySelector('#filter').value = 'panel'")
            browser.run("document.querySelector('#filter').dispatchEvent(new Event('input'))")
            browser.wait(page_test.row("stop"))
            panel.kill()
            browser.wait(f"{rows}.length === 1")

        system.publish("once", "alone")
        reader = system.start("orc", "topic", "echo", "stop")
        system.publish("shared", "button", "stop", "20")
        with page_test.page(system, at="#view=graph&topic=alone") as browser:
            browser.wait(f"{part}.hidden")  # not shared
            browser.wait("document.querySelectorAll('.edge').length >= 2")  # from each publisher to the reader
        reader.kill()


def case_connection_graph() -> None:
    with serving() as system, foxglove_test.Client(system) as client:
        gate = system.publish("shared", "gate", "stop", "20")
        system.publish("shared", "panel", "stop", "20")
        client.send("subscribeConnectionGraph")

        def until(*names: str) -> None:
            known: list[str] = []
            while sorted(known) != sorted(names):
                update = client.until("connectionGraphUpdate")
                for each in update["publishedTopics"]:
                    if each["name"] == "stop":
                        known = [name.split(" (")[0] for name in each["publisherIds"]]

        until("gate", "panel")
        gate.kill()
        until("panel")


if __name__ == "__main__":
    sys.exit(run_cases(globals(), MISSING))
