"""`unseen ask`: a question, and its answers as a table or as JSON."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.shared_options import AsJson, Effort, Explain, Literals, SkipErrors, TypeRelation, Values

if TYPE_CHECKING:
    from unseen.asking.answers import Answers


def ask(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH... QUESTION",
            help="Files that together make one graph (TSV, CSV, Parquet, RDF; .gz too), `countries`, or the address "
            "of a server; then the question, a formula or SPARQL.",
            show_default=False,
        ),
    ],
    top: Annotated[
        int | None, typer.Option(help="How many answers to show; by default 10, or the LIMIT of SPARQL.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="A model, a run folder, rules (mined from the graph itself), edge-type (a quick heuristic), exact "
            "(known answers only), or package.module:factory; by default the shipped model.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|RUN", help="The model to ask: see `unseen models`.", show_default=False),
    ] = None,
    explain: Explain = False,
    predicted: Annotated[bool, typer.Option("--predicted", help="Show predicted answers only.")] = False,
    all_predictions: Annotated[
        bool, typer.Option("--all", help="Show unlikely predictions too, and those that are no better than chance.")
    ] = False,
    answers_like: Annotated[
        str | None,
        typer.Option(
            metavar="RELATION",
            help="Only entities that RELATION leads to in the graph (^RELATION: comes from); `question`: the ends of "
            "the question's own relations.",
            show_default=False,
        ),
    ] = None,
    type_relation: TypeRelation = None,
    new: Annotated[
        bool, typer.Option("--new", help="Leave out what is already related to an entity that the question names.")
    ] = False,
    order_by: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="Order answers by an attribute, name or probability; ` desc` behind it: the largest first.",
            show_default=False,
        ),
    ] = None,
    predict_values: Annotated[
        bool, typer.Option("--predict-values", help="Predict comparisons of values that are not recorded.")
    ] = False,
    values: Values = None,
    effort: Effort = "normal",
    literals: Literals = False,
    skip_errors: SkipErrors = False,
    as_json: AsJson = False,
) -> None:
    """Answer a question: what the graph says (known), then what it implies (predicted).

    \b
    Examples:
      unseen ask countries "?x : borders(France, x) & !speaks(x, German)"
      unseen ask countries "?x : borders(France, x)" --predicted --explain
      unseen ask countries "SELECT ?x WHERE { :France :borders/:speaks ?x }" --json
      unseen ask facts.tsv more.nt.gz "?x : exists v . knows(Ada, v) & knows(v, x)"
      unseen ask http://127.0.0.1:7878 "?x : borders(France, x)"
      unseen ask facts.nt "?x : x a Country & trades(x, France)" --new
      unseen ask facts.tsv "?x : works_with(Ada, x)" --answers-like works_with
    """
    from unseen.cli.console import note, write_json
    from unseen.cli.shown_answers import show

    if len(arguments) < 2:
        raise typer.BadParameter("give at least one graph, then the question", param_hint="GRAPH... QUESTION")
    if method is not None and model is not None:
        raise typer.BadParameter("give one of the two: a model is a method too", param_hint="--method, --model")
    *sources, question = arguments
    options: dict[str, Any] = {
        "top": top,
        "explain": explain,
        "predicted_only": predicted,
        "all_predictions": all_predictions,
    }
    options |= {"kind": answers_like, "type_relation": type_relation, "new": new}
    options |= {"order_by": order_by, "predict_values": predict_values}
    options["effort"] = effort
    reading = {"literals": literals, "skip_errors": skip_errors, "values": tuple(values or ())}
    if _is_ask(question):
        from unseen.cli.score import show_score

        del reading["values"]
        show_score(sources, question, model or method, explain, type_relation, reading, as_json)
        return
    answers, told = _answers(sources, question, model or method, options, reading)
    hint = " (--all shows predictions anyway)" if all(answer.known for answer in answers) else ""
    for warning in answers.warnings[told:]:
        note(f"{warning}{hint}")
    if as_json:
        write_json(answers.as_json())
    else:
        show(answers, explain=explain, unlikely=all_predictions)


def _is_ask(question: str) -> bool:
    """Whether a question is SPARQL that asks whether something holds."""
    if re.search(r"\bask\b", question, re.IGNORECASE) is None:
        return False
    from unseen.asking.preparing import is_sparql
    from unseen.logic.sparql.asking import place_of_ask

    return is_sparql(question) and place_of_ask(question) is not None


def _answers(
    sources: list[str], question: str, method: str | None, options: dict[str, Any], reading: dict[str, Any]
) -> tuple[Answers, int]:
    """The answers of a server or of a graph, and how many of their warnings were shown before anything was computed."""
    from unseen.cli.servers import is_address, server_at

    if is_address(sources):
        if options.pop("effort") != "normal":
            raise typer.BadParameter(
                "a server decides this when it starts: `unseen serve --effort`", param_hint="--effort"
            )
        with server_at(sources, method) as client:
            return client.ask(question, exact=method == "exact", **options), 0
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # torch's idle threads sleep; spinning would cost more
    from unseen import api
    from unseen.asking.preparing import prepare, prepare_exactly
    from unseen.asking.repairs import repairing
    from unseen.cli.console import note, read
    from unseen.cli.rules_command import open_rules, predicts_by_rules

    ways = {key: options.pop(key) for key in ("all_predictions", "effort")}
    graph = read(sources, **reading)
    with repairing(graph, question, options["type_relation"]):
        bound = (prepare_exactly if method == "exact" else prepare)(graph, question, **options)
    for warning in bound.warnings:
        note(warning)
    if predicts_by_rules(method):
        open_rules(graph)
    return api.ask_prepared(graph, bound, method, **ways), len(bound.warnings)
