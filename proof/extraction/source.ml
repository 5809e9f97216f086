(* source.ml -- a certificate as it is written

   The kernel as it was read and the code of each engine as it was emitted; docs/Certificate.md has
   the format. Nothing is judged here but whether the text can be read. *)

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

type queue = { queue_name : string; engine : int; weight : int; split : bool }

(* How the machine computes; numbers have so many bits. *)
type arithmetic = { bits : int; wraps : bool; signed : bool }

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
  machine : string;
  trusting : string option; (* what else the kernel rests on, for the verdict *)
  engines : string array;
  queues : queue array;
  loops : (string * kind) array; (* the root first *)
  instrs : (string * int) array; (* name, queue *)
  body : stmt list;
  deps : dep array;
  waits_longer : int list; (* dependences for which the code does not remember enough *)
  semas : string array;
  code : op list array; (* by engine *)
  run : run option;
}

open Sexp

exception Error of int * string

let fail line message = raise (Error (line, message))

let expect_int line = function
  | Word w -> (
      match int_of_string_opt w with
      | Some n when String.length w < 18 -> n
      | _ -> fail line (Printf.sprintf "expected a number, found '%s'" w))
  | _ -> fail line "expected a number"

let expect_id line what count x =
  let n = expect_int line x in
  if n < 0 || n >= count then
    fail line (Printf.sprintf "there is no %s %d; there are %d" what n count);
  n

let expect_natural line x =
  let n = expect_int line x in
  if n < 0 then fail line (Printf.sprintf "expected a number from 0, found %d" n);
  n

let expect_text line = function Text t -> t | _ -> fail line "expected quoted text"

let expect_list = function
  | List (line, elements) -> (line, elements)
  | Word w | Text w -> fail 0 (Printf.sprintf "expected a list, found '%s'" w)

let operand line x =
  match x with
  | Word w when String.length w > 1 && w.[0] = 'r' ->
      Reg (expect_natural line (Word (String.sub w 1 (String.length w - 1))))
  | _ -> Num (expect_natural line x)

let register line x =
  match operand line x with Reg r -> r | Num _ -> fail line "expected a register"

type sizes = { num_loops : int; num_instrs : int; num_semas : int }

let read_wait n line sema threshold =
  { sema = expect_id line "semaphore" n.num_semas sema; threshold = operand line threshold }

let read_issue n line instr more =
  let wait = ref None and signal = ref None in
  List.iter
    (fun x ->
      match x with
      | List (line, [ Word "wait"; s; t ]) -> wait := Some (read_wait n line s t)
      | List (line, [ Word "signal"; s; a ]) ->
          signal := Some (expect_id line "semaphore" n.num_semas s, expect_natural line a)
      | _ -> fail line "expected (wait S T) or (signal S N) in an issue")
    more;
  Issue (expect_id line "instruction" n.num_instrs instr, !wait, !signal)

let read_counter = function
  | List (line, [ Word "counter"; r ]) :: ops -> (Some (register line r), ops)
  | ops -> (None, ops)

let rec read_op n x =
  let line, elements = expect_list x in
  match elements with
  | Word "issue" :: instr :: more -> read_issue n line instr more
  | [ Word "wait"; s; t ] -> Wait (read_wait n line s t)
  | [ Word "move"; d; a ] -> Alu ("move", register line d, operand line a, Num 0)
  | [ Word (("add" | "sub" | "mul" | "min" | "gt") as o); d; a; b ] ->
      Alu (o, register line d, operand line a, operand line b)
  | Word "loop" :: l :: ops ->
      let counter, ops = read_counter ops in
      Loop (expect_id line "loop" n.num_loops l, counter, List.map (read_op n) ops)
  | [ Word "if"; l; t; f ] ->
      let ops x = List.map (read_op n) (snd (expect_list x)) in
      let l = expect_id line "loop" n.num_loops l in
      If (l, l, ops t, ops f)
  | Word "when" :: _ ->
      Outside
        "resetting counters on the way (a bound 'max' on the trips, or --overflow=assume, avoids it)"
  | Word (("signal" | "reset" | "drain" | "barrier") as o) :: _ -> Outside ("'" ^ o ^ "'")
  | _ -> fail line "expected an operation"

let rec read_stmt n x =
  let line, elements = expect_list x in
  let id = expect_id line "loop" n.num_loops in
  let body xs = List.map (read_stmt n) xs in
  match elements with
  | Word "block" :: instrs -> Block (List.map (expect_id line "instruction" n.num_instrs) instrs)
  | Word "loop" :: l :: stmts -> For (id l, body stmts)
  | [ Word "if"; t; f; List (_, bt); List (_, bf) ] -> Cond (id t, id f, body bt, body bf)
  | _ -> fail line "expected a statement"

let read_component n x =
  match expect_list x with
  | line, [ l; d ] -> (expect_id line "loop" n.num_loops l, expect_int line d)
  | line, _ -> fail line "expected (LOOP DISTANCE)"

let read_form n x =
  match expect_list x with
  | _, Word "distance" :: components -> Vector (List.map (read_component n) components)
  | line, [ Word "flat"; f ] -> Flat (expect_natural line f)
  | line, Word "element" :: d :: components ->
      Element (expect_int line d, List.map (read_component n) components)
  | line, _ -> fail line "expected a distance"

let read_dep n x =
  match expect_list x with
  | line, [ p; c; form ] ->
      let id = expect_id line "instruction" n.num_instrs in
      { producer = id p; consumer = id c; form = read_form n form }
  | line, _ -> fail line "expected (PRODUCER CONSUMER DISTANCE)"

let read_kind line = function
  | Word "loop" -> For_loop
  | Word "then" -> Then
  | Word "else" -> Else
  | _ -> fail line "expected loop, then or else"

