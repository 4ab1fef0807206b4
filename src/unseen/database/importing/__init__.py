"""Importing everything that a SPARQL endpoint holds, page by page."""
