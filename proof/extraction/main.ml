(* main.ml -- tally-certify: is this code right for this kernel?

     tally-certify FILE...            a line for each certificate
     tally-certify --batch FILE...    only for those that are not certified, and the numbers
     tally-certify --replay FILE...   performs the run that each certificate holds

   "-" is standard input. Exit status: 0 all certified, 1 some rejected, 2 some not covered, or
   something could not be read, or it was interrupted. *)

open Lists

(* The largest text that is read, in bytes. *)
let largest_input = 1 lsl 30

exception Too_large

let read_input path =
  let channel = if path = "-" then stdin else open_in_bin path in
  let text = Buffer.create 65536 in
  let chunk = Bytes.create 65536 in
  let rec go () =
    match input channel chunk 0 (Bytes.length chunk) with
    | 0 -> ()
    | n ->
        if Buffer.length text + n > largest_input then raise Too_large;
        Buffer.add_subbytes text chunk 0 n;
        go ()
  in
  go ();
  if path <> "-" then close_in channel;
  Buffer.contents text

(* What became of the certificates: how many of each verdict, and how many files could not be read. *)
type counts = {
  mutable certified : int;
  mutable rejected : int;
  mutable not_covered : int;
  mutable unread : int;
}

let count n (verdict : Judge.verdict) =
  match verdict with
  | Certified _ -> n.certified <- n.certified + 1
  | Rejected _ -> n.rejected <- n.rejected + 1
  | Not_covered _ -> n.not_covered <- n.not_covered + 1

let name_of (c : Source.t) =
  Printf.sprintf "%s (%s)" (Printable.quoted c.kernel) (Printable.plain c.strategy)

let numbers n =
  Printf.sprintf "%d certified, %d rejected, %d not covered" n.certified n.rejected n.not_covered

let report name (verdict : Judge.verdict) =
  let word, what =
    match verdict with
    | Certified what -> ("certified", what)
    | Rejected what -> ("rejected", what)
    | Not_covered what -> ("not covered", what)
  in
  Printf.printf "%s: %s: %s\n%!" word name (Printable.cut what)

(** What a worker does with a certificate *)

let certify ~quick ~steps send c =
  send (Worker.Begin (name_of c));
  send (Worker.Done (Judge.judge ~quick ~steps c))

let replay ~steps send (c : Source.t) =
  send (Worker.Begin (name_of c));
  Steps.allow steps;
  let verdict : Judge.verdict =
    match (c.run, Assemble.assemble c) with
    | None, _ -> Not_covered "the certificate holds no run"
    | Some run, t ->
        send (Line (Printf.sprintf "replay: %s" (name_of c)));
        if Replay.replay ~steps t run (fun line -> send (Line line)) then Certified ""
        else Rejected ""
    | exception Assemble.Rejected reason -> Rejected reason
    | exception Assemble.Not_covered reason -> Not_covered reason
    | exception _ -> Not_covered "the checker has failed"
  in
  send (Done verdict)

(** The command line *)

(* [steps]: for each certificate; if none are given, the longer a file the more. *)
type mode = { batch : bool; replay : bool; quick : bool; steps : int option; limits : Worker.limits }

(* A line for each verdict that has something to say, and lines of replays. *)
let say mode n name (m : Worker.message) =
  let name = Option.value name ~default:"" in
  match m with
  | Line line -> print_endline line
  | Done verdict -> (
      count n verdict;
      match verdict with
      | Certified _ when mode.batch -> ()
      | Certified "" | Rejected "" -> ()
      | verdict -> report name verdict)
  | _ -> ()

let complain n place message =
  Messages.error place message;
  n.unread <- n.unread + 1

(* What the system says of a file begins with its name. *)
let without_name path message =
  let name = path ^ ": " in
  let length = String.length name in
  if String.length message > length && String.sub message 0 length = name then
    String.sub message length (String.length message - length)
  else message

let steps_at_least = 500_000_000
let steps_per_byte = 100

let action mode text =
  let usual = steps_at_least + steps_per_byte * String.length text in
  let steps = Option.value mode.steps ~default:usual in
  if mode.replay then replay ~steps else certify ~quick:mode.quick ~steps

let do_file mode n path =
  let file = if path = "-" then "<stdin>" else path in
  match read_input path with
  | exception Sys_error message ->
      complain n (In file) (Printable.plain (without_name path message))
  | exception Too_large ->
      complain n (In file) (Printf.sprintf "it is larger than %d bytes" largest_input)
  | text -> (
      match Worker.serve mode.limits text ~skip:0 (action mode text) (say mode n) with
      | All -> ()
      | Broken (place, message) ->
          let line, column = Sexp.position text place in
          complain n (At (file, line, column)) message)

let usage =
  "usage: tally-certify [--batch] [--quick] [--replay] [--steps=N] [--seconds=N] [--diagnostics=FORMAT] FILE..."

