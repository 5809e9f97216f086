(* assemble.ml -- from what a certificate says to what the checker reads

   The checker takes one tree whose blocks hold a stream for each engine. Kernel and code are brought
   to the same shape: in each body a block, a nested statement, a block, ..., a block, some of
   them empty. Each engine's operations go where its instructions and loops stand in the
   kernel; operations in between go before what follows them. Nothing is left out, moved across an
   instruction, or added, but for one thing: a loop or branch that an engine skips is one
   that it runs with nothing inside. *)

open Lists
open Certifier
open Source

(* A fault: the kernel is none, or the code is not that of the kernel. *)
exception Rejected of string

(* It may be right, but the theorem says nothing about it. *)
exception Not_covered of string

let rejected format = Printf.ksprintf (fun s -> raise (Rejected s)) format
let not_covered format = Printf.ksprintf (fun s -> raise (Not_covered s)) format

(* Names as they can be shown between quotes. *)
let loop_name c l = Printable.plain c.loops.(l).name
let instr_name c i = Printable.plain (fst c.instrs.(i))
let engine_name c e = Printable.plain c.engines.(e)
let queue_name c q = Printable.plain c.queues.(q).queue_name
let sema_name c s = Printable.plain c.semas.(s)
let engine_of c i = c.queues.(snd c.instrs.(i)).engine

