(* replay.ml -- one run of kernel and code, on the systems of the proof

   Performs the steps that a certificate lists, with the functions that are extracted from
   Execute.v, and says before each what is ready. What comes out is compared with what the
   compiler's own transition systems say of the same run.

     operate e    the engine does the first item of its block; if that is an instruction, it is issued
                  in the kernel, too
     commit q n   of both
     retire q     of both

   Control steps are made as soon as they can be: they never wait, and depend on nothing but what the
   engine itself has done. One line for each state, `;` between engines:

     issue 1 of 3 needs 2 0+ ready 1; operation; wait 0 of 5 needs 1 ready 1; end | 4 0

   what an engine's code does next, and whether its wait passes; the instruction that comes next, how
   many retirements each of its dependences asks for, with a plus where it is read as asking for more
   than it does, and whether the kernel lets it be issued; and what semaphores have reached. *)

open Lists
open Certifier

exception Stuck of string

(** Control: decisions that are written down *)

(* How many iterations of each body an engine has completed. *)
type control = int array

let ctl _ l (c : control) =
  let c = Array.copy c in
  c.(l) <- c.(l) + 1;
  c

(* A statement is reached once in each iteration of the body that holds it. *)
let guard (t : Assemble.t) trips e l (c : control) =
  let reached = c.(t.places.parent.(l)) + 1 in
  let (given : int array) =
    match Hashtbl.find_opt trips (e, l) with
    | Some given when Array.length given >= reached -> given
    | _ -> raise (Stuck (Printf.sprintf "it is not said how often '%s' runs" (Assemble.loop_name t.source l)))
  in
  if Assemble.is_branch t.source l then given.(reached - 1) > 0
  else Array.fold_left ( + ) 0 (Array.sub given 0 reached) > c.(l)

(** States

   The functions in a state grow with each step; they are replaced by tables with the same values. *)

let table n f =
  let values = Array.init n f in
  fun i -> if i < n then values.(i) else f i

let remembered f =
  let known = Hashtbl.create 16 in
  fun x ->
    match Hashtbl.find_opt known x with
    | Some y -> y
    | None ->
        let y = f x in
        Hashtbl.add known x y;
        y

type sizes = { engines : int; queues : int; instrs : int; loops : int; semas : int; registers : int }

let settle_counts n c =
  let ent = remembered (fun (s, i, p) -> c.ent s i p) in
  { c with tot = table n.loops c.tot; ent = (fun s i p -> ent (s, i, p)) }

let settle_kernel n s =
  { s with
    scs = table n.engines s.scs;
    spos = table n.engines s.spos;
    sifl = table n.queues s.sifl;
    scnt = table n.engines s.scnt;
    src = table n.instrs s.src }

let settle_code n s =
  { s with
    ics = table n.engines s.ics;
    ipos = table n.engines s.ipos;
    iifl = table n.queues s.iifl;
    isem = table n.semas s.isem;
    iregs = table n.engines (fun e -> table n.registers (s.iregs e)) }

(** The two systems side by side *)

type t = {
  n : sizes;
  tables : tables;
  exact : bool list array;
  kernel_does : (unit, control) sstate -> action -> (event list * (unit, control) sstate) option;
  code_does : (unit, control) istate -> action -> (event list * (unit, control) istate) option;
  passes : (unit, control) istate -> int -> wait option -> bool;
  mutable kernel : (unit, control) sstate;
  mutable code : (unit, control) istate;
}

let after who = function
  | Some (events, state) -> (events, state)
  | None -> raise (Stuck (who ^ " does not allow it"))

let do_kernel r a =
  let _, s = after "the kernel" (r.kernel_does r.kernel a) in
  r.kernel <- settle_kernel r.n s

let do_code r a =
  let events, s = after "the code" (r.code_does r.code a) in
  r.code <- settle_code r.n s;
  events

