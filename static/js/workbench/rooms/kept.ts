// What this browser keeps of rooms: the tokens of those it leads, and the visitor's name. A token that stands in the
// address is taken out of it, so that it is on no projector.

const TOKENS = "podstep.rooms";
const NAME = "podstep.name";
const MOST = 20; // tokens: a room is over after a day

function tokens(): [room: string, token: string][] {
  try {
    const kept = JSON.parse(localStorage.getItem(TOKENS) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** The token with which this browser leads a room, "" without one. */
const tokenOf = (room: string) => tokens().find(([name]) => name === room)?.[1] ?? "";

export function keepToken(room: string, token: string) {
  const others = tokens().filter(([name]) => name !== room);
  try {
    localStorage.setItem(TOKENS, JSON.stringify([[room, token], ...others].slice(0, MOST)));
  } catch {
    /* for this page only */
  }
}

/**
 * The token of a room that the page was opened with, or that this browser keeps.
 *
 * @param hash of the address that the page was opened with
 */
export function takeToken(room: string, hash: string) {
  const given = new URLSearchParams(hash.slice(1)).get("lead");
  if (!given) return tokenOf(room);
  keepToken(room, given);
  history.replaceState(history.state, "", location.pathname + location.search);
  return given;
}

/** The name that the visitor gave, "" without one. */
export function nameKept() {
  try {
    return localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}

export function keepName(name: string) {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    /* for this page only */
  }
}
