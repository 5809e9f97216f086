(* steps.ml -- sums and comparisons of the proved functions, counted

   What Coq extracts adds and compares numbers with these (Extraction.v). Each counts itself, so that a
   certificate that asks for too much ends early, and at the same step on every machine. What is ended has
   no result: like a sum that does not fit, it can only lead to "not covered". *)

exception Spent

let left = ref max_int

(* From here on, so many. *)
let allow n = left := n

let[@inline] spend n =
  left := !left - n;
  if !left < 0 then raise Spent

let[@inline] count () = spend 1

let[@inline] equal (a : int) b = count (); a = b
let[@inline] at_most (a : int) b = count (); a <= b
let[@inline] below (a : int) b = count (); a < b

let[@inline] larger (a : int) b = count (); if a < b then b else a
let[@inline] smaller (a : int) b = count (); if a < b then a else b

let[@inline] sum a b =
  count ();
  let c = a + b in
  if c < 0 then failwith "overflow" else c
