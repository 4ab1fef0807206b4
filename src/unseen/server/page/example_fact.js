// A fact of this graph, for what stands in empty boxes and for examples of the language.

import { get } from "./api.js";

const ELSEWHERE = ["Ada", "knows", "Bob"];

/** The shortest of the example facts of the most frequent relations, and another relation. */
export async function exampleFact(signal) {
  const { relations } = await get("/.json", {}, signal).catch(() => ({ relations: [] }));
  const facts = relations.slice(0, 8).flatMap((relation) => relation.facts);
  const [head, relation, tail] = facts.sort((one, other) => one.join("").length - other.join("").length)[0] ?? ELSEWHERE;
  return { head, relation, tail, other: relations.find(({ name }) => name !== relation)?.name ?? relation };
}
