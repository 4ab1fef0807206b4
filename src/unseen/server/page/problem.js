// What went wrong, under the place where it did.

import { get } from "./api.js";
import { el } from "./elements.js";
import { exampleFact } from "./example_fact.js";
import { isSentence, meant } from "./meant.js";
import { inFormula } from "./syntax.js";

/** An error as a note; `text` is the question that it is about, `repair` is called with a better one. */
export function problem(error, text = "", repair = null) {
  const details = error.details ?? {};
  const note = el("div", { class: "problem", role: "alert" }, el("p", { class: "lead" }, headline(error, details)));
  const place = placeOf(details, text);
  if (place) note.append(pointer(text, place));
  const chip = (shown, question) => el("button", { type: "button", class: "chip", onclick: () => repair(question) }, shown);
  const better = details.suggestion ?? meant(details, text);
  const names = better && !details.suggestion ? [] : (details.closest ?? []).map((name) => [name, replaced(text, details.name, name)]).filter(([, question]) => question !== details.suggestion);
  if (repair && better) note.append(el("p", { class: "offers" }, "Did you mean ", chip(better, better)));
  if (repair && isSentence(details, text)) note.append(sentenceHelp());
  if (repair && names.length) note.append(el("p", { class: "offers" }, details.suggestion ? "or " : "Did you mean ", names.map(([name, question]) => chip(name, question))));
  if (/has no rdf:type/.test(details.reason ?? "")) note.append(kindsOffer());
  return note;
}

/** How questions are written, for who wrote a sentence. */
function sentenceHelp() {
  const help = el("p", {}, "Questions are formulas. “Build a question” makes one from choices; ", el("a", { href: "/ask" }, "these examples"), " are made of this graph");
  exampleFact().then(({ head, relation }) => help.append(", and so is ", el("code", {}, `?x : ${inFormula(relation)}(${inFormula(head, new Set(["x"]))}, x)`), "."));
  return help;
}

/** Relations that may tell kinds, where the graph has no rdf:type: each asks again with it. */
function kindsOffer() {
  const offers = el("p", { class: "offers" });
  const url = (relation) => `${location.pathname}?${new URLSearchParams([...new URLSearchParams(location.search), ["type_relation", relation]])}`;
  get("/.json").then(
    ({ kinds_told_by: names }) => offers.append(names.length ? "Kinds may be told by " : "Name the relation that tells kinds under “More options”.", ...names.map((name) => el("a", { class: "chip", href: url(name) }, name))),
    () => {},
  );
  return offers;
}

function headline(error, details) {
  if (details.code === "unknown_entity" || details.code === "unknown_relation") return `There is no ${details.code.slice(8)} called “${details.name}”.`;
  if (/has no rdf:type/.test(details.reason ?? "")) return "The graph has no rdf:type, so it does not say what kind a thing is.";
  return capital(details.problem ?? details.reason ?? error.message);
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");

/** Start and end of the part that is wrong. */
function placeOf(details, text) {
  const start = details.name ? text.indexOf(details.name) : -1;
  if (start >= 0) return [start, start + details.name.length];
  return Number.isInteger(details.position) ? [details.position, details.position + 1] : null;
}

/** The line of the question, with carets below the part that is wrong. */
function pointer(text, [start, end]) {
  const letters = [...text]; // positions count characters, not UTF-16 units
  if (letters.length !== text.length && end - start === 1) {
    start = letters.slice(0, start).join("").length;
    end = start + 1;
  }
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const to = (text.indexOf("\n", start) + 1 || text.length + 1) - 1;
  const carets = " ".repeat(start - from) + "^".repeat(Math.max(1, Math.min(end, to) - start));
  return el("pre", { class: "pointer" }, `${text.slice(from, to)}\n${carets}`);
}

function replaced(text, name, better) {
  const quoted = /^[\p{L}\p{N}_-]+$/u.test(better) ? better : `"${better.replaceAll(/["\\]/g, "\\$&")}"`;
  return text.includes(`"${name}"`) ? text.replace(`"${name}"`, `"${better.replaceAll(/["\\]/g, "\\$&")}"`) : text.replace(name, quoted);
}
