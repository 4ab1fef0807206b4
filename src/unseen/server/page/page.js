// The frame around the views: which view an address shows, links, light and dark, keys.

import * as api from "./api.js";
import { el, empty } from "./elements.js";
import { problem } from "./problem.js";
import "./theme.js";

const VIEWS = {
  "/": ["Graph", () => import("./graph_view.js")],
  "/ask": ["Ask", () => import("./ask_view.js")],
  "/why": ["Why", () => import("./why_view.js")],
  "/entity": ["Look up", () => import("./entity_view.js")],
  "/change": ["Change", () => import("./change_view.js")],
};
const root = document.getElementById("view");
let leaving = new AbortController();

/** Show the view of an address. */
export async function open(url, { replace = false } = {}) {
  const target = new URL(url, location.href);
  if (replace) history.replaceState(null, "", target);
  else if (target.href !== location.href) history.pushState(null, "", target);
  await show();
}

/** Write an address down without showing it anew: the view has changed itself. */
export function note(url) {
  history.replaceState(null, "", url);
  mark();
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [title, load] = VIEWS[location.pathname] ?? VIEWS["/"];
  mark();
  document.title = `${title} · unseen`;
  const parameters = new URLSearchParams(location.search);
  try {
    const view = await load();
    if (signal.aborted) return;
    root.replaceChildren();
    root.dataset.view = title;
    await view.show(root, parameters, { signal, open, note });
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    root.append(error instanceof api.Refused ? problem(error) : empty("This view could not be shown.", el("p", {}, error.message)));
  }
}

/** Mark where we are, and where the data of the view is. */
function mark() {
  for (const link of document.querySelectorAll("header nav a")) {
    const here = link.pathname === location.pathname || (location.pathname === "/why" && link.pathname === "/ask");
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.getElementById("data").href = `${location.pathname}.json${location.search}`;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || "whole" in link.dataset || link.hasAttribute("download") || !(link.pathname in VIEWS)) return;
  if (link.hash) return;
  event.preventDefault();
  open(link.href).then(() => {
    root.focus({ preventScroll: true });
    scrollTo(0, 0);
  });
});
addEventListener("popstate", show);

/** Ask for a key in a dialog. */
function askForKey(error) {
  document.querySelector("dialog.key")?.remove();
  document.getElementById("key").hidden = false;
  const input = el("input", { type: "password", id: "key-input", autocomplete: "off", value: api.key() });
  const dialog = el(
    "dialog",
    { class: "key", "aria-labelledby": "key-title" },
    el(
      "form",
      { method: "dialog", onsubmit: () => (api.setKey(input.value.trim()), setTimeout(show)) },
      el("h2", { id: "key-title" }, "This server needs a key"),
      el("p", {}, error ? error.message : "The key is kept until this tab is closed."),
      el("label", { for: "key-input" }, "Key"),
      input,
      el("div", { class: "row" }, el("button", { class: "main" }, "Use this key"), el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Not now")),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
}
api.onKeyNeeded(askForKey);
document.getElementById("key").addEventListener("click", () => askForKey());
document.getElementById("key").hidden = !api.key();

/** The line at the end of every view. */
async function tellAbout() {
  const { version, model } = await api.health();
  if (version) document.getElementById("about").textContent = `unseen ${version} · model ${model}`;
}

show().then(() => setTimeout(() => import("./ask_view.js"), 200)); // the next view is there before it is asked for
tellAbout().catch(() => {});
