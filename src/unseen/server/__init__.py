"""The web: SPARQL, questions and facts over HTTP. `run.serve` starts it, `app.make_app` builds it."""
