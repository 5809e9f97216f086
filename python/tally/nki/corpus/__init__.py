"""`tally-nki corpus DIR`: all kernels of a checkout, traced at the shapes of their own tests, and measured.

Kernels of others are read from a checkout, and nothing of theirs is part of the project: neither code nor
arguments. So the arguments come from where the checkout itself has them, its tests and its examples. These
run as they are, while a call of a kernel goes to a recorder:

  found.py        kernels and drivers (tests, examples) of a checkout, by their syntax
  standins.py     modules that drivers import and that are not installed: tests, element types, devices
  drivers.py      runs a driver case by case, as a runner of tests would
  recorder.py     what a call of a kernel does: it is noted, or traced
  cores.py        the programs of a launch grid, run together
  comparisons.py  what a driver compares with the results
  again.py        whether that is a reference, or made of the results
  files.py        where a driver may write, and what it reads
  child.py        the process that runs one driver, or traces one kernel, within its limits
  measure.py      what `tally` says of a traced kernel
  memory.py       the limit of memory of each process
  results.py      what is kept of earlier runs, and when it still holds
  page.py         the page, as HTML and as JSON
  command.py      the walk

A kernel is traced in a process of its own, with limits of time and memory, so none can stop the walk.
"""
