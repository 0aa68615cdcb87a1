#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what is shown of a timeline: the summary, and the page in a real browser.

Usage: trace_view_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--runtime NAME] TEST
"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape

from perf_test import SKIPPED, check, run_one_of
from trace_checks import HIMENO, RANK, made_transfer, program_beside


def summary(start, given):
    """What the table says of a timeline of which all is known."""
    command = {"name": "k", "ph": "X", "cat": "command", "pid": 0, "tid": 2, "ts": 150, "dur": 50, "args": {}}
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")

        def table(*transfers, ranks=1):
            events = [{"name": "causeway_rank", "ph": "M", "pid": 0, "tid": 0, "args": {**RANK, "ranks": ranks}},
                      command, *transfers]
            timeline.write_text(json.dumps({"traceEvents": events, "otherData": {"job": "j"}}), encoding="utf-8")
            run = start("trace", "summary", "--json", timeline, runtime="none")
            check(run.returncode == 0, "no summary", run)
            return json.loads(run.stdout)["ranks"][0], start("trace", "summary", timeline, runtime="none")

        # 50, 80 and 20 per cent of the limit; one of which no limit is known, and one that failed.
        rank, run = table(made_transfer(100, 200, 50), made_transfer(200, 300, 80), made_transfer(300, 400, 20),
                          made_transfer(400, 500), made_transfer(500, 600, 99, error="broken"))
        route, = rank["routes"]
        check((route["percent_of_limit"], route["transfers"], route["failed"], route["median_us"]) == (50, 5, 1, 100), f"{route}")
        check(route["bytes_per_second"] == 4000 / 400e-6 and route["median_wait_us"] == 3, f"{route}")
        check(rank["hidden"] == 0.1 and rank["moving_us"] == 500, f"{rank}")
        check(re.search(r"a file -> device buffer +5 +1 +3\.00 us +100 us +100 us +10\.0 MB/s +50 % +pipelined", run.stdout), "the table", run)
        # One failed before it was planned.
        refused = made_transfer(50, 60, error="refused", strategy="")
        rank, run = table(refused, made_transfer(100, 200), made_transfer(200, 300))
        check(rank["routes"][0]["strategy"] == "pipelined", f"{rank}")
        rank, run = table(made_transfer(50, 60, error="broken"))
        check(rank["routes"][0]["strategy"] == "pipelined", f"{rank}")
        rank, run = table(made_transfer(100, 200))
        check(rank["routes"][0]["percent_of_limit"] is None and re.search(r" 10\.0 MB/s +pipelined", run.stdout) and "of limit" not in run.stdout, "no limit", run)
        waiting = made_transfer(100, 4_000_100)
        waiting["cat"] = "pending"
        waiting["args"] |= {"pending": True, "waits_for": "rank 1 to send with tag 5"}
        rank, run = table(made_transfer(100, 200), waiting)
        check(rank["routes"][0]["pending"] == 1 and rank["routes"][0]["median_us"] == 100, f"{rank}")
        check("pending at the end: 1 transfers\n  rank 0: a file -> device buffer, for 4.00 s, waits for rank 1 to send with tag 5"
              in run.stdout, "what is pending", run)
        rank, run = table(made_transfer(100, 200), ranks=4)
        check(re.search("1 of 4 ranks were recorded.* mpirun -x CAUSEWAY_TRACE -x LD_PRELOAD", run.stdout), "missing ranks", run)


def parts(start, given):
    """Of a timeline that no browser opens a part is shown."""
    with tempfile.TemporaryDirectory() as folder:
        timeline, shown = pathlib.Path(folder, "t.json"), pathlib.Path(folder, "t.html")
        events = [{"name": "causeway_rank", "ph": "M", "pid": 0, "tid": 0, "args": RANK},
                  *(made_transfer(1e6 * at, 1e6 * at + 10) for at in range(1, 11))]
        text = json.dumps({"otherData": {"job": "j"}, "traceEvents": events})
        timeline.write_text(text + " " * (200 << 20), encoding="utf-8")
        run = start("trace", "view", timeline, runtime="none")
        check(run.returncode == 1 and "9.000 seconds by --from and --to" in run.stderr and not shown.exists(), "no refusal", run)
        timeline.write_text(text, encoding="utf-8")
        run = start("trace", "view", "--from", "2", "--to", "4.5", timeline, runtime="none")
        check(run.returncode == 0, "no page", run)
        times = sorted(float(time) for time in re.findall(r'"ts":([0-9.e]+)', shown.read_text(encoding="utf-8")))
        check(times == [3e6, 4e6, 5e6], f"events at {times}")
        for wrong in (["--from", "3", "--to", "2"], ["--from", "-1"]):
            run = start("trace", "view", *wrong, timeline, runtime="none")
            check(run.returncode == 2, f"{wrong} is taken", run)


