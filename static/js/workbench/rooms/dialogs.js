// What a room asks in dialogs: whom to invite, what one is called, who takes over, and whether it is over.

import { h, dialog, fill, icon, toast } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { qrCode } from "../../lib/qr.js";
import { refusalOf } from "../../lib/socket.js";
import { copyRow } from "../share/common.js";
/** @import { Room } from "./room.js" */

/** @param {Room} room */
export function invite(room) {
  const code = h("div", { class: "room-code" });
  const viewers = copyRow("Link for viewers", room.watchUrl);
  const leader = room.leadUrl ? copyRow("Link that leads", leading(room), "quiet") : null;
  const box = dialog(
    "Invite",
    h(
      "div",
      { class: "room-invite" },
      code,
      h(
        "div",
        { class: "share-rows" },
        room.code
          ? h(
              "p",
              { class: "room-join" },
              h("span", { text: `${location.host}/j/` }),
              h("b", { "aria-label": `Code: ${[...room.code].join(" ")}`, text: room.code }),
            )
          : h("p", { class: "room-address", text: room.watchUrl.replace(/^https?:\/\//, "") }),
        viewers.row,
        h("p", {
          class: "dim",
          text: "Viewers scan the code, type the address with its six letters, or open this link.",
        }),
        leader
          ? h(
              "details",
              { class: "token" },
              h("summary", { text: "Lead from another device" }),
              h("p", { class: "dim", text: "Anyone with this link can lead the room. Keep it private." }),
              leader.row,
            )
          : null,
      ),
    ),
  );
  box.classList.add("room-dialog", "inviting");
  viewers.field.focus();
  const qr = qrCode(room.watchUrl, "QR code of the link for viewers");
  if (qr) fill(code, qr);
}

/**
 * The link that leads, in the mode in which one presents now, or will once the scenario is open.
 *
 * @param {Room} room
 */
const leading = (room) =>
  document.body.classList.contains("presenting") || new URLSearchParams(location.search).has("present")
    ? room.leadUrl.replace("#", "?present=1#")
    : room.leadUrl;

/** @param {Room} room */
export function askName(room) {
  const field = h("input", {
    class: "field",
    id: "room-name",
    maxlength: 40,
    autocomplete: "nickname",
    value: room.name,
  });
  const box = dialog(
    "Your name",
    h(
      "form",
      {
        class: "room-form",
        onsubmit: async (event) => {
          event.preventDefault();
          await room.rename(field.value.trim());
          box.close();
        },
      },
      h("label", { for: "room-name", text: "The leader sees it and can hand over to you. It is optional." }),
      field,
      h("div", { class: "room-form-end" }, h("button", { class: "btn primary", text: "Save" })),
    ),
  );
  field.select();
}

/** @param {Room} room */
export async function handOver(room) {
  const list = h("ul", { class: "room-people" }, h("li", { class: "dim", text: "Loading the viewers…" }));
  const box = dialog("Hand over", list);
  try {
    const { watching, people } = await room.socket.call("room.people", {});
    const others = people.filter(([person]) => person !== room.person);
    const unnamed = Math.max(0, watching - others.length);
    fill(
      list,
      others.map(([person, name]) =>
        h(
          "li",
          null,
          h("span", { text: name }),
          h(
            "button",
            {
              type: "button",
              class: "btn",
              "aria-label": `Hand over to ${name}`,
              onclick: async () => {
                await room.hand(person).then(
                  () => toast(`${name} leads now.`),
                  (error) => toast(refusalOf(error).message, { name: "warn", ms: 6000 }),
                );
                box.close();
              },
            },
            icon("hand"),
            "Hand over",
          ),
        ),
      ),
      others.length ? null : h("li", { text: "No viewer has given a name yet." }),
      unnamed
        ? h("li", {
            class: "dim",
            text:
              `${count(unnamed)} more ${unnamed === 1 ? "watches" : "watch"} without a name: `
              + "they can give one by pressing “Your name”.",
          })
        : null,
    );
  } catch (error) {
    fill(list, h("li", { class: "note error", text: refusalOf(error).message }));
  }
}

/** @param {Room} room */
export function askEnd(room) {
  const state = h("div", { role: "status" });
  const box = dialog(
    "End the room?",
    h("p", {
      text: `${plural(room.watching, "viewer")} will stay where they are. An ended room cannot be reopened.`,
    }),
    state,
    h(
      "div",
      { class: "room-form-end" },
      h("button", { type: "button", class: "btn", text: "Keep it", onclick: () => box.close() }),
      h(
        "button",
        {
          type: "button",
          class: "btn danger",
          onclick: async () => {
            try {
              await room.end();
              box.close();
            } catch (error) {
              fill(state, h("p", { class: "note error", text: refusalOf(error).message }));
            }
          },
        },
        "End it for everybody",
      ),
    ),
  );
}
