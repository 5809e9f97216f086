(* main.ml -- tally-certify: is this code right for this kernel?

     tally-certify FILE...            a line for each certificate
     tally-certify --batch FILE...    only for those that are not certified, and the numbers
     tally-certify --replay FILE...   performs the run that each certificate holds

   "-" is standard input. Exit status: 0 all certified, 1 some rejected, 2 some not covered, or
   something could not be read. *)

type verdict =
  | Certified of string (* under which condition *)
  | Rejected of string
  | Not_covered of string

let plural n what = Printf.sprintf "%d %s%s" n what (if n = 1 then "" else "s")

(* On a machine that wraps around: the most entries of each body for which numbers are known to
   fit, as a power of two. *)
let most_entries (t : Assemble.t) =
  let limit = 1 lsl t.source.arithmetic.bits in
  let fits n = Certifier.code_fits_fast limit (fun _ -> 1 lsl n) t.cert in
  List.find_opt fits [ 24; 20; 16; 12; 8; 4; 0 ]

(* The engine whose numbers do not fit, even if each body is entered once. *)
let where_numbers_do_not_fit (t : Assemble.t) =
  let tables = Certifier.fast_tables t.cert in
  let limit = 1 lsl t.source.arithmetic.bits in
  let fits e = Certifier.fast_engine_fits limit (fun _ -> 1) t.cert tables e in
  match List.find_opt (fun e -> not (fits e)) (List.init t.cert.c_engines Fun.id) with
  | Some e -> Printf.sprintf "engine '%s': " (Assemble.engine_name t.source e)
  | None -> ""

let judge_numbers (t : Assemble.t) =
  let bits = t.source.arithmetic.bits in
  if not t.source.arithmetic.wraps then
    Certified (Printf.sprintf "while no number reaches 2^%d" bits)
  else
    match most_entries t with
    | Some n -> Certified (Printf.sprintf "while no body is entered more than 2^%d times" n)
    | None ->
        Not_covered
          (Printf.sprintf "%sit is not shown that no number goes below zero or reaches 2^%d"
             (where_numbers_do_not_fit t) bits)

let judge_code (t : Assemble.t) =
  if Certifier.certify_fast t.cert then judge_numbers t else Rejected (Explain.why t)

(* Code of which nothing is asked realises its kernel, and that says nothing about it. *)
let judge_needs (c : Source.t) = function
  | Certified _ when Array.length c.instrs = 0 ->
      Not_covered "nothing is compared: the kernel has no instruction"
  | Certified _ when Array.length c.deps = 0 && c.trusting = None ->
      Not_covered "nothing is compared: the kernel has no dependence"
  | verdict -> verdict

let judge (c : Source.t) =
  match Assemble.assemble c with
  | exception Assemble.Rejected reason -> (Rejected reason, 0)
  | exception Assemble.Not_covered reason -> (Not_covered reason, 0)
  | t -> (
      match judge_code t with
      | exception Failure _ -> (Not_covered "a number is too large to be computed with", 0)
      | verdict -> (judge_needs c verdict, Assemble.number_of_inexact t))

let name (c : Source.t) = Printf.sprintf "'%s' (%s)" c.kernel c.strategy

let report (c : Source.t) verdict inexact =
  match verdict with
  | Certified condition ->
      let extra =
        if inexact = 0 then ""
        else Printf.sprintf ", %d of them by more than they ask for" inexact
      in
      let trusting = match c.trusting with None -> "" | Some what -> "; trusting " ^ what in
      Printf.printf "certified: %s: %s, %s%s; %s%s\n" (name c)
        (plural (Array.length c.instrs) "instruction")
        (plural (Array.length c.deps) "dependence")
        extra condition trusting
  | Rejected reason -> Printf.printf "rejected: %s: %s\n" (name c) reason
  | Not_covered reason -> Printf.printf "not covered: %s: %s\n" (name c) reason

let read_input path =
  let channel = if path = "-" then stdin else open_in_bin path in
  let text = Buffer.create 65536 in
  let chunk = Bytes.create 65536 in
  let rec go () =
    match input channel chunk 0 (Bytes.length chunk) with
    | 0 -> ()
    | n -> Buffer.add_subbytes text chunk 0 n; go ()
  in
  go ();
  if path <> "-" then close_in channel;
  Buffer.contents text

let certificates path =
  match Source.read_all (read_input path) with
  | [] -> Error (Printf.sprintf "%s: holds no certificate" path)
  | cs -> Ok cs
  | exception Sexp.Error (line, message) | exception Source.Error (line, message) ->
      Error (Printf.sprintf "%s:%d: %s" path line message)
  | exception Sys_error message -> Error message

(* What became of the certificates: how many of each verdict, and how many could not be read. *)
type counts = {
  mutable certified : int;
  mutable rejected : int;
  mutable not_covered : int;
  mutable unread : int;
}

let count n = function
  | Certified _ -> n.certified <- n.certified + 1
  | Rejected _ -> n.rejected <- n.rejected + 1
  | Not_covered _ -> n.not_covered <- n.not_covered + 1

let for_each_certificate n action path =
  match certificates path with
  | Error message ->
      prerr_endline ("error: " ^ message);
      n.unread <- n.unread + 1
  | Ok cs -> List.iter action cs

let certify ~batch n (c : Source.t) =
  let verdict, inexact = judge c in
  count n verdict;
  match verdict with Certified _ when batch -> () | _ -> report c verdict inexact

let replay n (c : Source.t) =
  let not_performed verdict = count n verdict; report c verdict 0 in
  match (c.run, Assemble.assemble c) with
  | None, _ -> not_performed (Not_covered "the certificate holds no run")
  | Some run, t ->
      Printf.printf "replay: %s\n" (name c);
      if not (Replay.replay t run) then n.rejected <- n.rejected + 1
  | exception Assemble.Rejected reason -> not_performed (Rejected reason)
  | exception Assemble.Not_covered reason -> not_performed (Not_covered reason)

(* Facts are made anew all the time, and some live long: a large young generation saves copying. *)
let () = Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 200 }

let usage = "usage: tally-certify [--batch | --replay] FILE...\n"

let () =
  let arguments = List.tl (Array.to_list Sys.argv) in
  let options, files = List.partition (fun a -> String.length a > 1 && a.[0] = '-') arguments in
  if List.mem "--help" options then (print_string usage; exit 0);
  (match List.find_opt (fun o -> not (List.mem o [ "--batch"; "--replay" ])) options with
  | Some o -> Printf.eprintf "error: unknown option '%s'\n%s" o usage; exit 2
  | None -> ());
  if files = [] || List.length options > 1 then (prerr_string usage; exit 2);
  let n = { certified = 0; rejected = 0; not_covered = 0; unread = 0 } in
  let batch = options = [ "--batch" ] in
  let action = if options = [ "--replay" ] then replay n else certify ~batch n in
  List.iter (for_each_certificate n action) files;
  if batch then
    Printf.printf "%d certified, %d rejected, %d not covered\n" n.certified n.rejected n.not_covered;
  exit (if n.rejected > 0 then 1 else if n.not_covered + n.unread > 0 then 2 else 0)
