// Where a comment is written: a text, the writer's name, and of a thread what it is about.

import { h, fill } from "../../lib/dom.js";
import { refusalOf } from "../../lib/socket.js";
import { nameKept } from "../rooms/kept.js";

const CHARACTERS = 4000;

/**
 * A form; `send` is called with text and name, and rejects with what is wrong. It is emptied once that is done.
 *
 * @param {{
 *   label: string,
 *   action: string,
 *   text?: string,
 *   named?: boolean,
 *   above?: HTMLElement | null,
 *   send: (text: string, name: string) => Promise<unknown>,
 *   onCancel?: () => void,
 * }} options
 */
export function commentForm({ label, action, text = "", named = true, above = null, send, onCancel }) {
  const field = h("textarea", {
    class: "field",
    rows: 3,
    required: true,
    maxlength: CHARACTERS,
    "aria-label": label,
    placeholder: label,
    onkeydown: (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    },
  });
  field.value = text;
  const name = named
    ? h("input", {
        class: "field",
        maxlength: 40,
        autocomplete: "nickname",
        "aria-label": "Your name",
        placeholder: "Your name (optional)",
        value: nameKept(),
      })
    : null;
  const state = h("div", { role: "alert" });
  const form = h(
    "form",
    {
      class: "comment-form",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await send(field.value, name?.value.trim() ?? "");
          field.value = "";
          fill(state);
        } catch (error) {
          fill(state, h("p", { class: "note error", text: refusalOf(error).message }));
        }
      },
    },
    above,
    field,
    state,
    h(
      "div",
      { class: "comment-acts" },
      name,
      onCancel ? h("button", { type: "button", class: "btn quiet", text: "Cancel", onclick: onCancel }) : null,
      h("button", { class: "btn primary", text: action }),
    ),
  );
  return { form, field };
}
