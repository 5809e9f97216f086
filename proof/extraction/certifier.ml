
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> int **)

let rec length = function
| [] -> 0
| _ :: l' -> Stdlib.Int.succ (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

module Nat =
 struct
  (** val sub : int -> int -> int **)

  let rec sub n m =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> n)
      (fun k ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> n)
        (fun l -> sub k l)
        m)
      n

  (** val divmod : int -> int -> int -> int -> int * int **)

  let rec divmod x y q u =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> (q, u))
      (fun x' ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> divmod x' y (Stdlib.Int.succ q) y)
        (fun u' -> divmod x' y q u')
        u)
      x
 end

(** val hd : 'a1 -> 'a1 list -> 'a1 **)

let hd default = function
| [] -> default
| x :: _ -> x

(** val nth : int -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n l default =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> default
              | x :: _ -> x)
    (fun m -> match l with
              | [] -> default
              | _ :: t -> nth m t default)
    n

(** val nth_error : 'a1 list -> int -> 'a1 option **)

let rec nth_error l n =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> None
              | x :: _ -> Some x)
    (fun n0 -> match l with
               | [] -> None
               | _ :: l0 -> nth_error l0 n0)
    n

(** val rev : 'a1 list -> 'a1 list **)

let rec rev = function
| [] -> []
| x :: l' -> app (rev l') (x :: [])

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t -> fold_left f t (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t -> f b (fold_right f a0 t)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

(** val firstn : int -> 'a1 list -> 'a1 list **)

let rec firstn n l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun n0 -> match l with
               | [] -> []
               | a :: l0 -> a :: (firstn n0 l0))
    n

(** val skipn : int -> 'a1 list -> 'a1 list **)

let rec skipn n l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> l)
    (fun n0 -> match l with
               | [] -> []
               | _ :: l0 -> skipn n0 l0)
    n

(** val seq : int -> int -> int list **)

let rec seq start len =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun len0 -> start :: (seq (Stdlib.Int.succ start) len0))
    len

type engine = int

type queue = int

type loopid = int

type instr = int

type sema = int

type reg = int

(** val rOOT : loopid **)

let rOOT =
  0

(** val upd : (int -> 'a1) -> int -> 'a1 -> int -> 'a1 **)

let upd f a b x =
  if Steps.equal x a then b else f x

type 'a code =
| CNil
| CBlock of 'a list list * 'a code
| CLoop of loopid * 'a code * 'a code
| CCond of loopid * loopid * 'a code * 'a code * 'a code

type 'a kont =
| KStop
| KLoop of loopid * int * 'a code * 'a code * 'a kont
| KCond of loopid * 'a code * 'a kont

type 'a pos = { cur : 'a list; cod : 'a code; kon : 'a kont }

(** val trips : 'a1 kont -> loopid -> int **)

let rec trips k x =
  match k with
  | KStop -> if Steps.equal x rOOT then Stdlib.Int.succ 0 else 0
  | KLoop (l, n, _, _, k0) -> if Steps.equal x l then n else trips k0 x
  | KCond (l, _, k0) ->
    if Steps.equal x l then Stdlib.Int.succ 0 else trips k0 x

(** val active : 'a1 kont -> loopid list **)

let rec active = function
| KStop -> rOOT :: []
| KLoop (l, _, _, _, k0) -> l :: (active k0)
| KCond (l, _, k0) -> l :: (active k0)

(** val vector : 'a1 kont -> int list **)

let vector k =
  rev (map (trips k) (active k))

(** val efilter : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list **)

let rec efilter g = function
| [] -> []
| x :: t ->
  (match g x with
   | Some y -> y :: (efilter g t)
   | None -> efilter g t)

(** val ecode : ('a1 -> 'a2 option) -> 'a1 code -> 'a2 code **)

let rec ecode g = function
| CNil -> CNil
| CBlock (f, r) -> CBlock ((map (efilter g) f), (ecode g r))
| CLoop (l, b, r) -> CLoop (l, (ecode g b), (ecode g r))
| CCond (t, f, bt, bf, r) ->
  CCond (t, f, (ecode g bt), (ecode g bf), (ecode g r))

type operand =
| OReg of reg
| OImm of int

type alu =
| AMove
| AAdd
| ASub
| AMul
| AMin
| AGt

type regop = { dst : reg; aop : alu; opa : operand; opb : operand }

type wait = sema * operand

type item =
| Issue of instr * wait option
| RegOp of regop
| Wait of wait

(** val instr_of : item -> instr option **)

let instr_of = function
| Issue (i, _) -> Some i
| _ -> None

type distance =
| Carried of loopid * int
| Flat of int
| Element of loopid * int * loopid * int * int

type dep = { prd : instr; dist : distance }

type tables = { home : (instr -> loopid); eng : (instr -> engine);
                que : (instr -> queue); weight : (queue -> int);
                path : (loopid -> loopid list);
                body : (loopid -> engine -> instr list);
                deps : (instr -> dep list) }

type counts = { tot : (loopid -> int);
                ent : (loopid -> int -> loopid -> int);
                log : (loopid * int list) list }

(** val counts0 : counts **)

let counts0 =
  { tot = (fun l -> if Steps.equal l rOOT then Stdlib.Int.succ 0 else 0);
    ent = (fun s i p ->
    if (&&) ((&&) (Steps.equal s rOOT) (Steps.equal i (Stdlib.Int.succ 0)))
         (Steps.equal p rOOT)
    then Stdlib.Int.succ 0
    else 0); log = ((rOOT, ((Stdlib.Int.succ 0) :: [])) :: []) }

(** val enter_counts : 'a1 kont -> loopid -> counts -> counts **)

let enter_counts k l c =
  { tot = (upd c.tot l (Steps.sum (c.tot l) (Stdlib.Int.succ 0))); ent =
    (fun s i p ->
    if (&&)
         ((&&) (existsb (Steps.equal s) (active k))
           (Steps.equal i
             (upd c.tot l (Steps.sum (c.tot l) (Stdlib.Int.succ 0)) s)))
         (Steps.equal p l)
    then Steps.sum (c.ent s i p) (Stdlib.Int.succ 0)
    else c.ent s i p); log = (app c.log ((l, (vector k)) :: [])) }

(** val count_event : 'a1 kont -> loopid option -> counts -> counts **)

let count_event k ev c =
  match ev with
  | Some l -> enter_counts k l c
  | None -> c

(** val sumH : (int -> loopid -> int) -> int -> loopid -> int **)

let rec sumH h n p =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> 0)
    (fun m -> Steps.sum (sumH h m p) (h n p))
    n

(** val past : counts -> loopid -> int -> loopid -> int **)

let past c s m p =
  sumH (c.ent s)
    ((fun (a : int) (b : int) -> if a < b then 0 else a - b) (c.tot s) m) p

(** val needed : (loopid -> int) -> counts -> loopid -> distance -> int **)

let needed h c p = function
| Carried (s, k) -> past c s k p
| Flat f ->
  (fun (a : int) (b : int) -> if a < b then 0 else a - b) (c.tot p) f
| Element (s, k, b, back, ahead) ->
  Steps.smaller
    (Steps.sum (past c s (Steps.sum k (Stdlib.Int.succ 0)) p)
      ((fun (a : int) (b : int) -> if a < b then 0 else a - b)
        (Steps.sum (h b) ahead) back)) (past c s k p)

(** val alu_nat : alu -> int -> int -> int **)

let alu_nat o a b =
  match o with
  | AMove -> a
  | AAdd -> Steps.sum a b
  | ASub -> (fun (a : int) (b : int) -> if a < b then 0 else a - b) a b
  | AMul ->
    (fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
      a b
  | AMin -> Steps.smaller a b
  | AGt -> if Steps.below b a then Stdlib.Int.succ 0 else 0

type flight = (instr * bool) list

(** val mark : flight -> int -> (instr * flight) option **)

let mark x n =
  match nth_error x n with
  | Some p ->
    let (i, b) = p in
    if b
    then None
    else Some (i,
           (app (firstn n x) ((i, true) :: (skipn (Stdlib.Int.succ n) x))))
  | None -> None

type event =
| Issued of instr
| Committed of instr
| Retired of instr

type ('d, 'c) sstate = { sds : 'd; scs : (engine -> 'c);
                         spos : (engine -> instr pos);
                         sifl : (queue -> flight); scnt : (engine -> counts);
                         src : (instr -> int) }

type ('d, 'c) istate = { ids : 'd; ics : (engine -> 'c);
                         ipos : (engine -> item pos);
                         iifl : (queue -> flight); isem : (sema -> int);
                         iregs : (engine -> reg -> int) }

(** val sinit : instr code -> 'a1 -> (engine -> 'a2) -> ('a1, 'a2) sstate **)

let sinit ps d0 c0 =
  { sds = d0; scs = c0; spos = (fun _ -> { cur = []; cod = ps; kon =
    KStop }); sifl = (fun _ -> []); scnt = (fun _ -> counts0); src =
    (fun _ -> 0) }

(** val iinit : item code -> 'a1 -> (engine -> 'a2) -> ('a1, 'a2) istate **)

let iinit pi d0 c0 =
  { ids = d0; ics = c0; ipos = (fun _ -> { cur = []; cod = pi; kon =
    KStop }); iifl = (fun _ -> []); isem = (fun _ -> 0); iregs = (fun _ _ ->
    0) }

type expr =
| EC of int
| ETot of loopid
| ETotP of loopid
| EHat of loopid
| EHatP of loopid
| EHist of loopid * int * loopid
| EBin of alu * expr * expr

type genv = { gtot : (loopid -> int); ghat : (loopid -> int);
              ghist : (loopid -> int -> loopid -> int) }

(** val den : expr -> genv -> int **)

let rec den x g =
  match x with
  | EC n -> n
  | ETot l -> g.gtot l
  | ETotP l ->
    (fun (a : int) (b : int) -> if a < b then 0 else a - b) (g.gtot l)
      (Stdlib.Int.succ 0)
  | EHat l -> g.ghat l
  | EHatP l ->
    (fun (a : int) (b : int) -> if a < b then 0 else a - b) (g.ghat l)
      (Stdlib.Int.succ 0)
  | EHist (s, m, p) -> g.ghist s m p
  | EBin (o, a, b) -> alu_nat o (den a g) (den b g)

(** val alu_eqb : alu -> alu -> bool **)

let alu_eqb a b =
  match a with
  | AMove -> (match b with
              | AMove -> true
              | _ -> false)
  | AAdd -> (match b with
             | AAdd -> true
             | _ -> false)
  | ASub -> (match b with
             | ASub -> true
             | _ -> false)
  | AMul -> (match b with
             | AMul -> true
             | _ -> false)
  | AMin -> (match b with
             | AMin -> true
             | _ -> false)
  | AGt -> (match b with
            | AGt -> true
            | _ -> false)

(** val expr_eqb : expr -> expr -> bool **)

let rec expr_eqb a b =
  match a with
  | EC n -> (match b with
             | EC m -> Steps.equal n m
             | _ -> false)
  | ETot l -> (match b with
               | ETot m -> Steps.equal l m
               | _ -> false)
  | ETotP l -> (match b with
                | ETotP m -> Steps.equal l m
                | _ -> false)
  | EHat l -> (match b with
               | EHat m -> Steps.equal l m
               | _ -> false)
  | EHatP l -> (match b with
                | EHatP m -> Steps.equal l m
                | _ -> false)
  | EHist (s, m, p) ->
    (match b with
     | EHist (s', m', p') ->
       (&&) ((&&) (Steps.equal s s') (Steps.equal m m')) (Steps.equal p p')
     | _ -> false)
  | EBin (o, x, y) ->
    (match b with
     | EBin (o', x', y') ->
       (&&) ((&&) (alu_eqb o o') (expr_eqb x x')) (expr_eqb y y')
     | _ -> false)

(** val inb : int -> int list -> bool **)

let inb l xs =
  existsb (Steps.equal l) xs

(** val lowest : loopid list -> expr -> int **)

let rec lowest act = function
| EC n -> n
| ETot l -> if inb l act then Stdlib.Int.succ 0 else 0
| EHat l -> if inb l act then Stdlib.Int.succ 0 else 0
| EBin (o, a, y) ->
  (match o with
   | AMul ->
     (match a with
      | EC n ->
        (fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
          n (lowest act y)
      | _ -> 0)
   | _ -> 0)
| _ -> 0

(** val add_const : loopid list -> expr -> int -> expr **)

let rec add_const act a n =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> a)
    (fun m ->
    match a with
    | ETotP l ->
      if inb l act then add_const act (ETot l) m else EBin (AAdd, a, (EC n))
    | EHatP l ->
      if inb l act then add_const act (EHat l) m else EBin (AAdd, a, (EC n))
    | EBin (o, x, b) ->
      (match o with
       | AAdd ->
         (match b with
          | EC k -> EBin (AAdd, x, (EC (Steps.sum k n)))
          | _ -> EBin (AAdd, a, (EC n)))
       | ASub ->
         (match b with
          | EC k ->
            if negb (Steps.at_most k (lowest act x))
            then EBin (AAdd, a, (EC n))
            else if Steps.below n k
                 then EBin (ASub, x, (EC
                        ((fun (a : int) (b : int) -> if a < b then 0 else a - b)
                          k n)))
                 else if Steps.equal n k
                      then x
                      else EBin (AAdd, x, (EC
                             ((fun (a : int) (b : int) -> if a < b then 0 else a - b)
                               n k)))
          | _ -> EBin (AAdd, a, (EC n)))
       | _ -> EBin (AAdd, a, (EC n)))
    | _ -> EBin (AAdd, a, (EC n)))
    n

(** val less : expr -> int -> expr **)

let less x n =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> EBin (ASub, x, (EC n)))
    (fun n0 ->
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ ->
      match x with
      | ETot l -> ETotP l
      | EHat l -> EHatP l
      | _ -> EBin (ASub, x, (EC n)))
      (fun _ -> EBin (ASub, x, (EC n)))
      n0)
    n

(** val sub_const : loopid list -> expr -> int -> expr **)

let sub_const act a n =
  if Steps.equal n 0
  then a
  else (match a with
        | ETotP l -> EBin (ASub, (ETot l), (EC (Stdlib.Int.succ n)))
        | EHatP l -> EBin (ASub, (EHat l), (EC (Stdlib.Int.succ n)))
        | EBin (o, x, b) ->
          (match o with
           | AAdd ->
             (match b with
              | EC k ->
                if Steps.at_most n k
                then add_const act x
                       ((fun (a : int) (b : int) -> if a < b then 0 else a - b)
                         k n)
                else less x
                       ((fun (a : int) (b : int) -> if a < b then 0 else a - b)
                         n k)
              | _ -> less a n)
           | ASub ->
             (match b with
              | EC k -> EBin (ASub, x, (EC (Steps.sum k n)))
              | _ -> less a n)
           | _ -> less a n)
        | _ -> less a n)

(** val scale : int -> expr -> expr **)

let rec scale n a =
  if Steps.equal n 0
  then EC 0
  else if Steps.equal n (Stdlib.Int.succ 0)
       then a
       else (match a with
             | ETotP l -> EBin (ASub, (EBin (AMul, (EC n), (ETot l))), (EC n))
             | EHatP l -> EBin (ASub, (EBin (AMul, (EC n), (EHat l))), (EC n))
             | EBin (o, x, x0) ->
               (match o with
                | AAdd ->
                  (match x0 with
                   | EC k ->
                     EBin (AAdd, (scale n x), (EC
                       ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
                         n k)))
                   | _ -> EBin (AMul, (EC n), a))
                | ASub ->
                  (match x0 with
                   | EC k ->
                     EBin (ASub, (scale n x), (EC
                       ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
                         n k)))
                   | _ -> EBin (AMul, (EC n), a))
                | AMul ->
                  (match x with
                   | EC k ->
                     EBin (AMul, (EC
                       ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
                         n k)), x0)
                   | _ -> EBin (AMul, (EC n), a))
                | _ -> EBin (AMul, (EC n), a))
             | _ -> EBin (AMul, (EC n), a))

(** val gt_const : loopid list -> expr -> int -> expr **)

let gt_const act a n =
  match a with
  | ETot l ->
    if (&&) (Steps.equal n 0) (inb l act)
    then EC (Stdlib.Int.succ 0)
    else EBin (AGt, a, (EC n))
  | ETotP l -> EBin (AGt, (ETot l), (EC (Stdlib.Int.succ n)))
  | EHat l ->
    if (&&) (Steps.equal n 0) (inb l act)
    then EC (Stdlib.Int.succ 0)
    else EBin (AGt, a, (EC n))
  | EHatP l -> EBin (AGt, (EHat l), (EC (Stdlib.Int.succ n)))
  | EBin (o, x, b) ->
    (match o with
     | AAdd ->
       (match b with
        | EC k ->
          if Steps.below n k
          then EC (Stdlib.Int.succ 0)
          else EBin (AGt, x, (EC
                 ((fun (a : int) (b : int) -> if a < b then 0 else a - b) n k)))
        | _ -> EBin (AGt, a, (EC n)))
     | ASub ->
       (match b with
        | EC k -> EBin (AGt, x, (EC (Steps.sum k n)))
        | _ -> EBin (AGt, a, (EC n)))
     | _ -> EBin (AGt, a, (EC n)))
  | _ -> EBin (AGt, a, (EC n))

(** val difference_of : expr -> (expr * int) option **)

let difference_of = function
| ETotP l -> Some ((ETot l), (Stdlib.Int.succ 0))
| EHatP l -> Some ((EHat l), (Stdlib.Int.succ 0))
| EBin (o, x, b0) ->
  (match o with
   | ASub -> (match b0 with
              | EC m -> Some (x, m)
              | _ -> None)
   | _ -> None)
| _ -> None

(** val factor_of : expr -> expr -> int option **)

let factor_of u y =
  if expr_eqb u y
  then Some (Stdlib.Int.succ 0)
  else (match y with
        | EBin (o, a, x) ->
          (match o with
           | AMul ->
             (match a with
              | EC n -> if expr_eqb u x then Some n else None
              | _ -> None)
           | _ -> None)
        | _ -> None)

(** val guards : expr -> expr -> bool **)

let guards a b =
  match a with
  | EBin (o, u, v) ->
    (match o with
     | AGt ->
       (||)
         ((||)
           (match b with
            | EBin (o0, x, y) ->
              (match o0 with
               | ASub -> (&&) (expr_eqb u x) (expr_eqb v y)
               | _ -> false)
            | _ -> false)
           (match v with
            | EC k ->
              (match difference_of b with
               | Some p ->
                 let (y, m) = p in
                 (match factor_of u y with
                  | Some n ->
                    Steps.at_most
                      ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
                        n k) m
                  | None -> false)
               | None -> false)
            | _ -> false))
         (match v with
          | EC n ->
            ((fun fO fS n -> if n=0 then fO () else fS (n-1))
               (fun _ -> expr_eqb u b)
               (fun _ -> false)
               n)
          | _ -> false)
     | _ -> false)
  | _ -> false

