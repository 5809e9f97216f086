
val negb : bool -> bool

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> int

val app : 'a1 list -> 'a1 list -> 'a1 list

module Nat :
 sig
  val sub : int -> int -> int

  val divmod : int -> int -> int -> int -> int * int
 end

val hd : 'a1 -> 'a1 list -> 'a1

val nth : int -> 'a1 list -> 'a1 -> 'a1

val nth_error : 'a1 list -> int -> 'a1 option

val rev : 'a1 list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val firstn : int -> 'a1 list -> 'a1 list

val skipn : int -> 'a1 list -> 'a1 list

val seq : int -> int -> int list

type engine = int

type queue = int

type loopid = int

type instr = int

type sema = int

type reg = int

val rOOT : loopid

val upd : (int -> 'a1) -> int -> 'a1 -> int -> 'a1

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

val trips : 'a1 kont -> loopid -> int

val active : 'a1 kont -> loopid list

val vector : 'a1 kont -> int list

val efilter : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list

val ecode : ('a1 -> 'a2 option) -> 'a1 code -> 'a2 code

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

val instr_of : item -> instr option

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

val counts0 : counts

val enter_counts : 'a1 kont -> loopid -> counts -> counts

val count_event : 'a1 kont -> loopid option -> counts -> counts

val sumH : (int -> loopid -> int) -> int -> loopid -> int

val past : counts -> loopid -> int -> loopid -> int

val needed : (loopid -> int) -> counts -> loopid -> distance -> int

val alu_nat : alu -> int -> int -> int

type flight = (instr * bool) list

val mark : flight -> int -> (instr * flight) option

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

val sinit : instr code -> 'a1 -> (engine -> 'a2) -> ('a1, 'a2) sstate

val iinit : item code -> 'a1 -> (engine -> 'a2) -> ('a1, 'a2) istate

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

val den : expr -> genv -> int

val alu_eqb : alu -> alu -> bool

val expr_eqb : expr -> expr -> bool

val inb : int -> int list -> bool

val lowest : loopid list -> expr -> int

val add_const : loopid list -> expr -> int -> expr

val less : expr -> int -> expr

val sub_const : loopid list -> expr -> int -> expr

val scale : int -> expr -> expr

val gt_const : loopid list -> expr -> int -> expr

val difference_of : expr -> (expr * int) option

val factor_of : expr -> expr -> int option

val guards : expr -> expr -> bool

val is_mask : expr -> bool

val mk_sub : loopid list -> expr -> expr -> expr

val regroup : expr -> int -> alu -> expr -> expr -> expr option

val regrouped : expr -> int -> expr -> expr

val under_mask : expr -> expr -> expr

val mk_masked : expr -> expr -> expr

val mk_mul : expr -> expr -> expr

val bump_of : expr -> ((int * expr) * int) option

val stepped : expr -> expr -> expr option

val add_terms : loopid list -> expr -> expr -> expr

val mk_add : loopid list -> expr -> expr -> expr

val mk : loopid list -> alu -> expr -> expr -> expr

val genv_of : counts -> (loopid -> int) -> genv

type 'b tree =
| Leaf
| Node of 'b option * 'b tree * 'b tree

val get : 'a1 tree -> int -> 'a1 option

val here_of : 'a1 tree -> 'a1 option

val evens_of : 'a1 tree -> 'a1 tree

val odds_of : 'a1 tree -> 'a1 tree

val set_fuel : int -> int -> 'a1 -> 'a1 tree -> 'a1 tree

val set : int -> 'a1 -> 'a1 tree -> 'a1 tree

val get_or : 'a1 -> 'a1 tree -> int -> 'a1

val index : (int * 'a1) list -> 'a1 list tree

val without_twins : unit tree -> int list -> int list

type 'v known = { now : int; notes : (int * 'v) list tree;
                  changed : int tree; tellers : reg list tree }

val nothing : 'a1 known

