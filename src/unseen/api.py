"""The short door: load a graph, ask a question, get answers with names.

```python
import unseen

graph = unseen.load("countries")
for answer in unseen.ask(graph, "?x : borders(France, x) & !speaks(x, German)"):
    print(answer.entity, answer.known, answer.probability)
```
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.answers import DEFAULT_TOP, Answers, Question, answers_of
from unseen.errors import GraphError, QueryRefused, UnknownMethod, UnseenError
from unseen.logic.algebra import Anchor, Project, Query, bind, walk
from unseen.logic.variables import with_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.graph import KnowledgeGraph
    from unseen.graph.vocabulary import Lookup
    from unseen.logic.method import Method

EMBEDDED_GRAPHS = {"countries": "countries.tsv"}
METHODS = ("edge-type", "exact", "rules")
DEFAULT_METHOD = "edge-type"
"""What answers where no model is shipped."""

_SPARQL = re.compile(
    r"\s*(#[^\n]*\n\s*)*(PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|LOAD|CLEAR|WITH)\b", re.IGNORECASE
)


def load(
    *sources: object,
    literals: bool = False,
    skip_errors: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> KnowledgeGraph:
    """The graph of one or more files, of a database, an embedded graph by name, or of an object in memory.

    Several files make one graph. An object is a table (pandas, Arrow, polars) with the columns head, relation and tail,
    a networkx graph with directed edges, PyKEEN's `TriplesFactory`, or any triples of names.
    """
    from unseen.graph.files.readers import read_graph  # pyarrow only where files are read

    named = [source for source in sources if isinstance(source, str | Path)]
    if len(named) < len(sources):
        return _loaded_object(*sources)
    paths = [find_source(source) for source in named]
    if len(paths) == 1 and is_database(paths[0]):
        return load_database(paths[0])
    return came_from(read_graph(*paths, literals=literals, skip_errors=skip_errors, progress=progress).graph)


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
    """The graph of a database as it is now; the database itself is closed again."""
    from unseen.database import Database  # pyoxigraph is optional

    with Database(path) as database:
        return came_from(database.graph, path)


def came_from(graph: KnowledgeGraph, database: Path | None = None) -> KnowledgeGraph:
    """The same graph, of which is known that it came from a database or from files: what is mined from it is kept."""
    from unseen.rules.origins import note_source  # arrays only where graphs are

    return note_source(graph, database)


def find_source(source: str | Path) -> Path:
    """The file of a path or of the name of an embedded graph; a file of that name comes first."""
    path = Path(source)
    if str(source) in EMBEDDED_GRAPHS and not path.exists():
        return Path(str(resources.files("unseen.data") / EMBEDDED_GRAPHS[str(source)]))
    return path


def ask(  # noqa: PLR0913  # the last four say how, not what
    graph: KnowledgeGraph,
    question: str | Query,
    *,
    method: str | Method | None = None,
    top: int | None = None,
    explain: bool = False,
    predicted_only: bool = False,
    all_predictions: bool = False,
) -> Answers:
    """The answers to a question (formula, SPARQL or algebra): what the graph says, then what it implies.

    `method` is a name (`edge-type`, `exact`, `rules`), a model, a run folder, `package.module:factory`, or an object
    with `answer` and `estimate`; `default_method()` unless given.
    `top` is how many to give (10, or what a SPARQL LIMIT says). Only entities that have an edge are candidates.
    Predictions by relations that cannot be predicted in this graph are left out, and `warnings` says so;
    `all_predictions` gives them too.
    """
    bound = prepare(graph, question, top=top, explain=explain, predicted_only=predicted_only)
    wanted = method or default_method()
    opened = _opened(wanted)
    if opened is not None:
        check_memory(opened, graph)
    name = wanted if isinstance(wanted, str) else type(wanted).__name__
    answers = ask_all(graph, [bound], opened, name)[0]
    if opened is None or all_predictions or not isinstance(wanted, str):
        return answers
    from unseen.cautions import cautions_for  # compiled loops only where something is predicted

    return cautions_for(graph, opened, name).applied(answers, bound.query, graph)


def _opened(method: str | Method) -> Method | None:
    """What answers; None where the graph alone does."""
    if not isinstance(method, str):
        return method
    return None if method == "exact" else open_method(method)


def prepare(
    graph: KnowledgeGraph,
    question: str | Query,
    *,
    top: int | None = None,
    explain: bool = False,
    predicted_only: bool = False,
    lookup: Lookup | None = None,
) -> Question:
    """The question with the ids of a graph; what does not parse, is no tree or names unknown things is an error.

    `lookup` has found names beforehand, see `lookup_for`.
    """
    if top is not None and top < 1:
        raise UnseenError(f"the number of answers must be at least 1, not {top}")
    parsed, limit = parse(question, graph)
    names = lookup or graph.vocabulary
    query = bind(with_variables(parsed, answer=""), names.entity_id, names.relation_id)
    _require_ids(query, graph)
    top = next(count for count in (top, limit, DEFAULT_TOP) if count is not None)
    return Question(str(question), query, top, explain, predicted_only)


def lookup_for(graph: KnowledgeGraph, queries: Sequence[Query]) -> Lookup:
    """The names of several queries, found in one pass over the graph's vocabulary."""
    from unseen.graph.vocabulary import Lookup

    nodes = [node for query in queries for node in walk(query)]
    entities = (node.entity for node in nodes if isinstance(node, Anchor) and isinstance(node.entity, str))
    relations = (node.relation for node in nodes if isinstance(node, Project) and isinstance(node.relation, str))
    return Lookup(graph.vocabulary, entities, relations)


