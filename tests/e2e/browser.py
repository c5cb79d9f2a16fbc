#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at a page in Debian's Chromium, without a display: browser.py CHECK ARGUMENT...

    check PAGE... [SECONDS]
                           on screens of 1280 and 400 pixels, light, dark and with forced colours, and on paper: no text
                           overlaps another one or leaves the page, text has at least 12 pixels, and a contrast of 4.5:1
                           to what is behind it; what is folded is open on paper; the patterns of figures are told
                           apart without colours; nothing but the page itself is loaded, and its script does not fail;
                           showing it takes at most SECONDS (2) of processor time, which other programs do not change
    picture PAGE[#FRAGMENT] FILE.png [WIDTH [TOP HEIGHT]] [dark|forced|grey|print]...
                           what a person would see, for a look at it; pixels
    view PAGE ID FILE.png [WIDTH [HEIGHT]] [dark|forced|grey|print]...
                           the element with this id, or HEIGHT pixels of it from its top

Chromium is driven through a pipe by the Chrome DevTools Protocol. Exits with 0 if all holds, or says why not.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TIMEOUT = 300 # seconds, for an answer of the browser
FLAGS = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
         "--disable-dev-shm-usage"]
PAPER = 718  # pixels between the margins of A4
SCREENS = [(1280, ()), (400, ()), (1280, ("dark",)), (400, ("dark",)), (1280, ("forced",)), (PAPER, ("print",))]

# What a page shows: texts with their boxes, sizes and colours. A text of HTML has a box for each of its lines.
LOOK = r"""
(() => {
  const problems = [], boxes = [], wide = document.documentElement.clientWidth;
  const say = (what, text) => problems.push(what + ': ' + text.trim().slice(0, 60));
  const channels = colour => (colour.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = channels(getComputedStyle(element).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255];
  };
  const scrolls = element => {
    for (; element; element = element.parentElement)
      if (/auto|scroll/.test(getComputedStyle(element).overflowX)) return element;
    return null;
  };
  const look = (element, text, rects) => {
    const style = getComputedStyle(element), svg = element.closest('svg');
    if (parseFloat(style.fontSize) < 12) say('smaller than 12 pixels', text);
    const ink = light(channels(svg ? style.fill : style.color)), page = light(channels(behind(svg || element).join()));
    const contrast = (Math.max(ink, page) + 0.05) / (Math.min(ink, page) + 0.05);
    if (!(contrast >= 4.5)) say('contrast ' + contrast.toFixed(1), text);
    const region = scrolls(element);
    for (const box of rects) {
      if (box.width < 1 || box.height < 1) continue;
      if (!region && (box.left < -0.5 || box.right > wide + 0.5)) say('leaves the page', text);
      boxes.push({text, region, left: box.left, right: box.right, top: box.top + scrollY, bottom: box.bottom + scrollY});
    }
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement;
    if (!node.data.trim() || ['SCRIPT', 'STYLE', 'title'].includes(element.tagName) || !element.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    look(element, node.data, element.closest('svg') ? [element.getBoundingClientRect()] : range.getClientRects());
  }
  boxes.sort((one, other) => one.top - other.top);
  for (let i = 0; i < boxes.length; i++)
    for (let k = i + 1; k < boxes.length && boxes[k].top < boxes[i].bottom - 3; k++)
      if (boxes[i].region === boxes[k].region && boxes[k].left < boxes[i].right - 1 && boxes[i].left < boxes[k].right - 1)
        say('overlaps ' + JSON.stringify(boxes[i].text.trim().slice(0, 40)), boxes[k].text);
  if (document.documentElement.scrollWidth > wide + 1)
    say('the page is wider than its window', document.documentElement.scrollWidth + ' > ' + wide);
  const patterns = [...document.querySelectorAll('pattern[id^=c]')].map(pattern => ({
    id: pattern.id, light: light(channels(getComputedStyle(pattern.querySelector('rect')).fill)),
    marks: (pattern.querySelector('g') || pattern).innerHTML}));
  for (const [i, one] of patterns.entries())
    for (const other of patterns.slice(i + 1))
      if (one.marks.replace(/(fill|stroke)="#\w+"/g, '') === other.marks.replace(/(fill|stroke)="#\w+"/g, '') &&
          (Math.max(one.light, other.light) + 0.05) / (Math.min(one.light, other.light) + 0.05) < 1.5)
        say('alike in grey', one.id + ' and ' + other.id);
  if (matchMedia('print').matches)
    for (const folded of document.querySelectorAll('details:not([open]) > :not(summary, .control)'))
      if (!folded.checkVisibility({contentVisibilityAuto: true}) || folded.getBoundingClientRect().height < 1)
        say('folded on paper', folded.textContent);
  return {problems, texts: boxes.length, patterns: patterns.length};
})()
"""


