// SPARQL: YASGUI on this server, with examples; completers that ask other hosts are off.

import * as api from "./api.js";
import { el } from "./elements.js";
import { inSparql } from "./syntax.js";
import "./theme.js";

const endpoint = `${location.origin}/query`;
const infer = document.getElementById("infer");
const Yasgui = globalThis.Yasgui;
const wanted = new URLSearchParams(location.search);

const request = () => ({
  endpoint,
  method: "POST",
  headers: api.key() ? { "X-API-Key": api.key() } : {},
  args: infer.checked ? [{ name: "infer", value: "true" }] : [],
});
infer.checked = wanted.get("infer") === "true";
Yasgui.Yasqe.defaults.autocompleters = ["variables"];

const yasgui = new Yasgui(document.getElementById("yasgui"), {
  requestConfig: request(),
  copyEndpointOnNewTab: false,
  endpointCatalogueOptions: { getData: () => [] },
  persistenceId: null,
  populateFromUrl: false,
  yasqe: { createShareableLink: null, value: wanted.get("query") ?? "SELECT ?s ?p ?o WHERE {\n  ?s ?p ?o\n} LIMIT 10", consumeShareLink: null },
  yasr: { prefixes: { xsd: "http://www.w3.org/2001/XMLSchema#" } },
});
infer.addEventListener("change", () => yasgui.getTab().setRequestConfig(request()));
yasgui.on("query", (_, tab) => note(tab.getYasqe().getValue()));

/** Write the query into the address, which can then be shared. */
function note(query) {
  history.replaceState(null, "", `/sparql?${new URLSearchParams({ query, ...(infer.checked ? { infer: "true" } : {}) })}`);
}

/** Put a query into the editor and run it. */
function put(query, isPredicted) {
  infer.checked = isPredicted;
  const tab = yasgui.getTab();
  tab.setRequestConfig(request());
  tab.setQuery(query);
  tab.query().catch(() => {});
}

const examples = document.getElementById("examples");
try {
  const { relations } = await api.get("/.json");
  for (const [label, query, isPredicted] of made(relations)) {
    examples.append(el("button", { type: "button", class: "quiet", onclick: () => put(query, isPredicted) }, label));
  }
} catch (error) {
  examples.append(el("span", { class: "problem" }, error.message));
}

/** Examples about the most frequent relation. */
function made(relations) {
  const found = relations.find((relation) => relation.triples > relation.heads) ?? relations[0];
  if (!found) return [["Everything", "SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 10", false]];
  const [head] = found.facts[0];
  const relation = inSparql(found.name, found.iri);
  const thing = inSparql(head, found.head_iri);
  const prefix = "PREFIX : <urn:unseen:>\n";
  return [
    ["Known", `${prefix}SELECT ?x WHERE {\n  ${thing} ${relation} ?x\n}`, false],
    ["Predicted (infer)", `${prefix}SELECT ?x ?score ?known WHERE {\n  ${thing} ${relation} ?x\n} LIMIT 20`, true],
    ["Predictions inside an exact query", `${prefix}SELECT ?x ?score ?p ?o WHERE {\n  SERVICE <urn:unseen:predict> { SELECT ?x { ${thing} ${relation} ?x } LIMIT 20 }\n  ?x ?p ?o .\n  FILTER(?score > 0.01)\n} LIMIT 50`, false],
    ["Relations and counts", "SELECT ?relation (COUNT(*) AS ?facts) WHERE {\n  ?head ?relation ?tail\n} GROUP BY ?relation ORDER BY DESC(?facts)", false],
  ];
}
