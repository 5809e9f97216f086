(* messages.ml -- errors on stderr, as text, or as a JSON object each (docs/guide/json/Messages.md) *)

let as_json = ref false

(* How many bytes a character of UTF-8 has that begins at [i]; 0 if there is none. *)
let width text i =
  let byte at = if at < String.length text then Char.code text.[at] else 0 in
  let next at low high = byte at >= low && byte at <= high in
  let tail from n = List.for_all (fun k -> next (from + k) 0x80 0xBF) (List.init n Fun.id) in
  match byte i with
  | b when b < 0x80 -> 1
  | b when b >= 0xC2 && b <= 0xDF && tail (i + 1) 1 -> 2
  | 0xE0 when next (i + 1) 0xA0 0xBF && tail (i + 2) 1 -> 3
  | 0xED when next (i + 1) 0x80 0x9F && tail (i + 2) 1 -> 3
  | b when b >= 0xE1 && b <= 0xEF && b <> 0xED && tail (i + 1) 2 -> 3
  | 0xF0 when next (i + 1) 0x90 0xBF && tail (i + 2) 2 -> 4
  | 0xF4 when next (i + 1) 0x80 0x8F && tail (i + 2) 2 -> 4
  | b when b >= 0xF1 && b <= 0xF3 && tail (i + 1) 3 -> 4
  | _ -> 0

(* In quotes; bytes that are no UTF-8 become U+FFFD. *)
let json_string text =
  let shown = Buffer.create (String.length text + 2) in
  let rec go i =
    if i < String.length text then
      match width text i with
      | 0 -> Buffer.add_string shown "\xEF\xBF\xBD"; go (i + 1)
      | 1 ->
          (match text.[i] with
          | ('"' | '\\') as c -> Buffer.add_char shown '\\'; Buffer.add_char shown c
          | c when c < ' ' -> Buffer.add_string shown (Printf.sprintf "\\u%04x" (Char.code c))
          | c -> Buffer.add_char shown c);
          go (i + 1)
      | n -> Buffer.add_string shown (String.sub text i n); go (i + n)
  in
  go 0;
  "\"" ^ Buffer.contents shown ^ "\""

(* What an error is about: nothing, a file, or a place in it, by line and column. *)
type place = Nowhere | In of string | At of string * int * int

let json_place = function
  | Nowhere -> "null"
  | In file -> Printf.sprintf {|{"file":%s,"line":null,"column":null}|} (json_string file)
  | At (file, line, column) ->
      Printf.sprintf {|{"file":%s,"line":%d,"column":%d}|} (json_string file) line column

let text_place = function
  | Nowhere -> ""
  | In file -> Printable.plain file ^ ": "
  | At (file, line, column) -> Printf.sprintf "%s:%d:%d: " (Printable.plain file) line column

let tell severity place message =
  if !as_json then
    Printf.eprintf "{\"severity\":\"%s\",\"place\":%s,\"message\":%s,\"notes\":[]}\n%!" severity
      (json_place place)
      (json_string (Printable.cut message))
  else Printf.eprintf "%s: %s%s\n%!" severity (text_place place) (Printable.cut message)

let error = tell "error"

let note = tell "note" Nowhere
