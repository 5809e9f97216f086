(* sexp.ml -- nested lists of words and quoted text

   What certificates are written in: `(word word "text" (word ...))`. A word is anything without
   spaces, brackets and quotes; in quoted text, a backslash stands before a quote and before itself.
   A line is kept with each list, for messages. *)

type t =
  | Word of string
  | Text of string
  | List of int * t list (* line *)

exception Error of int * string

type reader = { input : string; mutable at : int; mutable line : int }

let fail r message = raise (Error (r.line, message))

let rec skip_space r =
  if r.at < String.length r.input then
    match r.input.[r.at] with
    | '\n' -> r.line <- r.line + 1; r.at <- r.at + 1; skip_space r
    | ' ' | '\t' | '\r' -> r.at <- r.at + 1; skip_space r
    | _ -> ()

let is_word_char c =
  match c with '(' | ')' | '"' | ' ' | '\t' | '\r' | '\n' -> false | _ -> true

let read_word r =
  let start = r.at in
  while r.at < String.length r.input && is_word_char r.input.[r.at] do
    r.at <- r.at + 1
  done;
  Word (String.sub r.input start (r.at - start))

let read_text r =
  let text = Buffer.create 16 in
  let rec go () =
    if r.at >= String.length r.input then fail r "the text has no end";
    let c = r.input.[r.at] in
    r.at <- r.at + 1;
    match c with
    | '"' -> Text (Buffer.contents text)
    | '\\' when r.at < String.length r.input ->
        Buffer.add_char text r.input.[r.at];
        r.at <- r.at + 1;
        go ()
    | '\n' -> fail r "the text does not end on its line"
    | c -> Buffer.add_char text c; go ()
  in
  go ()

let rec read r depth =
  if depth > 2000 then fail r "lists are nested more than 2000 deep";
  match r.input.[r.at] with
  | '(' -> r.at <- r.at + 1; read_list r depth r.line []
  | ')' -> fail r "there is no list to close"
  | '"' -> r.at <- r.at + 1; read_text r
  | _ -> read_word r

and read_list r depth line elements =
  skip_space r;
  if r.at >= String.length r.input then raise (Error (line, "the list has no end"));
  if r.input.[r.at] = ')' then (
    r.at <- r.at + 1;
    List (line, List.rev elements))
  else
    let element = read r (depth + 1) in
    read_list r depth line (element :: elements)

(* All that stands in the input, in order. *)
let read_all input =
  let r = { input; at = 0; line = 1 } in
  let rec go all =
    skip_space r;
    if r.at >= String.length r.input then List.rev all else go (read r 0 :: all)
  in
  go []
