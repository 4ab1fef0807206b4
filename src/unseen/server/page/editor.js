// The box for a question: coloured words, names offered while typing, Ctrl-Enter asks.

import { complete } from "./completion.js";
import { el } from "./elements.js";
import { declared, inFormula, inSparql, isSparql, pieces, typed } from "./syntax.js";

/** A box with a question; `ask` is called with its text. */
export function editor(text, ask, changed = () => {}) {
  const colours = el("pre", { class: "colours", "aria-hidden": "true" });
  const box = el("textarea", {
    id: "question",
    rows: "1",
    spellcheck: "false",
    autocapitalize: "off",
  });
  box.value = text;
  const written = (item) => (isSparql(box.value) ? inSparql(item.name, item.iri) : inFormula(item.name, declared(box.value)));
  const list = complete(box, typed, written);

  function paint() {
    colours.replaceChildren(...pieces(box.value).map(([kind, piece]) => (kind ? el("span", { class: `word-${kind}` }, piece) : piece)), "\n");
  }
  box.addEventListener("input", () => (paint(), changed()));
  box.addEventListener("scroll", () => (colours.scrollTop = box.scrollTop));
  box.addEventListener("keydown", (event) => {
    const asks = event.key === "Enter" && !event.defaultPrevented && (event.ctrlKey || event.metaKey || (!event.shiftKey && !isSparql(box.value)));
    if (!asks) return;
    event.preventDefault();
    ask(box.value);
  });
  paint();
  const element = el("div", { class: "editor" }, el("div", { class: "layers" }, colours, box), list);
  return {
    element,
    box,
    get text() {
      return box.value;
    },
    set text(value) {
      box.value = value;
      paint();
    },
  };
}
