#!/usr/bin/python3
"""Drives `zbphw trace` on traces that h5py wrote after docs/trace_format.md, so that the document is tested too."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy
except ImportError:
    print("h5py is not installed for this python3: 'zbphw trace' is not tested with traces of other writers")
    sys.exit(0)

PROGRAM = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([PROGRAM, "trace", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, check=False)


def write_trace(path, energies, version=1, seed=7, **dropped):
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        file.attrs["format"] = "zbphw-trace"
        file.attrs["format_version"] = version
        file.attrs["command"] = "simulate"
        file.attrs["version"] = "0.1.0"
        file.attrs["seed"] = seed
        file.attrs["device_json"] = '{"kind": "device"}'
        file.attrs["created_utc"] = "2026-05-01T12:00:00Z"
        energy = file.create_dataset("/queries/energy_pj", data=numpy.array(energies, "<f8"), maxshape=(None,),
                                     chunks=(4,))
        energy.attrs["units"] = "pJ"
        energy.attrs["description"] = "energy of the query"
        signal = file.create_dataset("/signals/input", data=numpy.arange(6, dtype="<i4").reshape(2, 3))
        signal.attrs["units"] = "1"
        signal.attrs["description"] = "input codes"
        for name, owner in dropped.items():
            del file[owner].attrs[name]
    return path


class TraceCommand(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def refused(self, code, parts, *arguments):
        result = run(*arguments, "--json")
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)
        self.assertEqual(set(json.loads(result.stdout)["error"]), {"kind", "message", "where"})

    def test_info(self):
        path = write_trace(self.path("a.h5"), [1, 2, 3])
        values = json.loads(run("info", path, "--json").stdout)
        self.assertEqual((values["seed"], values["written_by"], values["device"]), (7, "simulate", {"kind": "device"}))
        self.assertEqual([s["data_set"] for s in values["series"]], ["/queries/energy_pj", "/signals/input"])
        self.assertEqual(values["series"][0]["units"], "pJ")
        self.assertEqual((values["series"][1]["rows"], values["series"][1]["row_shape"]), (2, [3]))
        text = run("info", path).stdout
        self.assertIn("/signals/input      [2, 3]  int32", text)

    def test_a_trace_that_other_software_has_changed(self):
        path = write_trace(self.path("a.h5"), [1, 2, 3])
        with h5py.File(path, "r+") as file:
            file.attrs["text_checksums"] = numpy.array([2048, 4096, 1], "<u8")
        self.refused(3, ["a.h5", "do not match their checksum", "delete the attribute text_checksums"], "info", path)
        with h5py.File(path, "r+") as file:
            del file.attrs["text_checksums"]
            file.attrs["note"] = "measured at 40 degrees"
        self.assertEqual(run("info", path).returncode, 0)

    def test_diff(self):
        first = write_trace(self.path("a.h5"), [1, 2, 3])
        same = run("diff", first, write_trace(self.path("b.h5"), [1, 2, 3]))
        self.assertEqual((same.returncode, same.stdout, same.stderr), (0, "identical\n", ""))
        other = write_trace(self.path("c.h5"), [1, 2.5, 4], seed=8)
        different = run("diff", first, other)
        self.assertEqual(different.returncode, 3)
        self.assertIn("/queries/energy_pj row 1, column 0: 2 and 2.5\n", different.stdout)
        self.assertIn("seed: 7 and 8", different.stdout)
        self.assertEqual(run("diff", first, other, "--tolerance", "0.5").returncode, 0)
        values = run("diff", first, other, "--json")
        self.assertEqual(values.returncode, 3)
        self.assertFalse(json.loads(values.stdout)["identical"])
        self.assertEqual(json.loads(values.stdout)["differences"][0]["row"], 1)

    def test_export(self):
        trace = write_trace(self.path("a.h5"), [1, 2, 3])
        array, table = self.path("a.npy"), self.path("a.csv")
        values = json.loads(run("export", trace, "--data-set", "/signals/input", "--to", array, "--json").stdout)
        self.assertEqual(values["files"], [array])
        self.assertEqual(numpy.load(array).tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(run("export", trace, "--data-set", "/queries/energy_pj", "--to", table).returncode, 0)
        self.refused(3, ["a.csv", "exists"], "export", trace, "--data-set", "/signals/input", "--to", table)
        forced = run("export", trace, "--data-set", "/signals/input", "--to", table, "--force")
        self.assertEqual(forced.returncode, 0, forced.stderr)
        with open(table, encoding="utf-8") as file:
            self.assertEqual(file.read(), "row,0,1,2\n0,0,1,2\n1,3,4,5\n")
        with open(table + ".old-1", encoding="utf-8") as file:
            self.assertEqual(file.read(), "row,value\n0,1\n1,2\n2,3\n")

    def test_refused_command_lines(self):
        trace = write_trace(self.path("a.h5"), [1])
        self.refused(2, ["needs an action"])
        self.refused(2, ["trace inf", "did you mean 'info'?"], "inf", trace)
        self.refused(2, ["takes 1 file; got 0"], "info")
        self.refused(2, ["takes 2 files; got 1"], "diff", trace)
        self.refused(2, ["unexpected argument"], "diff", trace, trace, trace)
        self.refused(2, ["--tolerance"], "diff", trace, trace, "--tolerance", "-1")
        self.refused(2, ["--tolerance"], "diff", trace, trace, "--tolerance", "nan")
        self.refused(2, ["--tolerance belongs to 'trace diff'"], "info", trace, "--tolerance", "1")
        self.refused(2, ["needs --data-set"], "export", trace)
        self.refused(2, [".npy or .csv"], "export", trace, "--data-set", "/signals/input", "--to", self.path("a.txt"))

    def test_refused_files(self):
        trace = write_trace(self.path("a.h5"), [1])
        self.refused(3, ["none.h5", "No such file"], "info", self.path("none.h5"))
        self.refused(3, ["is a directory"], "info", self.folder.name)
        self.refused(3, ["b.h5", "format version 2; this program reads version 1"], "info",
                     write_trace(self.path("b.h5"), [1], version=2))
        self.refused(3, ["c.h5", "/queries/energy_pj has no attribute 'units'"], "info",
                     write_trace(self.path("c.h5"), [1], units="/queries/energy_pj"))
        self.refused(3, ["d.h5", "is not a trace"], "info", write_trace(self.path("d.h5"), [1], format="/"))
        self.refused(3, ["no data set /signals/inputs; did you mean '/signals/input'?"], "export", trace, "--data-set",
                     "/signals/inputs", "--to", self.path("x.csv"))


if __name__ == "__main__":
    unittest.main()
