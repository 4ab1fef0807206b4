// A question without syntax: pick a relation and a thing, join with and / or / not, go another step.

import { nameInput } from "./completion.js";
import { el } from "./elements.js";
import { inFormula } from "./syntax.js";

/** The builder; `write` is called with the formula as it changes, `ask` to ask it; `example` is a fact that empty boxes show. */
export function builder(write, ask, example) {
  const top = group("things", () => update(), example, true);
  const wanted = el("select", { "aria-label": "What is wanted", onchange: () => update() }, el("option", { value: "?x" }, "Find things x"), el("option", { value: "count x" }, "Count things x"));
  const preview = el("p", { class: "preview note", role: "status" });
  function text() {
    const names = (function* () { for (let number = 1; ; number++) yield `v${number}`; })();
    const inside = top.written("x", names);
    return inside ? `${wanted.value} : ${inside}` : "";
  }
  function update() {
    const formula = text();
    preview.textContent = formula || "Pick a relation and a thing.";
    if (formula) write(formula);
  }
  update();
  return el("div", { class: "builder" }, el("p", { class: "row" }, wanted, "for which"), top.element, preview, el("button", { type: "button", class: "main", onclick: () => text() && ask(text()) }, "Ask this"));
}

/** Conditions on one variable, joined by and / or. */
function group(what, changed, example, isFirst = false) {
  const subject = isFirst ? "x" : "it";
  const conditions = [];
  const list = el("ul", { class: "conditions" });
  const join = el("select", { "aria-label": `How conditions on ${what} are joined`, onchange: changed }, el("option", { value: " & " }, "all of these hold"), el("option", { value: " | " }, "at least one holds"));
  const joining = el("div", { class: "joining", hidden: true }, join);
  function add() {
    const one = condition(subject, changed, example, () => {
      conditions.splice(conditions.indexOf(one), 1);
      one.element.remove();
      joining.hidden = conditions.length < 2;
      changed();
    });
    conditions.push(one);
    list.append(one.element);
    joining.hidden = conditions.length < 2;
    changed();
  }
  const more = el("button", { type: "button", class: "quiet", onclick: () => (add(), list.lastChild.querySelector("input").focus()) }, "+ condition");
  const element = el("div", { class: isFirst ? "group" : "group inner" }, joining, list, more);
  queueMicrotask(add);
  return {
    element,
    written(variable, names) {
      const parts = conditions.map((one) => one.written(variable, names)).filter(Boolean);
      return parts.length > 1 ? parts.map((part) => (/^(exists|.* [&|] )/.test(part) ? `(${part})` : part)).join(join.value) : (parts[0] ?? "");
    },
  };
}

/** One condition: [not] relation, direction, a thing or something that again has conditions. */
function condition(subject, changed, example, remove) {
  let inner = null;
  const not = el("input", { type: "checkbox", onchange: changed });
  const relation = nameInput("Relation", "relations", "", { chosen: () => changed() });
  const entity = nameInput("Thing", "entities", "", { chosen: () => changed() });
  example.then((fact) => ((relation.input.placeholder = fact.relation), (entity.input.placeholder = fact.tail)));
  const direction = el("select", { "aria-label": "Direction", onchange: changed }, el("option", { value: "from" }, `${subject} → thing`), el("option", { value: "to" }, `thing → ${subject}`));
  const deeper = el("div", { class: "deeper" });
  const kind = el("select", { "aria-label": "To a thing or a step further", onchange: toggle }, el("option", { value: "thing" }, "a thing"), el("option", { value: "step" }, "something that ..."));
  function toggle() {
    inner = kind.value === "step" ? group("something", changed, example) : null;
    deeper.replaceChildren(...(inner ? [el("p", {}, "something for which"), inner.element] : []));
    entity.field.hidden = inner !== null;
    changed();
  }
  relation.input.addEventListener("input", changed);
  entity.input.addEventListener("input", changed);
  const element = el(
    "li",
    { class: "condition" },
    el("div", { class: "parts" }, el("label", { class: "check" }, not, "not"), relation.field, direction, kind, entity.field, el("button", { type: "button", class: "quiet", "aria-label": "Remove this condition", onclick: remove }, "×")),
    deeper,
  );
  return {
    element,
    written(variable, names) {
      const name = relation.input.value.trim();
      if (!name) return "";
      const other = inner ? names.next().value : null;
      const inside = inner ? inner.written(other, names) : "";
      const thing = inner ? other : entity.input.value.trim() && inFormula(entity.input.value.trim(), new Set(["x", "v1", "v2", "v3", "v4"]));
      if (!thing || (inner && !inside)) return "";
      const ends = direction.value === "from" ? `${variable}, ${thing}` : `${thing}, ${variable}`;
      const atom = `${inFormula(name)}(${ends})`;
      const text = inner ? `exists ${other} . ${/ \| /.test(inside) ? `(${inside})` : inside} & ${atom}` : atom;
      return not.checked ? `!${inner ? `(${text})` : text}` : text;
    },
  };
}
