// The server's answers as JSON; errors as they are, with the place in a question where one has it.

const KEY = "unseen.key";
const listeners = [];

export const key = () => sessionStorage.getItem(KEY) ?? "";
export function setKey(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}
/** Called with an error when a key is needed or not enough. */
export const onKeyNeeded = (listener) => listeners.push(listener);

/** What the server says is wrong. */
export class Refused extends Error {
  constructor(status, details) {
    super(details.message);
    this.status = status;
    this.details = details;
  }
}

async function send(method, path, { parameters = {}, body, signal } = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "");
  const query = new URLSearchParams(given).toString();
  const headers = { ...(key() ? { "X-API-Key": key() } : {}), ...(body ? { "Content-Type": "application/json" } : {}) };
  let response;
  try {
    response = await fetch(query ? `${path}?${query}` : path, { method, headers, signal, body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { code: "unreachable", message: "the server does not answer; is it still running?" });
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  const details = await response.json().then((json) => json.error, () => ({ code: "error", message: response.statusText }));
  const error = new Refused(response.status, details);
  error.retryAfter = Number(response.headers.get("Retry-After")) || 0;
  if (response.status === 401 || details.code === "read_only_key") listeners.forEach((listener) => listener(error));
  return error;
}

let isReady = false;
/** What the server says of itself. */
export async function health(signal) {
  const said = await (await fetch("/healthz", { signal })).json();
  isReady ||= said.ready !== false; // a server that cannot say answers in its own way
  return said;
}
/** Wait until the model has been made ready for the graph; `told` is called if that takes a while. */
export async function whenReady(signal, told = () => {}) {
  while (!isReady) {
    await health(signal);
    if (isReady) return;
    told();
    await new Promise((resolve) => setTimeout(resolve, 700));
    signal?.throwIfAborted();
  }
}

export const get = async (path, parameters, signal) => (await send("GET", path, { parameters, signal })).json();
/** As `get` once the model is ready, and again when the server is busy; `told` is called with what one waits for. */
export async function getPatiently(path, parameters, signal, told = () => {}, tries = 12) {
  await whenReady(signal, () => told("The model is being made ready for this graph"));
  for (let left = tries; ; left--) {
    try {
      return await get(path, parameters, signal);
    } catch (error) {
      if (error.status !== 503 || !error.retryAfter || left <= 1) throw error;
      told(`The model is busy; trying again in ${error.retryAfter} s`);
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter * 1000));
      signal.throwIfAborted();
    }
  }
}

export const post = async (path, body) => (await send("POST", path, { body })).json();
export const remove = async (path, body) => (await send("DELETE", path, { body })).json();

/** Save an answer of the server as a file. */
export async function download(path, parameters, name) {
  const blob = await (await send("GET", path, { parameters })).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
