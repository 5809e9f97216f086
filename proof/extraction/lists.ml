(* lists.ml -- lists without recursion

   A certificate may hold a million operations, and the standard functions take a frame of the stack
   for each. These take none. Opened by every file here that handles lists. *)

module List = struct
  include Stdlib.List

  let append xs ys = match ys with [] -> xs | _ -> rev_append (rev xs) ys
  let map f xs = rev (rev_map f xs)
  let map2 f xs ys = rev (rev_map2 f xs ys)
  let concat_map f xs = rev (fold_left (fun all x -> rev_append (f x) all) [] xs)
  let concat xs = concat_map Fun.id xs
end

let ( @ ) = List.append
