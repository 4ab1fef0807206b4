"""Columns of names become columns of ids, batch by batch, while the file is still being read.

The names of heads and tails stream into Arrow's hash aggregation, which keeps each name once, with the list of its
places; the place of a head is twice its row, that of a tail one more. This takes about half the time of dictionary
encoding (10 M names, 1 M distinct: 1.4 s against 2.3 s), needs no copy of the file in memory, and the smallest place
of each name says where it first appeared, in whatever order the threads met it. A small file is encoded by itself:
the aggregation would take longer to import.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from threading import Event, Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import TooLarge
from unseen.graph.arrow_arrays import TEXT, id_array, numbers_of, text_array
from unseen.graph.files.parts import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray
    from pyarrow import acero

    Ids = NDArray[np.int32]

MOST_ROWS = np.iinfo(np.int32).max
FEW_ROWS = 50_000
BATCHES_AHEAD = 6
_ONE_AT_A_TIME = Lock()
"""Many plans at once would take all of Arrow's threads for files and wait for each other for ever."""

_NAMED_PLACES = pa.schema([("name", pa.string()), ("place", pa.uint32())])


def part_of_batches(batches: Iterable[pa.RecordBatch]) -> Part:
    """The triples of batches with three columns of strings: heads, relations, tails."""
    relation_chunks: list[pa.DictionaryArray] = []
    named = _named_places(batches, relation_chunks)
    few, rows = [], 0
    for chunk in named:
        few.append(chunk)
        rows += len(chunk)
        if rows > 2 * FEW_ROWS:
            break
    if rows <= 2 * FEW_ROWS:
        entities, heads, tails = _encoded_ends(few)
    else:
        entities, heads, tails = _numbered_ends(_grouped(chain(few, named)))
    relations, relation_ids = _numbered_chunks(relation_chunks)
    return Part(entities, relations, heads, relation_ids, tails)


def _named_places(
    batches: Iterable[pa.RecordBatch], relation_chunks: list[pa.DictionaryArray]
) -> Iterator[pa.RecordBatch]:
    """The names of heads and tails with their places; relations, being few, are encoded on the way."""
    rows = 0
    for batch in batches:
        heads, relations, tails = batch.columns
        if rows + len(heads) > MOST_ROWS:
            raise TooLarge(f"more than {MOST_ROWS:,} triples in one file")
        places = np.arange(2 * rows, 2 * (rows + len(heads)), 2, dtype=np.uint32)
        yield pa.record_batch([heads, id_array(places)], schema=_NAMED_PLACES)
        yield pa.record_batch([tails, id_array(places + np.uint32(1))], schema=_NAMED_PLACES)
        relation_chunks.append(relations.dictionary_encode())
        rows += len(heads)


def _encoded_ends(chunks: list[pa.RecordBatch]) -> tuple[pa.Array, Ids, Ids]:
    """The names in the order of their smallest places, and the ids of heads and tails."""
    names = pa.concat_arrays([text_array([]), *(chunk.column(0).cast(TEXT) for chunk in chunks)])
    places = np.concatenate([np.empty(0, np.uint32), *(numbers_of(chunk.column(1)) for chunk in chunks)])
    encoded = names.take(id_array(np.argsort(places))).dictionary_encode()
    ids = numbers_of(encoded.indices)
    return encoded.dictionary, np.ascontiguousarray(ids[0::2]), np.ascontiguousarray(ids[1::2])


def _grouped(batches: Iterator[pa.RecordBatch]) -> pa.Table:
    """Each name once, with the list of its places.

    Arrow pulls the batches from a thread of its own, so that Ctrl-C reaches this one, which then stops the flow.
    """
    from pyarrow import acero  # it imports pandas where that is installed

    stopped = Event()
    reader = pa.RecordBatchReader.from_batches(_NAMED_PLACES, _ahead(batches, stopped))
    lists = acero.AggregateNodeOptions([("place", "hash_list", None, "places")], ["name"])
    plan = acero.Declaration.from_sequence([_source_of(reader), acero.Declaration("aggregate", lists)])
    with _ONE_AT_A_TIME, ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(plan.to_table, use_threads=False).result()
        finally:
            stopped.set()


def _ahead(batches: Iterator[pa.RecordBatch], stopped: Event) -> Iterator[pa.RecordBatch]:
    """The same batches, made by another thread while earlier ones are in use, until someone wants to stop."""
    with ThreadPoolExecutor(1) as pool:
        coming = deque(pool.submit(next, batches, None) for _ in range(BATCHES_AHEAD))
        while (batch := coming.popleft().result()) is not None and not stopped.is_set():
            yield batch
            coming.append(pool.submit(next, batches, None))


def _source_of(reader: pa.RecordBatchReader) -> acero.Declaration:
    """The batches as the source of a plan.

    The quick way needs pyarrow 26 and one of Arrow's threads for files, of which the reader needs another; the other
    way, through a dataset, needs neither.
    """
    from pyarrow import acero

    if hasattr(acero, "RecordBatchReaderSourceNodeOptions") and pa.io_thread_count() > 1:
        return acero.Declaration("record_batch_reader_source", acero.RecordBatchReaderSourceNodeOptions(reader))
    from pyarrow.dataset import InMemoryDataset

    return acero.Declaration("scan", acero.ScanNodeOptions(InMemoryDataset(reader), use_threads=False))


def _numbered_ends(groups: pa.Table) -> tuple[pa.Array, Ids, Ids]:
    """The names in the order of their smallest places, and the ids of heads and tails."""
    lists = groups["places"]
    places = np.concatenate([np.empty(0, np.uint32), *(chunk.flatten().to_numpy() for chunk in lists.chunks)])
    sizes = pc.list_value_length(lists).to_numpy()
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(np.minimum.reduceat(places, starts) if len(places) else places, kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    ids = np.empty(len(places), np.int32)
    ids[places] = np.repeat(number, sizes)
    names = groups["name"].cast(TEXT).combine_chunks().take(id_array(order))
    return names, np.ascontiguousarray(ids[0::2]), np.ascontiguousarray(ids[1::2])


def _numbered_chunks(chunks: list[pa.DictionaryArray]) -> tuple[pa.Array, Ids]:
    """The names in the order of their first appearance, chunk by chunk, and the id of every row."""
    names = pa.concat_arrays([text_array([]), *(chunk.dictionary.cast(TEXT) for chunk in chunks)])
    encoded = names.dictionary_encode()
    number, start = numbers_of(encoded.indices), 0
    ids = [np.empty(0, np.int32)]
    for chunk in chunks:
        ids.append(number[start:][numbers_of(chunk.indices)])
        start += len(chunk.dictionary)
    return encoded.dictionary, np.concatenate(ids)
