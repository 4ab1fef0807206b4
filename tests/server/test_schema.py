"""The server against its own description: whatever fits it, or nearly, is answered as it says."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.conftest import FAMILY
from tests.server.running import Running, running

pytest.importorskip("unseen.agents.http_exchange")  # imported with the first message to /mcp, which takes long

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.generation import GenerationMode
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    schemathesis.openapi.from_dict({"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {}})
    # it imports the rest of itself when first used; not while servers run in threads, which trips Python 3.11's parser

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
OPERATIONS = [
    ("GET", "/query"), ("POST", "/query"), ("POST", "/update"),
    ("GET", "/store"), ("PUT", "/store"), ("POST", "/store"), ("DELETE", "/store"),
    ("POST", "/ask"), ("POST", "/score"), ("POST", "/triples"), ("DELETE", "/triples"),
    ("GET", "/entities"), ("GET", "/relations"), ("GET", "/healthz"), ("GET", "/metrics"),
    ("GET", "/.json"), ("GET", "/ask.json"), ("GET", "/ask.csv"), ("GET", "/ask.parquet"), ("GET", "/why.json"),
    ("GET", "/entity.json"), ("GET", "/change.json"), ("POST", "/mcp"), ("GET", "/quality.json"),
]  # fmt: skip

WITHOUT_INPUT = ("/healthz", "/metrics", "/.json", "/quality.json")


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("schema") / "x.db", FAMILY) as made:
        yield made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [
        (*operation, mode)
        for operation in OPERATIONS
        for mode in GenerationMode
        if operation[1] not in WITHOUT_INPUT or mode.is_positive
    ],
)
def test_every_answer_is_one_that_the_description_lists(
    described: Running, method: str, path: str, mode: GenerationMode
) -> None:
    schema = schemathesis.openapi.from_url(f"{described.url}/openapi.json")
    operation = schema[path][method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    def check(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS)

    check()


def test_every_operation_is_tested(described: Running) -> None:
    paths = described.send("GET", "/openapi.json").json["paths"]
    assert {(method.upper(), path) for path, methods in paths.items() for method in methods} == set(OPERATIONS)
