(* witness.ml -- a run in which code does not do what its kernel asks for

   The checker says no to code that it cannot follow, too. So where it has said no, kernel and code are
   run side by side, on the systems of the proof (Execute.v), with a few trip counts that the kernel
   allows and a few schedules. What is found is a fault that can be shown:

     early       an instruction is issued though a dependence of it is not satisfied
     late        ... is held back though all its dependences are satisfied
     standstill  no engine of the code, or of the kernel itself, can go on

   Schedules put off retirements: an engine issues as long as it can, and then one instruction
   retires. So between any two retirements a wait is seen to pass or not to. Of which queue, is random
   in some schedules; in others one queue is held back for as long as another can retire, which shows
   what does not wait for it. Nothing is shown by finding nothing.

   A dependence that is read as asking for more than it does is no measure of what comes too early.

   What a verdict would rest on holds in these runs: trips are those of a run that can happen (Trips), engines agree about
   them, and no number reaches the limit of the machine, up to the end of the run (Numbers). A fault in a run beyond that is
   none of the code, and is named as such. A number that goes below zero is no such excuse: whether code lets
   that matter is what is looked for. *)

open Lists
open Certifier
open Assemble

exception Found of string

let found format = Printf.ksprintf (fun s -> raise (Found s)) format

(* How much is tried, in steps and not in seconds: the same certificate has the same verdict on every
   machine. A step is a look at an engine, or one operation; what these compute is counted as well. *)
let actions_of_a_run = 2_000
let most_in_flight = 64 (* of a queue; an engine with more to issue waits until some have retired *)
let steps_in_all = 400_000
let most_computed = 100_000_000

(** Trips *)

(* What loops do as they are reached, and the sums of that: an engine decides by what it has completed, and
   which comes first does not matter. *)
type trips = { choice : Trips.t; sums : (int, int array ref * int ref) Hashtbl.t }

let made choice = { choice; sums = Hashtbl.create 16 }

(* Of the first n times that the loop is reached. Every engine that reaches it has reached it once less. *)
let sum trips ~iteration l n =
  let values, known =
    match Hashtbl.find_opt trips.sums l with
    | Some x -> x
    | None ->
        let x = (ref (Array.make 16 0), ref 0) in
        Hashtbl.add trips.sums l x;
        x
  in
  while !known < n do
    if !known + 1 >= Array.length !values then
      values := Array.append !values (Array.make (Array.length !values) 0);
    incr known;
    !values.(!known) <- !values.(!known - 1) + Trips.times trips.choice ~iteration l !known
  done;
  !values.(n)

(* Control alone may take for ever. *)
let guard t trips step _ l (c : Replay.control) =
  step ();
  let reached l = Replay.completed t.places.parent.(l) c + 1 in
  let rec iteration l = Replay.completed l c - sum trips ~iteration l (reached l - 1) in
  if Source.is_branch t.source l then Trips.times trips.choice ~iteration l (reached l) > 0
  else sum trips ~iteration l (reached l) > Replay.completed l c

(* The distances on each loop: the least trips that reach past them are worth trying. *)
let distances t =
  let on = Array.make (Array.length t.source.loops) [] in
  let put l k = if k > 0 && k < 70 then on.(l) <- k :: on.(l) in
  let put_reading (d : Source.dep) r =
    match r.distance with
    | Carried (l, k) -> put l k
    | Flat f -> put t.places.home.(d.producer) f
    | Element (l, k, b, back, ahead) -> put l k; put b (max back ahead)
  in
  Array.iteri (fun n d -> put_reading d t.readings.(n)) t.source.deps;
  Array.map (List.sort_uniq compare) on

let choices t =
  List.map made (Trips.choices t.source ~is_outer:(is_outer t.source t.places) (distances t))

