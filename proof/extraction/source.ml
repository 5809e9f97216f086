(* source.ml -- a certificate as it is written

   The kernel as it was read and the code of each engine as it was emitted; docs/guide/certificate/Format.md has
   the format. Nothing is judged here but whether the text can be read, and what cannot be understood
   is an error: an unknown word, a member too many, out of its place or missing, a number in another
   form or out of its range. So nothing that is written down goes unread. *)

open Lists

type operand = Reg of int | Num of int

type wait = { sema : int; threshold : operand }

type op =
  | Issue of int * wait option * (int * int) option (* signal: semaphore, amount *)
  | Wait of wait
  | Alu of string * int * operand * operand (* operation, destination *)
  | Loop of int * int option * op list (* the register that counts its iterations, if any *)
  | If of int * int * op list * op list (* the two branches *)
  | Outside of string (* an operation that the theorem does not know *)

type stmt =
  | Block of int list
  | For of int * stmt list
  | Cond of int * int * stmt list * stmt list

type form =
  | Vector of (int * int) list (* loop, iterations; outermost first *)
  | Flat of int
  | Element of int * (int * int) list

type dep = { producer : int; consumer : int; form : form }

type kind = For_loop | Then | Else

(* What trips follow from, operands before what is done with them: `$n - i` is Value n, Iteration i, Sub. *)
type term =
  | Number of int
  | Value of string (* one number throughout a run *)
  | Iteration of int (* of a loop around, from 0 *)
  | Add
  | Sub
  | Scale of int
  | Mod of int
  | Div of int (* rounds down *)

(* How often a body runs, as far as the kernel says; whether engines may disagree about it. *)
type loop = {
  name : string;
  kind : kind;
  least : int;
  most : int option;
  tied : term list; (* empty: within its bounds, trips are free *)
  divergent : bool;
}

type queue = { queue_name : string; engine : int; weight : int; split : bool }

(* How the machine computes; numbers have so many bits. *)
type arithmetic = { bits : int; wraps : bool; signed : bool }

