#!/usr/bin/env python3
"""`lanewise check --format json` and `--format sarif`: what they say is what the text says; SARIF has what its standard asks for."""

import json
import re

import cli

HEAD = ".version 6.0\n.target sm_60\n.address_size 64\n"
# A declaration with a note, a warning with a fix behind two bytes of one character, an error with a fix.
MIXED = HEAD + (".entry k()\n{\n    .reg .b32 a;\n    .reg .b32 a;\n    /* é */ shfl.idx.b32 a, a, 0, 31;\n"
                "    shf.l.b32 a, a, a, a;\n    ret;\n}\n")
OLD = HEAD + ".entry k()\n{\n    .reg .b32 a;\n    shfl.idx.b32 a, a, 0, 31;\n    ret;\n}\n"
GOOD = HEAD + ".entry k() { ret; }\n"
LINE = re.compile(r"^(.+?):(\d+):(\d+): (error|warning|note)\[(LW\d{4})\]: (.*)$", re.M)


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("mixed.ptx", MIXED)
        self.file("old.ptx", OLD)
        self.file("good.ptx", GOOD)
        self.file("many.ptx", HEAD + ".entry k()\n{\n" + "    nix.b32 a;\n" * 150 + "}\n")
        self.file("a b%é.ptx", OLD)

    def report(self, form, code, *args, stdin=""):
        got, out, err = self.lanewise("check", "--format", form, *args, stdin=stdin)
        self.assertEqual(got, code)
        return json.loads(out), err

    def text(self, *args):
        """The same as check prints it: file, line, column, severity, id, message."""
        return [(f, int(l), int(c), *rest) for f, l, c, *rest in LINE.findall(self.lanewise("check", *args)[2])]


class Json(Case):
    def flat(self, document):
        for file in document["files"]:
            for d in file["diagnostics"]:
                for one in [d] + d["notes"]:
                    yield file["file"], one["line"], one["column"], one["severity"], one["id"], one["message"]

    def test_as_the_text(self):
        files = ["mixed.ptx", "old.ptx", "good.ptx", "many.ptx", "a b%é.ptx"]
        document, err = self.report("json", 1, *files)
        self.assertEqual(err, "")
        self.assertEqual(list(self.flat(document)), self.text(*files))
        self.assertEqual([f["file"] for f in document["files"]], files)
        self.assertEqual([(f["errors"], f["warnings"]) for f in document["files"]], [(3, 1), (0, 1), (0, 0), (101, 0), (0, 1)])
        self.assertEqual((document["errors"], document["warnings"]), (104, 3))

    def test_places(self):
        """Offsets and ends mark the text that the message is about."""
        document, _ = self.report("json", 1, "mixed.ptx")
        marked = {}
        data = MIXED.encode()
        for d in document["files"][0]["diagnostics"]:
            line = MIXED.splitlines()[d["line"] - 1]
            marked[d["id"]] = data[d["offset"]:d["offset"] + d["size"]].decode(errors="replace"), line[d["column"] - 1:d["end_column"] - 1]
            self.assertEqual(d["line"], d["end_line"])
        self.assertEqual(marked["LW2124"], ("shfl.idx.b32",) * 2)
        self.assertEqual(marked["LW2002"], ("a",) * 2)
        self.assertEqual(marked["LW1002"], ("é",) * 2)
        fixes = {d["id"]: d["fix"] for d in document["files"][0]["diagnostics"]}
        self.assertEqual(fixes["LW2002"], None)
        self.assertIn(".clamp .wrap", fixes["LW2101"])

    def test_notes(self):
        document, _ = self.report("json", 1, "mixed.ptx", "many.ptx")
        first = document["files"][0]["diagnostics"][0]
        self.assertEqual((first["id"], [n["id"] for n in first["notes"]]), ("LW2002", ["LW2003"]))
        self.assertEqual(document["files"][1]["diagnostics"][-1]["id"], "LW1000")

    def test_codes_and_options(self):
        self.assertEqual(self.report("json", 0, "good.ptx"), ({"version": self.lanewise("version")[1].split()[1], "errors": 0, "warnings": 0, "files": [
            {"file": "good.ptx", "read": True, "errors": 0, "warnings": 0, "diagnostics": []}]}, ""))
        self.report("json", 0, "old.ptx")
        self.report("json", 1, "--werror", "old.ptx")
        self.assertEqual(self.report("json", 0, "-q", "old.ptx")[0]["files"][0]["diagnostics"], [])
        self.assertEqual(self.report("json", 0, "-", stdin=GOOD)[0]["files"][0]["file"], "<stdin>")
        document, err = self.report("json", 5, "no.ptx", "good.ptx")
        self.assertEqual([f["read"] for f in document["files"]], [False, True])
        self.assertIn("error[LW6000]", err)
        self.shows(["check", "--format", "xml", "good.ptx"], 2, err=["--format takes text, json or sarif, not 'xml'"])
        self.shows(["check", "--format", "json", "--list", "good.ptx"], 2, err=["exclude each other"])
        self.assertEqual(self.lanewise("check", "--format", "text", "mixed.ptx"), self.lanewise("check", "mixed.ptx"))

    def test_any_bytes(self):
        for form in ("json", "sarif"):
            self.file("bytes", bytes(range(1, 256)) + b"\n\"\xff\xfe\"\n.version \xc3")
            self.report(form, 1, "bytes")
            self.file("empty", "")
            self.report(form, 1, "empty")