(* The trips that a run has used, for messages; of each entry of the loop, where they differ. *)
let trips_text t trips =
  let text l =
    match Hashtbl.find_opt trips.sums l with
    | Some (values, known) when !known > 0 ->
        let all = List.init !known (fun n -> !values.(n + 1) - !values.(n)) in
        let same = List.for_all (fun n -> n = List.hd all) all in
        let shown = if same then [ List.hd all ] else List.filteri (fun i _ -> i < 8) all in
        let dots = if (not same) && !known > 8 then " ..." else "" in
        Some
          (let name = loop_name t.source l in
           let numbers = String.concat " " (List.map string_of_int shown) ^ dots in
           if Source.is_branch t.source l then Printf.sprintf "%s = %s" name numbers
           else
             Printf.sprintf "%s iteration%s of '%s'" numbers (if shown = [ 1 ] then "" else "s") name)
    | _ -> None
  in
  match List.filter_map text (List.init (Array.length t.source.loops) Fun.id) with
  | [] -> "in a run"
  | some when List.compare_length_with some 8 > 0 ->
      "with " ^ String.concat ", " (List.filteri (fun i _ -> i < 8) some) ^ ", ..."
  | some -> "with " ^ String.concat ", " some

(** One run *)

module Ids = Set.Make (Int)

(* Which queue retires: by such numbers, and a queue that is held back, if any, last. *)
type schedule = { seed : int; held : int option }

type run = {
  t : Assemble.t;
  r : Replay.t;
  trips : trips;
  exact : bool list array;
  issued : int array; (* by instruction *)
  mutable busy : Ids.t; (* queues with something in flight *)
  step : unit -> unit; (* ends the search when there were enough *)
}

let code_at run e = (run.r.code.ipos e).cur
let kernel_at run e = match (run.r.kernel.spos e).cur with i :: _ -> Some i | [] -> None

let deps_of run i = List.map2 (fun d exact -> (d, exact)) (run.r.tables.deps i) run.exact.(i)
let is_met run e d = satb run.r.tables run.r.kernel e d
let is_ready run e i = List.for_all (fun (d, _) -> is_met run e d) (deps_of run i)

let owed_by run e (d : dep) =
  owed (Certifier.trips (run.r.kernel.spos e).kon) (run.r.kernel.scnt e)
    (run.r.tables.home d.prd) d.dist

(* Runs count from 0. *)
let next_run run i = run.issued.(i)

let early run e i d =
  let c = run.t.source in
  found "%s, engine '%s' issues run %d of '%s' when '%s' has retired %d times, and its dependence asks for %d"
    (trips_text run.t run.trips) (engine_name c e) (next_run run i) (instr_name c i)
    (instr_name c d.prd)
    (run.r.kernel.src d.prd)
    (owed_by run e d)

let value run e = function OImm n -> n | OReg r -> run.r.code.iregs e r

let wait_text run e (s, o) =
  Printf.sprintf "waits for '%s' >= %d, which is %d" (sema_name run.t.source s) (value run e o)
    (run.r.code.isem s)

let late run e i w =
  let c = run.t.source in
  found "%s, engine '%s' %s, though run %d of '%s' has all that it depends on"
    (trips_text run.t run.trips) (engine_name c e) (wait_text run e w) (next_run run i)
    (instr_name c i)

(* Register operations and waits that pass: nothing else sees when they happen. *)
let rec settle run e =
  run.step ();
  Replay.walk run.r e;
  match code_at run e with
  | RegOp _ :: _ ->
      ignore (Replay.do_code run.r (Operate e));
      settle run e
  | Wait w :: _ when run.r.passes e (Some w) ->
      ignore (Replay.do_code run.r (Operate e));
      settle run e
  | _ -> ()

let has_room run i =
  let _, queue = run.t.source.instrs.(i) in
  List.compare_length_with (run.r.code.iifl queue) most_in_flight < 0

(* Whether the engine can issue; what it does wrongly is found. *)
let look run e =
  run.step ();
  match (code_at run e, kernel_at run e) with
  | Wait w :: _, Some i ->
      if is_ready run e i then late run e i w;
      false
  | Issue (j, w) :: _, Some i when i = j ->
      let passes = run.r.passes e w in
      (if passes then
         match List.find_opt (fun (d, exact) -> exact && not (is_met run e d)) (deps_of run i) with
         | Some (d, _) -> early run e i d
         | None -> ());
      let ready = is_ready run e i in
      if ready && not passes then Option.iter (late run e i) w;
      ready && passes && has_room run i
  | _ -> false

