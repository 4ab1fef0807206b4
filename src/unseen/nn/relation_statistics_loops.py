"""The compiled loops that count how relations go together; they hold no lock of Python's."""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from unseen.graph.compiling import compiled, inner


@compiled
@no_type_check
def count_ends(offsets, relations, ends, paths):
    """For all pairs of directed relations: entities that are heads of both, and pairs of edges leaving one entity."""
    number = np.zeros(len(ends), np.int64)
    distinct = np.empty(len(ends), np.int64)
    for entity in range(len(offsets) - 1):
        count = 0
        for place in range(offsets[entity], offsets[entity + 1]):
            relation = relations[place]
            if number[relation] == 0:
                distinct[count] = relation
                count += 1
            number[relation] += 1
        for left in range(count):
            for right in range(count):
                ends[distinct[left], distinct[right]] += 1
                paths[distinct[left], distinct[right]] += number[distinct[left]] * number[distinct[right]]
        for left in range(count):
            number[distinct[left]] = 0


@inner
@no_type_check
def end_of_run(targets, place, end):
    """Where the edges to one target end that begin at a place."""
    last = place + 1
    while last < end and targets[last] == targets[place]:
        last += 1
    return last


@compiled
@no_type_check
def count_parallel(offsets, targets, relations, parallel):
    """For all pairs of directed relations: pairs of entities that both of them link."""
    for entity in range(len(offsets) - 1):
        first = offsets[entity]
        while first < offsets[entity + 1]:
            end = end_of_run(targets, first, offsets[entity + 1])
            for left in range(first, end):
                for right in range(first, end):
                    parallel[relations[left], relations[right]] += 1
            first = end


@inner
@no_type_check
def note_paths(left, right, relations, fact, query, counts, touched, count, seen, found):
    """Count all paths over one middle, by the edges to it from both ends; return how many pairs were touched."""
    size = found.shape[2]
    for one in range(left[0], left[1]):
        for other in range(right[0], right[1]):
            first, second = relations[one], relations[other] ^ 1
            place = first * size + second
            if counts[place] == 0:
                touched[count] = place
                count += 1
            counts[place] += 1
            if seen[0, first] != fact:
                seen[0, first] = fact
                found[2, query, first] += 1
                found[3, query + 1, first ^ 1] += 1
            if seen[1, second] != fact:
                seen[1, second] = fact
                found[3, query, second] += 1
                found[2, query + 1, second ^ 1] += 1
    return count


@inner
@no_type_check
def note_confidences(touched, counts, scale, paths, smoothing, query, found):
    """Turn the counts of touched pairs into the best confidences of both of their relations; counts are zero again."""
    size = len(paths)
    for place in touched:
        first, second = place // size, place % size
        confidence = min(1.0, counts[place] * scale / (paths[first ^ 1, second] + smoothing))
        counts[place] = 0
        found[0, query, first] = max(found[0, query, first], confidence)
        found[1, query, second] = max(found[1, query, second], confidence)
        found[0, query + 1, second ^ 1] = max(found[0, query + 1, second ^ 1], confidence)
        found[1, query + 1, first ^ 1] = max(found[1, query + 1, first ^ 1], confidence)


@inner
@no_type_check
def scale_coverages(found, query, looked_at):
    """Divide the coverages of a relation and of its inverse; one by one, because slices take seconds to compile."""
    for kind in range(2, 4):
        for directed in range(query, query + 2):
            for other in range(found.shape[2]):
                found[kind, directed, other] /= looked_at


@compiled
@no_type_check
def count_compositions(numbers, starts, heads, tails, offsets, targets, relations, paths, smoothing, found):
    """The best confidences of rules q(x, z) <- a(x, y), b(y, z) by their first and second relation, and coverages.

    Edges of a sample lie by relation; `numbers` says how many edges each has. `found` is [4, query relation, relation]:
    begins, ends, coverage as first, as second.
    """
    size = len(paths)
    counts = np.zeros(size * size, np.float32)
    touched = np.empty(size * size, np.int64)
    seen = np.full((2, size), -1, np.int64)
    for forward in range(len(starts) - 1):
        looked_at, count = starts[forward + 1] - starts[forward], 0
        for fact in range(starts[forward], starts[forward] + looked_at):
            left, right = offsets[heads[fact]], offsets[tails[fact]]
            left_end, right_end = offsets[heads[fact] + 1], offsets[tails[fact] + 1]
            while left < left_end and right < right_end:
                if targets[left] < targets[right]:
                    left += 1
                elif targets[left] > targets[right]:
                    right += 1
                else:
                    middle, sides = targets[left], (left, right)
                    left, right = end_of_run(targets, left, left_end), end_of_run(targets, right, right_end)
                    if middle not in (heads[fact], tails[fact]):
                        ranges = (sides[0], left), (sides[1], right)
                        count = note_paths(*ranges, relations, fact, 2 * forward, counts, touched, count, seen, found)
        note_confidences(
            touched[:count], counts, numbers[forward] / max(1, looked_at), paths, smoothing, 2 * forward, found
        )
        scale_coverages(found, 2 * forward, max(1, looked_at))