let rec walk_kernel r e =
  match r.kernel_does r.kernel (Control e) with
  | None -> ()
  | Some (_, s) ->
      let counts = settle_counts r.n (s.scnt e) in
      r.kernel <- settle_kernel r.n { s with scnt = (fun x -> if x = e then counts else s.scnt x) };
      walk_kernel r e

let rec walk_code r e =
  match r.code_does r.code (Control e) with
  | None -> ()
  | Some (_, s) ->
      r.code <- settle_code r.n s;
      walk_code r e

let walk r e = walk_kernel r e; walk_code r e

let perform r (step : Source.step) =
  match step with
  | Operate e ->
      (match do_code r (Certifier.Operate e) with
      | [] -> ()
      | _ :: _ -> do_kernel r (Certifier.Operate e));
      walk r e
  | Commit (q, n) ->
      ignore (do_code r (Certifier.Commit (q, n)));
      do_kernel r (Certifier.Commit (q, n))
  | Retire q ->
      ignore (do_code r (Certifier.Retire q));
      do_kernel r (Certifier.Retire q)

(** What is said of a state *)

let bit b = if b then "1" else "0"

let kernel_text r e =
  match (r.kernel.spos e).cur with
  | [] -> ""
  | i :: _ ->
      let need d exact =
        let at = trips (r.kernel.spos e).kon in
        let n = owed at (r.kernel.scnt e) (r.tables.home d.prd) d.dist in
        Printf.sprintf " %d%s" n (if exact then "" else "+")
      in
      Printf.sprintf " of %d needs%s ready %s" i
        (String.concat "" (List.map2 need (r.tables.deps i) r.exact.(i)))
        (bit (is_ready r.tables r.kernel e i))

let engine_text r e =
  match (r.code.ipos e).cur with
  | [] -> "end"
  | RegOp _ :: _ -> "operation" ^ kernel_text r e
  | Wait w :: _ -> "wait " ^ bit (r.passes r.code e (Some w)) ^ kernel_text r e
  | Issue (_, w) :: _ -> "issue " ^ bit (r.passes r.code e w) ^ kernel_text r e

let state_text r =
  let engines = List.init r.n.engines (engine_text r) in
  let semas = List.init r.n.semas (fun s -> string_of_int (r.code.isem s)) in
  String.concat "; " engines ^ " | " ^ String.concat " " semas

(** A whole run *)

(* Both systems before their first step; `guard` decides which bodies an engine enters. *)
let start (t : Assemble.t) guard =
  let c = t.source in
  let tables = fast_tables t.cert in
  let iop _ () = () in
  let signals = Certifier.signals_of t.cert in
  let m = if c.arithmetic.wraps then 1 lsl c.arithmetic.bits else 0 in
  let control _ = Array.make (Array.length c.loops) 0 in
  let registers e = List.fold_left (fun n r -> max n (r + 1)) 0 (mentions e t.cert.c_code) in
  let num_engines = Array.length c.engines in
  { n =
      { engines = num_engines;
        queues = Array.length c.queues;
        instrs = Array.length c.instrs;
        loops = Array.length c.loops;
        semas = Array.length c.semas;
        registers = List.fold_left max 0 (List.init num_engines registers) };
    tables;
    exact = Assemble.exactness t;
    kernel_does = spec_does iop guard ctl tables;
    code_does = code_does iop guard ctl tables signals m;
    passes = wait_passes m;
    kernel = sinit t.cert.c_spec () control;
    code = iinit t.cert.c_code () control }

(* Says a line for each state; whether all steps could be made. *)
let replay (t : Assemble.t) (run : Source.run) say =
  let trips = Hashtbl.create 16 in
  List.iter (fun (e, l, ts) -> Hashtbl.replace trips (e, l) (Array.of_list ts)) run.trips;
  let r = start t (guard t trips) in
  let show () = say (state_text r) in
  try
    List.iter (walk r) (List.init r.n.engines Fun.id);
    show ();
    List.iter (fun step -> perform r step; show ()) run.steps;
    true
  with
  | Stuck reason -> say ("stuck: " ^ reason); false
  | Failure _ -> say "stopped: a number is too large to be computed with"; false