(** The kernel's tree *)

(* A body: its instructions by slot, and the nested statements between the slots. *)
type nested = For_node of int * body | Cond_node of int * int * body * body
and body = { slots : int list array; between : nested array }

let rec body_of (stmts : stmt list) =
  let rec go slot slots between = function
    | [] -> (List.rev (List.rev slot :: slots), List.rev between)
    | Block is :: rest -> go (List.rev_append is slot) slots between rest
    | For (l, b) :: rest -> nested slot slots between rest (For_node (l, body_of b))
    | Cond (t, f, bt, bf) :: rest ->
        nested slot slots between rest (Cond_node (t, f, body_of bt, body_of bf))
  and nested slot slots between rest node = go [] (List.rev slot :: slots) (node :: between) rest in
  let slots, between = go [] [] [] stmts in
  { slots = Array.of_list slots; between = Array.of_list between }

(* Each slot of a body and of what is nested in it, in the order of the text. *)
let rec each_slot f b =
  Array.iteri
    (fun n is ->
      f is;
      if n < Array.length b.between then
        match b.between.(n) with
        | For_node (_, inner) -> each_slot f inner
        | Cond_node (_, _, bt, bf) -> each_slot f bt; each_slot f bf)
    b.slots

(* Where things are: the body and slot of an instruction, what encloses a body. *)
type places = {
  home : int array; (* -1: nowhere *)
  slot : int array;
  parent : int array; (* -1: none *)
  place : int array; (* of a body, among the nested statements of its parent *)
}

let places_of c root =
  let p =
    { home = Array.make (Array.length c.instrs) (-1);
      slot = Array.make (Array.length c.instrs) 0;
      parent = Array.make (Array.length c.loops) (-1);
      place = Array.make (Array.length c.loops) (-1) }
  in
  let rec visit l b =
    Array.iteri (fun s is -> List.iter (fun i -> put l s i) is) b.slots;
    Array.iteri
      (fun n node ->
        match node with
        | For_node (m, inner) -> enclose l n m For_loop; visit m inner
        | Cond_node (t, f, bt, bf) ->
            enclose l n t Then;
            enclose l n f Else;
            visit t bt;
            visit f bf)
      b.between
  and put l s i =
    if p.home.(i) >= 0 then rejected "the kernel has instruction '%s' twice" (instr_name c i);
    p.home.(i) <- l;
    p.slot.(i) <- s
  and enclose l n m kind =
    if p.parent.(m) >= 0 || m = 0 then rejected "the kernel has loop '%s' twice" (loop_name c m);
    if c.loops.(m).kind <> kind then
      rejected "'%s' is not in the kernel's tree what it is in its list of loops" (loop_name c m);
    p.parent.(m) <- l;
    p.place.(m) <- n
  in
  visit 0 root;
  Array.iteri
    (fun i home ->
      if home < 0 then rejected "instruction '%s' stands nowhere in the kernel" (instr_name c i))
    p.home;
  p

(* What formulas name is there. *)
let check_formulas c p =
  let rec is_around m l = l > 0 && (m = l || is_around m p.parent.(l)) in
  let check l = function
    | Iteration m when is_branch c m || not (is_around m p.parent.(l)) ->
        rejected "the trips of '%s' follow from the iteration of '%s', which is not a loop around it"
          (loop_name c l) (loop_name c m)
    | _ -> ()
  in
  Array.iteri (fun l loop -> List.iter (check l) loop.tied) c.loops

let rec enclosing p l = if l < 0 then [] else l :: enclosing p p.parent.(l)

let common p a b =
  let around_b = enclosing p b in
  List.find (fun l -> List.mem l around_b) (enclosing p a)

(** Code to the same shape *)

let operand : Source.operand -> Certifier.operand = function Reg r -> OReg r | Num n -> OImm n

let alu_of = function
  | "add" -> AAdd
  | "sub" -> ASub
  | "mul" -> AMul
  | "min" -> AMin
  | "gt" -> AGt
  | _ -> AMove

let wait_of (w : Source.wait) : Certifier.wait = (w.sema, operand w.threshold)

(* One engine's code of one body: items by slot, nested code by place, and which of the nested bodies
   the engine has code for at all; of those it leaves out nothing is expected inside. *)
type stream = {
  items : item list array;
  inner : op list array;
  inner_else : op list array;
  ran : bool array;
}

type walk = { c : Source.t; p : places; engine : int; left_out : int ref }

let empty_stream b =
  { items = Array.make (Array.length b.slots) [];
    inner = Array.make (Array.length b.between) [];
    inner_else = Array.make (Array.length b.between) [];
    ran = Array.make (Array.length b.between) false }

(* The slot before which nothing may be put any more. What goes against the order and is a fault has
   been found before (`check_issues`). *)
let check_order w at now what =
  if at < now then
    not_covered "engine '%s' runs %s out of the kernel's order" (engine_name w.c w.engine) what

let place_of_issue w l now i =
  if w.p.home.(i) <> l then
    not_covered "instruction '%s' is issued outside its body '%s', as in unrolled code"
      (instr_name w.c i)
      (loop_name w.c w.p.home.(i));
  check_order w w.p.slot.(i) now (Printf.sprintf "instruction '%s'" (instr_name w.c i));
  w.p.slot.(i)

let place_of_nested w l now m kind =
  if w.c.loops.(m).kind <> kind then
    rejected "engine '%s' takes '%s' for a loop or a conditional, which it is not"
      (engine_name w.c w.engine) (loop_name w.c m);
  if w.p.parent.(m) <> l then
    not_covered "engine '%s' runs '%s' outside the body that holds it" (engine_name w.c w.engine)
      (loop_name w.c m);
  check_order w w.p.place.(m) now (Printf.sprintf "'%s'" (loop_name w.c m));
  w.p.place.(m)

(* Distributes the operations of a body. [pending]: those whose slot what follows will decide. *)
let split w l b ops =
  let s = empty_stream b in
  let put slot xs = s.items.(slot) <- xs @ s.items.(slot) in
  let rec go now pending = function
    | [] -> put now pending
    | Issue (i, wait, _) :: rest ->
        let slot = place_of_issue w l now i in
        put slot (Certifier.Issue (i, Option.map wait_of wait) :: pending);
        go slot [] rest
    | Wait wait :: rest -> go now (Certifier.Wait (wait_of wait) :: pending) rest
    | Alu (o, dst, a, b) :: rest ->
        let o = { dst; aop = alu_of o; opa = operand a; opb = operand b } in
        go now (RegOp o :: pending) rest
    | Loop (m, _, ops) :: rest -> go (nested_at now pending m For_loop ops []) [] rest
    | If (m, _, bt, bf) :: rest -> go (nested_at now pending m Then bt bf) [] rest
    | Outside what :: _ -> not_covered "%s is outside the theorem" what
  and nested_at now pending m kind inner inner_else =
    let place = place_of_nested w l now m kind in
    put place pending;
    s.inner.(place) <- inner;
    s.inner_else.(place) <- inner_else;
    s.ran.(place) <- true;
    place + 1
  in
  go 0 [] ops;
  Array.iteri (fun i xs -> s.items.(i) <- List.rev xs) s.items;
  s

let count_left_out w s = Array.iter (fun ran -> if not ran then incr w.left_out) s.ran

(* A body from its end: [block] makes that of a slot, [nest] puts the nested statement of a place before
   what follows it. *)
let fold_body b block nest =
  let code = ref (block (Array.length b.between) CNil) in
  for n = Array.length b.between - 1 downto 0 do
    code := block n (nest n b.between.(n) !code)
  done;
  !code

(* [streams]: of each engine its operations in this body; none where it has left the body out. *)
let rec code_of walks l b streams =
  let split_one w ops =
    let s = split w l b (Option.value ops ~default:[]) in
    if ops <> None then count_left_out w s;
    s
  in
  let parts = List.map2 split_one walks streams in
  let block slot rest = CBlock (List.map (fun s -> s.items.(slot)) parts, rest) in
  let inner n ops = List.map (fun s -> if s.ran.(n) then Some (ops s).(n) else None) parts in
  let nest n node rest =
    let first = inner n (fun s -> s.inner) in
    match node with
    | For_node (m, body) -> CLoop (m, code_of walks m body first, rest)
    | Cond_node (t, f, bt, bf) ->
        let bt = code_of walks t bt first in
        CCond (t, f, bt, code_of walks f bf (inner n (fun s -> s.inner_else)), rest)
  in
  fold_body b block nest

let rec spec_of c b =
  let num_engines = Array.length c.engines in
  let block slot rest =
    let streams = Array.make num_engines [] in
    List.iter (fun i -> let e = engine_of c i in streams.(e) <- i :: streams.(e))
      (List.rev b.slots.(slot));
    CBlock (Array.to_list streams, rest)
  in
  let nest _ node rest =
    match node with
    | For_node (m, body) -> CLoop (m, spec_of c body, rest)
    | Cond_node (t, f, bt, bf) ->
        let bt = spec_of c bt in
        CCond (t, f, bt, spec_of c bf, rest)
  in
  fold_body b block nest

(** Dependences *)

(* Rings remember so many iterations, and inner indices may lie so far apart; what reaches further
   waits for more than it has to. *)
let remembered = 64
let most_elements = 1 lsl 20

type reading = { distance : distance; exact : bool }

let rec real_loop c p l = if l > 0 && is_branch c l then real_loop c p p.parent.(l) else l

(* Run number [index of b] - step of the producer, in the iteration of [around] that lies k back. *)
let element around k b step =
  let back, ahead = if step < 0 then (0, -step) else (step, 0) in
  { distance = Certifier.Element (around, k, b, back, ahead); exact = true }

(* All of that iteration: the same, or more. *)
let whole l k exact = { distance = Carried (l, k); exact }

let countable k step = k + 1 <= remembered && abs step <= most_elements

(* A dependence that no kernel has. *)
let illegal c (d : Source.dep) format =
  Printf.ksprintf
    (fun what ->
      rejected "the kernel is not legal: the distance from '%s' to '%s' %s"
        (instr_name c d.producer) (instr_name c d.consumer) what)
    format

(* Each on a loop around both ends, the outer one first, and the first one looks back. *)
let check_components c p (d : Source.dep) shared components =
  let around = enclosing p shared in
  let check_loop (l, _) =
    if is_branch c l || not (List.mem l around) then
      illegal c d "is on '%s', which is not a loop around both" (loop_name c l)
  in
  let rec check_nesting = function
    | (a, _) :: ((b, _) :: _ as rest) ->
        if not (List.mem a (enclosing p b)) then
          illegal c d "is on '%s' before '%s', which is around it" (loop_name c a) (loop_name c b);
        check_nesting rest
    | _ -> ()
  in
  List.iter check_loop components;
  check_nesting components;
  match components with
  | (l, k) :: _ when k < 0 -> illegal c d "on '%s' is %d, a run still to come" (loop_name c l) k
  | _ -> ()

(* A distance on one loop or two, with the producer directly in the inner one, and distances from one
   loop to the next are counted; others are read as one on their outermost loop, which asks for
   more. *)
let read_vector c p (d : Source.dep) shared components =
  check_components c p d shared components;
  match components with
  | [] -> whole shared 0 true
  | (l, k) :: rest ->
      let in_shared = p.home.(d.producer) = shared in
      if real_loop c p shared = l then (
        if k > remembered && not (in_shared && shared = l) then
          not_covered "distance %d on '%s' is more than the %d iterations that are remembered" k
            (loop_name c l) remembered;
        whole l k true)
      else
        let step = Option.value (List.assoc_opt shared rest) ~default:0 in
        let two_levels =
          in_shared && (not (is_branch c shared)) && real_loop c p p.parent.(shared) = l
        in
        if two_levels && countable k step then element l k shared step else whole l k false

let read_flat c p (d : Source.dep) f =
  if p.home.(d.producer) <> p.home.(d.consumer) then
    illegal c d "is flat, and the two are not in one body";
  { distance = Certifier.Flat f; exact = true }

(* Where an instruction lies in a body around it: in a slot, or in the nested statement behind one. *)
let position p body i =
  if p.home.(i) = body then 2 * p.slot.(i)
  else
    let nested = List.find (fun l -> p.parent.(l) = body) (enclosing p p.home.(i)) in
    (2 * p.place.(nested)) + 1

(* Both in loops of one body, or in nests there, or one of them directly there; the loop around these
   alone may have a distance, too. Only runs of two loops are numbered; others ask for all of the
   iteration. *)
let read_element c p (d : Source.dep) shared step components =
  let hp = p.home.(d.producer) and hc = p.home.(d.consumer) in
  let rec in_nest h =
    h = shared || (h > 0 && (not (is_branch c h)) && in_nest p.parent.(h)) in
  if hp = hc || not (in_nest hp && in_nest hc) then
    illegal c d "is element by element, and the two are not in two loops or nests of one body";
  let of_loops = p.parent.(hp) = shared && p.parent.(hc) = shared in
  check_components c p d shared components;
  let around = real_loop c p shared in
  let k =
    match components with
    | [] -> 0
    | [ (l, k) ] when l = around -> k
    | (l, _) :: _ ->
        illegal c d "is element by element and on '%s'; together with the elements, only '%s' may have one"
          (loop_name c l) (loop_name c around)
  in
  if k = 0 && position p shared d.producer >= position p shared d.consumer then
    illegal c d "is element by element, and the producer comes last";
  let around = if k = 0 then shared else around in
  if of_loops && countable k step then element around k hc step else whole around k false

let read_dep c p (d : Source.dep) =
  let shared = common p p.home.(d.producer) p.home.(d.consumer) in
  match d.form with
  | Vector components -> read_vector c p d shared components
  | Flat f -> read_flat c p d f
  | Element (step, components) -> read_element c p d shared step components

(** Ranks: in each block an order that respects engines and distance 0 *)

let zero_deps c p readings =
  let next = Array.make (Array.length c.instrs) [] in
  Array.iteri
    (fun n (d : Source.dep) ->
      let here =
        p.home.(d.producer) = p.home.(d.consumer) && p.slot.(d.producer) = p.slot.(d.consumer)
      in
      match readings.(n).distance with
      | (Carried (_, 0) | Certifier.Flat 0) when here ->
          next.(d.producer) <- d.consumer :: next.(d.producer)
      | _ -> ())
    c.deps;
  next

(* Each as soon as nothing before it is left; what lies on a cycle comes last, in text order. *)
let order_block c next is =
  let follows = Hashtbl.create 16 and last = Hashtbl.create 8 in
  let bump i = Hashtbl.replace follows i (1 + Option.value (Hashtbl.find_opt follows i) ~default:0) in
  let on_engine = Hashtbl.create 16 in
  List.iter
    (fun i ->
      (match Hashtbl.find_opt last (engine_of c i) with
      | Some before -> Hashtbl.replace on_engine before i; bump i
      | None -> ());
      Hashtbl.replace last (engine_of c i) i;
      List.iter bump next.(i))
    is;
  let ranked = Hashtbl.create 16 and order = ref [] and ready = Queue.create () in
  let blocked i = Option.value (Hashtbl.find_opt follows i) ~default:0 > 0 in
  List.iter (fun i -> if not (blocked i) then Queue.add i ready) is;
  let release i =
    Hashtbl.replace follows i (Hashtbl.find follows i - 1);
    if not (blocked i) then Queue.add i ready
  in
  while not (Queue.is_empty ready) do
    let i = Queue.pop ready in
    Hashtbl.replace ranked i ();
    order := i :: !order;
    Option.iter release (Hashtbl.find_opt on_engine i);
    List.iter release next.(i)
  done;
  List.rev !order @ List.filter (fun i -> not (Hashtbl.mem ranked i)) is

let ranks_of c next root =
  let rank = ref 0 and ranks = ref [] in
  let put i =
    ranks := (i, !rank) :: !ranks;
    incr rank
  in
  each_slot (fun is -> List.iter put (order_block c next is)) root;
  List.rev !ranks

(** What is issued *)

let covered_strategies = [ "per-instruction"; "per-loop"; "auto"; "manual" ]

let check_covered c =
  if not (List.mem c.strategy covered_strategies) then
    not_covered "strategy %s is outside the theorem" (Printable.quoted c.strategy);
  if c.arithmetic.wraps && c.arithmetic.signed then
    not_covered "a machine that wraps around and compares signed is outside the theorem";
  Array.iteri
    (fun q queue ->
      if queue.split && queue.weight > 1 then
        not_covered "split completion, of queue '%s', is outside the theorem" (queue_name c q))
    c.queues

(* Where registers run out, the compiler says which waits remember fewer iterations for that. *)
let check_waits_longer c =
  match c.waits_longer with
  | [] -> ()
  | n :: _ ->
      let d = c.deps.(n) in
      not_covered "as registers ran out, the wait of '%s' for '%s' is longer than it has to be"
        (instr_name c d.consumer) (instr_name c d.producer)

(* The issues of an engine's code in the order of the text, with what they signal. *)
let issues_of ops =
  let issues = ref [] in
  let rec visit ops =
    List.iter
      (fun (x : op) ->
        match x with
        | Issue (i, _, signal) -> issues := (i, signal) :: !issues
        | Loop (_, _, ops) -> visit ops
        | If (_, _, bt, bf) -> visit bt; visit bf
        | Wait _ | Alu _ | Outside _ -> ())
      ops
  in
  visit ops;
  List.rev !issues

(* The number of each instruction in the order of the kernel's text. *)
let text_places c root =
  let number = Array.make (Array.length c.instrs) 0 and next = ref 0 in
  let put i =
    number.(i) <- !next;
    incr next
  in
  each_slot (List.iter put) root;
  number

(* Whether one of the two runs only where the other does not. *)
let in_opposite_branches c p i j =
  let shared = common p p.home.(i) p.home.(j) in
  let rec below l = if p.parent.(l) = shared then l else below p.parent.(l) in
  let hi = p.home.(i) and hj = p.home.(j) in
  hi <> shared && hj <> shared
  &&
  let a = below hi and b = below hj in
  a <> b && is_branch c a && is_branch c b && p.place.(a) = p.place.(b)

let check_engine c e i =
  if engine_of c i <> e then
    rejected "engine '%s' issues '%s', which is an instruction of engine '%s'" (engine_name c e)
      (instr_name c i)
      (engine_name c (engine_of c i))

(* In the theorem's code a retirement raises by the weight of its queue. Another amount may be right all
   the same, where those who wait count by it. *)
let check_amount c (i, signal) =
  let q = snd c.instrs.(i) in
  match signal with
  | Some (s, amount) when amount <> c.queues.(q).weight ->
      not_covered
        "instruction '%s' raises semaphore '%s' by %d, and queue '%s' has weight %d; another amount than \
         the weight is outside the theorem"
        (instr_name c i) (sema_name c s) amount (queue_name c q) c.queues.(q).weight
  | _ -> ()

let may_run c p i =
  List.for_all (fun l -> c.loops.(l).most <> Some 0) (enclosing p p.home.(i))

let is_outer c p l = real_loop c p p.parent.(l) <= 0

(* The loop around the instruction that may not run in any run that can happen, whatever its bounds are. *)
let tied_around c p i =
  List.find_opt (fun l -> c.loops.(l).tied <> [] && c.loops.(l).least = 0) (enclosing p p.home.(i))

(* Whether some run has both in one iteration of all that is around both. Tied loops do not run as their
   bounds say, so it is tried. *)
let seen_together c p i j =
  let shared = common p p.home.(i) p.home.(j) in
  may_run c p i && may_run c p j
  && (not (in_opposite_branches c p i j))
  && ((tied_around c p i = None && tied_around c p j = None)
     || Trips.run_together c ~is_outer:(is_outer c p) shared i j)

(* Instructions of one engine come in the kernel's order, unless they never run in one iteration. *)
let check_sequence c p places e is =
  ignore
    (List.fold_left
       (fun last i ->
         if last >= 0 && places.(i) < places.(last) && seen_together c p i last then
           rejected "engine '%s' issues '%s' before '%s', against the order of the kernel"
             (engine_name c e) (instr_name c last) (instr_name c i);
         if last < 0 || places.(i) > places.(last) then i else last)
       (-1) is)

(* Nothing is wrong with leaving out what never runs. *)
let check_issued c p i =
  match tied_around c p i with
  | _ when not (may_run c p i) -> ()
  | Some l when not (seen_together c p i i) ->
      not_covered "instruction '%s' is not issued, and no run is found in which it runs, as the trips of '%s' follow from a formula"
        (instr_name c i) (loop_name c l)
  | _ -> rejected "instruction '%s' is not issued" (instr_name c i)

(** Whether a dependence asks for anything *)

(* The largest number of runs of a body in each run of [outer], which is that body or around it, within
   the kernel's bounds, as far as numbers go; none: any. *)
let most_runs_in c p outer l =
  let times n l =
    let most = if is_branch c l then Some 1 else c.loops.(l).most in
    match (n, most) with
    | Some 0, _ | _, Some 0 -> Some 0
    | Some n, Some m when m <= most_of_code / n -> Some (n * m)
    | _ -> None
  in
  let rec below l = if l = outer then [] else l :: below p.parent.(l) in
  List.fold_left times (Some 1) (below l)

let most_runs c p l = most_runs_in c p (-1) l

let is_below k = function None -> true | Some n -> k < n

(* Whether some run of the consumer is owed any of the producer, in iterations that the kernel allows: all
   that were to run so far are, earlier iterations included. Negative distances look ahead in an earlier
   iteration, up to its end. *)
let may_ask c p (d : Source.dep) =
  let reaches (l, k) = is_below k c.loops.(l).most in
  let apart components = List.for_all reaches components in
  let runs_again l = is_below 1 (most_runs c p l) in
  may_run c p d.producer && may_run c p d.consumer
  &&
  match d.form with
  | Flat f -> is_below f (most_runs c p p.home.(d.consumer))
  | Element (step, components) ->
      let shared = common p p.home.(d.producer) p.home.(d.consumer) in
      apart components && is_below step (most_runs_in c p shared p.home.(d.consumer))
  | Vector components ->
      apart components
      && ((not (in_opposite_branches c p d.producer d.consumer))
         || runs_again (common p p.home.(d.producer) p.home.(d.consumer)))

(* What the code issues is what the kernel holds, each instruction once. *)
let check_issues c p root =
  let seen = Array.make (Array.length c.instrs) false and places = text_places c root in
  let count i =
    if seen.(i) then
      not_covered "instruction '%s' is issued in two places, as in unrolled code" (instr_name c i);
    seen.(i) <- true
  in
  let issues = Array.map issues_of c.code in
  Array.iteri
    (fun e all ->
      List.iter (fun (i, _) -> check_engine c e i) all;
      List.iter (check_amount c) all)
    issues;
  Array.iter (fun all -> List.iter (fun (i, _) -> count i) all) issues;
  Array.iteri (fun i issued -> if not issued then check_issued c p i) seen;
  Array.iteri (fun e all -> check_sequence c p places e (List.map fst all)) issues;
  issues

(** Semaphores *)

(* What each instruction raises, as its issue says. *)
let signals_of c issues =
  let signals = Array.make (Array.length c.instrs) None in
  Array.iter
    (List.iter (fun (i, signal) -> signals.(i) <- Option.map fst signal))
    issues;
  signals

(* Strategy auto may give all bodies of a queue one semaphore. *)
let check_bodies c p signals =
  let body = Array.make (Array.length c.semas) (-1) in
  Array.iteri
    (fun i signal ->
      Option.iter
        (fun s ->
          if body.(s) < 0 then body.(s) <- p.home.(i)
          else if body.(s) <> p.home.(i) && c.strategy = "auto" then
            not_covered "a semaphore for several bodies, here '%s', is outside the theorem" (sema_name c s))
        signal)
    signals

(** All of it *)

type t = {
  source : Source.t;
  places : places;
  readings : reading array;
  left_out : int; (* bodies, each by an engine that has nothing to do in it *)
  cert : cert;
}

(* Whether any dependence does, by the bounds that stand here and by what the writer knows of formulas. *)
let asks_for_something t =
  let never = Array.make (Array.length t.source.deps) false in
  List.iter (fun d -> never.(d) <- true) t.source.never_asks;
  let asks d dep = (not never.(d)) && may_ask t.source t.places dep in
  List.exists Fun.id (List.mapi asks (Array.to_list t.source.deps))

let number_of_inexact t =
  Array.fold_left (fun n r -> if r.exact then n else n + 1) 0 t.readings

(* Whether the dependences of each instruction are read as they are, in the order of [deps_table]. *)
let exactness t =
  let by_consumer = Array.make (Array.length t.source.instrs) [] in
  for n = Array.length t.source.deps - 1 downto 0 do
    let j = t.source.deps.(n).consumer in
    by_consumer.(j) <- t.readings.(n).exact :: by_consumer.(j)
  done;
  by_consumer

let with_ids array pick =
  List.concat (List.init (Array.length array) (fun i ->
      match pick array.(i) with Some x -> [ (i, x) ] | None -> []))

let deps_table c readings =
  let by_consumer = Array.make (Array.length c.instrs) [] in
  for n = Array.length c.deps - 1 downto 0 do
    let d = c.deps.(n) in
    by_consumer.(d.consumer) <-
      { prd = d.producer; dist = readings.(n).distance } :: by_consumer.(d.consumer)
  done;
  with_ids by_consumer (fun ds -> if ds = [] then None else Some ds)

let sites_of c p signals =
  let sites = Array.make (Array.length c.semas) None in
  Array.iteri
    (fun i signal ->
      match signal with
      | Some s when sites.(s) = None ->
          sites.(s) <-
            Some { s_body = p.home.(i); s_engine = engine_of c i; s_queue = snd c.instrs.(i) }
      | _ -> ())
    signals;
  with_ids sites Fun.id

let assemble (c : Source.t) =
  check_covered c;
  check_waits_longer c;
  let root = body_of c.body in
  let p = places_of c root in
  check_formulas c p;
  let readings = Array.map (read_dep c p) c.deps in
  let issues = check_issues c p root in
  let annotated =
    List.map (fun ops -> Roles.of_code (Counters.written_out ops)) (Array.to_list c.code)
  in
  let left_out = ref 0 in
  let walks = List.init (Array.length c.engines) (fun engine -> { c; p; engine; left_out }) in
  let code = code_of walks 0 root (List.map (fun (ops, _) -> Some ops) annotated) in
  let signals = signals_of c issues in
  check_bodies c p signals;
  let cert =
    { c_engines = Array.length c.engines;
      c_spec = spec_of c root;
      c_code = code;
      c_deps = deps_table c readings;
      c_queues = with_ids c.instrs (fun (_, q) -> Some q);
      c_weights = with_ids c.queues (fun q -> Some q.weight);
      c_signals = with_ids signals Fun.id;
      c_sites = sites_of c p signals;
      c_roles = List.map snd annotated;
      c_ranks = ranks_of c (zero_deps c p readings) root }
  in
  { source = c; places = p; readings; left_out = !left_out; cert }
