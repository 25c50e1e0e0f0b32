#!/usr/bin/python3
"""Drives `zbphw report` from outside: pictures and page of a simulation and of a training run, and refusals."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

PROGRAM = os.path.abspath(sys.argv.pop(1))
TRAIN = {
    "kind": "train", "name": "tiny", "rule": "zbp", "physical": "noisy",
    "model": {"layers": 1, "width": 16, "heads": 2, "ffn_multiple_of": 8, "context_tokens": 16},
    "data": {"path": "text.txt", "validation_tokens": 200},
    "batch": {"sequences": 4, "sequences_per_pass": 4}, "budget_tokens": 20 * 64,
    "schedule": {"warmup_steps": 2}, "validation": {"every_steps": 5}, "checkpoint": {"every_steps": 10},
    "zbp": {"audit_every_steps": 2},
}


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = cls.scratch.name
        cls.write("text.txt", "the cat sat on the mat; " * 100)
        cls.write("tiny.json", json.dumps(TRAIN))
        cls.run_zbphw("simulate", "--device", "pcm_crossbar", "--size", "24x16", "--queries", "40", "--out", "array")
        cls.run_zbphw("simulate", "--device", "analog_gate", "--size", "16x8", "--queries", "40", "--out", "gate")
        cls.run_zbphw("train", "--config", "tiny.json", "--out", "training")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def write(cls, name, text):
        os.makedirs(os.path.dirname(os.path.join(cls.folder, name)), exist_ok=True)
        with open(os.path.join(cls.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    @classmethod
    def run_zbphw(cls, *arguments, code=0, **options):
        process = subprocess.run([PROGRAM, *arguments, "--json", "--threads", "1"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, cwd=cls.folder, timeout=300, check=False, **options)
        assert process.returncode == code, (arguments, process.stdout, process.stderr)
        return json.loads(process.stdout)

    def pictures(self, result):
        names = [os.path.basename(file) for file in result["files"]]
        for file in result["files"]:
            path = os.path.join(self.folder, file)
            with open(path, "rb") as content:
                start = content.read(8)
            if file.endswith(".png"):
                self.assertEqual(start, b"\x89PNG\r\n\x1a\n", file)
            if file.endswith(".svg"):
                self.assertTrue(xml.parse(path).getroot().tag.endswith("svg"), file)
        return {name[:-4] for name in names if name.endswith(".svg")}, {n[:-4] for n in names if n.endswith(".png")}

    def page(self, result):
        with open(os.path.join(self.folder, result["files"][0]), encoding="utf-8") as file:
            text = file.read()
        xml.fromstring(text.split("\n", 1)[1])  # well-formed behind its document type
        self.assertNotRegex(text, r"(src|href)=\"(?!data:)")  # nothing beside it is needed
        return text

    def test_a_crossbar_shows_everything(self):
        result = self.run_zbphw("report", "array")
        svg, png = self.pictures(result)
        self.assertEqual(svg, png)
        self.assertEqual(svg, {"transfer", "error", "drift", "conductance", "energy", "utilisation"})
        page = self.page(result)
        for part in ("Every query takes", "converters saturated", "source of adc", "fitted by NeuroSim"):
            self.assertIn(part, page)
        pictures = re.findall(r"base64,([A-Za-z0-9+/=]+)", page)
        self.assertEqual(len(pictures), len(svg))
        with open(os.path.join(self.folder, "array/report/transfer.svg"), "rb") as file:
            self.assertEqual(base64.b64decode(pictures[0]), file.read())

    def test_a_block_shows_what_it_has(self):
        svg, _ = self.pictures(self.run_zbphw("report", "gate", "--out", "elsewhere/pictures"))
        self.assertNotIn("conductance", svg)
        self.assertIn("error", svg)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "elsewhere/pictures/report.html")))

    def test_a_training_run_shows_its_curves(self):
        result = self.run_zbphw("report", "training")
        svg, _ = self.pictures(result)
        self.assertEqual(svg, {"loss", "nsr", "learning_rate", "gradient"})
        self.assertIn("tiny, zbp on noisy blocks of default, seed 1", self.page(result))

    def refused(self, parts, *arguments, code=3, **options):
        error = self.run_zbphw("report", *arguments, code=code, **options)["error"]
        for part in parts:
            self.assertIn(part, error["where"] + ": " + error["message"])

    def test_what_is_no_run_is_refused(self):
        self.write("empty/other.txt", "")
        self.write("log/log.jsonl", "{\n{}\n")
        self.write("headless/log.jsonl", '{"event": "train"}\n')
        self.write("half/summary.json", '{"device": "x"')
        self.write("old/summary.json", '{"device": "x"}')
        self.refused(["a run directory is needed"], code=2)
        self.refused(["nowhere: is not a run directory"], "nowhere")
        self.refused(["empty: holds no finished simulation"], "empty")
        self.refused(["log.jsonl:1: is not a line"], "log")
        self.refused(["does not begin with a header"], "headless")
        self.refused(["summary.json: is not a JSON object"], "half")
        self.refused(["damaged or of another version"], "old")
        self.refused(["text.txt: cannot be made a directory"], "array", "--out", "text.txt")

    def test_without_gnuplot_it_says_what_to_install(self):
        environment = dict(os.environ, PATH="/nowhere")
        for run in ("gate", "array", "training"):
            self.refused(["gnuplot: is not installed; Debian's package is gnuplot-nox"], run, "--out", "none",
                         env=environment)
        self.assertEqual(os.listdir(os.path.join(self.folder, "none")), [])

    def test_the_users_own_settings_do_not_change_the_pictures(self):
        self.write("home/.gnuplot", "set logscale y\nset title 'mine'\nplot sin(")
        self.run_zbphw("report", "gate", "--out", "plain")
        self.run_zbphw("report", "gate", "--out", "own", env=dict(os.environ, HOME=os.path.join(self.folder, "home")))
        for name in ("transfer.svg", "error.svg"):
            with open(os.path.join(self.folder, "plain", name), "rb") as plain:
                with open(os.path.join(self.folder, "own", name), "rb") as own:
                    self.assertEqual(plain.read(), own.read())

    def test_a_moved_run_is_drawn_from_its_own_trace_and_another_ones_is_refused(self):
        shutil.copytree(os.path.join(self.folder, "array"), os.path.join(self.folder, "moved"))
        result = self.run_zbphw("report", "moved")
        self.assertEqual(result["seed"], 1)
        shutil.copy(os.path.join(self.folder, "gate/trace.h5"), os.path.join(self.folder, "moved/trace.h5"))
        self.refused(["moved/trace.h5: is the trace of another run"], "moved")


if __name__ == "__main__":
    unittest.main()
