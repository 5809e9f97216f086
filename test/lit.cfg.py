# How lit runs the tests of this directory.
import os
import subprocess

import lit.formats

config.name = "tally"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

# Our tools first, then FileCheck, not, and mlir-opt.
config.environment["PATH"] = os.pathsep.join(
    [config.tally_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
# A long run (`./do test --long`) looks at more of the same.
if os.environ.get("TALLY_LONG"):
    config.environment["TALLY_LONG"] = "1"
    config.available_features.add("long")
config.environment["TALLY_MACHINES"] = os.path.join(config.tally_source_dir, "machines")

config.substitutions.append(("%programs", config.tally_tools_dir))
config.substitutions.append(("%plugin", config.tally_plugin))
# What chooses a version of Python takes longer than most of what it starts.
python = subprocess.check_output([config.python, "-c", "import sys; print(sys.executable)"], text=True)
config.substitutions.append(("%python", python.strip()))
reference = "%s %s/utils/numpy-reference.py" % (config.numpy_python, config.tally_source_dir)
config.substitutions.append(("%numpy_reference", reference))
config.substitutions.append(("%numpy", config.numpy_python))
config.substitutions.append(("%source_dir", config.tally_source_dir))

# A program without sanitizers can load a plugin with them only if their runtime is there first.
mlir_opt = "mlir-opt"
if config.tally_sanitize in ("ON", "1", "TRUE"):
    config.available_features.add("sanitize")
    runtime = subprocess.check_output([config.cxx, "-print-file-name=libasan.so"], text=True)
    mlir_opt = "env LD_PRELOAD=%s ASAN_OPTIONS=detect_leaks=0 mlir-opt" % runtime.strip()
config.substitutions.append(("%mlir_opt", mlir_opt))

# The proved checker, which is built where there is an OCaml compiler.
if os.path.exists(os.path.join(config.tally_tools_dir, "tally-certify")):
    config.available_features.add("certify")
