"""`unseen answer`: many questions of a file, answered into a table."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.crews import RayAddress, Workers, asked_crew
from unseen.cli.shared_options import Literals, MethodAsForAsk, SkipErrors, Values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from unseen.bulk.answering_files import Asker, SpreadAnswers
    from unseen.spreading.crew import Crew


def answer(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS.txt|jsonl|parquet",
            help="A question a line; or JSON lines or rows with `question` and, if wanted, `id` and `top`.",
            show_default=False,
        ),
    ],
    graph: Annotated[
        list[str],
        typer.Option(
            "--graph",
            "-g",
            metavar="GRAPH|URL",
            help="A graph file, a database, `countries` or the address of a server; repeat it for files that together "
            "make one graph.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT.parquet", help="The table to write.", show_default=False)
    ],
    top: Annotated[int | None, typer.Option(min=1, help="Answers to each question; by default 10.")] = None,
    method: MethodAsForAsk = None,
    predicted: Annotated[bool, typer.Option("--predicted", help="Predicted answers only.")] = False,
    all_predictions: Annotated[
        bool, typer.Option("--all", help="Keep predictions even if they are no better than chance.")
    ] = False,
    answers_like: Annotated[
        str | None, typer.Option(metavar="RELATION", help="As for `unseen ask`.", show_default=False)
    ] = None,
    type_relation: Annotated[
        str | None, typer.Option(metavar="RELATION", help="As for `unseen ask`.", show_default=False)
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="As for `unseen ask`.")] = False,
    order_by: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="As for `unseen ask`.",
            show_default=False,
        ),
    ] = None,
    predict_values: Annotated[bool, typer.Option("--predict-values", help="As for `unseen ask`.")] = False,
    values: Values = None,
    workers: Workers = None,
    ray: RayAddress = None,
    restart: Annotated[bool, typer.Option("--restart", help="Discard the answers of an interrupted run.")] = False,
    literals: Literals = False,
    skip_errors: SkipErrors = False,
) -> None:
    """Answer many questions at once: one row for each answer, in a Parquet table.

    Columns: number, id, question, rank, entity, key (IRI or the file's own name), known, probability, warnings, error.
    A question that cannot be answered has one row with its error; the others are answered. After Ctrl-C the same
    command continues where it stopped. The key of a server is taken from the environment variable UNSEEN_API_KEY.

    \b
    Examples:
      unseen answer questions.txt -g countries -o answers.parquet
      unseen answer questions.jsonl -g facts.tsv -g more.nt.gz -o answers.parquet --top 50
      unseen answer questions.parquet -g http://127.0.0.1:7878 -o answers.parquet
      unseen answer questions.txt -g graph.db -o answers.parquet --workers 4
    """
    from unseen.bulk.answer_table import not_answered
    from unseen.bulk.answering_files import answer_file
    from unseen.bulk.question_files import read_questions
    from unseen.cli.console import note, progress_bar

    asked = read_questions(questions)
    options: dict[str, Any] = {"top": top, "predicted_only": predicted, "all_predictions": all_predictions}
    options |= {"kind": answers_like, "type_relation": type_relation, "new": new}
    options |= {"order_by": order_by, "predict_values": predict_values}
    reading = {"literals": literals, "skip_errors": skip_errors, "values": tuple(values or ())}
    with (
        _asker(graph, method, options, reading) as asker,
        asked_crew(workers, ray) as crew,
        progress_bar("answering", "questions") as bar,
    ):
        try:
            kept = answer_file(asked, asker, output, restart=restart, progress=bar, spread=_spread(crew, asker))
        except KeyboardInterrupt:
            note("answers are kept: the same command continues from there")
            raise
    again = f", {kept:,} of them before" if kept else ""
    failed = not_answered(output)
    but = f" ({failed:,} could not be: see the column `error`)" if failed else ""
    note(f"{len(asked):,} questions answered{again}{but}: {output}")


def _asker(
    graph: Sequence[str], method: str | None, options: dict[str, Any], reading: dict[str, Any]
) -> AbstractContextManager[Asker]:
    from contextlib import contextmanager

    @contextmanager
    def opened() -> Iterator[Asker]:
        from unseen.bulk.answering_files import GraphAsker, ServerAsker
        from unseen.cli.console import read
        from unseen.cli.servers import is_address, server_at

        if is_address(graph):
            with server_at(graph, method) as client:
                yield ServerAsker(client, exact=method == "exact", **options)
        else:
            yield GraphAsker(read(graph, **reading), method, **options)

    return opened()


def _spread(crew: Crew | None, asker: Asker) -> SpreadAnswers | None:
    """How a crew answers; a server answers alone."""
    from unseen.bulk.answering_files import GraphAsker
    from unseen.errors import UnseenError

    if crew is None:
        return None
    if not isinstance(asker, GraphAsker):
        raise UnseenError("a server answers by itself: leave out --workers and --ray, or name the graph")
    from unseen.spreading.spread_answers import spread_answers

    return spread_answers(crew, asker)
