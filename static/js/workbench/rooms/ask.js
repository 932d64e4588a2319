// Asking a room to predict what happens: the dialog of who leads.

import { h, dialog, fill, icon } from "../../lib/dom.js";
import { refusalOf } from "../../lib/socket.js";
/** @import { QuestionKind } from "../../lib/protocol.js" */
/** @import { Room } from "./room.js" */

/** @type {Record<Exclude<QuestionKind, "lesson">, [title: string, about: string]>} */
export const KINDS = {
  node: ["Which node wins?", "Viewers pick a node, or none."],
  fits: ["Does it fit?", "Viewers say yes or no."],
  victims: ["Who is evicted?", "Viewers pick pods of lower priority, or none."],
  choice: ["A question of your own", "Viewers pick one of your answers; you may mark the correct one."],
};
const MOST = 12; // choices
const MARK = "*"; // before the answer that is correct

/** @param {Room} room */
export function ask(room) {
  const state = h("div", { role: "alert" });
  const send = async (/** @type {Parameters<Room["ask"]>[0]} */ question) => {
    fill(state, h("p", { class: "dim", text: "Computing the answer…" }));
    try {
      await room.ask(question);
      box.close();
    } catch (error) {
      fill(state, h("p", { class: "note error", text: refusalOf(error).message }));
    }
  };
  const text = h("input", { class: "field", id: "ask-text", maxlength: 200, autocomplete: "off", required: true });
  const choices = h("textarea", { class: "field", id: "ask-choices", rows: 4, required: true });
  const own = h(
    "form",
    {
      class: "room-form",
      hidden: true,
      onsubmit: (event) => {
        event.preventDefault();
        const lines = choices.value.split("\n").map((line) => line.trim());
        const answers = lines.filter(Boolean).slice(0, MOST);
        const marked = answers.findIndex((line) => line.startsWith(MARK));
        send({
          kind: "choice",
          text: text.value.trim(),
          choices: answers.map((line) => (line.startsWith(MARK) ? line.slice(MARK.length).trim() : line)),
          ...(marked >= 0 ? { right: marked } : {}),
        });
      },
    },
    h("label", { for: "ask-text", text: "Question" }),
    text,
    h("label", { for: "ask-choices", text: "Answers, one per line" }),
    choices,
    h("p", { class: "dim", text: "A line that begins with * is the correct answer; it is revealed with the result." }),
    h("div", { class: "room-form-end" }, h("button", { class: "btn primary", text: "Ask" })),
  );
  const kinds = Object.entries(KINDS).map(([kind, [title, about]]) =>
    h(
      "button",
      {
        type: "button",
        class: "room-kind",
        onclick: () => {
          if (kind !== "choice") {
            send({ kind: /** @type {QuestionKind} */ (kind) });
            return;
          }
          own.hidden = false;
          text.focus();
        },
      },
      icon("help"),
      h("b", { text: title }),
      h("span", { class: "dim", text: about }),
    ),
  );
  const box = dialog(
    "Ask everybody",
    h("p", {
      class: "dim",
      text:
        "The question is about the next cycle or, while a phase is shown, about the current one. The scheduler's "
        + "answer stays on the server until you reveal it.",
    }),
    h("div", { class: "room-kinds" }, kinds),
    own,
    state,
  );
  box.classList.add("room-dialog");
}
