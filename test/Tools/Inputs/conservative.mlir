// One kernel for each reason why a wait is longer than it has to be: the shortest ones.

tally.kernel @anywhere {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "A" trips "n" max 16 {
    tally.instr "p" on "dma" writes ["X[@]"]
    tally.instr "c" on "act" reads ["X[A]"]
  }
}

tally.kernel @value {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [16]
  tally.loop "A" trips "n" max 16 {
    tally.instr "p" on "dma" writes ["X[$v mod 16]"]
    tally.instr "c" on "act" reads ["X[A]"]
  }
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
  tally.loop "A" trips "n" {
    tally.instr "p" on "dma" writes ["X[A mod 4]"]
    tally.instr "c" on "act" reads ["Y[A mod 4]"]
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
    tally.instr "p" on "dma" writes ["X[A mod 17]"]
    tally.instr "c" on "act" reads ["X[A mod 19]"]
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

tally.kernel @served {
  tally.engine "dma"
  tally.engine "act"
  tally.buffer "X" shape [3]
  tally.loop "A" trips "n" {
    tally.instr "p" on "dma" writes ["X[2]"]
    tally.loop "B" trips 3 {
      tally.instr "c" on "act" writes ["X[B]"]
    }
  }
}
