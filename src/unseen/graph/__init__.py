"""What the world is: names, edges, and the files they come from."""

from unseen.graph.knowledge_graph import KnowledgeGraph
from unseen.graph.vocabulary import Vocabulary

__all__ = ["KnowledgeGraph", "Vocabulary"]