(* What became of the kernel's accesses, as the writer says. *)
type accesses =
  | Derived (* the dependences were found from them *)
  | Held (* the dependences were written, and held against them *)
  | Ignored (* the dependences were written, and not held against them *)
  | Untouched (* no instruction is seen to touch anything, as guards of the accesses may never hold *)

(* One run, for `--replay`: how often the statement of a loop runs its body each time that an engine
   reaches it, and what happens in which order. *)
type step =
  | Operate of int (* an engine does what it does next, control left aside *)
  | Commit of int * int (* of a queue, the n-th oldest in flight *)
  | Retire of int

type run = { trips : (int * int * int list) list; (* engine, loop *) steps : step list }

type t = {
  arithmetic : arithmetic;
  kernel : string;
  strategy : string;
  accesses : accesses option; (* none: the kernel states none *)
  granted : string list; (* what these rest on, as the writer says *)
  engines : string array;
  queues : queue array;
  loops : loop array; (* the root first *)
  instrs : (string * int) array; (* name, queue *)
  body : stmt list;
  deps : dep array;
  waits_longer : int list; (* dependences for which the code does not remember enough *)
  never_asks : int list; (* dependences that ask for nothing in any run, as formulas tie trips *)
  semas : string array;
  code : op list array; (* by engine *)
  run : run option;
}

let is_branch c l = match c.loops.(l).kind with Then | Else -> true | For_loop -> false

open Sexp

exception Error of int * string

let fail place message = raise (Error (place, message))
let failf place format = Printf.ksprintf (fail place) format

(** Words, numbers, names *)

let shown = function
  | Word w -> Printable.quoted w
  | Text t -> "the text " ^ Printable.quoted t
  | List _ -> "a list"

let is_decimal w =
  let digits = String.length w > 0 && String.for_all (fun c -> '0' <= c && c <= '9') w in
  digits && (String.length w = 1 || w.[0] <> '0')

(* The largest number of a kernel (trips, distances, weights), and of code. *)
let most_of_kernel = (1 lsl 31) - 1
let most_of_code = (1 lsl 60) - 1

let int_up_to most place x =
  match x with
  | Word w when is_decimal w -> (
      match int_of_string_opt w with
      | Some n when n <= most -> n
      | _ -> failf place "%s is too large; the largest number here is %d" (shown x) most)
  | Word w when String.length w > 1 && is_decimal (String.sub w 1 (String.length w - 1)) && w.[0] = '-' ->
      failf place "expected a number from 0, found %s" (shown x)
  | x -> failf place "expected a number such as 0 or 17, found %s" (shown x)

let natural = int_up_to most_of_kernel

let positive_up_to most place x =
  let n = int_up_to most place x in
  if n = 0 then fail place "expected a number from 1, found '0'";
  n

let positive = positive_up_to most_of_kernel

(* A number that may be below zero. *)
let whole_up_to most place x =
  match x with
  | Word w when String.length w > 1 && w.[0] = '-' && w <> "-0" ->
      -int_up_to most place (Word (String.sub w 1 (String.length w - 1)))
  | x -> int_up_to most place x

let whole = whole_up_to most_of_kernel

(* The ids below `count`. *)
let allowed ~first count =
  if count <= first then "there are none"
  else if count = first + 1 then Printf.sprintf "the only one is %d" first
  else Printf.sprintf "they are %d to %d" first (count - 1)

let expect_id place what count x =
  let n = natural place x in
  if n >= count then failf place "there is no %s %d; %s" what n (allowed ~first:0 count);
  n

let expect_text place = function
  | Text t -> t
  | x -> failf place "expected quoted text, found %s" (shown x)

let expect_list place = function
  | List (place, elements) -> (place, elements)
  | x -> failf place "expected a list, found %s" (shown x)

(* Names by which messages tell things apart. *)
let distinct place what names =
  let seen = Hashtbl.create 64 in
  List.iter
    (fun name ->
      if Hashtbl.mem seen name then failf place "two %s are called %s" what (Printable.quoted name);
      Hashtbl.add seen name ())
    names

(* Ids, none of them twice. *)
let distinct_ids place what ids =
  let seen = Hashtbl.create 64 in
  List.iter
    (fun id ->
      if Hashtbl.mem seen id then failf place "%s %d stands here twice" what id;
      Hashtbl.add seen id ())
    ids

(* More registers than any machine has. *)
let most_registers = 1 lsl 20

let operand place x =
  match x with
  | Word w when String.length w > 1 && w.[0] = 'r' ->
      Reg (int_up_to (most_registers - 1) place (Word (String.sub w 1 (String.length w - 1))))
  | _ -> Num (int_up_to most_of_code place x)

let register place x =
  match operand place x with Reg r -> r | Num _ -> fail place "expected a register"

(** Code *)

type sizes = { num_loops : int; num_instrs : int; num_semas : int }

let read_wait n place sema threshold =
  { sema = expect_id place "semaphore" n.num_semas sema; threshold = operand place threshold }

let read_signal n place sema amount =
  (expect_id place "semaphore" n.num_semas sema, int_up_to most_of_code place amount)

let read_issue n place instr more =
  let wait, more =
    match more with
    | List (place, [ Word "wait"; s; t ]) :: more -> (Some (read_wait n place s t), more)
    | more -> (None, more)
  in
  let signal, more =
    match more with
    | List (place, [ Word "signal"; s; a ]) :: more -> (Some (read_signal n place s a), more)
    | more -> (None, more)
  in
  (match more with
  | [] -> ()
  | List (place, Word (("wait" | "signal") as w) :: _) :: _ ->
      failf place "an issue has one (wait S T) and then one (signal S N); this %s is one too many, out of its place or malformed" w
  | _ -> fail place "expected (wait S T) or (signal S N) in an issue");
  Issue (expect_id place "instruction" n.num_instrs instr, wait, signal)

let read_counter = function
  | List (place, [ Word "counter"; r ]) :: ops -> (Some (register place r), ops)
  | ops -> (None, ops)

(* A loop or branch of the kernel, not the kernel's own body. *)
let loop_below num_loops place x =
  let l = natural place x in
  if l = 0 then fail place "number 0 is the kernel itself, no loop in it";
  if l >= num_loops then
    failf place "there is no loop %d; %s, as 0 is the kernel itself" l (allowed ~first:1 num_loops);
  l

let loop_id n = loop_below n.num_loops

let resets =
  "resetting counters on the way (a bound 'max' on the trips, or --overflow=assume, avoids it)"

(* Operations that are known, and not to the theorem. *)
let read_outside n place elements =
  let sema s = ignore (expect_id place "semaphore" n.num_semas s) in
  match elements with
  | [ Word "signal"; s; a ] -> ignore (read_signal n place s a); Outside "'signal'"
  | [ Word "reset"; s; a ] -> sema s; ignore (positive place a); Outside "'reset'"
  | [ Word "drain" ] -> Outside "'drain'"
  | [ Word "barrier"; b ] -> ignore (natural place b); Outside "'barrier'"
  | [ Word "when"; Word "end" ] -> Outside resets
  | [ Word "when"; a ] -> ignore (operand place a); Outside resets
  | Word w :: _ -> failf place "expected an operation, found %s, unknown or with other operands" (shown (Word w))
  | _ -> fail place "expected an operation"

(* The most loops and branches around one another. *)
let deepest = 256

let inside place depth =
  if depth >= deepest then failf place "more than %d loops and branches around one another" deepest;
  depth + 1

let rec read_op n depth place x =
  let place, elements = expect_list place x in
  match elements with
  | Word "issue" :: instr :: more -> read_issue n place instr more
  | [ Word "wait"; s; t ] -> Wait (read_wait n place s t)
  | [ Word "move"; d; a ] -> Alu ("move", register place d, operand place a, Num 0)
  | [ Word (("add" | "sub" | "mul" | "min" | "gt") as o); d; a; b ] ->
      Alu (o, register place d, operand place a, operand place b)
  | Word "loop" :: l :: ops ->
      let counter, ops = read_counter ops in
      Loop (loop_id n place l, counter, List.map (read_op n (inside place depth) place) ops)
  | [ Word "if"; l; List (t, bt); List (f, bf) ] ->
      let l = loop_id n place l and depth = inside place depth in
      let bt = List.map (read_op n depth t) bt in
      If (l, l, bt, List.map (read_op n depth f) bf)
  | elements -> read_outside n place elements

let rec read_stmt n depth place x =
  let place, elements = expect_list place x in
  let id = loop_id n place in
  let body at xs = List.map (read_stmt n (inside place depth) at) xs in
  match elements with
  | Word "block" :: instrs -> Block (List.map (expect_id place "instruction" n.num_instrs) instrs)
  | Word "loop" :: l :: stmts -> For (id l, body place stmts)
  | [ Word "if"; t; f; List (pt, bt); List (pf, bf) ] ->
      let bt = body pt bt in
      Cond (id t, id f, bt, body pf bf)
  | Word w :: _ -> failf place "expected a statement, found %s" (shown (Word w))
  | _ -> fail place "expected a statement"

(** Dependences *)

let read_component n place x =
  match expect_list place x with
  | place, [ l; d ] ->
      let l = loop_id n place l and d = whole place d in
      if d = 0 then fail place "a distance of 0 is left out";
      (l, d)
  | place, _ -> fail place "expected (LOOP DISTANCE)"

let read_components n place xs =
  let components = List.map (read_component n place) xs in
  distinct_ids place "a distance on loop" (List.map fst components);
  components

let read_form n place x =
  match expect_list place x with
  | place, Word "distance" :: components -> Vector (read_components n place components)
  | place, [ Word "flat"; f ] -> Flat (natural place f)
  | place, Word "element" :: d :: components ->
      Element (whole place d, read_components n place components)
  | place, _ -> fail place "expected a distance"

let read_dep n place x =
  match expect_list place x with
  | place, [ p; c; form ] ->
      let id = expect_id place "instruction" n.num_instrs in
      { producer = id p; consumer = id c; form = read_form n place form }
  | place, _ -> fail place "expected (PRODUCER CONSUMER DISTANCE)"

(** Tables of the kernel *)

let read_kind place = function
  | Word "loop" -> For_loop
  | Word "then" -> Then
  | Word "else" -> Else
  | x -> failf place "expected loop, then or else, found %s" (shown x)

let read_trips kind = function
  | List (place, Word "trips" :: trips) :: rest -> (
      if kind <> For_loop then fail place "a branch has no trips";
      match List.map (natural place) trips with
      | [ least ] -> (least, None, rest)
      | [ least; most ] when least <= most -> (least, Some most, rest)
      | _ -> fail place "expected (trips LEAST) or (trips LEAST MOST)")
  | rest -> (0, (if kind = For_loop then None else Some 1), rest)

let read_term num_loops place x =
  let number = whole_up_to most_of_code place in
  match x with
  | List (place, [ Word "value"; v ]) -> Value (expect_text place v)
  | List (place, [ Word "iteration"; l ]) -> Iteration (loop_below num_loops place l)
  | List (_, [ Word "scale"; k ]) -> Scale (number k)
  | List (place, [ Word "mod"; k ]) -> Mod (positive_up_to most_of_code place k)
  | List (place, [ Word "div"; k ]) -> Div (positive_up_to most_of_code place k)
  | Word "add" -> Add
  | Word "sub" -> Sub
  | Word _ -> Number (number x)
  | x -> failf place "expected a term of a formula, found %s" (shown x)

(* How many numbers are left, with so many before. *)
let left_by place count = function
  | Number _ | Value _ | Iteration _ -> count + 1
  | Scale _ | Mod _ | Div _ when count >= 1 -> count
  | (Add | Sub) when count >= 2 -> count - 1
  | _ -> fail place "a term of the formula lacks its operands"

let read_tied num_loops kind = function
  | List (place, Word "tied" :: terms) :: rest ->
      if kind <> For_loop then fail place "a branch has no trips";
      let terms = List.map (read_term num_loops place) terms in
      if List.fold_left (left_by place) 0 terms <> 1 then
        fail place "the formula does not come to one number";
      (terms, rest)
  | rest -> ([], rest)

let read_loop num_loops place x =
  match expect_list place x with
  | place, name :: kind :: more ->
      let name = expect_text place name and kind = read_kind place kind in
      let least, most, more = read_trips kind more in
      let tied, more = read_tied num_loops kind more in
      let divergent =
        match more with
        | [] -> false
        | [ Word "divergent" ] -> true
        | x :: _ -> failf place "expected divergent or nothing more, found %s" (shown x)
      in
      { name; kind; least; most; tied; divergent }
  | place, _ -> fail place "expected (NAME loop|then|else)"

let read_queue engines place x =
  match expect_list place x with
  | place, [ name; e; w; Word (("whole" | "split") as c) ] ->
      { queue_name = expect_text place name;
        engine = expect_id place "engine" (Array.length engines) e;
        weight = positive place w;
        split = c = "split" }
  | place, _ -> fail place "expected (NAME ENGINE WEIGHT whole|split)"

let read_instr queues place x =
  match expect_list place x with
  | place, [ name; q ] ->
      (expect_text place name, expect_id place "queue" (Array.length queues) q)
  | place, _ -> fail place "expected (NAME QUEUE)"

let read_arithmetic = function
  | place, [ bits; Word (("wraps" | "saturates") as s); Word (("unsigned" | "signed") as c) ] ->
      let bits = natural place bits in
      if bits < 2 || bits > 32 then fail place "a number has 2 to 32 bits";
      { bits; wraps = s = "wraps"; signed = c = "signed" }
  | place, _ -> fail place "expected (arithmetic BITS wraps|saturates unsigned|signed)"

let read_accesses = function
  | _, [ Word "derived" ] -> Derived
  | _, [ Word "held" ] -> Held
  | _, [ Word "ignored" ] -> Ignored
  | _, [ Word "untouched" ] -> Untouched
  | place, _ -> fail place "expected (accesses derived|held|ignored|untouched)"

(* The code of all engines, each once and in their order. *)
let read_code n engines (place, xs) =
  let count = Array.length engines in
  let read e x =
    match expect_list place x with
    | place, id :: ops ->
        if expect_id place "engine" count id <> e then
          failf place "expected the code of engine %d; engines come in order, each once" e;
        List.map (read_op n 0 place) ops
    | place, [] -> fail place "expected an engine and its code"
  in
  if List.compare_length_with xs count > 0 then
    failf place "there is code for more than %d engines" count;
  let code = Array.of_list (List.mapi read xs) in
  if Array.length code < count then failf place "the code of engine %d is missing" (Array.length code);
  code

(** A run *)

let read_run_trips n num_engines place x =
  match expect_list place x with
  | place, e :: l :: trips ->
      ( expect_id place "engine" num_engines e,
        loop_id n place l,
        List.map (natural place) trips )
  | place, _ -> fail place "expected (ENGINE LOOP TRIPS...)"

let read_step num_engines num_queues place x =
  let queue place = expect_id place "queue" num_queues in
  match expect_list place x with
  | place, [ Word "operate"; e ] -> Operate (expect_id place "engine" num_engines e)
  | place, [ Word "commit"; q; n ] -> Commit (queue place q, natural place n)
  | place, [ Word "retire"; q ] -> Retire (queue place q)
  | place, _ -> fail place "expected (operate ENGINE), (commit QUEUE N) or (retire QUEUE)"

let read_run n num_engines num_queues = function
  | _, [ List (at_trips, Word "trips" :: trips); List (at_steps, Word "steps" :: steps) ] ->
      let trips = List.map (read_run_trips n num_engines at_trips) trips in
      distinct_ids at_trips "the trips of a loop, number"
        (List.map (fun (e, l, _) -> (e * n.num_loops) + l) trips);
      { trips; steps = List.map (read_step num_engines num_queues at_steps) steps }
  | place, _ -> fail place "expected (run (trips ...) (steps ...))"

(** All members *)

(* In their order; whether each has to be there. *)
let member_list =
  [ ("kernel", true); ("strategy", true); ("machine", true); ("accesses", false);
    ("granted", false); ("arithmetic", true); ("engines", true); ("queues", true);
    ("loops", true); ("instructions", true); ("body", true); ("dependences", true); ("waits-longer", false);
    ("never-asks", false); ("semaphores", true); ("code", true); ("run", false) ]

let check_order place table key =
  let rec later = function
    | (k, _) :: rest -> if k = key then rest else later rest
    | [] -> failf place "there is no member %s; there are %s" (Printable.quoted key)
              (String.concat ", " (List.map fst member_list))
  in
  let after = later member_list in
  if Hashtbl.mem table key then failf place "'%s' stands here twice" key;
  match List.find_opt (fun (k, _) -> Hashtbl.mem table k) after with
  | Some (k, _) -> failf place "'%s' is out of its place; it stands before '%s'" key k
  | None -> ()

(* Each member once, in order; where it stands, and what it holds. *)
let members place fields =
  let table = Hashtbl.create 16 in
  List.iter
    (fun x ->
      match x with
      | List (place, Word key :: rest) ->
          check_order place table key;
          Hashtbl.add table key (place, rest)
      | x -> failf place "expected (WORD ...), found %s" (shown x))
    fields;
  List.iter
    (fun (key, needed) ->
      if needed && not (Hashtbl.mem table key) then
        failf place "the certificate has no '%s'" key)
    member_list;
  Hashtbl.find_opt table

let one_text key = function
  | place, [ x ] -> expect_text place x
  | place, _ -> failf place "expected one text in '%s'" key

let texts (place, xs) = List.map (expect_text place) xs

let named what name_of place all =
  distinct place what (List.map name_of all);
  Array.of_list all

let list_of read (place, xs) = List.map (read place) xs

let most_engines = 64

let read_engines ((place, _) as member) =
  let engines = named "engines" Fun.id place (texts member) in
  if Array.length engines > most_engines then
    failf place "there are %d engines; %d are the most" (Array.length engines) most_engines;
  engines

let read_dep_ids deps (place, xs) =
  let ids = List.map (expect_id place "dependence" (Array.length deps)) xs in
  distinct_ids place "dependence" ids;
  ids

let root = { name = "the kernel"; kind = For_loop; least = 1; most = Some 1; tied = []; divergent = false }

let read_certificate place fields =
  let optional = members place fields in
  let member key = Option.get (optional key) in
  let table key what name_of read =
    named what name_of (fst (member key)) (list_of read (member key))
  in
  let engines = read_engines (member "engines") in
  let queues = table "queues" "queues" (fun q -> q.queue_name) (read_queue engines) in
  let num_loops = List.length (snd (member "loops")) + 1 in
  let loops = table "loops" "loops or branches" (fun l -> l.name) (read_loop num_loops) in
  let instrs = table "instructions" "instructions" fst (read_instr queues) in
  let semas = named "semaphores" Fun.id (fst (member "semaphores")) (texts (member "semaphores")) in
  let n =
    { num_loops;
      num_instrs = Array.length instrs;
      num_semas = Array.length semas }
  in
  let deps = Array.of_list (list_of (read_dep n) (member "dependences")) in
  ignore (one_text "machine" (member "machine"));
  { arithmetic = read_arithmetic (member "arithmetic");
    kernel = one_text "kernel" (member "kernel");
    strategy = one_text "strategy" (member "strategy");
    accesses = Option.map read_accesses (optional "accesses");
    granted = Option.fold ~none:[] ~some:texts (optional "granted");
    engines; queues;
    loops = Array.append [| root |] loops;
    instrs;
    body = list_of (read_stmt n 0) (member "body");
    deps;
    waits_longer = Option.fold ~none:[] ~some:(read_dep_ids deps) (optional "waits-longer");
    never_asks = Option.fold ~none:[] ~some:(read_dep_ids deps) (optional "never-asks");
    semas;
    code = read_code n engines (member "code");
    run = Option.map (read_run n (Array.length engines) (Array.length queues)) (optional "run") }

(** Numbers of loops in the order of the text

   The checker wants a body's number to be above those of all bodies that begin before it. In a
   certificate the two branches of a conditional may have numbers next to each other. *)

(* The new number of each loop, and for each then-branch its else-branch. *)
let text_order c =
  let number = Array.make (Array.length c.loops) (-1) and other = Hashtbl.create 16 in
  let next = ref 0 in
  let enter l =
    if l > 0 && number.(l) < 0 then (
      incr next;
      number.(l) <- !next)
  in
  let rec visit stmt =
    match stmt with
    | Block _ -> ()
    | For (l, b) -> enter l; List.iter visit b
    | Cond (t, f, bt, bf) ->
        Hashtbl.replace other t f;
        enter t;
        List.iter visit bt;
        enter f;
        List.iter visit bf
  in
  number.(0) <- 0;
  List.iter visit c.body;
  Array.iteri
    (fun l n ->
      if n < 0 then (
        incr next;
        number.(l) <- !next))
    number;
  (number, Hashtbl.find_opt other)

let renumbered c =
  let number, other = text_order c in
  let n l = number.(l) in
  let rec stmt = function
    | Block is -> Block is
    | For (l, b) -> For (n l, List.map stmt b)
    | Cond (t, f, bt, bf) -> Cond (n t, n f, List.map stmt bt, List.map stmt bf)
  in
  let rec op = function
    | Loop (l, counter, ops) -> Loop (n l, counter, List.map op ops)
    | If (t, _, bt, bf) ->
        let f = match other t with Some f -> f | None -> t in
        If (n t, n f, List.map op bt, List.map op bf)
    | x -> x
  in
  let components = List.map (fun (l, d) -> (n l, d)) in
  let form = function
    | Vector cs -> Vector (components cs)
    | Flat f -> Flat f
    | Element (d, cs) -> Element (d, components cs)
  in
  let run r = { r with trips = List.map (fun (e, l, ts) -> (e, n l, ts)) r.trips } in
  let term = function Iteration l -> Iteration (n l) | x -> x in
  let loops = Array.copy c.loops in
  Array.iteri (fun l x -> loops.(n l) <- { x with tied = List.map term x.tied }) c.loops;
  { c with
    loops;
    body = List.map stmt c.body;
    code = Array.map (List.map op) c.code;
    deps = Array.map (fun d -> { d with form = form d.form }) c.deps;
    run = Option.map run c.run }

(* All certificates of a text. *)
let read_all text =
  List.map
    (fun (place, x) ->
      match x with
      | List (_, Word "certificate" :: Word "1" :: fields) ->
          renumbered (read_certificate place fields)
      | List (_, Word "certificate" :: _) -> fail place "only version 1 is known"
      | List _ -> fail place "expected (certificate 1 ...)"
      | x -> failf place "expected (certificate 1 ...), found %s" (shown x))
    (Sexp.read_all text)
