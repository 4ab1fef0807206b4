"""The main functions: load a graph, ask a question, evaluate a method.

```python
import unseen

graph = unseen.load("countries")
for answer in unseen.ask(graph, "?x : borders(France, x) & !speaks(x, German)"):
    print(answer.entity, answer.known, answer.probability)
```
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.asking.answers import Answers, Question, answers_of
from unseen.asking.preparing import prepare, prepare_exactly
from unseen.asking.repairs import repairing
from unseen.asking.tuple_answers import pattern_answers
from unseen.errors import GraphError, UnknownMethod, UnseenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unseen.datasets.dataset import Dataset
    from unseen.evaluation.evaluator import Options
    from unseen.evaluation.results import Result
    from unseen.graph import KnowledgeGraph
    from unseen.logic.algebra import Query
    from unseen.logic.method import Method

EMBEDDED_GRAPHS = {"countries": "countries.tsv"}
METHODS = ("edge-type", "exact", "rules", "path-counts")
EFFORTS = ("fast", "normal", "full")
DEFAULT_EFFORT = "normal"
DEFAULT_METHOD = "edge-type"
"""The method that answers if no model is shipped."""


def load(
    *sources: object,
    values: str | Path | Sequence[str | Path] = (),
    literals: bool = False,
    skip_errors: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> KnowledgeGraph:
    """The graph of one or more files, of a database, an embedded graph by name, or of an object in memory.

    Several files make one graph. An object is a table (pandas, Arrow, polars) with the columns head, relation and tail,
    a networkx graph with directed edges, PyKEEN's `TriplesFactory`, or any triples of names.
    `values` are files of numbers, dates and texts: tables (entity, attribute, value) or RDF. Literals in RDF are
    values too.
    `literals` keeps RDF literals as entities. `skip_errors` skips malformed lines. `progress` is called with the number
    of bytes read and their total.
    """
    from unseen.graph.files.readers import read_graph  # pyarrow only where files are read

    tables = [values] if isinstance(values, str | Path) else list(values)
    named = [source for source in sources if isinstance(source, str | Path)]
    if len(named) < len(sources):
        return _with_values(_loaded_object(*sources), tables)
    paths = [find_source(source) for source in named]
    if len(paths) == 1 and is_database(paths[0]):
        return _with_values(load_database(paths[0]), tables)
    reading = {"literals": literals, "skip_errors": skip_errors}
    return came_from(read_graph(*paths, **reading, progress=progress, values=tables).graph)


def _with_values(graph: KnowledgeGraph, tables: Sequence[str | Path]) -> KnowledgeGraph:
    """A graph that was not read from files, with the values of some."""
    if not tables:
        return graph
    from unseen.graph.files.value_files import read_values

    return read_values(graph, tables)


def _loaded_object(source: object, *others: object) -> KnowledgeGraph:
    """The graph of one object in memory."""
    from unseen.graph.conversions import graph_of

    if others:
        raise GraphError("load takes any number of files, or one table or graph in memory; put tables together first")
    return graph_of(source)


def is_database(path: Path) -> bool:
    """Whether a path is the folder of a database, as `unseen db create` makes it."""
    return (path / "database.json").is_file()


def load_database(path: Path) -> KnowledgeGraph:
    """The current graph of a database; the database is closed again."""
    from unseen.database import Database  # pyoxigraph is optional

    with Database(path) as database:
        return came_from(database.graph, path)


def came_from(graph: KnowledgeGraph, database: Path | None = None) -> KnowledgeGraph:
    """The same graph, marked as read from a database or from files, so that rules mined from it are kept."""
    from unseen.rules.origins import note_source  # arrays only where graphs are

    return note_source(graph, database)


def find_source(source: str | Path) -> Path:
    """The path of a file or of an embedded graph; a file takes precedence over an embedded graph of the same name."""
    path = Path(source)
    if str(source) in EMBEDDED_GRAPHS and not path.exists():
        return Path(str(resources.files("unseen.data") / EMBEDDED_GRAPHS[str(source)]))
    return path


def ask(  # noqa: PLR0913  # all but the first two say how, not what
    graph: KnowledgeGraph,
    question: str | Query,
    *,
    method: str | Method | None = None,
    top: int | None = None,
    explain: bool = False,
    predicted_only: bool = False,
    all_predictions: bool = False,
    kind: str | None = None,
    type_relation: str | None = None,
    new: bool = False,
    order_by: str | None = None,
    predict_values: bool = False,
    effort: str = DEFAULT_EFFORT,
) -> Answers:
    """The answers to a question (formula, SPARQL or algebra): known answers first, then predicted ones.

    `method` is a name (`edge-type`, `exact`, `rules`, `path-counts`), a model, a run folder, `package.module:factory`,
    or an object with `answer` and `estimate`. The default is `default_method()`.
    `top` is the number of answers; by default 10, or the LIMIT of SPARQL. Only entities that have an edge are
    candidates. `explain` adds proofs and reasons.
    If a relation cannot be predicted in this graph, its predictions are left out and `warnings` says so;
    `all_predictions` includes them.
    `kind` only lets entities be answers that have been at the end of a relation: `capital` what it leads to, `^capital`
    where it comes from, `question` the ends of the question's own relations. `type_relation` is the relation of
    `x a Kind` where it is not rdf:type. `new` leaves out what is already related to an entity that the question names.
    `order_by` is an attribute, `name` or `probability`, with ` desc` for the largest first; several are separated by
    commas. `predict_values` predicts comparisons of values that are not recorded, from similar entities.
    `effort` says how much of a large graph a network looks at: `fast`, `normal` or `full`.
    """
    wishes = {"kind": kind, "type_relation": type_relation, "new": new, "top": top, "explain": explain}
    wishes |= {"order_by": order_by, "predict_values": predict_values, "predicted_only": predicted_only}
    preparing: Callable[..., Question] = prepare_exactly if method == "exact" else prepare
    with repairing(graph, question, type_relation):
        bound = preparing(graph, question, **wishes)
    return ask_prepared(graph, bound, method, all_predictions=all_predictions, effort=effort)


def ask_prepared(
    graph: KnowledgeGraph,
    bound: Question,
    method: str | Method | None = None,
    *,
    all_predictions: bool = False,
    effort: str = DEFAULT_EFFORT,
) -> Answers:
    """The answers to a question that `prepare` has made for the same graph."""
    wanted = method or default_method()
    opened = _opened(wanted, effort)
    if opened is not None:
        check_memory(opened, graph)
    name = wanted if isinstance(wanted, str) else type(wanted).__name__
    answers = ask_all(graph, [bound], opened, name)[0]
    if isinstance(wanted, str) and (said := uncalibrated(wanted)):
        answers = replace(answers, warnings=(*answers.warnings, *said), expected=None)
    if opened is None or all_predictions or not isinstance(wanted, str):
        return answers
    from unseen.asking.cautions import cautions_for  # compiled loops only where something is predicted

    return cautions_for(graph, opened, name).applied(answers, bound.query, graph)


def uncalibrated(name: str) -> tuple[str, ...]:
    """A warning about a run whose scores have not been made probabilities; nothing about any other method."""
    run = Path(name)
    if not (run / "run.json").is_file() or (run / "calibration.json").is_file():
        return ()
    remedy = "`unseen train ... --resume` calibrates it when it ends or its --minutes are over"
    return (f"the run {run.name} is not calibrated: its numbers are scores, not probabilities; {remedy}",)


def _opened(method: str | Method, effort: str) -> Method | None:
    """The method; None if the graph alone answers."""
    if not isinstance(method, str):
        return with_effort(method, effort)
    return None if method == "exact" else open_method(method, effort=effort)


def ask_all(
    graph: KnowledgeGraph,
    questions: Sequence[Question],
    method: Method | None,
    method_name: str,
    answered: Callable[[], None] = lambda: None,
) -> list[Answers]:
    """The answers to several questions on one graph, by one call of the method; only known ones without a method.

    Explanations may ask the method again; `answered` is called before they are made.
    """
    trees = [question for question in questions if question.pattern is None and question.table is None]
    execution = None if method is None else method.estimate(graph, [question.query for question in trees])
    found = iter(answers_of(graph, trees, execution, method_name, method, answered))
    return [_one_of(graph, one, found, method, method_name) for one in questions]


def _one_of(
    graph: KnowledgeGraph, one: Question, trees: Iterator[Answers], method: Method | None, method_name: str
) -> Answers:
    """The answers to a question: the next ones of `trees`, if it is a tree."""
    if one.table is not None:
        from unseen.asking.solution_tables.local_tables import table_answers  # pyoxigraph is optional

        def inner(questions: Sequence[Question], exact: bool) -> list[Answers]:
            return ask_all(graph, questions, None if exact else method, method_name)

        return table_answers(graph, one, one.table, inner, method_name, exact=method is None)
    return next(trees) if one.pattern is None else pattern_answers(graph, one, one.pattern, method, method_name)


def default_method() -> str:
    """The name of the method that answers by default: the shipped model, or edge-type if none is shipped."""
    if not _ships_models():
        return DEFAULT_METHOD
    from unseen.models.model_folder import default_model

    return default_model() or DEFAULT_METHOD


def _ships_models() -> bool:
    """Whether the package contains models; checked first to avoid importing torch in vain."""
    return (resources.files("unseen.data") / "models").is_dir()


def open_method(name: str, device: str = "auto", *, effort: str = DEFAULT_EFFORT) -> Method:
    """The method of a name, a shipped model, a model folder or a run folder; a model is opened only once.

    `device` is where a model computes: cpu, cuda, cuda:1, or auto (a GPU if there is one). Methods without a network
    compute on the CPU. `effort` is as for `ask`.
    """
    return with_effort(_method_of(name, device), effort)


def with_effort(method: Method, effort: str) -> Method:
    """The same method with another effort (`fast`, `normal`, `full`), where it has a network that can look at less."""
    if effort not in EFFORTS:
        raise UnseenError(f"there is no effort {effort!r}: choose one of {', '.join(EFFORTS)}")
    at = getattr(method, "at", None)
    return method if at is None else at(effort)


def _method_of(name: str, device: str) -> Method:
    if name in METHODS and device not in ("auto", "cpu"):
        raise UnseenError(f"the method {name} computes on the CPU, not on {device}: leave out --device")
    if name == "edge-type":
        from unseen.methods.edge_type import EdgeType  # torch takes seconds to import

        return EdgeType()
    if name == "exact":
        from unseen.methods.exact import Exact

        return Exact()
    if name == "rules":
        return _rules_method()
    if name == "path-counts":
        from unseen.methods.path_counts import PathCounts

        return PathCounts()
    if ":" in name and not Path(name).exists():
        return _made(name, device)
    from unseen.models.model_folder import kept_model, shipped_models

    shipped = [model.name for model in shipped_models()]
    if name == "default" and not shipped:
        raise UnseenError("no model is shipped with this version: name a method, or a folder of `unseen pretrain`")
    if name == "default" or name in shipped or Path(name).is_dir():
        return kept_model(name, device)
    raise UnknownMethod("method", name, (*METHODS, *shipped, "a run folder", "package.module:factory"))


def _made(name: str, device: str) -> Method:
    """A method from a user's factory, which chooses the device."""
    from unseen.methods.factories import made_by_factory

    if device != "auto":
        raise UnseenError(f"the factory {name} chooses its device itself: leave out --device")
    return made_by_factory(name)


