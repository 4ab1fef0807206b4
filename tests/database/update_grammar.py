"""SPARQL updates made at random."""

from __future__ import annotations

import random


class Grammar:
    """Updates at random: all operations, in default and named graphs, with blank nodes, literals and triple terms."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *options: str) -> str:
        return self.random.choice(options)

    def entity(self) -> str:
        return f":e{self.random.randrange(4)}"

    def value(self) -> str:
        triple = f"<<( {self.entity()} :r0 {self.entity()} )>>"
        return self.one(self.entity(), self.entity(), self.entity(), "_:b", "7", "'a (b) . }'@en", triple)

    def triples(self) -> str:
        made = [
            f"{self.entity()} :r{self.random.randrange(2)} {self.value()}" for _ in range(self.random.randrange(1, 4))
        ]
        return self.one(" . ", " .\n").join(made) + self.one("", " .")

    def data(self, *, blank: bool) -> str:
        text = self.one(
            self.triples(), f"{self.triples()} GRAPH <urn:g> {{ {self.triples()} }}".replace(". GRAPH", "GRAPH")
        )
        return text if blank else text.replace("_:b", ":b")

    def template(self) -> str:
        return self.one(
            "?s :r0 ?o", "?s :r1 ?o . ?o :r2 ?s", "GRAPH <urn:g> { ?s :r0 ?o } ?s :r2 ?o", "?s :r3 <<( ?s ?p ?o )>>"
        )

    def pattern(self) -> str:
        return self.one(
            "?s ?p ?o",
            "?s :r0 ?o",
            f"{self.entity()} ?p ?o . ?s :r1 ?o",
            "GRAPH ?g { ?s ?p ?o }",
            "?s ?p ?o FILTER(1<2)",
        )

    def graph(self) -> str:
        return self.one("<urn:g>", "<urn:h>", "GRAPH <urn:g>", "DEFAULT")

    def operation(self) -> str:
        template = self.template()
        return self.one(
            f"INSERT DATA {{ {self.data(blank=True)} }}",
            f"INSERTDATA{{{self.data(blank=True)}}}",
            f"DELETE DATA {{ {self.data(blank=False)} }}",
            f"DELETE WHERE {{ {self.one('?s :r0 ?o', ':e1 ?p ?o . ?s ?q ?o', 'GRAPH <urn:g> { ?s ?p ?o }')} }}",
            f"INSERT {{ {template} }} WHERE {{ {self.pattern()} }}",
            f"DELETE {{ {template.replace('_:b', ':b')} }} WHERE {{ {self.pattern()} }}",
            f"DELETE {{ {self.template()} }} INSERT {{ {template} }} WHERE {{ {self.pattern()} }}",
            f"WITH <urn:g> INSERT {{ {template} }} WHERE {{ {self.pattern()} }}",
            f"INSERT {{ {template} }} USING <urn:g> WHERE {{ {self.pattern()} }}",
            f"{self.one('CLEAR', 'DROP')} SILENT {self.one('GRAPH <urn:g>', 'DEFAULT', 'NAMED', 'ALL')}",
            f"{self.one('COPY', 'MOVE', 'ADD')} SILENT {self.graph()} TO {self.graph()}",
            f"{self.one('COPY', 'ADD')}SILENT<urn:g>TO{self.one('DEFAULT', '<urn:h>')}",
            f"{self.one('COPY', 'ADD')} SILENT <urn:g> TODEFAULT",
        )

    def update(self) -> str:
        return " ;\n".join(self.operation() for _ in range(self.random.randrange(1, 4))) + self.one("", " ;", " # end")