def ask_all(
    graph: KnowledgeGraph,
    questions: Sequence[Question],
    method: Method | None,
    method_name: str,
    answered: Callable[[], None] = lambda: None,
) -> list[Answers]:
    """The answers to several questions on one graph by one call of the method; without a method, known ones only.

    Explanations may ask the method again; `answered` is called before they are made.
    """
    execution = None if method is None else method.estimate(graph, [question.query for question in questions])
    return answers_of(graph, questions, execution, method_name, method, answered)


def parse(question: str | Query, graph: KnowledgeGraph) -> tuple[Query, int | None]:
    """The query of a question, with names, and the number of answers it asks for, if it says one."""
    if isinstance(question, Query):
        return question, None
    if is_sparql(question):
        from unseen.logic.sparql import parse_sparql  # rdflib is optional

        parsed = parse_sparql(question, prefixes_of(graph))
        return parsed.query, parsed.limit
    from unseen.logic.text import parse_formula

    return parse_formula(question), None


def is_sparql(text: str) -> bool:
    """Whether a question is SPARQL; else it is a formula."""
    return _SPARQL.match(text) is not None


def prefixes_of(graph: KnowledgeGraph) -> dict[str, str]:
    """The prefixes that SPARQL about a graph need not declare, beside the well-known ones."""
    return graph.vocabulary.relations.prefixes.namespaces | graph.vocabulary.entities.prefixes.namespaces


def _require_ids(query: Query, graph: KnowledgeGraph) -> None:
    """Refuse ids that the graph does not have; names have been looked up."""
    for node in walk(query):
        match node:
            case Anchor(entity=int(entity)) if not 0 <= entity < graph.num_entities:
                raise QueryRefused(f"the graph has no entity with the id {entity}")
            case Project(relation=int(relation)) if not 0 <= relation < graph.vocabulary.num_directed_relations:
                raise QueryRefused(f"the graph has no relation with the directed id {relation}")


def default_method() -> str:
    """What answers where no method is named: the model that is shipped, or the edge-type heuristic without one."""
    if not _ships_models():
        return DEFAULT_METHOD
    from unseen.models.model_folder import default_model

    return default_model() or DEFAULT_METHOD


def _ships_models() -> bool:
    """Whether there is anything to look for; spares importing torch only to find nothing."""
    return (resources.files("unseen.data") / "models").is_dir()


def open_method(name: str, device: str = "auto") -> Method:
    """A method by name, a shipped model, or what the folder of a model or a run holds; models are opened once.

    `device` is where a model computes: cpu, cuda, cuda:1, or auto, a GPU if there is one. Methods without a network
    compute on the CPU.
    """
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
    if ":" in name and not Path(name).exists():
        return made_by_factory(name)
    from unseen.models.model_folder import kept_model, shipped_models

    shipped = [model.name for model in shipped_models()]
    if name == "default" and not shipped:
        raise UnseenError("no model is shipped with this version: name a method, or a folder of `unseen pretrain`")
    if name == "default" or name in shipped or Path(name).is_dir():
        return kept_model(name, device)
    raise UnknownMethod("method", name, (*METHODS, *shipped, "a run folder", "package.module:factory"))


def made_by_factory(name: str) -> Method:
    """What `package.module:factory` returns when it is called; modules in the current folder are found too."""
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        factory = getattr(import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnseenError(f"the method {name} cannot be made: {error}") from None
    made: Method = factory()
    missing = [part for part in ("answer", "estimate") if not callable(getattr(made, part, None))]
    if missing:
        raise UnseenError(f"the method {name} has no {missing[0]}: a method has `answer` and `estimate`")
    return made


@cache
def _rules_method() -> Method:
    """One for all callers, so that rules mined for a graph serve every question about it."""
    from unseen.methods.mined_rules import MinedRules

    return MinedRules()


def device_of(method: Method) -> str:
    """Where a method computes."""
    return str(getattr(getattr(method, "method", method), "device", "cpu"))


def check_memory(method: Method, graph: KnowledgeGraph) -> None:
    """Refuse a graph that a method says is too large for it on this machine."""
    check = getattr(getattr(method, "method", method), "check_memory", None)
    if check is not None:
        check(graph)