class Browser:
    """Chromium with one page."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp()
        self.count, self.buffer, self.events = 0, b"", []
        inside_in, self.out = os.pipe()
        self.into, inside_out = os.pipe()
        root = ["--no-sandbox"] if os.geteuid() == 0 else []

        def ends():  # Chromium reads from descriptor 3 and writes to 4
            there = os.dup(inside_in), os.dup(inside_out)
            os.dup2(there[0], 3)
            os.dup2(there[1], 4)

        high = [os.dup(end) for end in (inside_in, inside_out)]  # keeps 3 and 4 free of what the parent uses
        self.process = subprocess.Popen([program, *FLAGS, *root, f"--user-data-dir={self.folder}", "about:blank"],
                                        preexec_fn=ends, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (inside_in, inside_out, *high):
            os.close(end)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def message(self):
        """Returns the next message of the browser."""
        os.set_blocking(self.into, False)
        end = time.monotonic() + TIMEOUT
        while b"\0" not in self.buffer:
            try:
                part = os.read(self.into, 1 << 20)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError("the browser does not answer") from None
                time.sleep(0.002)
                continue
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.set_blocking(self.out, True)
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message())

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def screen(self, width, looks, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media="print" if "print" in looks else "screen",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if "dark" in looks else "light"},
                            {"name": "forced-colors", "value": "active" if "forced" in looks else "none"}])
        self.call("Emulation.setEmulatedVisionDeficiency", type="achromatopsia" if "grey" in looks else "none")

    def open(self, path, fragment=""):
        """Returns the seconds of processor time that the page's thread took until it was painted."""
        for url in ("about:blank", path.as_uri() + fragment):  # the same page with another fragment would not be loaded
            self.events.clear()
            self.call("Page.navigate", url=url)
            self.wait("Page.loadEventFired")
        self.call("Page.captureScreenshot", format="png")  # waits until it is painted
        metrics = {one["name"]: one["value"] for one in self.call("Performance.getMetrics")["metrics"]}
        return metrics["TaskDuration"]

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (EOFError, OSError, TimeoutError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def check(browser, *pages):
    try:
        *pages, seconds = *pages[:-1], float(pages[-1])
    except ValueError:
        seconds = 2
    paths = [pathlib.Path(page).resolve() for page in pages]
    return [f"{path.name}: {problem}" for path in paths for problem in problems_of(browser, path, seconds)]


def problems_of(browser, path, seconds):
    problems = []
    browser.screen(1280, ())
    took = browser.open(path)
    if took > seconds:
        problems.append(f"showing it took {took:.2f} s of processor time, more than {seconds} s")
    for width, looks in SCREENS:
        browser.screen(width, looks)
        seen = browser.evaluate(LOOK)
        if not seen["texts"]:
            problems.append("the page has no text")
        problems += [f"{width} {' '.join(looks)}: {problem}" for problem in seen["problems"]]
    paper = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    if not paper.startswith(b"%PDF"):
        problems.append("cannot be printed")
    for event in browser.events:
        parameters = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent" and parameters["request"]["url"] != path.as_uri():
            problems.append(f"asks for {parameters['request']['url'][:80]}")
        if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            problems.append(f"the browser says: {parameters['entry']['text'][:120]}")
        if event.get("method") == "Runtime.exceptionThrown":
            problems.append(f"the script fails: {parameters['exceptionDetails']['exception']['description'][:120]}")
    print(f"# {took:.2f} s of processor time, {seen['texts']} texts, {seen['patterns']} patterns")
    return problems


def picture(browser, page, target, *options):
    page, _, fragment = page.partition("#")
    numbers = [int(option) for option in options if option.isdigit()] + [None] * 3
    width, top, height = numbers[0] or 1280, numbers[1] or 0, numbers[2]
    browser.screen(width, options)
    browser.open(pathlib.Path(page).resolve(), fragment and "#" + fragment)
    height = height or int(browser.evaluate("document.documentElement.scrollHeight")) - top
    data = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                        clip={"x": 0, "y": top, "width": width, "height": height, "scale": 1})["data"]
    pathlib.Path(target).write_bytes(base64.b64decode(data))
    return []


def view(browser, page, name, target, *options):
    width, height = ([int(option) for option in options if option.isdigit()] + [None] * 2)[:2]
    browser.screen(width or 1280, options)
    browser.open(pathlib.Path(page).resolve())
    box = browser.evaluate(f"(({{top, height}}) => [top + scrollY, height])(document.getElementById({json.dumps(name)})"
                           ".getBoundingClientRect())")
    clip = {"x": 0, "y": box[0], "width": width or 1280, "height": min(box[1], height or box[1]), "scale": 1}
    data = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
    pathlib.Path(target).write_bytes(base64.b64decode(data))
    return []


def main(checks):
    """Runs the check that the command line names in a browser."""
    program = shutil.which("chromium")
    if not program:
        sys.exit("chromium is not installed")
    browser = Browser(program)
    try:
        problems = checks[sys.argv[1]](browser, *sys.argv[2:])
    finally:
        browser.close()
    for problem in list(dict.fromkeys(problems))[:30]:
        print(problem)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main({"check": check, "picture": picture, "view": view})
