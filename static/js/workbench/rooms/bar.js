// The bar of a room: who leads, how many watch, and what one can do. Its place is kept from the first paint on.

import { h, fill, icon, toast } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
import { refusalOf } from "../../lib/socket.js";
import { ask } from "./ask.js";
import { travel } from "./travel.js";
import { askEnd, askName, handOver, invite } from "./dialogs.tsx";
/** @import { Follow } from "./follow.js" */
/** @import { Room } from "./room.js" */

export class Bar {
  /**
   * @param {HTMLElement} host
   * @param {Room} room
   * @param {Follow} follow
   * @param {() => string} alone returns the address at which one goes on alone
   */
  constructor(host, room, follow, alone) {
    this.room = room;
    this.follow = follow;
    const button = (
      /** @type {string} */ glyph,
      /** @type {string} */ label,
      /** @type {() => unknown} */ run,
      /** @type {string} */ look = "",
    ) =>
      h(
        "button",
        { type: "button", class: `btn ${look}`, "aria-label": label, title: label, onclick: () => run() },
        icon(glyph),
        h("span", { text: label }),
      );
    this.state = h("span", { class: "room-state", role: "status" });
    this.count = h("b", { class: "num" });
    this.watching = h("span", { class: "room-count" }, icon("people"), this.count, h("span", { text: "watching" }));
    this.rejoin = button("here", "Rejoin", () => this.follow.rejoin(), "primary");
    this.retry = button("redo", "Try again", () => room.join());
    this.take = button("hand", "Take the lead back", () => reportFailure(room.takeLead()));
    this.named = button("edit", "Your name", () => askName(room), "quiet");
    this.invite = button("share", "Invite", () => invite(room), "primary");
    this.ask = button("help", "Ask", () => ask(room));
    this.spot = button("spot", "Spotlight", () => {
      if (!follow.toggleSpot())
        toast("Select a node, or click a cell of a matrix: the spotlight goes there.", { name: "spot", ms: 5000 });
    });
    this.travel = button("external", "Go to", () => travel(room));
    this.hand = button("hand", "Hand over", () => handOver(room));
    this.end = button("close", "End", () => askEnd(room), "danger");
    this.alone = h("a", {
      class: "btn primary",
      href: alone(),
      text: "Continue on your own",
      onclick: () => {
        this.alone.href = alone(); // one may have stepped on
      },
    });
    fill(
      host,
      this.watching,
      this.state,
      h("span", { class: "grow" }),
      this.rejoin,
      this.retry,
      this.alone,
      this.take,
      this.named,
      this.ask,
      this.spot,
      this.travel,
      this.hand,
      this.end,
      this.invite,
    );
    room.on("changed", () => this.update());
    follow.on("changed", () => this.update());
    room.on("role", (role) => toast(role === "lead" ? "You are leading now." : "You are following now."));
    room.on("failed", ({ message }) => toast(message, { name: "warn", ms: 6000 }));
    this.update();
  }

  update() {
    const { room, follow } = this;
    const { leads, owner, state } = room;
    const here = state === "here";
    const over = state === "ended";
    const own = here && !leads && !follow.attached;
    this.state.textContent = this.#words();
    this.count.textContent = here ? count(room.watching) : "–";
    this.watching.hidden = over;
    const focused = document.activeElement;
    for (const [part, shown] of /** @type {[HTMLElement, boolean][]} */ ([
      [this.rejoin, own],
      [this.retry, state === "joining" && room.refusal !== ""],
      [this.alone, over],
      [this.take, here && owner && !leads],
      [this.named, here && !leads],
      [this.invite, here && leads],
      [this.ask, here && leads],
      [this.spot, here && leads],
      [this.travel, here && leads],
      [this.hand, here && leads],
      [this.end, here && leads && owner],
    ]))
      part.hidden = !shown;
    if (focused instanceof HTMLElement && focused.hidden && this.named.hidden === false) this.named.focus();
    this.spot.setAttribute("aria-pressed", String(follow.spot !== null));
  }

  #words() {
    const { room, follow } = this;
    if (room.state === "ended") return "The room has ended.";
    if (room.state === "joining") return room.refusal || "Joining the room…";
    if (room.state === "away") return "Connection lost. Reconnecting…";
    if (room.leads) return "You lead";
    return follow.attached ? "You follow" : "You are on your own";
  }
}

/** @param {Promise<void>} act */
const reportFailure = (act) => act.catch((error) => toast(refusalOf(error).message, { name: "warn", ms: 6000 }));
