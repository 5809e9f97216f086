// Draws a view of the runs as SVG, in the way of Picture.cpp and Shapes.cpp: the same view looks the
// same from both. Distances are in points; all texts are made before they meet the page.

const points = {
  axis: 24, title: 24, sequencer: 12, queue: 17, gap: 2, engineGap: 5, panelGap: 14, column: 2,
  letter: 5.8, mostWay: 400, wayDepth: 3, label: 150, narrowLabel: 92, margin: 26, strip: 12,
  stripAxis: 14,
};
const styleOf = { instruction: 0, neighbour: 1 };
const stylesOfPath = [2, 3, 3, 0, 4, 4]; // by PathKind, as StyleTable::ofPath()

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/// To the nearest tenth.
function tenths(number) {
  const all = Math.floor(number * 10 + 0.5);
  return all % 10 === 0 ? String(all / 10) : `${Math.floor(all / 10)}.${all % 10}`;
}

/// Where everything stands on a page of this width.
function layoutOf(data, pageWidth) {
  const left = pageWidth < 700 ? points.narrowLabel : points.label;
  const width = Math.floor((pageWidth - left - points.margin) / points.column) * points.column;
  const rows = [], panels = [];
  let top = points.axis;
  for (const run of data.runs) {
    const panel = { run, top };
    top += points.title;
    const add = (lane, height, label, engine) => {
      rows.push({ run, lane, top, height, middle: top + Math.floor(height / 2), label, engine });
      top += height + points.gap;
    };
    if (run.path) add(null, points.sequencer, "critical path", "");
    for (const lane of run.lanes) {
      const isQueue = lane.queue !== "";
      if (!isQueue) top += points.engineGap;
      add(lane, isQueue ? points.queue : points.sequencer, lane.name, isQueue ? "" : lane.engine);
    }
    panel.bottom = top - points.gap;
    panels.push(panel);
    top += points.panelGap;
  }
  return { left, width, pageWidth, rows, panels, bottom: top, height: top + points.axis };
}

// ---- The level of detail --------------------------------------------------------------------

/// The place of the first of some increasing times that is later than a moment.
function firstLater(times, moment) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// The first piece that ends after a moment.
const firstAfter = (pieces, moment) => firstLater(pieces.end, moment);

/// What Shapes.cpp calls LaneShapes.
class Shapes {
  constructor(view, top, height) {
    Object.assign(this, { view, top, height, columns: [], boxes: [] });
    this.scale = view.width / (view.until - view.from);
  }

  /// Both ends within the view, in points; nothing if it lies outside.
  clip(from, to) {
    const left = Math.max((from - this.view.from) * this.scale, 0);
    const right = Math.min((to - this.view.from) * this.scale, this.view.width);
    return left < right ? [left, right] : null;
  }

  isWide(from, to) {
    return (to - this.view.from) * this.scale - (from - this.view.from) * this.scale >= points.column;
  }

  addPiece(from, to, style) {
    const ends = this.clip(from, to);
    if (!ends) return;
    if (this.isWide(from, to)) this.addBox(style, ...ends, 0, 1);
    else this.addShares(...ends, style === styleOf.neighbour ? styleOf.instruction : style, 1);
  }

  /// One part of the overview: [from, length, width, style, span, ...].
  addBucket(bucket) {
    const [from, length, width] = bucket;
    const ends = this.clip(from, from + length);
    if (!ends) return;
    let below = 0;
    for (let k = 3; k < bucket.length; k += 2) {
      const share = bucket[k + 1] / width;
      if (this.isWide(from, from + length)) this.addBox(bucket[k], ...ends, below, share);
      else this.addShares(...ends, bucket[k], share);
      below += share;
    }
  }

  addBox(style, left, right, below, share) {
    (this.boxes[style] ||= []).push([left, right, below, share]);
  }

  addShares(from, to, style, share) {
    const size = Math.ceil(this.view.width / points.column);
    const shares = (this.columns[style] ||= new Float64Array(size));
    for (let column = Math.floor(from / points.column); column * points.column < to; ++column) {
      const start = column * points.column;
      const overlap = Math.min(to, start + points.column) - Math.max(from, start);
      shares[column] += overlap * share / points.column;
    }
  }

