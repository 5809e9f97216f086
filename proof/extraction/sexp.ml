(* sexp.ml -- nested lists of words and quoted text

   What certificates are written in: `(word word "text" (word ...))`. A word is made of plain
   characters without spaces, brackets, quotes and backslashes. In quoted text, a backslash stands
   before a quote, before itself, and before the two hexadecimal digits of any other byte; no line
   ends and no control character stands in it.

   With each list goes its place, the number of bytes before it; `position` makes a line and a
   column of that. *)

type t =
  | Word of string
  | Text of string
  | List of int * t list (* place *)

exception Error of int * string

(* Two lists for each of the loops and branches that may be around one another, and some. *)
let deepest = 600

type reader = { input : string; mutable at : int }

let fail_at place message = raise (Error (place, message))
let fail r message = fail_at r.at message

(* Line and column of a place, from 1. *)
let position input place =
  let line = ref 1 and start = ref 0 in
  for i = 0 to min place (String.length input) - 1 do
    if input.[i] = '\n' then (
      incr line;
      start := i + 1)
  done;
  (!line, place - !start + 1)

let at_end r = r.at >= String.length r.input

let skip_space r =
  let is_space c = c = ' ' || c = '\t' || c = '\n' || c = '\r' in
  while (not (at_end r)) && is_space r.input.[r.at] do
    r.at <- r.at + 1
  done

let is_word_char c =
  match c with '(' | ')' | '"' | '\\' -> false | '!' .. '~' -> true | _ -> false

let read_word r =
  let start = r.at in
  while (not (at_end r)) && is_word_char r.input.[r.at] do
    r.at <- r.at + 1
  done;
  if r.at = start then
    fail r (Printf.sprintf "byte \\%02X stands outside of quoted text" (Char.code r.input.[start]));
  Word (String.sub r.input start (r.at - start))

let hex c =
  match c with
  | '0' .. '9' -> Some (Char.code c - Char.code '0')
  | 'A' .. 'F' -> Some (Char.code c - Char.code 'A' + 10)
  | _ -> None

(* What stands behind a backslash; moves behind that. *)
let escaped r =
  let digit i = if r.at + i < String.length r.input then hex r.input.[r.at + i] else None in
  match (r.input.[r.at], digit 0, digit 1) with
  | (('"' | '\\') as c), _, _ -> r.at <- r.at + 1; c
  | _, Some high, Some low -> r.at <- r.at + 2; Char.chr ((16 * high) + low)
  | _ -> fail r "a backslash stands before a quote, a backslash or two of 0-9 and A-F"

let read_text r =
  let text = Buffer.create 16 and start = r.at - 1 and closed = ref false in
  while not !closed do
    if at_end r then fail_at start "the text has no end";
    let c = r.input.[r.at] in
    r.at <- r.at + 1;
    match c with
    | '"' -> closed := true
    | '\\' when at_end r -> fail_at start "the text has no end"
    | '\\' -> Buffer.add_char text (escaped r)
    | '\n' -> fail_at start "the text does not end on its line"
    | '\000' .. '\031' | '\127' ->
        fail_at (r.at - 1)
          (Printf.sprintf "a control character in text is written \\%02X" (Char.code c))
    | c -> Buffer.add_char text c
  done;
  Text (Buffer.contents text)

let rec read r depth =
  if depth > deepest then fail r (Printf.sprintf "lists are nested more than %d deep" deepest);
  match r.input.[r.at] with
  | '(' -> r.at <- r.at + 1; read_list r depth (r.at - 1)
  | ')' -> fail r "there is no list to close"
  | '"' -> r.at <- r.at + 1; read_text r
  | _ -> read_word r

and read_list r depth place =
  let elements = ref [] and closed = ref false in
  while not !closed do
    skip_space r;
    if at_end r then fail_at place "the list has no end";
    if r.input.[r.at] = ')' then closed := true else elements := read r (depth + 1) :: !elements
  done;
  r.at <- r.at + 1;
  List (place, List.rev !elements)

(* All that stands in the input, in order, each with its place. *)
let read_all input =
  let r = { input; at = 0 } and all = ref [] in
  skip_space r;
  while not (at_end r) do
    let place = r.at in
    all := (place, read r 0) :: !all;
    skip_space r
  done;
  List.rev !all
