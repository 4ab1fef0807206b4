// Elements of the page. Text goes into text nodes only, so a name is never read as HTML.

/** A new element; `on...` attributes are functions, `null` and `false` leave an attribute out. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A link to a view with parameters. */
export function address(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  return query ? `${path}?${query}` : path;
}

export const count = (number) => number.toLocaleString("en");

/** How many of something, in words. */
export const many = (number, one, several = `${one}s`) => `${count(number)} ${number === 1 ? one : several}`;

/** A probability as a percentage with two digits that count. */
export function percent(probability) {
  const value = probability * 100;
  if (value >= 99.95) return "100 %";
  if (value >= 10) return `${value.toFixed(0)} %`;
  if (value >= 1) return `${value.toFixed(1)} %`;
  return value >= 0.01 ? `${value.toFixed(2)} %` : "< 0.01 %";
}

/** A bar as long as a probability, with its number. */
export function bar(probability, known = false) {
  const fill = el("span", { class: known ? "fill known" : "fill" });
  fill.style.width = `${Math.max(1.5, probability * 100)}%`;
  return el("span", { class: "bar" }, el("span", { class: "track", "aria-hidden": "true" }, fill), el("span", { class: "percent" }, percent(probability)));
}

/** The link to an entity's view. */
export const thing = (name) => el("a", { href: address("/entity", { name }), class: "thing" }, name);

/** A fact in three parts. */
export const fact = ([head, relation, tail]) =>
  el("span", { class: "fact" }, thing(head), " ", el("span", { class: "relation" }, relation), " ", thing(tail));

export const waiting = (text) => el("p", { class: "waiting", role: "status" }, el("span", { class: "dots", "aria-hidden": "true" }), text);

export const empty = (title, ...more) => el("div", { class: "empty" }, el("p", { class: "lead" }, title), ...more);
