"""What a list of spellings for parity.py is made of."""

import dataclasses
import hashlib


@dataclasses.dataclass(frozen=True)
class Group:
    """Cases that are compared with ptxas, each a text of one or more lines, between a header and a footer in a module of this version and target.

    A group with cases that spoil each other's answers, directives for one, is `alone`: each is asked in a module of its own. The case ""
    stands for the module without any: where that is refused nothing else is tried."""
    name: str
    version: str
    target: str
    cases: list
    header: list
    footer: list
    alone: bool = False

    def text(self, cases):
        return "\n".join([*self.header, *cases, *self.footer]) + "\n"

    def places(self, cases):
        """The case that each line of the text belongs to, by line number."""
        number, found = len(self.header) + 1, {}
        for at, case in enumerate(cases):
            for _ in range(case.count("\n") + 1):
                found[number] = at
                number += 1
        return found

    def digest(self):
        return hashlib.sha256(self.text(self.cases).encode()).hexdigest()[:12]


def unique(cases):
    return list(dict.fromkeys(cases))
