// What a question with a common mistake was probably meant to be.

import { isSparql, isStatement } from "./syntax.js";

const WORDS = [[/\s+and\s+not\s+/gi, " & !"], [/\s+and\s+/gi, " & "], [/\s+or\s+/gi, " | "], [/(^|[\s(:&|])not\s+(?=[\p{L}_"(])/giu, "$1!"]];

/** The question with words made signs, or with its variable declared; null if nothing of that would help. */
export function meant({ code, name }, text) {
  if (isSparql(text)) return null;
  if (code === "unknown_entity" && isStatement(text) && /^[a-z][0-9]?$/.test(name)) return `?${name} : ${text.trim()}`;
  if (code !== "syntax_error" || !text.includes("(")) return null;
  const written = text.split(/("(?:[^"\\]|\\.)*")/).map((part, place) => (place % 2 ? part : WORDS.reduce((made, [word, sign]) => made.replace(word, sign), part))).join("");
  return written === text ? null : written;
}

/** Whether a text looks like a sentence and not like a question with a mistake. */
export const isSentence = ({ code }, text) => code === "syntax_error" && !/[()?:{}]/.test(text.trim().replace(/\?$/, ""));
