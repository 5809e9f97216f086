// One kernel for each reason why a wait is longer than it has to be: the shortest ones.

tally.kernel @anywhere {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.instr "p" on "dma" writes ["X[@]"]
  tally.instr "c" on "act" reads ["X[0]"]
}

tally.kernel @value {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.instr "p" on "dma" writes ["X[$v mod 16]"]
  tally.instr "c" on "act" reads ["X[0]"]
}

tally.kernel @apart {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "A" trips 4 {
    tally.if "hit" divergent {
      tally.instr "p" on "dma" writes ["X[total(hit) mod 4]"]
      tally.instr "c" on "act" reads ["X[total(hit) mod 4]"]
    }
  }
}

tally.kernel @alias {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.buffer "Y" shape [4] alias ["X"]
  tally.instr "p" on "dma" writes ["X[0]"]
  tally.instr "c" on "act" reads ["Y[0]"]
}

tally.kernel @guard {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [1]
  tally.loop "A" trips "n" {
    tally.instr "p" on "dma" writes ["X[0]"]
    tally.instr "c" on "act" reads ["X[0] if A == 1"]
  }
}

tally.kernel @branch {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.loop "A" trips 4 {
    tally.if "q" {
      tally.instr "p" on "dma" writes ["X[A mod 2]"]
    }
    tally.instr "c" on "act" reads ["X[0]"]
  }
}

tally.kernel @anew {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.loop "A" trips "n" {
    tally.loop "B" trips "m" {
      tally.instr "p" on "dma" writes ["X[B mod 2]"]
      tally.instr "c" on "act" reads ["X[B mod 2]"]
    }
  }
}

tally.kernel @long {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [32]
  tally.loop "A" trips "n" {
    tally.instr "p" on "dma" writes ["X[A mod 16]"]
    tally.instr "c" on "act" reads ["X[A mod 17]"]
  }
}

tally.kernel @ends {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [4]
  tally.loop "A" trips 300 {
    tally.instr "p" on "dma" writes ["X[A mod 4]"]
  }
  tally.loop "B" trips 300 {
    tally.instr "c" on "act" reads ["X[B mod 3]"]
  }
}

tally.kernel @place {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "A" trips "n" max 16 {
    tally.instr "p" on "dma" writes ["X[A]"]
  }
  tally.instr "c" on "act" reads ["X[1]"]
}

tally.kernel @inside {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [2]
  tally.loop "A" trips "n" {
    tally.loop "B" trips "m" {
      tally.instr "p" on "dma" writes ["X[A mod 2]"]
    }
    tally.instr "c" on "act" reads ["X[0]"]
  }
}