(** val is_mask : expr -> bool **)

let rec is_mask = function
| EBin (o, x, y) ->
  (match o with
   | AMul -> (&&) (is_mask x) (is_mask y)
   | AGt -> true
   | _ -> false)
| _ -> false

(** val mk_sub : loopid list -> expr -> expr -> expr **)

let mk_sub act a b = match b with
| EC n -> sub_const act a n
| EBin (o, x, y) ->
  (match o with
   | ASub -> if expr_eqb a x then EBin (AMin, x, y) else EBin (ASub, a, b)
   | AMin ->
     (match y with
      | EC n -> if expr_eqb a x then sub_const act a n else EBin (ASub, a, b)
      | _ -> EBin (ASub, a, b))
   | _ -> EBin (ASub, a, b))
| _ -> EBin (ASub, a, b)

(** val regroup : expr -> int -> alu -> expr -> expr -> expr option **)

let regroup h d o a b =
  match o with
  | ASub ->
    (match a with
     | EBin (o0, q, y) ->
       (match o0 with
        | AAdd ->
          (match b with
           | EC n ->
             if (&&) (expr_eqb y h) (Steps.at_most n d)
             then Some (EBin (AAdd, q, (less y n)))
             else None
           | _ -> None)
        | _ -> None)
     | _ -> None)
  | _ -> None

(** val regrouped : expr -> int -> expr -> expr **)

let rec regrouped h d x = match x with
| EBin (o, a, b) ->
  (match regroup h d o a b with
   | Some y -> y
   | None -> EBin (o, (regrouped h d a), (regrouped h d b)))
| _ -> x

(** val under_mask : expr -> expr -> expr **)

let rec under_mask m x =
  match m with
  | EBin (o, a, b) ->
    (match o with
     | AMul -> under_mask a (under_mask b x)
     | AGt -> (match b with
               | EC d -> regrouped a d x
               | _ -> x)
     | _ -> x)
  | _ -> x

(** val mk_masked : expr -> expr -> expr **)

let mk_masked m x = match x with
| EBin (o, m', y) ->
  (match o with
   | AMul ->
     if is_mask m'
     then EBin (AMul, (EBin (AMul, m, m')), (under_mask m y))
     else EBin (AMul, m, (under_mask m x))
   | _ -> EBin (AMul, m, (under_mask m x)))
| _ -> EBin (AMul, m, (under_mask m x))

(** val mk_mul : expr -> expr -> expr **)

let mk_mul a b =
  match a with
  | EC n -> scale n b
  | _ ->
    (match b with
     | EC n -> scale n a
     | _ ->
       if guards a b
       then b
       else if guards b a
            then a
            else if is_mask a
                 then if is_mask b then EBin (AMul, a, b) else mk_masked a b
                 else if is_mask b then mk_masked b a else EBin (AMul, a, b))

(** val bump_of : expr -> ((int * expr) * int) option **)

let bump_of = function
| EBin (o, x, b0) ->
  (match o with
   | AMul ->
     (match x with
      | EC n ->
        (match b0 with
         | EBin (o0, x0, b1) ->
           (match o0 with
            | AGt -> (match b1 with
                      | EC j -> Some ((n, x0), j)
                      | _ -> None)
            | _ -> None)
         | _ -> None)
      | _ -> None)
   | AGt ->
     (match b0 with
      | EC j -> Some (((Stdlib.Int.succ 0), x), j)
      | _ -> None)
   | _ -> None)
| _ -> None

(** val stepped : expr -> expr -> expr option **)

let stepped a b =
  match difference_of a with
  | Some p ->
    let (y, c) = p in
    (match bump_of b with
     | Some p0 ->
       let (p1, j) = p0 in
       let (n, x) = p1 in
       if (&&) (expr_eqb y (scale n x))
            (Steps.equal c
              ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
                n (Stdlib.Int.succ j)))
       then Some
              (if Steps.equal
                    ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
                      n j) 0
               then y
               else less y
                      ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
                        n j))
       else None
     | None -> None)
  | None -> None

(** val add_terms : loopid list -> expr -> expr -> expr **)

let add_terms act a b =
  match a with
  | EC n -> add_const act b n
  | EBin (o, x, b0) ->
    (match o with
     | AAdd ->
       (match b0 with
        | EC n ->
          (match b with
           | EC n0 -> add_const act a n0
           | EBin (o0, x0, b1) ->
             (match o0 with
              | AAdd ->
                (match b1 with
                 | EC n0 -> add_const act (EBin (AAdd, a, x0)) n0
                 | _ -> add_const act (EBin (AAdd, x, b)) n)
              | _ -> add_const act (EBin (AAdd, x, b)) n)
           | _ -> add_const act (EBin (AAdd, x, b)) n)
        | EBin (_, _, _) ->
          (match b with
           | EC n -> add_const act a n
           | EBin (o1, x0, b2) ->
             (match o1 with
              | AAdd ->
                (match b2 with
                 | EC n -> add_const act (EBin (AAdd, a, x0)) n
                 | _ -> EBin (AAdd, a, b))
              | _ -> EBin (AAdd, a, b))
           | _ -> EBin (AAdd, a, b))
        | _ ->
          (match b with
           | EC n -> add_const act a n
           | EBin (o0, x0, b1) ->
             (match o0 with
              | AAdd ->
                (match b1 with
                 | EC n -> add_const act (EBin (AAdd, a, x0)) n
                 | _ -> EBin (AAdd, a, b))
              | _ -> EBin (AAdd, a, b))
           | _ -> EBin (AAdd, a, b)))
     | _ ->
       (match b with
        | EC n -> add_const act a n
        | EBin (o0, x0, b1) ->
          (match o0 with
           | AAdd ->
             (match b1 with
              | EC n -> add_const act (EBin (AAdd, a, x0)) n
              | _ -> EBin (AAdd, a, b))
           | _ -> EBin (AAdd, a, b))
        | _ -> EBin (AAdd, a, b)))
  | _ ->
    (match b with
     | EC n -> add_const act a n
     | EBin (o, x, b0) ->
       (match o with
        | AAdd ->
          (match b0 with
           | EC n -> add_const act (EBin (AAdd, a, x)) n
           | _ -> EBin (AAdd, a, b))
        | _ -> EBin (AAdd, a, b))
     | _ -> EBin (AAdd, a, b))

(** val mk_add : loopid list -> expr -> expr -> expr **)

let mk_add act a b =
  match stepped a b with
  | Some y -> y
  | None -> add_terms act a b

(** val mk : loopid list -> alu -> expr -> expr -> expr **)

let mk act op a b =
  match op with
  | AMove -> a
  | AAdd ->
    (match a with
     | EC x ->
       (match b with
        | EC y -> EC (alu_nat op x y)
        | _ -> mk_add act a b)
     | _ -> mk_add act a b)
  | ASub ->
    (match a with
     | EC x ->
       (match b with
        | EC y -> EC (alu_nat op x y)
        | _ -> mk_sub act a b)
     | _ -> mk_sub act a b)
  | AMul ->
    (match a with
     | EC x -> (match b with
                | EC y -> EC (alu_nat op x y)
                | _ -> mk_mul a b)
     | _ -> mk_mul a b)
  | AMin ->
    (match a with
     | EC x ->
       (match b with
        | EC y -> EC (alu_nat op x y)
        | _ -> EBin (AMin, a, b))
     | _ -> EBin (AMin, a, b))
  | AGt ->
    (match a with
     | EC x ->
       (match b with
        | EC n -> EC (alu_nat op x n)
        | _ -> EBin (AGt, a, b))
     | _ -> (match b with
             | EC n -> gt_const act a n
             | _ -> EBin (AGt, a, b)))

(** val genv_of : counts -> (loopid -> int) -> genv **)

let genv_of c h =
  { gtot = c.tot; ghat = h; ghist = (past c) }

type 'b tree =
| Leaf
| Node of 'b option * 'b tree * 'b tree

(** val get : 'a1 tree -> int -> 'a1 option **)

let rec get t n =
  match t with
  | Leaf -> None
  | Node (here, evens, odds) ->
    ((fun fO fS n -> if n=0 then fO () else fS (n-1))
       (fun _ -> here)
       (fun m ->
       if Steps.equal
            ((fun (a : int) (b : int) -> if b = 0 then a else a mod b) m
              (Stdlib.Int.succ (Stdlib.Int.succ 0))) 0
       then get evens
              ((fun (a : int) (b : int) -> if b = 0 then 0 else a / b) m
                (Stdlib.Int.succ (Stdlib.Int.succ 0)))
       else get odds
              ((fun (a : int) (b : int) -> if b = 0 then 0 else a / b) m
                (Stdlib.Int.succ (Stdlib.Int.succ 0))))
       n)

(** val here_of : 'a1 tree -> 'a1 option **)

let here_of = function
| Leaf -> None
| Node (v, _, _) -> v

(** val evens_of : 'a1 tree -> 'a1 tree **)

let evens_of = function
| Leaf -> Leaf
| Node (_, l, _) -> l

(** val odds_of : 'a1 tree -> 'a1 tree **)

let odds_of = function
| Leaf -> Leaf
| Node (_, _, r) -> r

(** val set_fuel : int -> int -> 'a1 -> 'a1 tree -> 'a1 tree **)

let rec set_fuel fuel n b t =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> Node ((Some b), (evens_of t), (odds_of t)))
    (fun m ->
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> t)
      (fun fuel0 ->
      if Steps.equal
           ((fun (a : int) (b : int) -> if b = 0 then a else a mod b) m
             (Stdlib.Int.succ (Stdlib.Int.succ 0))) 0
      then Node ((here_of t),
             (set_fuel fuel0
               ((fun (a : int) (b : int) -> if b = 0 then 0 else a / b) m
                 (Stdlib.Int.succ (Stdlib.Int.succ 0))) b (evens_of t)),
             (odds_of t))
      else Node ((here_of t), (evens_of t),
             (set_fuel fuel0
               ((fun (a : int) (b : int) -> if b = 0 then 0 else a / b) m
                 (Stdlib.Int.succ (Stdlib.Int.succ 0))) b (odds_of t))))
      fuel)
    n

