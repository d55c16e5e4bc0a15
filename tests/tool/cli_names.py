#!/usr/bin/env python3
"""Names in messages: however long one is, a message shows its first hundred characters at most. Each sample of isa/diag/samples.def is tried with long
names in place of those that its diagnostic quotes."""

import re
import shlex

import cli
import cli_explain

MORE = "n" * 300
NAME = re.compile(r"'[.%@$]*([A-Za-z_$][\w$]*)[^']*'")


class Names(cli.Case):
    def said(self, *args, stdin=""):
        """What the messages say, without the lines of the source and the names of files in front."""
        lines = self.lanewise(*args, stdin=stdin)[2].splitlines()
        return [re.sub(r"^.*?\[LW\d{4}\]: ", "", line) for line in lines if "[LW" in line or re.match(r" *(=|did you|kernel|function)", line)]

    def lengthen(self, text, messages):
        for name in {name for message in messages for name in NAME.findall(message)}:
            text = re.sub(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", name + MORE, text)
        return text

    def check(self, messages, what):
        for message in messages:
            self.assertNotIn("n" * 101, message, what)

    def test_texts(self):
        samples = cli_explain.Samples
        changed = 0
        part = 8 if self.has_sanitizer() else 1
        for number, wrong, _ in list(cli_explain.rows_of("diag/samples.def", "SAMPLE"))[::part]:
            is_pto = int(number) >= 7000 or "func.func" in wrong
            if is_pto:
                whole, args = wrong if "func.func" in wrong else samples.PTO.replace("{}", wrong), ["check", "--language", "pto", "-"]
            else:
                whole = wrong if wrong.startswith((".version", ".target")) else samples.BODY.replace("{}", wrong)
                args = ["check", "-"] if int(number) < 3000 else ["dump", "--stage", "program", "-"]
            longer = self.lengthen(whole, self.said(*args, stdin=whole))
            changed += longer != whole
            self.check(self.said(*args, stdin=longer), number)
        self.assertGreater(changed, 100 // part)

    def test_commands(self):
        self.file("k.ptx", cli_explain.Samples.BODY.replace("{}", ""))
        self.file("f.pto", cli_explain.Samples.VECTORS)
        for number, wrong, _ in cli_explain.rows_of("diag/samples.def", "COMMAND"):
            command = shlex.split(wrong)
            longer = [command[0]] + [self.lengthen(word, self.said(*command)) for word in command[1:]]
            self.check(self.said(*longer), number)

    def test_kernels(self):
        """Names of kernels and parameters, which traps, refusals and lists show."""
        name, param = "k" + MORE, "p" + MORE
        text = cli.module(cli.kernel(name, f".u64 {param}", body=".reg .u64 %a; ld.param.u64 %a, [%s]; st.global.u32 [%%a], 1; ret;".replace("%s", param).replace("%%", "%")),
                          cli.kernel(name + "2"))
        self.file("k.ptx", text)
        for args in (["-k", name, "-a", "u64=64"], ["-k", name, "-a", "f32=1"], ["-k", name], ["-k", name + "3"], []):
            code, out, err = self.lanewise("run", "k.ptx", *args)
            self.assertNotEqual(code, 0)
            self.assertIn("n" * 90, err)
            self.assertNotIn("n" * 101, err, args)

    def test_characters_are_whole(self):
        """A name is cut between characters, not within one."""
        name = "ä" * 150
        self.gives(["run", name + ".ptx"], 5, err=f"lanewise: error[LW6000]: cannot read '{'ä' * 99}…': File name too long\n")
        name = "ä" * 96 + ".ptx"
        self.gives(["run", name], 5, err=f"lanewise: error[LW6000]: cannot read '{name}': No such file or directory\n")


if __name__ == "__main__":
    cli.main()
