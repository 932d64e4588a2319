// Where a room goes next: a shared scenario by its address, or an example. Its own address and code stay.

import { h, dialog, fill, icon } from "../../lib/dom.js";
import { refusalOf } from "../../lib/socket.js";
/** @import { Room } from "./room.js" */

const SHARED = /\/s\/([A-Za-z0-9_-]+)\/?$/;

/**
 * The scenario and the step of an address.
 *
 * @param {string} address
 */
function placeOf(address) {
  const url = URL.parse(address, location.origin);
  const scenario = url && SHARED.exec(url.pathname)?.[1];
  return scenario ? { scenario, step: url.searchParams.get("step") ?? "" } : null;
}

/** @param {Room} room */
export async function travel(room) {
  const state = h("div", { role: "alert" });
  const refuse = (/** @type {string} */ message) => fill(state, h("p", { class: "note error", text: message }));
  const go = async (/** @type {string} */ address) => {
    const place = placeOf(address);
    if (!place) {
      refuse("Write the address of a shared scenario, as Share gives it: …/s/…/.");
      return;
    }
    try {
      await room.travel(place.scenario, place.step);
    } catch (error) {
      refuse(refusalOf(error).message);
    }
  };
  const address = h("input", { class: "field", id: "travel-to", autocomplete: "off", required: true, maxlength: 500 });
  const list = h("div", { class: "room-kinds room-places" }, h("p", { class: "dim", text: "Loading the examples…" }));
  dialog(
    "Go to another scenario",
    h("p", { class: "dim", text: "Everybody comes along. The room keeps its address, its code and its results." }),
    h(
      "form",
      {
        class: "room-form",
        onsubmit: (event) => {
          event.preventDefault();
          go(address.value.trim());
        },
      },
      h("label", { for: "travel-to", text: "Address of a shared scenario" }),
      address,
      h("div", { class: "room-form-end" }, h("button", { class: "btn primary", text: "Go there" })),
    ),
    state,
    h("h3", { text: "Or an example" }),
    list,
  ).classList.add("room-dialog");
  address.focus();
  try {
    const { examples } = await (await fetch("/examples.json")).json();
    fill(
      list,
      examples.map((/** @type {{ slug: string, title: string }} */ { slug, title }) =>
        h(
          "button",
          {
            type: "button",
            class: "room-kind",
            onclick: async () => {
              const found = await fetch(`/examples/${slug}/`, { method: "HEAD" }).catch(() => null);
              go(found?.url ?? "");
            },
          },
          icon("play"),
          h("b", { text: title }),
        ),
      ),
    );
  } catch {
    fill(list, h("p", { class: "dim", text: "The examples could not be loaded." }));
  }
}
