(* explain.ml -- where the checker stopped

   Asks the parts of the checker, in its order, and says where the first one refuses. It only runs
   after the checker itself has said no. That the checker refuses is no fault of the code yet, unless
   the kernel itself is no kernel: whether there is one is for Witness to show. *)

open Lists
open Certifier
open Assemble

exception Because of string

(* The kernel waits for what comes later, or for itself. *)
exception Illegal of string

let because format = Printf.ksprintf (fun s -> raise (Because s)) format

(* Expressions are small, but not all fit a line. *)
let rec text c = function
  | EC n -> string_of_int n
  | ETot l -> Printf.sprintf "total(%s)" (loop_name c l)
  | ETotP l -> Printf.sprintf "(total(%s) - 1)" (loop_name c l)
  | EHat l -> Printf.sprintf "trip(%s)" (loop_name c l)
  | EHatP l -> Printf.sprintf "(trip(%s) - 1)" (loop_name c l)
  | EHist (s, m, p) ->
      Printf.sprintf "snapshot(%s, %d, total(%s))" (loop_name c s) m (loop_name c p)
  | EBin (o, a, b) -> operation c o (text c a) (text c b)

and operation _ o a b =
  match o with
  | AMove -> a
  | AAdd -> Printf.sprintf "(%s + %s)" a b
  | ASub -> Printf.sprintf "(%s - %s)" a b
  | AMul -> Printf.sprintf "%s*%s" a b
  | AMin -> Printf.sprintf "min(%s, %s)" a b
  | AGt -> Printf.sprintf "isGT(%s, %s)" a b

(* Empty at distance 0, which asks for nothing of any loop. *)
let distance_text c dist =
  let at carried =
    List.filter_map
      (fun (l, k) -> if k = 0 then None else Some (Printf.sprintf "'%s' = %d" (loop_name c l) k))
      carried
    |> String.concat ", "
  in
  match dist with
  | Carried (l, k) -> at [ (l, k) ]
  | Flat f -> Printf.sprintf "flat %d" f
  | Element (l, k, b, back, ahead) -> at [ (l, k); (b, back - ahead) ]

let dep_text c j d =
  let distance = distance_text c d.dist in
  Printf.sprintf "'%s' -> '%s'%s" (instr_name c d.prd) (instr_name c j)
    (if distance = "" then "" else " at " ^ distance)

(** The kernel *)

(* Ranks are those of an order of each block that keeps to engines and distance 0, if there is one: so
   only a dependence that goes against the text, or on a circle, has none at distance 0. *)
let legality t tables =
  let c = t.source in
  let ranks = Array.make (Array.length c.instrs) 0 in
  List.iter (fun (i, rank) -> ranks.(i) <- rank) t.cert.c_ranks;
  let opposite = opposites t.cert in
  let legal j d =
    distance_legal tables (Array.get ranks) (fast_is_branch opposite) (fast_are_opposite opposite)
      d.prd j d.dist
  in
  let refuse j d =
    let text = dep_text c j d in
    match d.dist with
    | Carried (_, 0) | Flat 0 ->
        raise
          (Illegal
             (Printf.sprintf
                "the kernel is not legal: dependence %s, a run that comes later or waits for this one"
                text))
    | _ -> because "the kernel is not seen to be legal: dependence %s" text
  in
  List.iter (fun (j, ds) -> List.iter (fun d -> if not (legal j d) then refuse j d) ds) t.cert.c_deps

(** The instructions *)

let erased t =
  if not (code_eqb (ecode instr_of t.cert.c_code) t.cert.c_spec) then
    because "the code does not issue the instructions in the kernel's order"

let signals t tables =
  let sites = map_of t.cert.c_sites in
  List.iter
    (fun (i, w) ->
      if not (fast_signal_ok tables sites i w) then
        because "semaphore '%s' is raised by '%s', and by instructions of another body or queue"
          (sema_name t.source w) (instr_name t.source i))
    t.cert.c_signals

(** One engine *)

(* What the walk looks things up in. *)
type lookup = { tables : tables; signals : instr -> sema option; counted : sema -> entry option }

let lookup_of t tables =
  let signals = get (map_of t.cert.c_signals) in
  { tables; signals; counted = get (entries tables signals t.cert) }

