// What this browser keeps of rooms: the tokens of those it leads, and the visitor's name. A token that stands in the
// address is taken out of it, so that it is on no projector.

const TOKENS = "podstep.rooms";
const NAME = "podstep.name";
const MOST = 20; // tokens: a room is over after a day

/** @returns {[room: string, token: string][]} */
function tokens() {
  try {
    const kept = JSON.parse(localStorage.getItem(TOKENS) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/**
 * The token with which this browser leads a room, "" without one.
 *
 * @param {string} room
 */
const tokenOf = (room) => tokens().find(([name]) => name === room)?.[1] ?? "";

/**
 * @param {string} room
 * @param {string} token
 */
export function keepToken(room, token) {
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
 * @param {string} room
 * @param {string} hash of the address that the page was opened with
 */
export function takeToken(room, hash) {
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

/** @param {string} name */
export function keepName(name) {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    /* for this page only */
  }
}
