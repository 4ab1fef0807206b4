// The two syntaxes of a question: their words, and how a name is written in them.

const FORMULA = /(?<text>"(?:[^"\\]|\\.)*"?)|(?<iri><[^<>\s]*>)|(?<keyword>\bexists\b|∃|\bcount\b(?=[^(]*:))|(?<answer>\?\w+)|(?<sign>[&|!~¬∧∨=]+)|(?<relation>(?!:\s)[^\s(),&|!~=<>"?¬∧∨∃]+(?=\s*\())|(?<name>[^\s(),&|!~=<>"?¬∧∨∃]+)/gu;
const SPARQL = /(?<text>"(?:[^"\\]|\\.)*"?)|(?<iri><[^<>\s]*>)|(?<keyword>\b(?:PREFIX|BASE|SELECT|DISTINCT|WHERE|UNION|MINUS|FILTER|NOT|EXISTS|VALUES|LIMIT|OPTIONAL|SERVICE|ASK|CONSTRUCT|DESCRIBE|ORDER|BY|GROUP|AS|COUNT)\b)|(?<answer>[?$]\w+)|(?<name>[\w-]*:[\p{L}\p{N}_.%-]*)|(?<sign>[{}().;,/^|]+)/giu;

export const isSparql = (text) => /^\s*(#[^\n]*\n\s*)*(PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE)\b/i.test(text);

/** Whether a text states something rather than ask for answers: it declares no answer variable. */
export const isStatement = (text) =>
  isSparql(text) ? /^\s*(?:(?:#[^\n]*\n|(?:PREFIX|BASE)\b[^>]*>)\s*)*ASK\b/i.test(text) : !/^\s*(?:\?|(?:count\s+)?[\p{L}\p{N}_]+\s*(?:,\s*[\p{L}\p{N}_]+\s*)*:\s)/u.test(text);

/** The pieces of a question: [kind, text]; what is nothing special has the kind "". */
export function pieces(text) {
  const found = [];
  let end = 0;
  const variables = isSparql(text) ? new Set() : declared(text);
  for (const match of text.matchAll(isSparql(text) ? SPARQL : FORMULA)) {
    const [kind, value] = Object.entries(match.groups).find(([, group]) => group !== undefined);
    if (match.index > end) found.push(["", text.slice(end, match.index)]);
    found.push([kind === "name" && variables.has(value) ? "answer" : kind, value]);
    end = match.index + value.length;
  }
  if (end < text.length) found.push(["", text.slice(end)]);
  return found;
}

/** The variables of a formula. */
export function declared(text) {
  const names = new Set([...text.matchAll(/\?(\w+)/g)].map((match) => match[1]));
  const answers = /^\s*(?:\?\s*\w+|count\b)([\p{L}\w\s,?]*?):/iu.exec(text);
  for (const name of answers?.[1].split(/[\s,?]+/) ?? []) if (name && !/^count$/i.test(name)) names.add(name);
  for (const match of text.matchAll(/(?:\bexists\b|∃)\s*([\p{L}_][\w\s,?]*?)\./giu)) {
    for (const name of match[1].split(/[\s,?]+/)) if (name) names.add(name);
  }
  return names;
}

/** A name as it stands in a formula. */
export function inFormula(name, variables = new Set()) {
  if (/^<[^<>\s]*>$/.test(name)) return name;
  const isBare = /^[^\s(),&|!~=<>"?¬∧∨∃:.'\\](?:[^\s(),&|!~=<>"?¬∧∨∃:.'\\]|[:'](?=[\p{L}\p{N}_]))*$/u.test(name);
  return isBare && !variables.has(name) && !/^exists$/i.test(name) ? name : `"${name.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** A name as it stands in SPARQL. */
export function inSparql(name, iri) {
  const isPlain = iri.startsWith("urn:unseen:") && /^[A-Za-z_][\w-]*$/.test(name);
  return isPlain ? `:${name}` : `<${iri}>`;
}

/** What is being typed before the caret: { start, text, kinds } or null. */
export function typed(before) {
  if (isSparql(before)) {
    const match = /(?:^|[\s{(|/^]):([\p{L}\p{N}_%-]{1,60})$/u.exec(before);
    return match && { start: before.length - match[1].length - 1, text: match[1], kinds: ["relations", "entities"] };
  }
  const quotes = before.replaceAll(/\\./g, "__").split('"').length - 1;
  const match = quotes % 2 ? /"((?:[^"\\]|\\.){1,60})$/u.exec(before) : /([^\s(),&|!~=<>"?¬∧∨∃]{1,60})$/u.exec(before);
  if (!match || declared(before).has(match[1]) || !/[:(,.&|!]/.test(before)) return null;
  const start = before.length - match[0].length;
  const inside = /\([^()]*$/.test(before.slice(0, start)) && /[\p{L}\p{N}_"'>-]\s*\([^()]*$/u.test(before.slice(0, start));
  return { start, text: match[1], kinds: [inside ? "entities" : "relations"] };
}