let help =
  usage
  ^ "\n\n\
     Decides about certificates (docs/guide/Certificate.md); - is standard input.\n\n\
    \  --batch      say only what is not certified, and the numbers\n\
    \  --quick      try no runs: what only a run can show to be wrong is not covered\n\
    \  --replay     perform the run that each certificate holds\n\
    \  --steps=N    give the checker at most N steps for each (500000000, and 100 for each byte\n\
    \               of its file); then it is not covered\n\
    \  --seconds=N  give each certificate at most N seconds (300); then it is not covered\n\
    \  --diagnostics=FORMAT\n\
    \               errors on stderr as text, or as json: one object a line\n\
    \               (docs/guide/json/Messages.md)\n\
    \  --version    say which version this is\n\n\
     Exit status: 0 all certified, 1 some rejected, 2 some not covered or not readable,\n\
     or interrupted.\n"

let fail message =
  Messages.error Nowhere message;
  Messages.note usage;
  exit 2

(* In digits alone: OCaml reads 0x10, 0b1 and 1_000, too. *)
let number_up_to most option n =
  let digits = String.for_all (fun c -> c >= '0' && c <= '9') n in
  match int_of_string_opt n with
  | Some k when digits && k > 0 && k <= most -> k
  | _ ->
      fail (Printf.sprintf "'%s' takes a number from 1 to %d, in digits, not %s" option most (Printable.quoted n))

let known = [ "--batch"; "--quick"; "--replay"; "--steps"; "--seconds"; "--diagnostics"; "--help"; "--version" ]

let fail_unknown o =
  let name = List.hd (String.split_on_char '=' o) in
  let meant =
    match Slips.nearest name known with
    | Some meant -> Printf.sprintf "; did you mean '%s'?" meant
    | None -> ""
  in
  fail (Printf.sprintf "unknown option %s%s" (Printable.quoted o) meant)

let option mode o =
  match String.split_on_char '=' o with
  | [ "--batch" ] -> { mode with batch = true }
  | [ "--quick" ] -> { mode with quick = true }
  | [ "--replay" ] -> { mode with replay = true }
  | [ "--help" ] -> print_string help; flush stdout; exit 0
  | [ "--version" ] -> print_endline ("tally-certify " ^ Version.text); exit 0
  | [ "--diagnostics"; ("text" | "json") ] -> mode (* was read before *)
  | "--diagnostics" :: _ -> fail "'--diagnostics' takes 'text' or 'json', as in '--diagnostics=json'"
  | [ "--steps"; n ] -> { mode with steps = Some (number_up_to 1_000_000_000_000 "--steps" n) }
  | [ "--seconds"; n ] ->
      { mode with limits = { mode.limits with seconds = number_up_to 1_000_000 "--seconds" n } }
  | _ -> fail_unknown o

(* What is not written yet stays so. Who starts this program may have it ignore the signal. *)
let on_interrupt n signal =
  let tell_and_end _ =
    Messages.error Nowhere ("interrupted; so far " ^ numbers n);
    Unix._exit 2
  in
  if Sys.signal signal (Signal_handle tell_and_end) = Signal_ignore then
    Sys.set_signal signal Signal_ignore

external raise_stack : int -> bool = "tally_raise_stack"

(* With a higher limit on the stack, where it was low; that counts from the start of a program. *)
let with_stack mebibytes =
  if raise_stack mebibytes then
    try Unix.execv Sys.executable_name Sys.argv with Unix.Unix_error _ -> ()

let run () =
  (* Facts are made anew all the time, and some live long: a large young generation saves copying. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 200 };
  let arguments = List.tl (Array.to_list Sys.argv) in
  let options, files = List.partition (fun a -> String.length a > 1 && a.[0] = '-') arguments in
  Messages.as_json := List.mem "--diagnostics=json" options;
  let start =
    { batch = false; replay = false; quick = false; steps = None;
      limits = { seconds = 300; mebibytes = 1536 } }
  in
  let mode = List.fold_left option start options in
  if files = [] then fail "no file is given";
  if mode.replay && (mode.batch || mode.quick) then
    fail "'--replay' decides nothing, and goes with no other option";
  let n = { certified = 0; rejected = 0; not_covered = 0; unread = 0 } in
  List.iter (on_interrupt n) Worker.interrupts;
  List.iter (do_file mode n) files;
  if mode.batch then
    print_endline (numbers n);
  flush stdout;
  if n.rejected > 0 then 1 else if n.not_covered + n.unread > 0 then 2 else 0

(* Where the verdicts cannot be written, there is no answer; what is left of them is not tried again. *)
let () =
  with_stack 2048;
  Sys.set_signal Sys.sigpipe Sys.Signal_ignore;
  match run () with
  | status -> exit status
  | exception Sys_error message ->
      Messages.error (In "<stdout>") (Printf.sprintf "cannot write: %s" (Printable.plain message));
      Unix._exit 2
