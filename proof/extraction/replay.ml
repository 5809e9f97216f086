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

module By_id = Map.Make (Int)

(* How many iterations of each body an engine has completed. *)
type control = int By_id.t

let completed l (c : control) = Option.value (By_id.find_opt l c) ~default:0
let ctl _ l (c : control) = By_id.add l (completed l c + 1) c

(* Sums of the first so many. *)
let sums trips =
  let sums = Array.make (List.length trips + 1) 0 in
  List.iteri (fun n k -> sums.(n + 1) <- sums.(n) + k) trips;
  sums

(* A statement is reached once in each iteration of the body that holds it. *)
let guard (t : Assemble.t) sums e l (c : control) =
  let reached = completed t.places.parent.(l) c + 1 in
  match Hashtbl.find_opt sums (e, l) with
  | Some sums when Array.length sums > reached ->
      if Source.is_branch t.source l then sums.(reached) > sums.(reached - 1)
      else sums.(reached) > completed l c
  | _ -> raise (Stuck (Printf.sprintf "it is not said how often '%s' runs" (Assemble.loop_name t.source l)))

(** States

   The functions in a state grow with each step, and a step changes them at one place each. So the
   states of a run are one state whose functions read tables, and what they are at that place after a
   step is put there: a step takes as long as what it does, however much there is beside. *)

type ('k, 'v) table = { read : 'k -> 'v; put : 'k -> 'v -> unit }

let table start =
  let known = Hashtbl.create 16 in
  { read = (fun k -> match Hashtbl.find_opt known k with Some v -> v | None -> start k);
    put = Hashtbl.replace known }

(* [f] has a new value at [k]. *)
let keep table f k = table.put k (f k)

(* What an engine has counted: [ent] of three numbers. Nothing reads the log. *)
type counted = { totals : (int, int) table; entries : (int * int * int, int) table; counts : counts }

let counted c =
  let totals = table c.tot and entries = table (fun (s, i, p) -> c.ent s i p) in
  { totals; entries;
    counts = { tot = totals.read; ent = (fun s i p -> entries.read (s, i, p)); log = [] } }

(* The engine has entered the innermost body of [k]: once more in this iteration of all around it. *)
let keep_entry x k c =
  match k with
  | KStop -> ()
  | KLoop (l, _, _, _, _) | KCond (l, _, _) ->
      let place s = (s, c.tot s, l) in
      let news = List.map (fun s -> (place s, c.ent s (c.tot s) l)) (active k) in
      List.iter (fun (place, n) -> x.entries.put place n) news;
      keep x.totals c.tot l

(** The two systems side by side *)

(* A system performs an action, and says what was seen of it, or that it does not allow it. *)
type system = action -> event list option

type t = {
  t : Assemble.t;
  tables : tables;
  signals : instr -> sema option;
  exact : bool list array;
  does_kernel : system;
  does_code : system;
  passes : int -> wait option -> bool;
  kernel : (unit, control) sstate;
  code : (unit, control) istate;
}

let engines (t : Assemble.t) = List.init (Array.length t.source.engines) Fun.id

let kernel_of (t : Assemble.t) start que =
  let controls = table start.scs and pos = table start.spos in
  let flight = table start.sifl and retired = table start.src in
  let counts = Array.of_list (List.map (fun e -> counted (start.scnt e)) (engines t)) in
  let state =
    { start with scs = controls.read; spos = pos.read; sifl = flight.read; src = retired.read;
                 scnt = (fun e -> counts.(e).counts) }
  in
  let keep_action s = function
    | Control e ->
        if s.scnt e != state.scnt e then keep_entry counts.(e) (s.spos e).kon (s.scnt e);
        keep controls s.scs e;
        keep pos s.spos e
    | Operate e -> keep pos s.spos e
    | Commit (q, _) | Retire q -> keep flight s.sifl q
  in
  let keep_event s = function
    | Issued i -> keep flight s.sifl (que i)
    | Committed _ -> ()
    | Retired i -> keep retired s.src i
  in
  (state, keep_action, keep_event)

