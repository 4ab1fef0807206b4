// What is in this graph: counts, questions to begin with, relations with facts, the best-connected things.

import * as api from "./api.js";
import { address, count, el, empty, fact, thing, waiting } from "./elements.js";
import { pieces } from "./syntax.js";

export async function show(root, _parameters, { signal }) {
  const wait = waiting("Looking at the graph");
  root.append(wait);
  const data = await api.get("/.json", {}, signal);
  wait.remove();
  if (!data.graph.triples) {
    root.append(empty("This graph is empty.", el("p", {}, el("a", { href: "/change" }, "Add a first fact"))));
    return;
  }
  root.append(
    el("h1", {}, "What is in this graph"),
    el("dl", { class: "counts" }, figure(data.graph.entities, "things"), figure(data.graph.relations, "relations"), figure(data.graph.triples, "facts")),
    el("section", { "aria-labelledby": "begin" }, el("h2", { id: "begin" }, "Questions to begin with"), questions(data.questions)),
    el("section", { "aria-labelledby": "relations" }, el("h2", { id: "relations" }, "Relations"), relations(data.relations)),
    el("section", { "aria-labelledby": "things" }, el("h2", { id: "things" }, "Best-connected things"), things(data.best_connected)),
  );
}

const figure = (number, label) => el("div", {}, el("dt", {}, label), el("dd", {}, count(number)));

/** A question with coloured words. */
export function formula(text) {
  return el("code", { class: "formula" }, pieces(text).map(([kind, piece]) => (kind ? el("span", { class: `word-${kind}` }, piece) : piece)));
}

function questions(list) {
  return el(
    "ul",
    { class: "questions" },
    list.map(({ question, shows, known }) =>
      el("li", {}, el("a", { href: address("/ask", { question }) }, el("span", { class: "tag" }, shows), formula(question), el("span", { class: "note" }, `${known} known`))),
    ),
  );
}

function relations(list) {
  const quality = list.some((relation) => relation.quality !== undefined);
  const filter = el("input", { type: "search", id: "find-relation", placeholder: "Filter relations" });
  const rows = list.map((relation) => [relation.name.toLowerCase(), row(relation, quality)]);
  filter.addEventListener("input", () => rows.forEach(([name, element]) => (element.hidden = !name.includes(filter.value.toLowerCase()))));
  const head = ["relation", "facts", "heads", "tails", ...(quality ? ["predictable"] : []), "for example"];
  return [
    list.length > 12 && el("div", { class: "field narrow" }, el("label", { for: "find-relation", class: "hidden" }, "Filter relations"), filter),
    el(
      "div",
      { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Relations" },
      el(
        "table",
        { class: "relations" },
        el("thead", {}, el("tr", {}, head.map((title, place) => el("th", { scope: "col", class: place > 0 && place < head.length - 1 ? "number" : null }, title)))),
        el("tbody", {}, rows.map(([, element]) => element)),
      ),
    ),
  ];
}

function row(relation, quality) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("a", { href: address("/ask", { question: relation.question }), class: "relation" }, relation.name)),
    el("td", { class: "number" }, count(relation.triples)),
    el("td", { class: "number" }, count(relation.heads)),
    el("td", { class: "number" }, count(relation.tails)),
    quality && el("td", { class: "number" }, relation.quality ?? ""),
    el("td", { class: "example" }, relation.facts.slice(0, 2).map((one) => el("div", {}, fact(one)))),
  );
}

const things = (list) => el("ul", { class: "chips" }, list.map(({ name, edges }) => el("li", {}, thing(name), el("span", { class: "note" }, count(edges)))));
