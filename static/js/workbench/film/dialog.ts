// The dialog that makes a film of a range of steps: what the slide deck has, as WebM or GIF. It is made in the browser,
// from slides that the server has drawn.

import { nodesOf } from "../../kit/node.tsx";
import { $, dialog, fill, h, icon } from "../../lib/dom.ts";
import { Progress } from "../../kit/progress.tsx";
import { bytes } from "../../lib/progress.ts";
import { plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { RangeFields, SLIDES, ThemeField, sourceOf } from "./exporting.tsx";
import { HEIGHT, WIDTH } from "./format.ts";
import { gif } from "./gif.ts";
import { drawSlide, slidesOf } from "./slides.ts";
import { webm, webmCodec } from "./webm.ts";
import type { Codec } from "./webm.ts";
import type { Playback } from "../playback/playback.ts";

const SECONDS = ["1", "2", "4"]; // that a step is shown
const NO_WEBM = "This browser cannot encode video here: that needs a current browser and HTTPS. It can make a GIF.";

export type Wanted = import("./slides.ts").Wanted & { seconds: number; format: string };

/** Ask for a range of steps, and make a film of it. */
export async function exportFilm(playback: Playback) {
  const codec = await webmCodec();
  let making: AbortController | null = null;
  let address = "";
  const options = [
    h("option", { value: "webm", text: codec ? "WebM" : "WebM (not here)", disabled: !codec }),
    h("option", { value: "gif", text: "GIF", selected: !codec || undefined }),
  ];
  const below = h("div", { class: "film-progress", hidden: true });
  const result = h("div", { "aria-live": "polite" });
  const button = h("button", { class: "btn primary", text: "Make the file" });
  const form = h(
    "form",
    {
      class: "deck-form",
      onsubmit: (event) => {
        event.preventDefault();
        make();
      },
    },
    nodesOf(RangeFields({ playback })),
    choice(
      "seconds",
      "Seconds a step ",
      SECONDS.map((value) => h("option", { value, text: value, selected: value === "2" })),
    ),
    choice("format", "Format ", options),
    nodesOf(ThemeField()),
    button,
  );
  const box = dialog(
    "Video of steps",
    h("p", {
      class: "dim",
      text:
        `The stage and what happened, step by step, ${WIDTH} × ${HEIGHT}, at most ${SLIDES} steps. `
        + "Your browser makes the file.",
    }),
    form,
    codec ? null : h("p", { class: "note warning" }, icon("warn"), h("span", { text: NO_WEBM })),
    below,
    result,
  );
  $('[name="from"]', form).focus();
  box.addEventListener("close", () => {
    making?.abort();
    URL.revokeObjectURL(address);
  });

  async function make() {
    const asked = new FormData(form);
    const [from, to, seconds] = ["from", "to", "seconds"].map((name) => Number(asked.get(name)));
    const [format, theme] = ["format", "theme"].map((name) => String(asked.get(name)));
    if (to < from || to - from >= SLIDES) {
      fill(result, refusal(`It has 1 to ${SLIDES} steps, and the first is not after the last.`));
      $('[name="to"]', form).focus();
      return;
    }
    making = new AbortController();
    const { signal } = making;
    const progress = new Progress("Making the file", { onCancel: () => making?.abort() });
    fill(result);
    fill(below, progress.element).hidden = false;
    busy(true);
    progress.button?.focus();
    try {
      const { blob, steps } = await film(playback, { from, to, seconds, format, theme, signal }, progress);
      URL.revokeObjectURL(address);
      address = URL.createObjectURL(blob);
      const name = `steps-${from}-to-${from + steps - 1}.${format}`;
      const link = h("a", { href: address, download: name, text: name });
      const facts = [plural(steps, "step"), plural(steps * seconds, "second"), bytes(blob.size)].join(", ");
      fill(result, h("p", { class: "note" }, icon("check"), h("span", null, link, ` · ${facts}`)));
      link.click();
    } catch (error) {
      fill(
        result,
        signal.aborted
          ? h("p", { class: "dim", text: "Cancelled: no file was made." })
          : refusal(refusalOf(error).message),
      );
    } finally {
      making = null;
      fill(below).hidden = true;
      busy(false);
      if (box.isConnected) button.focus();
    }
  }

  function busy(on: boolean) {
    for (const one of form.elements) one.toggleAttribute("disabled", on);
  }
}

/** Draw the steps one by one, and put them into a file. Rejects with an Error in words, or the signal's reason. */
async function film(playback: Playback, { seconds, format, ...range }: Wanted, progress: Progress) {
  const { signal } = range;
  progress.set(null, "The server draws the steps");
  const slides = await slidesOf(sourceOf(playback), range);
  const canvas = h("canvas", { width: WIDTH, height: HEIGHT });
  const made = format === "gif" ? gif(canvas) : await webm(canvas, (await webmCodec()) as Codec);
  try {
    for (const [i, slide] of slides.entries()) {
      progress.set(i / slides.length, `Step ${i + 1} of ${slides.length}`);
      await drawSlide(canvas, slide);
      await made.add(seconds);
      await new Promise((resolve) => setTimeout(resolve)); // for the page: to draw, and to hear "Cancel"
      signal.throwIfAborted();
    }
    return { blob: await made.end(), steps: slides.length };
  } finally {
    await made.close();
  }
}

const choice = (name: string, label: string, options: HTMLOptionElement[]) =>
  h("label", null, label, h("select", { class: "field", name }, options));

const refusal = (text: string) => h("p", { class: "note error", role: "alert" }, icon("warn"), h("span", { text }));
