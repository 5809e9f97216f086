(* roles.ml -- what counters count that start somewhere in the code

   A counter register is set to a number before the statement of the kernel's body in which it first
   moves; the checker wants to know what it counts: total(A) is 0 there, too, and so is a snapshot.
   That is read off the operation that next writes the register:

     r := r + 1  in the body of A    it counts total(A)
     r := r + n                      n*total(A), beside what it started with: a stepped threshold
     r := r + n*gt(c, k)             n*(total(A) - k): one that begins to step k iterations late
     r := s      in the body of A    a ring: one entry of A older than s; the newest slot copies
                                     the counter total(P)

   Proposals only. Each becomes a register of its own that nobody writes, is 0 at the start, and then
   equals the proposed count; the move names it as its second operand, of which a move makes no
   use. The checker decides what that is worth. *)

open Lists
open Certifier

(* One write of a register: where, in which body, and how. *)
type how =
  | Start
  | Steps of int * int (* by n, k iterations late *)
  | Copies of int
  | Other

type write = { at : int; body : int; depth : int; how : how }

(* What registers hold that say whether to step: n*gt(_, k), as last written. *)
let gate gates dst (o : string) a b =
  match (o, a, b) with
  | "gt", _, Source.Num k -> Hashtbl.replace gates dst (1, k)
  | "mul", Source.Reg g, Source.Num n | "mul", Source.Num n, Source.Reg g -> (
      match Hashtbl.find_opt gates g with
      | Some (m, k) -> Hashtbl.replace gates dst (n * m, k)
      | None -> Hashtbl.remove gates dst)
  | _ -> Hashtbl.remove gates dst

let how_of gates dst (o : string) a b =
  match (o, a, b) with
  | "move", Source.Num _, _ -> Start
  | "move", Source.Reg s, _ -> Copies s
  | "add", Source.Reg r, Source.Num n when r = dst -> Steps (n, 0)
  | "add", Source.Reg r, Source.Reg g when r = dst -> (
      match Hashtbl.find_opt gates g with Some (n, k) -> Steps (n, k) | None -> Other)
  | _ -> Other

(* The writes of each register in the order of the code; all operations are numbered. *)
let writes_of (ops : Source.op list) =
  let writes = Hashtbl.create 64 and gates = Hashtbl.create 8 and at = ref 0 in
  let rec walk body depth ops = List.iter (op body depth) ops
  and op body depth (x : Source.op) =
    incr at;
    match x with
    | Alu (o, dst, a, b) ->
        let earlier = Option.value (Hashtbl.find_opt writes dst) ~default:[] in
        Hashtbl.replace writes dst ({ at = !at; body; depth; how = how_of gates dst o a b } :: earlier);
        gate gates dst o a b
    | Loop (l, _, ops) -> walk l (depth + 1) ops
    | If (t, f, bt, bf) ->
        walk t (depth + 1) bt;
        walk f (depth + 1) bf
    | Issue _ | Wait _ | Outside _ -> ()
  in
  walk 0 0 ops;
  let arrays = Hashtbl.create 64 in
  Hashtbl.iter (fun r ws -> Hashtbl.replace arrays r (Array.of_list (List.rev ws))) writes;
  arrays

(* The first index whose write comes after `at`. *)
let first_after (ws : write array) at =
  let rec search lo hi =
    if lo >= hi then lo
    else
      let mid = (lo + hi) / 2 in
      if ws.(mid).at > at then search lo mid else search (mid + 1) hi
  in
  search 0 (Array.length ws)

(* What the register counts that was last started before `at`. [fuel] bounds a chain of copies. *)
let rec role writes fuel r at =
  match Hashtbl.find_opt writes r with
  | None -> None
  | Some ws ->
      let rec start i = if i >= 0 && ws.(i).how <> Start then start (i - 1) else i in
      next_role writes fuel ws (start (first_after ws (at - 1) - 1) + 1)

and next_role writes fuel ws i =
  if fuel = 0 || i >= Array.length ws then None
  else
    let w = ws.(i) in
    match w.how with
    | Steps (n, k) ->
        let steps = mk [] AMul (EC n) (mk [] ASub (ETot w.body) (EC k)) in
        if n = 0 then None else Some steps
    | Copies s -> (
        match role writes (fuel - 1) s w.at with
        | Some (ETot p) -> Some (EHist (w.body, 1, p))
        | Some (EHist (l, m, p)) when l = w.body -> Some (EHist (l, m + 1, p))
        | _ -> None)
    | Start | Other -> None

let ring_limit = 128

let fresh_register writes =
  Hashtbl.fold (fun r _ n -> max n (r + 1)) writes 0

(* Roles of registers that the code does not start itself: they are 0 at the start. *)
let initial_facts writes =
  let registers = List.sort compare (Hashtbl.fold (fun r _ rs -> r :: rs) writes []) in
  List.concat_map
    (fun r ->
      let ws = Hashtbl.find writes r in
      if ws.(0).how = Start then []
      else match next_role writes ring_limit ws 0 with Some x -> [ (r, x) ] | None -> [])
    registers

(* The register that stands for an expression at the start; its facts are kept in order. *)
let namer first =
  let next = ref first and facts = ref [] and named = Hashtbl.create 64 in
  let name x =
    match Hashtbl.find_opt named x with
    | Some z -> z
    | None ->
        let z = !next in
        incr next;
        Hashtbl.add named x z;
        facts := (z, x) :: (z, EC 0) :: !facts;
        z
  in
  (name, fun () -> List.rev !facts)

(* Second operands for the moves, by number. *)
let operands_of writes name =
  let operands = Hashtbl.create 64 in
  let start ws i w =
    if w.how = Start && w.depth = 0 then
      match next_role writes ring_limit ws (i + 1) with
      | Some x -> Hashtbl.add operands w.at (Source.Reg (name x))
      | None -> ()
  in
  let registers = List.sort compare (Hashtbl.fold (fun r _ rs -> r :: rs) writes []) in
  List.iter (fun r -> let ws = Hashtbl.find writes r in Array.iteri (start ws) ws) registers;
  operands

let annotate operands (ops : Source.op list) =
  let at = ref 0 in
  let rec op (x : Source.op) : Source.op =
    incr at;
    match x with
    | Alu ("move", dst, a, b) ->
        Alu ("move", dst, a, Option.value (Hashtbl.find_opt operands !at) ~default:b)
    | Loop (l, counter, ops) -> Loop (l, counter, List.map op ops)
    | If (t, f, bt, bf) ->
        let bt = List.map op bt in
        If (t, f, bt, List.map op bf)
    | x -> x
  in
  List.map op ops

(* The code with its moves annotated, and what holds of the registers at the start. *)
let of_code (ops : Source.op list) =
  let writes = writes_of ops in
  let name, named_facts = namer (fresh_register writes) in
  let operands = operands_of writes name in
  let code = annotate operands ops in
  (code, initial_facts writes @ named_facts ())
