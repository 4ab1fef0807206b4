"""From a question with a core to the table it asks for.

`solved` is a generator: it says what it wants to know (`Predicted` questions, `ExactRows`), and is sent the answers.
So the same steps serve a graph in memory and a server, where both are asked elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.asking.answers import Answer, Answers
from unseen.asking.solution_tables.grouping import grouped
from unseen.asking.solution_tables.wanted import ExactRows, Predicted, incomplete, table_of
from unseen.database.relation_store import key_of_term, text_of_term
from unseen.logic.stopping import check_stop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unseen.asking.solution_tables.wanted import Solving, Wishes
    from unseen.database.relation_store import Row
    from unseen.graph.names import Names
    from unseen.logic.outer_form import OuterForm

MOST_KNOWN, MOST_PREDICTED = 10_000, 1_000
"""Solutions of a core that a table is computed from, where something around the core may remove or order them."""


def solved(form: OuterForm, wishes: Wishes) -> Solving:
    """The table that a question asks for."""
    if wishes.exact and form.group and not form.asks_for_scores:
        rows = yield ExactRows(form.exact())
        return shown(form, wishes, form.columns, [(row, 1.0, True) for row in rows])
    if form.grouping is not None:
        columns, found, warnings = yield from grouped(form, wishes.limit(form) + form.offset, exact=wishes.exact)
        return shown(form, wishes, columns, found, warnings)
    return (yield from _values(form, wishes))


def _values(form: OuterForm, wishes: Wishes) -> Solving:
    """Solutions of the core with what is computed around them."""
    wanted = wishes.limit(form) + form.offset
    count = max(wanted, MOST_KNOWN) if form.is_filtered or form.is_distinct else wanted
    answers: list[Answer] = []
    warnings: tuple[str, ...] = ()
    total = 0
    if not wishes.predicted_only:
        known = yield Predicted(form.needed, top=count, exact=True)
        answers += list(known)
        total = known.known if not (form.is_filtered or form.is_distinct) else 0
    if not wishes.exact and (len(answers) < wanted or form.is_filtered):
        most = max(wanted, MOST_PREDICTED) if form.is_filtered else wanted
        found = yield Predicted(form.needed, top=most, predicted_only=True)
        answers += list(found)
        warnings = (*found.warnings, *incomplete(found))
    rows = yield ExactRows(form.around(table_of(form.needed, answers)))
    pairs = [(row, float(text_of_term(row["score"])), "true" in row["known"]) for row in rows]
    return shown(form, wishes, form.columns, pairs, warnings, total)


def shown(  # all that answers have
    form: OuterForm,
    wishes: Wishes,
    columns: Sequence[str],
    found: Sequence[tuple[Row, float, bool]],
    warnings: Sequence[str] = (),
    total: int = 0,
) -> Answers:
    """Rows as answers, without those before OFFSET; `total` known ones there are at least."""
    if form.is_distinct:
        first: dict[tuple[str | None, ...], tuple[Row, float, bool]] = {}
        for one in found:
            first.setdefault(tuple(one[0].get(name) for name in columns), one)
        found = list(first.values())
    chosen = found[form.offset : form.offset + wishes.limit(form)]
    readable = readable_names(wishes.names, [term for row, _, _ in chosen for term in row.values()])
    answers = tuple(_answer(place, one, columns, readable) for place, one in enumerate(chosen, start=1))
    known = max(total, sum(is_known for _, _, is_known in found))
    return Answers(
        form.text, wishes.method, wishes.graph, known, answers, tuple(dict.fromkeys(warnings)), tuple(columns)
    )


def readable_names(names: Names, terms: Sequence[str]) -> dict[str, str]:
    """What a person reads for each term: the name of an entity, the text of a literal."""
    distinct = list(dict.fromkeys(terms))
    ids = names.find_keys([key_of_term(term) for term in distinct]).tolist()
    found = [(term, entity) for term, entity in zip(distinct, ids, strict=True) if entity >= 0]
    named = names.named([entity for _, entity in found])
    return {term: text_of_term(term) for term in distinct} | {
        term: name for (term, _), (name, _) in zip(found, named, strict=True)
    }


def _answer(rank: int, one: tuple[Row, float, bool], columns: Sequence[str], readable: Mapping[str, str]) -> Answer:
    check_stop()
    row, probability, is_known = one
    values = {name: readable[row[name]] for name in columns if name in row}
    keys = {name: key_of_term(row[name]) for name in values}
    return Answer(rank, ", ".join(values.values()), is_known, probability, values=values, keys=keys)
