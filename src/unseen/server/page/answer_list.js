// The answers to a question: filters, order, more on scrolling, files.

import * as api from "./api.js";
import { answerRows, isFigures, whyAddress } from "./answer_rows.js";
import { address, count, el, empty } from "./elements.js";
import { problem } from "./problem.js";

const FIRST = 25;
const MOST = 1000;
const SHOWN = { all: null, known: "exact", predicted: "predicted_only", new: "predicted_only" };
const LABELS = { all: "All", known: "Known", predicted: "Predicted", new: "New" };
const HINTS = { new: "Predicted, and in no way related yet to what the question names" };
const ORDERS = { rank: "likeliest first", name: "by name", unlikely: "least likely first" };

/** The list; `more(top, only)` loads answers, `note(url)` writes the state into the address. */
export function answerList(asked, parameters, { note, more, signal }) {
  const { question, ...wishes } = asked;
  let data = null, top = FIRST, isLoading = false;
  const state = { show: parameters.get("show") in SHOWN ? parameters.get("show") : "all", kind: parameters.get("kind") ?? "", order: parameters.get("order") in ORDERS ? parameters.get("order") : "rank", name: "" };
  const summary = el("p", { class: "summary", role: "status" });
  const rows = el("div", { class: "rows" });
  const end = el("div", { class: "end" });
  const kinds = el("select", { id: "kind", onchange: () => change({ kind: kinds.value }) });
  const order = el("select", { id: "order", onchange: () => change({ order: order.value }) }, Object.entries(ORDERS).map(([value, label]) => el("option", { value, selected: value === state.order }, label)));
  const search = el("input", { type: "search", id: "within", placeholder: "Filter by name", oninput: () => ((state.name = search.value.toLowerCase()), draw()) });
  const shown = el(
    "div",
    { class: "segments", role: "group", "aria-label": "Which answers" },
    Object.entries(LABELS).map(([value, label]) => el("button", { type: "button", title: HINTS[value], "aria-pressed": String(value === state.show), "data-show": value, onclick: () => reload(value) }, label)),
  );
  const files = el("div", { class: "files" }, el("span", { class: "note" }, "Download"), ["csv", "json", "parquet"].map((kind) => el("button", { type: "button", class: "quiet", onclick: () => save(kind) }, kind === "parquet" ? "Parquet" : kind.toUpperCase())));
  const tools = el("div", { class: "tools-row", hidden: true }, shown, el("label", { for: "kind", class: "hidden" }, "Kind"), kinds, el("label", { for: "order", class: "hidden" }, "Order"), order, el("label", { for: "within", class: "hidden" }, "Filter by name"), search, files);
  const cautions = el("div", { class: "cautions" });
  const element = el("section", { "aria-label": "Answers", class: "found" }, summary, cautions, tools, rows, end);
  const watcher = new IntersectionObserver(([entry]) => entry.isIntersecting && loadMore(), { rootMargin: "300px" });
  watcher.observe(end);
  signal.addEventListener("abort", () => watcher.disconnect());

  const url = () => address("/ask", { ...asked, show: state.show === "all" ? null : state.show, kind: state.kind, order: state.order === "rank" ? null : state.order });
  function change(values) {
    Object.assign(state, values);
    note(url());
    draw();
  }
  async function reload(value) {
    change({ show: value });
    shown.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.show === value)));
    top = FIRST;
    await load();
  }
  async function load() {
    isLoading = true;
    rows.setAttribute("aria-busy", "true");
    try {
      show(await more(top, SHOWN[state.show]));
    } catch (error) {
      if (error.name !== "AbortError") end.replaceChildren(problem(error, question));
    } finally {
      isLoading = false;
      rows.removeAttribute("aria-busy");
    }
  }
  async function loadMore() {
    if (!data || isLoading || data.isPartial || data.answers.length < top || top >= MOST) return;
    top = Math.min(MOST, top * 3);
    await load();
  }
  function save(kind) {
    const { show, kind: wanted, order } = state;
    api.download(`/ask.${kind}`, { ...asked, top: MOST, show, kind: wanted, order }, `answers.${kind}`).catch((error) => end.replaceChildren(problem(error)));
  }
  function show(found, { isPartial = false } = {}) {
    data = { ...found, isPartial };
    tools.hidden = isFigures(found.answers);
    shown.querySelector("[data-show=new]").hidden = found.answers.some((answer) => answer.values); // said of single things
    const names = [...new Set(found.answers.flatMap((answer) => answer.kinds))].sort();
    kinds.hidden = names.length < 2 && !state.kind;
    kinds.replaceChildren(el("option", { value: "" }, "every kind"), ...names.map((name) => el("option", { value: name, selected: name === state.kind }, name)));
    end.replaceChildren();
    const anyway = el("a", { href: address("/ask", { ...asked, all_predictions: "true" }) }, "show them all the same");
    cautions.replaceChildren(...(found.warnings ?? []).map((text) => el("p", { class: "caution" }, text, " ", /only known answers are shown/.test(text) && anyway.cloneNode(true))));
    draw();
  }
  function draw() {
    if (!data) return;
    const fits = (answer) =>
      (state.show !== "known" || answer.known) && (state.show !== "predicted" || !answer.known) && (state.show !== "new" || (!answer.known && !answer.related)) && (!state.kind || answer.kinds.includes(state.kind)) && (!state.name || answer.entity.toLowerCase().includes(state.name));
    const answers = data.answers.filter(fits);
    if (state.order === "name") answers.sort((one, other) => one.entity.localeCompare(other.entity));
    if (state.order === "unlikely") answers.sort((one, other) => one.probability - other.probability);
    summary.replaceChildren(...(tools.hidden ? [] : told(data, answers.length)));
    if (answers.length) rows.replaceChildren(answerRows(answers, whyAddress(question, wishes, data)));
    else rows.replaceChildren(data.isPartial ? "" : nothing(state, data));
  }
  return { element, show, top: FIRST, only: SHOWN[state.show], get isEmpty() { return data === null; } };
}

/** How many there are, in words. */
function told(data, shown) {
  const predicted = data.answers.filter((answer) => !answer.known).length;
  const parts = [el("strong", {}, count(data.known)), " known"];
  if (data.isPartial) return [...parts, " · predicted ones are coming"];
  if (data.method !== "exact") parts.push(" · ", predicted || !isCut(data) ? [el("strong", {}, count(predicted)), " predicted listed"] : "predicted ones follow them");
  if (data.complete === false) parts.push(" · more may be missing");
  if (data.expected) parts.push(` · ${inAll(data.expected)}`);
  if (shown < data.answers.length) parts.push(` · ${count(shown)} shown`);
  return parts.flat();
}

/** An expected number with its interval. */
function inAll({ mean, low, high, share }) {
  const number = Number(mean.toFixed(mean < 10 ? 1 : 0));
  return `about ${count(number)} expected in all (${count(low)} to ${count(high)} with ${Math.round(100 * share)} %)`;
}

/** Whether there are more known answers than are listed. */
const isCut = (data) => data.answers.length > 0 && data.answers.length < data.known;

function nothing(state, data) {
  if (state.kind || state.name) return empty("No answer fits these filters.");
  if (state.show === "known") return empty("The graph itself has no answer.", el("p", {}, "See what is predicted: choose All or Predicted."));
  if (state.show === "new") return empty("No predicted answer is new.", el("p", {}, "Every one that is listed is already related to something that the question names."));
  return empty(data.method === "exact" ? "The graph has no answer to this question." : "There is no answer, known or predicted.");
}
