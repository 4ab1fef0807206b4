// Names offered while typing: a list below a text box, for mouse and keyboard.

import * as api from "./api.js";
import { count, el } from "./elements.js";

let number = 0;

/** Names like a text: [{ name, iri, note }]. */
export async function namesLike(text, kinds, signal) {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const found = await api.get(`/${kind}`, { search: text, limit: 8 }, signal);
      return found[kind].map(({ name, iri, edges, triples }) => ({ name, iri, kind, note: edges === undefined ? `${count(triples)} facts` : `${count(edges)} edges` }));
    }),
  );
  return lists.flat().slice(0, 8);
}

/**
 * Offer names in a text box. `wanted(before)` says what is being typed, as `typed` in syntax.js does;
 * `written(item)` says how a name is written into the box.
 */
export function complete(box, wanted, written, chosen = () => {}) {
  const id = `offers-${++number}`;
  const list = el("ul", { class: "offered", role: "listbox", id, "aria-label": "Names", hidden: true });
  let items = [], active = -1, place = null, request = null, timer = 0;
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-haspopup", "listbox");
  box.setAttribute("aria-expanded", "false");
  box.setAttribute("aria-controls", id);
  box.setAttribute("autocomplete", "off");

  function close() {
    clearTimeout(timer);
    request?.abort();
    list.hidden = true;
    items = [];
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }
  function mark(index) {
    active = (index + items.length) % items.length;
    [...list.children].forEach((child, place) => child.setAttribute("aria-selected", String(place === active)));
    box.setAttribute("aria-activedescendant", `${id}-${active}`);
    list.children[active].scrollIntoView({ block: "nearest" });
  }
  function take(item) {
    const end = box.selectionStart;
    const closing = box.value[place.start] === '"' && box.value[end] === '"' ? 1 : 0;
    box.setRangeText(written(item), place.start, end + closing, "end");
    close();
    box.dispatchEvent(new Event("input", { bubbles: true }));
    close();
    chosen(item);
  }
  async function offer() {
    const before = box.value.slice(0, box.selectionStart);
    place = wanted(before);
    request?.abort();
    if (!place) return close();
    request = new AbortController();
    try {
      items = await namesLike(place.text, place.kinds, request.signal);
    } catch (error) {
      return error.name === "AbortError" ? undefined : close();
    }
    if (!items.length || document.activeElement !== box) return close();
    if (items.length === 1 && items[0].name === place.text) return close();
    list.replaceChildren(
      ...items.map((item, index) =>
        el(
          "li",
          { role: "option", id: `${id}-${index}`, "aria-selected": "false", onmousedown: (event) => (event.preventDefault(), take(item)) },
          el("span", { class: "name" }, item.name),
          el("span", { class: "note" }, item.note),
        ),
      ),
    );
    list.hidden = false;
    active = -1;
    box.setAttribute("aria-expanded", "true");
  }
  box.addEventListener("input", () => (clearTimeout(timer), (timer = setTimeout(offer, 90))));
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") mark(active + (event.key === "ArrowDown" ? 1 : active < 0 ? 0 : -1));
    else if ((event.key === "Enter" && !event.ctrlKey && !event.metaKey && active >= 0) || (event.key === "Tab" && active >= 0)) take(items[active]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return list;
}

/** An input for one name of a kind, with its label. */
export function nameInput(label, kind, value = "", { placeholder = "", chosen } = {}) {
  const id = `name-${++number}`;
  const input = el("input", { id, type: "text", value, placeholder, spellcheck: "false", autocapitalize: "off" });
  const wanted = (before) => (before ? { start: 0, text: before, kinds: [kind] } : null);
  const list = complete(input, wanted, (item) => item.name, chosen);
  return { input, field: el("div", { class: "field" }, el("label", { for: id }, label), el("div", { class: "under" }, input, list)) };
}
