/* process_stubs.c - what a process asks of its system

   Room for deep recursion: what Coq extracts recurses on the lists that it goes through, and these may hold a million
   elements. The stack of a process grows up to a limit that a process may raise for itself, and
   that counts from when its program is started.

   To end with its parent, however that ends: nobody would hear what a worker says then. */

#include <caml/mlvalues.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Raises the limit towards so many MiB; whether it is another one now. */
value tally_raise_stack(value mebibytes) {
  struct rlimit limit;
  rlim_t wanted = (rlim_t)Long_val(mebibytes) << 20;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return Val_false;
  }
  if (limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max) {
    wanted = limit.rlim_max;
  }
  if (wanted <= limit.rlim_cur) {
    return Val_false;
  }
  limit.rlim_cur = wanted;
  return Val_bool(setrlimit(RLIMIT_STACK, &limit) == 0);
}

value tally_end_with_parent(value unit) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return unit;
}
