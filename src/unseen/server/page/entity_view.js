// An entity: its facts, what is predicted about it relation by relation, its neighbourhood to expand.

import * as api from "./api.js";
import { isTold } from "./answer_rows.js";
import { nameInput } from "./completion.js";
import { address, bar, count, el, empty, many, percent, thing, waiting } from "./elements.js";
import { problem } from "./problem.js";

const PREDICTED = 3;
const LIKELY = 0.01;
const SMALL = 100_000;

export async function show(root, parameters, { signal, open }) {
  const name = parameters.get("name") ?? "";
  const go = (found) => open(address("/entity", { name: found }));
  const search = nameInput("Look up a thing", "entities", "", { placeholder: "part of a name", chosen: (item) => go(item.name) });
  search.input.addEventListener("keydown", (event) => event.key === "Enter" && !event.defaultPrevented && search.input.value && go(search.input.value));
  const finder = el("div", { class: "finder" }, search.field);
  if (!name) {
    root.append(el("h1", {}, "Look up a thing"), finder);
    search.input.focus();
    const { best_connected: best } = await api.get("/.json", {}, signal);
    if (!best.length) root.append(empty("The graph is empty.", el("p", {}, el("a", { href: "/change" }, "Add a first fact"))));
    else root.append(el("h2", {}, "Best connected"), el("ul", { class: "chips" }, best.map((one) => el("li", {}, thing(one.name), el("span", { class: "note" }, count(one.edges))))));
    return;
  }
  const wait = waiting("Looking it up");
  root.append(finder, wait);
  let data;
  try {
    data = await api.get("/entity.json", { name }, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    wait.replaceWith(el("h1", {}, name), problem(error, name, (better) => go(better.replaceAll(/^"|"$/g, ""))));
    return;
  }
  wait.remove();
  const picture = el("div", { class: "drawing tall", role: "img", "aria-label": `${data.neighbourhood.length} edges around ${data.name}; the same facts are listed beside it` });
  const expander = el("select", { "aria-label": "Expand a thing", hidden: true });
  const shown = data.relations.map((relation) => section(relation, data.name, signal));
  const all = el("button", { type: "button", class: "quiet", onclick: () => predictAll(shown, all, signal) }, "Predict all");
  root.append(
    el("h1", {}, data.name),
    el("p", { class: "note" }, data.kinds.filter(isTold).map((kind) => [kind, " · "]), many(data.edges, "edge"), " · ", el("code", {}, data.iri)),
    el(
      "div",
      { class: "columns" },
      el("section", { "aria-labelledby": "facts" }, el("div", { class: "row spread" }, el("h2", { id: "facts" }, "Facts and predictions"), shown.length > 0 && all), recorded(data.values), shown.length ? shown.map((one) => one.element) : empty("Nothing is known about it."), data.more_relations && el("p", { class: "note" }, "and more relations")),
      el("section", { "aria-labelledby": "around", class: "stays" }, el("h2", { id: "around" }, "Neighbourhood"), picture, el("p", { class: "row note" }, "Click a thing to expand it; click it again to open it. Drag and scroll to look around.", expander), el("p", {}, el("a", { href: address("/change", { head: data.name }) }, "Add a fact about it"))),
    ),
  );
  await Promise.all([neighbourhood(picture, expander, data, signal, go), predictIfSmall(shown, all, signal)]);
}

/** On a small graph everything is predicted unasked. */
async function predictIfSmall(shown, button, signal) {
  const { graph } = await api.get("/.json", {}, signal);
  if (graph.triples <= SMALL) await predictAll(shown, button, signal);
}

/** Two at a time, in the order of the page. */
async function predictAll(shown, button, signal) {
  button.disabled = true;
  const left = [...shown];
  const work = async () => {
    while (left.length && !signal.aborted) await left.shift().predict();
  };
  await Promise.all([work(), work()]);
  button.remove();
}

function section(relation, name, signal) {
  const label = relation.inverse ? `${relation.relation} → ${name}` : relation.relation;
  const predicted = el("ul", { class: "members" });
  const button = el("button", { type: "button", class: "quiet small", "aria-label": `Predict ${relation.relation} of ${name}`, onclick: () => predict() }, "predict");
  let isDone = false;
  async function predict() {
    if (isDone) return;
    isDone = true;
    button.disabled = true;
    try {
      const found = await api.getPatiently("/ask.json", { question: relation.question, top: PREDICTED, predicted_only: "true" }, signal);
      predicted.replaceChildren(...likely(found.answers));
      button.remove();
    } catch (error) {
      if (error.name === "AbortError") return;
      isDone = button.disabled = false;
      predicted.replaceChildren(el("li", { class: "note" }, error.message));
    }
  }
  const rest = relation.count - relation.entities.length;
  const href = address("/ask", { question: relation.question });
  const all = el("a", { class: "asks", href, "aria-label": `Ask for ${label}` }, "ask");
  const element = el(
    "article",
    { class: "relation-facts" },
    el("h3", {}, el("span", { class: "relation" }, label), el("span", { class: "note" }, relation.count ? count(relation.count) : "nothing known"), all, button),
    relation.entities.length > 0 && el("p", { class: "list" }, relation.entities.map((other, place) => [place ? ", " : "", thing(other)]), rest > 0 && [" ", el("a", { href }, `and ${count(rest)} more`)]),
    predicted,
  );
  return { element, predict };
}

/** Predictions that are worth a look, or the word that there are none. */
function likely(answers) {
  const shown = answers.filter((answer) => answer.probability >= LIKELY);
  if (shown.length) return shown.map((answer) => el("li", {}, thing(answer.entity), bar(answer.probability)));
  const [best] = answers;
  return [el("li", { class: "note unlikely" }, el("span", {}, "nothing more is likely", best && [": at best ", thing(best.entity), `, ${percent(best.probability)}`]))];
}

/** Recorded values, by attribute. */
function recorded(values) {
  if (!values?.length) return null;
  return el("dl", { class: "recorded" }, values.map(({ attribute, text }) => el("div", {}, el("dt", {}, attribute), el("dd", {}, text))));
}

/** The neighbourhood; a thing that is clicked brings its own edges. */
async function neighbourhood(container, expander, data, signal, go) {
  const { around, draw, spread } = await import("./drawing.js");
  if (signal.aborted) return;
  const expanded = new Set([data.name]);
  const short = (text) => (text.length > 24 ? `${text.slice(0, 22)}…` : text);
  const node = (name) => ({ id: `n:${name}`, name, label: short(name), kind: name === data.name ? "answer" : "thing" });
  const edge = ([head, relation, tail]) => ({ id: `e:${JSON.stringify([head, relation, tail])}`, source: `n:${head}`, target: `n:${tail}`, label: relation });
  const parts = (facts) => ({ nodes: [...new Set(facts.flatMap(([head, , tail]) => [head, tail]))].map(node), edges: facts.map(edge) });
  const first = parts(data.neighbourhood);
  if (!first.nodes.length) first.nodes.push(node(data.name));
  const picture = draw(container, first, { place: around(`n:${data.name}`), signal, chosen: (one) => (expanded.has(one.name) ? go(one.name) : expand(one.name)) });
  picture.userZoomingEnabled(true);
  async function expand(name) {
    expanded.add(name);
    const more = parts((await api.get("/entity.json", { name }, signal)).neighbourhood.slice(0, 12));
    picture.add([...more.nodes, ...more.edges].filter(({ id }) => picture.getElementById(id).empty()).map((one) => ({ data: one })));
    spread(picture, `n:${name}`);
    tellNodes();
  }
  function tellNodes() {
    const names = picture.nodes().map((one) => one.data("name")).filter((name) => !expanded.has(name));
    expander.replaceChildren(el("option", { value: "" }, "expand ..."), ...names.map((name) => el("option", { value: name }, short(name))));
    expander.hidden = !names.length;
    container.dataset.nodes = picture.nodes().length;
  }
  expander.addEventListener("change", () => expander.value && expand(expander.value));
  tellNodes();
}
