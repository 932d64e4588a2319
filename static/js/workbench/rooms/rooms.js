// The page of a room: the workbench on its scenario, which follows who leads.

import { $ } from "../../lib/dom.js";
import { Bar } from "./bar.js";
import { invite } from "./dialogs.tsx";
import { Follow } from "./follow.js";
import { INVITE } from "./open.tsx";
import { QuestionPanel } from "./question.js";
import { Room } from "./room.js";
/** @import { Address } from "../address.js" */
/** @import { Layout } from "../layout.js" */
/** @import { View } from "../view.js" */

/**
 * Enter a room.
 *
 * @param {{ id: string, hash: string, view: View, address: Address, layout: Layout, root: HTMLElement }} parts
 *   `hash`: of the address that the page was opened with, which may hold the token that leads
 */
export function enter({ id, hash, view, address, layout, root }) {
  const { playback } = view;
  const room = new Room(playback.socket, id, hash);
  const follow = new Follow({ room, view, address, layout, inspect: $("[data-inspect]", root) });
  const panel = new QuestionPanel(room, view);
  root.append(panel.element);
  playback.on("opened", () => panel.update());
  room.on("changed", () => veil(room, follow, view));
  room.scenario = playback.source.scenario ?? "";
  room.on("travelled", () => {
    // The same address shows the other scenario; what the query of this page names is of the one before.
    location.replace(location.pathname + (document.body.classList.contains("presenting") ? "?present=1" : ""));
  });
  new Bar($("[data-room-bar]"), room, follow, () => address.href(`/s/${playback.source.scenario}/`));
  room.join().then(() => {
    if (room.leads && invited() === id) invite(room);
  });
  return { room, follow };
}

/**
 * Hide what is asked about from who predicts it; once that is revealed, go where the room is.
 *
 * @param {Room} room
 * @param {Follow} follow
 * @param {View} view
 */
async function veil({ question, leads, state }, follow, { playback }) {
  const hides = !leads && state !== "ended" && question && !question.revealed ? (question.hides ?? null) : null;
  const last = hides === null ? null : hides - 1;
  if (last === playback.veiled) return;
  document.body.classList.toggle("predicting", last !== null);
  await playback.veil(last);
  if (last === null && !leads && follow.attached) follow.rejoin();
}

/** The room that this tab has just opened. */
function invited() {
  try {
    const room = sessionStorage.getItem(INVITE);
    sessionStorage.removeItem(INVITE);
    return room;
  } catch {
    return null;
  }
}