  yOf(share) {
    return Math.floor((this.top + this.height * (1 - Math.min(1, share))) * 10 + 0.5);
  }

  boxPath([left, right, below, share]) {
    const x = Math.floor((this.view.left + left) * 10 + 0.5);
    const width = tenths((Math.floor((this.view.left + right) * 10 + 0.5) - x) / 10);
    const upper = this.yOf(below + share), lower = this.yOf(below);
    return lower === upper ? ""
      : `M${tenths(x / 10)} ${tenths(upper / 10)}h${width}v${tenths((lower - upper) / 10)}h-${width}z`;
  }

  columnPath(shares, levels) {
    let text = "", upper = 0, lower = 0, first = 0;
    const end = (column) => {
      const width = points.column * (column - first);
      if (lower > upper) {
        text += `M${this.view.left + points.column * first} ${tenths(upper / 10)}h${width}` +
          `v${tenths((lower - upper) / 10)}h-${width}z`;
      }
    };
    for (let column = 0; column < shares.length; ++column) {
      const bottom = this.yOf(levels[column]);
      levels[column] += shares[column];
      const level = this.yOf(levels[column]);
      if (level !== upper || bottom !== lower) {
        end(column);
        [first, upper, lower] = [column, level, bottom];
      }
    }
    end(shares.length);
    return text;
  }

  svg(styles) {
    let text = "";
    const append = (style, path) => {
      if (path !== "") text += `<path class="${styles[style][0]}" d="${path}"/>`;
    };
    const levels = new Float64Array(Math.ceil(this.view.width / points.column));
    this.columns.forEach((shares, style) => append(style, this.columnPath(shares, levels)));
    this.boxes.forEach((boxes, style) => append(style, boxes.map((box) => this.boxPath(box)).join("")));
    return text;
  }
}

// ---- A view ---------------------------------------------------------------------------------

class Picture {
  constructor(data, svg, strip) {
    Object.assign(this, { data, svg, strip, found: null, showsWay: true });
  }

  resize(pageWidth) {
    this.layout = layoutOf(this.data, pageWidth);
    this.svg.setAttribute("viewBox", `0 0 ${pageWidth} ${this.layout.height}`);
    this.drawStrip();
  }

  xOf(time) {
    const { left, width } = this.layout;
    return left + (time - this.view.from) * (width / (this.view.until - this.view.from));
  }

  clampedX(time) {
    return Math.min(Math.max(this.xOf(time), this.layout.left), this.layout.left + this.layout.width);
  }

  draw(view) {
    this.view = { ...view, left: this.layout.left, width: this.layout.width };
    const { bottom } = this.layout;
    this.svg.innerHTML =
      Picture.axis(this.view, this.layout, points.axis - 6, bottom, [points.axis - 10, bottom + 12]) + this.layout.rows.map((row) => this.row(row)).join("") +
      this.layout.panels.map((panel) => this.panel(panel)).join("") + '<g class="marks"></g>';
    this.drawStripView();
  }

  /// Calls back with each piece that the view shows.
  forEachPiece(pieces, tell) {
    for (let i = firstAfter(pieces, this.view.from); i < pieces.size && pieces.start[i] < this.view.until; ++i) {
      tell(i);
    }
  }

  shapes(row, isWanted) {
    const shapes = new Shapes(this.view, row.top, row.height);
    const pieces = row.lane || row.run.path;
    if (!isWanted) for (const bucket of pieces.buckets) shapes.addBucket(bucket);
    this.forEachPiece(pieces, (i) => {
      if (isWanted && !isWanted(i)) return;
      shapes.addPiece(pieces.start[i], pieces.end[i], row.lane ? pieces.style[i] : stylesOfPath[pieces.kind[i]]);
    });
    return shapes.svg(this.data.styles);
  }

  /// Thin lines from where the next instruction could start up to the finish.
  tails(row) {
    const { lane } = row;
    if (!lane || lane.queue === "") return "";
    let path = "";
    for (let i = firstLater(lane.reach, this.view.from); i < lane.size && lane.start[i] < this.view.until; ++i) {
      const from = this.clampedX(lane.end[i]), to = this.clampedX(lane.end[i] + lane.finish[lane.detail[i]]);
      if (to - from >= 2) path += `M${tenths(from)} ${tenths(row.top + row.height - 1.5)}H${tenths(to)}`;
    }
    return path === "" ? "" : `<path class="tail" d="${path}"/>`;
  }

