// The page of a room: the workbench on its scenario, which follows who leads.

import { $ } from "../../lib/dom.ts";
import { showBar } from "./bar.tsx";
import { invite } from "./dialogs.tsx";
import { Follow } from "./follow.ts";
import { INVITE } from "./open.tsx";
import { showLesson } from "./lesson.tsx";
import { showQuestions } from "./question.tsx";
import { Room } from "./room.ts";
import { follow } from "../playback/store.ts";
import type { Address } from "../address/address.ts";
import type { Layout } from "../layout/layout.ts";
import type { View } from "../view/view.ts";

/**
 * Enter a room.
 *
 * @param parts `hash`: of the address that the page was opened with, which may hold the token that leads
 */
export function enter({
  id,
  hash,
  view,
  address,
  layout,
  root,
}: {
  id: string;
  hash: string;
  view: View;
  address: Address;
  layout: Layout;
  root: HTMLElement;
}) {
  const { playback } = view;
  const room = new Room(playback, id, hash, "projector" in root.dataset, root.dataset.invite ?? "");
  const following = new Follow({ room, view, address, layout, inspect: $("[data-inspect]", root) });
  const lesson = $("[data-room-lesson]");
  if (lesson) showLesson(lesson, room, view.store);
  showQuestions(root, room, view);
  room.left.on(leave);
  follow(view.store.room, () => {
    show(room);
    veil(room, following, view);
  });
  showBar($("[data-room-bar]"), room, following, () => address.href(`/s/${playback.source.scenario}/`));
  room.join().then(() => {
    const asked = new URLSearchParams(hash.slice(1)).has("invite");
    if (room.leads && (invited() === id || asked)) invite(room);
  });
  return { room, follow: following };
}

/** The same address shows the other scenario; what the query of this page names is of the one before. */
const leave = () =>
  location.replace(location.pathname + (document.body.classList.contains("presenting") ? "?present=1" : ""));

/** Name the page by what the room shows. */
function show({ now }: Room) {
  const named = $("[data-title]");
  if (!now || !named || named.textContent === now.title) return;
  named.textContent = named.title = now.title || "Untitled";
  document.title = document.title.replace(/^.*(?= · )/, () => named.textContent ?? "");
}

/** Hide from who follows what the room hides; once that is shown, go where the room is. */
function veil(room: Room, following: Follow, { playback }: View) {
  const [last, phase] = room.leads || room.state === "ended" ? NONE : (room.now?.veil ?? NONE);
  const before = shown(playback.veiled, phaseBefore);
  if (before === shown(last, phase)) return;
  phaseBefore = phase;
  document.body.classList.toggle("predicting", last !== null);
  room.veiled = playback.veil(last, phase);
  if (!room.leads && following.attached) following.rejoin();
}

const NONE = [null, null] as const;

let phaseBefore: string | null = null; // of the cycle that was the last to be shown

const shown = (last: number | null, phase: string | null) => (last === null ? "" : `${last}/${phase ?? "*"}`);

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