(** val set : int -> 'a1 -> 'a1 tree -> 'a1 tree **)

let set n b t =
  set_fuel n n b t

(** val get_or : 'a1 -> 'a1 tree -> int -> 'a1 **)

let get_or d t n =
  match get t n with
  | Some b -> b
  | None -> d

(** val index : (int * 'a1) list -> 'a1 list tree **)

let index x =
  fold_right (fun p t -> set (fst p) ((snd p) :: (get_or [] t (fst p))) t)
    Leaf x

(** val without_twins : unit tree -> int list -> int list **)

let rec without_twins seen = function
| [] -> []
| x :: t ->
  (match get seen x with
   | Some _ -> without_twins seen t
   | None -> x :: (without_twins (set x () seen) t))

type 'v known = { now : int; notes : (int * 'v) list tree;
                  changed : int tree; tellers : reg list tree }

(** val nothing : 'a1 known **)

let nothing =
  { now = 0; notes = Leaf; changed = Leaf; tellers = Leaf }

(** val current : ('a1 -> loopid list) -> 'a1 known -> (int * 'a1) -> bool **)

let current parts0 k f =
  forallb (fun l -> Steps.at_most (get_or 0 k.changed l) (fst f))
    (parts0 (snd f))

(** val reads : ('a1 -> loopid list) -> 'a1 known -> reg -> 'a1 list **)

let reads parts0 k r =
  map snd (filter (current parts0 k) (get_or [] k.notes r))

(** val write : 'a1 known -> reg -> 'a1 list -> 'a1 known **)

let write k r vs =
  { now = k.now; notes = (set r (map (fun x -> (k.now, x)) vs) k.notes);
    changed = k.changed; tellers = k.tellers }

(** val renew :
    'a1 known -> loopid list -> reg list -> (reg -> 'a1 list) -> 'a1 known **)

let renew k ls rs new0 =
  let t = Stdlib.Int.succ k.now in
  { now = t; notes =
  (fold_left (fun n r -> set r (map (fun x -> (t, x)) (new0 r)) n) rs k.notes);
  changed = (fold_left (fun c l -> set l t c) ls k.changed); tellers =
  k.tellers }

(** val name_teller : 'a1 known -> loopid -> reg option -> 'a1 known **)

let name_teller k l = function
| Some r0 ->
  { now = k.now; notes = k.notes; changed = k.changed; tellers =
    (set l (r0 :: (get_or [] k.tellers l)) k.tellers) }
| None -> k

(** val operand_registers : operand -> reg list **)

let operand_registers = function
| OReg r -> r :: []
| OImm _ -> []

(** val item_registers : item -> reg list **)

let item_registers = function
| Issue (_, w0) ->
  (match w0 with
   | Some w -> operand_registers (snd w)
   | None -> [])
| RegOp o ->
  o.dst :: (app (operand_registers o.opa) (operand_registers o.opb))
| Wait w -> operand_registers (snd w)

(** val mentions : engine -> item code -> reg list **)

let rec mentions e = function
| CNil -> []
| CBlock (f, r) -> app (flat_map item_registers (nth e f [])) (mentions e r)
| CLoop (_, b, r) -> app (mentions e b) (mentions e r)
| CCond (_, _, bt, bf, r) ->
  app (mentions e bt) (app (mentions e bf) (mentions e r))

(** val inner : item code -> loopid list **)

let rec inner = function
| CNil -> []
| CBlock (_, r) -> inner r
| CLoop (l, b, r) -> l :: (app (inner b) (inner r))
| CCond (lt, lf, bt, bf, r) ->
  lt :: (lf :: (app (inner bt) (app (inner bf) (inner r))))

(** val concerns : engine -> reg list tree -> item code -> reg list **)

let concerns e about c =
  app (mentions e c) (flat_map (get_or [] about) (inner c))

(** val touched : engine -> reg list tree -> item code -> reg list **)

let touched e about c =
  without_twins Leaf (concerns e about c)

type 'v guess = 'v list tree tree

(** val at_head : 'a1 guess -> loopid -> reg -> 'a1 list **)

let at_head g l r =
  get_or [] (get_or Leaf g l) r

(** val tabulate : reg list -> (reg -> 'a1 list) -> 'a1 list tree **)

let tabulate rs f =
  fold_left (fun t r -> match f r with
                        | [] -> t
                        | v :: l -> set r (v :: l) t) rs Leaf

(** val guess_size : 'a1 guess -> int **)

let rec guess_size g =
  let notes_in =
    let rec notes_in = function
    | Leaf -> 0
    | Node (h, a, b) ->
      Steps.sum
        (Steps.sum (match h with
                    | Some xs -> length xs
                    | None -> 0) (notes_in a)) (notes_in b)
    in notes_in
  in
  (match g with
   | Leaf -> 0
   | Node (h, a, b) ->
     Steps.sum
       (Steps.sum (match h with
                   | Some t -> notes_in t
                   | None -> 0) (guess_size a)) (guess_size b))

(** val parts : expr -> loopid list **)

let rec parts = function
| EC _ -> []
| ETot l -> l :: []
| ETotP l -> l :: []
| EHat l -> l :: []
| EHatP l -> l :: []
| EHist (s, m, p) -> if Steps.equal m 0 then s :: (p :: []) else s :: []
| EBin (_, a, b) -> app (parts a) (parts b)

type facts = expr known

(** val values : facts -> reg -> expr list **)

let values =
  reads parts

(** val has : expr list -> expr -> bool **)

let has xs x =
  existsb (expr_eqb x) xs

(** val ovals : facts -> operand -> expr list **)

let ovals a = function
| OReg r -> values a r
| OImm n -> (EC n) :: []

type roles = (reg * expr) list

(** val about_of : roles -> reg list tree **)

let about_of a =
  fold_left (fun t f ->
    match snd f with
    | ETot p -> set p ((fst f) :: (get_or [] t p)) t
    | _ -> t) a Leaf

(** val at_start : roles -> facts **)

let at_start a =
  { now = 0; notes =
    (fold_left (fun t f ->
      set (fst f) ((0, (snd f)) :: (get_or [] t (fst f))) t) a Leaf);
    changed = Leaf; tellers = (about_of a) }

(** val fact_limit : int **)

let fact_limit =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    0)))))))))))))))

(** val size : expr -> int **)

let rec size = function
| EBin (_, a, b) -> Stdlib.Int.succ (Steps.sum (size a) (size b))
| _ -> Stdlib.Int.succ 0

(** val insert : expr -> expr list -> expr list **)

let rec insert x xs = match xs with
| [] -> x :: []
| y :: t ->
  if Steps.at_most (size x) (size y) then x :: xs else y :: (insert x t)

(** val by_size : expr list -> expr list **)

let by_size xs =
  fold_right insert [] xs

(** val distinct : expr list -> expr list **)

let rec distinct = function
| [] -> []
| x :: t -> if existsb (expr_eqb x) t then distinct t else x :: (distinct t)

(** val also : loopid list -> facts -> int -> operand -> expr list **)

let also act a n = function
| OReg z ->
  let xs = values a z in
  if has xs (EC 0)
  then map (fun x -> mk act AAdd x (EC n)) xs
  else (EC n) :: []
| OImm _ -> (EC n) :: []

(** val results : loopid list -> regop -> facts -> expr list **)

let results act o a =
  match o.aop with
  | AMove ->
    (match o.opa with
     | OReg _ ->
       flat_map (fun a0 -> map (mk act o.aop a0) (ovals a o.opb))
         (ovals a o.opa)
     | OImm n -> also act a n o.opb)
  | _ ->
    flat_map (fun a0 -> map (mk act o.aop a0) (ovals a o.opb)) (ovals a o.opa)

(** val size_limit : int **)

let size_limit =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    0)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val is_small : expr -> bool **)

let is_small x =
  Steps.at_most (size x) size_limit

(** val exec_facts : loopid list -> regop -> facts -> facts **)

let exec_facts act o a =
  write a o.dst
    (firstn fact_limit
      (by_size (distinct (filter is_small (results act o a)))))

(** val after_entry : loopid -> expr -> expr option **)

let rec after_entry l x = match x with
| EC n -> Some (EC n)
| ETot y -> Some (if Steps.equal y l then ETotP l else ETot y)
| ETotP y ->
  Some
    (if Steps.equal y l
     then less (ETot l) (Stdlib.Int.succ (Stdlib.Int.succ 0))
     else x)
| EHat y -> Some (if Steps.equal y l then EHatP l else EHat y)
| EHatP y ->
  Some
    (if Steps.equal y l
     then less (EHat l) (Stdlib.Int.succ (Stdlib.Int.succ 0))
     else x)
| EHist (s, m, p) ->
  if Steps.equal m 0
  then None
  else Some
         (if Steps.equal s l
          then EHist (s, (Steps.sum m (Stdlib.Int.succ 0)), p)
          else EHist (s, m, p))
| EBin (o, a, b) ->
  (match after_entry l a with
   | Some a0 ->
     (match after_entry l b with
      | Some b0 -> Some (mk (l :: []) o a0 b0)
      | None -> None)
   | None -> None)

(** val survives_exit : loopid -> expr -> bool **)

let rec survives_exit l = function
| EHat y -> negb (Steps.equal y l)
| EHatP y -> negb (Steps.equal y l)
| EBin (_, a, b) -> (&&) (survives_exit l a) (survives_exit l b)
| _ -> true

(** val under : (loopid -> loopid list) -> loopid -> loopid -> bool **)

let under path0 l p =
  (&&) (inb l (path0 p)) (negb (Steps.equal p l))

(** val as_past : (loopid -> loopid list) -> loopid -> expr -> expr option **)

let rec as_past path0 l = function
| ETot p ->
  if under path0 l p then Some (EHist (l, (Stdlib.Int.succ 0), p)) else None
| ETotP p ->
  if under path0 l p
  then Some (less (EHist (l, (Stdlib.Int.succ 0), p)) (Stdlib.Int.succ 0))
  else None
| EBin (o, y, y0) ->
  (match o with
   | AAdd ->
     (match y0 with
      | EC n ->
        option_map (fun z -> EBin (AAdd, z, (EC n))) (as_past path0 l y)
      | _ -> None)
   | ASub ->
     (match y0 with
      | EC n ->
        option_map (fun z -> EBin (ASub, z, (EC n))) (as_past path0 l y)
      | _ -> None)
   | AMul ->
     (match y with
      | EC n ->
        option_map (fun x0 -> EBin (AMul, (EC n), x0)) (as_past path0 l y0)
      | _ -> None)
   | _ -> None)
| _ -> None

(** val entered1 : (loopid -> loopid list) -> loopid -> expr -> expr list **)

let entered1 path0 l x =
  app (match after_entry l x with
       | Some y -> y :: []
       | None -> [])
    (match as_past path0 l x with
     | Some y -> y :: []
     | None -> [])

(** val enter :
    (loopid -> loopid list) -> reg list -> loopid -> facts -> facts **)

let enter path0 rs l a =
  renew a (l :: []) rs (fun r -> flat_map (entered1 path0 l) (values a r))

(** val outside : loopid -> facts -> reg -> expr list **)

let outside l a r =
  filter (survives_exit l) (values a r)

(** val leave : reg list -> loopid -> facts -> facts **)

let leave rs l a =
  renew a (l :: []) rs (outside l a)

(** val before_loop : loopid -> facts -> reg -> expr list **)

let before_loop l a r =
  let xs = values a r in if has xs (EC 0) then app xs ((EHat l) :: []) else xs

(** val all_known :
    reg list -> (reg -> expr list) -> (reg -> expr list) -> bool **)

let all_known rs want have =
  forallb (fun r -> let ys = have r in forallb (has ys) (want r)) rs

(** val holds_both : loopid -> expr list -> bool **)

