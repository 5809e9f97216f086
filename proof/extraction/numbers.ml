(* numbers.ml -- up to where the numbers of certified code fit

   The theorem is about natural numbers; a machine has numbers of so many bits. What is said here
   becomes part of the verdict, so a condition that no run can meet is none: then the verdict is "not
   covered".

   The machine wraps around     code_fits (proved): numbers fit if no body is entered more than B
                                times. B: as often as the kernel's own bounds on trips let it be, or
                                a power of two.
   Subtraction stops at zero    nothing is proved of sums and products; the condition is that none
                                reaches the limit. That the fewest trips the kernel allows do not
                                get there already is tried.

   Where waits compare numbers with a sign, the limit is half of what it is otherwise. *)

open Lists
open Source

type answer =
  | While of string
  | Unknown of string

let limit (a : arithmetic) = 1 lsl (if a.signed then a.bits - 1 else a.bits)

let limit_text (a : arithmetic) =
  Printf.sprintf "2^%d%s" (if a.signed then a.bits - 1 else a.bits)
    (if a.signed then ", as waits compare signed numbers" else "")

(** How often bodies are entered *)

let enormous = 1 lsl 40

let times a b = if a = 0 || b = 0 then 0 else if a > enormous / b then enormous else a * b

(* Of each body, with so many entries for each of its parent. *)
let entries (t : Assemble.t) of_loop =
  let loops = t.source.loops and parent = t.places.parent in
  let known = Array.make (Array.length loops) (-1) in
  let rec find l =
    if known.(l) < 0 then
      known.(l) <- (if l = 0 then 1 else times (find (max 0 parent.(l))) (of_loop loops.(l)));
    known.(l)
  in
  Array.init (Array.length loops) find

(* The fewest if anything at all is to happen; enormous where there is no bound. *)
let fewest t = entries t (fun l -> max 1 l.least)
let most t = entries t (fun l -> Option.value l.most ~default:enormous)

let name_of_largest (t : Assemble.t) counts =
  let largest = ref 0 in
  Array.iteri (fun l n -> if n > counts.(!largest) then largest := l) counts;
  (Assemble.loop_name t.source !largest, counts.(!largest))

(** Wrapping around *)

let powers = [ 24; 20; 16; 12; 8; 4; 3; 2; 1 ]

(* The engine whose numbers do not fit, even if each body is entered once. *)
let where_numbers_do_not_fit (t : Assemble.t) limit =
  let tables = Certifier.fast_tables t.cert in
  let fits e =
    try Certifier.fast_engine_fits limit (fun _ -> 1) t.cert tables e with Failure _ -> false
  in
  match List.find_opt (fun e -> not (fits e)) (List.init t.cert.c_engines Fun.id) with
  | Some e -> Printf.sprintf "engine '%s': " (Assemble.engine_name t.source e)
  | None -> ""

let judge_wrapping (t : Assemble.t) =
  let limit = limit t.source.arithmetic and most = most t and fewest = fewest t in
  let fits entries = try Certifier.code_fits_fast limit entries t.cert with Failure _ -> false in
  let bounded = Array.for_all (fun n -> n < enormous) most in
  if bounded && fits (Array.get most) then While "while trips are within the kernel's bounds"
  else
    let name, needed = name_of_largest t fewest in
    match List.find_opt (fun n -> fits (fun _ -> 1 lsl n)) powers with
    | Some n when needed <= 1 lsl n ->
        While (Printf.sprintf "while no body is entered more than 2^%d times" n)
    | Some n ->
        Unknown
          (Printf.sprintf
             "numbers are shown to stay below %s while no body is entered more than 2^%d times, and '%s' is entered %d times at least"
             (limit_text t.source.arithmetic) n name needed)
    | None ->
        Unknown
          (Printf.sprintf "%sit is not shown that no number goes below zero or reaches %s"
             (where_numbers_do_not_fit t limit)
             (limit_text t.source.arithmetic))

(** Stopping at zero *)

exception Reached of string

let reached format = Printf.ksprintf (fun s -> raise (Reached s)) format

(* What semaphores are raised to in all, with so many entries. *)
let check_semaphores (t : Assemble.t) limit counts =
  let totals = Array.make (Array.length t.source.semas) 0 in
  List.iter
    (fun (i, s) ->
      let weight = t.source.queues.(snd t.source.instrs.(i)).weight in
      totals.(s) <- min enormous (totals.(s) + times weight counts.(t.places.home.(i))))
    t.cert.c_signals;
  Array.iteri
    (fun s total ->
      if total >= limit then
        reached "semaphore '%s' reaches %d" (Assemble.sema_name t.source s) total)
    totals

