// "Present": opens a room on what is on screen, and goes there as its leader.

import { h, dialog, fill, icon } from "../../lib/dom.js";
import { refusalOf } from "../../lib/socket.js";
import { shareable } from "../share.js";
import { keepToken } from "./kept.js";

export const INVITE = "podstep.invite"; // the room whose links are shown first, in this tab

/** Ask for a title, and open the room. `context` is what Share takes. */
export function present(context) {
  const { playback, address } = context;
  const name = h("input", {
    class: "field",
    id: "room-title",
    maxlength: 120,
    autocomplete: "off",
    value: playback.title,
  });
  const large = h("input", { type: "checkbox", name: "large", checked: address.view.shown.present || undefined });
  const state = h("div", { role: "status" });
  const go = h("button", { class: "btn primary" }, icon("present"), "Open the room");
  const box = dialog(
    "Present",
    h(
      "form",
      {
        class: "room-form",
        onsubmit: async (event) => {
          event.preventDefault();
          go.disabled = true;
          fill(state, h("p", { class: "dim", text: "Opening the room…" }));
          try {
            const room = await open(context, name.value.trim());
            if (room) location.assign(room);
            else box.close();
          } catch (error) {
            go.disabled = false;
            const { message } = refusalOf(error);
            fill(state, h("p", { class: "note error", text: `The room could not be opened: ${message}` }));
          }
        },
      },
      h("p", {
        text:
          "Anyone with the room's link follows you: your step, tab, selection and highlighted cell. You can ask what "
          + "happens next and let everybody vote. No sign-up is needed; the room ends when you end it, or after a day.",
      }),
      context.mine
        ? h("p", { class: "dim", text: "It shows your draft as it is now; later edits are not in it." })
        : null,
      h("label", { for: "room-title", text: "Title" }),
      name,
      h("label", { class: "check" }, large, "Start in presentation mode, for a projector"),
      state,
      h("div", { class: "room-form-end" }, go),
    ),
  );
  box.classList.add("room-dialog");
  name.select();

  /** @param {string} title */
  async function open(of, title) {
    const shared = await shareable(of);
    if (!shared) return "";
    const asked = new URL(address.link("/"), location.origin).searchParams;
    if (large.checked) asked.set("present", "1");
    else asked.delete("present");
    const query = `?${asked}`;
    const answer = await fetch("/api/rooms", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        scenario: shared.scenario,
        title,
        step: new URLSearchParams(query).get("step") || "0",
      }),
    });
    const made = await answer.json();
    if (!answer.ok) throw new Error(made.errors?.[0]?.message ?? `The server answered ${answer.status}.`);
    keepToken(made.id, made.lead_token);
    try {
      sessionStorage.setItem(INVITE, made.id);
    } catch {
      /* the links are behind "Invite" all the same */
    }
    return `/r/${made.id}/${query}`;
  }
}
