// Ask: a question, its known answers at once, its predicted ones when they are there.

import * as api from "./api.js";
import { answerList } from "./answer_list.js";
import { builder } from "./builder.js";
import { editor } from "./editor.js";
import { address, el, progress } from "./elements.js";
import { exampleFact } from "./example_fact.js";
import { problem } from "./problem.js";
import { statement } from "./statement_view.js";
import { inFormula, isStatement } from "./syntax.js";
import { wishesOf, wishFields } from "./wishes.js";

const EMPTY = "?x : ";

export async function show(root, parameters, { signal, open, note }) {
  const question = parameters.get("question") ?? "";
  const results = el("div", { class: "results" });
  const fields = wishFields(wishesOf(parameters), () => ask(box.text));
  const ask = (text) => open(address("/ask", { question: text.trim(), show: parameters.get("show"), ...fields.current() }));
  const box = editor(question || EMPTY, ask);
  const building = el("div", { class: "building" });
  const toggle = el("button", { type: "button", class: "quiet", "aria-expanded": "false", onclick: () => build(building.hasChildNodes()) }, "Build a question");
  function build(close) {
    toggle.setAttribute("aria-expanded", String(!close));
    building.replaceChildren(...(close ? [] : [builder((text) => (box.text = text), ask, exampleFact(signal))]));
    if (!close) building.querySelector("input, select")?.focus();
  }
  root.append(
    el("h1", {}, "Ask"),
    el(
      "div",
      { class: "card asking" },
      el("label", { for: "question" }, "Question"),
      box.element,
      el("div", { class: "row" }, el("button", { type: "button", class: "main", onclick: () => ask(box.text) }, "Ask"), toggle, el("span", { class: "note keys" }, "Enter asks · names are offered while you type")),
      building,
      fields.element,
    ),
    results,
  );
  if (!question) {
    box.box.focus();
    box.box.setSelectionRange(EMPTY.length, EMPTY.length);
    await begin(results, signal);
    return;
  }
  const asked = { question, ...wishesOf(parameters) };
  if (!isStatement(question)) return answer(results, asked, parameters, { signal, note, repair: ask });
  try {
    await statement(results, asked, signal);
  } catch (error) {
    if (error.name !== "AbortError") results.replaceChildren(problem(error, question, ask));
  }
}

/** Something to begin with, while no question is asked. */
async function begin(results, signal) {
  const [{ questions }, named] = await Promise.all([api.get("/.json", {}, signal), exampleFact(signal)]);
  const { formula } = await import("./graph_view.js");
  const [head, relation, tail, other] = [named.head, named.relation, named.tail, named.other].map((name) => inFormula(name));
  results.append(
    questions.length ? el("h2", {}, "For example") : "",
    el("ul", { class: "questions" }, questions.map((one) => el("li", {}, el("a", { href: address("/ask", { question: one.question }) }, el("span", { class: "tag" }, one.shows), formula(one.question))))),
    el(
      "details",
      { class: "grammar" },
      el("summary", {}, "How questions are written"),
      el("dl", {}, [
        [`?x : ${relation}(${head}, x)`, "what a relation leads to from a thing; things are named, variables are declared by ?"],
        [`?x : ${relation}(x, ${tail})`, "what it comes from"],
        ["a & b    a | b    !a", "and, or, not"],
        [`?x : exists v . ${relation}(${head}, v) & ${other}(v, x)`, "two steps, over something in between"],
        [`${relation}(x, "two words")`, "names with blanks stand in quotation marks"],
        [`?x, y : ${relation}(x, y) & ${other}(y, x)`, "pairs"],
        [`count x : ${relation}(x, ${tail})`, "how many"],
        [`${relation}(${head}, ${tail})`, "how likely one fact is"],
        ["x a Kind    size(x) > 20", "kinds and values, where the graph records them"],
        ["SELECT ?x WHERE { ... }", "SPARQL works too"],
      ].map(([code, means]) => el("div", {}, el("dt", {}, el("code", {}, code)), el("dd", {}, means)))),
    ),
  );
}

/** Known answers first, then all; more when one scrolls to the end. */
async function answer(results, asked, parameters, { signal, note, repair }) {
  const wait = progress("Predicting");
  const list = answerList(asked, parameters, { note, more: (top, only) => load(asked, top, only, signal), signal });
  results.append(wait.note, list.element);
  const only = list.only;
  let isWhole = false;
  const known = only === "predicted_only" ? Promise.resolve() : ask(asked, list.top, "exact", signal).then((data) => isWhole || (data.predicted_in && wait.expect(data.predicted_in), list.show(data, { isPartial: only !== "exact" })));
  const all = only === "exact" ? known : load(asked, list.top, only, signal, wait.say).then((data) => ((isWhole = true), list.show(data)));
  try {
    await Promise.all([known, all]);
  } catch (error) {
    if (error.name === "AbortError") return;
    (list.isEmpty ? list.element : wait.note).replaceWith(problem(error, asked.question, repair));
  } finally {
    wait.end();
  }
}

const given = (asked, top, only) => ({ ...asked, top, ...(only ? { [only]: "true" } : {}) });
const ask = (asked, top, only, signal) => api.get("/ask.json", given(asked, top, only), signal);
const load = (asked, top, only, signal, told) => (only === "exact" ? ask(asked, top, only, signal) : api.getPatiently("/ask.json", given(asked, top, only), signal, told));
