# How lit runs the tests of this directory.
import os

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
config.environment["TALLY_MACHINES"] = os.path.join(config.tally_source_dir, "machines")

config.substitutions.append(("%plugin", config.tally_plugin))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%source_dir", config.tally_source_dir))
