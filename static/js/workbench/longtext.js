// Texts of megabytes: they come in parts, and what takes a while with them can be stopped.

import { announce, fill } from "../lib/dom.js";
import { Progress } from "../kit/progress.tsx";
import { bytes, progressOf } from "../lib/progress.js";
/** @import { Editor } from "../lib/editor.js" */

export const LONG = 400_000; // characters of a text that is not checked for every key, and comes in parts

/**
 * The text of an answer. A long one is in the editor as far as it has come, while the rest is on its way: `place` shows
 * `bar`, its progress. The caller makes the editor writable once the text is whole: a text that broke off must not be
 * edited.
 *
 * @param {Editor} editor
 */
export async function receive(answer, editor, bar, { place }) {
  const reader = answer.body.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // the mark is part of the text
  const of = answer.headers.get("Content-Encoding") ? 0 : Number(answer.headers.get("Content-Length"));
  let [text, shown, came] = ["", 0, 0];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    came += part.value.length;
    text += decoder.decode(part.value, { stream: true });
    if (text.length < LONG) continue;
    if (!shown) {
      fill(place, bar.element);
      await editor.enrich();
    }
    editor.append(text.slice(shown));
    shown = text.length;
    bar.set(
      of ? Math.min(1, came / of) : null,
      of ? `The text: ${bytes(came)} of ${bytes(of)}` : `The text: ${bytes(came)} so far`,
    );
    await new Promise((resolve) => {
      setTimeout(resolve);
    }); // a frame for whoever scrolls in it
  }
  text += decoder.decode();
  if (shown) editor.append(text.slice(shown));
  return text;
}

/**
 * A bar for a call that may take a while, placed after the element `after`, and the options for `Socket.call`; Cancel
 * stops it.
 */
export function stoppable(label, { after, onCancel }) {
  const stopping = new AbortController();
  const bar = new Progress(label, {
    onCancel: () => {
      stopping.abort();
      onCancel();
    },
  });
  const progress = (report) => {
    bar.set(...progressOf(report));
    if (bar.element.isConnected || stopping.signal.aborted) return;
    after.after(bar.element);
    announce(`${label}. Cancel stops it.`);
  };
  return { bar, options: { signal: stopping.signal, progress } };
}
