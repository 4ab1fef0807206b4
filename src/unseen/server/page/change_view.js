// Change: add a fact, see the answers to a question before and after side by side, remove the fact again.

import * as api from "./api.js";
import { nameInput } from "./completion.js";
import { editor } from "./editor.js";
import { address, bar, el, empty, fact, thing, waiting } from "./elements.js";
import { exampleFact } from "./example_fact.js";
import { problem } from "./problem.js";
import { inFormula } from "./syntax.js";

const TOP = 12;

export async function show(root, parameters, { signal, note }) {
  const head = nameInput("Head", "entities", parameters.get("head") ?? "");
  const relation = nameInput("Relation", "relations", parameters.get("relation") ?? "");
  const tail = nameInput("Tail", "entities", parameters.get("tail") ?? "");
  const inputs = [head.input, relation.input, tail.input];
  const result = el("div", { class: "results", "aria-live": "polite" });
  const box = editor(parameters.get("question") ?? "", () => run(true));
  exampleFact(signal).then((one) => [one.head, one.relation, one.tail].forEach((name, place) => (inputs[place].placeholder = name)));
  const triple = () => inputs.map((input) => input.value.trim());
  inputs.forEach((input) => input.addEventListener("change", () => box.text.trim() || (box.text = suggestion(triple()))));
  const add = el("button", { type: "button", class: "main", onclick: () => run(true) }, "Add this fact");
  const take = el("button", { type: "button", class: "quiet", onclick: () => run(false) }, "Remove this fact");

  root.append(
    el("h1", {}, "Change the graph"),
    el("p", { class: "note" }, "Add a fact and see at once what it does to the answers of a question. A name that is new becomes a new thing."),
    el("div", { class: "card" }, el("div", { class: "triple" }, head.field, relation.field, tail.field), el("label", { for: "question" }, "Question to watch"), box.element, el("div", { class: "row" }, add, take)),
    result,
  );
  if (!box.text.trim()) box.text = suggestion(triple());
  if (triple().every(Boolean)) await tellWhetherThere(triple());

  async function tellWhetherThere(one) {
    const { is_there: isThere } = await api.get("/change.json", { head: one[0], relation: one[1], tail: one[2] }, signal);
    [add.className, take.className] = isThere ? ["quiet", "main"] : ["main", "quiet"];
    result.replaceChildren(el("p", { class: "note" }, isThere ? "The graph has this fact." : "The graph does not have this fact."));
  }
  async function run(isAdded) {
    const one = triple();
    if (!one.every(Boolean)) {
      result.replaceChildren(empty("A fact has three parts: head, relation, tail."));
      inputs.find((input) => !input.value.trim()).focus();
      return;
    }
    if (!box.text.trim()) box.text = suggestion(one);
    const question = box.text.trim();
    note(address("/change", { head: one[0], relation: one[1], tail: one[2], question }));
    result.replaceChildren(waiting("Asking before and after"));
    add.disabled = take.disabled = true;
    try {
      await compare(one, question, isAdded);
    } catch (error) {
      if (error.name !== "AbortError") result.replaceChildren(problem(error, question, (text) => (box.text = text)));
    } finally {
      add.disabled = take.disabled = false;
    }
  }
  async function compare(one, question, isAdded) {
    const asked = () => api.getPatiently("/change.json", { head: one[0], relation: one[1], tail: one[2], question, top: TOP }, signal);
    const before = await asked();
    const done = isAdded ? await api.post("/triples", { triples: [one] }) : await api.remove("/triples", { triples: [one] });
    const after = await asked();
    const unchanged = !(isAdded ? done.added : done.removed);
    const told = unchanged ? (isAdded ? "The graph had this fact already." : "The graph does not have this fact.") : isAdded ? "Added: " : "Removed: ";
    result.replaceChildren(
      el("p", { class: "done", role: "status" }, told, !unchanged && fact(one), !unchanged && el("button", { type: "button", class: "quiet", onclick: () => run(!isAdded) }, isAdded ? "Remove it again" : "Add it again")),
      el("div", { class: "columns even" }, side("Before", before, null), side("After", after, before)),
    );
  }
}

/** A question that a fact may answer. */
const suggestion = ([head, relation]) => (head && relation ? `?x : ${inFormula(relation)}(${inFormula(head, new Set(["x"]))}, x)` : "");

function side(title, data, before) {
  const old = new Map((before?.answers?.answers ?? []).map((answer) => [answer.entity, answer]));
  const rows = (data.answers?.answers ?? []).map((answer) =>
    el("li", { class: answer.known ? "known" : null }, thing(answer.entity), before && change(answer, old.get(answer.entity)), bar(answer.probability, answer.known)),
  );
  const none = data.unknown ? `The graph knows nothing called “${data.unknown}”.` : "No answers.";
  return el("section", { "aria-label": title }, el("h2", {}, title), rows.length ? el("ul", { class: "members" }, rows) : el("p", { class: "note" }, none));
}

/** What has changed of one answer. */
function change(now, was) {
  if (!was) return el("span", { class: "badge new" }, "new");
  if (now.known !== was.known) return el("span", { class: "badge new" }, now.known ? "now known" : "now predicted");
  const difference = now.probability - was.probability;
  return Math.abs(difference) >= 0.001 && el("span", { class: "note" }, difference > 0 ? "▲" : "▼");
}
