// Zooming, panning and asking, for the picture of a report. The picture is complete without this.
//
// Groups of class `time` hold their pieces in nanoseconds: a view is a transform of these groups,
// and a new axis and new names, which are in points of the page. Times here are in picoseconds; the
// view is kept in the address (#t=FROM-UNTIL), so that it can be passed on.
(() => {
  "use strict";
  const svg = document.querySelector("svg.timelines");
  const box = svg.dataset;
  const left = Number(box.left), width = Number(box.width);
  const whole = { from: Number(box.from), until: Number(box.until) };
  const answer = document.getElementById("piece");
  const ask = answer.textContent;
  const least = 1000;
  let view = { ...whole };
  let chosen = null;

  const make = (name, attributes, text) => {
    const element = document.createElementNS(svg.namespaceURI, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const all = (selector, root = svg) => [...root.querySelectorAll(selector)];
  const scale = () => width * 1000 / (view.until - view.from);
  const xOf = (time) => left + (time - view.from) / 1000 * scale();

  // ---- The axis: the same as Markup.cpp makes -----------------------------------------------

  function axisStep(span) {
    for (let power = 1; ; power *= 10) {
      for (const digit of [1, 2, 5]) {
        if (digit * power * 12 >= span) return digit * power;
      }
    }
  }

  function axisText(at, step) {
    const [size, name] = view.until >= 1e10 ? [1e9, "ms"] : view.until >= 1e7 ? [1e6, "us"] : [1e3, "ns"];
    let decimals = 0;
    for (let s = size; s > step; s /= 10) ++decimals;
    return (at / size).toFixed(decimals) + " " + name;
  }

  const axis = svg.querySelector(".axis");
  const [axisTop, axisBottom] = ["y1", "y2"].map((y) => Number(axis.querySelector("line").getAttribute(y)));

  function drawAxis() {
    axis.replaceChildren();
    const step = axisStep(view.until - view.from);
    for (let at = Math.ceil(view.from / step) * step; at <= view.until; at += step) {
      const x = xOf(at).toFixed(1);
      axis.append(make("line", { x1: x, x2: x, y1: axisTop, y2: axisBottom }),
        make("text", { x, y: axisTop - 4 }, axisText(at, step)),
        make("text", { x, y: axisBottom + 12 }, axisText(at, step)));
    }
  }

  // ---- Pieces -------------------------------------------------------------------------------

  const fromOf = (rect) => Number(rect.getAttribute("x")) * 1000;
  const untilOf = (rect) => fromOf(rect) + Number(rect.getAttribute("width")) * 1000;

  const lanes = all("g.lane").map((group) => ({
    group,
    middle: Number(group.dataset.middle),
    names: group.querySelector(".names"),
    pieces: all(".time > rect", group).filter((rect) => rect.querySelector("title")),
  }));

  function drawNames() {
    for (const lane of lanes) {
      lane.names.replaceChildren();
      for (const rect of lane.pieces) {
        const name = rect.dataset.name;
        const from = Math.max(fromOf(rect), view.from), until = Math.min(untilOf(rect), view.until);
        if (!name || (until - from) / 1000 * scale() <= name.length * 5.8) continue;
        const y = Number(rect.getAttribute("y")) + Number(rect.getAttribute("height")) - 5;
        lane.names.append(make("text", { x: ((xOf(from) + xOf(until)) / 2).toFixed(1), y }, name));
      }
    }
  }

  /// What is chosen; if it waited, the way from what ended the wait.
  function drawMarks() {
    const marks = svg.querySelector(".marks");
    marks.replaceChildren();
    if (!chosen || chosen.dataset.by === undefined) return;
    const to = lanes.find((lane) => lane.pieces.includes(chosen));
    const by = lanes[Number(chosen.dataset.by)];
    const clamp = (x) => Math.min(Math.max(x, left), left + width);
    const x1 = clamp(xOf(Number(chosen.dataset.at) * 1000)), x2 = clamp(xOf(untilOf(chosen)));
    marks.append(make("path", { d: `M${x1} ${by.middle}L${x2} ${to.middle}` }),
      make("circle", { cx: x2, cy: to.middle, r: 3 }));
  }

  function choose(rect) {
    if (chosen) chosen.classList.remove("chosen");
    chosen = rect;
    if (chosen) chosen.classList.add("chosen");
    answer.textContent = chosen ? chosen.querySelector("title").textContent : ask;
    drawMarks();
  }

  /// The next piece of its lane, or the one before it; the first that is shown, if none is chosen.
  function step(by) {
    const lane = lanes.find((one) => one.pieces.includes(chosen)) || lanes[0];
    const at = lane.pieces.indexOf(chosen);
    const next = at < 0 ? lane.pieces.find((rect) => untilOf(rect) > view.from) : lane.pieces[at + by];
    if (next) reveal(next);
  }

  /// The first piece shown in the next lane, or in the one before it.
  function stepLane(by) {
    const at = lanes.findIndex((lane) => lane.pieces.includes(chosen));
    for (let i = at + by; i >= 0 && i < lanes.length; i += by) {
      const seen = lanes[i].pieces.find((rect) => untilOf(rect) > (chosen ? fromOf(chosen) : view.from));
      if (seen) return reveal(seen);
    }
  }

  function reveal(rect) {
    choose(rect);
    const span = view.until - view.from;
    if (fromOf(rect) < view.from || untilOf(rect) > view.until) {
      show(fromOf(rect) - span / 4, fromOf(rect) + span * 3 / 4);
    }
  }

  // ---- The view -----------------------------------------------------------------------------

  function draw() {
    const k = scale();
    for (const group of all("g.time")) {
      group.setAttribute("transform", `translate(${left - view.from / 1000 * k} 0) scale(${k} 1)`);
    }
    for (const pattern of all("pattern.texture")) {
      pattern.setAttribute("patternTransform", `scale(${1 / k} 1) ${pattern.dataset.turn}`);
    }
    drawAxis();
    drawNames();
    drawMarks();
    const isWhole = view.from === whole.from && view.until === whole.until;
    history.replaceState(null, "", isWhole ? "#" : `#t=${view.from}-${view.until}`);
  }

  function show(from, until) {
    const span = Math.min(Math.max(until - from, least), whole.until - whole.from);
    const start = Math.min(Math.max(from, whole.from), whole.until - span);
    view = { from: Math.round(start), until: Math.round(start + span) };
    draw();
  }

  /// Keeps in place what is at this share of the width.
  function zoom(factor, share = 0.5) {
    const span = view.until - view.from;
    const fixed = view.from + span * share;
    show(fixed - span * factor * share, fixed + span * factor * (1 - share));
  }

  function pan(share) {
    const by = (view.until - view.from) * share;
    show(view.from + by, view.until + by);
  }

  const actions = {
    "in": () => zoom(0.5), "out": () => zoom(2), "left": () => pan(-0.25), "right": () => pan(0.25),
    "all": () => show(whole.from, whole.until), "next": () => step(1), "back": () => step(-1),
    "up": () => stepLane(-1), "down": () => stepLane(1), "none": () => choose(null),
  };
  const keys = {
    "+": "in", "=": "in", "w": "in", "-": "out", "s": "out", "ArrowLeft": "left", "a": "left",
    "ArrowRight": "right", "d": "right", "0": "all", "n": "next", "p": "back", "ArrowUp": "up",
    "ArrowDown": "down", "Escape": "none",
  };

  document.addEventListener("keydown", (event) => {
    const name = keys[event.key];
    const isVertical = event.key === "ArrowUp" || event.key === "ArrowDown";
    if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isVertical && document.activeElement !== svg) return; // they scroll the page
    event.preventDefault();
    actions[name]();
  });
  for (const button of all("button[data-action]", document)) {
    button.addEventListener("click", () => actions[button.dataset.action]());
  }

  const shareAt = (event) => {
    const frame = svg.getBoundingClientRect();
    const x = (event.clientX - frame.left) * svg.viewBox.baseVal.width / frame.width;
    return Math.min(Math.max((x - left) / width, 0), 1);
  };

  svg.addEventListener("wheel", (event) => {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey) zoom(Math.exp(event.deltaY / 200), shareAt(event));
    else if (sideways) pan(sideways / 800);
    else return; // the page scrolls
    event.preventDefault();
  }, { passive: false });

  let drag = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button === 0) drag = { share: shareAt(event), view, moved: false, target: event.target };
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const share = shareAt(event) - drag.share;
    drag.moved ||= Math.abs(share) > 0.004;
    if (!drag.moved) return;
    svg.classList.add("moving");
    const by = (drag.view.until - drag.view.from) * share;
    show(drag.view.from - by, drag.view.until - by);
  });
  window.addEventListener("pointerup", () => {
    if (drag && !drag.moved) choose(drag.target.closest(".time > rect:has(title)"));
    drag = null;
    svg.classList.remove("moving");
  });
  svg.addEventListener("dblclick", (event) => zoom(0.4, shareAt(event)));

  function readAddress() {
    const asked = /^#t=(\d+)-(\d+)$/.exec(location.hash);
    if (asked && Number(asked[1]) < Number(asked[2])) show(Number(asked[1]), Number(asked[2]));
    else show(whole.from, whole.until);
  }
  window.addEventListener("hashchange", readAddress);

  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-describedby", "keys");
  document.documentElement.classList.add("scripted");
  readAddress();
})();
