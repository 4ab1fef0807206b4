"""The JSON that goes in and comes out, as the OpenAPI page shows it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=65_536)]
Triple = tuple[Name, Name, Name]


class AskRequest(BaseModel):
    """A question."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1, max_length=100_000, description="A formula, or a SPARQL SELECT.")
    top: int | None = Field(None, ge=1, le=1000, description="How many answers: 10, or what a SPARQL LIMIT says.")
    explain: bool = Field(False, description="Whether to say why: a proof, or the likeliest bindings.")
    predicted_only: bool = Field(False, description="Whether to leave out what the graph says itself.")
    exact: bool = Field(False, description="Whether to leave out predictions.")


class TriplesRequest(BaseModel):
    """Triples by name: head, relation, tail."""

    model_config = ConfigDict(extra="forbid")

    triples: list[Triple] = Field(min_length=1)


class AnswerModel(BaseModel):
    """One answer."""

    rank: int
    entity: str
    known: bool = Field(description="Whether the graph says so itself.")
    probability: float
    bindings: dict[str, str]
    edges: list[Triple] | None = None


class CountsModel(BaseModel):
    """How large the graph is."""

    entities: int
    relations: int
    triples: int


class AnswersModel(BaseModel):
    """The answers to a question, known ones first."""

    query: str
    method: str
    graph: CountsModel
    known: int = Field(description="How many answers the graph itself gives, shown or not.")
    answers: list[AnswerModel]


class AddedModel(BaseModel):
    """What adding did."""

    added: int
    unchanged: int


class RemovedModel(BaseModel):
    """What removing did."""

    removed: int
    unchanged: int


class EntityModel(BaseModel):
    """An entity: its readable name, its IRI, and how many edges it has."""

    name: str
    iri: str
    edges: int


class EntitiesModel(BaseModel):
    """Entities found."""

    entities: list[EntityModel]


class RelationModel(BaseModel):
    """A relation: its readable name, its IRI, and how many triples it has."""

    name: str
    iri: str
    triples: int


class RelationsModel(BaseModel):
    """Relations found."""

    relations: list[RelationModel]


class HealthModel(BaseModel):
    """That the server answers, and with what."""

    status: str
    version: str
    model: str


class ErrorDetails(BaseModel):
    """What was wrong."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str
    closest: list[str] | None = Field(None, description="For an unknown name: the names most like it.")
    position: int | None = Field(None, description="For a text: where it goes wrong, counted from 0.")


class ErrorModel(BaseModel):
    """Every error has this shape."""

    error: ErrorDetails
