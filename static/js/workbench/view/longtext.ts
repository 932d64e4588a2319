// Texts of megabytes come in parts.

import { bytes } from "../../lib/progress.ts";
import type { Far } from "../../kit/progress.tsx";
import type { Editor } from "../../editor/editor.ts";

export const LONG = 400_000; // characters of a text that is not checked for every key, and comes in parts

/**
 * The text of an answer. A long one is in the editor as far as it has come, while the rest is on its way: `show` gets
 * how far that is. The caller makes the editor writable once the text is whole: a text that broke off must not be
 * edited.
 */
export async function receive(answer: Response, editor: Editor, show: (far: Far) => void) {
  const reader = (answer.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // the mark is part of the text
  const of = answer.headers.get("Content-Encoding") ? 0 : Number(answer.headers.get("Content-Length"));
  let [text, shown, came] = ["", 0, 0];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    came += part.value.length;
    text += decoder.decode(part.value, { stream: true });
    if (text.length < LONG) continue;
    if (!shown) await editor.enrich();
    editor.append(text.slice(shown));
    shown = text.length;
    show(
      of
        ? [Math.min(1, came / of), `The text: ${bytes(came)} of ${bytes(of)}`]
        : [null, `The text: ${bytes(came)} so far`],
    );
    await new Promise((resolve) => {
      setTimeout(resolve);
    }); // a frame for whoever scrolls in it
  }
  text += decoder.decode();
  if (shown) editor.append(text.slice(shown));
  return text;
}
