// Frames of a film pass through three stages in rings of four. What a stage does to a frame is a
// function in main.cpp; here stands which thread does it, and what it reads and writes.
tally.kernel @three {
  tally.engine "reader"
  tally.engine "filter"
  tally.engine "writer"
  tally.buffer "raw" shape [4, 1048576] type "u8"
  tally.buffer "smooth" shape [4, 1048576] type "u8"
  tally.loop "frame" trips "frames" {
    tally.instr "decode" on "reader" writes ["raw[frame mod 4, 0:1048576]"]
    tally.instr "blur" on "filter" reads ["raw[frame mod 4, 0:1048576]"] writes ["smooth[frame mod 4, 0:1048576]"]
    tally.instr "reduce" on "writer" reads ["smooth[frame mod 4, 0:1048576]"]
  }
}

// The same on two threads: only the engine of the last stage is another one.
tally.kernel @two {
  tally.engine "reader"
  tally.engine "filter"
  tally.buffer "raw" shape [4, 1048576] type "u8"
  tally.buffer "smooth" shape [4, 1048576] type "u8"
  tally.loop "frame" trips "frames" {
    tally.instr "decode" on "reader" writes ["raw[frame mod 4, 0:1048576]"]
    tally.instr "blur" on "filter" reads ["raw[frame mod 4, 0:1048576]"] writes ["smooth[frame mod 4, 0:1048576]"]
    tally.instr "reduce" on "filter" reads ["smooth[frame mod 4, 0:1048576]"]
  }
}
