// Why: the question drawn, one answer explained, the sets on the way step by step.

import * as api from "./api.js";
import { address, bar, count, el, empty, percent, progress, thing } from "./elements.js";
import { formula } from "./graph_view.js";
import { problem } from "./problem.js";
import { explanation } from "./reasons.js";
import { wishesOf } from "./wishes.js";

const SOON = 250;
const DRAWN = 2;
const LIKELY = 0.001;

export async function show(root, parameters, { signal, open }) {
  const question = parameters.get("question") ?? "";
  if (!question) {
    root.append(el("h1", {}, "Why"), empty("No question yet.", el("p", {}, el("a", { href: "/ask" }, "Ask one first"))));
    return;
  }
  const asked = { question, ...wishesOf(parameters) };
  const wait = progress("Explaining");
  const body = el("div", {});
  root.append(el("p", { class: "back" }, el("a", { href: address("/ask", asked) }, "← all answers")), el("h1", {}, "Why"), el("p", {}, formula(question)), body);
  const whole = api.getPatiently("/why.json", { ...asked, answer: parameters.get("answer") }, signal, wait.say);
  const isWhole = await Promise.race([whole.then(() => true, () => true), new Promise((resolve) => setTimeout(resolve, SOON))]);
  try {
    if (!isWhole) await explained(body, await api.get("/why.json", { ...asked, plain: "true" }, signal), asked, { signal, open, wait });
    await explained(body, await whole, asked, { signal, open });
  } catch (error) {
    if (error.name === "AbortError") return;
    body.replaceChildren(problem(error, question, (text) => open(address("/why", { ...asked, question: text }))));
  } finally {
    wait.end();
  }
}

/** Show the drawing, the reasons and the sets; with `wait`, those that are still to come are left open. */
async function explained(body, data, asked, { signal, open, wait = null }) {
  const picture = el("div", { class: "drawing", role: "img", "aria-label": told(data) });
  const parts = [
    el("div", { class: "columns" }, el("section", { "aria-label": "Drawing" }, picture, legend(data)), wait ? el("section", {}, wait.note) : el("section", { "aria-labelledby": "reason" }, reason(data), others(asked, data))),
    data.steps.length > 0 && el("section", { "aria-labelledby": "steps" }, el("h2", { id: "steps" }, "Step by step"), el("p", { class: "note" }, "Each set is computed from the ones before it. Bars are probabilities; green ones are known."), steps(data, asked)),
  ];
  picture.style.height = `${Math.min(26, 9 + 3.2 * data.nodes.length)}rem`;
  const { draw, towards } = await import("./drawing.js");
  if (signal.aborted) return;
  body.replaceChildren(...parts.filter(Boolean));
  draw(picture, { nodes: data.nodes.map((one) => node(one, data.answer)), edges: data.edges.map(edge) }, { place: towards(data.nodes.find((one) => one.kind === "answer").id), signal, chosen: (one) => one.value && open(address("/entity", { name: one.value })) });
}

const short = (text) => (text.length > 40 ? `${text.slice(0, 38)}…` : text);
const named = (one) => (one.kind === "thing" || !one.value ? short(one.label) : `${one.id === "?" ? "" : `${one.label} = `}${short(one.value)}`);
/** A node with its label; that of an inner variable goes on with other values that it may have. */
const node = (one, answer) => ({ ...one, label: [named(one), ...(one.tests ?? []).map(short), ...alternatives(one, answer)].join("\n") });
function alternatives(one, answer) {
  const values = one.kind === "variable" ? (answer?.likeliest?.[one.id]?.members ?? []) : [];
  const others = values.filter((value) => value.entity !== one.value && value.probability >= LIKELY);
  return others.slice(0, DRAWN).map((value) => `or ${short(value.entity)}${value.known ? "" : ` ${percent(value.probability)}`}`);
}
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
  const values = Object.values(chosen.values ?? {});
  const title = el("h2", { id: "reason" }, values.length ? values.map((value, place) => [place ? ", " : "", thing(value)]) : thing(chosen.entity), " ", el("span", { class: chosen.known ? "badge known" : "badge" }, chosen.known ? "known" : "predicted"));
  const parts = [title];
  if (!chosen.known || chosen.probability < 0.9995) parts.push(el("p", {}, bar(chosen.probability, chosen.known)));
  const recorded = Object.entries(chosen.attributes ?? {}).filter(([, text]) => text);
  if (recorded.length) parts.push(el("dl", { class: "recorded" }, recorded.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))));
  const said = explanation(chosen);
  if (!said.length && !chosen.known) said.push(el("p", { class: "note" }, "The graph does not say so. The model finds it likely from the facts around it.", data.steps.length ? " The sets below show what it was weighed against." : ""));
  return [...parts, ...said];
}

function others(asked, data) {
  if (data.answers.length < 2) return null;
  return el(
    "details",
    { class: "others" },
    el("summary", {}, "Another answer"),
    el("ul", {}, data.answers.map((answer) => el("li", {}, el("a", { href: address("/why", { ...asked, answer: answer.entity }), "aria-current": answer.entity === data.answer?.entity ? "true" : null }, answer.entity), bar(answer.probability, answer.known)))),
  );
}

function steps(data, { question: _, ...wishes }) {
  return el(
    "ol",
    { class: "steps" },
    data.steps.map((step, place) =>
      el(
        "li",
        { class: "card" },
        el("h3", {}, el("span", { class: "tag" }, `set ${place + 1}`), step.label),
        members(step),
        step.question && el("a", { class: "alone", href: address("/ask", { question: step.question, ...wishes }) }, "ask this alone"),
      ),
    ),
  );
}

function members({ set }) {
  if (!set) return el("p", { class: "note to-come", "aria-hidden": "true" });
  if (set.error) return el("p", { class: "note" }, `not computed: ${set.error}`);
  if (!set.members.length) return el("p", { class: "note" }, "empty");
  const rest = set.known - set.members.filter((one) => one.known).length;
  return [el("ul", { class: "members" }, set.members.map((one) => el("li", {}, thing(one.entity), bar(one.probability, one.known)))), rest > 0 && el("p", { class: "note" }, `and ${count(rest)} more known`)];
}
