#!/usr/bin/python3
"""Drives `zbphw simulate` from outside: results, files, NumPy in, refusals."""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

PROGRAM = os.path.abspath(sys.argv.pop(1))


def run(*arguments, cwd):
    return subprocess.run([PROGRAM, "simulate", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=300, check=False, cwd=cwd)


def write_npy(path, rows, kind="<f4", fortran=False, shape=None):
    """Writes a list of rows as a .npy file of version 1.0 (NumPy's own documented layout)."""
    shape = shape or (len(rows), len(rows[0]) if rows else 0)
    header = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    code = {"<f4": "<f", ">f4": ">f", "|O": "<f"}[kind]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            for value in row:
                file.write(struct.pack(code, value))


class InDirectory(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.dir = self.scratch.name

    def tearDown(self):
        self.scratch.cleanup()

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, rows):
        write_npy(self.path(name), rows)
        return self.path(name)

    def simulate(self, *arguments):
        result = run(*arguments, "--json", "--quiet", cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def refused(self, code, parts, *arguments):
        result = run(*arguments, "--json", "--quiet", cwd=self.dir)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("error", json.loads(result.stdout))
        for part in parts:
            self.assertIn(part, result.stderr)


class Results(InDirectory):
    def test_every_shipped_device_runs_and_gives_all_keys(self):
        for device in ("pcm_crossbar", "rram_crossbar", "sonos_crossbar", "analog_softmax", "analog_gate"):
            block = device.startswith("analog")
            result = self.simulate("--device", device, "--queries", "50", *([] if block else ["--size", "24x16"]))
            for key in ("command", "version", "seed", "out", "files", "wall_s", "device", "rows", "columns", "queries",
                        "snr_db", "effective_bits", "nsr", "bias", "saturated_fraction", "latency_ns", "queries_per_s",
                        "energy_pj", "error_by_source", "drift", "trace"):
                self.assertIn(key, result, device)
            self.assertEqual(result["device"], device)
            self.assertEqual(result["queries"], 50)
            self.assertAlmostEqual(result["snr_db"], -10 * math.log10(result["nsr"]), places=6)
            self.assertGreater(result["snr_db"], 5)
            self.assertLess(result["snr_db"], 60)
            energy = result["energy_pj"]
            self.assertAlmostEqual(energy["total"] / sum(energy["by_component"].values()), 1, places=9)
            # One query after the other: the rate is the inverse of the latency.
            self.assertAlmostEqual(result["queries_per_s"] * result["latency_ns"]["mean"] * 1e-9, 1, places=6)
            for name in ("config.json", "summary.json", "trace.h5"):
                self.assertTrue(os.path.exists(self.path(f"runs/simulate/{device}/{name}")), name)

    def test_an_ideal_device_is_exact(self):
        result = self.simulate("--device", "ideal", "--size", "20x30", "--queries", "10")
        self.assertLess(result["nsr"], 1e-11)
        self.assertEqual(result["saturated_fraction"], 0)
        for point in result["drift"]:
            self.assertAlmostEqual(point["gain"], 1, places=5)

    def test_seeds_decide_the_result(self):
        arguments = ("--device", "pcm_crossbar", "--size", "16x8", "--queries", "20")
        results = [self.simulate(*arguments, "--seed", seed, "--out", self.path(out))["nsr"]
                   for seed, out in (("3", "a"), ("3", "b"), ("4", "c"))]
        self.assertEqual(results[0], results[1])
        self.assertNotEqual(results[0], results[2])

    def test_an_earlier_run_is_repeated_or_refused(self):
        arguments = ("--device", "pcm_crossbar", "--size", "8x4", "--queries", "5", "--out", self.path("run"))
        first = self.simulate(*arguments)
        self.assertEqual(self.simulate(*arguments)["nsr"], first["nsr"])
        self.assertEqual(sorted(os.listdir(self.path("run"))), ["config.json", "summary.json", "trace.h5"])
        self.refused(3, ["queries"], *arguments[:-4], "--queries", "6", "--out", self.path("run"))

    def test_drift_is_shown_at_the_times_asked_for(self):
        result = self.simulate("--device", "pcm_crossbar", "--size", "32x16", "--queries", "100", "--at-s", "0,3600,1e6",
                               "--set", "crossbar.drift_compensation=false")
        self.assertEqual([point["t_s"] for point in result["drift"]], [0, 3600, 1e6])
        gains = [point["gain"] for point in result["drift"]]
        self.assertGreater(gains[0], gains[1])
        self.assertGreater(gains[1], gains[2])
        # nu is about .05 for phase-change cells: (1e6 / 20)^-.05 = .58.
        self.assertAlmostEqual(gains[2] / gains[0], 0.58, delta=0.1)

    def test_every_effect_of_a_crossbar_takes_its_share(self):
        changes = {"input_noise": ["crossbar.input_noise_fraction=0.02"],
                   "comparator_noise": ["crossbar.comparator_noise_steps=2"],
                   "column_mismatch": ["crossbar.column_mismatch.gain_spread=0.1",
                                       "crossbar.column_mismatch.offset_spread_fraction=0.01"],
                   "device_to_device": ["crossbar.cell.device_to_device.spread=0.2",
                                        "crossbar.cell.device_to_device.stuck_off_fraction=0.02",
                                        "crossbar.cell.device_to_device.stuck_on_fraction=0.01"],
                   "temperature": ['crossbar.cell.temperature={"temperature_k": 350, "reference_k": 300, '
                                   '"coefficient_per_k": -0.002}'],
                   "line_resistance": ['crossbar.lines={"word_line_segment_ohm": 5, "bit_line_segment_ohm": 5}']}
        arguments = ("--device", "pcm_crossbar", "--size", "64x32", "--queries", "200", "--at-s", "0,86400")
        plain = self.simulate(*arguments, "--out", self.path("plain"))
        for effect, overrides in changes.items():
            result = self.simulate(*arguments, "--out", self.path(effect),
                                   *[part for override in overrides for part in ("--set", override)])
            for where in (result, *result["drift"]):
                self.assertGreater(where["error_by_source"][effect], 0.02 * plain["nsr"], effect)
            self.assertEqual(plain["error_by_source"][effect], 0)
            self.assertAlmostEqual(result["drift"][0]["nsr"], result["nsr"], places=12)
            self.assertAlmostEqual(result["drift"][0]["error_by_source"][effect], result["error_by_source"][effect],
                                   places=12)

    def test_a_network_that_relaxes_shows_what_waiting_buys(self):
        short = self.simulate("--device", "equilibrium_block", "--queries", "50", "--size", "24x24", "--out", "a")
        longer = self.simulate("--device", "equilibrium_block", "--queries", "50", "--size", "24x24", "--out", "b",
                               "--set", "blocks.equilibrium.relaxation.tolerance=1e-6")
        self.assertGreater(short["error_by_source"]["unfinished_relaxation"], 0.5 * short["nsr"])
        self.assertGreater(longer["snr_db"], short["snr_db"])
        self.assertGreater(longer["latency_ns"]["mean"], short["latency_ns"]["mean"])
        settling = short["settling"]
        # Everything but the wait takes 1 (DAC) + 8 x 13 (ADC) + 1 (digital) ns and the link.
        self.assertAlmostEqual(settling["time_slowest_ns"], settling["steps_slowest"] * 0.1 * 10)
        self.assertGreater(short["latency_ns"]["mean"], settling["time_slowest_ns"] + 106)
        self.refused(4, ["did not settle"], "--device", "equilibrium_block", "--queries", "5", "--size", "24x24",
                     "--out", "c", "--set", "blocks.equilibrium.relaxation.most_steps=3")
        self.refused(2, ["--size", "24 inputs"], "--device", "equilibrium_block", "--size", "23x24")
        self.refused(2, ["--weights"], "--device", "equilibrium_block", "--weights", "w.npy")

    def test_a_photonic_mesh_holds_a_matrix_and_does_not_age(self):
        weights = self.write("w.npy", [[0.5, -1, 2], [1, 0, -0.25]])
        mesh = ("--device", "photonic_mesh", "--queries", "60")
        result = self.simulate(*mesh, "--weights", weights, "--out", "a")
        self.assertEqual((result["rows"], result["columns"], result["drift"]), (3, 2, []))
        self.assertGreater(result["snr_db"], 20)
        self.assertEqual(set(result["error_by_source"]), {"phase_quantisation", "gamma_spread", "crosstalk",
                                                          "phase_noise", "detector", "dac", "adc"})
        still = self.simulate(*mesh, "--size", "12x12", "--out", "b", "--set",
                              "blocks.photonic_linear.shifters.crosstalk=[]")
        self.assertEqual(still["error_by_source"]["crosstalk"], 0)
        self.refused(2, ["--at-s", "do not age"], *mesh, "--at-s", "1,2")
        self.refused(3, ["all zero"], *mesh, "--weights", self.write("z.npy", [[0, 0], [0, 0]]), "--out", "d")
        self.refused(2, ["photonic_linear.shifters", "phase_bits: got 0"], *mesh, "--set",
                     "blocks.photonic_linear.shifters.phase_bits=0", "--out", "e")

    def test_the_trace_says_which_cells_are_stuck(self):
        self.simulate("--device", "pcm_crossbar", "--size", "40x30", "--queries", "2", "--trace", self.path("s.h5"), "--set",
                      "crossbar.cell.device_to_device.stuck_on_fraction=0.1")
        rows = {}
        for name in ("stuck", "programmed_us"):
            csv = self.path(name + ".csv")
            subprocess.run([PROGRAM, "trace", "export", self.path("s.h5"), "--data-set", f"/tiles/0/{name}", "--to", csv,
                            "--quiet"], check=True, cwd=self.dir, stdout=subprocess.PIPE)
            with open(csv, encoding="utf-8") as file:
                rows[name] = [[float(cell) for cell in line.split(",")[1:]] for line in file.readlines()[1:]]
        held = [us for stuck, cells in zip(rows["stuck"], rows["programmed_us"]) for s, us in zip(stuck, cells) if s == 2]
        # 2400 cells: .1, within five standard errors.
        self.assertAlmostEqual(len(held) / 2400, 0.1, delta=5 * math.sqrt(0.09 / 2400))
        self.assertEqual(set(held), {25.0})

    def test_both_line_solvers_agree_and_the_fast_one_states_its_residual(self):
        arguments = ("--device", "pcm_crossbar", "--size", "32x16", "--queries", "50", "--at-s", "3600", "--set",
                     "crossbar.lines.bit_line_segment_ohm=20", "--set")
        exact = self.simulate(*arguments, "crossbar.lines.solver=exact", "--out", self.path("exact"))
        fast = self.simulate(*arguments, "crossbar.lines.solver=fast", "--out", self.path("fast"))
        self.assertIsNone(exact["line_resistance"]["largest_residual"])
        self.assertGreater(fast["line_resistance"]["largest_residual"], 0)
        self.assertLess(fast["line_resistance"]["largest_residual"], 1e-9)
        self.assertAlmostEqual(fast["nsr"] / exact["nsr"], 1, delta=0.02)

    def test_the_vcd_and_trace_go_where_they_are_wanted(self):
        result = self.simulate("--device", "pcm_crossbar", "--size", "8x4", "--queries", "3", "--vcd",
                               self.path("chip.vcd"), "--trace", self.path("t.h5"))
        self.assertEqual(result["trace"], self.path("t.h5"))
        with open(self.path("chip.vcd"), encoding="utf-8") as file:
            self.assertIn("$enddefinitions", file.read())
        with open(self.path("t.h5"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89HDF\r\n\x1a\n")
        self.refused(3, ["t.h5"], "--device", "pcm_crossbar", "--size", "8x4", "--queries", "4", "--force", "--trace",
                     self.path("t.h5"))

    def test_the_save_file_of_gtkwave_names_signals_that_the_vcd_has(self):
        self.simulate("--device", "pcm_crossbar", "--size", "8x8", "--queries", "3", "--vcd", "chip.vcd")
        signals, scope = set(), []
        with open(self.path("chip.vcd"), encoding="utf-8") as file:
            for words in (line.split() for line in file):
                if words[:1] == ["$scope"]:
                    scope.append(words[2])
                elif words[:1] == ["$upscope"]:
                    scope.pop()
                elif words[:1] == ["$var"]:
                    signals.add(".".join(scope + [words[4]]) + words[5])
        with open(self.path("chip.gtkw"), encoding="utf-8") as file:
            named = {line.strip() for line in file if line.startswith("SystemC.")}
        self.assertGreater(len(named), 8)
        self.assertEqual(named - signals, set())

    def test_a_thinned_trace_says_which_queries_it_kept(self):
        simulate = ("--device", "pcm_crossbar", "--size", "8x8", "--queries", "25")
        self.simulate(*simulate, "--trace", "all.h5", "--out", "all")
        self.simulate(*simulate, "--trace", "few.h5", "--trace-every", "10", "--out", "few")

        def column(trace, name):
            target = self.path("column.csv")
            if os.path.exists(target):
                os.remove(target)
            subprocess.run([PROGRAM, "trace", "export", self.path(trace), "--data-set", name, "--to", target],
                           check=True, stdout=subprocess.DEVNULL, timeout=60)
            with open(target, encoding="utf-8") as file:
                return [line.strip().split(",", 1)[1] for line in file if line[0].isdigit()]

        self.assertEqual(column("few.h5", "/queries/row")[-3:], ["0", "10", "20"])
        self.assertEqual(column("few.h5", "/signals/measured")[-3:], column("all.h5", "/signals/measured")[-25::10])
        self.refused(2, ["--trace-every", "got 0"], *simulate, "--trace-every", "0")

    def test_the_timeline_shows_every_stage_of_the_first_queries(self):
        result = self.simulate("--device", "pcm_crossbar", "--size", "8x8", "--queries", "20", "--timeline", "t.svg")
        self.assertIn("t.svg", result["files"])
        root = xml.parse(self.path("t.svg")).getroot()
        titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(len(titles), 5 * 6)  # queries, stages that take time
        self.assertIn("query 0, array: 10 ns", titles)
        self.assertEqual(result["bottleneck"], max(result["utilisation"], key=result["utilisation"].get))
        self.assertAlmostEqual(result["tops_per_w"], 2 * 64 / result["energy_pj"]["per_query"])
        gate = self.simulate("--device", "analog_gate", "--queries", "3", "--timeline", "g.svg", "--out", "gate")
        self.assertIsNone(gate["tops_per_w"])
        self.refused(3, ["no/t.svg"], "--device", "pcm_crossbar", "--size", "8x8", "--timeline", "no/t.svg", "--out", "n")

    def test_a_chip_like_that_of_wan_2022_costs_what_it_was_measured_to_cost_within_a_factor_of_three(self):
        # 8.26 TOPS/W at 8-bit outputs and 6-bit inputs (Wan et al., Nature 608, 504, 2022, figure 1): inputs a bit at a
        # time, and a conversion at 65 nm as the fit of Accelergy to Murmann's survey gives it, 6.494 pJ.
        chip = self.simulate("--device", "rram_crossbar", "--queries", "5", "--set", "crossbar.dac.bits=6", "--set",
                             "crossbar.input_slice_bits=1", "--set", "crossbar.chip.adc.energy_pj=6.494")
        self.assertGreater(chip["tops_per_w"], 8.26 / 3)
        self.assertLess(chip["tops_per_w"], 8.26 * 3)

    def test_the_text_names_what_a_person_looks_for(self):
        result = run("--device", "pcm_crossbar", "--size", "16x8", "--queries", "20", cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        for part in ("SNR", "effective bits", "read_noise", "latency", "energy a query", "NeuroSim", "trace.h5"):
            self.assertIn(part, result.stdout)


class Comparison(InDirectory):
    def test_two_devices_stand_side_by_side(self):
        arguments = ("--size", "16x8", "--queries", "20")
        both = self.simulate("--compare", "pcm_crossbar", "ideal", *arguments)["compare"]
        self.assertEqual([result["device"] for result in both], ["pcm_crossbar", "ideal"])
        alone = self.simulate("--device", "pcm_crossbar", *arguments)
        self.assertEqual(both[0]["nsr"], alone["nsr"])
        text = run("--compare", "pcm_crossbar", "ideal", *arguments, "--out", self.path("c"), cwd=self.dir).stdout
        self.assertRegex(text, r"pcm_crossbar\s+ideal\n")
        self.assertRegex(text, r"SNR, dB\s+[0-9.]+\s+[0-9.]+\n")

    def test_it_takes_two_and_nothing_of_one(self):
        self.refused(2, ["--compare", "two"], "--compare", "ideal")
        self.refused(2, ["--vcd"], "--compare", "ideal", "ideal", "--vcd", "a.vcd")


class NumpyFiles(InDirectory):
    def test_weights_and_inputs_come_from_files(self):
        write_npy(self.path("W.npy"), [[1, 2, 3], [-1, 0.5, 0]])
        write_npy(self.path("X.npy"), [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
        result = self.simulate("--device", "ideal", "--weights", self.path("W.npy"), "--inputs", self.path("X.npy"))
        self.assertEqual((result["rows"], result["columns"], result["queries"]), (3, 2, 4))
        self.assertLess(result["nsr"], 1e-11)

    def test_bad_files_are_refused(self):
        write_npy(self.path("W.npy"), [[1, 2, 3], [-1, 0.5, 0]])
        write_npy(self.path("nan.npy"), [[1, 2, 3], [-1, math.nan, 0]])
        write_npy(self.path("inf.npy"), [[math.inf, 0, 0]])
        write_npy(self.path("wide.npy"), [[1, 2, 3, 4]])
        write_npy(self.path("big.npy"), [[1, 2, 3]], kind=">f4")
        write_npy(self.path("empty.npy"), [])
        device = ("--device", "ideal")
        self.refused(3, ["nan.npy", "[1, 1]", "not a number"], *device, "--weights", self.path("nan.npy"))
        self.refused(3, ["inf.npy", "[0, 0]", "infinite"], *device, "--weights", self.path("W.npy"), "--inputs",
                     self.path("inf.npy"))
        self.refused(3, ["wide.npy", "[1, 4]", "3"], *device, "--weights", self.path("W.npy"), "--inputs",
                     self.path("wide.npy"))
        self.refused(3, ["W.npy", "[2, 3]", "[4, 3]"], *device, "--weights", self.path("W.npy"), "--size", "3x4")
        self.refused(3, ["big.npy"], *device, "--weights", self.path("big.npy"))
        self.refused(3, ["empty.npy"], *device, "--weights", self.path("empty.npy"))
        self.refused(3, ["none.npy"], *device, "--weights", self.path("none.npy"))
        write_npy(self.path("fortran.npy"), [[1, 2, 3], [4, 5, 6]], fortran=True)
        write_npy(self.path("objects.npy"), [[1, 2, 3]], kind="|O")
        write_npy(self.path("line.npy"), [[1, 2, 3]], shape=(3,))
        write_npy(self.path("no_rows.npy"), [], shape=(0, 3))
        write_npy(self.path("zeros.npy"), [[0, 0, 0]])
        with open(self.path("short.npy"), "wb") as file, open(self.path("W.npy"), "rb") as whole:
            file.write(whole.read()[:-2])
        os.mkdir(self.path("dir.npy"))
        for option, others in (("--weights", ()), ("--inputs", ("--weights", self.path("W.npy")))):
            for name, parts in (("fortran", ["Fortran order"]), ("big", ["big-endian"]), ("objects", ["objects"]),
                                ("no_rows", ["[0, 3]", "without any element"]), ("line", ["[3]", "[any, "]),
                                ("nan", ["[1, 1]", "not a number"]), ("inf", ["[0, 0]", "infinite"]),
                                ("short", ["22", "24"]), ("dir", ["directory"])):
                self.refused(3, [f"{name}.npy", *parts], *device, *others, option, self.path(f"{name}.npy"))
        self.refused(3, ["every exact answer is 0"], *device, "--weights", self.path("zeros.npy"))
        self.refused(3, ["X.npy", "[4, 3]", "[7, 3]"], *device, "--weights", self.path("W.npy"), "--inputs",
                     self.write("X.npy", [[1, 0, 0]] * 4), "--queries", "7")
        clipped = self.simulate(*device, "--weights", self.path("W.npy"), "--set", "crossbar.mapping.scale=fixed",
                                "--set", "crossbar.mapping.weight_full_scale=0.9", "--set", "crossbar.mapping.clip=true", "--out",
                                self.path("clipped"))
        self.assertEqual(clipped["clipped_weights"], 4)
        self.refused(3, ["4 weights are beyond"], *device, "--weights", self.path("W.npy"), "--set",
                     "crossbar.mapping.scale=fixed", "--set", "crossbar.mapping.weight_full_scale=0.9")


class Refusals(InDirectory):
    def test_bad_arguments_are_named(self):
        small = ("--size", "8x4", "--queries", "2")
        self.refused(2, ["--device"])
        self.refused(2, ["pcm_crosbar", "did you mean 'pcm_crossbar'"], "--device", "pcm_crosbar")
        self.refused(2, ["--size", "8by4"], "--device", "ideal", "--size", "8by4")
        self.refused(2, ["--size", "0x4"], "--device", "ideal", "--size", "0x4")
        self.refused(2, ["--queries", "0"], "--device", "ideal", "--queries", "0")
        self.refused(2, ["--at-s", "now"], "--device", "ideal", *small, "--at-s", "now")
        self.refused(2, ["--at-s", "-1"], "--device", "ideal", *small, "--at-s=-1")
        self.refused(2, ["--at-s", "172800"], "--device", "rram_crossbar", *small, "--at-s", "3600,1e7")
        self.refused(2, ["pcm_joshi_2021", "pcm_joshi_2020"], "--device", "pcm_crossbar", *small, "--set",
                     'crossbar.cell={"preset": "pcm_joshi_2021"}')
        self.refused(2, ["softmin", "softmax"], "--device", "ideal", "--block", "softmin")
        self.refused(2, ["--weights"], "--device", "analog_softmax", "--weights", "W.npy")
        self.refused(2, ["--size", "10x64"], "--device", "analog_softmax", "--size", "10x64")
        self.refused(2, ["--at-s", "0.5", "1 to 172800"], "--device", "rram_crossbar", *small, "--at-s", "0.5")
        self.refused(2, ["pcm_joshi", "did you mean 'pcm_joshi_2020'"], "--device", "pcm_crossbar", *small, "--set",
                     'crossbar.cell={"preset": "pcm_joshi"}')
        for bits in ("0", "17", '"perfect"'):
            self.refused(2, ["crossbar.adc.bits", "1 to 16", "ideal"], "--device", "ideal", *small, "--set",
                         f"crossbar.adc.bits={bits}")
        self.refused(2, ["adc", "bitz", "did you mean 'bits'"], "--device", "ideal", *small, "--set",
                     "crossbar.adc.bitz=4")
        self.refused(2, ["lines.solver", "exact or fast"], "--device", "ideal", *small, "--set",
                     "crossbar.lines.solver=quick")
        self.refused(2, ["comparator_noise_steps", "ideal ADC"], "--device", "ideal", *small, "--set",
                     "crossbar.comparator_noise_steps=1")
        os.mkdir(self.path("dir"))
        self.refused(3, ["dir", "is a directory"], "--device", "ideal", *small, "--trace", "dir")
        self.refused(3, ["none/t.h5", "directory"], "--device", "ideal", *small, "--trace", "none/t.h5")
        self.refused(2, ["--trace"], "--device", "ideal", *small, "--trace=")
        self.refused(3, ["chip.txt"], "--device", "ideal", *small, "--vcd", "chip.txt")

    def test_a_refused_run_leaves_no_directory(self):
        self.refused(2, ["--at-s"], "--device", "ideal", "--at-s", "now")
        self.assertEqual(os.listdir(self.dir), [])


if __name__ == "__main__":
    unittest.main()
