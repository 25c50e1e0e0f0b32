#!/usr/bin/python3
"""Drives `zbphw simulate` and `zbphw train` on plugins: the same numbers, faults as exit code 5, and going on after them.

plugin_test.py ZBPHW SIMULATOR_PLUGIN FAULT_PLUGIN MY_CHIP SOURCE_DIRECTORY
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE, MY_CHIP, FAULT, SIMULATOR, PROGRAM = (os.path.abspath(sys.argv.pop()) for _ in range(5))
SAMPLES = os.path.join(SOURCE, "docs", "plugin_samples")

TRAIN = {
    "kind": "train", "name": "tiny", "rule": "zbp", "physical": "noisy",
    "model": {"layers": 2, "width": 16, "heads": 2, "ffn_multiple_of": 8, "context_tokens": 16},
    "data": {"path": "text.txt", "validation_tokens": 200},
    "batch": {"sequences": 4, "sequences_per_pass": 4}, "budget_tokens": 12 * 64,
    "schedule": {"warmup_steps": 2}, "validation": {"every_steps": 5}, "checkpoint": {"every_steps": 4},
}


class OnPlugins(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.write("text.txt", "the cat sat on the mat; " * 100)
        self.write("tiny.json", json.dumps(TRAIN))
        self.device("sim.json", {"library": SIMULATOR, "options": {"device": "default"}})
        self.device("direct.json", {"library": SIMULATOR, "options": {"device": "default"}, "isolation": "none"})
        self.device("fault.json", FAULT)
        self.device("bench.json", {"command": ["/usr/bin/python3", "my_bench.py"], "folder": SAMPLES})

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def device(self, name, plugin, kinds=("softmax", "swiglu")):
        blocks = {kind: {"plugin": plugin} for kind in kinds}
        self.write(name, json.dumps({"kind": "device", "name": name, "blocks": blocks}))

    def start(self, command, *arguments, fault=None, **options):
        environment = {**os.environ, **({"ZBPHW_TEST_FAULT": fault} if fault else {})}
        config = ("--config", "tiny.json") if command == "train" else ()
        return subprocess.Popen([PROGRAM, command, *config, "--threads", "1", "--json", "--quiet", *arguments],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                env=environment, **options)

    def run_zbphw(self, command, *arguments, code=0, fault=None):
        process = self.start(command, *arguments, fault=fault)
        output, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, errors)
        return json.loads(output)

    def refused(self, code, kind, parts, command, *arguments, fault=None):
        error = self.run_zbphw(command, *arguments, code=code, fault=fault)["error"]
        self.assertEqual(error["kind"], kind)
        for part in parts:
            self.assertIn(part, error["where"] + ": " + error["message"])

    def weights(self, run, step=12):
        path = os.path.join(self.folder, run, "checkpoints", f"step_{step:09}", "model.safetensors")
        with open(path, "rb") as file:
            return file.read()

    def log(self, run):
        with open(os.path.join(self.folder, run, "log.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        for line in lines:
            del line["time_s"]
        return lines


# The error at every time. A plugin cannot be asked to switch a source of error off, so it has no split.
def whole_errors(drift):
    return [{key: value for key, value in point.items() if key != "error_by_source"} for point in drift]


class Simulate(OnPlugins):
    def test_the_exported_simulator_gives_the_built_in_figures(self):
        for block in ("softmax", "swiglu"):
            built_in = self.run_zbphw("simulate", "--device", "default", "--block", block, "--queries", "50",
                                      "--at-s", "0,0.05", "--out", block)
            for device in ("sim.json", "direct.json"):
                plugin = self.run_zbphw("simulate", "--device", device, "--block", block, "--queries", "50",
                                        "--at-s", "0,0.05", "--out", block + device)
                for key in ("rows", "columns", "queries", "snr_db", "nsr", "bias", "saturated_fraction"):
                    self.assertEqual(plugin[key], built_in[key], key)
                self.assertEqual(whole_errors(plugin["drift"]), whole_errors(built_in["drift"]))
                self.assertAlmostEqual(plugin["energy_pj"]["per_query"], built_in["energy_pj"]["per_query"], 6)
                self.assertAlmostEqual(plugin["latency_ns"]["mean"], built_in["latency_ns"]["mean"], 6)
                self.assertEqual(plugin["plugin"]["name"], "zbphw simulator")

    def test_the_exported_crossbar_gives_the_built_in_figures(self):
        self.device("array.json", {"library": SIMULATOR, "options": {"device": "pcm_crossbar"}}, ["crossbar_linear"])
        arguments = ("--size", "40x24", "--queries", "30", "--at-s", "25,3600")
        built_in = self.run_zbphw("simulate", "--device", "pcm_crossbar", *arguments, "--out", "a")
        plugin = self.run_zbphw("simulate", "--device", "array.json", *arguments, "--out", "b")
        for key in ("rows", "columns", "queries", "snr_db", "nsr", "bias", "saturated_fraction"):
            self.assertEqual(plugin[key], built_in[key], key)
        self.assertEqual(whole_errors(plugin["drift"]), whole_errors(built_in["drift"]))
        self.assertEqual(plugin["energy_pj"]["by_component"]["programming"],
                         built_in["energy_pj"]["by_component"]["programming"])

    def test_chips_that_count_nothing_are_timed_here(self):
        bench = self.run_zbphw("simulate", "--device", "bench.json", "--queries", "20", "--size", "8x8")
        self.assertGreater(bench["snr_db"], 100)
        self.assertIsNone(bench["saturated_fraction"])
        self.assertGreater(bench["latency_ns"]["mean"], 0)
        self.assertEqual(bench["drift"], [])
        self.device("chip.json", MY_CHIP, ["swiglu"])
        chip = self.run_zbphw("simulate", "--device", "chip.json", "--queries", "200", "--size", "16x8")
        self.assertTrue(20 < chip["snr_db"] < 60, chip["snr_db"])

    def test_a_fault_is_exit_code_5_with_the_number_of_the_query(self):
        for fault, parts in (("nan", ["query 17 (pass 0, layer 0, row 17)", "output 1 is not a number"]),
                             ("exit", ["query 17", "ended with exit code 3"]),
                             ("error", ["query 17", "the bias supply is out of its range"])):
            self.refused(5, "device", ["libzbphw_fault_plugin.so (swiglu)", *parts], "simulate", "--device",
                         "fault.json", "--block", "swiglu", "--size", "16x8", fault=fault + "@17")
        self.device("none.json", "libnone.so")
        self.refused(5, "device", ["libnone.so", "cannot be loaded"], "simulate", "--device", "none.json")

    def test_what_cannot_be_done_with_a_plugin_is_refused(self):
        on_fault = ("simulate", "--device", "fault.json")
        self.refused(2, "usage", ["--vcd"], *on_fault, "--vcd", "a.vcd")
        self.refused(2, "usage", ["--at-s", "fault plugin", "cannot be set"], *on_fault, "--at-s", "1,2")
        self.refused(2, "usage", ["--weights"], *on_fault, "--weights", "w.npy")
        self.refused(2, "usage", ["--size", "8 inputs"], *on_fault, "--block", "swiglu", "--size", "7x4")
        self.device("own.json", FAULT, ["equilibrium", "resonator"])
        self.refused(2, "config", ["nothing to compare"], "simulate", "--device", "own.json", "--size", "8x8")
        self.refused(5, "device", ["offers no block"], "simulate", "--device", "own.json", "--block", "resonator")

    def test_a_device_file_is_checked_without_its_chip(self):
        self.device("none.json", {"library": "libnone.so", "timeout": 3})
        error = subprocess.run([PROGRAM, "config", "--check", "none.json"], capture_output=True, text=True,
                               cwd=self.folder, check=False)
        self.assertEqual(error.returncode, 2)
        self.assertIn("did you mean 'timeout_s'", error.stderr)
        self.device("none.json", {"library": "libnone.so", "timeout_s": 3})
        subprocess.run([PROGRAM, "config", "--check", "none.json"], capture_output=True, cwd=self.folder, check=True)


class Train(OnPlugins):
    def test_the_exported_simulator_trains_to_the_same_weights(self):
        built_in = self.run_zbphw("train", "--device", "default", "--out", "a")
        for device in ("sim.json", "direct.json"):
            plugin = self.run_zbphw("train", "--device", device, "--out", device + ".run")
            self.assertEqual(self.weights(device + ".run"), self.weights("a"))
            for key in ("loss", "nsr", "queries", "chip_time_s", "chip_energy_j"):
                self.assertEqual(plugin[key], built_in[key], key)

    def test_a_python_bench_trains(self):
        result = self.run_zbphw("train", "--device", "bench.json", "--out", "a", "--steps", "8")
        self.assertLess(result["loss"]["final"], result["loss"]["initial"])
        self.assertGreater(result["queries"], 10000)
        self.assertGreater(result["chip_time_s"], 0)

    def test_a_run_that_a_chip_ended_goes_on_as_if_nothing_had_been(self):
        whole = self.run_zbphw("train", "--device", "fault.json", "--out", "whole")
        # Between the checkpoints of updates 4 and 8: some 6000 queries an update, of four blocks together.
        at = int(whole["queries"] * 0.6)
        for fault, message in (("crash", "its process"), ("exit", "ended with exit code 3"),
                               ("nan", "is not a number"), ("error", "the bias supply")):
            run = "run_" + fault
            arguments = ("train", "--device", "fault.json", "--out", run)
            self.refused(5, "device", ["quer", message], *arguments, fault=f"{fault}@{at}")
            saved = os.listdir(os.path.join(self.folder, run, "checkpoints"))
            self.assertIn("step_000000004", saved)
            self.assertNotIn("step_000000012", saved)
            self.run_zbphw(*arguments)
            self.assertEqual(self.weights(run), self.weights("whole"))
            self.assertEqual(self.log(run), self.log("whole"))

    def test_a_chip_that_hangs_ends_the_run_in_time(self):
        self.device("slow.json", {"library": FAULT, "timeout_s": 0.5})
        self.refused(5, "device", ["queries", "did not answer within 0.5 s"], "train", "--device", "slow.json",
                     "--out", "a", fault="hang@9000")
        self.run_zbphw("train", "--device", "slow.json", "--out", "a")

    def test_an_ideal_run_does_not_ask_the_chip(self):
        self.device("none.json", "libnone.so")
        ideal = self.run_zbphw("train", "--device", "none.json", "--physical", "ideal", "--out", "a", "--steps", "2")
        self.assertEqual(ideal["physical"], "ideal")

    def test_ctrl_c_reaches_the_trainer_and_not_the_chip(self):
        process = self.start("train", "--device", "fault.json", "--out", "a", "--steps", "100000",
                             start_new_session=True)
        while not os.path.exists(os.path.join(self.folder, "a", "checkpoints")):
            time.sleep(0.01)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(json.loads(output)["error"]["kind"], "interrupted")


class Documentation(unittest.TestCase):
    def test_the_guide_shows_the_very_samples(self):
        with open(os.path.join(SOURCE, "docs", "hardware_in_the_loop.md"), encoding="utf-8") as file:
            guide = file.read()
        for name in ("my_chip.c", "my_bench.py"):
            with open(os.path.join(SAMPLES, name), encoding="utf-8") as file:
                self.assertIn("\n" + file.read() + "```\n", guide, name)
        with open(os.path.join(SAMPLES, "my_bench.py"), encoding="utf-8") as file:
            self.assertLess(len(file.readlines()), 60)


if __name__ == "__main__":
    unittest.main()