let known t xs =
  match xs with
  | [] -> "a value about which nothing is known"
  | x :: _ -> text t.source x

let refuse_wait t look e act a (w, o) j =
  let c = t.source in
  let on = sema_name c w in
  let candidates = List.filter (fun d -> look.signals d.prd = Some w) (look.tables.deps j) in
  match candidates with
  | [] ->
      because "engine '%s', instruction '%s': waits on semaphore '%s', which no dependence asks for"
        (engine_name c e) (instr_name c j) on
  | d :: _ ->
      because "engine '%s', instruction '%s': waits for '%s' >= %s, but dependence %s asks for %s"
        (engine_name c e) (instr_name c j) on
        (known t (ovals a o))
        (dep_text c j d)
        (text c (threshold look.tables look.signals act w d))

let refuse_issue t look e act done_ j =
  let c = t.source in
  let open_deps =
    List.filter
      (fun d -> not (dep_mem d done_ || never_owed look.tables act d))
      (look.tables.deps j)
  in
  match open_deps with
  | [] -> ()
  | d :: _ -> (
      match look.signals d.prd with
      | None ->
          because "engine '%s', instruction '%s': '%s' raises no semaphore, for dependence %s"
            (engine_name c e) (instr_name c j) (instr_name c d.prd) (dep_text c j d)
      | Some w ->
          because "engine '%s', instruction '%s': no wait for dependence %s, which asks for '%s' >= %s"
            (engine_name c e) (instr_name c j) (dep_text c j d) (sema_name c w)
            (text c (threshold look.tables look.signals act w d)))

let rec block t look e act a done_ = function
  | [] -> a
  | RegOp o :: rest -> block t look e act (exec_facts act o a) done_ rest
  | Wait w :: rest -> (
      match next_instr rest with
      | None ->
          because "engine '%s': a wait on '%s' stands before no instruction"
            (engine_name t.source e) (sema_name t.source (fst w))
      | Some j -> block t look e act a (passed t look e act a w j @ done_) rest)
  | Issue (j, w) :: rest ->
      let done_ =
        match w with Some w -> passed t look e act a w j @ done_ | None -> done_
      in
      refuse_issue t look e act done_ j;
      block t look e act a [] rest

and passed t look e act a w j =
  if fast_served look.tables look.signals look.counted act a w j = [] then
    refuse_wait t look e act a w j
  else fast_covered look.tables look.signals look.counted act a w j

let rec walk t look e about inv act a = function
  | CNil -> a
  | CBlock (f, rest) ->
      walk t look e about inv act (block t look e act a [] (nth e f [])) rest
  | CLoop (l, b, rest) ->
      let rs = touched e about b in
      let head = loop_head rs l (inner b) (at_head inv l) a in
      let a' = walk t look e about inv (l :: act) (enter look.tables.path rs l head) b in
      if not (all_known rs (at_head inv l) (values a')) then
        because "engine '%s': what its registers hold in '%s' was not found in %d passes"
          (engine_name t.source e) (loop_name t.source l) infer_passes;
      walk t look e about inv act (leave rs l head) rest
  | CCond (lt, lf, bt, bf, rest) ->
      let rt = touched e about bt and rf = touched e about bf in
      let at = walk t look e about inv (lt :: act) (enter look.tables.path rt lt a) bt in
      let af = walk t look e about inv (lf :: act) (enter look.tables.path rf lf a) bf in
      let after = joined (rt @ rf) lt lf (inner bt @ inner bf) a at af in
      walk t look e about inv act after rest

let engine t look e =
  let roles = nth e t.cert.c_roles [] in
  let inv = infer look.tables e roles t.cert.c_code in
  ignore (walk t look e (about_of roles) inv [ rOOT ] (at_start roles) t.cert.c_code)

type reason =
  | Fault of string
  | Unclear of string

let why t =
  let tables = fast_tables t.cert in
  try
    legality t tables;
    erased t;
    signals t tables;
    List.iter (engine t (lookup_of t tables)) (List.init t.cert.c_engines Fun.id);
    Unclear "the checker does not follow it"
  with
  | Because reason -> Unclear reason
  | Illegal reason -> Fault reason
