// Why something is believed: the facts that prove it, the likeliest values, the rules with their confidence.

import { bar, count, el, fact, thing } from "./elements.js";

const LIKELY = 0.001;

/** The parts of an explanation of an answer or a statement; none where there is nothing to say. */
export function explanation(one) {
  const parts = [];
  if (one.edges?.length) parts.push(el("h3", {}, "Because the graph says"), el("ul", { class: "facts" }, one.edges.map((edge) => el("li", {}, fact(edge)))));
  const values = valuesOf(one);
  if (values.length) parts.push(el("h3", {}, one.known ? "Values on the way" : "Likeliest values on the way"), el("dl", { class: "bindings" }, values));
  const given = (one.reasons ?? []).filter((reason) => reason.kind !== "known" || (reason.head && !one.known)); // a proof is shown above
  if (given.length) parts.push(el("h3", {}, "Reasons"), reasons(given));
  return parts;
}

/** Inner variables with the values that they may have; for a known answer, where there are more than its proof names. */
function valuesOf(one) {
  const bound = Object.entries(one.bindings ?? {}).filter(([name]) => !one.known || one.likeliest?.[name]?.members.length > 1);
  return bound.map(([name, value]) => {
    const members = one.likeliest?.[name]?.members.filter((member) => member.probability >= LIKELY) ?? [];
    const listed = members.length ? el("ul", { class: "members" }, members.map((member) => el("li", {}, thing(member.entity), bar(member.probability, member.known))), moreOf(one.likeliest[name])) : thing(value);
    return el("div", {}, el("dt", {}, name), el("dd", {}, listed));
  });
}

function moreOf({ known, members }) {
  const rest = known - members.filter((member) => member.known).length;
  return rest > 0 && el("li", { class: "note" }, `and ${count(rest)} more known`);
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
