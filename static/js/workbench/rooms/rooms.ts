// The page of a room: the workbench on its scenario, which follows who leads.

import { $ } from "../../lib/dom.ts";
import { showBar } from "./bar.tsx";
import { invite } from "./dialogs.tsx";
import { Follow } from "./follow.ts";
import { INVITE } from "./open.tsx";
import { showLesson } from "./lesson.tsx";
import { showQuestions } from "./question.tsx";
import { Room } from "./room.ts";
import { follow } from "../store.ts";
import type { Address } from "../address.ts";
import type { Layout } from "../layout.ts";
import type { View } from "../view.ts";

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
  const room = new Room(playback, id, hash);
  const following = new Follow({ room, view, address, layout, inspect: $("[data-inspect]", root) });
  const lesson = $("[data-room-lesson]");
  if (lesson) showLesson(lesson, room, view.store);
  showQuestions(root, room, view);
  follow(view.store.room, () => veil(room, following, view));
  room.scenario = playback.source.scenario ?? "";
  room.on("travelled", () => {
    // The same address shows the other scenario; what the query of this page names is of the one before.
    location.replace(location.pathname + (document.body.classList.contains("presenting") ? "?present=1" : ""));
  });
  showBar($("[data-room-bar]"), room, following, () => address.href(`/s/${playback.source.scenario}/`));
  room.join().then(() => {
    const asked = new URLSearchParams(hash.slice(1)).has("invite");
    if (room.leads && (invited() === id || asked)) invite(room);
  });
  return { room, follow: following };
}

/** Hide what is asked about from who predicts it; once that is revealed, go where the room is. */
async function veil(room: Room, following: Follow, { playback }: View) {
  const { leads, state } = room;
  const [last, phase] = leads || state === "ended" ? [null, null] : hidden(room);
  const before = shown(playback.veiled, phaseBefore);
  if (before === shown(last, phase)) return;
  phaseBefore = phase;
  document.body.classList.toggle("predicting", last !== null);
  await playback.veil(last, phase);
  if (!leads && following.attached) following.rejoin();
}

let phaseBefore: string | null = null; // of the cycle that was the last to be shown

const shown = (last: number | null, phase: string | null) => (last === null ? "" : `${last}/${phase ?? "*"}`);

/**
 * The last cycle that may be seen, and its last phase: what a question hides, or a stop of the lesson whose question
 * was not revealed yet.
 */
function hidden({ question, lesson }: Room): [last: number | null, phase: string | null] {
  const asked = question && !question.revealed && question.hides ? question.hides - 1 : null;
  const kept = lesson?.veil ?? null;
  if (kept && (asked === null || asked >= kept[0])) return [kept[0], kept[1]];
  return [asked, null];
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