  names(row) {
    const { lane, run } = row;
    if (!lane || lane.queue === "") return "";
    let text = "";
    this.forEachPiece(lane, (i) => {
      const name = textOf(run, lane.op[i], "instr");
      const from = this.xOf(Math.max(lane.start[i], this.view.from));
      const to = this.xOf(Math.min(lane.end[i], this.view.until));
      if (to - from > name.length * points.letter) {
        text += `<text x="${tenths((from + to) / 2)}" y="${row.top + row.height - 5}">${escaped(name)}</text>`;
      }
    });
    return text;
  }

  row(row) {
    const { left, width } = this.layout;
    const isNarrow = left === points.narrowLabel;
    const most = Math.floor((left - 12) / points.letter);
    const short = (name) => escaped(name.length > most ? `${name.slice(0, most - 3)}...` : name);
    const bottom = row.top + row.height - 3;
    const engine = row.engine === "" ? "" : `<text x="8" y="${bottom}" class="engine">${short(row.engine)}</text>`;
    const label = isNarrow && engine !== "" ? ""
      : `<text x="${left - 8}" y="${bottom}" class="lane">${short(row.label)}</text>`;
    const found = this.found;
    const shapes = found
      ? `<g class="quiet">${this.shapes(row)}</g>${row.lane ? this.shapes(row, (i) => found(row, i)) : ""}`
      : this.shapes(row) + this.tails(row);
    return `${engine}${label}<g class="lane"><rect class="ground" x="${left}" y="${row.top}" width="${width}" ` +
      `height="${row.height}"/>${shapes}<g class="names">${this.names(row)}</g></g>`;
  }

  /// The critical path as one line across the lanes, unless it would be a thicket.
  way(run) {
    if (!run.path || !this.showsWay) return "";
    let path = "", count = 0;
    this.forEachPiece(run.path, (i) => {
      const row = this.layout.rows.find((one) => one.run === run && one.lane === run.lanes[run.path.lane[i]]);
      if (++count > points.mostWay || !row) return;
      path += `${path === "" ? "M" : "L"}${tenths(this.clampedX(run.path.start[i]))} ${row.top + points.wayDepth}` +
        `H${tenths(this.clampedX(run.path.end[i]))}`;
    });
    return path === "" || count > points.mostWay ? "" : `<path class="way" d="${path}"/>`;
  }

  panel({ run, top, bottom }) {
    const isShown = run.total >= this.view.from && run.total <= this.view.until;
    const x = tenths(this.xOf(Math.min(Math.max(run.total, this.view.from), this.view.until)));
    return `<text x="8" y="${top + 17}" class="strategy">${escaped(run.title)}</text>${this.way(run)}` +
      (isShown ? `<line class="end" x1="${x}" x2="${x}" y1="${top + points.title}" y2="${bottom}"/>` : "");
  }

  // ---- The axis: the same as Markup.cpp makes -----------------------------------------------

  static axisStep(span, most) {
    for (let power = 1; ; power *= 10) {
      for (const digit of [1, 2, 5]) {
        if (digit * power * most >= span) return digit * power;
      }
    }
  }

  static axisText(at, step, until) {
    const [size, name] = until >= 1e10 ? [1e9, "ms"] : until >= 1e7 ? [1e6, "us"] : [1e3, "ns"];
    let decimals = 0;
    for (let s = size; s > step; s /= 10) ++decimals;
    return `${(at / size).toFixed(decimals)} ${name}`;
  }

  /// A line from `top` to `bottom` at each round time, and its name at each of the heights.
  static axis({ from, until }, { left, width }, top, bottom, heights) {
    const step = Picture.axisStep(until - from, width < 700 ? 5 : 12);
    let text = "";
    for (let at = Math.ceil(from / step) * step; at <= until; at += step) {
      const x = tenths(left + (at - from) * (width / (until - from)));
      const label = Picture.axisText(at, step, until);
      text += `<line x1="${x}" x2="${x}" y1="${top}" y2="${bottom}"/>` +
        heights.map((y) => `<text x="${x}" y="${y}">${label}</text>`).join("");
    }
    return `<g class="axis">${text}</g>`;
  }

