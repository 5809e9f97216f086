(* slips.ml -- a word that is not known is mostly a known one with a slip in it.

   A slip is a character that is inserted, dropped, replaced, or swapped with the next. *)

(* The least number of slips between two words; of the table, row i holds those of the first i characters. *)
let distance a b =
  let n = String.length a and m = String.length b in
  let rows = Array.init (n + 1) (fun i -> Array.init (m + 1) (fun j -> if i = 0 then j else i)) in
  for i = 1 to n do
    for j = 1 to m do
      let replaced = rows.(i - 1).(j - 1) + if a.[i - 1] = b.[j - 1] then 0 else 1 in
      rows.(i).(j) <- min replaced (1 + min rows.(i - 1).(j) rows.(i).(j - 1));
      if i > 1 && j > 1 && a.[i - 1] = b.[j - 2] && a.[i - 2] = b.[j - 1] then
        rows.(i).(j) <- min rows.(i).(j) (rows.(i - 2).(j - 2) + 1)
    done
  done;
  rows.(n).(m)

let longest = 256 (* what a person would write, and slip in *)

(* The nearest of the known words, if its slips are fewer than half of its characters. *)
let nearest word known =
  let consider (best, found) candidate =
    let slips = distance word candidate in
    let longer = max (String.length word) (String.length candidate) in
    if slips < best && (if slips = 1 then longer > 1 else 2 * slips < longer) then (slips, Some candidate)
    else (best, found)
  in
  if String.length word > longest then None
  else snd (List.fold_left consider ((String.length word / 3) + 2, None) known)