let code_of (t : Assemble.t) start que signals =
  let controls = table start.ics and pos = table start.ipos in
  let flight = table start.iifl and semas = table start.isem in
  let registers = Array.of_list (List.map (fun e -> table (start.iregs e)) (engines t)) in
  let state =
    { start with ics = controls.read; ipos = pos.read; iifl = flight.read; isem = semas.read;
                 iregs = (fun e -> registers.(e).read) }
  in
  let keep_action s = function
    | Control e ->
        keep controls s.ics e;
        keep pos s.ipos e
    | Operate e ->
        (match (state.ipos e).cur with
        | RegOp o :: _ -> keep registers.(e) (s.iregs e) o.dst
        | _ -> ());
        keep pos s.ipos e
    | Commit (q, _) | Retire q -> keep flight s.iifl q
  in
  let keep_event s = function
    | Issued i -> keep flight s.iifl (que i)
    | Committed _ -> ()
    | Retired i -> Option.iter (keep semas s.isem) (signals i)
  in
  (state, keep_action, keep_event)

(* What `does` allows in the state, with what it has changed kept. *)
let system (state, keep_action, keep_event) does a =
  match does state a with
  | None -> None
  | Some (events, next) ->
      keep_action next a;
      List.iter (keep_event next) events;
      Some events

let after who = function
  | Some events -> events
  | None -> raise (Stuck (who ^ " does not allow it"))

let do_kernel r a = ignore (after "the kernel" (r.does_kernel a))
let do_code r a = after "the code" (r.does_code a)

let walk r e =
  while r.does_kernel (Control e) <> None do () done;
  while r.does_code (Control e) <> None do () done

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
  | Wait w :: _ -> "wait " ^ bit (r.passes e (Some w)) ^ kernel_text r e
  | Issue (_, w) :: _ -> "issue " ^ bit (r.passes e w) ^ kernel_text r e

let state_text r =
  let engines = List.map (engine_text r) (engines r.t) in
  (* To write a number takes as long as some comparisons. *)
  let sema s = Steps.spend 4; string_of_int (r.code.isem s) in
  let semas = List.init (Array.length r.t.source.semas) sema in
  String.concat "; " engines ^ " | " ^ String.concat " " semas

(** A whole run *)

(* Both systems before their first step; `guard` decides which bodies an engine enters. What is the same
   for all runs is made once, for several. *)
let starter (t : Assemble.t) =
  let c = t.source in
  let tables = fast_tables t.cert and exact = Assemble.exactness t in
  let signals = get (map_of t.cert.c_signals) in
  let m = if c.arithmetic.wraps then 1 lsl c.arithmetic.bits else 0 in
  let iop _ () = () and control _ = By_id.empty in
  fun guard ->
    let kernel = kernel_of t (sinit t.cert.c_spec () control) tables.que in
    let code = code_of t (iinit t.cert.c_code () control) tables.que signals in
    let (kernel_state, _, _) = kernel and (code_state, _, _) = code in
    { t; tables; signals; exact;
      does_kernel = system kernel (spec_does iop guard ctl tables);
      does_code = system code (code_does iop guard ctl tables signals m);
      passes = wait_passes m code_state;
      kernel = kernel_state;
      code = code_state }

(* Says a line for each state; whether all steps could be made. *)
let replay ~steps (t : Assemble.t) (run : Source.run) say =
  let trips = Hashtbl.create 16 in
  List.iter (fun (e, l, ts) -> Hashtbl.replace trips (e, l) (sums ts)) run.trips;
  let show r = say (state_text r) in
  try
    let r = starter t (guard t trips) in
    List.iter (walk r) (engines t);
    show r;
    List.iter (fun step -> perform r step; show r) run.steps;
    true
  with
  | Stuck reason -> say ("stuck: " ^ reason); false
  | Failure _ -> say "stopped: a number is too large to be computed with"; false
  | Steps.Spent -> say (Printf.sprintf "stopped: it takes more than %d steps; --steps=N gives it more" steps); false