  // ---- The strip: how busy the queues are, over the whole of the runs -----------------------

  drawStrip() {
    const { left, width, pageWidth } = this.layout;
    const height = points.strip, pitch = height + points.gap;
    let text = "";
    this.data.runs.forEach((run, number) => {
      const queues = run.lanes.filter((lane) => lane.queue !== "");
      const shapes = new Shapes({ from: 0, until: this.data.longest, left, width }, number * pitch, height);
      for (const lane of queues) {
        for (let i = 0; i < lane.size; ++i) {
          const ends = shapes.clip(lane.start[i], lane.end[i]);
          if (ends) shapes.addShares(...ends, styleOf.instruction, 1 / queues.length);
        }
        for (const [from, length, bucketWidth, , span] of lane.buckets) {
          const ends = shapes.clip(from, from + length);
          if (ends) shapes.addShares(...ends, styleOf.instruction, span / bucketWidth / queues.length);
        }
      }
      text += `<text x="${left - 8}" y="${number * pitch + height - 2}" class="lane">${escaped(run.strategy)}</text>` +
        `<rect class="ground" x="${left}" y="${number * pitch}" width="${width}" height="${height}"/>` +
        shapes.svg(this.data.styles);
    });
    const bottom = this.data.runs.length * pitch;
    const axis = Picture.axis({ from: 0, until: this.data.longest }, this.layout, 0, bottom,
      [bottom + points.stripAxis - 3]);
    this.strip.setAttribute("viewBox", `0 0 ${pageWidth} ${bottom + points.stripAxis}`);
    this.strip.innerHTML = `${text}${axis}<rect class="view" y="0" height="${bottom}"/>`;
  }

  drawStripView() {
    const { left, width } = this.layout;
    const scale = width / this.data.longest;
    const rect = this.strip.querySelector(".view");
    rect.setAttribute("x", tenths(left + this.view.from * scale));
    rect.setAttribute("width", tenths(Math.max(2, (this.view.until - this.view.from) * scale)));
  }

  // ---- What is chosen -----------------------------------------------------------------------

  /// A frame around it; if it waited, the way from what ended the wait.
  mark(chosen) {
    const marks = this.svg.querySelector(".marks");
    marks.innerHTML = "";
    if (!chosen) return;
    const { row, piece } = chosen;
    const pieces = row.lane || row.run.path;
    const x1 = this.clampedX(pieces.start[piece]), x2 = this.clampedX(pieces.end[piece]);
    const ended = this.enderOf(chosen);
    marks.innerHTML = `<rect class="chosen" x="${tenths(x1)}" y="${row.top}" ` +
      `width="${tenths(Math.max(1, x2 - x1))}" height="${row.height}"/>` +
      (ended ? `<path class="by" d="M${tenths(this.clampedX(ended.at))} ${ended.row.middle}L${tenths(x2)} ${row.middle}"/>` +
        `<circle cx="${tenths(x2)}" cy="${row.middle}" r="3"/>` : "");
  }

  /// What ended a wait: its row, and when it raised the semaphore.
  enderOf({ row, piece }) {
    const { lane, run } = row;
    if (!lane || lane.kind[piece] !== kinds.wait) return null;
    const at = lane.detail[piece];
    const from = this.layout.rows.find((one) => one.run === run && one.lane && one.lane === run.lanes[lane.lane[at]]);
    const raised = lane.end[piece] - lane.raised[at];
    return from ? { row: from, at: raised, began: raised - lane.began[at] } : null;
  }

  /// What lies at this place of the page: a row, and in it a piece or a part of the overview.
  at(x, y) {
    const row = this.layout.rows.find((one) => y >= one.top && y < one.top + one.height);
    if (!row || x < this.layout.left) return null;
    const time = this.view.from + (x - this.layout.left) / this.layout.width * (this.view.until - this.view.from);
    const pieces = row.lane || row.run.path;
    const piece = firstAfter(pieces, time);
    if (piece < pieces.size && pieces.start[piece] <= time) return { row, piece };
    const bucket = pieces.buckets.find(([from, length]) => from <= time && time < from + length);
    return bucket ? { row, bucket } : null;
  }
}
