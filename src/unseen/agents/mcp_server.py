"""The tools as an MCP server (Model Context Protocol); it says what they are for, and passes on their errors."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import FailFast, Field

from unseen.agents.advice import advice
from unseen.errors import UnseenError
from unseen.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unseen.agents.asked_graphs import AskOptions
    from unseen.agents.graph_tools import GraphTools

INSTRUCTIONS = (
    "Logical questions over an incomplete knowledge graph. Call describe_graph first, find_names for names that you "
    "do not know, then ask, or score one statement. Known answers follow from the graph; predicted ones carry a "
    "probability. The resource unseen://grammar describes the language of questions."
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

QuestionText = Annotated[str, Field(description="A formula, `?x : borders(France, x)`, or a SPARQL SELECT.")]

TypeRelation = Annotated[str | None, Field(description="The relation of `x a Kind`; rdf:type if not given.")]


def grammar() -> str:
    """The language of questions on one page."""
    return (resources.files("unseen.data") / "grammar.txt").read_text(encoding="utf-8")


def make_server(tools: GraphTools, *, is_written: bool = False) -> MCPServer[Any]:
    """An MCP server of these tools; facts can be added only where that is allowed."""
    server: MCPServer[Any] = MCPServer("unseen", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    server.resource("unseen://grammar", name="grammar", title="The language of questions", mime_type="text/plain")(
        grammar
    )
    _add_looking(server, tools)
    _add_asking(server, tools)
    if is_written:
        _add_writing(server, tools)
    return server


def _add_looking(server: MCPServer[Any], tools: GraphTools) -> None:
    @server.tool(annotations=READS)
    def describe_graph() -> dict[str, Any]:
        """What is in the graph: counts, its most frequent relations with an example fact each, a question that works.

        Where it has them: attributes with recorded values, and relations that tell kinds. An example
        `relation(head, tail)` shows the direction of a relation.
        """
        with _told(tools):
            return tools.describe_graph()

    @server.tool(annotations=READS)
    def find_names(
        text: Annotated[str, Field(description="A part of the name; empty for the most frequent ones.")] = "",
        kind: Annotated[Literal["entity", "relation"], Field(description="What to look for.")] = "entity",
        limit: int = 20,
    ) -> list[dict[str, Any]]:
        """Names of entities or relations that hold a text, as questions may use them."""
        with _told(tools):
            return tools.find_names(text, kind, limit)


def _add_asking(server: MCPServer[Any], tools: GraphTools) -> None:
    @server.tool(annotations=READS)
    def ask(  # noqa: PLR0913, PLR0917  # the parameters that agents see
        question: QuestionText,
        top: Annotated[int | None, Field(description="How many answers; 10 unless given.")] = None,
        explain: Annotated[bool, Field(description="Say for each answer why; slower.")] = False,
        exact: Annotated[bool, Field(description="Known answers only, without predictions.")] = False,
        predicted_only: Annotated[bool, Field(description="Leave out what the graph says itself.")] = False,
        new: Annotated[bool, Field(description="Leave out what is already related to what is named.")] = False,
        kind: Annotated[
            str | None, Field(description="A relation: only what it leads to; ^r: what r starts at.")
        ] = None,
        type_relation: TypeRelation = None,
        order_by: Annotated[str | None, Field(description="An attribute; ` desc` for the largest first.")] = None,
        predict_values: Annotated[bool, Field(description="Predict values that are not recorded.")] = False,
    ) -> dict[str, Any]:
        """Answer a logical question: what the graph says (known), then what it implies (predicted, with probability).

        Formulas: `?x : borders(France, x) & !speaks(x, German)`, two hops `?x : exists v . borders(France, v) &
        speaks(v, x)`, pairs `?x, y : borders(x, y) & speaks(y, Dutch)`, how many `count x : borders(x, France)`.
        relation(a, b) is the fact with head a and tail b. Names with spaces are "quoted".
        """
        more: AskOptions = {"predicted_only": predicted_only, "new": new, "predict_values": predict_values}
        more |= {"kind": kind, "type_relation": type_relation, "order_by": order_by}
        with _told(tools, question):
            return tools.ask(question, top, explain, exact, **more)

    @server.tool(annotations=READS)
    def explain(
        question: QuestionText,
        entity: Annotated[str, Field(description="One of its answers, as the `entity` that `ask` shows.")],
        type_relation: TypeRelation = None,
    ) -> dict[str, Any]:
        """Say why one entity is an answer: the facts that prove it, or the rules and facts behind the prediction."""
        with _told(tools, question):
            return tools.explain(question, entity, type_relation)

    @server.tool(annotations=READS)
    def score(
        statement: Annotated[
            str, Field(description="A formula without an answer variable: `borders(France, Austria)`, or a SPARQL ASK.")
        ],
        explain: Annotated[bool, Field(description="Say why; slower.")] = False,
        type_relation: TypeRelation = None,
    ) -> dict[str, Any]:
        """Say how likely a statement is, and whether the graph knows it.

        Facts are joined by & | !, and `exists v . borders(France, v) & speaks(v, Hindi)` has variables of its own.
        """
        with _told(tools, statement):
            return tools.score(statement, explain, type_relation)


def _add_writing(server: MCPServer[Any], tools: GraphTools) -> None:
    @server.tool(annotations=ADDS)
    def add_facts(
        facts: Annotated[
            list[Annotated[list[str], FailFast()]],
            FailFast(),  # a list of a million errors takes seconds to write
            Field(description='[["France", "borders", "Spain"], …]: head, relation, tail.'),
        ],
    ) -> dict[str, int]:
        """Add facts by name, all or none; they count from the next question on. A new name becomes a new thing.

        Look names up with find_names first: a misspelt name becomes a new entity or relation.
        """
        with _told(tools):
            return tools.add_facts(facts)


@contextmanager
def _told(tools: GraphTools, question: str = "") -> Iterator[None]:
    """Passes errors that an agent can fix on in full, with advice."""
    try:
        yield
    except UnseenError as error:
        raise ToolError(_advice(error, tools, question)) from error


def _advice(error: UnseenError, tools: GraphTools, question: str) -> str:
    """The advice for an error; the error alone if making the advice fails too, for instance without a connection."""
    try:
        return advice(error, tools.graph, question)
    except UnseenError:
        return str(error)
