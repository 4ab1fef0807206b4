"""Values of entities: numbers, dates, booleans and strings that a graph records beside its edges."""

from unseen.graph.attributes.columns import NO_ATTRIBUTES, Attributes, ValueRows

__all__ = ["NO_ATTRIBUTES", "Attributes", "ValueRows"]
