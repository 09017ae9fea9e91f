"""The pictures of the guide; see the script `screenshots`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from browser import Browser
from system import System

LARGEST = 200_000  # bytes of a picture

NODES = [  # each publishes at least as fast as it receives: it misses nothing
    ("arm_driver", "arm/joints@100,arm/currents@100", "arm/command"),
    ("controller", "arm/command@100", "arm/joints,planner/path,safety/stop"),
    ("lidar_driver", "lidar/points@10", ""),
    ("localization", "base/pose@50", "lidar/points,base/odometry"),
    ("base_driver", "base/odometry@50,base/battery@1", "base/command"),
    ("perception", "perception/objects@25", "camera/front,lidar/points"),
    ("planner", "planner/path@5,base/command@50", "perception/objects,base/pose"),
    ("safety", "safety/stop@100", "arm/joints,lidar/points"),
    ("logger", "", "base/pose,perception/objects,base/battery"),
]


def plot(*fields: tuple[str, str]) -> str:
    return f"&plot={json.dumps(fields)}"


def main() -> None:
    folder = Path(sys.argv[1])
    with System() as system, Browser(1280, 800) as browser:
        system.publish("image", "camera/front", "20")
        system.publish("state", "arm/state", "200")
        for name, published, subscribed in NODES:
            system.publish("node", name, published, subscribed)
        system.start_web()

        def shoot(name: str, view: str, ready: str) -> None:
            browser.open(system.address + view)
            browser.wait(ready)
            time.sleep(8)  # for the lines to have a past; a picture, no test
            file = folder / name
            browser.screenshot(file)
            print(f"{file}: {file.stat().st_size} bytes")
            assert file.stat().st_size <= LARGEST

        browser.prefer("light")
        shoot("web-topics.png", "#topic=arm/state", "document.querySelector('.panel .line')")
        browser.prefer("dark")
        shoot("web-plots.png", "#view=plots&image=camera/front&topic=arm/state" +
              plot(("arm/state", "q[0]"), ("arm/state", "q[1]"), ("arm/state", "q[5]")) +
              plot(("base/pose", "position[0]"), ("base/pose", "position[1]")), "document.querySelector('.plot canvas')")
        if len(sys.argv) > 2:  # to look at, beside the pictures of the guide
            browser.prefer("light")
            shoot("web-graph.png", "#view=graph", "document.querySelector('.node')")


if __name__ == "__main__":
    main()
