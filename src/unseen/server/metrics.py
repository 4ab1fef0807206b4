"""Numbers for Prometheus, in its text format: requests, their times, queues, batches, the size of the graph."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """How often a number fell below each of some bounds."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count one number."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        """The lines that Prometheus reads."""
        seen = 0
        separator = "," if labels else ""
        for bound, count in zip([*map(str, self.bounds), "+Inf"], self.counts, strict=True):
            seen += count
            yield f'{name}_bucket{{{labels}{separator}le="{bound}"}} {seen}'
        braces = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{braces} {self.total:.6f}"
        yield f"{name}_count{braces} {seen}"


class Predictions(Protocol):
    """What the queue of questions counts."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Questions and calls that came to no answer, by why."""
        ...

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds of the model: estimated and actual."""
        ...


class Metrics:
    """Everything that is counted while a server runs."""

    predictions: Predictions | None = None

    def __init__(self) -> None:
        self.requests: defaultdict[tuple[str, str, int], int] = defaultdict(int)
        self.seconds: defaultdict[str, Histogram] = defaultdict(lambda: Histogram(SECONDS))
        self.batches = Histogram(SIZES)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request; `route` is a path that the server has, so that there are few of them."""
        self.requests[route, method, status] += 1
        self.seconds[route].observe(seconds)

    def text(self, gauges: Mapping[str, float]) -> str:
        """The page that Prometheus reads; `gauges` are numbers of this moment."""
        return "\n".join([*self._lines(gauges), ""])

    def _lines(self, gauges: Mapping[str, float]) -> Iterator[str]:
        yield "# TYPE unseen_requests_total counter"
        for (route, method, status), count in sorted(self.requests.items()):
            yield f'unseen_requests_total{{route="{route}",method="{method}",status="{status}"}} {count}'
        yield "# TYPE unseen_request_seconds histogram"
        for route, histogram in sorted(self.seconds.items()):
            yield from histogram.lines("unseen_request_seconds", f'route="{route}"')
        yield "# TYPE unseen_batch_size histogram"
        yield from self.batches.lines("unseen_batch_size")
        if self.predictions is not None:
            yield from self._predicted(self.predictions)
        for name, value in gauges.items():
            yield f"# TYPE unseen_{name} gauge"
            yield f"unseen_{name} {value:g}"

    def _predicted(self, predictions: Predictions) -> Iterator[str]:
        yield "# TYPE unseen_questions_given_up_total counter"
        for reason in ("busy", "too_costly", "turned_away", "disconnected", "time_limit"):
            yield f'unseen_questions_given_up_total{{reason="{reason}"}} {predictions.counts.get(reason, 0)}'
        yield "# TYPE unseen_model_calls_stopped_total counter"
        yield f"unseen_model_calls_stopped_total {predictions.counts.get('stopped', 0)}"
        yield "# TYPE unseen_model_seconds_total counter"
        for kind, seconds in predictions.seconds.items():
            yield f'unseen_model_seconds_total{{kind="{kind}"}} {seconds:.6f}'
