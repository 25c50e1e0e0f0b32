#!/usr/bin/python3
"""Runs the commands of README.md that stand in ```sh blocks: readme_test.py <repository root> <program>

They run in a scratch folder that holds a link to configs/, with the built program for ./zbphw. Training is cut to three
steps. Blocks of another kind (```text) are shown, not run.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT, PROGRAM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def commands(text):
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            line = re.sub(r"\s+#.*", "", line).strip()
            if line.startswith("./zbphw"):
                yield line
            elif line and line != "./test":  # this test is part of ./test
                sys.exit(f"README.md: '{line}' is neither ./zbphw nor ./test; show it in a ```text block")


def main():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        lines = list(commands(file.read()))
    if not lines:
        sys.exit("README.md: no command found")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if os.path.isdir(os.path.join(ROOT, "configs")):
            os.symlink(os.path.join(ROOT, "configs"), os.path.join(folder, "configs"))
        for number, line in enumerate(lines):
            words = line.replace("./zbphw", PROGRAM, 1)
            if line.startswith("./zbphw train"):
                words += f" --steps 3 --out runs/readme-{number}"
            result = subprocess.run(words, shell=True, cwd=folder, capture_output=True, text=True, check=False)
            print(f"{'ok' if result.returncode == 0 else 'FAILED'}: {line}")
            if result.returncode != 0:
                failed = 1
                print(result.stdout + result.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
