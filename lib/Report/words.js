// What a piece is, in words.

const kinds = { control: 0, wait: 1, full: 2, drain: 3, instruction: 4, endless: 6 };
const pathKinds = ["control up to", "on its way to the queue:", "behind an earlier instruction:",
  "execution of", "until the raise is seen:", "wake-up at"];

/// `12.345 us`, as the simulator says it.
function timeText(time) {
  const nanoseconds = Math.floor(time / 1000);
  return Math.floor(nanoseconds / 1000) + "." + String(nanoseconds % 1000).padStart(3, "0") + " us";
}

function spanText(from, to) {
  return `${timeText(from)} to ${timeText(to)}: ${timeText(to - from)}`;
}

/// A text about an operation, by the column that holds it.
function textOf(run, op, column) {
  return run.strings[run.ops[column][op]];
}

/// ` (A = 3, B = 1)`
function whereText(run, lane, i) {
  const loops = run.ops.loops[lane.op[i]];
  const parts = loops.map((loop, k) => [run.strings[loop], lane.iteration[lane.atPlace[i] + k]])
    .filter(([name]) => name !== "").map(([name, iteration]) => `${name} = ${iteration}`);
  return parts.length > 0 ? ` (${parts.join(", ")})` : "";
}

function waitText(run, lane, i, where) {
  const op = lane.op[i];
  const isIssue = textOf(run, op, "instr") !== "";
  const why = textOf(run, op, "why");
  const reasons = why === "" ? "" : `\ndependence ${why}`;
  const what = isIssue ? `waits before it can ${textOf(run, op, "name")}` : "waits";
  const head = `${lane.engine} ${what}${where}\n${spanText(lane.start[i], lane.end[i])}\n` +
    `for semaphore '${textOf(run, op, "semaphore")}'`;
  if (lane.kind[i] === kinds.endless) return `${head}; it was not raised in time${reasons}`;
  const at = lane.detail[i];
  const raised = lane.end[i] - lane.raised[at];
  const by = op + lane.by[at];
  const from = run.lanes[lane.lane[at]];
  const raiser = from && from.queue !== ""
    ? `${textOf(run, by, "instr")} on ${from.queue}, started at ${timeText(raised - lane.began[at])}`
    : `a signal of ${textOf(run, by, "engine")}`;
  return `${head} >= ${lane.threshold[at]}${reasons}\nraised at ${timeText(raised)} by ${raiser}`;
}

function instructionText(run, lane, i, where) {
  const at = lane.detail[i];
  const does = textOf(run, lane.op[i], "does");
  const from = lane.start[i], finish = lane.end[i] + lane.finish[at];
  return `${textOf(run, lane.op[i], "instr")}${where}, run ${lane.run[at]}${does === "" ? "" : `: ${does}`}\n` +
    `${spanText(from, finish)}; the next one could start at ${timeText(lane.end[i])}\n` +
    `had been in queue ${lane.queue} since ${timeText(from - lane.arrived[at])}, ` +
    `retires at ${timeText(finish + lane.retire[at])}`;
}

function controlText(run, lane, i, where) {
  const at = lane.detail[i];
  const name = textOf(run, lane.op[i], "name") + where;
  const times = spanText(lane.start[i], lane.end[i]);
  if (lane.count[at] === 1) return `control: ${name}\n${times}`;
  const first = textOf(run, lane.op[i] - lane.first[at], "name");
  return `control: ${lane.count[at]} operations, from ${first} to ${name}\n${times}`;
}

/// Some lines of plain text.
function pieceText(run, lane, i) {
  const op = lane.op[i];
  const source = textOf(run, op, "source");
  const where = whereText(run, lane, i);
  const times = spanText(lane.start[i], lane.end[i]);
  const texts = {
    [kinds.control]: () => controlText(run, lane, i, where),
    [kinds.wait]: () => waitText(run, lane, i, where),
    [kinds.endless]: () => waitText(run, lane, i, where),
    [kinds.full]: () => `no room in the queue: ${textOf(run, op, "name")}${where}\n${times}`,
    [kinds.drain]: () => `draining: until all instructions of ${lane.engine} have retired\n${times}`,
    [kinds.instruction]: () => instructionText(run, lane, i, where),
  };
  return texts[lane.kind[i]]() + (source === "" ? "" : `\n${source}`);
}

function pathText(run, i) {
  const path = run.path, op = path.op[i];
  const source = textOf(run, op, "source");
  return `critical path: ${pathKinds[path.kind[i]]} ${textOf(run, op, "instr") || textOf(run, op, "name")} ` +
    `of ${textOf(run, op, "engine")}\n${spanText(path.start[i], path.end[i])}${source === "" ? "" : `\n${source}`}`;
}
