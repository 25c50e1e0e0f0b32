#!/usr/bin/python3
"""Drives the built program from outside: exit codes, one-line errors, suggestions, and what goes to which stream."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
CONFIGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "configs")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          text=True, timeout=120, check=False, **options)


class Help(unittest.TestCase):
    def test_general_help_lists_the_commands(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("\n  config ", result.stdout)
        self.assertEqual(result.stderr, "")

    def test_help_of_a_command_shows_options_and_examples(self):
        for arguments in (["config", "--help"], ["config", "-h"], ["config", "--nonsense", "--help"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 0)
            for part in ("usage: zbphw config", "--explain", "--seed", "Examples:"):
                self.assertIn(part, result.stdout)

    def test_every_command_has_a_summary_and_an_example(self):
        listed = run("--help").stdout.split("commands:\n")[1].split("\n\n")[0].splitlines()
        for line in listed:
            name, summary = line.split(None, 1)
            self.assertTrue(summary)
            self.assertIn(f"Examples:\n  zbphw {name}", run(name, "--help").stdout)


class Version(unittest.TestCase):
    def test_it_names_every_library(self):
        result = json.loads(run("--version", "--json").stdout)
        for key in ("version", "commit", "compiler", "libtorch", "systemc", "hdf5", "blas", "cpu_capability"):
            self.assertTrue(result[key], key)
            self.assertIn(str(result[key]), run("--version").stdout)
        self.assertGreaterEqual(result["threads"], 1)

    def test_the_thread_count_follows_the_affinity_mask(self):
        one = {min(os.sched_getaffinity(0))}
        result = run("--version", "--json", preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual(json.loads(result.stdout)["threads"], 1)


class ModelInfo(unittest.TestCase):
    def test_a_shipped_rung_has_its_exact_count(self):
        result = json.loads(run("model", "--info", "rung_135m", "--json").stdout)
        self.assertEqual(result["parameters"], 135303936)
        self.assertEqual(sum(part["parameters"] for part in result["parts"]), 135303936)
        self.assertEqual(result["memory_bytes"]["weights"], 4 * 135303936)
        self.assertIn("135,303,936", run("model", "--info", "rung_135m").stdout)

    def test_bad_models_are_refused(self):
        for arguments, code, part in (([], 2, "--info FILE is needed"),
                                      (["--info", "quickstart"], 2, "give one with --set vocab=NUMBER"),
                                      (["--info", "quickstat"], 2, "did you mean 'quickstart'"),
                                      (["--info", "nowhere/m.json"], 2, "nowhere/m.json"),
                                      (["--info", "s60", "--set", "heads=7"], 2, "heads: must divide width 512")):
            result = run("model", *arguments)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(part, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)


class ReferenceBlas(unittest.TestCase):
    FOLDER = "/usr/lib/x86_64-linux-gnu/blas"  # Debian's libblas3

    def test_it_is_warned_of_once_and_not_with_quiet(self):
        if not os.path.exists(self.FOLDER + "/libblas.so.3"):
            self.skipTest("libblas3 is not installed")
        slow = {**os.environ, "LD_LIBRARY_PATH": self.FOLDER}
        arguments = ("config", "--explain", "train")
        self.assertIn("zbphw: warning: matrix products run on the reference BLAS, /", run(*arguments, env=slow).stderr)
        self.assertEqual(run(*arguments, "--quiet", env=slow).stderr, "")
        self.assertIn("reference BLAS, ", json.loads(run("--version", "--json", env=slow).stdout)["blas"])


class Config(unittest.TestCase):
    def test_checking_prints_the_effective_configuration_that_checks_again(self):
        path = os.path.join(CONFIGS, "train", "quickstart.json")
        result = run("config", "--check", path, "--set", "batch.sequences=3", "--set", "batch.sequences_per_pass=3", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("\n"), 1)
        values = json.loads(result.stdout)
        self.assertEqual([values[key] for key in ("command", "out", "files", "kind", "valid")],
                         ["config", None, [], "train", True])
        self.assertGreater(values["wall_s"], 0)
        self.assertEqual(values["config"]["batch"]["sequences"], 3)
        with tempfile.TemporaryDirectory() as folder:
            again = os.path.join(folder, "again.json")
            with open(again, "w", encoding="utf-8") as out:
                json.dump(values["config"], out)
            checked = json.loads(run("config", "--check", again, "--json").stdout)
        self.assertEqual(checked["config"], values["config"])

    def test_without_json_one_line_says_that_it_is_valid(self):
        path = os.path.join(CONFIGS, "devices", "default.json")
        self.assertEqual(run("config", "--check", path).stdout, f"{path}: a valid device configuration\n")

    def test_explaining_a_kind_gives_one_row_a_key(self):
        rows = json.loads(run("config", "--explain", "train", "--json").stdout)["rows"]
        row = next(row for row in rows if row["key"] == "batch.sequences")
        self.assertEqual(row["default"], "16")
        self.assertIn("an integer from 1", row["allowed"])
        table = run("config", "--explain", "train").stdout.splitlines()
        self.assertEqual(table[2].split(), ["key", "unit", "default", "allowed", "meaning"])
        self.assertEqual(len(table), 3 + len(rows))


class Refusals(unittest.TestCase):
    def refused(self, code, parts, *arguments, **options):
        """With --json the command fails with one line on standard error and one object on standard output."""
        result = run(*arguments, "--json", **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertTrue(result.stderr.startswith("zbphw: error: "), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)
        self.assertEqual(result.stdout.count("\n"), 1)
        error = json.loads(result.stdout)["error"]
        self.assertEqual(set(error), {"kind", "message", "where"})
        return error["kind"]

    def test_no_command(self):
        result = run()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, "zbphw: error: no command given ('zbphw --help' lists them)\n")

    def test_without_json_standard_output_stays_empty(self):
        result = run("config", "--chekc")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_unknown_command_and_option(self):
        self.assertEqual(self.refused(2, ["'confg'", "did you mean 'config'?"], "confg"), "usage")
        self.refused(2, ["unknown command ''"], "")
        self.refused(2, ["a command comes first"], "--quiet", "config")
        self.refused(2, ["'--chekc'", "did you mean '--check'?"], "config", "--chekc", "a.json")
        self.refused(2, ["unexpected argument 'a.json'"], "config", "a.json")
        self.refused(2, ["--check FILE"], "config")

    def test_cuda_where_there_is_none(self):
        if os.path.exists("/dev/nvidia0"):
            self.skipTest("this machine has a GPU")
        self.refused(2, ["--compute cuda", "allowed here: cpu"], "config", "--explain", "x", "--compute", "cuda")

    def test_bad_configuration_files(self):
        with tempfile.TemporaryDirectory() as folder:
            def file(name, text):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text)
                return path
            check = ("config", "--check")
            self.assertEqual(self.refused(2, ["No such file"], *check, os.path.join(folder, "none.json")), "config")
            self.refused(2, ["is a directory"], *check, folder)
            self.refused(2, ["is empty"], *check, file("a.json", ""))
            self.refused(2, ["ends in the middle"], *check, file("b.json", '{"kind": "devi'))
            self.refused(2, ["line 1"], *check, file("c.json", "<xml/>"))
            self.refused(2, ["has no key \"kind\""], *check, file("d.json", "{}"))
            self.refused(2, ["unknown kind of configuration 'zzz'"], *check, file("e.json", '{"kind": "zzz"}'))
            self.refused(2, ["expected path=value"], *check, file("f.json", "{}"), "--set", "novalue")

    def test_a_name_with_a_line_break_stays_on_one_line(self):
        self.refused(2, ["unknown command 'two lines'"], "two\nlines")

    def test_unknown_kind(self):
        self.refused(2, ["--explain: unknown kind"], "config", "--explain", "zzz")

    def test_standard_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = run("--help", stdout=full)
        self.assertEqual(result.returncode, 3)
        self.assertIn("standard output: cannot be written: No space left", result.stderr)


if __name__ == "__main__":
    unittest.main()
