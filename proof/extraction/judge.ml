(* judge.ml -- what is said of one certificate

     certified     the proved checker accepts it; with all that this rests on
     rejected      a fault can be shown: the kernel is none, the code issues something else, raises by
                   other amounts, or a run shows it early, late or at a standstill
     not covered   anything else: the theorem does not speak of it, or the checker cannot follow it *)

open Lists

type verdict =
  | Certified of string (* with what it rests on *)
  | Rejected of string
  | Not_covered of string

let plural n what = Printf.sprintf "%d %s%s" n what (if n = 1 then "" else "s")

(** What a yes rests on *)

let dependences (t : Assemble.t) =
  let inexact = Assemble.number_of_inexact t in
  let extra =
    if inexact = 0 then "" else Printf.sprintf ", %d of them by more than they ask for" inexact
  in
  Printf.sprintf "%s, %s%s"
    (plural (Array.length t.source.instrs) "instruction")
    (plural (Array.length t.source.deps) "dependence")
    extra

let agreement (t : Assemble.t) =
  let loops = List.init (Array.length t.source.loops) Fun.id in
  match List.filter (fun l -> t.source.loops.(l).Source.divergent) loops with
  | [] -> "if engines agree on trips and branches"
  | l :: rest ->
      Printf.sprintf
        "engines may disagree about '%s'%s, and that all data has arrived and nothing deadlocks is not covered"
        (Assemble.loop_name t.source l)
        (if rest = [] then "" else Printf.sprintf " and %d more" (List.length rest))

let left_out (t : Assemble.t) =
  if t.left_out = 0 then []
  else
    [ Printf.sprintf
        "%s left out by engines with nothing to do there, and that this adds no waiting is not covered"
        (if t.left_out = 1 then "1 loop or branch is" else Printf.sprintf "%d loops or branches are" t.left_out) ]

let origin (t : Assemble.t) =
  let says what = Printf.sprintf "for the dependences listed (its writer says: %s)" what in
  match t.source.accesses with
  | None -> "for the dependences listed"
  | Some Derived -> says "derived from the kernel's accesses"
  | Some Held -> says "checked against the kernel's accesses"
  | Some Ignored -> says "not checked against the kernel's accesses"
  | Some Untouched -> says "its accesses are not seen to touch anything"

let granted (t : Assemble.t) =
  match t.source.granted with
  | [] -> []
  | whats -> [ "granted that " ^ String.concat ", that " (List.map Printable.sentence whats) ]

let certified t condition =
  Certified
    (String.concat "; "
       ([ dependences t; condition; agreement t ] @ left_out t @ [ origin t ] @ granted t))

(* Whether some instruction lies in no loop that runs zero times in every run. *)
let rec may_run (c : Source.t) = function
  | Source.Block is -> is <> []
  | For (l, body) -> c.loops.(l).most <> Some 0 && List.exists (may_run c) body
  | Cond (_, _, yes, no) -> List.exists (may_run c) yes || List.exists (may_run c) no

(* Code of which nothing is asked realises its kernel, and that says nothing about it. *)
let nothing_compared (t : Assemble.t) =
  if Array.length t.source.instrs = 0 then Some "nothing is compared: the kernel has no instruction"
  else if not (List.exists (may_run t.source) t.source.body) then
    Some "nothing is compared: no instruction ever runs, as the loops around them all run 0 times"
  else if Assemble.asks_for_something t then None
  else if Array.length t.source.deps > 0 then
    Some "nothing is compared: no dependence asks for anything within the kernel's bounds of trips"
  else
    match t.source.accesses with
    | Some (Derived | Held) -> None
    | Some Untouched -> Some "nothing is compared: no instruction is seen to touch anything"
    | None | Some Ignored -> Some "nothing is compared: the kernel has no dependence"

(** The decision *)

let too_long steps =
  Printf.sprintf "the checker takes more than %d steps; --steps=N gives it more" steps

(* The condition under which the code is right, or why none is known. *)
let decide ~steps (t : Assemble.t) : (string, Explain.reason) result =
  try
    if not (Certifier.certify_fast t.cert) then Error (Explain.why t)
    else
      match Numbers.judge t with
      | While condition -> Ok condition
      | Unknown reason -> Error (Unclear reason)
  with Steps.Spent -> Error (Unclear (too_long steps))

(* Why right code may not be seen to be right. *)
let ties (t : Assemble.t) =
  match List.filter (fun l -> t.source.loops.(l).Source.tied <> []) (List.init (Array.length t.source.loops) Fun.id) with
  | [] -> ""
  | l :: _ ->
      Printf.sprintf "; the checker knows trips by their bounds alone, and those of '%s' follow from a formula"
        (Assemble.loop_name t.source l)

(* The checker, or the bound on numbers, has said no. *)
let without_proof ~quick t reason =
  match if quick then Witness.Nothing else Witness.search t with
  | Fault what -> Rejected (reason ^ "; " ^ what)
  | Beyond what -> Not_covered (reason ^ "; " ^ what)
  | Nothing -> Not_covered (reason ^ ties t)

let judge_assembled ~quick ~steps (t : Assemble.t) =
  match decide ~steps t with
  | Error (Fault reason) -> Rejected reason
  | Error (Unclear reason) -> without_proof ~quick t reason
  | Ok condition -> (
      match nothing_compared t with
      | None -> certified t condition
      | Some reason -> Not_covered reason)

(* [quick]: no runs are tried, so nothing is rejected that only a run can show. [steps] are for the checker, the
   bound on numbers, and what explains a no; runs have their own. *)
let judge ~quick ~steps (c : Source.t) =
  Steps.allow steps;
  try judge_assembled ~quick ~steps (Assemble.assemble c) with
  | Assemble.Rejected reason -> Rejected reason
  | Assemble.Not_covered reason -> Not_covered reason
  | Failure _ -> Not_covered "a number is too large to be computed with"
  | Stack_overflow -> Not_covered "it is too large for the stack of this process"
  | Steps.Spent -> Not_covered (too_long steps)
  | Out_of_memory -> Not_covered "it needs more memory than it may have"
  | _ -> Not_covered "the checker has failed"
