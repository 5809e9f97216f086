# TALLY_NUMPY_PYTHON: a Python with NumPy. The first one on the path may be another than the system's,
# whose package python3-numpy is.
if(NOT TALLY_NUMPY_PYTHON)
  foreach(python IN ITEMS python3 /usr/bin/python3)
    execute_process(COMMAND ${python} -c "import numpy, sys; print(sys.executable)"
      RESULT_VARIABLE status OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(status EQUAL 0)
      set(TALLY_NUMPY_PYTHON "${path}" CACHE FILEPATH "A Python with NumPy")
      break()
    endif()
  endforeach()
endif()
if(NOT TALLY_NUMPY_PYTHON)
  message(FATAL_ERROR "no Python with NumPy; install python3-numpy, or give -DTALLY_NUMPY_PYTHON")
endif()
