// What a page knows of its runs: PageData.h describes the text that is unpacked here.
"use strict";

/// From columns of distances to arrays of numbers.
function sums(distances) {
  const all = new Int32Array(distances.length);
  let last = 0;
  for (let i = 0; i < distances.length; ++i) all[i] = last += distances[i];
  return all;
}

function timesOf(columns) {
  const size = columns.gap.length;
  columns.size = size;
  columns.start = new Float64Array(size);
  columns.end = new Float64Array(size);
  let now = 0;
  for (let i = 0; i < size; ++i) {
    columns.start[i] = now += columns.gap[i];
    columns.end[i] = now += columns.span[i];
  }
  columns.op = sums(columns.op);
}

/// Where the numbers of each piece begin in the columns that only pieces of its kind have.
function placesOf(lane, ops) {
  lane.detail = new Int32Array(lane.size);
  lane.atPlace = new Int32Array(lane.size);
  const seen = [0, 0, 0, 0, 0, 0, 0];
  let at = 0;
  for (let i = 0; i < lane.size; ++i) {
    lane.detail[i] = seen[lane.kind[i]]++;
    lane.atPlace[i] = at;
    at += ops.loops[lane.op[i]].length;
  }
  lane.iteration = new Float64Array(at);
  const last = new Int32Array(ops.loops.length).fill(-1); // by operation: the place of its last piece
  for (let i = 0; i < lane.size; ++i) {
    const op = lane.op[i], depth = ops.loops[op].length, here = lane.atPlace[i], before = last[op];
    for (let k = 0; k < depth; ++k) {
      lane.iteration[here + k] = lane.at[here + k] + (before < 0 ? 0 : lane.iteration[before + k]);
    }
    last[op] = here;
  }
}

/// By piece: up to when it and those before it last, their tails included.
function reachOf(lane) {
  lane.reach = new Float64Array(lane.size);
  let reach = 0;
  for (let i = 0; i < lane.size; ++i) {
    const tail = lane.kind[i] === kinds.instruction ? lane.finish[lane.detail[i]] : 0;
    lane.reach[i] = reach = Math.max(reach, lane.end[i] + tail);
  }
}

async function unpack(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = JSON.parse(await new Response(stream).text());
  for (const run of data.runs) {
    for (const lane of run.lanes) {
      timesOf(lane);
      placesOf(lane, run.ops);
      reachOf(lane);
      lane.style = Uint8Array.from(lane.style);
      lane.run = sums(lane.run);
      lane.name = lane.queue && lane.queue === lane.engine ? "queue" : lane.queue || "sequencer";
    }
    if (run.path) timesOf(run.path);
  }
  return data;
}