class Sarif(Case):
    def sarif(self, code, *args, **more):
        document, err = self.report("sarif", code, *args, **more)
        self.required(document)
        return document["runs"][0], err

    def required(self, document):
        """The properties that SARIF 2.1.0 requires of each object that is used here, and the bounds of its numbers."""
        self.assertEqual(document["version"], "2.1.0")
        self.assertIn("sarif-schema-2.1.0.json", document["$schema"])
        self.assertEqual(len(document["runs"]), 1)
        run = document["runs"][0]
        driver = run["tool"]["driver"]
        self.assertTrue(driver["name"] and driver["version"])
        self.assertIn(run["columnKind"], ("utf16CodeUnits", "unicodeCodePoints"))
        rules = driver["rules"]
        self.assertEqual(len({rule["id"] for rule in rules}), len(rules))
        for rule in rules:
            self.assertTrue(rule["fullDescription"]["text"])
            self.assertIn(rule["defaultConfiguration"]["level"], ("none", "note", "warning", "error"))
        for invocation in run["invocations"]:
            self.assertIsInstance(invocation["executionSuccessful"], bool)
            for notification in invocation["toolExecutionNotifications"]:
                self.assertTrue(notification["message"]["text"])
        for result in run["results"]:
            self.assertTrue(result["message"]["text"])
            self.assertIn(result["level"], ("none", "note", "warning", "error"))
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertEqual(len(result["locations"]), 1)
            for location in result["locations"] + result.get("relatedLocations", []):
                artifact, region = location["physicalLocation"]["artifactLocation"], location["physicalLocation"]["region"]
                self.assertEqual(run["artifacts"][artifact["index"]]["location"]["uri"], artifact["uri"])
                self.assertRegex(artifact["uri"], r"^(file:///)?([\w.~/-]|%[0-9A-F]{2})+$")
                self.assertTrue(1 <= region["startLine"] <= region["endLine"])
                self.assertTrue(region["startColumn"] >= 1 and region["endColumn"] >= 1)
                self.assertTrue(region["byteOffset"] >= 0 and region["byteLength"] >= 0)

    def test_as_the_text(self):
        files = ["mixed.ptx", "old.ptx", "good.ptx", "many.ptx"]
        run, err = self.sarif(1, *files)
        self.assertEqual(err, "")
        self.assertEqual([a["location"]["uri"] for a in run["artifacts"]], files)
        found = []
        for result in run["results"]:
            for i, location in enumerate(result["locations"] + result.get("relatedLocations", [])):
                physical = location["physicalLocation"]
                message = (location if i else result)["message"]["text"].split("\n")[0]
                found.append((physical["artifactLocation"]["uri"], physical["region"]["startLine"], physical["region"]["startColumn"],
                              "note" if i else result["level"], message))
        self.assertEqual(found, [(f, l, c, s, m) for f, l, c, s, _, m in self.text(*files)])

    def test_uris(self):
        run, _ = self.sarif(0, "a b%é.ptx", str(self.folder / "old.ptx"), "-", stdin=OLD)
        self.assertEqual([a["location"]["uri"] for a in run["artifacts"]],
                         ["a%20b%25%C3%A9.ptx", f"file://{self.folder}/old.ptx", "%3Cstdin%3E"])

    def test_invocations(self):
        run, _ = self.sarif(0, "good.ptx")
        self.assertEqual(run["results"], [])
        self.assertEqual(run["invocations"][0], {"executionSuccessful": True, "exitCode": 0, "toolExecutionNotifications": []})
        run, err = self.sarif(5, "no.ptx", "mixed.ptx")
        self.assertFalse(run["invocations"][0]["executionSuccessful"])
        self.assertIn("'no.ptx'", run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"])
        self.assertEqual(self.sarif(1, "--werror", "old.ptx")[0]["results"][0]["level"], "warning")


if __name__ == "__main__":
    cli.main()
