// What is in this graph: counts, questions to begin with, relations with facts, the best-connected things.

import * as api from "./api.js";
import { address, breakable, count, el, empty, many, percent, thing, waiting } from "./elements.js";
import { inFormula, pieces } from "./syntax.js";

const OPTIONAL = ["heads", "tails"];
const SMALL = 100_000;
const AGAIN = 1500;
const FIRST = 20;

export async function show(root, _parameters, { signal }) {
  const wait = waiting("Looking at the graph");
  root.append(wait);
  const data = await api.get("/.json", {}, signal);
  wait.remove();
  if (!data.graph.triples) {
    root.append(el("h1", {}, "What is in this graph"), el("div", { class: "card" }, empty("Nothing yet.", el("p", {}, "A graph is made of facts, each with a head, a relation and a tail."), el("a", { class: "button main", href: "/change" }, "Add the first fact"))));
    return;
  }
  const predictable = el("p", { class: "note predictable", role: "status" });
  root.append(
    el("h1", {}, "What is in this graph"),
    el("dl", { class: "counts" }, figure(data.graph.entities, "things"), figure(data.graph.relations, "relations"), figure(data.graph.triples, "facts")),
    el("section", { "aria-labelledby": "begin" }, el("h2", { id: "begin" }, "Questions to begin with"), questions(data.questions)),
    el("section", { "aria-labelledby": "relations" }, el("h2", { id: "relations" }, "Relations"), predictable, relations(data.relations, data.graph.relations)),
    data.attributes.length ? el("section", { "aria-labelledby": "values" }, el("h2", { id: "values" }, "Values"), values(data.attributes)) : "",
    el("section", { "aria-labelledby": "things" }, el("h2", { id: "things" }, "Best-connected things"), things(data.best_connected)),
  );
  if (data.model === "exact") return;
  const begin = () => follow(predictable, signal);
  if (data.graph.triples <= SMALL || data.relations.some((relation) => relation.quality)) await begin();
  else predictable.append(el("button", { type: "button", class: "quiet", onclick: begin }, "Find out how well each can be predicted"), " It takes about two minutes; questions go first.");
}

/** Show how well relations can be predicted as it becomes known. */
async function follow(note, signal) {
  for (;;) {
    const found = await api.get("/quality.json", {}, signal);
    for (const cell of document.querySelectorAll("td[data-relation]")) {
      const known = found.relations[cell.dataset.relation];
      if (known) cell.replaceChildren(quality(known));
    }
    note.replaceChildren(...told(found));
    if (found.state !== "running") return;
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
    if (signal.aborted) return;
  }
}

const MEANING = "Predictable: up to ten facts of each relation were hidden and asked for from both ends; the share that came back among the first ten answers.";
function told({ state, answered, planned, message, is_cut: isCut }) {
  if (state === "failed") return [`How well relations can be predicted is not known: ${message}.`];
  if (state === "running") return [MEANING, " ", el("progress", { value: answered, max: planned || 1, "aria-label": "Finding out" }), planned ? ` ${count(answered)} of ${count(planned)} tried` : " preparing"];
  return [MEANING, isCut ? ` The time was enough for ${count(answered)} of ${count(planned)} tries; a dash means that a relation was not reached.` : ""];
}
const FEW = 5;

/** A share of hidden facts as a small bar. */
function quality(known) {
  if (!known) return el("span", { class: "note" }, "–");
  const hint = `${known.tried} hidden, asked for from both ends: ${percent(known.found)} came back among the first ten; any order finds ${percent(known.chance)}`;
  const fill = el("span", { class: "fill" });
  fill.style.width = `${Math.max(1.5, known.found * 100)}%`;
  return el("span", { class: known.is_better_than_chance ? "share" : "share chance", title: hint }, el("span", { class: "track", "aria-hidden": "true" }, fill), el("span", { class: "amount" }, known.is_better_than_chance ? percent(known.found) : "chance", known.tried < FEW && el("span", { class: "note" }, `of ${many(known.tried, "fact")}`)));
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
      el("li", {}, el("a", { href: address("/ask", { question }) }, el("span", { class: "tag" }, shows), formula(question), el("span", { class: "note" }, known ? `${count(known)} known` : ""))),
    ),
  );
}

function relations(list, total) {
  const filter = el("input", { type: "search", id: "find-relation", placeholder: "Filter relations", oninput: () => narrow() });
  const rows = list.map((relation) => [relation.name.toLowerCase(), row(relation)]);
  const rest = el("p", { class: "note" });
  let first = FIRST;
  const whole = el("button", { type: "button", class: "quiet", onclick: () => ((first = rows.length), narrow()) }, `Show ${total > rows.length ? "" : "all "}${count(rows.length)} relations`);
  function narrow() {
    const wanted = filter.value.trim().toLowerCase();
    const fitting = rows.filter(([name]) => name.includes(wanted));
    const shown = new Set(wanted ? fitting : fitting.slice(0, first));
    rows.forEach((one) => (one[1].hidden = !shown.has(one)));
    const isCut = shown.size < fitting.length;
    rest.replaceChildren(isCut ? whole : fitting.length ? "" : "No relation has this in its name.", !isCut && total > rows.length ? ` The ${count(rows.length)} most frequent of ${count(total)} relations are listed; the others are offered while you type a question.` : "");
  }
  const head = ["relation", "facts", "heads", "tails", "predictable", "for example"];
  return [
    list.length > 12 && el("div", { class: "field narrow" }, el("label", { for: "find-relation", class: "hidden" }, "Filter relations"), filter),
    el(
      "div",
      { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Relations" },
      el(
        "table",
        { class: "relations" },
        el("thead", {}, el("tr", {}, head.map((title, place) => el("th", { scope: "col", class: place > 0 && place < head.length - 1 ? (OPTIONAL.includes(title) ? "number optional" : "number") : null }, title)))),
        el("tbody", {}, rows.map(([, element]) => element)),
      ),
    ),
    (narrow(), rest),
  ];
}

function row(relation) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("a", { href: address("/ask", { question: relation.question }), class: "relation" }, breakable(relation.name))),
    el("td", { class: "number" }, count(relation.triples)),
    el("td", { class: "number optional" }, count(relation.heads)),
    el("td", { class: "number optional" }, count(relation.tails)),
    el("td", { class: "number", "data-relation": relation.name }, quality(relation.quality)),
    el("td", { class: "example" }, relation.facts.slice(0, 2).map(([head, , tail]) => el("div", {}, thing(head), el("span", { class: "arrow" }, " → "), thing(tail)))),
  );
}

/** Attributes and what is recorded of them. */
function values(list) {
  const head = ["attribute", "values", "things", "from", "to"];
  return el(
    "div",
    { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Values" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, head.map((title, place) => el("th", { scope: "col", class: place === 1 || place === 2 ? "number" : null }, title)))),
      el("tbody", {}, list.map((one) => el("tr", {}, el("th", { scope: "row" }, el("a", { href: address("/ask", { question: aboutValue(one) }), class: "relation" }, one.attribute)), el("td", { class: "number" }, count(one.values)), el("td", { class: "number" }, count(one.entities)), el("td", {}, one.smallest), el("td", {}, one.largest)))),
    ),
  );
}

/** A question about an attribute: everything from its smallest value on. */
const aboutValue = ({ attribute, kind, smallest }) => `?x : ${inFormula(attribute)}(x) ${/number|date|time|integer|decimal/.test(kind) ? `>= ${smallest}` : `~ "."`}`;

const things = (list) => el("ul", { class: "chips" }, list.map(({ name, edges }) => el("li", {}, thing(name), el("span", { class: "note" }, count(edges)))));
