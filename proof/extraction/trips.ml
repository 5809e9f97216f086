(* trips.ml -- how often loops run, in runs that can happen

   A run is known by what its free loops and branches do each time that they are reached, and by the values
   that formulas name. Trips that are tied follow from these, and from the iterations of the loops
   around. A choice that asks for a run that no bounds allow is none (Failure).

   The value of `$n` is picked like the trips of the loop that is `$n` and nothing else, within the bounds
   of that loop; if there is none, like those of the first loop whose formula names it. *)

open Lists
open Source

type t = {
  source : Source.t;
  pick : int -> int -> int; (* of a loop or branch that is reached for the n-th time; any number *)
  values : (string, int) Hashtbl.t;
}

(* Within what the kernel says of the loop. *)
let allowed (l : loop) n = max l.least (match l.most with Some m -> min m n | None -> n)

let impossible () = failwith "no run has these trips"

(** Formulas *)

let largest = 1 lsl 60

let checked n = if abs n > largest then impossible () else n
let product a b = if b <> 0 && abs a > largest / abs b then impossible () else a * b
let quotient a b = if a < 0 then -((b - 1 - a) / b) else a / b

let apply ~value ~iteration stack term =
  match (term, stack) with
  | Number n, rest -> n :: rest
  | Value v, rest -> value v :: rest
  | Iteration l, rest -> iteration l :: rest
  | Add, b :: a :: rest -> checked (a + b) :: rest
  | Sub, b :: a :: rest -> checked (a - b) :: rest
  | Scale k, a :: rest -> product a k :: rest
  | Mod k, a :: rest -> a - (k * quotient a k) :: rest
  | Div k, a :: rest -> quotient a k :: rest
  | _ -> impossible ()

(* Not at all below 1. *)
let by_formula ~value ~iteration terms =
  max 0 (List.hd (List.fold_left (apply ~value ~iteration) [] terms))

(* By name, the loop that stands for the value. *)
let owners (c : Source.t) =
  let owners = Hashtbl.create 8 in
  let name l = function
    | Value v when not (Hashtbl.mem owners v) -> Hashtbl.add owners v l
    | _ -> ()
  in
  Array.iteri (fun l loop -> match loop.tied with [ one ] -> name l one | _ -> ()) c.loops;
  Array.iteri (fun l loop -> List.iter (name l) loop.tied) c.loops;
  owners

let make (c : Source.t) pick =
  let values = Hashtbl.create 8 in
  let value v l =
    let n = max 0 (pick l 1) in
    Hashtbl.add values v (match c.loops.(l).tied with [ _ ] -> allowed c.loops.(l) n | _ -> n)
  in
  Hashtbl.iter value (owners c);
  { source = c; pick; values }

(* What loop or branch [l] does when it is reached for the n-th time, in iterations of the loops around. *)
let times t ~iteration l n =
  let loop = t.source.loops.(l) in
  if loop.tied = [] then allowed loop (t.pick l n)
  else
    let found = by_formula ~value:(Hashtbl.find t.values) ~iteration loop.tied in
    if found <> allowed loop found then impossible () else found

(** Going through the loops of one run *)

type walk = {
  trips : t;
  reached : int array; (* how often the statement of a loop or branch was *)
  entered : int array; (* and how often its body; the kernel's own once *)
  current : int array; (* the iteration of a loop *)
}

let walk trips =
  let none () = Array.make (Array.length trips.source.loops) 0 in
  let entered = none () in
  entered.(0) <- 1;
  { trips; reached = none (); entered; current = none () }

let times_now w l =
  w.reached.(l) <- w.reached.(l) + 1;
  times w.trips ~iteration:(Array.get w.current) l w.reached.(l)

let enter w l i =
  w.current.(l) <- i;
  w.entered.(l) <- w.entered.(l) + 1

let loop w l body =
  for i = 0 to times_now w l - 1 do
    enter w l i;
    body ()
  done

let branch w yes no body_yes body_no =
  if times_now w yes > 0 then (enter w yes 0; body_yes ()) else (enter w no 0; body_no ())

(** Choices *)

(* Numbers that only look random: the same for the same question. *)
let hash a b c = Hashtbl.hash (a, b, c)

(* [distances]: those on each loop; the least trips that reach past them are worth trying. [is_outer]: of a
   loop with none around it. *)
let choices (c : Source.t) ~is_outer distances =
  let branch_or trips l n = if is_branch c l then n mod 2 else trips l n in
  let same k = branch_or (fun _ _ -> k) in
  let all_branches k l _ = if is_branch c l then 1 else k in
  let longest = Array.map (List.fold_left max 1) distances in
  let past more = branch_or (fun l _ -> longest.(l) + more) in
  (* A count that is one off for each iteration is seen where that adds up to a weight. *)
  let long loop = branch_or (fun l _ -> if loop l then 20 else 1) in
  let around ks = Array.of_list (0 :: 1 :: 2 :: 3 :: List.concat_map (fun k -> [ k; k + 1 ]) ks) in
  let numbers = Array.map around distances in
  let mixed seed l n =
    let numbers = numbers.(l) in
    if is_branch c l then hash seed l n mod 2 else numbers.(hash seed l n mod Array.length numbers)
  in
  List.map (make c)
    ([ same 2; all_branches 3; past 1; same 1; past 2; long is_outer;
       long (fun l -> not (is_outer l)) ]
     @ List.init 18 mixed)

(** Whether instructions run *)

exception Found

let most_visits = 10_000 (* to loops and instructions, of a choice *)

(* Whether the two instructions are seen to run in one iteration of a body around both. *)
let run_together (c : Source.t) ~is_outer shared i j =
  let seen_in trips =
    let w = walk trips and last = Hashtbl.create 2 and visits = ref 0 in
    let visit () = incr visits; if !visits > most_visits then impossible () in
    let meet k =
      visit ();
      if k = i || k = j then Hashtbl.replace last k w.entered.(shared);
      if Hashtbl.find_opt last i = Some w.entered.(shared) && Hashtbl.find_opt last j = Some w.entered.(shared) then
        raise Found
    in
    let rec all stmts = List.iter one stmts
    and one = function
      | Block is -> List.iter meet is
      | For (l, b) -> loop w l (fun () -> visit (); all b)
      | Cond (t, f, yes, no) -> branch w t f (fun () -> all yes) (fun () -> all no)
    in
    try all c.body; false with Found -> true | Failure _ -> false
  in
  List.exists seen_in (choices c ~is_outer (Array.map (fun _ -> []) c.loops))
