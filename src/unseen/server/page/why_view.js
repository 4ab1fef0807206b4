// Why: the question drawn, one answer explained, the sets on the way step by step.

import * as api from "./api.js";
import { address, bar, count, el, empty, fact, thing, waiting } from "./elements.js";
import { formula } from "./graph_view.js";
import { problem } from "./problem.js";

export async function show(root, parameters, { signal, open }) {
  const question = parameters.get("question") ?? "";
  if (!question) {
    root.append(el("h1", {}, "Why"), empty("No question yet.", el("p", {}, el("a", { href: "/ask" }, "Ask one first"))));
    return;
  }
  const wait = waiting("Explaining");
  root.append(el("p", { class: "back" }, el("a", { href: address("/ask", { question }) }, "← all answers")), el("h1", {}, "Why"), el("p", {}, formula(question)), wait);
  let data;
  try {
    data = await api.getPatiently("/why.json", { question, answer: parameters.get("answer") }, signal, (seconds) => (wait.lastChild.textContent = `The model is busy; trying again in ${seconds} s`));
  } catch (error) {
    if (error.name === "AbortError") return;
    wait.replaceWith(problem(error, question, (text) => open(address("/why", { question: text }))));
    return;
  }
  wait.remove();
  const picture = el("div", { class: "drawing", role: "img", "aria-label": told(data) });
  root.append(
    el("div", { class: "columns" }, el("section", { "aria-label": "Drawing" }, picture, legend(data)), el("section", { "aria-labelledby": "reason" }, reason(data), others(question, data))),
    el("section", { "aria-labelledby": "steps" }, el("h2", { id: "steps" }, "Step by step"), el("p", { class: "note" }, "Each set is computed from the ones before it. Bars are probabilities; full ones are known."), steps(data)),
  );
  picture.style.height = `${Math.min(26, 9 + 3.2 * data.nodes.length)}rem`;
  const { draw, towards } = await import("./drawing.js");
  if (signal.aborted) return;
  draw(picture, { nodes: data.nodes.map(node), edges: data.edges.map(edge) }, { place: towards("?"), signal, chosen: (one) => one.value && open(address("/entity", { name: one.value })) });
}

const short = (text) => (text.length > 40 ? `${text.slice(0, 38)}…` : text);
const node = (one) => ({ ...one, label: one.kind === "thing" || !one.value ? short(one.label) : `${one.kind === "answer" ? "" : `${one.label} = `}${short(one.value)}` });
const edge = (one) => ({ ...one, label: `${one.negated ? "not " : ""}${one.relation}${one.either ? " (or)" : ""}`, status: one.exists === null || one.negated ? "" : one.exists ? "known" : "predicted" });

/** The drawing in words. */
function told(data) {
  const name = Object.fromEntries(data.nodes.map((one) => [one.id, one.value ?? one.label]));
  return data.edges.map((one) => `${name[one.source]} ${one.negated ? "not " : ""}${one.relation} ${name[one.target]}${one.exists === false && !one.negated ? " (predicted)" : ""}`).join("; ");
}

function legend(data) {
  return el("ul", { class: "legend" }, el("li", {}, "in the graph"), el("li", { class: "predicted" }, "predicted"), data.edges.some((one) => one.negated) && el("li", { class: "negated" }, "must not hold"));
}

