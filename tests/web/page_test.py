"""The page of orc-web in a headless Chromium, with real programs behind it.

usage: page_test.py [CASE…]

Runs the functions case_… below, all of them without arguments. Each has a system of its own.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import time
from typing import Iterator

MISSING = ""
try:
    from browser import Browser, Failure, program
    from system import BIN, MANY_TOPICS, System
    import flatbuffers  # type: ignore[import-untyped]  # noqa: F401
    import numpy  # noqa: F401
except ImportError as error:
    MISSING = f"no Python package {error.name} (tools/dev setup --web)"

LOST = "WebSocket connection to", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET"


@contextlib.contextmanager
def page(system: System, *arguments: str, at: str = "", size: tuple[int, int] = (1280, 800)) -> Iterator[Browser]:
    """orc-web, and a browser that shows its page. Nothing may be reported on the console."""
    web = system.start_web(*arguments)
    with contextlib.closing(web), Browser(*size) as browser:
        browser.open(f"{system.address}{at}")
        browser.wait("document.body.classList.contains('ready')")
        yield browser
        assert browser.problems == [], browser.problems
        assert browser.run("document.title") == "ORC"


def fields_in_hash(plots: list[list[tuple[str, str]]]) -> str:
    return "#view=plots" + "".join(f"&plot={json.dumps(fields)}" for fields in plots)


def row(topic: str) -> str:
    """A script that is the texts of the row of a topic, or null."""
    return (f"(() => {{ const row = [...document.querySelectorAll('.row:not([hidden])')].find((each) => each.topic === {json.dumps(topic)});"
            "return row ? row.cells.map((cell) => cell.textContent) : null; })()")


WATCH_FRAMES = """(() => { window.frames_drawn = []; document.addEventListener('orc:drawn', (event) => {
  if (event.detail.newest) window.frames_drawn.push([performance.timeOrigin + performance.now(), event.detail.newest * 1000]); }); })()"""


def case_topics_table() -> None:
    with System() as system:
        system.publish("many", "99", "20")
        system.publish("state", "arm/state", "100")
        with page(system) as browser:
            browser.wait("document.getElementById('topics-count').textContent === '100'")
            shown = browser.run("document.querySelectorAll('.row:not([hidden])').length")
            assert 20 < shown < 60, shown  # those that fit on the screen
            cells = browser.wait(f"(() => {{ const cells = {row('arm/state')}; return cells && cells[4] !== '–' && cells; }})()")
            assert cells[:3] == ["arm/state", "arm.State", "state publisher"], cells
            assert 90 < float(cells[4].split()[0]) < 110, cells
            browser.click("#filter")
            browser.type("sensor_09")
            browser.wait("document.getElementById('topics-count').textContent === '9 of 99' || "
                         "document.getElementById('topics-count').textContent === '9 of 100'")
            browser.key("Escape")
            browser.click("#topics-header .cell.rate button")
            browser.wait(f"document.querySelector('.row:not([hidden])') && {row('arm/state')}")
            browser.wait("document.querySelector('#topics-header .cell.rate').getAttribute('aria-sort') === 'descending'")
            first = "[...document.querySelectorAll('.row:not([hidden])')].sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y)[0].topic"
            browser.wait(f"{first} === 'arm/state'")
            browser.run("document.getElementById('topics-rows').focus()")
            browser.key("ArrowDown")
            browser.key("Enter")
            browser.wait("document.querySelector('.panel h2').textContent === 'arm/state'")
            browser.key("4")  # where there is room for both, it goes there and the view stays
            browser.wait("document.getElementById('opened').contains(document.activeElement)")
            assert browser.run("document.getElementById('tab-topics').getAttribute('aria-selected')") == "true"


def case_topic_opened() -> None:
    with System() as system:
        system.publish("state", "arm/state", "100")
        reader = system.start("orc", "topic", "echo", "arm/state")
        with page(system) as browser:
            browser.wait(row("arm/state"))
            browser.click(".row")
            browser.wait("document.querySelector('.line[data-path=\"q[7]\"]')")
            value = "document.querySelector('.line[data-path=\"q[7]\"] .value').textContent"
            before = browser.run(value)
            browser.wait(f"{value} !== {json.dumps(before)}")
            assert "“left arm”" in browser.text()
            assert browser.run("document.querySelector('.panel > header button').hidden"), "offers an image of a type without one"
            browser.wait("[...document.querySelectorAll('.panel th')].at(-1).textContent === 'Latency'")
            browser.wait("document.querySelector('.panel tbody tr td:nth-child(2)')?.textContent === 'ipc'")
            browser.wait("/100 Hz|9\\d\\.\\d Hz|10\\d Hz/.test(document.querySelector('.counter .number').textContent)")
            browser.reload()
            browser.wait("document.querySelector('.line[data-path=\"q[7]\"]')")
            browser.click(".panel > header .icon")
            browser.wait("!document.querySelector('.panel')")
            assert "topic=" not in browser.run("location.hash")
        reader.kill()


def case_plot_of_1_khz() -> None:
    with System() as system:
        system.publish("state", "arm/state", "1000")
        with page(system, at=fields_in_hash([[("arm/state", "q[0]")]])) as browser:
            browser.wait("document.querySelector('.plot canvas')")
            browser.run(WATCH_FRAMES)
            browser.wait("frames_drawn.length >= 60")
            ages = [drawn - newest for drawn, newest in browser.run("frames_drawn")]
            assert -1000 < statistics.median(ages) < 5000, ages
            print(f"drawn after its stamp, median: {statistics.median(ages):.0f} ms (of {len(ages)} frames, "
                  f"95 % within {statistics.quantiles(ages, n=20)[-1]:.0f} ms)")


def case_plot_of_8_fields() -> None:
    with System() as system:
        system.publish("state", "arm/state", "1000")
        with page(system, at=fields_in_hash([[("arm/state", f"q[{joint}]") for joint in range(8)]])) as browser:
            browser.wait("[...document.querySelectorAll('.chip .number')].filter((each) => each.textContent !== '–').length === 8")
            browser.run(WATCH_FRAMES)
            browser.wait("frames_drawn.length >= 60")
            times = [drawn for drawn, _ in browser.run("frames_drawn")]
            print(f"8 fields at 1 kHz: {(len(times) - 1) / (times[-1] - times[0]) * 1000:.0f} frames/s")


def case_plots_by_hand() -> None:
    with System() as system:
        system.publish("state", "arm/state", "200")
        with page(system, at="#topic=arm/state") as browser:
            browser.click('.line[data-path="q[0]"] .plot-it')
            browser.wait("document.querySelectorAll('.chip').length === 1")
            browser.drag('.line[data-path="q[1]"]', ".plot .chart")
            browser.wait("document.querySelectorAll('.plot:nth-child(1) .chip').length === 2")
            browser.click("#plot-new")
            browser.click('.line[data-path="q[2]"] .plot-it')
            browser.wait("document.querySelectorAll('.plot:nth-child(2) .chip').length === 1")
            browser.wait("[...document.querySelectorAll('.chip .number')].every((each) => each.textContent !== '–')")
            browser.wait("/^-?\\d/.test(document.querySelector('.chip .number').textContent)")
            # units and names come with the values; a click on a name hides the line
            browser.click('.line[data-path="mode"] .plot-it')
            browser.wait("document.querySelector('.plot:nth-child(2)').innerText.includes('fault (2)')")
            browser.wait("/^-?[\\d.]+ rad$/.test(document.querySelector('.chip .number').textContent)")
            browser.click(".plot:nth-child(2) .chip:nth-child(2) .label")
            browser.wait("document.querySelectorAll('.chip.hidden-line').length === 1")
            browser.click(".plot:nth-child(2) .chip:nth-child(2) .icon")
            browser.wait("document.querySelectorAll('.chip').length === 3")
            # zoom with the mouse, back with a double click
            x, y = browser.middle(".plot:nth-child(1) .chart .u-over")
            browser.move(x + 100, y)
            browser.press(x + 100, y, True)
            browser.move(x + 180, y, True)
            browser.move(x + 250, y, True)
            browser.press(x + 250, y, False)
            browser.wait("!document.querySelector('.plot:nth-child(1) .live').hidden")
            # the legend is about what is shown, no longer about now
            browser.move(2, 2)
            browser.click("#plot-new")
            browser.click('.line[data-path="t"] .plot-it')
            browser.wait("document.querySelector('.plot:nth-child(3) .number').textContent > '1'")
            newest = "Number(document.querySelector('.plot:nth-child(3) .number').textContent)"
            x, y = browser.middle(".plot:nth-child(3) .chart .u-over")
            browser.press(x - 120, y, True)
            browser.move(x - 60, y, True)
            browser.move(x - 20, y, True)
            browser.press(x - 20, y, False)
            browser.wait("!document.querySelector('.plot:nth-child(3) .live').hidden")
            now = browser.run("Date.now() / 1000")
            browser.move(2, 2)
            browser.wait(f"!({newest} > {now} - 1)")
            browser.click(".plot:nth-child(3) > header > .icon")
            browser.click(".plot:nth-child(1) .live")
            browser.wait("document.querySelector('.plot:nth-child(1) .live').hidden")
            browser.click("#plot-pause")
            browser.wait("document.querySelectorAll('.plot .live:not([hidden])').length === 2")
            browser.click("#plot-pause")
            browser.run("(() => { const window = document.getElementById('plot-window'); window.value = '30';"
                        "window.dispatchEvent(new Event('change')); })()")
            browser.reload()  # what is open is in the address
            browser.wait("document.querySelectorAll('.plot:nth-child(1) .chip').length === 2")
            assert browser.run("document.getElementById('plot-window').value") == "30"
            browser.click(".plot:nth-child(1) .chip .icon")
            browser.wait("document.querySelectorAll('.plot:nth-child(1) .chip').length === 1")
            browser.click(".plot:nth-child(2) > header > .icon")
            browser.wait("document.querySelectorAll('.plot').length === 1")


def case_images() -> None:
    with System() as system:
        system.publish("image", "camera/raw", "30")
        system.publish("png", "camera/png", "30")
        with page(system, at="#topic=camera/raw&topic=camera/png") as browser:
            browser.run("(() => { window.images = {}; document.addEventListener('orc:drawn', (event) => {"
                        "if (event.detail.stamp) { const name = event.target.closest('.panel')?.querySelector('h2').textContent;"
                        "(images[name] ??= []).push(performance.now()); } }); })()")
            browser.wait("Object.values(images).filter((each) => each.length >= 40).length === 2")
            for name, times in sorted(browser.run("images").items()):
                print(f"{name}: {(len(times) - 1) / (times[-1] - times[0]) * 1000:.1f} images/s")
            pixels = browser.run("[...document.querySelectorAll('.panel canvas[role=img]')].map((canvas) => [canvas.width, canvas.height,"
                                 "...canvas.getContext('2d').getImageData(100, 60, 1, 1).data])")
            for width, height, _, _, blue, alpha in pixels:
                assert (width, height, alpha) == (160, 120, 255) and blue in (96, 255), pixels
            shown = "Math.round(document.querySelector('canvas[role=img]').getBoundingClientRect().width)"
            before = browser.run(shown)
            browser.click(".panel .picture")
            browser.wait(f"{shown} > 3 * {before}")
            browser.key("Escape")
            browser.wait(f"{shown} === {before}")
            x, y = browser.middle("#splitter")
            browser.move(x, y)
            browser.press(x, y, True)
            browser.move(x - 100, y, True)
            browser.press(x - 100, y, False)
            width = browser.run("document.getElementById('opened').clientWidth")
            assert 480 < width < 500, width
            browser.reload()
            browser.wait(f"document.getElementById('opened').clientWidth === {width}")


def case_old_sample() -> None:
    with System() as system:
        system.publish_natively("old", "rare", "3600")  # sent an hour ago, and nothing since
        with page(system, at="#topic=rare") as browser:
            browser.wait("document.querySelector('.line[data-path=number] .value')?.textContent === '42'")
            assert "the only one" in browser.text()
            browser.wait("/ 1 h 0\\d min old/.test(document.querySelector('.panel .stamp').textContent)")
            browser.wait("/^1 h 0\\d min$/.test(document.querySelector('.panel tbody tr td:nth-child(5)')?.textContent)")


def case_many_topics() -> None:
    with System() as system:
        system.publish_natively("many", str(MANY_TOPICS))
        begin = time.monotonic()
        with page(system) as browser:
            shown = "document.getElementById('topics-count').textContent.replace(/\\D+/g, ' ')"
            browser.wait(f"{shown} === '{MANY_TOPICS}'")
            print(f"{MANY_TOPICS} topics in the table after {time.monotonic() - begin:.1f} s, with the start of the browser")
            assert browser.run("document.querySelectorAll('.row').length") < 100
            # to the end in 60 steps, a frame each
            gaps = browser.run("""(async () => {
              const frame = () => new Promise((done) => requestAnimationFrame(done));
              const box = document.getElementById('topics-rows');
              const gaps = [];
              let before = await frame();
              for (let step = 1; step <= 60; ++step) {
                box.scrollTop = (box.scrollHeight - box.clientHeight) * step / 60;
                const now = await frame();
                gaps.push(now - before);
                before = now;
              }
              return gaps;
            })()""")
            print(f"frames while it scrolls: median {statistics.median(gaps):.0f} ms, longest {max(gaps):.0f} ms")
            last = f"many/{MANY_TOPICS - 1:05d}"
            browser.wait(row(last))
            assert browser.run(row("many/00000")) is None
            browser.click("#filter")
            begin = time.monotonic()
            browser.type(last.removeprefix("many/"))
            browser.wait(f"{shown} === '1 {MANY_TOPICS}'")
            browser.wait(row(last))
            print(f"filtered after {(time.monotonic() - begin) * 1000:.0f} ms")
            browser.wait(f"({row(last)})[4] !== '–'")  # its rate


def case_restarts() -> None:
    with System() as system:
        publisher = system.publish("state", "arm/state", "200")
        with page(system, at="#topic=arm/state" + fields_in_hash([[("arm/state", "q[0]")]]).replace("#view=plots", "")) as browser:
            value = "document.querySelector('.line[data-path=\"t\"] .value')?.textContent"

            def moves() -> None:
                browser.run(WATCH_FRAMES)
                before = browser.wait(value)
                browser.wait(f"{value} !== {json.dumps(before)} && {value} !== undefined")
                browser.wait("frames_drawn.length > 10")

            moves()
            publisher.kill()
            browser.wait("!document.querySelector('.panel .state').hidden || document.querySelector('.row.gone')")
            publisher = system.publish("state", "arm/state", "200")
            moves()
            system.broker.kill()
            moves()  # samples go directly
            system.broker = system.start_broker()
            moves()
            browser.wait("document.getElementById('banner-broker').hidden")
            publisher.kill()
            system.publish("state", "arm/state", "200")
            moves()
        with contextlib.ExitStack() as stack:
            web = system.start_web()
            browser = stack.enter_context(Browser())
            browser.open(f"{system.address}#topic=arm/state")
            browser.wait(value)
            with browser.no_problems_expected_until(*LOST):
                web.kill()
                browser.wait("!document.getElementById('banner-connection').hidden")
                system.start_web()
                browser.wait("document.getElementById('banner-connection').hidden")
                before = browser.wait(value)
                browser.wait(f"{value} !== {json.dumps(before)}")
            assert browser.problems == [], browser.problems


def case_hostile() -> None:
    with System() as system:
        system.publish("hostile")
        with page(system, at="#topic=hostile") as browser:
            browser.wait("document.querySelector('.panel .tree .line')")
            browser.click("#tab-graph")
            browser.wait("document.querySelector('.node')")
            browser.click(".node")
            browser.wait("document.querySelector('#graph-details h2')")
            browser.click("#tab-topics")
            browser.wait(row("hostile"))
            text = browser.text()
            assert "<script>document.title" in text and "\\u{202e}" in text and "\u202e" not in text, text[:3000]
            longest = browser.run("Math.max(...[...document.querySelectorAll('.tree *')].map((each) => each.childElementCount ? 0 : each.textContent.length))")
            assert 100 < longest < 3000, longest  # of 10,000
            found = browser.run("[document.scripts.length, document.images.length, document.querySelectorAll('b, iframe').length,"
                                "({}).polluted === undefined]")
            assert found == [1, 0, 0, True], found
            names = browser.run("[...document.querySelectorAll('.tree .name')].map((each) => each.textContent)")
            assert "__proto__" in names, names
            assert not browser.run("document.querySelector('[data-path=\"a.b[0]\"]')"), "a name that is no path offers a plot"
            width = browser.run("document.documentElement.scrollWidth")
            assert width <= 1280, width


def case_graph() -> None:
    with System() as system:
        system.publish("state", "arm/state", "100")
        system.publish("silent", "arm/unread")
        reader = system.start("orc", "topic", "echo", "arm/state")
        with page(system, at="#view=graph") as browser:
            browser.wait("document.querySelectorAll('.edge').length >= 1")
            browser.wait("document.querySelector('.node.unread')?.textContent.includes('arm/unread')")
            browser.wait("document.querySelector('.edge-label').textContent.startsWith('arm/stateipc ')")
            x, y = browser.middle(".node")
            browser.move(x, y)
            browser.wait("document.querySelectorAll('.node.related').length === 2")
            assert "publisher" in browser.run("document.getElementById('graph-details').textContent")
            browser.click("#graph-details .link")
            browser.wait("document.querySelector('.panel h2').textContent === 'arm/state'")
        reader.kill()


def case_publish() -> None:
    with System() as system:
        system.publish("state", "arm/state", "100")
        with page(system) as browser:
            assert browser.run("document.getElementById('publish-open').hidden")
        with page(system, "--allow-publish", at="#topic=goal") as browser:
            browser.click("#publish-open")

            def send(topic: str, value: str, like: str = "") -> str:
                browser.run(f"(() => {{ document.getElementById('publish-topic').value = {json.dumps(topic)};"
                            f"document.getElementById('publish-like').value = {json.dumps(like)};"
                            f"document.getElementById('publish-value').value = {json.dumps(value)};"
                            "document.getElementById('publish-result').textContent = ''; })()")
                browser.click("#publish-send")
                browser.wait("!['', 'Sending …'].includes(document.getElementById('publish-result').textContent)")
                return str(browser.run("document.getElementById('publish-result').textContent"))

            assert send("goal", " ").startswith("Enter a value")
            assert "not JSON" in send("goal", "{x: 1}")
            assert "arm/state" in send("arm/state", "{}")
            assert send("goal", '{"x": 1.5}') == "Sent on 'goal'."
            browser.wait("document.querySelector('.line[data-path=x] .value')?.textContent === '1.5'")
            assert send("goal", '{"x": 2.5}') == "Sent on 'goal'."
            browser.wait("document.querySelector('.line[data-path=x] .value')?.textContent === '2.5'")
            browser.click("#publish-own button")
            browser.wait("document.getElementById('publish-result').textContent === \"Ended 'goal'.\"")
            assert browser.run("document.getElementById('publish-own').hidden")
            system.publish("image", "camera", "10")
            browser.run("document.getElementById('publish-like').value = 'camera'")
            browser.click("#publish-fill")
            browser.wait("document.getElementById('publish-result').textContent.includes(\"field 'data' has 57600 elements\")")


def case_recording() -> None:
    with System() as system:
        publisher = system.publish("state", "arm/state", "200")
        file = system.record(4)
        publisher.kill()
        with page(system, file, at="#topic=arm/state" + fields_in_hash([[("arm/state", "t")]]).replace("#view=plots", "")) as browser:
            browser.wait("!document.getElementById('recording').hidden")
            cells = browser.wait(row("arm/state"))
            assert cells[:3] == ["arm/state", "arm.State", "state publisher"] and cells[5:] == ["88 B", "0"], cells
            assert 100 < int(cells[3]) < 1000, cells
            hidden = browser.run("['#tab-graph', '.panel details'].map((each) => document.querySelector(each).offsetParent)")
            assert hidden == [None, None] and not browser.run("document.querySelector('.row.gone')")
            browser.wait("/0:0[34]/.test(document.getElementById('recording-time').textContent.split('/')[1])")
            value = "Number(document.querySelector('.line[data-path=t] .value')?.textContent)"
            first = browser.wait(value)
            browser.run("(() => { const slider = document.getElementById('recording-slider'); slider.value = '5000';"
                        "slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change')); })()")
            browser.wait("/^0:0[12]/.test(document.getElementById('recording-time').textContent)")
            middle = browser.wait(f"{value} > {first} && {value}")
            browser.click("#recording-play")
            browser.wait(f"{value} > {middle}")
            browser.wait("document.getElementById('recording-play').getAttribute('aria-label') === 'Pause'")
            browser.run("(() => { const slider = document.getElementById('recording-slider'); slider.value = '0';"
                        "slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change')); })()")
            browser.wait(f"{value} < {middle}")
            browser.wait("/^-?\\d/.test(document.querySelector('.chip .number').textContent)")


def case_light_and_dark() -> None:
    with System() as system:
        system.publish("state", "arm/state", "100")
        with page(system, at="#topic=arm/state" + fields_in_hash([[("arm/state", "q[0]")]]).replace("#view=plots", "")) as browser:
            back = "getComputedStyle(document.body).backgroundColor"
            browser.prefer("light")
            browser.wait("document.documentElement.dataset.theme === 'light'")
            light = browser.run(back)
            browser.prefer("dark")
            browser.wait("document.documentElement.dataset.theme === 'dark'")
            assert browser.run(back) != light
            browser.click("#theme")  # light, whatever the system says
            browser.wait("document.documentElement.dataset.theme === 'light'")
            browser.reload()
            browser.wait("document.documentElement.dataset.theme === 'light'")
            assert browser.run(back) == light


def case_narrow() -> None:
    with System() as system:
        system.publish("state", "arm/state", "100")
        system.publish("state", "leg/state", "100")
        with page(system, size=(390, 800)) as browser:
            browser.wait(row("arm/state"))
            browser.click(".row .cell.topic")
            browser.wait("document.getElementById('tab-opened').dataset.count === '1'")
            browser.click("#tab-opened")
            browser.click('.line[data-path="q[0]"] .plot-it')
            browser.click("#tab-plots")
            browser.wait("document.querySelector('.plot canvas').getBoundingClientRect().width > 300")
            assert browser.run("document.documentElement.scrollWidth") <= 390
            browser.click("#tab-topics")
            for width in (390, 600, 900, 1280):
                browser.resize(width, 800)
                cut = browser.run("[...document.querySelectorAll('.row:not([hidden]) .number')].filter((each) => each.offsetParent && each.scrollWidth > each.clientWidth).length")
                right = browser.run("Math.max(...[...document.querySelectorAll('.row:not([hidden]) .number')].map((each) => each.getBoundingClientRect().right))")
                assert cut == 0 and right <= width, (width, cut, right)
            for topic in ("arm/state", "leg/state"):  # programs of one name are told apart
                browser.wait(f"/^state publisher \\(\\d+\\)$/.test({row(topic)}[2])")


def case_modules() -> None:
    """What needs no system behind it: 10,000 rows, texts, the points of a plot."""
    with System() as system, page(system) as browser:
        browser.wait("document.body.classList.contains('ready')")
        rows = browser.run("""(async () => {
          const {VirtualRows} = await import('/virtual_rows.js');
          const box = document.createElement('div');
          box.style.cssText = 'height: 480px; overflow: auto; position: relative';
          document.body.append(box);
          const rows = new VirtualRows(box, 24, () => document.createElement('p'), (row, item) => { row.textContent = item; });
          rows.set(Array.from({length: 10000}, (_, index) => `topic ${index}`));
          box.scrollTop = 10000 * 24;
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          const shown = [...box.querySelectorAll('p:not([hidden])')].map((row) => row.textContent);
          box.remove();
          return [shown.length, shown.includes('topic 9999'), shown.includes('topic 0')];
        })()""")
        assert rows[0] < 60 and rows[1:] == [True, False], rows
        texts = browser.run("""(async () => {
          const text = await import('/text.js');
          return [text.visible('a\\u202eb\\u0000\\ud800'), text.visible('x'.repeat(300)).length < 230, text.rate(999.96), text.rate(1234),
                  text.duration(0.0000123), text.duration(4000), text.duration(null), text.count('1234567'), text.number(0.1234567891), text.number(1795624000.1234),
                  text.shortCount(234144), text.rate(9.996), text.duration(0.00099999)];
        })()""")
        assert texts == ["a\\u{202e}b\\u{0}\\u{d800}", True, "1.00 kHz", "1.23 kHz", "12.3 µs", "1 h 06 min", "–",
                         "1\u202f234\u202f567", "0.1234568", "1795624000.123", "234 k", "10.0 Hz", "1.00 ms"], texts
        points = browser.run("""(async () => {
          const {SeriesBuffer} = await import('/series_buffer.js');
          const buffer = new SeriesBuffer(4);
          const of = (...rows) => new Float64Array(rows.flat());
          buffer.add(true, of([1, 0, 2], [2, 5, 5], [2, 4, 9], [3, NaN, NaN], [4, 1, 1], [5, 2, 2]));
          const values = [];
          buffer.columns(0, 1, 6, values);
          const first = values.map((each) => each === undefined ? 'u' : each);
          const kept = buffer.size;
          buffer.add(true, of([1, 7, 7]));
          const rising = new SeriesBuffer();
          rising.add(true, of([1, 0, 2], [2, 3, 5], [3, 1, 4]));
          const latest = [rising.latest(0), rising.latest(2).max, rising.latest(Infinity).max];
          return [kept, first, buffer.size, buffer.at(9).max, latest];
        })()""")
        assert points == [4, ["u", "u", 0, 2, 4, 9, "u", None, 1, 1, 2, 2], 1, 7, [None, 5, 1]], points
        trees = browser.run("""(async () => {
          const {TreeView} = await import('/tree_view.js');
          const view = new TreeView('topic', () => {});
          const object = (value) => ({k: 'object', f: [['a', {k: 'number', v: value}]]});
          const leaf = {k: 'bytes', n: 1, v: 'ff'};
          return [object(1), leaf, object(2), object(3), {k: 'object', f: []}, object(4)].map((tree) => {
            view.show(tree);
            return [...view.element.querySelectorAll('.value')].map((each) => each.textContent).join(' ');
          });
        })()""")
        assert trees == ["1", "ff", "2", "3", "{ }", "4"], trees


def cases() -> dict[str, object]:
    return {name.removeprefix("case_"): each for name, each in globals().items() if name.startswith("case_")}


def main() -> int:
    reason = MISSING or ("" if program() else "no Chromium (tools/dev setup --web)")
    if not reason and not (BIN / "orc-web").exists():
        reason = "orc-web was not built: Boost is missing (tools/dev setup)"
    if reason:
        print(f"[orc: skipped] {reason}")
        return 0
    failed = 0
    for name in sys.argv[1:] or cases():
        begin = time.monotonic()
        try:
            cases()[name]()  # type: ignore[operator]
        except (AssertionError, Failure, OSError) as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}")
            raise
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