let read_queue engines x =
  match expect_list x with
  | line, [ name; e; w; Word (("whole" | "split") as c) ] ->
      { queue_name = expect_text line name;
        engine = expect_id line "engine" (Array.length engines) e;
        weight = expect_natural line w;
        split = c = "split" }
  | line, _ -> fail line "expected (NAME ENGINE WEIGHT whole|split)"

let read_engine_code n num_engines code x =
  match expect_list x with
  | line, e :: ops ->
      let e = expect_id line "engine" num_engines e in
      if code.(e) <> [] then fail line (Printf.sprintf "engine %d has code already" e);
      code.(e) <- List.map (read_op n) ops
  | line, [] -> fail line "expected an engine and its code"

let read_trips n num_engines x =
  match expect_list x with
  | line, e :: l :: trips ->
      ( expect_id line "engine" num_engines e,
        expect_id line "loop" n.num_loops l,
        List.map (expect_natural line) trips )
  | line, _ -> fail line "expected (ENGINE LOOP TRIPS...)"

let read_step num_engines num_queues x =
  let queue line = expect_id line "queue" num_queues in
  match expect_list x with
  | line, [ Word "operate"; e ] -> Operate (expect_id line "engine" num_engines e)
  | line, [ Word "commit"; q; n ] -> Commit (queue line q, expect_natural line n)
  | line, [ Word "retire"; q ] -> Retire (queue line q)
  | line, _ -> fail line "expected (operate ENGINE), (commit QUEUE N) or (retire QUEUE)"

let read_run n num_engines num_queues = function
  | _, [ List (_, Word "trips" :: trips); List (_, Word "steps" :: steps) ] ->
      { trips = List.map (read_trips n num_engines) trips;
        steps = List.map (read_step num_engines num_queues) steps }
  | line, _ -> fail line "expected (run (trips ...) (steps ...))"

(* The members of a certificate, each once. *)
let members line fields =
  let table = Hashtbl.create 16 in
  List.iter
    (fun x ->
      match x with
      | List (line, Word key :: rest) ->
          if Hashtbl.mem table key then fail line (Printf.sprintf "'%s' stands here twice" key);
          Hashtbl.add table key (line, rest)
      | _ -> fail line "expected (WORD ...)")
    fields;
  Hashtbl.find_opt table

let required line member key =
  match member key with
  | Some x -> x
  | None -> fail line (Printf.sprintf "the certificate has no '%s'" key)

let one_text member key =
  match member key with
  | line, [ x ] -> expect_text line x
  | line, _ -> fail line (Printf.sprintf "expected one text in '%s'" key)

let texts member key =
  let line, xs = member key in
  Array.of_list (List.map (expect_text line) xs)

let array_of read member key = Array.of_list (List.map read (snd (member key)))

let read_arithmetic member =
  match member "arithmetic" with
  | line, [ bits; Word (("wraps" | "saturates") as s); Word (("unsigned" | "signed") as c) ] ->
      let bits = expect_natural line bits in
      if bits < 1 || bits > 60 then fail line "a number has 1 to 60 bits";
      { bits; wraps = s = "wraps"; signed = c = "signed" }
  | line, _ -> fail line "expected (arithmetic BITS wraps|saturates unsigned|signed)"

let read_certificate line fields =
  let optional = members line fields in
  let member = required line optional in
  let engines = texts member "engines" in
  let queues = array_of (read_queue engines) member "queues" in
  let loops =
    array_of
      (fun x ->
        match expect_list x with
        | line, [ name; kind ] -> (expect_text line name, read_kind line kind)
        | line, _ -> fail line "expected (NAME loop|then|else)")
      member "loops"
  in
  let instrs =
    array_of
      (fun x ->
        match expect_list x with
        | line, [ name; q ] ->
            (expect_text line name, expect_id line "queue" (Array.length queues) q)
        | line, _ -> fail line "expected (NAME QUEUE)")
      member "instructions"
  in
  let semas = texts member "semaphores" in
  let n =
    { num_loops = Array.length loops + 1;
      num_instrs = Array.length instrs;
      num_semas = Array.length semas }
  in
  let deps = array_of (read_dep n) member "dependences" in
  let code = Array.make (Array.length engines) [] in
  List.iter (read_engine_code n (Array.length engines) code) (snd (member "code"));
  { arithmetic = read_arithmetic member;
    kernel = one_text member "kernel";
    strategy = one_text member "strategy";
    machine = one_text member "machine";
    trusting =
      Option.map (fun found -> one_text (fun _ -> found) "trusting") (optional "trusting");
    engines; queues;
    loops = Array.append [| ("the kernel", For_loop) |] loops;
    instrs;
    body = List.map (read_stmt n) (snd (member "body"));
    deps;
    waits_longer =
      List.map (expect_id line "dependence" (Array.length deps))
        (Option.fold ~none:[] ~some:snd (optional "waits-longer"));
    semas; code;
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
  let loops = Array.copy c.loops in
  Array.iteri (fun l x -> loops.(n l) <- x) c.loops;
  { c with
    loops;
    body = List.map stmt c.body;
    code = Array.map (List.map op) c.code;
    deps = Array.map (fun d -> { d with form = form d.form }) c.deps;
    run = Option.map run c.run }

(* All certificates of a text. *)
let read_all text =
  List.map
    (fun x ->
      match x with
      | List (line, Word "certificate" :: Word "1" :: fields) -> renumbered (read_certificate line fields)
      | List (line, Word "certificate" :: _) -> fail line "only version 1 is known"
      | List (line, _) -> fail line "expected (certificate 1 ...)"
      | _ -> fail 1 "expected (certificate 1 ...)")
    (Sexp.read_all text)