def look(shown, address="", width=1250):
    """What a real browser makes of a page: what its body says of itself, and the whole of it."""
    known = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
    browser = next(filter(None, map(shutil.which, known)), None)
    if browser is None:
        print("trace_view_test: skipped: no Chromium (scripts/setup.sh browser)")
        sys.exit(SKIPPED)
    run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={shown.parent}/profile",
                          f"--window-size={width},800", "--virtual-time-budget=3000", "--dump-dom", f"file://{shown}{address}"],
                         text=True, capture_output=True, check=False, timeout=120)
    body = re.search(r"<body([^>]*)>", run.stdout)
    check(body and 'data-ready="yes"' in body[1], "the page does not come up", run)
    return dict(re.findall(r'data-([a-z]+)="([^"]*)"', body[1])), run.stdout


def pictures(start, given):
    """Those of the tutorial are made by the browser that scripts/setup.sh installs."""
    script = pathlib.Path(given.run_with).resolve().parent / "tutorial_pictures.py"
    with tempfile.TemporaryDirectory() as folder:
        def told():
            return subprocess.run([sys.executable, script, "--bin", "/nonexistent"], text=True, capture_output=True,
                                  check=False, env={**os.environ, "PATH": folder}).stderr

        check("no Chromium" in told(), "none is missed")
        browser = pathlib.Path(folder, "chromium-headless-shell")
        browser.touch(mode=0o755)
        check("no Chromium" not in told() and "/nonexistent/causeway" in told(), f"it is not found: {told()}")


def page(start, given):
    """The page shows all slices and follows arrows in a real browser, without network."""
    with tempfile.TemporaryDirectory() as folder:
        timeline, shown = pathlib.Path(folder, "t.json"), pathlib.Path(folder, "t.html")
        run = start("trace", "-o", timeline, "--", program_beside(given, "himeno"), *HIMENO, ranks=2)
        check(run.returncode == 0, "the program fails", run)
        run = start("trace", "view", timeline, runtime="none", ranks=1)
        check(run.returncode == 0 and run.stdout.strip() == str(shown), "no page", run)
        text = shown.read_text(encoding="utf-8")
        check(not re.search(r"""(src|href)\s*=\s*["']?http|@import|fetch\(""", text), "the page needs the network")
        events = json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"]
        slices = sum(event["ph"] == "X" for event in events)
        arrows = sum(event["ph"] == "s" for event in events)
        last = max(event["args"]["transfer"] for event in events if event.get("cat") == "transfer" and event["pid"] == 1)

        seen, html = look(shown)
        check(int(seen["slices"]) == slices, f"{seen['slices']} of {slices} slices are known")
        check(int(seen["arrows"]) == arrows, f"{seen['arrows']} of {arrows} arrows are known")
        check(int(seen["path"]) > 2 and int(seen["rows"]) < int(seen["lanes"]) + 2 * 5, f"no critical path, or nothing is folded: {seen}")
        seen, html = look(shown, f"#rank=1&transfer={last}")
        check("rank 0" in seen["selected"], f"selected: {seen['selected']}")
        check(int(seen["chain"]) >= 2, "nothing waited for anything")
        check("<dt>strategy</dt>" in html and "waited for" in html, "no details")


# Stands before the page's own script: keeps what is drawn since the picture was cleared.
WATCH = """<script>
window.drawn = [];
const painter = CanvasRenderingContext2D.prototype;
for (const name of ["clearRect", "fillRect", "bezierCurveTo"]) {
  const real = painter[name];
  painter[name] = function (...at) {
    if (name === "clearRect") window.drawn = [];
    window.drawn.push([name, this.fillStyle, ...at]);
    real.apply(this, at);
  };
}
</script>"""


