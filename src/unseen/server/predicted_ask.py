"""SPARQL ASK by prediction: `/query?infer=true`.

`boolean` is true if the graph says so, or if it is at least as likely as not. A client of SPARQL 1.1 needs no more than
that. In JSON the same object has two more members, `probability` and `known`; the results format lets clients skip what
they do not know. In every format the response has them as the headers `Unseen-Probability` and `Unseen-Known`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.responses import Response

from unseen.database.format_versions import SOLUTIONS, results_format
from unseen.graph.files.oxigraph import pyoxigraph_module

if TYPE_CHECKING:
    from unseen.scoring.scores import Score

AS_LIKELY_AS_NOT = 0.5


def ask_response(score: Score, media_type: str) -> Response:
    """The response to an ASK, in a media type of SPARQL results."""
    probability = score.probability or 0.0
    headers = {"Unseen-Probability": f"{probability:.6g}", "Unseen-Known": str(score.known).lower()}
    return Response(_body(score, probability, media_type), media_type=media_type, headers=headers)


def _body(score: Score, probability: float, media_type: str) -> bytes:
    holds = score.known or probability >= AS_LIKELY_AS_NOT
    plain = {"head": {}, "boolean": holds}
    if SOLUTIONS[media_type] == "JSON":
        return json.dumps(plain | {"probability": float(f"{probability:.6g}"), "known": score.known}).encode()
    rdf = pyoxigraph_module()
    parsed = rdf.parse_query_results(json.dumps(plain).encode(), rdf.QueryResultsFormat.JSON)
    written: bytes = parsed.serialize(format=results_format(media_type))
    return written