/** The proof of a known answer; the likeliest values and the reasons of a predicted one. */
function reason(data) {
  const chosen = data.answer;
  if (!chosen) return [el("h2", { id: "reason" }, "No such answer"), el("p", {}, "It is not among the answers to this question.")];
  const title = el("h2", { id: "reason" }, thing(chosen.entity), " ", el("span", { class: chosen.known ? "badge known" : "badge" }, chosen.known ? "known" : "predicted"));
  const parts = [title];
  if (!chosen.known || chosen.probability < 0.9995) parts.push(el("p", {}, bar(chosen.probability, chosen.known)));
  if (chosen.edges?.length) parts.push(el("h3", {}, "Because the graph says"), el("ul", { class: "facts" }, chosen.edges.map((one) => el("li", {}, fact(one)))));
  const bindings = Object.entries(chosen.bindings ?? {});
  if (bindings.length && !chosen.known) parts.push(el("h3", {}, "Likeliest values on the way"), el("dl", { class: "bindings" }, bindings.map(([variable, value]) => el("div", {}, el("dt", {}, variable), el("dd", {}, thing(value))))));
  const given = (chosen.reasons ?? []).filter((one) => one.kind !== "known" || (one.head && !chosen.known)); // a proof is shown above
  if (given.length) parts.push(el("h3", {}, "Reasons"), reasons(given));
  if (!chosen.known && !bindings.length && !chosen.reasons?.length) parts.push(el("p", { class: "note" }, "The graph does not say so. The model finds it likely from the facts around it; the steps below show what it was weighed against."));
  return parts;
}

/** The reasons, those for the same link together; a link of the graph or one that is absent needs no more words. */
function reasons(list) {
  const links = new Map();
  for (const one of list) {
    const link = JSON.stringify(one.head ?? null);
    links.set(link, [...(links.get(link) ?? []), one]);
  }
  return el("ul", { class: "reasons" }, [...links.values()].map((ones) => el("li", {}, ones[0].head && el("div", {}, fact(ones[0].head), " ", standing(ones[0])), ones.map(rule))));
}

function standing({ kind }) {
  if (kind === "known") return el("span", { class: "badge known" }, "in the graph");
  return kind === "absent" ? el("span", { class: "badge absent" }, "not in the graph") : el("span", { class: "badge" }, "predicted");
}

/** One reason: its text, how sure it is, and the facts that change that most. */
function rule(one) {
  if (one.head && (one.kind === "known" || one.kind === "absent")) return null;
  const effects = (one.effects ?? []).filter((effect) => Array.isArray(effect.edge));
  return el(
    "div",
    { class: "rule" },
    el("div", { class: "note" }, one.text ?? ""),
    Number.isFinite(one.confidence) && el("div", { class: "measure" }, el("span", { class: "note" }, "confidence of the rule"), bar(one.confidence)),
    Number.isFinite(one.probability) && el("div", { class: "measure" }, el("span", { class: "note" }, "the model alone"), bar(one.probability)),
    effects.map((effect) => el("div", { class: "measure" }, el("span", {}, el("span", { class: "note" }, "without "), fact(effect.edge)), bar(effect.without))),
  );
}

function others(question, data) {
  if (data.answers.length < 2) return null;
  return el(
    "details",
    { class: "others" },
    el("summary", {}, "Another answer"),
    el("ul", {}, data.answers.map((answer) => el("li", {}, el("a", { href: address("/why", { question, answer: answer.entity }), "aria-current": answer.entity === data.answer?.entity ? "true" : null }, answer.entity), bar(answer.probability, answer.known)))),
  );
}

function steps(data) {
  return el(
    "ol",
    { class: "steps" },
    data.steps.map((step, place) =>
      el(
        "li",
        { class: "card" },
        el("h3", {}, el("span", { class: "tag" }, `set ${place + 1}`), step.label),
        members(step),
        step.question && el("a", { class: "note", href: address("/ask", { question: step.question }) }, "ask this alone"),
      ),
    ),
  );
}

function members({ set }) {
  if (set.error) return el("p", { class: "note" }, `not computed: ${set.error}`);
  if (!set.members.length) return el("p", { class: "note" }, "empty");
  const rest = set.known - set.members.filter((one) => one.known).length;
  return [el("ul", { class: "members" }, set.members.map((one) => el("li", {}, thing(one.entity), bar(one.probability, one.known)))), rest > 0 && el("p", { class: "note" }, `and ${count(rest)} more known`)];
}