# Stands behind it: does what a user's hand does, and writes down what is seen after each step.
HAND = """<script>
const picture = document.getElementById("canvas"), steps = {};
const slices = () => window.drawn.filter(each => each[0] === "fillRect" && ["#2f6bb8", "#287a4b"].includes(each[1]));
const see = name => {
  const body = document.body.dataset;
  steps[name] = {from: Number(body.from), to: Number(body.to), slices: slices().map(each => each.slice(1)),
    arrows: window.drawn.filter(each => each[0] === "bezierCurveTo").length, selected: body.selected};
};
const mouse = (kind, x, y, more = {}) => picture.dispatchEvent(new (kind === "wheel" ? WheelEvent : MouseEvent)(kind,
  {clientX: x, clientY: y + picture.getBoundingClientRect().top, bubbles: true, cancelable: true, ...more}));
const key = name => window.dispatchEvent(new KeyboardEvent("keydown", {key: name}));
see("address");
steps.width = picture.clientWidth;
const ratio = picture.width / picture.clientWidth, [, , left, top_, wide, high] = slices()[0];
steps.pixel = [...picture.getContext("2d").getImageData((left + wide - 3) * ratio, (top_ + 1) * ratio, 1, 1).data];
const [, , x, y] = slices()[1];
mouse("mousedown", x + 5, y + 5);
mouse("mouseup", x + 5, y + 5);
see("click");
steps.details = document.getElementById("details").innerText;
mouse("wheel", 250 + (picture.clientWidth - 250) / 4, 100, {deltaY: -100});
see("wheel");
key("0"); see("all");
key("w"); see("in");
key("d"); see("right");
mouse("mousedown", 500, 100, {buttons: 1});
mouse("mousemove", 600, 100, {buttons: 1});
mouse("mouseup", 600, 100);
see("drag");
key("Escape"); see("escape");
key("0");
mouse("mousedown", 300, 5, {buttons: 1});
mouse("mousemove", 400, 5, {buttons: 1});
mouse("mouseup", 400, 5);
see("range");
steps.range = {length: Number(document.body.dataset.range), text: document.getElementById("details").innerText};
key("Escape");
const search = document.getElementById("search");
const find = text => { search.value = text; search.dispatchEvent(new Event("input")); return Number(document.body.dataset.found); };
steps.found = [find("k"), document.body.dataset.selected, find("no such name"), find("")];
key("Escape");
const press = id => { document.getElementById(id).click(); return Number(document.body.dataset.rows); };
steps.rows = [press("unfold"), press("fold"), press("unfold")];
steps.contrast = Math.min(...[...Object.values(colours), ...palette, ...Object.values(block_colours)].map(each => contrast_of(each, ink_on(each))));
steps.texts = ["--ink", "--pale", "--warn"].map(name => {
  const of = getComputedStyle(document.documentElement), colour = which => {
    const text = of.getPropertyValue(which).trim();
    return text.length === 4 ? "#" + [...text.slice(1)].map(each => each + each).join("") : text;
  };
  return Math.min(contrast_of(colour(name), colour("--back")), contrast_of(colour(name), colour("--band")));
});
steps.fits = document.documentElement.scrollWidth <= window.innerWidth;
steps.causes = document.getElementById("causes").innerText;
document.querySelector("#causes [data-part]").click();
steps.followed = document.body.dataset.selected;
steps.names = ["a-device, Portable Computing Language 3.1: queue 1", "NVIDIA H200, NVIDIA CUDA 580.1: copy in", "ranks of a node, Open MPI v4.1.4: send", "transfers"].map(short_name);
document.body.insertAdjacentHTML("beforeend", `<pre id="steps">${JSON.stringify(steps)}</pre>`);
</script>"""


