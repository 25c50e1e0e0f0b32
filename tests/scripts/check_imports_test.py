#!/usr/bin/python3
"""Plants violations of the import rule in a small tree, and a clean tree, and looks at what check-imports says."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)

CLEAN = {
    "base/error.hpp": "#include <string>\n",
    "hw/block.hpp": '#include <ATen/core/Tensor.h>\n#include "base/error.hpp"\n',
    "hw/block.cpp": '#include "hw/block.hpp"\n',
    "tests/hw/block_test.cpp": '#include "hw/block.hpp"\n#include "scratch.hpp"\n',
}


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write(text)
        result = subprocess.run([SCRIPT, root], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout


class CheckImports(unittest.TestCase):
    def found(self, expected, **planted):
        """Adds one file to the clean tree, path with '__' for '/', and expects exactly one violation."""
        files = {path.replace("__", "/") + ".hpp": text for path, text in planted.items()}
        code, output = check({**CLEAN, **files})
        self.assertEqual(code, 1)
        self.assertEqual(output.count("\n"), 1, output)
        self.assertIn(expected, output)

    def test_a_clean_tree_passes(self):
        self.assertEqual(check(CLEAN), (0, "4 files follow the import rule\n"))

    def test_an_empty_tree_does_not_pass(self):
        self.assertEqual(check({"docs/a.hpp": ""})[0], 1)

    def test_upward_include(self):
        self.found("base/up.hpp:1: base must not include hw (hw/block.hpp)", base__up='#include "hw/block.hpp"\n')
        self.found("must not include hw", tests__base__up=' #  include "hw/block.hpp"\n')

    def test_relative_and_missing_includes(self):
        self.found('by its path from the root, not "block.hpp"', hw__other='#include "block.hpp"\n')
        self.found('not "../base/error.hpp"', hw__other='#include "../base/error.hpp"\n')
        self.found("there is no file base/none.hpp", hw__other='#include "base/none.hpp"\n')
        self.found("included with quotes", hw__other="#include <base/error.hpp>\n")

    def test_all_of_libtorch_in_a_header(self):
        self.found("all of LibTorch", hw__other="#include <torch/torch.h>\n")

    def test_cycle(self):
        code, output = check({**CLEAN, "hw/a.hpp": '#include "hw/b.hpp"\n', "hw/b.hpp": '#include "hw/a.hpp"\n'})
        self.assertEqual(code, 1)
        self.assertIn("cycle of includes: hw/a.hpp -> hw/b.hpp -> hw/a.hpp", output)


if __name__ == "__main__":
    unittest.main()
