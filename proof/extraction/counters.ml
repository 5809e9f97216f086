(* counters.ml -- loops that count their iterations in a register, written out

   The machine sets the register at the start of each iteration to the iteration's number, from 1. It
   keeps the number itself; here a register does that which the code does not have:

     loop A counter r { ... }        c := 0
                                     loop A { c := c + 1; r := c; ... }

   So r may be written in the loop, keeps its last value behind it, and its old one if the loop does
   not run: as on the machine. *)

open Lists
open Source

let rec registers_above n (op : op) =
  let operand n = function Reg r -> max n (r + 1) | Num _ -> n in
  let wait n (w : wait) = operand n w.threshold in
  match op with
  | Issue (_, w, _) -> Option.fold ~none:n ~some:(wait n) w
  | Wait w -> wait n w
  | Alu (_, dst, a, b) -> List.fold_left operand n [ Reg dst; a; b ]
  | Loop (_, counter, ops) ->
      let n = Option.fold ~none:n ~some:(fun r -> max n (r + 1)) counter in
      List.fold_left registers_above n ops
  | If (_, _, bt, bf) -> List.fold_left registers_above n (bt @ bf)
  | Outside _ -> n

let written_out ops =
  let first = List.fold_left registers_above 0 ops in
  let rec all ops = List.concat_map one ops
  and one = function
    | Loop (l, None, ops) -> [ Loop (l, None, all ops) ]
    | Loop (l, Some r, ops) ->
        let c = first + l in
        let count = [ Alu ("add", c, Reg c, Num 1); Alu ("move", r, Reg c, Num 0) ] in
        [ Alu ("move", c, Num 0, Num 0); Loop (l, None, count @ all ops) ]
    | If (t, f, bt, bf) -> [ If (t, f, all bt, all bf) ]
    | op -> [ op ]
  in
  all ops
