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
export const thing = (name) => el("a", { href: address("/entity", { name }), class: "thing" }, breakable(name));

/** A name whose long words may be broken after a sign. */
export function breakable(name) {
  if (name.length < 16) return name;
  return name.split(/(?<=[:/_.@#+])(?=[\p{L}\p{N}])/u).map((part, place) => [place ? el("wbr") : "", part]);
}

/** A fact in three parts. */
export const fact = ([head, relation, tail]) =>
  el("span", { class: "fact" }, thing(head), " ", el("span", { class: "relation" }, relation), " ", thing(tail));

export const waiting = (text) => el("p", { class: "waiting", role: "status" }, el("span", { class: "dots", "aria-hidden": "true" }), text);

/** A note that one waits for something; `expect(seconds)` shows how far it should be, `say(text)` changes its words. */
export function progress(text) {
  const words = el("span", {}, text);
  const bar = el("progress", { max: "1", hidden: true, "aria-label": "How far it should be" });
  const note = el("p", { class: "waiting", role: "status" }, el("span", { class: "dots", "aria-hidden": "true" }), words, bar);
  let timer = 0;
  const say = (other) => (words.textContent = other);
  function expect(seconds) {
    clearInterval(timer);
    if (seconds < 1) return;
    const begun = performance.now();
    bar.hidden = false;
    timer = setInterval(() => {
      const passed = (performance.now() - begun) / 1000;
      const left = Math.ceil(seconds - passed);
      bar.value = Math.min(0.97, passed / seconds);
      say(left > 0 ? `${text}, about ${left} s` : `${text}, longer than expected`);
    }, 250);
  }
  return { note, say, expect, end: () => (clearInterval(timer), note.remove()) };
}

export const empty = (title, ...more) => el("div", { class: "empty" }, el("p", { class: "lead" }, title), ...more);
