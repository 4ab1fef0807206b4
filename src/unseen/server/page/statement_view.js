// A statement: how likely it is, whether the graph says so, and why.

import * as api from "./api.js";
import { bar, el, progress } from "./elements.js";
import { explanation } from "./reasons.js";

/** Show how likely a statement is: what the graph says at once, what is predicted when it is there. */
export async function statement(results, asked, signal) {
  const wait = progress("Predicting");
  const card = el("section", { class: "statement card", "aria-label": "How likely it is" });
  results.append(wait.note);
  try {
    const known = await api.get("/ask.json", { ...asked, exact: "true" }, signal);
    results.prepend(card);
    card.replaceChildren(...told(known.score, true));
    const data = await api.getPatiently("/ask.json", { ...asked, explain: "true" }, signal, wait.say);
    card.replaceChildren(...told(data.score, false));
  } finally {
    wait.end();
  }
}

function told(score, isPartial) {
  const status = el("span", { class: score.known ? "badge known" : "badge" }, score.known ? "known" : "predicted");
  if (isPartial) return [el("p", { class: "likely" }, score.known ? [status, " The graph says so."] : "The graph does not say so.")];
  return [
    el("p", { class: "likely" }, status, bar(score.probability ?? 0, score.known)),
    el("p", { class: "note" }, score.known ? "The graph says so." : "The graph does not say so; this is how likely it is all the same."),
    (score.warnings ?? []).map((text) => el("p", { class: "caution" }, text)),
    explanation(score),
  ].flat(Infinity);
}
