// Answers as rows: things in a list, tuples and tables in a table with a column for each variable, a count as figures.

import { address, bar, count, el, thing } from "./elements.js";

const status = (answer) => (answer.known ? el("span", { class: "badge known" }, "known") : el("span", { class: "badge" }, "predicted"));
const isSure = (answer) => answer.known && answer.probability > 0.9995;

/** Whether a kind says more than at which end of a relation a thing stands. */
export const isTold = (kind) => !/^(head|tail) of /.test(kind);

/** The answers drawn; `whyOf` gives the address of the view that explains one, or null. */
export function answerRows(answers, whyOf) {
  const columns = columnsOf(answers);
  if (!columns.length) return el("ol", { class: "answers" }, answers.map((answer) => row(answer, whyOf)));
  return isFigures(answers) ? figures(columns, answers[0]) : table(columns, answers, whyOf);
}

/** Whether the answers are one row of counts. */
export const isFigures = (answers) => answers.length === 1 && columnsOf(answers).length > 0 && columnsOf(answers).every((column) => column.isCount);

function row(answer, whyOf) {
  const attributes = Object.entries(answer.attributes ?? {}).filter(([, text]) => text);
  return el(
    "li",
    { class: answer.known ? "answer known" : "answer" },
    el("span", { class: "rank" }, String(answer.rank)),
    el(
      "span",
      { class: "what" },
      thing(answer.entity),
      el("span", { class: "kinds" }, (answer.kinds ?? []).filter(isTold).slice(0, 2).join(", ")),
      attributes.map(([name, text]) => el("span", { class: "attribute" }, el("span", { class: "kinds" }, name), " ", text)),
    ),
    status(answer),
    isSure(answer) ? el("span", { class: "bar sure" }) : bar(answer.probability, answer.known),
    why(answer, whyOf),
  );
}

function why(answer, whyOf) {
  const href = whyOf(answer);
  return href ? el("a", { class: "why", href, "aria-label": `Why ${answer.entity}` }, "why") : el("span", { class: "why" });
}

/** The columns of tuples and tables; a count has its expected number and its interval beside it. */
function columnsOf(answers) {
  const names = [...new Set(answers.flatMap((answer) => Object.keys(answer.values ?? {})))];
  const isCount = (name) => names.includes(`${name}_expected`) && names.includes(`${name}_low`) && names.includes(`${name}_high`);
  const beside = new Set(names.filter(isCount).flatMap((name) => [`${name}_expected`, `${name}_low`, `${name}_high`]));
  const isNumber = (name) => answers.every(({ keys }) => !keys?.[name] || /^".*"\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#(integer|decimal|double|float)>$/s.test(keys[name]));
  return names.filter((name) => !beside.has(name)).map((name) => ({ name, isCount: isCount(name), isNumber: isNumber(name) }));
}

function figures(columns, answer) {
  const figure = (value, label) => el("div", {}, el("dt", {}, label), el("dd", {}, value));
  const shown = ({ name }) => [
    figure(count(Number(answer.values[name])), columns.length > 1 ? `${name}, known` : "known"),
    figure(expected(answer.values[`${name}_expected`]), "expected in all"),
    figure(`${answer.values[`${name}_low`]} – ${answer.values[`${name}_high`]}`, "with 80 %"),
  ];
  return el("dl", { class: "counts card" }, columns.flatMap(shown));
}

const expected = (text) => (Number.isFinite(Number(text)) ? Number(text).toLocaleString("en", { maximumFractionDigits: Number(text) < 10 ? 1 : 0 }) : text);

function table(columns, answers, whyOf) {
  const titles = columns.flatMap(({ name, isCount, isNumber }) => [
    el("th", { scope: "col", class: isNumber ? "number" : null }, name),
    isCount && el("th", { scope: "col", class: "number about" }, "expected ", el("span", { class: "interval" }, "80 %")),
  ]);
  const hasWhy = answers.some((answer) => whyOf(answer));
  return el(
    "div",
    { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Answers as a table" },
    el(
      "table",
      { class: "tuples" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "hidden" }, "rank")), titles, el("th", { scope: "col" }, el("span", { class: "hidden" }, "status")), el("th", { scope: "col" }, "probability"), hasWhy && el("th", { scope: "col" }, el("span", { class: "hidden" }, "why")))),
      el(
        "tbody",
        {},
        answers.map((answer) =>
          el(
            "tr",
            { class: answer.known ? "answer known" : "answer" },
            el("td", { class: "rank" }, String(answer.rank)),
            columns.map((column) => cells(column, answer)),
            el("td", {}, status(answer)),
            el("td", { class: "likely" }, isSure(answer) ? el("span", { class: "bar sure" }) : bar(answer.probability, answer.known)),
            hasWhy && el("td", {}, why(answer, whyOf)),
          ),
        ),
      ),
    ),
  );
}

function cells({ name, isCount, isNumber }, { values, keys }) {
  const isThing = values[name] !== undefined && !keys?.[name]?.startsWith('"');
  const value = el("td", { class: isNumber ? "number" : "value" }, values[name] === undefined ? "" : isThing ? thing(values[name]) : values[name]);
  if (!isCount) return [value];
  const interval = `${values[`${name}_low`]} to ${values[`${name}_high`]}`;
  const about = values[`${name}_expected`] === undefined ? "" : [expected(values[`${name}_expected`]), " ", el("span", { class: "interval", title: "The true number lies here with 80 %" }, interval)];
  return [value, el("td", { class: "number about" }, about)];
}

/** The address that explains an answer to a question; what is counted has no picture. */
export const whyAddress = (question, wishes, data) => (answer) =>
  Object.keys(answer.keys ?? {}).some((name) => answer.keys[name].startsWith('"')) || (answer.values && data.complete === undefined) ? null : address("/why", { question, ...wishes, answer: answer.entity });
