#!/usr/bin/python3
"""Drives `zbphw train` from outside: results, refusals, being stopped and killed, and continuing."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))

MODEL = {"layers": 1, "width": 16, "heads": 2, "ffn_multiple_of": 8, "context_tokens": 16}
CONFIG = {
    "kind": "train", "name": "tiny", "rule": "bp", "model": MODEL,
    "data": {"path": "text.txt", "validation_tokens": 200},
    "batch": {"sequences": 4, "sequences_per_pass": 4}, "budget_tokens": 20 * 64,
    "schedule": {"warmup_steps": 2}, "validation": {"every_steps": 5}, "checkpoint": {"every_steps": 4},
}


class TrainTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.write("text.txt", "the cat sat on the mat; " * 100)
        self.write("tiny.json", json.dumps(CONFIG))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, *arguments):
        config = () if "--config" in arguments else ("--config", "tiny.json")
        return subprocess.Popen([PROGRAM, "train", *config, "--threads", "1", *arguments],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)

    def run_train(self, *arguments):
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=300)
        return process.returncode, output, errors

    def log(self, run):
        with open(os.path.join(self.folder, run, "log.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        for line in lines:
            del line["time_s"]
        return lines

    def weights(self, run, step):
        path = os.path.join(self.folder, run, "checkpoints", f"step_{step:09}", "model.safetensors")
        with open(path, "rb") as file:
            return file.read()


class Results(TrainTest):
    def test_json_has_the_keys_that_scripts_rely_on(self):
        code, output, _ = self.run_train("--json")
        self.assertEqual(code, 0)
        result = json.loads(output)
        for key in ("command", "version", "seed", "out", "files", "wall_s", "rule", "physical", "parameters", "steps",
                    "tokens", "ln_vocab", "unigram_entropy", "tokens_per_s", "step_ms", "skips", "guard_events"):
            self.assertIn(key, result)
        for key in ("initial", "final", "best"):
            self.assertIn(key, result["loss"])
            self.assertIn("validation_" + key, result["loss"])
        self.assertEqual((result["rule"], result["steps"], result["tokens"]), ("bp", 20, 1280))
        self.assertEqual(result["out"], "runs/train/tiny-bp")
        for file in result["files"]:
            self.assertTrue(os.path.exists(os.path.join(self.folder, file)), file)

    def test_the_run_directory_reads_without_our_code(self):
        self.run_train("--quiet")
        run = os.path.join(self.folder, "runs/train/tiny-bp")
        with open(os.path.join(run, "config.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["model"]["vocab"], 11)
        header = self.log("runs/train/tiny-bp")[0]
        for key in ("config", "commit", "parameters", "libtorch", "blas", "threads"):
            self.assertIn(key, header)
        data = self.weights("runs/train/tiny-bp", 20)
        length = int.from_bytes(data[:8], "little")
        tensors = json.loads(data[8:8 + length])
        self.assertEqual(tensors["embedding"]["shape"], [11, 16])
        self.assertEqual(max(t["data_offsets"][1] for n, t in tensors.items() if n != "__metadata__"),
                         len(data) - 8 - length)

    def test_options_stand_over_the_file_and_set_over_both(self):
        code, output, _ = self.run_train("--json", "--steps", "3", "--seed", "7", "--set", "batch.sequences=2")
        result = json.loads(output)
        self.assertEqual((code, result["steps"], result["tokens"], result["seed"]), (0, 3, 96, 7))
        code, output, _ = self.run_train("--json", "--tokens", "100", "--out", "other")
        result = json.loads(output)
        self.assertEqual((result["steps"], result["tokens"], result["out"]), (2, 100, "other"))

    def test_the_text_result_goes_to_standard_output_and_news_to_standard_error(self):
        _, output, errors = self.run_train()
        self.assertIn("ln V 2.398", output)
        self.assertIn("update 20: validation loss", errors)
        _, _, errors = self.run_train("--quiet", "--out", "quiet")
        self.assertEqual(errors, "")


class Plans(TrainTest):
    def test_a_dry_run_measures_and_writes_nothing(self):
        before = sorted(os.listdir(self.folder))
        code, output, errors = self.run_train("--dry-run", "--json", "--tokens", "10000")
        self.assertEqual(code, 0, errors)
        plan = json.loads(output)["plan"]
        # 157 updates of 64 tokens, validated before the first, then every 5th and at the end; saved every 4th.
        self.assertEqual((plan["tokens"], plan["updates"], plan["validations"], plan["checkpoints"]),
                         (10000, 157, 1 + 32, 40))
        self.assertGreater(plan["update_s"], 0)
        self.assertGreater(plan["validation_s"], 0)
        self.assertAlmostEqual(plan["total_s"], 157 * plan["update_s"] + 33 * plan["validation_s"])
        self.assertGreater(plan["peak_memory_bytes"], 10 << 20)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_a_dry_run_beside_a_run_leaves_it_alone(self):
        self.run_train("--quiet")
        before = self.log("runs/train/tiny-bp")
        code, output, _ = self.run_train("--dry-run")
        self.assertEqual(code, 0)
        self.assertIn("a run in runs/train/tiny-bp would train", output)
        self.assertEqual(self.log("runs/train/tiny-bp"), before)


class Runs(TrainTest):
    def list_runs(self, *arguments):
        result = subprocess.run([PROGRAM, "runs", "--json", *arguments], stdout=subprocess.PIPE, text=True,
                                cwd=self.folder, check=False, timeout=60)
        return result.returncode, json.loads(result.stdout)

    def test_an_empty_place_has_no_runs(self):
        self.assertEqual(self.list_runs()[1]["runs"], [])
        code, result = self.list_runs("nowhere")
        self.assertEqual((code, result["error"]["where"]), (3, "nowhere"))

    def test_runs_are_listed_with_state_and_best_loss(self):
        self.run_train("--quiet")
        self.run_train("--quiet", "--out", "runs/cut")
        log = os.path.join(self.folder, "runs/cut/log.jsonl")
        with open(log, encoding="utf-8") as file:
            lines = file.readlines()
        # As a kill leaves it: the last lines missing, one of them half written.
        with open(log, "w", encoding="utf-8") as file:
            file.writelines(lines[:12] + [lines[12][:20]])
        os.remove(os.path.join(self.folder, "runs/cut/summary.json"))
        self.run_train("--quiet", "--out", "runs/bad")
        self.write("runs/bad/config.json", "{")
        bad, cut, done = self.list_runs()[1]["runs"]
        self.assertEqual((bad["path"], bad["state"]), ("runs/bad", "damaged"))
        self.assertEqual((cut["path"], cut["state"]), ("runs/cut", "stopped"))
        self.assertEqual((done["path"], done["kind"], done["state"]), ("runs/train/tiny-bp", "train", "done"))
        self.assertEqual((done["step"], done["total_steps"]), (20, 20))
        losses = [line["loss"] for line in self.log("runs/train/tiny-bp") if line["event"] == "validation"]
        self.assertEqual(done["best_validation_loss"], min(losses))
        self.assertLess(cut["step"], 20)

    def test_a_run_that_goes_on_is_running(self):
        process = self.start("--quiet", "--steps", "1000000")
        try:
            while not os.path.exists(os.path.join(self.folder, "runs/train/tiny-bp/log.jsonl")):
                time.sleep(0.05)
            self.assertEqual(self.list_runs()[1]["runs"][0]["state"], "running")
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertEqual(self.list_runs()[1]["runs"][0]["state"], "stopped")


class Refusals(TrainTest):
    def refused(self, code, parts, *arguments):
        returned, output, errors = self.run_train(*arguments, "--json")
        self.assertEqual(returned, code, errors)
        for part in parts:
            self.assertIn(part, json.loads(output)["error"]["where"] + json.loads(output)["error"]["message"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))

    def test_mistakes_leave_nothing_behind(self):
        self.refused(2, ["--steps and --tokens"], "--steps", "3", "--tokens", "3")
        self.refused(2, ["--steps", "at least 1"], "--steps", "0")
        self.refused(2, ["--resume", "auto or never"], "--resume", "always")
        self.refused(2, ["rule", "bakprop"], "--rule", "bakprop")
        self.refused(2, ["none.json"], "--config", "none.json")
        self.refused(2, ["quickstrat", "quickstart"], "--config", "quickstrat")
        self.refused(2, ["batch", "sequence", "sequences"], "--set", "batch.sequence=2")
        self.refused(3, ["none.txt"], "--data", "none.txt")
        self.write("empty.txt", "")
        self.refused(3, ["empty.txt", "is empty"], "--data", "empty.txt")
        self.write("short.txt", "short")
        self.refused(3, ["short.txt", "has 5 tokens"], "--data", "short.txt")

    def test_a_run_with_another_configuration_is_not_mixed_in(self):
        self.run_train()
        code, _, errors = self.run_train("--steps", "3")
        self.assertEqual(code, 3)
        self.assertIn("budget_tokens", errors)
        code, _, errors = self.run_train("--resume", "never")
        self.assertEqual(code, 3)
        self.assertIn("holds checkpoints of an earlier run", errors)
        self.assertEqual(self.run_train("--steps", "3", "--force")[0], 0)


class Continuing(TrainTest):
    def test_ctrl_c_saves_and_the_same_command_continues(self):
        self.assertEqual(self.run_train("--steps", "1500", "--out", "whole")[0], 0)
        process = self.start("--steps", "1500", "--out", "run", "--json")
        time.sleep(0.1)
        while not os.path.exists(os.path.join(self.folder, "run", "log.jsonl")):
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(json.loads(output)["error"]["kind"], "interrupted")
        self.assertEqual(self.run_train("--steps", "1500", "--out", "run")[0], 0)
        self.assertEqual(self.weights("run", 1500), self.weights("whole", 1500))

    def test_a_chip_in_its_own_time_goes_on_where_it_was(self):
        arguments = ("--rule", "zbp", "--physical", "systemc", "--quiet", "--set", "zbp.score_core.order=+--+")
        self.assertEqual(self.run_train(*arguments, "--out", "whole")[0], 0)
        self.assertEqual(self.run_train(*arguments, "--out", "part")[0], 0)
        # As if killed after the checkpoint of update 16: the later one is gone.
        shutil.rmtree(os.path.join(self.folder, "part/checkpoints/step_000000020"))
        self.assertEqual(self.run_train(*arguments, "--out", "part")[0], 0)
        self.assertEqual(self.weights("part", 20), self.weights("whole", 20))
        self.assertEqual(self.log("part"), self.log("whole"))

    def test_killed_at_random_moments_a_run_ends_as_if_never_touched(self):
        arguments = ("--steps", "600", "--quiet", "--set", "checkpoint.every_steps=10")
        self.assertEqual(self.run_train(*arguments, "--out", "whole")[0], 0)
        moments = random.Random(1)
        kills = 0
        while kills < 20:
            process = self.start(*arguments, "--out", "run")
            try:
                process.communicate(timeout=moments.uniform(0.05, 0.6))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        self.assertGreater(kills, 0)
        self.assertEqual(self.run_train(*arguments, "--out", "run")[0], 0)
        self.assertEqual(self.weights("run", 600), self.weights("whole", 600))
        self.assertEqual(self.log("run"), self.log("whole"))


if __name__ == "__main__":
    unittest.main()
