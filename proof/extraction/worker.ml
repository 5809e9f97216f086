(* worker.ml -- a process of its own for each file

   Whatever a file does to what reads and judges it, the process that prints and counts is not
   touched: a worker reads the file's text, and says of each certificate when it begins with it, lines of
   output, and the verdict. If it takes too long or ends, that is the verdict ("not covered"), and a new
   worker goes on behind that certificate.

   Signals that interrupt are for the process that prints: they do not reach a worker, which ends with it. *)

open Lists

type message =
  | Begin of string (* a certificate's name, as it is shown *)
  | Line of string
  | Done of Judge.verdict
  | Unreadable of int * string (* place; nothing follows *)
  | End

type limits = { seconds : int; mebibytes : int }

let send channel (m : message) =
  Marshal.to_channel channel m [];
  flush channel

(* Memory of the heap; looked at whenever it has been gone through. *)
let limit_memory mebibytes =
  let words = mebibytes * 1024 * 1024 / (Sys.word_size / 8) in
  ignore (Gc.create_alarm (fun () -> if (Gc.quick_stat ()).heap_words > words then raise Out_of_memory))

let work channel text ~skip action =
  match Source.read_all text with
  | exception (Sexp.Error (place, message) | Source.Error (place, message)) ->
      send channel (Unreadable (place, message))
  | exception Stack_overflow -> send channel (Unreadable (0, "it is too large for the stack of this process"))
  | exception Out_of_memory -> send channel (Unreadable (0, "it needs more memory than it may have"))
  | [] -> send channel (Unreadable (0, "it holds no certificate"))
  | certificates ->
      List.iteri (fun n c -> if n >= skip then action (send channel) c) certificates;
      send channel End

external end_with_parent : unit -> unit = "tally_end_with_parent"

let interrupts = [ Sys.sigint; Sys.sigterm ]

(* In the new process these signals stay blocked. *)
let fork () =
  let parent = Unix.getpid () in
  let before = Unix.sigprocmask SIG_BLOCK interrupts in
  match Unix.fork () with
  | 0 ->
      end_with_parent ();
      if Unix.getppid () <> parent then Unix._exit 3;
      0
  | process ->
      ignore (Unix.sigprocmask SIG_SETMASK before);
      process

(* A worker that begins behind `skip` certificates: its process and what it says. *)
let start limits text ~skip action =
  let from_worker, to_parent = Unix.pipe ~cloexec:true () in
  match fork () with
  | 0 ->
      Unix.close from_worker;
      let channel = Unix.out_channel_of_descr to_parent in
      (try
         limit_memory limits.mebibytes;
         work channel text ~skip action;
         Unix._exit 0
       with _ -> Unix._exit 3)
  | process ->
      Unix.close to_parent;
      (process, Unix.in_channel_of_descr from_worker)

let kill process = try Unix.kill process Sys.sigkill with Unix.Unix_error _ -> ()

let rec reap process =
  try ignore (Unix.waitpid [] process) with Unix.Unix_error (Unix.EINTR, _, _) -> reap process

(* Ends the process if it says nothing for so long. *)
let watch limits process late =
  Sys.set_signal Sys.sigalrm
    (Sys.Signal_handle (fun _ -> late := true; kill process));
  ignore (Unix.alarm limits.seconds)

let lost limits late =
  if late then Printf.sprintf "it is not decided within %d seconds" limits.seconds
  else "the checker has failed, or was ended"

(* The end of a file: what was read, or why it could not be. *)
type finish = All | Broken of int * string

(* Goes through a file; `say` gets the name of a certificate with each message about it. *)
let rec serve limits text ~skip action say =
  let process, channel = start limits text ~skip action in
  let late = ref false and name = ref None and count = ref skip in
  let next () : message option =
    watch limits process late;
    match Marshal.from_channel channel with
    | m -> Some m
    | exception _ -> None
  in
  let rec go () =
    match next () with
    | Some (Begin n) -> name := Some n; go ()
    | Some (Line _ as m) -> say !name m; go ()
    | Some (Done _ as m) -> say !name m; name := None; incr count; go ()
    | Some (Unreadable (place, message)) -> Some (Broken (place, message))
    | Some End -> Some All
    | None -> None
  in
  let finish = go () in
  ignore (Unix.alarm 0);
  kill process;
  reap process;
  close_in_noerr channel;
  match (finish, !name) with
  | Some finish, _ -> finish
  | None, None -> Broken (0, "it cannot be read: " ^ lost limits !late)
  | None, Some _ ->
      say !name (Done (Judge.Not_covered (lost limits !late)));
      serve limits text ~skip:(!count + 1) action say
