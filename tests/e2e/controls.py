#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Uses what the script adds to a page, in Debian's Chromium: controls.py CHECK ARGUMENT...

    tables PAGE      the table of phases is sorted by clicks and keys
    filter PAGE      the table of phases is filtered by typed words, with what belongs to the phases
    address PAGE     the address keeps how a table is sorted and filtered, and a value that is none does nothing
    brush PAGE       dragging over bursts shows their phases alone in all views, on the screen and not on paper
    copy PAGE        positions in the source are copied
    zoom PAGE        figures show parts of their width by dragging, buttons and keys, and the address keeps which
    off PAGE         with scripts off, the page looks as with them, except for the controls
    keys PAGE        each control has a name and is reached by the key Tab
    drop PAGE FILE JSON
                     a second result that is dropped onto the page, or chosen if it is a page, is compared as
                     `phasemux compare --json` does
    whatif PAGE JSON COMPONENT PERCENT PHASE PERCENT PERCENT [balance]
                     the sliders say what the last answer of `phasemux whatif --json` has
    refuse PAGE FILE...
                     files that are dropped and are no results are refused in words
"""
import json
import math
import pathlib
import re

import browser as browsers

problems = []

# What the checks ask the page. A control that is missing ends the check.
HELP = """
const one = selector => document.querySelector(selector) || (() => { throw Error('no ' + selector); })();
const all = selector => [...document.querySelectorAll(selector)];
const text = element => element.textContent.replace(/\\s+/g, ' ').trim();
const shown = element => element.checkVisibility();
"""


def expect(got, wanted, what):
    if got != wanted:
        problems.append(f"{what}: got {str(got)[:200]!r}, wanted {str(wanted)[:200]!r}")


def open_page(browser, page, fragment=""):
    browser.screen(1280, ())
    browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
    browser.open(pathlib.Path(page).resolve(), fragment)


def ask(browser, expression):
    return browser.evaluate(f"(() => {{ {HELP} return {expression}; }})()")


KEYS = {"Enter": 13, " ": 32, "Tab": 9, "Backspace": 8, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}


def press(browser, key):
    """Presses a key, or types a character."""
    text = "\r" if key == "Enter" else key if len(key) == 1 else ""
    code = KEYS.get(key, ord(key[0].upper()))
    browser.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, text=text,
                 windowsVirtualKeyCode=code)
    browser.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)


def click(browser, selector):
    """Clicks into the middle of an element, as a person does."""
    x, y = ask(browser, f"(() => {{ const element = one({selector!r}); element.scrollIntoView({{block: 'center'}}); "
                        "const box = element.getBoundingClientRect(); "
                        "return [box.x + box.width / 2, box.y + box.height / 2]; })()")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def expect_readable(browser):
    """Checks that what the controls have made is as readable as the page."""
    for width, looks in ((400, ("dark",)), (718, ("print",)), (1280, ())):
        browser.screen(width, looks)
        expect(browser.evaluate(browsers.LOOK)["problems"], [], f"{width} {looks}")


# ---- tables ----

TIME = "#phases table.rows th:nth-child(2)"


def column(browser, place):
    return ask(browser, f"all('#phases table.rows tr').slice(1).filter(shown).map(row => text(row.cells[{place}]))")


def check_tables(browser, page):
    open_page(browser, page)
    ids = column(browser, 0)
    everything = ask(browser, "all('#phases table.rows tr').map(text)")
    expect(sorted(map(int, filter(None, ids))), list(range(1, 201)), "the phases")
    expect(ask(browser, f"one('{TIME}').ariaSort"), None, "aria-sort of the page's order")

    click(browser, TIME + " button")
    expect(ask(browser, f"one('{TIME}').ariaSort"), "descending", "aria-sort after a click")
    expect(column(browser, 0), [str(i + 1) for i in range(200)], "by time, the longest first")
    press(browser, "Enter")
    expect(ask(browser, f"one('{TIME}').ariaSort"), "ascending", "aria-sort after Enter")
    expect(column(browser, 1)[0][:5], "<0.1%", "by time, the shortest first")
    expect(column(browser, 1)[-1][:4], "5.0%", "by time, the longest last")
    press(browser, " ")
    expect(ask(browser, f"one('{TIME}').ariaSort"), None, "aria-sort after the third time")
    expect(ask(browser, "all('#phases table.rows tr').map(text)"), everything, "the page's order again")

    # The mean is in several units, and places are text.
    click(browser, "#phases table.rows th:nth-child(4) button")
    means = [float(mean.split()[0]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[mean.split()[1].split("+")[0]]
             for mean in column(browser, 3)]
    expect(means, sorted(means, reverse=True), "by mean")
    click(browser, "#phases table.rows th:last-child button")
    places = column(browser, 6)
    expect(places, sorted(places), "by place")
    expect(ask(browser, "all('#phases table.rows [aria-sort]').length"), 1, "columns with aria-sort")
    return problems


def check_filter(browser, page):
    open_page(browser, page)
    articles = ask(browser, "all('#phases article').filter(shown).length")
    expect(articles > 10, True, "phases are there")
    browser.evaluate("document.querySelector('#phases input').focus()")
    for character in "irecv  EXCHANGE":
        press(browser, character)
    places = column(browser, 6)
    expect(0 < len(places) < 200, True, "fewer rows")
    expect([place for place in places if "Irecv" not in place or "exchange" not in place], [], "rows without the words")
    expect(ask(browser, "text(one('#phases output'))"), f"{len(places)} of 200 rows", "what is said")
    expect(ask(browser, "all('#phases article').filter(shown).map(article => article.id.slice(6))"),
           [number for number in column(browser, 0) if int(number) < 33], "phases that are shown")
    click(browser, TIME + " button")
    expect(len(column(browser, 0)), len(places), "rows after they are sorted")
    browser.screen(1280, ("print",))
    expect(ask(browser, "all('#phases article').filter(shown).length"), articles, "phases on paper")
    expect(ask(browser, "all('.control').filter(shown).length"), 0, "controls on paper")
    browser.screen(1280, ())
    browser.evaluate("document.querySelector('#phases input').select()")
    press(browser, "Backspace")
    expect(ask(browser, "text(one('#phases output'))"), "", "what is said without words")
    expect(len(column(browser, 0)), 200, "rows without words, sorted")
    return problems


def check_copy(browser, page):
    open_page(browser, page)
    browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    place = ask(browser, "text(one('#source td code'))")
    expect(place.rpartition(":")[2].isdigit(), True, f"{place}: a file and a line")
    expect(ask(browser, "one('#source td code + button').ariaLabel"), f"copy {place}", "the name of the button")
    click(browser, "#source td code + button")
    expect(ask(browser, "text(one('#source td code + button'))"), "copied", "what the button says")
    answer = browser.call("Runtime.evaluate", expression="navigator.clipboard.readText()", awaitPromise=True)
    expect(answer["result"].get("value"), place, "the clipboard")
    return problems


# ---- what the address keeps ----

def address(browser):
    """Returns the hash of the address, when the page has written it."""
    answer = browser.call("Runtime.evaluate", awaitPromise=True,
                          expression="new Promise(done => setTimeout(() => done(decodeURIComponent(location.hash)), 200))")
    return answer["result"].get("value")


def check_address(browser, page):
    open_page(browser, page)
    whole = column(browser, 0)
    for character in "irecv":
        browser.evaluate("document.querySelector('#phases input').focus()")
        press(browser, character)
    click(browser, "#phases table.rows th:nth-child(4) button")
    rows = column(browser, 0)
    expect(0 < len(rows) < 200, True, "fewer rows")
    kept = address(browser)
    expect(kept, "#phases0.rows=irecv&phases0.sort=-4", "the address")
    open_page(browser, page, kept)
    expect(column(browser, 0), rows, "the same rows by the address")
    expect(ask(browser, "[one('#phases input').value, one('#phases th:nth-child(4)').ariaSort]"), ["irecv", "descending"],
           "the controls by the address")
    expect(ask(browser, "(box => box.top < innerHeight && box.bottom > 0)(one('#phases table').getBoundingClientRect())"), True,
           "the table is on the screen")
    for _ in range(2):
        click(browser, "#phases table.rows th:nth-child(4) button")
    click(browser, ".only button")
    expect([column(browser, 0), address(browser)], [whole, ""], "all rows again, and the address of all")
    for value in ("phases0.sort=99", "phases0.sort=-99", "phases0.sort=x", "phases0.sort=toString", "phases0.sort=0",
                  "phases0.sort=1e99", "source9.sort=1", "constructor=1", "__proto__=1", "phases0", "phase-3", "&&=", "%zz"):
        open_page(browser, page, "#" + value)
        expect(column(browser, 0), whole, f"the rows of #{value}")
    open_page(browser, page, "#phases0.rows=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E")
    expect(ask(browser, "[one('#phases input').value, all('img').length, text(one('#phases output'))]"),
           ["<img src=x onerror=alert(1)>", 0, "0 of 200 rows"], "a hostile address")
    expect([event["params"]["entry"]["text"] for event in browser.events if event.get("method") == "Log.entryAdded"], [],
           "what the browser says")
    expect([event for event in browser.events if event.get("method") == "Runtime.exceptionThrown"], [], "errors of the script")
    return problems


# ---- choosing phases ----

def chosen(browser):
    """Returns the phases that each view shows."""
    return ask(browser, """[
        all('#phases table.rows tr[data-phase]').filter(shown).map(row => row.dataset.phase),
        all('#phases article').filter(shown).map(article => article.dataset.phase),
        all('#time [data-phase]').filter(mark => !getComputedStyle(one(`#time [data-phase="${mark.dataset.phase}"] rect`))
            .fill.includes('rgb(243')).map(mark => mark.dataset.phase),
        all('#bursts ellipse').filter(shown).map(ring => ring.dataset.phase),
        all('#source table.rows tr[data-phase]').filter(shown).map(row => row.dataset.phase)]
        .map(ids => [...new Set(ids)].sort().join())""")


def check_brush(browser, page):
    open_page(browser, page)
    everything = chosen(browser)
    # a short phase that came and went need not be in all views
    phases = max(everything, key=len)
    expect([ids for ids in everything if not {"1", "2", "3", "4"} <= set(ids.split(",")) <= set(phases.split(","))], [],
           "views without the phases of the page")
    box = ask(browser, "(svg => { svg.scrollIntoView({block: 'center'}); "
                       "const box = svg.querySelector('path[data-phase=\"3\"]').getBoundingClientRect(); "
                       "return [box.left, box.top, box.right, box.bottom]; })(one('#bursts svg.bursts'))")
    path = [(box[0] - 20, box[1] - 20), (box[0], box[1]), (box[2] + 20, box[3] + 20)]
    for kind, (x, y) in zip(("mousePressed", "mouseMoved", "mouseMoved"), path):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    expect(ask(browser, "(box => [box.left, box.top, box.right, box.bottom].map(Math.round))"
                        "(one('.brush').getBoundingClientRect())"), [round(end) for end in (*path[0], *path[2])], "the rectangle")
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=path[2][0], y=path[2][1], button="left", clickCount=1)
    expect(ask(browser, "all('.brush').length"), 0, "rectangles that are left")
    expect(chosen(browser), ["3"] * 5, "the chosen phase in each view")
    expect(ask(browser, "[one('#phases input').value, text(one('.only'))]"),
           ["phase=3", f"1 of {len(phases.split(','))} phases are shown. show all"], "what is said")
    kept = address(browser)
    expect(kept, "#phases0.rows=phase=3", "the address")
    browser.screen(718, ("print",))
    expect(chosen(browser), everything, "on paper")
    open_page(browser, page, kept)
    expect(chosen(browser), ["3"] * 5, "the chosen phase by the address")
    browser.evaluate("document.querySelector('.only').hidden = true")  # it lies over the page
    expect_readable(browser)
    browser.evaluate("document.querySelector('.only').hidden = false")

    # The box is how a person without a mouse chooses phases.
    browser.evaluate("document.querySelector('#phases input').focus(); document.querySelector('#phases input').select()")
    for character in "phase=1,3":
        press(browser, character)
    expect(chosen(browser), ["1,3"] * 5, "phases that were typed")
    click(browser, ".only button")
    expect([chosen(browser), address(browser), ask(browser, "all('.only').length")], [everything, "", 0], "all phases again")

    # A click chooses nothing, and so does a rectangle without bursts.
    click(browser, "#bursts svg.bursts .track")
    expect(chosen(browser), everything, "after a click")
    return problems


# ---- parts of figures ----

# The first figure: the places of its columns on the screen, and its words.
FIRST = "#time figure svg.figure"


def column_of(browser, phase):
    """Returns the left and right end of the column of a phase in each figure of the time, in pixels."""
    return ask(browser, "all('#time figure svg.figure').map(svg => { const title = [...svg.querySelectorAll('.part title')]"
                        f".find(title => /^phase {phase}[:,]/.test(title.textContent)); "
                        "const box = title.parentNode.getBoundingClientRect(); return [box.left, box.right]; })")


def drag(browser, start, end, shift=False):
    """Drags in the first figure."""
    y = ask(browser, f"(() => {{ one({FIRST!r}).scrollIntoView(); return one({FIRST!r}).getBoundingClientRect().y + 90; }})()")
    for kind, x in (("mousePressed", start), ("mouseMoved", (start + end) / 2), ("mouseMoved", end), ("mouseReleased", end)):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1,
                     modifiers=8 if shift else 0)


def is_near(one, other):
    return abs(one - other) < 2


def check_zoom(browser, page):
    open_page(browser, page)
    whole = column_of(browser, 20)
    frame = ask(browser, f"(() => {{ const box = one({FIRST!r}).getBoundingClientRect(); "
                         "return [box.left + 0.09 * box.width, box.left + 0.99 * box.width]; })()")
    hidden = "all('#time .plot text').filter(element => text(element) === '20' && shown(element)).length"
    expect(ask(browser, hidden), 0, "a label without room")

    # The columns of phases 20 to 22 fill the figure.
    drag(browser, whole[0][0], column_of(browser, 22)[0][1])
    for left, right in column_of(browser, 20):
        expect(is_near(left, frame[0]), True, f"phase 20 starts at {left}, the frame at {frame[0]}")
        expect(right - left > 5 * (whole[0][1] - whole[0][0]), True, "phase 20 is wider")
    expect(is_near(column_of(browser, 22)[0][1], frame[1]), True, "phase 22 ends with the frame")
    expect(ask(browser, hidden), 2, "labels with room")
    expect(ask(browser, "text(one('#time [role=status]'))"), "This is a part of the figure: phase 20 to phase 22.", "the words")
    kept = address(browser)
    places = column_of(browser, 21)
    drag(browser, frame[0] + 300, frame[0], shift=True)
    expect(ask(browser, "all('#time .plot text').filter(shown).map(text).filter(word => /^20(?![.\\d])/.test(word))"), [],
           "labels that would be cut off")
    open_page(browser, page, kept)

    # The address is enough to see it again.
    open_page(browser, page, kept)
    expect(all(is_near(*ends) for ends in zip(places[0], column_of(browser, 21)[0])), True, "the same view by the address")
    expect(ask(browser, f"one({FIRST!r}).getBoundingClientRect().bottom > 0"), True, "the figure is on the screen")

    # Keys and Shift move it, buttons and keys zoom.
    browser.evaluate(f"document.querySelector({FIRST!r}).focus()")
    press(browser, "ArrowLeft")
    step = (frame[1] - frame[0]) / 4
    expect(is_near(column_of(browser, 20)[1][0], frame[0] + step), True, "moved by a quarter by a key")
    drag(browser, frame[0] + 2 * step, frame[0] + step, shift=True)
    expect(is_near(column_of(browser, 20)[1][0], frame[0]), True, "moved back by Shift and the mouse")
    wide = column_of(browser, 20)[0]
    click(browser, "#time .control button:nth-of-type(2)")
    narrow = column_of(browser, 20)[0]
    expect(is_near(2 * (narrow[1] - narrow[0]), wide[1] - wide[0]), True, "half as wide after zoom out")
    browser.evaluate(f"document.querySelector({FIRST!r}).focus()")
    press(browser, "+")
    expect(is_near(column_of(browser, 20)[0][0], wide[0]), True, "as before after +")
    press(browser, "0")
    expect(all(is_near(*ends) for ends in zip(whole[0], column_of(browser, 20)[0])), True, "all of it after 0")
    expect([ask(browser, "text(one('#time [role=status]'))"), address(browser)], ["", ""], "the words and the address of all")

    # Values that are no part of the width.
    for fragment in ("#time=0.9-0.1", "#time=.-.", "#time=0-99&ranks=5-6", "#nothing=0-1", "#<b>", "#time=1-1"):
        browser.evaluate(f"location.hash = {fragment!r}")
        inside = column_of(browser, 1)[0]
        expect(is_near(inside[0], frame[0]), True, f"the view of {fragment}")
    return problems


# ---- keys ----

NAME = "(element => text(element) || element.ariaLabel || text(element.labels?.[0] ?? element))"


def check_keys(browser, page):
    open_page(browser, page)
    controls = "all('button, input, select, svg[tabindex]')"
    expect(ask(browser, f"{controls}.filter(element => !{NAME}(element)).map(element => element.outerHTML)"), [], "without a name")
    wanted = ask(browser, f"{controls}.filter(shown).map({NAME})")
    reached = []
    for _ in range(300):
        press(browser, "Tab")
        if not browser.evaluate("document.activeElement && document.activeElement !== document.body"):
            break
        reached += ask(browser, "[document.activeElement].filter(element => element.matches('button, input, select, svg[tabindex]'))"
                       f".map({NAME})")
    expect(reached, wanted, "what Tab reaches")
    expect(len(reached) > 30, True, f"{len(reached)} controls")
    return problems


# ---- without scripts ----

# Screens, and what hides the controls on them. On paper, the page's own style does that.
HIDE = ".control { display: none; } th button { text-decoration: none; }"
LOOKS = [(1280, ("dark",), HIDE), (718, ("print",), "")]


def pictures(browser, page):
    shown = []
    for width, looks, style in LOOKS:
        open_page(browser, page)
        browser.screen(width, looks)
        browser.evaluate("(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync("
                         f"{json.dumps(style)}); document.adoptedStyleSheets = [sheet]; }})()")
        height = int(browser.evaluate("document.documentElement.scrollHeight"))
        data = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})["data"]
        shown.append((height, data, browser.evaluate("document.querySelectorAll('.control, button, input').length > 0")))
    return shown


def check_off(browser, page):
    on = pictures(browser, page)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    off = pictures(browser, page)
    for (width, looks, _), with_scripts, without in zip(LOOKS, on, off):
        name = f"{width} {' '.join(looks)}"
        expect([with_scripts[2], without[2]], [True, False], f"{name}: whether there are controls")
        expect(with_scripts[0], without[0], f"{name}: the height of the page")
        expect(with_scripts[1] == without[1], True, f"{name}: the pictures are equal")
    return problems


# ---- comparing ----

def choose(browser, file):
    """Chooses a file as a person does who uses no mouse."""
    root = browser.call("DOM.getDocument")["root"]["nodeId"]
    node = browser.call("DOM.querySelector", nodeId=root, selector="header input[type=file]")["nodeId"]
    browser.call("DOM.setFileInputFiles", nodeId=node, files=[str(pathlib.Path(file).resolve())])
    browser.call("Runtime.evaluate", expression="new Promise(done => setTimeout(done, 100))", awaitPromise=True)


def drop(browser, file):
    path = pathlib.Path(file)
    browser.evaluate("(async () => { const data = new DataTransfer(); "
                     f"data.items.add(new File([{json.dumps(path.read_text())}], {json.dumps(path.name)})); "
                     "document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));"
                     "})()")
    browser.call("Runtime.evaluate", expression="new Promise(done => setTimeout(done, 100))", awaitPromise=True)


UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "": 1}
NUMBER = r"([-+]?[0-9.]+)(?: (ns|us|ms|s))?"


def amount(text):
    """Returns the first number of a text in its base unit, NAN if there is none."""
    found = re.match(NUMBER, text)
    return float(found[1]) * UNITS[found[2] or ""] if found else math.nan


def close(got, wanted, slack=0):
    """Returns whether a number of three digits is the wanted one. slack: half of its last digit, if it has fewer."""
    return abs(got - wanted) <= 0.006 * abs(wanted) + slack


def expect_change(text, change, where):
    """Compares a difference in words with that of `phasemux compare --json`. The page has seven digits of each side."""
    slack = 1e-6 * abs(change["before"] or 0) + (0.00051 if where.endswith("cpi") else 1e-9)
    if change["difference"] is None:
        expect(text, "-", where)
    elif change["told_apart"] is False and change["ci95"]:
        found = re.fullmatch(rf"not told apart \(\+- {NUMBER}\)", text)
        expect(bool(found) and close(amount(text[19:]), change["ci95"], slack), True,
               f"{where}: {text} for {change}")
    elif change["difference"] == 0 and not change["ci95"]:
        expect(text, "no difference", where)
    else:
        value, _, rest = text.partition(" +- ")
        expect(close(amount(value), change["difference"], slack) and
               close(amount(rest), change["ci95"], slack), True, f"{where}: {text} for {change}")


def label(phase):
    """Returns the numbers of a phase of `phasemux compare --json`, as the page has them."""
    old, now = ("+".join(map(str, phase[side][:2])) + (f" and {len(phase[side]) - 2} more" if len(phase[side]) > 2 else "")
                for side in ("before", "after"))
    return {"both": f"{now} (was {old})", "new": f"{now} (new)", "gone": f"{old} (before, vanished)"}[phase["status"]]


def check_drop(browser, page, file, wanted):
    open_page(browser, page)
    wanted = json.loads(pathlib.Path(wanted).read_text())
    (choose if file.endswith(".html") else drop)(browser, file)
    rows = ask(browser, "all('#compared tr').slice(1).map(row => [...row.cells].map(text))")
    times = [max(amount(row[1]), amount(row[2])) for row in rows]
    expect(times, sorted(times, reverse=True), "phases with most time first")
    rows = {row[0]: row for row in rows}
    expect(len(rows), len(wanted["phases"]), "phases")
    expect(sorted(rows), sorted(map(label, wanted["phases"])), "the phases")
    for phase in wanted["phases"]:
        row = rows.get(label(phase))
        if not row:
            continue
        for place, side in ((1, "before"), (2, "after")):
            expect(close(amount(row[place]), phase["seconds"][side]), True, f"{row[0]}: {side} {row[place]}")
        for place, key in ((3, "seconds"), (4, "duration_seconds"), (5, "cpi")):
            expect_change(row[place], phase[key], f"{row[0]}: {key}")
        expect("by its behaviour" in row[6], phase["matched_by"] == "behaviour", f"{row[0]}: matched by behaviour")
    expect(ask(browser, "all('#compared img, #compared script').length"), 0, "names that became elements")
    expect_readable(browser)
    click(browser, "#compared .control:last-child button")
    title = ask(browser, "text(one('#compared h2'))")
    expect(title, f"this page compared with {words_of(pathlib.Path(file).name)}", "the title after a swap")
    return problems


def words_of(name):
    return " ".join(name.split())


# ---- what a change would bring ----

def check_whatif(browser, page, wanted, component, cycles, phase, time, calls, balance=""):
    open_page(browser, page)
    answer = json.loads(pathlib.Path(wanted).read_text())["answers"][-1]
    said = "text([...one('#outlook .control').children].pop())"
    expect(ask(browser, said), "Nothing is changed.", "what is said before a change")
    for name, choice, percent in (("component", component, int(cycles)), ("phase", phase, int(time)), ("communication", "", int(calls))):
        if choice:
            browser.evaluate(f"document.querySelector('#outlook select[aria-label={name}]').value = {choice!r}")
        browser.evaluate(f"document.querySelector('#outlook input[aria-label^={name}]').focus()")
        for _ in range((100 - percent) // 5):
            press(browser, "ArrowLeft")
    if balance:
        browser.evaluate("document.querySelector('#outlook input[type=checkbox]').focus()")
        press(browser, " ")
    words = ask(browser, said)
    found = re.fullmatch(rf"The run would take {NUMBER}(?: to {NUMBER})?(?: \(\+- {NUMBER}\))? instead of {NUMBER}: "
                         r"([-0-9.]+)(?: to ([-0-9.]+))?% less\. "
                         rf"It cannot take less than {NUMBER}\.", words)
    if not found:
        return problems + [f"the words: {words}"]
    found = list(found.groups())
    expect(found[0:2] != found[2:4] and found[8] != found[9], True, f"a time that is said once: {words}")
    found[2:4] = found[2:4] if found[2] else found[0:2]
    if not found[4]:
        expect(answer["ci95"] < 1.01e-4 * float(found[6]) * UNITS[found[7]], True, f"an interval that is not said: {answer['ci95']}")
        found[4:6] = [str(answer["ci95"]), ""]
    times = [float(found[i]) * UNITS[found[i + 1] or ""] for i in (0, 2, 4, 10)]
    for got, value, name in zip(times, (answer["wall_seconds"]["least"], answer["wall_seconds"]["most"], answer["ci95"],
                                        answer["bound_seconds"]),
                                ("the shorter time", "the longer time", "the interval", "the bound")):
        expect(close(got, value, 1e-7), True, f"{name}: {got} for {value}")
    for got, value in ((found[8], answer["saved_share"]["least"]), (found[9] or found[8], answer["saved_share"]["most"])):
        expect(abs(float(got) - 100 * value) < 0.051, True, f"saved: {got}% for {value}")
    return problems


def check_refuse(browser, page, *files):
    open_page(browser, page)
    for file in files:
        drop(browser, file)
        expect(ask(browser, "text(one('header output'))"), f"{pathlib.Path(file).name} is no report.json or page of phasemux.",
               "what is said")
        expect(ask(browser, "all('#compared').length"), 0, f"{file}: comparisons")
    expect([event["params"]["entry"]["text"] for event in browser.events if event.get("method") == "Log.entryAdded"], [],
           "what the browser says")
    return problems


if __name__ == "__main__":
    browsers.main({"tables": check_tables, "filter": check_filter, "copy": check_copy, "address": check_address, "brush": check_brush,
                   "zoom": check_zoom, "off": check_off, "keys": check_keys, "drop": check_drop, "whatif": check_whatif, "refuse": check_refuse})