let holds_both l xs =
  (&&) (has xs (EHat l)) (has xs (ETot l))

(** val loop_head :
    reg list -> loopid -> loopid list -> (reg -> expr list) -> facts -> facts **)

let loop_head rs l ls h a =
  name_teller (renew a (l :: ls) rs h) l
    (find (fun r -> holds_both l (h r)) rs)

(** val joined :
    reg list -> loopid -> loopid -> loopid list -> facts -> facts -> facts ->
    facts **)

let joined rs lt lf ls a at af =
  renew a (lt :: (lf :: ls)) rs (fun r ->
    let ys = outside lf af r in filter (has ys) (outside lt at r))

(** val raises : (instr -> sema option) -> sema -> instr -> bool **)

let raises signals w i =
  match signals i with
  | Some v -> Steps.equal v w
  | None -> false

(** val group :
    tables -> (instr -> sema option) -> sema -> instr -> instr list **)

let group t signals w i =
  filter (raises signals w) (t.body (t.home i) (t.eng i))

(** val place : instr list -> instr -> int **)

let rec place xs i =
  match xs with
  | [] -> 0
  | y :: t ->
    if Steps.equal y i
    then Stdlib.Int.succ 0
    else ((fun fO fS n -> if n=0 then fO () else fS (n-1))
            (fun _ -> 0)
            (fun n0 -> Stdlib.Int.succ (Stdlib.Int.succ n0))
            (place t i))

(** val tot_of : int -> expr **)

let tot_of l =
  if Steps.equal l rOOT then EC (Stdlib.Int.succ 0) else ETot l

(** val hat_of : int -> expr **)

let hat_of l =
  if Steps.equal l rOOT then EC (Stdlib.Int.succ 0) else EHat l

(** val past_of : loopid list -> loopid -> int -> loopid -> expr **)

let past_of act s m p =
  if Steps.equal p s
  then mk act ASub (tot_of p) (EC m)
  else if Steps.equal m 0
       then tot_of p
       else if Steps.equal s rOOT then EC 0 else EHist (s, m, p)

(** val runs : loopid list -> loopid -> distance -> expr **)

let runs act p = function
| Carried (s, k) -> past_of act s k p
| Flat f -> mk act ASub (tot_of p) (EC f)
| Element (s, k, b, back, ahead) ->
  mk act AMin
    (mk act AAdd (past_of act s (Steps.sum k (Stdlib.Int.succ 0)) p)
      (mk act ASub (mk act AAdd (hat_of b) (EC ahead)) (EC back)))
    (past_of act s k p)

(** val mask : loopid list -> loopid -> distance -> expr **)

let mask act p = function
| Carried (s, k) -> mk act AGt (hat_of s) (EC k)
| Flat f -> mk act AGt (tot_of p) (EC f)
| Element (s, k, b, back, ahead) ->
  mk act AMul (mk act AGt (hat_of s) (EC k))
    (mk act AGt (mk act AAdd (hat_of b) (EC ahead)) (EC back))

(** val threshold :
    tables -> (instr -> sema option) -> loopid list -> sema -> dep -> expr **)

let threshold t signals act w d =
  let p = t.home d.prd in
  let n = length (group t signals w d.prd) in
  let k = place (group t signals w d.prd) d.prd in
  mk act AMul (mask act p d.dist)
    (mk act AMul (EC (t.weight (t.que d.prd)))
      (mk act ASub (mk act AMul (EC n) (runs act p d.dist)) (EC
        ((fun (a : int) (b : int) -> if a < b then 0 else a - b) n k))))

(** val nodupb : int list -> bool **)

let rec nodupb = function
| [] -> true
| x :: t -> (&&) (negb (inb x t)) (nodupb t)

(** val distance_ok : tables -> loopid list -> loopid -> distance -> bool **)

let distance_ok t act p = function
| Carried (s, _) -> (&&) (inb s act) (inb s (t.path p))
| Flat _ -> inb p act
| Element (s, _, b, _, _) ->
  (&&) ((&&) ((&&) (inb s act) (inb s (t.path p))) (negb (Steps.equal p s)))
    (inb b act)

(** val producer_ok :
    tables -> (instr -> sema option) -> sema -> dep -> bool **)

let producer_ok t signals w d =
  (&&) ((&&) (raises signals w d.prd) (nodupb (group t signals w d.prd)))
    (Steps.at_most (Stdlib.Int.succ 0)
      (place (group t signals w d.prd) d.prd))

(** val known_zero : facts -> expr -> loopid -> bool **)

let known_zero a x p =
  existsb (fun r -> (&&) (has (values a r) x) (has (values a r) (EC 0)))
    (get_or [] a.tellers p)

(** val one_trip : facts -> loopid -> bool **)

let one_trip a l =
  existsb (fun r -> holds_both l (values a r)) (get_or [] a.tellers l)

(** val informed : loopid list -> bool -> facts -> expr -> expr **)

let rec informed act totals a x = match x with
| EHat l -> if (&&) totals (one_trip a l) then ETot l else x
| EHatP l -> if (&&) totals (one_trip a l) then ETotP l else x
| EHist (_, _, p) -> if known_zero a x p then EC 0 else x
| EBin (o, a0, b) ->
  mk act o (informed act totals a a0) (informed act totals a b)
| _ -> x

(** val some_version :
    loopid list -> facts -> expr -> (expr -> bool) -> bool **)

let some_version act a x judge =
  (||) ((||) (judge x) (judge (informed act false a x)))
    (judge (informed act true a x))

(** val holds : loopid list -> facts -> operand -> expr -> bool **)

let holds act a o x =
  some_version act a x (has (ovals a o))

(** val count_le : tables -> expr -> expr -> bool **)

