"""Inner variables get names, one a set."""

from __future__ import annotations

from hypothesis import given

from tests.logic.strategies import queries
from unseen.logic.algebra import Anchor, And, Or, Project, Query, walk
from unseen.logic.variables import inner_variables, with_variables

FRIENDS = Project("knows", Anchor("Ada"))
COLLEAGUES = Project("works_with", Anchor("Ada"))


def variables_of(query: Query) -> list[str | None]:
    return [node.variable for node in walk(query) if isinstance(node, Project)]


def test_only_projections_from_a_set_need_a_variable() -> None:
    assert variables_of(with_variables(Project("likes", FRIENDS))) == [None, "v1"]


def test_names_that_the_user_gave_stay() -> None:
    assert variables_of(with_variables(Project("likes", FRIENDS, variable="friend"))) == [None, "friend"]


def test_a_name_that_two_sets_would_share_is_kept_by_the_first() -> None:
    query = And((Project("likes", FRIENDS, variable="v"), Project("likes", COLLEAGUES, variable="v")))
    assert variables_of(with_variables(query)) == [None, "v", None, "v1"]


def test_a_name_may_serve_one_set_twice() -> None:
    query = And((Project("likes", FRIENDS, variable="v"), Project("hates", FRIENDS, variable="v")))
    assert variables_of(with_variables(query)) == [None, "v", None, "v"]


def test_no_inner_variable_is_called_like_the_answer() -> None:
    query = Project("likes", FRIENDS, variable="u")
    assert variables_of(with_variables(query, answer="u")) == [None, "v1"]
    assert variables_of(with_variables(query, answer="x")) == [None, "u"]


def test_fresh_names_avoid_those_in_use() -> None:
    query = Or((Project("likes", FRIENDS, variable="v1"), Project("likes", COLLEAGUES)))
    assert variables_of(with_variables(query)) == [None, "v1", None, "v2"]


def test_inner_variables_are_listed_with_their_sets_outermost_first() -> None:
    query = with_variables(Project("likes", Project("parent", FRIENDS, variable="b"), variable="a"))
    assert list(inner_variables(query).items()) == [("a", Project("parent", FRIENDS)), ("b", FRIENDS)]


@given(queries(safe=False))
def test_naming_changes_no_query_and_gives_every_set_its_own_name(query: Query) -> None:
    named = with_variables(query)
    assert named == query
    sets: dict[str, Query] = {}
    for node in walk(named):
        if isinstance(node, Project):
            assert (node.variable is None) == isinstance(node.source, Anchor)
            if node.variable is not None:
                assert sets.setdefault(node.variable, node.source) == node.source
    assert inner_variables(named) == sets
    assert "x" not in sets


@given(queries(safe=False))
def test_naming_twice_is_naming_once(query: Query) -> None:
    named = with_variables(query)
    assert variables_of(with_variables(named)) == variables_of(named)
