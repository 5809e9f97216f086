// The page: the view, and what one can do with it. Times are in picoseconds; the view is kept in the
// address (#t=FROM-UNTIL), so that it can be passed on.

async function startPage() {
  const byId = (id) => document.getElementById(id);
  const svg = byId("timelines"), strip = byId("overview"), answer = byId("piece"), search = byId("search");
  const tip = byId("tip"), count = byId("found");
  const ask = answer.textContent;
  const data = await unpack(byId("data").textContent);
  const picture = new Picture(data, svg, strip);
  const whole = { from: 0, until: data.longest };
  const first = { from: data.view[0], until: data.view[1] };
  const least = 1000;
  let view = { ...first };
  let chosen = null;
  let matches = [];

  // ---- The view -----------------------------------------------------------------------------

  function draw() {
    picture.draw(view);
    picture.mark(chosen);
    const isFirst = view.from === first.from && view.until === first.until;
    history.replaceState(null, "", isFirst ? "#" : `#t=${view.from}-${view.until}`);
  }

  let isDue = false;
  function drawSoon() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => { isDue = false; draw(); });
  }

  function show(from, until, drawIt = draw) {
    const span = Math.min(Math.max(until - from, least), whole.until);
    const start = Math.min(Math.max(from, 0), whole.until - span);
    view = { from: Math.round(start), until: Math.round(start + span) };
    drawIt();
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

  // ---- Pieces -------------------------------------------------------------------------------

  const piecesOf = (row) => row.lane || row.run.path;

  function textAt({ row, piece, bucket }) {
    if (!bucket) return row.lane ? pieceText(row.run, row.lane, piece) : pathText(row.run, piece);
    const shares = [];
    for (let k = 3; k < bucket.length; k += 2) {
      shares.push(`${(bucket[k + 1] * 100 / bucket[2]).toFixed(1)}% ${data.styles[bucket[k]][2]}`);
    }
    return `${spanText(bucket[0], bucket[0] + bucket[1])}, in sum; --from and --until show its pieces\n${shares.join("\n")}`;
  }

  function choose(what) {
    chosen = what && what.bucket === undefined ? what : null;
    answer.textContent = what ? textAt(what) : ask;
    picture.mark(chosen);
  }

  /// Pieces that are too small to be seen are brought nearer.
  function reveal(row, piece) {
    const pieces = piecesOf(row);
    const from = pieces.start[piece], until = pieces.end[piece];
    chosen = { row, piece };
    let span = view.until - view.from;
    const isSmall = (until - from) / span * picture.layout.width < 4;
    if (isSmall) span = Math.max((until - from) * picture.layout.width / 40, least);
    if (isSmall || from < view.from || until > view.until) show(from - span / 4, from + span * 3 / 4);
    choose(chosen);
  }

  /// The next piece of its lane, or the one before it; the first that is shown, if none is chosen.
  function step(by) {
    if (!chosen) return stepLane(1);
    const piece = chosen.piece + by;
    if (piece >= 0 && piece < piecesOf(chosen.row).size) reveal(chosen.row, piece);
  }

  /// The first piece shown in the next lane, or in the one before it.
  function stepLane(by) {
    const { rows } = picture.layout;
    const time = chosen ? piecesOf(chosen.row).start[chosen.piece] : view.from;
    for (let i = (chosen ? rows.indexOf(chosen.row) : -1) + by; i >= 0 && i < rows.length; i += by) {
      const piece = firstAfter(piecesOf(rows[i]), time);
      if (piece < piecesOf(rows[i]).size) return reveal(rows[i], piece);
    }
  }

  function stepToEnder() {
    const ended = chosen && picture.enderOf(chosen);
    if (!ended) return;
    const piece = firstAfter(ended.row.lane, ended.began);
    if (piece < ended.row.lane.size) reveal(ended.row, piece);
  }

  // ---- Search: in the names and texts of operations -----------------------------------------

  /// Sums of pieces have no names: what they hold is not found.
  const holdsSums = data.runs.some((run) => run.lanes.some((lane) => lane.buckets.length > 0));

  const piecesText = (number) => `${number} ${number === 1 ? "piece" : "pieces"}` +
    (holdsSums ? " of those held one by one" : "");

  function find() {
    const words = search.value.trim().toLowerCase();
    matches = [];
    picture.found = null;
    if (words !== "") {
      const wanted = new Map(data.runs.map((run) => [run, run.ops.name.map((_, op) =>
        ["name", "instr", "does", "source", "semaphore", "why"].some((column) =>
          textOf(run, op, column).toLowerCase().includes(words)))]));
      picture.found = (row, i) => wanted.get(row.run)[row.lane.op[i]];
      for (const row of picture.layout.rows) {
        for (let i = 0; row.lane && i < row.lane.size; ++i) {
          if (picture.found(row, i)) matches.push([row, i]);
        }
      }
      matches.sort(([a, i], [b, j]) => a.lane.start[i] - b.lane.start[j]);
    }
    count.textContent = words === "" ? "" : piecesText(matches.length);
    draw();
  }

  function stepMatch(by) {
    if (matches.length === 0) return;
    const at = chosen ? matches.findIndex(([row, i]) => row === chosen.row && i === chosen.piece) : -1;
    const next = (at < 0 ? (by > 0 ? 0 : matches.length - 1) : at + by + matches.length) % matches.length;
    count.textContent = `${next + 1} of ${piecesText(matches.length)}`;
    reveal(...matches[next]);
  }

  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") stepMatch(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      search.value = "";
      find();
      svg.focus();
    }
  });

  // ---- Keys, buttons, pointer ---------------------------------------------------------------

  function toggleWay() {
    picture.showsWay = !picture.showsWay;
    document.querySelector('[data-action="way"]').setAttribute("aria-pressed", picture.showsWay);
    draw();
  }

  const actions = {
    in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.25), right: () => pan(0.25),
    all: () => show(whole.from, whole.until), next: () => step(1), back: () => step(-1),
    up: () => stepLane(-1), down: () => stepLane(1), none: () => choose(null), ender: stepToEnder,
    way: toggleWay, search: () => search.focus(), match: () => stepMatch(1),
  };
  const keys = {
    "+": "in", "=": "in", w: "in", "-": "out", s: "out", ArrowLeft: "left", a: "left", ArrowRight: "right",
    d: "right", 0: "all", n: "next", p: "back", ArrowUp: "up", ArrowDown: "down", Escape: "none",
    e: "ender", c: "way", "/": "search",
  };

  document.addEventListener("keydown", (event) => {
    const name = keys[event.key];
    const isVertical = event.key === "ArrowUp" || event.key === "ArrowDown";
    if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isVertical && document.activeElement !== svg) return; // they scroll the page
    event.preventDefault();
    if (name === "next" || name === "back") svg.focus({preventScroll: true}); // for the arrows after it
    actions[name]();
  });
  for (const button of document.querySelectorAll("button[data-action]")) {
    button.addEventListener("click", () => actions[button.dataset.action]());
  }

  /// Where a pointer is, in points of a picture.
  const placeOf = (event, element) => {
    const frame = element.getBoundingClientRect();
    const scale = element.viewBox.baseVal.width / frame.width;
    return [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
  };
  const shareAt = (event, element = svg) => {
    const share = (placeOf(event, element)[0] - picture.layout.left) / picture.layout.width;
    return Math.min(Math.max(share, 0), 1);
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
    if (event.button === 0) drag = { share: shareAt(event), view, moved: false };
  });
  const centre = (event) => {
    const span = view.until - view.from;
    const middle = shareAt(event, strip) * whole.until;
    show(middle - span / 2, middle + span / 2, drawSoon);
  };
  strip.addEventListener("pointerdown", (event) => {
    drag = { isStrip: true, moved: true };
    centre(event);
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    tip.hidden = true;
    if (drag.isStrip) return centre(event);
    const share = shareAt(event) - drag.share;
    drag.moved ||= Math.abs(share) > 0.004;
    if (!drag.moved) return;
    svg.classList.add("moving");
    const by = (drag.view.until - drag.view.from) * share;
    show(drag.view.from - by, drag.view.until - by, drawSoon);
  });
  window.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) choose(picture.at(...placeOf(event, svg)));
    drag = null;
    svg.classList.remove("moving");
  });
  svg.addEventListener("dblclick", (event) => zoom(0.4, shareAt(event)));

  /// What a piece is, next to the pointer that rests on it.
  svg.addEventListener("pointermove", (event) => {
    const what = drag ? null : picture.at(...placeOf(event, svg));
    tip.hidden = !what;
    if (!what) return;
    tip.textContent = textAt(what);
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 4))}px`;
    const below = event.clientY + 18;
    tip.style.top = `${below + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 10 : below}px`;
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });

  function readAddress() {
    const asked = /^#t=(\d+)-(\d+)$/.exec(location.hash);
    if (asked && Number(asked[1]) < Number(asked[2])) show(Number(asked[1]), Number(asked[2]));
    else show(first.from, first.until);
  }
  window.addEventListener("hashchange", readAddress);

  let pageWidth = 0;
  function fit() {
    const now = Math.max(320, Math.floor(svg.parentElement.clientWidth));
    if (now === pageWidth) return;
    pageWidth = now;
    chosen = null; // rows are made anew
    picture.resize(pageWidth);
    if (search.value !== "") find();
    else draw();
  }
  document.documentElement.classList.add("scripted");
  pageWidth = Math.max(320, Math.floor(svg.parentElement.clientWidth));
  picture.resize(pageWidth);
  readAddress();
  window.addEventListener("resize", fit);
  document.documentElement.dataset.ready = "yes";
}

startPage().catch((error) => {
  document.getElementById("piece").textContent =
    `This browser cannot show the timelines: ${error.message}. Any browser of 2023 or later can.`;
  document.documentElement.classList.add("scripted");
  throw error;
});
