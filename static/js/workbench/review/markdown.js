// The Markdown of comments, without HTML: paragraphs, lists, code, emphasis and links, made as elements and never
// parsed as a page.

import { h } from "../../lib/dom.js";
/** @import { Child } from "../../lib/dom.js" */

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>)]+)/g;
const FENCE = /^```/;
const ITEM = /^\s*[-*]\s+/;

/**
 * A line with its code, emphasis and links.
 *
 * @param {string} text
 * @returns {Child[]}
 */
function line(text) {
  /** @type {Child[]} */
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, code, strong, emphasis, label, href, bare] = found;
    parts.push(text.slice(from, found.index));
    if (code) parts.push(h("code", { text: code }));
    else if (strong) parts.push(h("b", { text: strong }));
    else if (emphasis) parts.push(h("em", { text: emphasis }));
    else parts.push(h("a", { href: href ?? bare, rel: "noopener nofollow", target: "_blank", text: label ?? bare }));
    from = found.index + all.length;
  }
  parts.push(text.slice(from));
  return parts;
}

/**
 * The elements of a text.
 *
 * @param {string} text
 */
export function markdown(text) {
  const out = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length;) {
    const from = i;
    if (FENCE.test(lines[i])) {
      for (i += 1; i < lines.length && !FENCE.test(lines[i]);) i += 1;
      out.push(h("pre", { text: lines.slice(from + 1, i).join("\n") }));
      i += 1;
    } else if (ITEM.test(lines[i])) {
      while (i < lines.length && ITEM.test(lines[i])) i += 1;
      out.push(
        h(
          "ul",
          null,
          lines.slice(from, i).map((one) => h("li", null, line(one.replace(ITEM, "")))),
        ),
      );
    } else if (!lines[i].trim()) i += 1;
    else {
      while (i < lines.length && lines[i].trim() && !FENCE.test(lines[i]) && !ITEM.test(lines[i])) i += 1;
      const words = lines.slice(from, i).map((one, at) => [at ? h("br") : null, line(one)]);
      out.push(h("p", null, words));
    }
  }
  return out;
}