(* So many operations are tried: of an engine with the fewest trips, and of all engines in a run. *)
let most_with_fewest = 1_000_000
let most_of_a_run = 5_000_000

exception Enough

(* What a register would hold if numbers had no end, and what it holds. They differ where the machine wraps
   around, and a comparison sees the latter. *)
type number = { plain : int; held : int }

let held_of (a : arithmetic) n = { plain = n; held = (if a.wraps then n land ((1 lsl a.bits) - 1) else n) }

(* One that cannot be computed reaches any limit. *)
let product a b = if b <> 0 && abs a > max_int / abs b then max_int else a * b

let apply (arithmetic : arithmetic) o a b =
  match o with
  | "add" -> a.plain + b.plain
  | "sub" -> if arithmetic.wraps then a.plain - b.plain else max 0 (a.plain - b.plain)
  | "mul" -> product a.plain b.plain
  | "min" -> min a.held b.held
  | "gt" -> if a.held > b.held then 1 else 0
  | _ -> a.plain

(* Which operations of an engine are performed: how often the body of a loop is, each with its iteration, and
   which bodies of a conditional. *)
type control = { loop : int -> (int -> unit) -> unit; branch : int -> int -> (unit -> unit) -> (unit -> unit) -> unit }

(* Performs an engine's operations, at most as many as are left, and never waits: registers do not depend on it. *)
let perform (t : Assemble.t) limit left control issued e =
  let registers = Hashtbl.create 16 in
  let number = held_of t.source.arithmetic in
  let value = function
    | Num n -> number n
    | Reg r -> Option.value (Hashtbl.find_opt registers r) ~default:(number 0)
  in
  let fits n =
    if abs n >= limit then
      reached "engine '%s' computes %s" (Assemble.engine_name t.source e)
        (if n = max_int then "a larger number" else string_of_int n)
  in
  let put r n = fits n; Hashtbl.replace registers r (number n) in
  let tick () = decr left; if !left < 0 then raise Enough in
  let wait (w : wait) = fits (value w.threshold).plain in
  let rec all ops = List.iter one ops
  and one op =
    tick ();
    match op with
    | Alu (o, dst, a, b) ->
        let a = value a and b = value b in
        fits a.plain;
        fits b.plain;
        put dst (apply t.source.arithmetic o a b)
    | Issue (i, w, signal) -> Option.iter wait w; Option.iter (issued i) signal
    | Wait w -> wait w
    | Loop (l, counter, ops) ->
        control.loop l (fun i ->
            tick ();
            Option.iter (fun r -> put r (i + 1)) counter;
            all ops)
    | If (yes, no, bt, bf) -> control.branch yes no (fun () -> all bt) (fun () -> all bf)
    | Outside _ -> ()
  in
  all t.source.code.(e)

(* With the fewest trips, and both branches of each conditional one after the other. *)
let check_registers (t : Assemble.t) limit e =
  let loop l body = for i = 0 to max 1 t.source.loops.(l).least - 1 do body i done in
  let branch _ _ yes no = yes (); no () in
  try perform t limit (ref most_with_fewest) { loop; branch } (fun _ _ -> ()) e with Enough -> ()

let judge_saturating (t : Assemble.t) =
  let a = t.source.arithmetic in
  try
    check_semaphores t (limit a) (fewest t);
    Array.iteri (fun e _ -> check_registers t (limit a) e) t.source.engines;
    While (Printf.sprintf "while no number reaches %s" (limit_text a))
  with Reached what ->
    Unknown
      (Printf.sprintf "with the fewest trips already, %s, and numbers are to stay below %s" what
         (limit_text a))

(** One run *)

(* Why a run is none that a verdict speaks of, carried to its end: a number in it reaches the limit, or it is too
   long to see that none does. *)
let beyond (t : Assemble.t) trips =
  let limit = limit t.source.arithmetic in
  let totals = Array.make (Array.length t.source.semas) 0 and left = ref most_of_a_run in
  let issued _ (s, amount) =
    totals.(s) <- totals.(s) + amount;
    if totals.(s) >= limit then
      reached "semaphore '%s' reaches %d" (Assemble.sema_name t.source s) totals.(s)
  in
  let run e _ =
    let w = Trips.walk trips in
    let loop l body = Trips.loop w l (fun () -> body w.current.(l)) in
    perform t limit left { loop; branch = Trips.branch w } issued e
  in
  try Array.iteri run t.source.engines; None with
  | Reached what -> Some (Printf.sprintf "in that run %s, and numbers are to stay below %s" what (limit_text t.source.arithmetic))
  | Enough | Failure _ -> Some "that run is too long to see whether its numbers fit"

let judge (t : Assemble.t) =
  if t.source.arithmetic.wraps then judge_wrapping t else judge_saturating t