def drawing(start, given):
    """What is drawn, and where, of a timeline of which all is known; how it follows the address, the mouse and the keys."""
    def lane(number, name):
        return {"name": "thread_name", "ph": "M", "pid": 0, "tid": number, "args": {"name": name}}

    def arrow(phase, lane_number, at):
        return {"name": "waits for", "cat": "waits for", "id": 1, "ph": phase, "pid": 0, "tid": lane_number, "ts": at, "bp": "e"}

    command = {"name": "k", "ph": "X", "cat": "command", "pid": 0, "tid": 2, "ts": 1150, "dur": 50, "args": {}}
    events = [{"name": "causeway_rank", "ph": "M", "pid": 0, "tid": 0, "args": RANK}, lane(1, "transfers"), lane(2, "queue"),
              made_transfer(1100, 1200, 50, transfer=1, strategy="<!--<script>"), made_transfer(1300, 1400, 80, transfer=2), command,
              arrow("s", 2, 1200), arrow("f", 1, 1300)]
    with tempfile.TemporaryDirectory() as folder:
        timeline, shown = pathlib.Path(folder, "t.json"), pathlib.Path(folder, "t.html")
        timeline.write_text(json.dumps({"traceEvents": events, "otherData": {"job": "j"}}), encoding="utf-8")
        run = start("trace", "view", timeline, runtime="none")
        check(run.returncode == 0, "no page", run)
        text = shown.read_text(encoding="utf-8")
        shown.write_text(text.replace("<head>", "<head>" + WATCH).replace("</body>", HAND + "</body>"), encoding="utf-8")
        html = look(shown, "#from=0&to=300")[1]
        small = re.search(r'<pre id="steps">({.*})</pre>', look(shown, "#from=0&to=300", width=700)[1])
        check(small, "nothing is drawn at 700 pixels")
        narrow = json.loads(unescape(small[1]))
    # Half of a transfer's limit and four fifths; half of one of two equal transfers is beside the kernel.
    check("<td>65 %</td>" in html and "<td>25 %</td>" in html, f"the table: {html[-3000:]}")
    told = re.search(r'<pre id="steps">({.*})</pre>', html)
    check(told, "nothing is drawn: the hand found no slices")
    steps = json.loads(unescape(told[1]))
    width = steps["width"] - 250  # beside the names of lanes

    def check_picture(name, begin, end, **more):
        """Times count from the first slice."""
        seen = steps[name]
        check(abs(seen["from"] - begin) < 0.01 and abs(seen["to"] - end) < 0.01, f"{name}: {begin} to {end}: {seen}")
        place = lambda time: 250 + width * min(max((time - begin) / (end - begin), 0), 1)
        expected = [("#2f6bb8", 0, 100), ("#2f6bb8", 200, 300), ("#287a4b", 50, 100)]
        expected = [(colour, place(left), place(right)) for colour, left, right in expected if right >= begin and left <= end]
        drawn = [(colour, x, x + wide) for colour, x, _, wide, _ in seen["slices"]]
        check(len(drawn) == len(expected) and all(one[0] == other[0] and abs(one[1] - other[1]) < 0.1 and abs(one[2] - other[2]) < 1.1
                                                  for one, other in zip(drawn, expected)), f"{name}: {drawn}, not {expected}")
        for what, value in more.items():
            check(seen[what] == value, f"{name}: {what}: {seen[what]}")
        return begin, end

    check_picture("address", 0, 300, arrows=0, selected="")
    check(steps["pixel"] == [0x2f, 0x6b, 0xb8, 255], f"the first transfer has the colour {steps['pixel']}")
    check_picture("click", 0, 300, arrows=1, selected="a file -> device buffer")
    check(re.search(r"of limit\s+80 %", steps["details"]) and "waited for" in steps["details"], f"{steps['details']}")
    span = 300 * math.exp(-0.2)
    check_picture("wheel", 75 - span / 4, 75 + span * 3 / 4, arrows=1)  # what is below the mouse stays there
    check_picture("all", -3, 303)
    begin, end = check_picture("in", 150 - 153 * 0.7, 150 + 153 * 0.7)
    by = 0.2 * (end - begin)
    begin, end = check_picture("right", begin + by, end + by)
    by = 100 / width * (end - begin)
    check_picture("drag", begin - by, end - by, arrows=1)
    check_picture("escape", begin - by, end - by, arrows=0, selected="")
    check(abs(steps["range"]["length"] - 100 / width * 306) < 0.1 and "rank 0, transfer" in steps["range"]["text"], f"the range: {steps['range']}")
    check(steps["found"] == [1, "k", 0, 0], f"found: {steps['found']}")
    check(steps["rows"] == [3, 1, 3], f"rows unfolded, folded and again: {steps['rows']}")
    check(steps["contrast"] >= 4.5 and min(steps["texts"]) >= 4.5, f"contrast: {steps['contrast']}, {steps['texts']}")
    check("Largest gaps" in steps["causes"] and "Critical path: 2 steps" in steps["causes"], f"the causes: {steps['causes']}")
    check(steps["followed"], "a link of the critical path selects nothing")
    check(steps["names"] == ["PoCL · queue 1", "NVIDIA H200 · copy in", "MPI · send", "transfers"], f"names: {steps['names']}")
    check(steps["fits"] and narrow["fits"] and abs(narrow["width"] - 700) < 20, f"at 700 pixels: {narrow['fits']}, {narrow['width']}")


TESTS = {"drawing": drawing, "page": page, "parts": parts, "pictures": pictures, "summary": summary}


if __name__ == "__main__":
    run_one_of(TESTS)