val current : ('a1 -> loopid list) -> 'a1 known -> (int * 'a1) -> bool

val reads : ('a1 -> loopid list) -> 'a1 known -> reg -> 'a1 list

val write : 'a1 known -> reg -> 'a1 list -> 'a1 known

val renew :
  'a1 known -> loopid list -> reg list -> (reg -> 'a1 list) -> 'a1 known

val name_teller : 'a1 known -> loopid -> reg option -> 'a1 known

val operand_registers : operand -> reg list

val item_registers : item -> reg list

val mentions : engine -> item code -> reg list

val inner : item code -> loopid list

val concerns : engine -> reg list tree -> item code -> reg list

val touched : engine -> reg list tree -> item code -> reg list

type 'v guess = 'v list tree tree

val at_head : 'a1 guess -> loopid -> reg -> 'a1 list

val tabulate : reg list -> (reg -> 'a1 list) -> 'a1 list tree

val guess_size : 'a1 guess -> int

val parts : expr -> loopid list

type facts = expr known

val values : facts -> reg -> expr list

val has : expr list -> expr -> bool

val ovals : facts -> operand -> expr list

type roles = (reg * expr) list

val about_of : roles -> reg list tree

val at_start : roles -> facts

val fact_limit : int

val size : expr -> int

val insert : expr -> expr list -> expr list

val by_size : expr list -> expr list

val distinct : expr list -> expr list

val also : loopid list -> facts -> int -> operand -> expr list

val results : loopid list -> regop -> facts -> expr list

val size_limit : int

val is_small : expr -> bool

val exec_facts : loopid list -> regop -> facts -> facts

val after_entry : loopid -> expr -> expr option

val survives_exit : loopid -> expr -> bool

val under : (loopid -> loopid list) -> loopid -> loopid -> bool

val as_past : (loopid -> loopid list) -> loopid -> expr -> expr option

val entered1 : (loopid -> loopid list) -> loopid -> expr -> expr list

val enter : (loopid -> loopid list) -> reg list -> loopid -> facts -> facts

val outside : loopid -> facts -> reg -> expr list

val leave : reg list -> loopid -> facts -> facts

val before_loop : loopid -> facts -> reg -> expr list

val all_known : reg list -> (reg -> expr list) -> (reg -> expr list) -> bool

val holds_both : loopid -> expr list -> bool

val loop_head :
  reg list -> loopid -> loopid list -> (reg -> expr list) -> facts -> facts

val joined :
  reg list -> loopid -> loopid -> loopid list -> facts -> facts -> facts ->
  facts

val raises : (instr -> sema option) -> sema -> instr -> bool

val group : tables -> (instr -> sema option) -> sema -> instr -> instr list

val place : instr list -> instr -> int

val tot_of : int -> expr

val hat_of : int -> expr

val past_of : loopid list -> loopid -> int -> loopid -> expr

val runs : loopid list -> loopid -> distance -> expr

val mask : loopid list -> loopid -> distance -> expr

val threshold :
  tables -> (instr -> sema option) -> loopid list -> sema -> dep -> expr

val nodupb : int list -> bool

val distance_ok : tables -> loopid list -> loopid -> distance -> bool

val producer_ok : tables -> (instr -> sema option) -> sema -> dep -> bool

val known_zero : facts -> expr -> loopid -> bool

val one_trip : facts -> loopid -> bool

val informed : loopid list -> bool -> facts -> expr -> expr

val some_version : loopid list -> facts -> expr -> (expr -> bool) -> bool

val holds : loopid list -> facts -> operand -> expr -> bool

val count_le : tables -> expr -> expr -> bool

val base_le : tables -> expr -> expr -> bool

type linear = { factor : int; base : expr; plus : int; minus : int }

val scaled_of : expr -> int -> int -> linear

val linear_of : expr -> linear

val linear_le : tables -> linear -> linear -> bool

val mask_le : expr -> expr -> bool

val masked_of : expr -> expr option * expr

val at_most : tables -> expr -> expr -> bool

val wait_covers :
  tables -> (instr -> sema option) -> loopid list -> facts -> wait -> dep ->
  bool

val never_owed : tables -> loopid list -> dep -> bool

val wait_ok :
  tables -> (instr -> sema option) -> loopid list -> facts -> wait -> dep ->
  bool

val distance_eqb : distance -> distance -> bool

val dep_eqb : dep -> dep -> bool

val dep_mem : dep -> dep list -> bool

val next_instr : item list -> instr option

val served :
  tables -> (instr -> sema option) -> loopid list -> facts -> wait -> instr
  -> dep list

val covered :
  tables -> (instr -> sema option) -> loopid list -> facts -> wait -> instr
  -> dep list

val all_waited : tables -> loopid list -> instr -> dep list -> bool

val items :
  tables -> (instr -> sema option) -> loopid list -> facts -> dep list ->
  item list -> facts option

val chk :
  tables -> (instr -> sema option) -> engine -> reg list tree -> expr guess
  -> loopid list -> facts -> item code -> facts option

val add_written : unit tree -> item -> unit tree

val written : engine -> unit tree -> item code -> unit tree

val is_counter : expr -> bool

val may_last : unit tree -> reg -> expr -> bool

val item_facts : loopid list -> facts -> item -> facts

val candidates :
  expr guess -> unit tree -> loopid -> facts -> reg -> expr list

val infer_pass :
  tables -> engine -> reg list tree -> expr guess -> loopid list -> facts ->
  expr guess -> item code -> facts * expr guess

val infer_upto :
  tables -> engine -> reg list tree -> int -> facts -> item code -> expr
  guess -> expr guess

val infer_passes : int

val infer : tables -> engine -> roles -> item code -> expr guess

val direct : engine -> instr code -> instr list

val stream_ranked : (instr -> int) -> int -> instr list -> bool

val block_end : (instr -> int) -> int -> instr list list -> int

val ranked : (instr -> int) -> int -> instr code -> int option

val common : tables -> loopid -> loopid -> loopid

val in_opposite_branches :
  tables -> (loopid -> loopid -> bool) -> loopid -> loopid -> bool

val before : (instr -> int) -> instr -> instr -> bool

val zero_legal :
  tables -> (instr -> int) -> (loopid -> loopid -> bool) -> instr -> instr ->
  loopid -> bool

val distance_legal :
  tables -> (instr -> int) -> (loopid -> bool) -> (loopid -> loopid -> bool)
  -> instr -> instr -> distance -> bool

val is_placed : tables -> instr -> bool

val deps_legal :
  tables -> (instr -> int) -> (loopid -> bool) -> (loopid -> loopid -> bool)
  -> instr -> bool

val numbered : int -> instr code -> int option

type site = { s_body : loopid; s_engine : engine; s_queue : queue }

val genv0 : genv

val true_at_start : roles -> bool

type 'b table = (int * 'b) list

val lookup : int -> 'a1 table -> 'a1 option

val lookup_or : 'a1 -> int -> 'a1 table -> 'a1

type cert = { c_engines : int; c_spec : instr code; c_code : item code;
              c_deps : dep list table; c_queues : queue table;
              c_weights : int table; c_signals : sema table;
              c_sites : site table; c_roles : roles list; c_ranks : int table }

val bodies : loopid list -> instr code -> (loopid list * instr code) table

val all_bodies : instr code -> (loopid list * instr code) table

val places : int -> instr code -> (loopid * engine) table

val tables_of : cert -> tables

val signals_of : cert -> instr -> sema option

val site_of : cert -> sema -> site

val list_eqb : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool

val nats_eqb : int list -> int list -> bool

val code_eqb : instr code -> instr code -> bool

val width : 'a1 code -> int

val wf_bodyb : tables -> engine -> loopid list -> loopid -> instr code -> bool

val wfcb : tables -> engine -> loopid list -> instr code -> bool

val engine_ok : cert -> tables -> engine -> bool

val signal_ok : cert -> tables -> instr -> sema -> bool

val check : cert -> bool

val branches : instr code -> (loopid * loopid) list

val is_branch : cert -> loopid -> bool

val are_opposite : cert -> loopid -> loopid -> bool

val rank_of : cert -> instr -> int

val has_queue : cert -> instr -> bool

val legal : cert -> bool

type condition = (expr * int) list

type firms = condition known

val condition_parts : condition -> loopid list

val firm_when : firms -> reg -> condition list

val assumed : expr -> (expr * int) -> int

val least : loopid list -> condition -> expr -> int

val follows : loopid list -> condition -> (expr * int) -> bool

val residual : loopid list -> condition -> condition -> condition

val weaker : condition list -> condition -> bool

val all_firm :
  reg list -> (reg -> condition list) -> (reg -> condition list) -> bool

val renamed : loopid -> condition -> condition option

val renamed1 : loopid -> condition -> condition list

val firm_enter : reg list -> loopid -> firms -> firms

val firm_outside : loopid -> firms -> reg -> condition list

val firm_leave : reg list -> loopid -> firms -> firms

val firm_head :
  reg list -> loopid -> loopid list -> (reg -> condition list) -> firms ->
  firms

val firm_joined :
  reg list -> loopid -> loopid -> loopid list -> firms -> firms -> firms ->
  firms

val most : (loopid -> int) -> expr -> int

val above : expr -> condition

val operand_firm : int -> firms -> operand -> condition list

val always_firm : int -> loopid list -> firms -> operand -> bool

val small : int -> (loopid -> int) -> loopid list -> regop -> facts -> bool

val both : loopid list -> condition -> condition -> condition

val all_both :
  loopid list -> condition list -> condition list -> condition list

val both_firm : int -> loopid list -> regop -> firms -> condition list

val never_above : (loopid -> int) -> loopid list -> expr -> expr -> bool

val in_order :
  (loopid -> int) -> loopid list -> regop -> facts -> condition list

val masked :
  int -> loopid list -> facts -> firms -> operand -> operand -> condition list

val result_firm :
  int -> (loopid -> int) -> loopid list -> regop -> facts -> firms ->
  condition list

val condition_limit : int

val put_condition : condition -> condition list -> condition list

val weakest : loopid list -> condition list -> condition list

val exec_firms :
  int -> (loopid -> int) -> loopid list -> regop -> facts -> firms -> firms

val wait_firm : int -> loopid list -> firms -> wait option -> bool

val fit_items :
  int -> (loopid -> int) -> loopid list -> facts -> firms -> item list ->
  (facts * firms) option

val fit_code :
  int -> (loopid -> int) -> (loopid -> loopid list) -> engine -> reg list
  tree -> expr guess -> condition guess -> loopid list -> facts -> firms ->
  item code -> (facts * firms) option

val item_firms :
  int -> (loopid -> int) -> loopid list -> (facts * firms) -> item ->
  facts * firms

val firm_candidates :
  condition guess -> loopid -> firms -> reg -> condition list

val guess_pass :
  int -> (loopid -> int) -> (loopid -> loopid list) -> engine -> reg list
  tree -> expr guess -> condition guess -> loopid list -> facts -> firms ->
  condition guess -> item code -> (facts * firms) * condition guess

val guess_upto :
  int -> (loopid -> int) -> (loopid -> loopid list) -> engine -> reg list
  tree -> expr guess -> int -> facts -> firms -> item code -> condition guess
  -> condition guess

val guess_passes : int

val start_firms : engine -> item code -> firms

val most_of : (loopid -> int) -> cert -> sema -> int

val map_of : 'a1 table -> 'a1 tree

val directs : int -> instr code -> instr list list

val body_entry :
  int -> (loopid list * instr code) -> loopid list * instr list list

val fast_tables : cert -> tables

val opposites : cert -> loopid list tree

val fast_is_branch : loopid list tree -> loopid -> bool

val fast_are_opposite : loopid list tree -> loopid -> loopid -> bool

val fast_legal : cert -> tables -> bool

type entry = { members : instr list; number : int; no_twin : bool }

val entry_of : instr list -> entry

val entry_for :
  tables -> (instr -> sema option) -> (sema -> entry option) -> sema -> instr
  -> entry

val fast_wait :
  tables -> (instr -> sema option) -> (sema -> entry option) -> loopid list
  -> sema -> dep -> (expr -> bool) -> bool

val fast_served :
  tables -> (instr -> sema option) -> (sema -> entry option) -> loopid list
  -> facts -> wait -> instr -> dep list

val fast_covers : tables -> loopid list -> facts -> operand -> expr -> bool

val fast_covered :
  tables -> (instr -> sema option) -> (sema -> entry option) -> loopid list
  -> facts -> wait -> instr -> dep list

val fast_all_waited : tables -> loopid list -> instr -> dep list -> bool

val fast_items :
  tables -> (instr -> sema option) -> (sema -> entry option) -> loopid list
  -> facts -> dep list -> item list -> facts option

val fast_chk :
  tables -> (instr -> sema option) -> (sema -> entry option) -> engine -> reg
  list tree -> expr guess -> loopid list -> facts -> item code -> facts option

val group_at : tables -> (instr -> sema option) -> (sema * site) -> entry

val entries : tables -> (instr -> sema option) -> cert -> entry tree

val fast_engine_ok :
  cert -> tables -> (instr -> sema option) -> (sema -> entry option) ->
  engine -> bool

val fast_signal_ok : tables -> site tree -> instr -> sema -> bool

val fast_check : cert -> tables -> bool

val certify_fast : cert -> bool

val fast_engine_fits :
  int -> (loopid -> int) -> cert -> tables -> engine -> bool

val fast_most_of :
  (loopid -> int) -> cert -> tables -> site tree -> (sema -> entry option) ->
  sema -> int

val code_fits_fast : int -> (loopid -> int) -> cert -> bool

val word_alu : int -> alu -> int -> int -> int

val word_value : int -> operand -> (reg -> int) -> int

val word_exec : int -> regop -> (reg -> int) -> reg -> int

val word_raise :
  int -> tables -> (instr -> sema option) -> (sema -> int) -> instr -> sema
  -> int

type action =
| Control of engine
| Operate of engine
| Commit of queue * int
| Retire of queue

type ('c, 'a) walked = ('a pos * 'c) * loopid option

val reach_end :
  (engine -> loopid -> 'a1 -> bool) -> (engine -> loopid -> 'a1 -> 'a1) ->
  engine -> 'a2 kont -> 'a1 -> ('a1, 'a2) walked option

val reach :
  (engine -> loopid -> 'a1 -> bool) -> (engine -> loopid -> 'a1 -> 'a1) ->
  engine -> 'a2 code -> 'a2 kont -> 'a1 -> ('a1, 'a2) walked option

val control :
  (engine -> loopid -> 'a1 -> bool) -> (engine -> loopid -> 'a1 -> 'a1) ->
  engine -> 'a2 pos -> 'a1 -> ('a1, 'a2) walked option

val unowedb : (loopid -> int) -> counts -> loopid -> distance -> bool

val owed : (loopid -> int) -> counts -> loopid -> distance -> int

val satb : tables -> ('a1, 'a2) sstate -> engine -> dep -> bool

val is_ready : tables -> ('a1, 'a2) sstate -> engine -> instr -> bool

val spec_does :
  (instr -> 'a1 -> 'a1) -> (engine -> loopid -> 'a2 -> bool) -> (engine ->
  loopid -> 'a2 -> 'a2) -> tables -> ('a1, 'a2) sstate -> action -> (event
  list * ('a1, 'a2) sstate) option

val passesb : int -> ('a1, 'a2) istate -> engine -> wait -> bool

val wait_passes : int -> ('a1, 'a2) istate -> engine -> wait option -> bool

val operate :
  tables -> int -> ('a1, 'a2) istate -> engine -> item -> item pos -> (event
  list * ('a1, 'a2) istate) option

val code_does :
  (instr -> 'a1 -> 'a1) -> (engine -> loopid -> 'a2 -> bool) -> (engine ->
  loopid -> 'a2 -> 'a2) -> tables -> (instr -> sema option) -> int -> ('a1,
  'a2) istate -> action -> (event list * ('a1, 'a2) istate) option