def evaluate(
    method: str | Method,
    dataset: str | Path | Dataset,
    split: str = "test",
    options: Options | None = None,
    *,
    device: str = "auto",
    effort: str = DEFAULT_EFFORT,
) -> Result:
    """The accuracy of a method on the questions of a dataset: filtered ranks by question type, and their averages.

    `method` is an object or a name, as for `ask`. `dataset` is a `Dataset`, or the path of a dataset folder or of
    published files.
    """
    from unseen.datasets.dataset import Dataset
    from unseen.evaluation.evaluator import evaluate as measured

    name = method if isinstance(method, str) else type(method).__name__
    opened = open_method(method, device, effort=effort) if isinstance(method, str) else with_effort(method, effort)
    found = dataset if isinstance(dataset, Dataset) else open_dataset(Path(dataset))
    check_memory(opened, found.observed(split))
    return measured(opened, found, split, options, name=name)


def open_dataset(path: Path, progress: Callable[[int, int], None] | None = None) -> Dataset:
    """The dataset of a dataset folder, or of anything published that can be imported."""
    from unseen.datasets.dataset import Dataset
    from unseen.datasets.published import import_dataset

    if (path / "manifest.json").is_file():
        return Dataset.open(path)
    return import_dataset(path, progress=progress)


@cache
def _rules_method() -> Method:
    """One object for all callers, so that rules are mined once for a graph."""
    from unseen.methods.mined_rules import MinedRules

    return MinedRules()


def device_of(method: Method) -> str:
    """The device that a method computes on."""
    return str(getattr(getattr(method, "method", method), "device", "cpu"))


def check_memory(method: Method, graph: KnowledgeGraph) -> None:
    """Raise an error if a graph is too large for a method on this machine."""
    check = getattr(getattr(method, "method", method), "check_memory", None)
    if check is not None:
        check(graph)
