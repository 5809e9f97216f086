(* printable.ml -- text of a certificate, made fit for a line of output

   Names come from the input. Whatever they hold, they end where they seem to end, and on the line
   on which they began: only plain characters are shown, others as a backslash and their number in
   two hexadecimal digits, and a quote or a backslash behind a backslash. What is very long is
   cut. *)

let longest = 200

let shortened text =
  if String.length text <= longest then text else String.sub text 0 longest ^ "..."

let escaped quote text =
  let shown = Buffer.create (String.length text) in
  let show c =
    match c with
    | _ when c = quote || c = '\\' -> Buffer.add_char shown '\\'; Buffer.add_char shown c
    | ' ' .. '~' -> Buffer.add_char shown c
    | _ -> Buffer.add_string shown (Printf.sprintf "\\%02X" (Char.code c))
  in
  String.iter show (shortened text);
  Buffer.contents shown

let plain = escaped '\''

let quoted text = "'" ^ plain text ^ "'"

(* A sentence of the writer's own, which may quote names. *)
let sentence text = "\"" ^ escaped '"' text ^ "\""

(* A message that was put together from such text, cut where it is too long. *)
let most_of_a_line = 4000

let cut text =
  if String.length text <= most_of_a_line then text else String.sub text 0 most_of_a_line ^ "..."
