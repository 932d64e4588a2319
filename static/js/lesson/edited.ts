// After a right edit the stage plays the edited cluster, and shows the one before it by a switch.

import { $, h } from "../lib/dom.ts";
import { share } from "./api.ts";
import { player } from "./asked.ts";
import { stages } from "./stage.ts";
import { gettext } from "./words.ts";

/** Where the stage plays another scenario from: its start, in the views of the stop. */
function playedAt(scenario: string) {
  const views = new URLSearchParams(player.stage.shown.split("?")[1]).get("views") ?? "";
  return `/e/${scenario}/?${new URLSearchParams({ views, step: "0" })}`;
}

/** Show the edited cluster in the frame, and have it played; where it cannot be stored, the cluster before stays. */
export async function playEdited(frame: HTMLIFrameElement, text: string) {
  const after = await share(text, document.title.split(" · ")[0].slice(0, 120)).then(playedAt, () => "");
  if (!after) return;
  const show = (edited: boolean) => {
    for (const [button, on] of [
      [before, !edited],
      [now, edited],
    ] as const)
      button.setAttribute("aria-pressed", String(on));
    if (edited) frame.addEventListener("load", () => play(frame), { once: true });
    stages.show(frame, edited ? after : player.stage.shown);
  };
  const button = (label: string, edited: boolean) =>
    h("button", { type: "button", class: "btn", text: label, onclick: () => show(edited) });
  const before = button(gettext("Before"), false);
  const now = button(gettext("After your edit"), true);
  const group = h("div", { class: "before-after", role: "group" }, before, now);
  group.ariaLabel = gettext("Which cluster is shown");
  $("[data-stage-note]").after(group);
  show(true);
}

/** Play what a frame of this server shows, as soon as it is there. */
function play(frame: HTMLIFrameElement) {
  const { podstep } = (frame.contentWindow ?? {}) as { podstep?: { ready: boolean; play(): void } };
  if (podstep?.ready) podstep.play();
  else if (podstep) setTimeout(() => play(frame), 100);
}
