// A link that holds a scenario itself: what is behind its "#" is opened as a draft of whoever follows it.

import { h, fill, icon } from "../lib/dom.js";
import { PREFIX, unpack } from "../lib/packed.js";
import { Socket, refusalOf } from "../lib/socket.js";

/** Whether the address holds a scenario. */
export const holdsScenario = () => location.hash.startsWith(PREFIX);

/**
 * Open what the address holds, in the place of the page's content.
 *
 * @param {HTMLElement} host
 */
export async function openPacked(host) {
  say(host, "inbox", "Opening the scenario that this link holds…");
  let socket = null;
  try {
    const { text, title, query, release } = await unpack(location.hash);
    socket = new Socket();
    const { url } = await socket.call("bundle.open", { text, title, release });
    const { pathname } = new URL(url, location.origin);
    location.replace(query ? `${pathname}?${query}` : pathname);
  } catch (error) {
    const { message, body } = refusalOf(error);
    const problems = (body?.errors ?? []).slice(0, 5).map((problem) => h("span", { text: problem.message }));
    say(host, "warn", "This link cannot be opened.", h("span", { text: message }), problems, [
      h("a", { class: "btn", href: "/", text: "To the start page" }),
    ]);
    socket?.close();
  }
}

/**
 * @param {HTMLElement} host
 * @param {string} glyph
 * @param {string} text
 * @param {...import("../lib/dom.js").Child} rest
 */
function say(host, glyph, text, ...rest) {
  fill(host, h("div", { class: "empty", role: "status" }, icon(glyph), h("b", { text }), rest));
}
