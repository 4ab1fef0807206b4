// What a question means beyond its text: who may be an answer, in which order, whether values are predicted.

import { nameInput } from "./completion.js";
import { el } from "./elements.js";

const TEXTS = ["type_relation", "answers_like", "order_by"];

/** Those that an address says. */
export function wishesOf(parameters) {
  const given = TEXTS.map((name) => [name, parameters.get(name)]);
  given.push(...["predict_values", "all_predictions"].map((name) => [name, parameters.get(name) === "true" ? "true" : null]));
  return Object.fromEntries(given.filter(([, value]) => value));
}

/** Fields for them; `current` says what is filled in. */
export function wishFields(wishes, ask) {
  const type = nameInput("The relation of “x a Kind”", "relations", wishes.type_relation ?? "", { placeholder: "rdf:type" });
  const like = nameInput("Only what this relation leads to", "relations", wishes.answers_like ?? "", { placeholder: "any" });
  const order = el("input", { type: "text", id: "order-by", value: wishes.order_by ?? "", placeholder: "likeliest first", spellcheck: "false" });
  const values = el("input", { type: "checkbox", checked: wishes.predict_values === "true" });
  for (const input of [type.input, like.input, order]) input.addEventListener("keydown", (event) => event.key === "Enter" && !event.defaultPrevented && ask());
  const element = el(
    "details",
    { class: "wishes", open: Object.keys(wishes).some((name) => name !== "all_predictions") },
    el("summary", {}, "More options"),
    el(
      "div",
      { class: "parts" },
      type.field,
      like.field,
      el("div", { class: "field" }, el("label", { for: "order-by" }, "Order by a value"), order),
      el("label", { class: "check" }, values, "predict values that are not recorded"),
    ),
  );
  const current = () => ({
    ...Object.fromEntries(Object.entries({ type_relation: type.input.value, answers_like: like.input.value, order_by: order.value }).map(([name, value]) => [name, value.trim()])),
    predict_values: values.checked ? "true" : "",
    all_predictions: wishes.all_predictions ?? "",
  });
  return { element, current };
}
