"builtin.module"() ({
  "tally.kernel"() <{sym_name = "everything"}> ({
    "tally.engine"() <{data = {own = {name = "act"}}}> : () -> ()
    "tally.engine"() <{data = {own = {name = "pe"}}}> : () -> ()
    "tally.engine"() <{data = {own = {name = "dma", weight = 16 : i64}}}> : () -> ()
    "tally.engine"() <{data = {own = {completion = 1 : i64, name = "sp"}, queues = [{completion = 1 : i64, name = "qload", weight = 16 : i64}, {name = "qstore"}]}}> : () -> ()
    "tally.buffer"() <{data = {at = 4096 : i64, name = "X", shape = [2, 128], space = "sbuf", type = "bf16"}}> : () -> ()
    "tally.buffer"() <{data = {name = "scalar"}}> : () -> ()
    "tally.loop"() <{data = {name = "A", trips = 64 : i64}}> ({
      "tally.instr"() <{data = {name = "load", on = "dma", op = "dma_copy", writes = ["X[A mod 2, 0:128]"]}}> : () -> ()
      "tally.instr"() <{data = {accumulates = ["scalar"], name = "scale", on = "act", reads = ["X[A mod 2, 0:128]", "scalar"], writes = ["X"]}}> : () -> ()
      "tally.if"() <{data = {divergent = true, name = "c"}}> ({
        "tally.instr"() <{data = {name = "p", on = "pe"}}> : () -> ()
      }, {
        "tally.instr"() <{data = {name = "q", on = "pe"}}> : () -> ()
      }) : () -> ()
      "tally.if"() <{data = {name = "d"}}> ({
      ^bb0:
      }, {
      }) : () -> ()
    }) : () -> ()
    "tally.loop"() <{data = {divergent = true, kind = 1 : i64, max = 4096 : i64, min = 1 : i64, name = "B", symbol = "n"}}> ({
      "tally.instr"() <{data = {name = "store", on = "qstore"}}> : () -> ()
    }) : () -> ()
    "tally.loop"() <{data = {kind = 2 : i64, name = "W", symbol = "more"}}> ({
      "tally.loop"() <{data = {kind = 1 : i64, name = "S", symbol = "n"}}> ({
        "tally.instr"() <{data = {name = "s", on = "sp"}}> : () -> ()
      }) : () -> ()
      "tally.loop"() <{data = {kind = 1 : i64, name = "T", symbol = "n"}}> ({
        "tally.instr"() <{data = {name = "t", on = "act"}}> : () -> ()
      }) : () -> ()
    }) : () -> ()
    "tally.dep"() <{data = {consumer = "scale", kind = 1 : i64, producer = "load"}}> : () -> ()
    "tally.dep"() <{data = {at = [{distance = 2 : i64, loop = "A"}], consumer = "load", kind = 2 : i64, producer = "scale"}}> : () -> ()
    "tally.dep"() <{data = {at = [{distance = 1 : i64, loop = "W"}, {distance = -1 : i64, loop = "S"}], consumer = "s", kind = 3 : i64, producer = "s"}}> : () -> ()
    "tally.dep"() <{data = {consumer = "scale", form = 1 : i64, producer = "load", step = 3 : i64}}> : () -> ()
    "tally.dep"() <{data = {at = [{distance = 1 : i64, loop = "W"}], consumer = "t", form = 2 : i64, producer = "s"}}> : () -> ()
    "tally.dep"() <{data = {allow_divergent = true, at = [{distance = 1 : i64, loop = "A"}], consumer = "load", producer = "p"}}> : () -> ()
  }) : () -> ()
  "tally.kernel"() <{sym_name = "strange name"}> ({
    "tally.engine"() <{data = {own = {name = "a \22quoted\22 \\ engine"}}}> {speed = 3 : i64} : () -> ()
  }) {target = "x"} : () -> ()
}) : () -> ()