let count_le t a b =
  (||) (expr_eqb a b)
    (match a with
     | EHist (s, m, p) ->
       (match b with
        | ETot q -> (&&) (Steps.equal p q) (inb s (t.path p))
        | EHist (s', m', p') ->
          (&&) ((&&) (Steps.equal s s') (Steps.equal p p'))
            (Steps.at_most m' m)
        | _ -> false)
     | _ -> false)

(** val base_le : tables -> expr -> expr -> bool **)

let base_le t a b =
  (||) (count_le t a b)
    (match a with
     | EBin (o, _, c) -> (match o with
                          | AMin -> count_le t c b
                          | _ -> false)
     | _ -> false)

type linear = { factor : int; base : expr; plus : int; minus : int }

(** val scaled_of : expr -> int -> int -> linear **)

let scaled_of a p m =
  match a with
  | EBin (o, a0, x) ->
    (match o with
     | AMul ->
       (match a0 with
        | EC n -> { factor = n; base = x; plus = p; minus = m }
        | _ -> { factor = (Stdlib.Int.succ 0); base = a; plus = p; minus = m })
     | _ -> { factor = (Stdlib.Int.succ 0); base = a; plus = p; minus = m })
  | _ -> { factor = (Stdlib.Int.succ 0); base = a; plus = p; minus = m }

(** val linear_of : expr -> linear **)

let linear_of a = match a with
| EC n -> { factor = 0; base = (EC 0); plus = n; minus = 0 }
| ETotP l ->
  { factor = (Stdlib.Int.succ 0); base = (ETot l); plus = 0; minus =
    (Stdlib.Int.succ 0) }
| EHatP l ->
  { factor = (Stdlib.Int.succ 0); base = (EHat l); plus = 0; minus =
    (Stdlib.Int.succ 0) }
| EBin (o, x, b) ->
  (match o with
   | AAdd -> (match b with
              | EC k -> scaled_of x k 0
              | _ -> scaled_of a 0 0)
   | ASub -> (match b with
              | EC k -> scaled_of x 0 k
              | _ -> scaled_of a 0 0)
   | _ -> scaled_of a 0 0)
| _ -> scaled_of a 0 0

(** val linear_le : tables -> linear -> linear -> bool **)

let linear_le t a b =
  (&&)
    ((||) (Steps.equal a.factor 0)
      ((&&) (Steps.equal a.factor b.factor) (base_le t a.base b.base)))
    (Steps.at_most (Steps.sum a.plus b.minus) (Steps.sum b.plus a.minus))

(** val mask_le : expr -> expr -> bool **)

let rec mask_le a b =
  (||) (expr_eqb a b)
    (match a with
     | EBin (o, x, y) ->
       (match o with
        | AMul -> (&&) (is_mask y) (mask_le x b)
        | AGt ->
          (match y with
           | EC n ->
             (match b with
              | EBin (o0, y0, b0) ->
                (match o0 with
                 | AGt ->
                   (match b0 with
                    | EC m -> (&&) (expr_eqb x y0) (Steps.at_most m n)
                    | _ -> false)
                 | _ -> false)
              | _ -> false)
           | _ -> false)
        | _ -> false)
     | _ -> false)

(** val masked_of : expr -> expr option * expr **)

let masked_of a = match a with
| EBin (o, m, x) ->
  (match o with
   | AMul -> if is_mask m then ((Some m), x) else (None, a)
   | _ -> (None, a))
| _ -> (None, a)

(** val at_most : tables -> expr -> expr -> bool **)

let at_most t a b =
  (||) (expr_eqb a b)
    (let (o, x) = masked_of a in
     (match o with
      | Some m ->
        let (o0, y) = masked_of b in
        (match o0 with
         | Some m' ->
           (&&) (mask_le m m') (linear_le t (linear_of x) (linear_of y))
         | None -> linear_le t (linear_of x) (linear_of y))
      | None ->
        let (o0, y) = masked_of b in
        (match o0 with
         | Some _ -> false
         | None -> linear_le t (linear_of x) (linear_of y))))

(** val wait_covers :
    tables -> (instr -> sema option) -> loopid list -> facts -> wait -> dep
    -> bool **)

let wait_covers t signals act a w d =
  (&&)
    ((&&) (distance_ok t act (t.home d.prd) d.dist)
      (producer_ok t signals (fst w) d))
    (some_version act a (threshold t signals act (fst w) d) (fun x ->
      existsb (at_most t x) (ovals a (snd w))))

(** val never_owed : tables -> loopid list -> dep -> bool **)

let never_owed t act d =
  (&&) (distance_ok t act (t.home d.prd) d.dist)
    (expr_eqb (mask act (t.home d.prd) d.dist) (EC 0))

(** val wait_ok :
    tables -> (instr -> sema option) -> loopid list -> facts -> wait -> dep
    -> bool **)

let wait_ok t signals act a w d =
  (&&)
    ((&&) (distance_ok t act (t.home d.prd) d.dist)
      (producer_ok t signals (fst w) d))
    (holds act a (snd w) (threshold t signals act (fst w) d))

(** val distance_eqb : distance -> distance -> bool **)

let distance_eqb a b =
  match a with
  | Carried (s, k) ->
    (match b with
     | Carried (s', k') -> (&&) (Steps.equal s s') (Steps.equal k k')
     | _ -> false)
  | Flat f -> (match b with
               | Flat f' -> Steps.equal f f'
               | _ -> false)
  | Element (s, k, b0, x, y) ->
    (match b with
     | Element (s', k', b', x', y') ->
       (&&)
         ((&&)
           ((&&) ((&&) (Steps.equal s s') (Steps.equal k k'))
             (Steps.equal b0 b')) (Steps.equal x x')) (Steps.equal y y')
     | _ -> false)

(** val dep_eqb : dep -> dep -> bool **)

let dep_eqb a b =
  (&&) (Steps.equal a.prd b.prd) (distance_eqb a.dist b.dist)

(** val dep_mem : dep -> dep list -> bool **)

let dep_mem d xs =
  existsb (dep_eqb d) xs

(** val next_instr : item list -> instr option **)

let rec next_instr = function
| [] -> None
| i :: t -> (match i with
             | Issue (j, _) -> Some j
             | _ -> next_instr t)

(** val served :
    tables -> (instr -> sema option) -> loopid list -> facts -> wait -> instr
    -> dep list **)

let served t signals act a w j =
  filter (wait_ok t signals act a w) (t.deps j)

(** val covered :
    tables -> (instr -> sema option) -> loopid list -> facts -> wait -> instr
    -> dep list **)

let covered t signals act a w j =
  filter (wait_covers t signals act a w) (t.deps j)

(** val all_waited : tables -> loopid list -> instr -> dep list -> bool **)

let all_waited t act j dn =
  forallb (fun d -> (||) (dep_mem d dn) (never_owed t act d)) (t.deps j)

(** val items :
    tables -> (instr -> sema option) -> loopid list -> facts -> dep list ->
    item list -> facts option **)

let rec items t signals act a dn = function
| [] -> Some a
| i :: t0 ->
  (match i with
   | Issue (j, w0) ->
     (match w0 with
      | Some w ->
        (match served t signals act a w j with
         | [] -> None
         | _ :: _ ->
           if all_waited t act j (app (covered t signals act a w j) dn)
           then items t signals act a [] t0
           else None)
      | None ->
        if all_waited t act j dn then items t signals act a [] t0 else None)
   | RegOp o -> items t signals act (exec_facts act o a) dn t0
   | Wait w ->
     (match next_instr t0 with
      | Some j ->
        (match served t signals act a w j with
         | [] -> None
         | _ :: _ ->
           items t signals act a (app (covered t signals act a w j) dn) t0)
      | None -> None))

(** val chk :
    tables -> (instr -> sema option) -> engine -> reg list tree -> expr guess
    -> loopid list -> facts -> item code -> facts option **)

let rec chk t signals e about inv act a = function
| CNil -> Some a
| CBlock (f, r) ->
  (match items t signals act a [] (nth e f []) with
   | Some a' -> chk t signals e about inv act a' r
   | None -> None)
| CLoop (l, b, r) ->
  let rs = touched e about b in
  let h = at_head inv l in
  let a0 = loop_head rs l (inner b) h a in
  if all_known rs h (before_loop l a)
  then (match chk t signals e about inv (l :: act) (enter t.path rs l a0) b with
        | Some a' ->
          if all_known rs h (values a')
          then chk t signals e about inv act (leave rs l a0) r
          else None
        | None -> None)
  else None
| CCond (lt, lf, bt, bf, r) ->
  let rt = touched e about bt in
  let rf = touched e about bf in
  (match chk t signals e about inv (lt :: act) (enter t.path rt lt a) bt with
   | Some at ->
     (match chk t signals e about inv (lf :: act) (enter t.path rf lf a) bf with
      | Some af ->
        chk t signals e about inv act
          (joined (app rt rf) lt lf (app (inner bt) (inner bf)) a at af) r
      | None -> None)
   | None -> None)

(** val add_written : unit tree -> item -> unit tree **)

let add_written w = function
| RegOp o -> set o.dst () w
| _ -> w

(** val written : engine -> unit tree -> item code -> unit tree **)

let rec written e w = function
| CNil -> w
| CBlock (f, r) -> written e (fold_left add_written (nth e f []) w) r
| CLoop (_, b, r) -> written e (written e w b) r
| CCond (_, _, bt, bf, r) -> written e (written e (written e w bt) bf) r

(** val is_counter : expr -> bool **)

let rec is_counter = function
| EC _ -> false
| EBin (o, y, y0) ->
  (match o with
   | AAdd -> (match y0 with
              | EC _ -> is_counter y
              | _ -> false)
   | ASub -> (match y0 with
              | EC _ -> is_counter y
              | _ -> false)
   | AMul -> (match y with
              | EC _ -> is_counter y0
              | _ -> false)
   | _ -> false)
| _ -> true

(** val may_last : unit tree -> reg -> expr -> bool **)

let may_last w r x =
  match get w r with
  | Some _ -> is_counter x
  | None -> true

(** val item_facts : loopid list -> facts -> item -> facts **)

let item_facts act a = function
| RegOp o -> exec_facts act o a
| _ -> a

(** val candidates :
    expr guess -> unit tree -> loopid -> facts -> reg -> expr list **)

let candidates g w l a r =
  let xs = filter (may_last w r) (before_loop l a r) in
  (match get g l with
   | Some h -> filter (has xs) (get_or [] h r)
   | None -> xs)

(** val infer_pass :
    tables -> engine -> reg list tree -> expr guess -> loopid list -> facts
    -> expr guess -> item code -> facts * expr guess **)

let rec infer_pass t e about g act a n = function
| CNil -> (a, n)
| CBlock (f, r) ->
  infer_pass t e about g act (fold_left (item_facts act) (nth e f []) a) n r
| CLoop (l, b, r) ->
  let rs = touched e about b in
  let ls = inner b in
  let h = get_or [] (tabulate rs (candidates g (written e Leaf b) l a)) in
  let (a', n') =
    infer_pass t e about g (l :: act)
      (enter t.path rs l (loop_head rs l ls h a)) n b
  in
  let kept = tabulate rs (fun r0 -> filter (has (values a' r0)) (h r0)) in
  let a0 = loop_head rs l ls (get_or [] kept) a in
  infer_pass t e about g act (leave rs l a0) (set l kept n') r
| CCond (lt, lf, bt, bf, r) ->
  let rt = touched e about bt in
  let rf = touched e about bf in
  let (at, n1) =
    infer_pass t e about g (lt :: act) (enter t.path rt lt a) n bt
  in
  let (af, n2) =
    infer_pass t e about g (lf :: act) (enter t.path rf lf a) n1 bf
  in
  infer_pass t e about g act
    (joined (app rt rf) lt lf (app (inner bt) (inner bf)) a at af) n2 r

(** val infer_upto :
    tables -> engine -> reg list tree -> int -> facts -> item code -> expr
    guess -> expr guess **)

let rec infer_upto t e about n a c g =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> g)
    (fun n0 ->
    let g' = snd (infer_pass t e about g (rOOT :: []) a Leaf c) in
    if Steps.equal (guess_size g') (guess_size g)
    then g'
    else infer_upto t e about n0 a c g')
    n

(** val infer_passes : int **)

let infer_passes =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    0)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val infer : tables -> engine -> roles -> item code -> expr guess **)

let infer t e a c =
  infer_upto t e (about_of a) infer_passes (at_start a) c Leaf

(** val direct : engine -> instr code -> instr list **)

let rec direct e = function
| CNil -> []
| CBlock (f, r) -> app (nth e f []) (direct e r)
| CLoop (_, _, r) -> direct e r
| CCond (_, _, _, _, r) -> direct e r

(** val stream_ranked : (instr -> int) -> int -> instr list -> bool **)

let rec stream_ranked rank lo = function
| [] -> true
| x :: t ->
  (&&) (Steps.at_most lo (rank x))
    (stream_ranked rank (Stdlib.Int.succ (rank x)) t)

(** val block_end : (instr -> int) -> int -> instr list list -> int **)

let block_end rank lo f =
  fold_left (fun n xs ->
    fold_left (fun n0 x -> Steps.larger n0 (Stdlib.Int.succ (rank x))) xs n)
    f lo

(** val ranked : (instr -> int) -> int -> instr code -> int option **)

let rec ranked rank lo = function
| CNil -> Some lo
| CBlock (f, r) ->
  if forallb (stream_ranked rank lo) f
  then ranked rank (block_end rank lo f) r
  else None
| CLoop (_, b, r) ->
  (match ranked rank lo b with
   | Some m -> ranked rank m r
   | None -> None)
| CCond (_, _, bt, bf, r) ->
  (match ranked rank lo bt with
   | Some m ->
     (match ranked rank m bf with
      | Some m' -> ranked rank m' r
      | None -> None)
   | None -> None)

(** val common : tables -> loopid -> loopid -> loopid **)

let common t a b =
  match find (fun l -> inb l (t.path b)) (t.path a) with
  | Some l -> l
  | None -> rOOT

(** val in_opposite_branches :
    tables -> (loopid -> loopid -> bool) -> loopid -> loopid -> bool **)

let in_opposite_branches t opposite a b =
  existsb (fun x -> existsb (opposite x) (t.path b)) (t.path a)

(** val before : (instr -> int) -> instr -> instr -> bool **)

let before rank i j =
  Steps.below (rank i) (rank j)

(** val zero_legal :
    tables -> (instr -> int) -> (loopid -> loopid -> bool) -> instr -> instr
    -> loopid -> bool **)

let zero_legal t rank opposite p j s =
  let hp = t.home p in
  let hj = t.home j in
  (&&) (Steps.equal s (common t hj hp))
    ((||) (before rank p j)
      ((&&) (negb (inb hp (t.path hj)))
        (in_opposite_branches t opposite hj hp)))

(** val distance_legal :
    tables -> (instr -> int) -> (loopid -> bool) -> (loopid -> loopid ->
    bool) -> instr -> instr -> distance -> bool **)

let distance_legal t rank branch opposite p j x =
  let hp = t.home p in
  let hj = t.home j in
  (match x with
   | Carried (s, k) ->
     (&&) ((&&) (inb s (t.path hj)) (inb s (t.path hp)))
       (if Steps.equal k 0
        then zero_legal t rank opposite p j s
        else negb (branch s))
   | Flat f ->
     (&&) (Steps.equal hp hj)
       (if Steps.equal f 0 then before rank p j else true)
   | Element (s, k, b, back, ahead) ->
     (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&)
               ((&&) ((&&) (inb s (t.path hj)) (inb s (t.path hp)))
                 (negb (Steps.equal hp s))) (inb b (t.path hj)))
             (inb s (t.path b))) (negb (Steps.equal b s))) (negb (branch b)))
       (if Steps.equal k 0
        then if inb hp (t.path hj)
             then (&&) (Steps.equal b hp) (Steps.below ahead back)
             else (&&) (Steps.equal s (common t hj hp)) (before rank p j)
        else negb (branch s)))

(** val is_placed : tables -> instr -> bool **)

let is_placed t i =
  inb i (t.body (t.home i) (t.eng i))

(** val deps_legal :
    tables -> (instr -> int) -> (loopid -> bool) -> (loopid -> loopid ->
    bool) -> instr -> bool **)

let deps_legal t rank branch opposite j =
  forallb (fun d ->
    (&&) (is_placed t d.prd)
      (distance_legal t rank branch opposite d.prd j d.dist)) (t.deps j)

(** val numbered : int -> instr code -> int option **)

let rec numbered lo = function
| CNil -> Some lo
| CBlock (_, r) -> numbered lo r
| CLoop (l, b, r) ->
  if Steps.at_most lo l
  then (match numbered (Stdlib.Int.succ l) b with
        | Some m -> numbered m r
        | None -> None)
  else None
| CCond (t, f, bt, bf, r) ->
  if Steps.at_most lo t
  then (match numbered (Stdlib.Int.succ t) bt with
        | Some m ->
          if Steps.at_most m f
          then (match numbered (Stdlib.Int.succ f) bf with
                | Some m' -> numbered m' r
                | None -> None)
          else None
        | None -> None)
  else None

type site = { s_body : loopid; s_engine : engine; s_queue : queue }

(** val genv0 : genv **)

let genv0 =
  genv_of counts0 (fun l ->
    if Steps.equal l rOOT then Stdlib.Int.succ 0 else 0)

(** val true_at_start : roles -> bool **)

let true_at_start a =
  forallb (fun f -> Steps.equal (den (snd f) genv0) 0) a

type 'b table = (int * 'b) list

(** val lookup : int -> 'a1 table -> 'a1 option **)

let lookup k x =
  option_map snd (find (fun p -> Steps.equal (fst p) k) x)

(** val lookup_or : 'a1 -> int -> 'a1 table -> 'a1 **)

let lookup_or d k x =
  match lookup k x with
  | Some b -> b
  | None -> d

type cert = { c_engines : int; c_spec : instr code; c_code : item code;
              c_deps : dep list table; c_queues : queue table;
              c_weights : int table; c_signals : sema table;
              c_sites : site table; c_roles : roles list; c_ranks : int table }

(** val bodies :
    loopid list -> instr code -> (loopid list * instr code) table **)

let rec bodies act = function
| CNil -> []
| CBlock (_, r) -> bodies act r
| CLoop (l, b, r) ->
  (l, ((l :: act), b)) :: (app (bodies (l :: act) b) (bodies act r))
| CCond (t, f, bt, bf, r) ->
  (t, ((t :: act), bt)) :: ((f, ((f :: act),
    bf)) :: (app (bodies (t :: act) bt)
              (app (bodies (f :: act) bf) (bodies act r))))

(** val all_bodies : instr code -> (loopid list * instr code) table **)

let all_bodies c =
  (rOOT, ((rOOT :: []), c)) :: (bodies (rOOT :: []) c)

(** val places : int -> instr code -> (loopid * engine) table **)

let places n c =
  flat_map (fun pat ->
    let (l, y) = pat in
    let (_, b) = y in
    flat_map (fun e -> map (fun i -> (i, (l, e))) (direct e b)) (seq 0 n))
    (all_bodies c)

(** val tables_of : cert -> tables **)

let tables_of c =
  let bs = all_bodies c.c_spec in
  let ps = places c.c_engines c.c_spec in
  { home = (fun i -> fst (lookup_or (rOOT, 0) i ps)); eng = (fun i ->
  snd (lookup_or (rOOT, 0) i ps)); que = (fun i -> lookup_or 0 i c.c_queues);
  weight = (fun q -> lookup_or (Stdlib.Int.succ 0) q c.c_weights); path =
  (fun l -> fst (lookup_or ([], CNil) l bs)); body = (fun l e ->
  if Steps.below e c.c_engines
  then direct e (snd (lookup_or ([], CNil) l bs))
  else []); deps = (fun i -> lookup_or [] i c.c_deps) }

(** val signals_of : cert -> instr -> sema option **)

let signals_of c i =
  lookup i c.c_signals

(** val site_of : cert -> sema -> site **)

let site_of c w =
  lookup_or { s_body = rOOT; s_engine = 0; s_queue = 0 } w c.c_sites

(** val list_eqb : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool **)

let rec list_eqb eq a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | x :: a0 ->
    (match b with
     | [] -> false
     | y :: b0 -> (&&) (eq x y) (list_eqb eq a0 b0))

(** val nats_eqb : int list -> int list -> bool **)

let nats_eqb =
  list_eqb Steps.equal

(** val code_eqb : instr code -> instr code -> bool **)

let rec code_eqb a b =
  match a with
  | CNil -> (match b with
             | CNil -> true
             | _ -> false)
  | CBlock (f, r) ->
    (match b with
     | CBlock (g, s) -> (&&) (list_eqb nats_eqb f g) (code_eqb r s)
     | _ -> false)
  | CLoop (l, x, r) ->
    (match b with
     | CLoop (m, y, s) ->
       (&&) ((&&) (Steps.equal l m) (code_eqb x y)) (code_eqb r s)
     | _ -> false)
  | CCond (t, f, x, y, r) ->
    (match b with
     | CCond (t', f', x', y', r') ->
       (&&)
         ((&&)
           ((&&) ((&&) (Steps.equal t t') (Steps.equal f f')) (code_eqb x x'))
           (code_eqb y y')) (code_eqb r r')
     | _ -> false)

(** val width : 'a1 code -> int **)

let rec width = function
| CNil -> 0
| CBlock (f, r) -> Steps.larger (length f) (width r)
| CLoop (_, b, r) -> Steps.larger (width b) (width r)
| CCond (_, _, a, b, r) ->
  Steps.larger (width a) (Steps.larger (width b) (width r))

(** val wf_bodyb :
    tables -> engine -> loopid list -> loopid -> instr code -> bool **)

let wf_bodyb t e act l b =
  (&&) ((&&) (negb (inb l act)) (nats_eqb (t.path l) (l :: act)))
    (nats_eqb (direct e b) (t.body l e))

(** val wfcb : tables -> engine -> loopid list -> instr code -> bool **)

let rec wfcb t e act = function
| CNil -> true
| CBlock (f, r) ->
  (&&)
    (forallb (fun i ->
      (&&) (Steps.equal (t.home i) (hd rOOT act)) (Steps.equal (t.eng i) e))
      (nth e f [])) (wfcb t e act r)
| CLoop (l, b, r) ->
  (&&) ((&&) (wf_bodyb t e act l b) (wfcb t e (l :: act) b)) (wfcb t e act r)
| CCond (t0, f, bt, bf, r) ->
  (&&)
    ((&&)
      ((&&) ((&&) (wf_bodyb t e act t0 bt) (wf_bodyb t e act f bf))
        (wfcb t e (t0 :: act) bt)) (wfcb t e (f :: act) bf)) (wfcb t e act r)

(** val engine_ok : cert -> tables -> engine -> bool **)

let engine_ok c t e =
  let a = nth e c.c_roles [] in
  (&&) ((&&) (wfcb t e (rOOT :: []) c.c_spec) (true_at_start a))
    (let inv = infer t e a c.c_code in
     match chk t (signals_of c) e (about_of a) inv (rOOT :: []) (at_start a)
             c.c_code with
     | Some _ -> true
     | None -> false)

(** val signal_ok : cert -> tables -> instr -> sema -> bool **)

let signal_ok c t i w =
  let s = site_of c w in
  (&&)
    ((&&)
      ((&&) (Steps.equal (t.home i) s.s_body)
        (Steps.equal (t.eng i) s.s_engine)) (Steps.equal (t.que i) s.s_queue))
    (Steps.at_most (Stdlib.Int.succ 0) (t.weight (t.que i)))

(** val check : cert -> bool **)

let check c =
  let t = tables_of c in
  (&&)
    ((&&)
      ((&&)
        ((&&) (code_eqb (ecode instr_of c.c_code) c.c_spec)
          (Steps.at_most (width c.c_code) c.c_engines))
        (Steps.at_most (width c.c_spec) c.c_engines))
      (forallb (fun pat -> let (i, w) = pat in signal_ok c t i w) c.c_signals))
    (forallb (engine_ok c t) (seq 0 (Stdlib.Int.succ c.c_engines)))

(** val branches : instr code -> (loopid * loopid) list **)

let rec branches = function
| CNil -> []
| CBlock (_, r) -> branches r
| CLoop (_, b, r) -> app (branches b) (branches r)
| CCond (t, f, bt, bf, r) ->
  (t, f) :: (app (branches bt) (app (branches bf) (branches r)))

(** val is_branch : cert -> loopid -> bool **)

let is_branch c l =
  existsb (fun pat ->
    let (t, f) = pat in (||) (Steps.equal l t) (Steps.equal l f))
    (branches c.c_spec)

(** val are_opposite : cert -> loopid -> loopid -> bool **)

let are_opposite c a b =
  existsb (fun pat ->
    let (t, f) = pat in
    (||) ((&&) (Steps.equal a t) (Steps.equal b f))
      ((&&) (Steps.equal a f) (Steps.equal b t))) (branches c.c_spec)

(** val rank_of : cert -> instr -> int **)

let rank_of c i =
  lookup_or 0 i c.c_ranks

(** val has_queue : cert -> instr -> bool **)

let has_queue c i =
  match lookup i c.c_queues with
  | Some _ -> true
  | None -> false

(** val legal : cert -> bool **)

let legal c =
  let t = tables_of c in
  (&&)
    ((&&)
      ((&&)
        (forallb (fun pat -> let (i, _) = pat in has_queue c i)
          (places c.c_engines c.c_spec))
        (match ranked (rank_of c) 0 c.c_spec with
         | Some _ -> true
         | None -> false))
      (match numbered (Stdlib.Int.succ 0) c.c_spec with
       | Some _ -> true
       | None -> false))
    (forallb (fun pat ->
      let (j, _) = pat in
      deps_legal t (rank_of c) (is_branch c) (are_opposite c) j) c.c_deps)

type condition = (expr * int) list

type firms = condition known

(** val condition_parts : condition -> loopid list **)

let condition_parts k =
  flat_map (fun h -> parts (fst h)) k

(** val firm_when : firms -> reg -> condition list **)

let firm_when =
  reads condition_parts

(** val assumed : expr -> (expr * int) -> int **)

let assumed x h =
  if expr_eqb (fst h) x
  then Stdlib.Int.succ (snd h)
  else (match x with
        | ETot l ->
          (match fst h with
           | EHat l' ->
             if Steps.equal l l' then Stdlib.Int.succ (snd h) else 0
           | _ -> 0)
        | _ -> 0)

(** val least : loopid list -> condition -> expr -> int **)

let rec least act h x =
  Steps.larger (fold_right (fun h0 n -> Steps.larger (assumed x h0) n) 0 h)
    (match x with
     | EC n -> n
     | ETot l -> if inb l act then Stdlib.Int.succ 0 else 0
     | EHat l -> if inb l act then Stdlib.Int.succ 0 else 0
     | EBin (o, a, b) ->
       (match o with
        | AAdd -> Steps.sum (least act h a) (least act h b)
        | ASub ->
          (match b with
           | EC n ->
             (fun (a : int) (b : int) -> if a < b then 0 else a - b)
               (least act h a) n
           | _ -> 0)
        | AMul ->
          (match a with
           | EC n ->
             (fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
               n (least act h b)
           | _ -> 0)
        | AMin -> Steps.smaller (least act h a) (least act h b)
        | _ -> 0)
     | _ -> 0)

(** val follows : loopid list -> condition -> (expr * int) -> bool **)

let follows act h h0 =
  Steps.below (snd h0) (least act h (fst h0))

(** val residual : loopid list -> condition -> condition -> condition **)

let residual act h k =
  filter (fun h0 -> negb (follows act h h0)) k

(** val weaker : condition list -> condition -> bool **)

let weaker ks k =
  existsb (forallb (follows [] k)) ks

(** val all_firm :
    reg list -> (reg -> condition list) -> (reg -> condition list) -> bool **)

let all_firm rs want have =
  forallb (fun r -> let ks = have r in forallb (weaker ks) (want r)) rs

(** val renamed : loopid -> condition -> condition option **)

let rec renamed l = function
| [] -> Some []
| p :: k0 ->
  let (u, n) = p in
  (match after_entry l u with
   | Some v ->
     (match renamed l k0 with
      | Some k1 -> Some ((v, n) :: k1)
      | None -> None)
   | None -> None)

(** val renamed1 : loopid -> condition -> condition list **)

let renamed1 l k =
  match renamed l k with
  | Some j -> j :: []
  | None -> []

(** val firm_enter : reg list -> loopid -> firms -> firms **)

let firm_enter rs l f =
  renew f (l :: []) rs (fun r -> flat_map (renamed1 l) (firm_when f r))

(** val firm_outside : loopid -> firms -> reg -> condition list **)

let firm_outside l f r =
  filter (forallb (fun h -> survives_exit l (fst h))) (firm_when f r)

(** val firm_leave : reg list -> loopid -> firms -> firms **)

let firm_leave rs l f =
  renew f (l :: []) rs (firm_outside l f)

(** val firm_head :
    reg list -> loopid -> loopid list -> (reg -> condition list) -> firms ->
    firms **)

let firm_head rs l ls h f =
  renew f (l :: ls) rs h

(** val firm_joined :
    reg list -> loopid -> loopid -> loopid list -> firms -> firms -> firms ->
    firms **)

let firm_joined rs lt lf ls f ft ff =
  renew f (lt :: (lf :: ls)) rs (fun r ->
    let ks = firm_outside lf ff r in filter (weaker ks) (firm_outside lt ft r))

(** val most : (loopid -> int) -> expr -> int **)

let rec most b = function
| EC n -> n
| ETot l -> b l
| ETotP l -> b l
| EHat l -> b l
| EHatP l -> b l
| EHist (_, _, p) -> b p
| EBin (o, a, b0) ->
  (match o with
   | AAdd -> Steps.sum (most b a) (most b b0)
   | AMul ->
     (fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
       (most b a) (most b b0)
   | AMin -> Steps.smaller (most b a) (most b b0)
   | AGt -> Stdlib.Int.succ 0
   | _ -> most b a)

(** val above : expr -> condition **)

let rec above = function
| EBin (o, a, b) ->
  (match o with
   | AMul -> app (above a) (above b)
   | AGt -> (match b with
             | EC n -> (a, n) :: []
             | _ -> [])
   | _ -> [])
| _ -> []

(** val operand_firm : int -> firms -> operand -> condition list **)

let operand_firm m f = function
| OReg r -> firm_when f r
| OImm n -> if Steps.below n m then [] :: [] else []

(** val always_firm : int -> loopid list -> firms -> operand -> bool **)

let always_firm m act f x =
  existsb (forallb (follows act [])) (operand_firm m f x)

(** val small :
    int -> (loopid -> int) -> loopid list -> regop -> facts -> bool **)

let small m b act o a =
  existsb (fun x -> Steps.below (most b x) m) (results act o a)

(** val both : loopid list -> condition -> condition -> condition **)

let both act h k =
  app h (residual act h k)

(** val all_both :
    loopid list -> condition list -> condition list -> condition list **)

let all_both act hs ks =
  flat_map (fun h -> map (both act h) ks) hs

(** val both_firm : int -> loopid list -> regop -> firms -> condition list **)

let both_firm m act o f =
  all_both act (operand_firm m f o.opa) (operand_firm m f o.opb)

(** val never_above :
    (loopid -> int) -> loopid list -> expr -> expr -> bool **)

let never_above b act b0 a =
  (||) (Steps.at_most (most b b0) (least act [] a))
    (match b0 with
     | EHat l -> (match a with
                  | ETot l' -> Steps.equal l l'
                  | _ -> false)
     | EBin (o0, x, _) ->
       (match o0 with
        | ASub -> expr_eqb x a
        | AMin -> expr_eqb x a
        | _ -> false)
     | _ -> false)

(** val in_order :
    (loopid -> int) -> loopid list -> regop -> facts -> condition list **)

let in_order b act o a =
  if existsb (fun a0 ->
       existsb (fun b0 -> never_above b act b0 a0) (ovals a o.opb))
       (ovals a o.opa)
  then [] :: []
  else flat_map (fun b0 ->
         match b0 with
         | EC n0 ->
           ((fun fO fS n -> if n=0 then fO () else fS (n-1))
              (fun _ -> [])
              (fun n -> map (fun a0 -> (a0, n) :: []) (ovals a o.opa))
              n0)
         | _ -> []) (ovals a o.opb)

(** val masked :
    int -> loopid list -> facts -> firms -> operand -> operand -> condition
    list **)

let masked m act a f g x =
  flat_map (fun h ->
    flat_map (fun k ->
      map (fun y -> both act h (residual act (above y) k)) ((EC
        (Stdlib.Int.succ 0)) :: (ovals a g))) (operand_firm m f x))
    (operand_firm m f g)

(** val result_firm :
    int -> (loopid -> int) -> loopid list -> regop -> facts -> firms ->
    condition list **)

let result_firm m b act o a f =
  match o.aop with
  | AMove -> operand_firm m f o.opa
  | AAdd -> if small m b act o a then both_firm m act o f else []
  | ASub -> all_both act (both_firm m act o f) (in_order b act o a)
  | AMul ->
    if small m b act o a
    then app (masked m act a f o.opa o.opb) (masked m act a f o.opb o.opa)
    else []
  | _ -> both_firm m act o f

(** val condition_limit : int **)

let condition_limit =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    0)))))))

(** val put_condition : condition -> condition list -> condition list **)

let rec put_condition k ks = match ks with
| [] -> k :: []
| h :: t ->
  if forallb (follows [] k) h
  then ks
  else if Steps.at_most (length k) (length h)
       then k :: ks
       else h :: (put_condition k t)

(** val weakest : loopid list -> condition list -> condition list **)

let weakest act ks =
  firstn condition_limit
    (fold_right put_condition [] (map (residual act []) ks))

(** val exec_firms :
    int -> (loopid -> int) -> loopid list -> regop -> facts -> firms -> firms **)

let exec_firms m b act o a f =
  write f o.dst (weakest act (result_firm m b act o a f))

(** val wait_firm : int -> loopid list -> firms -> wait option -> bool **)

let wait_firm m act f = function
| Some w0 -> always_firm m act f (snd w0)
| None -> true

(** val fit_items :
    int -> (loopid -> int) -> loopid list -> facts -> firms -> item list ->
    (facts * firms) option **)

let rec fit_items m b act a f = function
| [] -> Some (a, f)
| i :: t ->
  (match i with
   | Issue (_, w) ->
     if wait_firm m act f w then fit_items m b act a f t else None
   | RegOp o ->
     fit_items m b act (exec_facts act o a) (exec_firms m b act o a f) t
   | Wait w ->
     if wait_firm m act f (Some w) then fit_items m b act a f t else None)

(** val fit_code :
    int -> (loopid -> int) -> (loopid -> loopid list) -> engine -> reg list
    tree -> expr guess -> condition guess -> loopid list -> facts -> firms ->
    item code -> (facts * firms) option **)

let rec fit_code m b path0 e about inv finv act a f = function
| CNil -> Some (a, f)
| CBlock (f0, r) ->
  (match fit_items m b act a f (nth e f0 []) with
   | Some p ->
     let (a', f') = p in fit_code m b path0 e about inv finv act a' f' r
   | None -> None)
| CLoop (l, b0, r) ->
  let rs = touched e about b0 in
  let h = at_head inv l in
  let j = at_head finv l in
  let a0 = loop_head rs l (inner b0) h a in
  let f0 = firm_head rs l (inner b0) j f in
  if (&&) (all_known rs h (before_loop l a)) (all_firm rs j (firm_when f))
  then (match fit_code m b path0 e about inv finv (l :: act)
                (enter path0 rs l a0) (firm_enter rs l f0) b0 with
        | Some p ->
          let (a', f') = p in
          if (&&) (all_known rs h (values a')) (all_firm rs j (firm_when f'))
          then fit_code m b path0 e about inv finv act (leave rs l a0)
                 (firm_leave rs l f0) r
          else None
        | None -> None)
  else None
| CCond (lt, lf, bt, bf, r) ->
  let rt = touched e about bt in
  let rf = touched e about bf in
  let rs = app rt rf in
  let ls = app (inner bt) (inner bf) in
  (match fit_code m b path0 e about inv finv (lt :: act)
           (enter path0 rt lt a) (firm_enter rt lt f) bt with
   | Some p ->
     let (at, ft) = p in
     (match fit_code m b path0 e about inv finv (lf :: act)
              (enter path0 rf lf a) (firm_enter rf lf f) bf with
      | Some p0 ->
        let (af, ff) = p0 in
        fit_code m b path0 e about inv finv act (joined rs lt lf ls a at af)
          (firm_joined rs lt lf ls f ft ff) r
      | None -> None)
   | None -> None)

(** val item_firms :
    int -> (loopid -> int) -> loopid list -> (facts * firms) -> item ->
    facts * firms **)

let item_firms m b act s = function
| RegOp o ->
  ((exec_facts act o (fst s)), (exec_firms m b act o (fst s) (snd s)))
| _ -> s

(** val firm_candidates :
    condition guess -> loopid -> firms -> reg -> condition list **)

let firm_candidates g l f r =
  let ks = firm_when f r in
  (match get g l with
   | Some j -> filter (weaker ks) (get_or [] j r)
   | None -> ks)

(** val guess_pass :
    int -> (loopid -> int) -> (loopid -> loopid list) -> engine -> reg list
    tree -> expr guess -> condition guess -> loopid list -> facts -> firms ->
    condition guess -> item code -> (facts * firms) * condition guess **)

let rec guess_pass m b path0 e about inv g act a f n = function
| CNil -> ((a, f), n)
| CBlock (f0, r) ->
  let s = fold_left (item_firms m b act) (nth e f0 []) (a, f) in
  guess_pass m b path0 e about inv g act (fst s) (snd s) n r
| CLoop (l, b0, r) ->
  let rs = touched e about b0 in
  let ls = inner b0 in
  let a0 = loop_head rs l ls (at_head inv l) a in
  let j = get_or [] (tabulate rs (firm_candidates g l f)) in
  let (p, n') =
    guess_pass m b path0 e about inv g (l :: act) (enter path0 rs l a0)
      (firm_enter rs l (firm_head rs l ls j f)) n b0
  in
  let (_, f') = p in
  let kept = tabulate rs (fun r0 -> filter (weaker (firm_when f' r0)) (j r0))
  in
  let f0 = firm_head rs l ls (get_or [] kept) f in
  guess_pass m b path0 e about inv g act (leave rs l a0) (firm_leave rs l f0)
    (set l kept n') r
| CCond (lt, lf, bt, bf, r) ->
  let rt = touched e about bt in
  let rf = touched e about bf in
  let rs = app rt rf in
  let ls = app (inner bt) (inner bf) in
  let (p, n1) =
    guess_pass m b path0 e about inv g (lt :: act) (enter path0 rt lt a)
      (firm_enter rt lt f) n bt
  in
  let (at, ft) = p in
  let (p0, n2) =
    guess_pass m b path0 e about inv g (lf :: act) (enter path0 rf lf a)
      (firm_enter rf lf f) n1 bf
  in
  let (af, ff) = p0 in
  guess_pass m b path0 e about inv g act (joined rs lt lf ls a at af)
    (firm_joined rs lt lf ls f ft ff) n2 r

(** val guess_upto :
    int -> (loopid -> int) -> (loopid -> loopid list) -> engine -> reg list
    tree -> expr guess -> int -> facts -> firms -> item code -> condition
    guess -> condition guess **)

let rec guess_upto m b path0 e about inv n a f c g =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> g)
    (fun n0 ->
    let g' = snd (guess_pass m b path0 e about inv g (rOOT :: []) a f Leaf c)
    in
    if Steps.equal (guess_size g') (guess_size g)
    then g'
    else guess_upto m b path0 e about inv n0 a f c g')
    n

(** val guess_passes : int **)

let guess_passes =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    0)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val start_firms : engine -> item code -> firms **)

let start_firms e c =
  renew nothing [] (without_twins Leaf (mentions e c)) (fun _ -> [] :: [])

(** val most_of : (loopid -> int) -> cert -> sema -> int **)

let most_of b c =
  let t = tables_of c in
  (fun w ->
  let s = site_of c w in
  (fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
    (t.weight s.s_queue)
    ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
      (length (filter (raises (signals_of c) w) (t.body s.s_body s.s_engine)))
      (b s.s_body)))

(** val map_of : 'a1 table -> 'a1 tree **)

let map_of x =
  fold_right (fun p t -> set (fst p) (snd p) t) Leaf x

(** val directs : int -> instr code -> instr list list **)

let directs n b =
  map (fun e -> direct e b) (seq 0 n)

(** val body_entry :
    int -> (loopid list * instr code) -> loopid list * instr list list **)

let body_entry n x =
  ((fst x), (directs n (snd x)))

(** val fast_tables : cert -> tables **)

let fast_tables c =
  let n = c.c_engines in
  let bs =
    map_of
      (map (fun p -> ((fst p), (body_entry n (snd p)))) (all_bodies c.c_spec))
  in
  let ps = map_of (places n c.c_spec) in
  let qs = map_of c.c_queues in
  let ws = map_of c.c_weights in
  let ds = map_of c.c_deps in
  { home = (fun i -> fst (get_or (rOOT, 0) ps i)); eng = (fun i ->
  snd (get_or (rOOT, 0) ps i)); que = (fun i -> get_or 0 qs i); weight =
  (fun q -> get_or (Stdlib.Int.succ 0) ws q); path = (fun l ->
  fst (get_or ([], []) bs l)); body = (fun l e ->
  if Steps.below e n then nth e (snd (get_or ([], []) bs l)) [] else []);
  deps = (fun i -> get_or [] ds i) }

(** val opposites : cert -> loopid list tree **)

let opposites c =
  index
    (flat_map (fun pat -> let (t, f) = pat in (t, f) :: ((f, t) :: []))
      (branches c.c_spec))

(** val fast_is_branch : loopid list tree -> loopid -> bool **)

let fast_is_branch o l =
  match get_or [] o l with
  | [] -> false
  | _ :: _ -> true

(** val fast_are_opposite : loopid list tree -> loopid -> loopid -> bool **)

let fast_are_opposite o a b =
  existsb (Steps.equal b) (get_or [] o a)

(** val fast_legal : cert -> tables -> bool **)

let fast_legal c f =
  let rm = map_of c.c_ranks in
  let qm = map_of c.c_queues in
  let rank = fun i -> get_or 0 rm i in
  let o = opposites c in
  (&&)
    ((&&)
      ((&&)
        (forallb (fun pat ->
          let (i, _) = pat in
          (match get qm i with
           | Some _ -> true
           | None -> false)) (places c.c_engines c.c_spec))
        (match ranked rank 0 c.c_spec with
         | Some _ -> true
         | None -> false))
      (match numbered (Stdlib.Int.succ 0) c.c_spec with
       | Some _ -> true
       | None -> false))
    (forallb (fun pat ->
      let (j, _) = pat in
      deps_legal f rank (fast_is_branch o) (fast_are_opposite o) j) c.c_deps)

type entry = { members : instr list; number : int; no_twin : bool }

(** val entry_of : instr list -> entry **)

let entry_of g =
  { members = g; number = (length g); no_twin = (nodupb g) }

(** val entry_for :
    tables -> (instr -> sema option) -> (sema -> entry option) -> sema ->
    instr -> entry **)

let entry_for f fsignals counted w i =
  match counted w with
  | Some x -> x
  | None -> entry_of (group f fsignals w i)

(** val fast_wait :
    tables -> (instr -> sema option) -> (sema -> entry option) -> loopid list
    -> sema -> dep -> (expr -> bool) -> bool **)

let fast_wait f fsignals counted act w d judge =
  let p = d.prd in
  let h = f.home p in
  (&&) ((&&) (distance_ok f act h d.dist) (raises fsignals w p))
    (let x = entry_for f fsignals counted w p in
     let k = place x.members p in
     (&&) ((&&) x.no_twin (Steps.at_most (Stdlib.Int.succ 0) k))
       (judge
         (mk act AMul (mask act h d.dist)
           (mk act AMul (EC (f.weight (f.que p)))
             (mk act ASub (mk act AMul (EC x.number) (runs act h d.dist)) (EC
               ((fun (a : int) (b : int) -> if a < b then 0 else a - b)
                 x.number k)))))))

(** val fast_served :
    tables -> (instr -> sema option) -> (sema -> entry option) -> loopid list
    -> facts -> wait -> instr -> dep list **)

let fast_served f fsignals counted act a w j =
  filter (fun d ->
    fast_wait f fsignals counted act (fst w) d (holds act a (snd w)))
    (f.deps j)

(** val fast_covers :
    tables -> loopid list -> facts -> operand -> expr -> bool **)

let fast_covers f act a o x =
  some_version act a x (fun y -> existsb (at_most f y) (ovals a o))

(** val fast_covered :
    tables -> (instr -> sema option) -> (sema -> entry option) -> loopid list
    -> facts -> wait -> instr -> dep list **)

let fast_covered f fsignals counted act a w j =
  filter (fun d ->
    fast_wait f fsignals counted act (fst w) d (fast_covers f act a (snd w)))
    (f.deps j)

(** val fast_all_waited :
    tables -> loopid list -> instr -> dep list -> bool **)

let fast_all_waited f act j dn =
  forallb (fun d -> (||) (dep_mem d dn) (never_owed f act d)) (f.deps j)

(** val fast_items :
    tables -> (instr -> sema option) -> (sema -> entry option) -> loopid list
    -> facts -> dep list -> item list -> facts option **)

let rec fast_items f fsignals counted act a dn = function
| [] -> Some a
| i :: t ->
  (match i with
   | Issue (j, w0) ->
     (match w0 with
      | Some w ->
        (match fast_served f fsignals counted act a w j with
         | [] -> None
         | _ :: _ ->
           if fast_all_waited f act j
                (app (fast_covered f fsignals counted act a w j) dn)
           then fast_items f fsignals counted act a [] t
           else None)
      | None ->
        if fast_all_waited f act j dn
        then fast_items f fsignals counted act a [] t
        else None)
   | RegOp o -> fast_items f fsignals counted act (exec_facts act o a) dn t
   | Wait w ->
     (match next_instr t with
      | Some j ->
        (match fast_served f fsignals counted act a w j with
         | [] -> None
         | _ :: _ ->
           fast_items f fsignals counted act a
             (app (fast_covered f fsignals counted act a w j) dn) t)
      | None -> None))

(** val fast_chk :
    tables -> (instr -> sema option) -> (sema -> entry option) -> engine ->
    reg list tree -> expr guess -> loopid list -> facts -> item code -> facts
    option **)

let rec fast_chk f fsignals counted e about inv act a = function
| CNil -> Some a
| CBlock (f0, r) ->
  (match fast_items f fsignals counted act a [] (nth e f0 []) with
   | Some a' -> fast_chk f fsignals counted e about inv act a' r
   | None -> None)
| CLoop (l, b, r) ->
  let rs = touched e about b in
  let h = get_or [] (get_or Leaf inv l) in
  let a0 = loop_head rs l (inner b) h a in
  if all_known rs h (before_loop l a)
  then (match fast_chk f fsignals counted e about inv (l :: act)
                (enter f.path rs l a0) b with
        | Some a' ->
          if all_known rs h (values a')
          then fast_chk f fsignals counted e about inv act (leave rs l a0) r
          else None
        | None -> None)
  else None
| CCond (lt, lf, bt, bf, r) ->
  let rt = touched e about bt in
  let rf = touched e about bf in
  (match fast_chk f fsignals counted e about inv (lt :: act)
           (enter f.path rt lt a) bt with
   | Some at ->
     (match fast_chk f fsignals counted e about inv (lf :: act)
              (enter f.path rf lf a) bf with
      | Some af ->
        fast_chk f fsignals counted e about inv act
          (joined (app rt rf) lt lf (app (inner bt) (inner bf)) a at af) r
      | None -> None)
   | None -> None)

(** val group_at :
    tables -> (instr -> sema option) -> (sema * site) -> entry **)

let group_at f fsignals p =
  entry_of
    (filter (raises fsignals (fst p))
      (f.body (snd p).s_body (snd p).s_engine))

(** val entries : tables -> (instr -> sema option) -> cert -> entry tree **)

let entries f fsignals c =
  map_of (map (fun p -> ((fst p), (group_at f fsignals p))) c.c_sites)

(** val fast_engine_ok :
    cert -> tables -> (instr -> sema option) -> (sema -> entry option) ->
    engine -> bool **)

let fast_engine_ok c f fsignals counted e =
  let a = nth e c.c_roles [] in
  let inv = infer f e a c.c_code in
  (&&) ((&&) (wfcb f e (rOOT :: []) c.c_spec) (true_at_start a))
    (match fast_chk f fsignals counted e (about_of a) inv (rOOT :: [])
             (at_start a) c.c_code with
     | Some _ -> true
     | None -> false)

(** val fast_signal_ok : tables -> site tree -> instr -> sema -> bool **)

let fast_signal_ok f sites i w =
  let s = get_or { s_body = rOOT; s_engine = 0; s_queue = 0 } sites w in
  (&&)
    ((&&)
      ((&&) (Steps.equal (f.home i) s.s_body)
        (Steps.equal (f.eng i) s.s_engine)) (Steps.equal (f.que i) s.s_queue))
    (Steps.at_most (Stdlib.Int.succ 0) (f.weight (f.que i)))

(** val fast_check : cert -> tables -> bool **)

let fast_check c f =
  let sm = map_of c.c_signals in
  let sites = map_of c.c_sites in
  let fsignals = fun i -> get sm i in
  let e = entries f fsignals c in
  (&&)
    ((&&)
      ((&&)
        ((&&) (code_eqb (ecode instr_of c.c_code) c.c_spec)
          (Steps.at_most (width c.c_code) c.c_engines))
        (Steps.at_most (width c.c_spec) c.c_engines))
      (forallb (fun pat -> let (i, w) = pat in fast_signal_ok f sites i w)
        c.c_signals))
    (forallb (fast_engine_ok c f fsignals (get e))
      (seq 0 (Stdlib.Int.succ c.c_engines)))

(** val certify_fast : cert -> bool **)

let certify_fast c =
  let f = fast_tables c in (&&) (fast_legal c f) (fast_check c f)

(** val fast_engine_fits :
    int -> (loopid -> int) -> cert -> tables -> engine -> bool **)

let fast_engine_fits m b c f e =
  let roles0 = nth e c.c_roles [] in
  let about = about_of roles0 in
  let a = at_start roles0 in
  let x = start_firms e c.c_code in
  let inv = infer f e roles0 c.c_code in
  let finv = guess_upto m b f.path e about inv guess_passes a x c.c_code Leaf
  in
  (match fit_code m b f.path e about inv finv (rOOT :: []) a x c.c_code with
   | Some _ -> true
   | None -> false)

(** val fast_most_of :
    (loopid -> int) -> cert -> tables -> site tree -> (sema -> entry option)
    -> sema -> int **)

let fast_most_of b c f sites e w =
  let s = get_or { s_body = rOOT; s_engine = 0; s_queue = 0 } sites w in
  (match e w with
   | Some x ->
     (fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
       (f.weight s.s_queue)
       ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
         x.number (b s.s_body))
   | None -> most_of b c w)

(** val code_fits_fast : int -> (loopid -> int) -> cert -> bool **)

let code_fits_fast m b c =
  let f = fast_tables c in
  let sm = map_of c.c_signals in
  let sites = map_of c.c_sites in
  let e = entries f (fun i -> get sm i) c in
  (&&)
    ((&&) (Steps.below 0 m)
      (forallb (fun pat ->
        let (_, w) = pat in Steps.below (fast_most_of b c f sites (get e) w) m)
        c.c_signals))
    (forallb (fast_engine_fits m b c f) (seq 0 (Stdlib.Int.succ c.c_engines)))

(** val word_alu : int -> alu -> int -> int -> int **)

let word_alu m o a b =
  match o with
  | AMove -> a
  | AAdd ->
    (fun (a : int) (b : int) -> if b = 0 then a else a mod b) (Steps.sum a b)
      m
  | ASub ->
    (fun (a : int) (b : int) -> if b = 0 then a else a mod b)
      ((fun (a : int) (b : int) -> if a < b then 0 else a - b)
        (Steps.sum a m) b) m
  | AMul ->
    (fun (a : int) (b : int) -> if b = 0 then a else a mod b)
      ((fun (a : int) (b : int) -> if a > 0 && b > max_int / a then failwith "overflow" else a * b)
        a b) m
  | AMin -> Steps.smaller a b
  | AGt -> if Steps.below b a then Stdlib.Int.succ 0 else 0

(** val word_value : int -> operand -> (reg -> int) -> int **)

let word_value m o rf =
  match o with
  | OReg r -> rf r
  | OImm n -> (fun (a : int) (b : int) -> if b = 0 then a else a mod b) n m

(** val word_exec : int -> regop -> (reg -> int) -> reg -> int **)

let word_exec m o rf =
  upd rf o.dst
    (word_alu m o.aop (word_value m o.opa rf) (word_value m o.opb rf))

(** val word_raise :
    int -> tables -> (instr -> sema option) -> (sema -> int) -> instr -> sema
    -> int **)

let word_raise m t signals sem i =
  match signals i with
  | Some w ->
    upd sem w
      ((fun (a : int) (b : int) -> if b = 0 then a else a mod b)
        (Steps.sum (sem w) (t.weight (t.que i))) m)
  | None -> sem

type action =
| Control of engine
| Operate of engine
| Commit of queue * int
| Retire of queue

type ('c, 'a) walked = ('a pos * 'c) * loopid option

(** val reach_end :
    (engine -> loopid -> 'a1 -> bool) -> (engine -> loopid -> 'a1 -> 'a1) ->
    engine -> 'a2 kont -> 'a1 -> ('a1, 'a2) walked option **)

let reach_end guard ctl e k c =
  match k with
  | KStop -> None
  | KLoop (l, n, b, r, k0) ->
    let c' = ctl e l c in
    if guard e l c'
    then Some (({ cur = []; cod = b; kon = (KLoop (l, (Stdlib.Int.succ n), b,
           r, k0)) }, c'), (Some l))
    else Some (({ cur = []; cod = r; kon = k0 }, c'), None)
  | KCond (l, r, k0) ->
    Some (({ cur = []; cod = r; kon = k0 }, (ctl e l c)), None)

(** val reach :
    (engine -> loopid -> 'a1 -> bool) -> (engine -> loopid -> 'a1 -> 'a1) ->
    engine -> 'a2 code -> 'a2 kont -> 'a1 -> ('a1, 'a2) walked option **)

let reach guard ctl e x k c =
  match x with
  | CNil -> reach_end guard ctl e k c
  | CBlock (f, r) ->
    Some (({ cur = (nth e f []); cod = r; kon = k }, c), None)
  | CLoop (l, b, r) ->
    if guard e l c
    then Some (({ cur = []; cod = b; kon = (KLoop (l, (Stdlib.Int.succ 0), b,
           r, k)) }, c), (Some l))
    else Some (({ cur = []; cod = r; kon = k }, c), None)
  | CCond (lt, lf, bt, bf, r) ->
    if guard e lt c
    then Some (({ cur = []; cod = bt; kon = (KCond (lt, r, k)) }, c), (Some
           lt))
    else Some (({ cur = []; cod = bf; kon = (KCond (lf, r, k)) }, c), (Some
           lf))

(** val control :
    (engine -> loopid -> 'a1 -> bool) -> (engine -> loopid -> 'a1 -> 'a1) ->
    engine -> 'a2 pos -> 'a1 -> ('a1, 'a2) walked option **)

let control guard ctl e p c =
  match p.cur with
  | [] -> reach guard ctl e p.cod p.kon c
  | _ :: _ -> None

(** val unowedb : (loopid -> int) -> counts -> loopid -> distance -> bool **)

let unowedb h c p = function
| Carried (s, k) -> Steps.at_most (h s) k
| Flat f -> Steps.at_most (c.tot p) f
| Element (s, k, b, back, ahead) ->
  (||) (Steps.at_most (h s) k) (Steps.at_most (Steps.sum (h b) ahead) back)

(** val owed : (loopid -> int) -> counts -> loopid -> distance -> int **)

let owed h c p x =
  if unowedb h c p x then 0 else needed h c p x

(** val satb : tables -> ('a1, 'a2) sstate -> engine -> dep -> bool **)

let satb t s e d =
  Steps.at_most
    (owed (trips (s.spos e).kon) (s.scnt e) (t.home d.prd) d.dist)
    (s.src d.prd)

(** val is_ready : tables -> ('a1, 'a2) sstate -> engine -> instr -> bool **)

let is_ready t s e i =
  forallb (satb t s e) (t.deps i)

(** val spec_does :
    (instr -> 'a1 -> 'a1) -> (engine -> loopid -> 'a2 -> bool) -> (engine ->
    loopid -> 'a2 -> 'a2) -> tables -> ('a1, 'a2) sstate -> action -> (event
    list * ('a1, 'a2) sstate) option **)

let spec_does iop guard ctl t s = function
| Control e ->
  (match control guard ctl e (s.spos e) (s.scs e) with
   | Some w ->
     let (p0, ev) = w in
     let (p, c) = p0 in
     Some ([], { sds = s.sds; scs = (upd s.scs e c); spos = (upd s.spos e p);
     sifl = s.sifl; scnt = (upd s.scnt e (count_event p.kon ev (s.scnt e)));
     src = s.src })
   | None -> None)
| Operate e ->
  let { cur = cur0; cod = c; kon = k } = s.spos e in
  (match cur0 with
   | [] -> None
   | i :: cu ->
     if is_ready t s e i
     then Some (((Issued i) :: []), { sds = s.sds; scs = s.scs; spos =
            (upd s.spos e { cur = cu; cod = c; kon = k }); sifl =
            (upd s.sifl (t.que i) (app (s.sifl (t.que i)) ((i, false) :: [])));
            scnt = s.scnt; src = s.src })
     else None)
| Commit (q, n) ->
  (match mark (s.sifl q) n with
   | Some p ->
     let (i, x) = p in
     Some (((Committed i) :: []), { sds = (iop i s.sds); scs = s.scs; spos =
     s.spos; sifl = (upd s.sifl q x); scnt = s.scnt; src = s.src })
   | None -> None)
| Retire q ->
  (match s.sifl q with
   | [] -> None
   | p :: x ->
     let (i, b) = p in
     if b
     then Some (((Retired i) :: []), { sds = s.sds; scs = s.scs; spos =
            s.spos; sifl = (upd s.sifl q x); scnt = s.scnt; src =
            (upd s.src i (Steps.sum (s.src i) (Stdlib.Int.succ 0))) })
     else None)

(** val passesb : int -> ('a1, 'a2) istate -> engine -> wait -> bool **)

let passesb m s e w =
  Steps.at_most (word_value m (snd w) (s.iregs e)) (s.isem (fst w))

(** val wait_passes :
    int -> ('a1, 'a2) istate -> engine -> wait option -> bool **)

let wait_passes m s e = function
| Some w0 -> passesb m s e w0
| None -> true

(** val operate :
    tables -> int -> ('a1, 'a2) istate -> engine -> item -> item pos ->
    (event list * ('a1, 'a2) istate) option **)

let operate t m s e x p =
  match x with
  | Issue (i, w) ->
    if wait_passes m s e w
    then Some (((Issued i) :: []), { ids = s.ids; ics = s.ics; ipos =
           (upd s.ipos e p); iifl =
           (upd s.iifl (t.que i) (app (s.iifl (t.que i)) ((i, false) :: [])));
           isem = s.isem; iregs = s.iregs })
    else None
  | RegOp o ->
    Some ([], { ids = s.ids; ics = s.ics; ipos = (upd s.ipos e p); iifl =
      s.iifl; isem = s.isem; iregs =
      (upd s.iregs e (word_exec m o (s.iregs e))) })
  | Wait w ->
    if passesb m s e w
    then Some ([], { ids = s.ids; ics = s.ics; ipos = (upd s.ipos e p);
           iifl = s.iifl; isem = s.isem; iregs = s.iregs })
    else None

(** val code_does :
    (instr -> 'a1 -> 'a1) -> (engine -> loopid -> 'a2 -> bool) -> (engine ->
    loopid -> 'a2 -> 'a2) -> tables -> (instr -> sema option) -> int -> ('a1,
    'a2) istate -> action -> (event list * ('a1, 'a2) istate) option **)

let code_does iop guard ctl t signals m s = function
| Control e ->
  (match control guard ctl e (s.ipos e) (s.ics e) with
   | Some w ->
     let (p0, _) = w in
     let (p, c) = p0 in
     Some ([], { ids = s.ids; ics = (upd s.ics e c); ipos = (upd s.ipos e p);
     iifl = s.iifl; isem = s.isem; iregs = s.iregs })
   | None -> None)
| Operate e ->
  let { cur = cur0; cod = c; kon = k } = s.ipos e in
  (match cur0 with
   | [] -> None
   | x :: cu -> operate t m s e x { cur = cu; cod = c; kon = k })
| Commit (q, n) ->
  (match mark (s.iifl q) n with
   | Some p ->
     let (i, x) = p in
     Some (((Committed i) :: []), { ids = (iop i s.ids); ics = s.ics; ipos =
     s.ipos; iifl = (upd s.iifl q x); isem = s.isem; iregs = s.iregs })
   | None -> None)
| Retire q ->
  (match s.iifl q with
   | [] -> None
   | p :: x ->
     let (i, b) = p in
     if b
     then Some (((Retired i) :: []), { ids = s.ids; ics = s.ics; ipos =
            s.ipos; iifl = (upd s.iifl q x); isem =
            (word_raise m t signals s.isem i); iregs = s.iregs })
     else None)