let issue run e =
  let i = Option.get (kernel_at run e) in
  Replay.perform run.r (Source.Operate e);
  run.issued.(i) <- run.issued.(i) + 1;
  run.busy <- Ids.add (snd run.t.source.instrs.(i)) run.busy;
  settle run e

let retire run q =
  (match run.r.code.iifl q with
  | (_, false) :: _ -> Replay.perform run.r (Source.Commit (q, 0))
  | _ -> ());
  Replay.perform run.r (Source.Retire q);
  if run.r.code.iifl q = [] then run.busy <- Ids.remove q run.busy

let all_of n = List.init n Fun.id

(* Nothing can go on, and not all is done. *)
let standstill run engines =
  let c = run.t.source in
  let stuck e =
    match (code_at run e, kernel_at run e) with
    | (Wait w :: _ | Issue (_, Some w) :: _), None ->
        found "%s, engine '%s' %s forever" (trips_text run.t run.trips) (engine_name c e)
          (wait_text run e w)
    | _, Some i ->
        found "%s, the kernel comes to a standstill before run %d of '%s'"
          (trips_text run.t run.trips) (next_run run i) (instr_name c i)
    | _ -> ()
  in
  List.iter stuck engines

(* The choice among what can be done next: engines in an order of their own, then a retirement. *)
let next_action run schedule step engines =
  let in_flight = Ids.elements run.busy in
  let queues =
    match List.filter (fun q -> Some q <> schedule.held) in_flight with
    | [] -> in_flight
    | others -> others
  in
  let rotated e = (e + schedule.seed) mod Array.length run.t.source.engines in
  let able = List.filter (look run) engines in
  match List.sort (fun a b -> compare (rotated a) (rotated b)) able with
  | e :: _ -> Some (fun () -> issue run e)
  | [] when queues = [] -> standstill run engines; None
  | [] ->
      let q = List.nth queues (Trips.hash schedule.seed step 0 mod List.length queues) in
      Some (fun () -> retire run q; List.iter (settle run) engines)

let perform t start trips schedule step =
  let r = start (guard t trips step) in
  let issued = Array.make (Array.length t.source.instrs) 0 in
  let run =
    { t; r; trips; exact = r.exact; issued; busy = Ids.empty; step }
  in
  let engines = all_of (Array.length t.source.engines) in
  List.iter (settle run) engines;
  let rec go number =
    if number < actions_of_a_run then
      match next_action run schedule number engines with
      | None -> ()
      | Some action -> action (); go (number + 1)
  in
  go 0

type answer =
  | Fault of string (* with the run that shows it *)
  | Beyond of string (* ... which is none that a verdict speaks of, and why *)
  | Nothing

let search t =
  Steps.allow most_computed;
  let steps = ref 0 in
  let step () =
    incr steps;
    if !steps > steps_in_all then raise Steps.Spent
  in
  let at_random = List.map (fun seed -> { seed; held = None }) (all_of 2) in
  let holding = List.map (fun q -> { seed = 0; held = Some q }) (all_of (Array.length t.source.queues)) in
  let schedules = at_random @ holding in
  let start = lazy (Replay.starter t) in
  let try_one trips schedule =
    try perform t (Lazy.force start) trips schedule step with Replay.Stuck _ | Failure _ -> ()
  in
  (* Numbers do not depend on the schedule. *)
  let rec try_all beyond = function
    | [] -> beyond
    | trips :: rest -> (
        match List.iter (try_one trips) schedules with
        | () -> try_all beyond rest
        | exception Steps.Spent -> beyond
        | exception Found what -> (
            match Numbers.beyond t trips.choice with
            | None -> Fault what
            | Some _ when beyond <> Nothing -> try_all beyond rest
            | Some why -> try_all (Beyond (what ^ ", but " ^ why)) rest))
  in
  try_all Nothing (choices t)
