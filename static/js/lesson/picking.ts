// Answers that are picked in the stage: it hears what can be picked, and says what was.

import { effect } from "@preact/signals";
import { announce } from "../lib/dom.ts";
import { isReader, OFFER, PICK, reader, type Offer } from "../workbench/view/picking.ts";
import { give, given, passed, type Asked } from "./asked.ts";
import { gettext } from "./words.ts";

/** Let an open find task be answered in the frame, too; return what ends that. */
export function pickIn(frame: HTMLIFrameElement, { form, kind, options }: Asked): () => void {
  if (kind !== "find") return () => {};
  const known = new Set(options.map(({ key }) => key));
  const chosen = () => [given.value ?? []].flat().map(String);
  const offer = () => {
    const message: Offer = { type: OFFER, keys: passed.value ? [] : [...known], chosen: chosen() };
    frame.contentWindow?.postMessage(message, reader());
  };
  const take = ({ data, origin, source }: MessageEvent<{ type: string; key?: string }>) => {
    if (source !== frame.contentWindow || !isReader(origin) || data?.type !== PICK) return;
    if (data.key === undefined) return offer(); // the stage has only come, or come again
    if (!known.has(data.key)) return;
    const { key } = data;
    const others = chosen().filter((one) => one !== key);
    const taken = others.length < chosen().length;
    if (form === "pods") give(taken ? others : [...others, key]);
    else give(key);
    announce(
      form === "pods" && taken
        ? gettext("{name} is no longer selected.", { name: key })
        : gettext("{name} is selected.", { name: key }),
    );
  };
  addEventListener("message", take);
  const end = effect(offer);
  return () => {
    removeEventListener("message", take);
    end();
  };
}
