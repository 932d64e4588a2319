// "Present": opens a room on what is on screen, and goes there as its leader.

import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { openDialog } from "../../kit/dialog.tsx";
import { Icon } from "../../kit/icon.tsx";
import { refusalOf } from "../../lib/socket.ts";
import { shareable, type Sharing } from "../share/share.tsx";
import { keepToken } from "./kept.ts";
import { placeOf } from "./place.ts";

export const INVITE = "podstep.invite"; // the room whose links are shown first, in this tab

/** Ask for a title, and open the room. */
export function present(sharing: Sharing) {
  const box = openDialog("Present", (close) => <Present sharing={sharing} close={close} />);
  box.classList.add("room-dialog");
  box.querySelector<HTMLInputElement>("#room-title")?.select();
}

function Present({ sharing, close }: { sharing: Sharing; close: () => void }) {
  const [state, setState] = useState<ComponentChild>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const asked = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setState(<p class="dim">Opening the room…</p>);
    try {
      const room = await open(sharing, String(asked.get("title")).trim());
      if (room) location.assign(room);
      else close();
    } catch (error) {
      setBusy(false);
      setState(<p class="note error">{`The room could not be opened: ${refusalOf(error).message}`}</p>);
    }
  };
  return (
    <form class="room-form" onSubmit={submit}>
      <p>
        Anyone with the room's link follows you: your step, tab, selection and highlighted cell. You can ask what
        happens next and let everybody vote. No sign-up is needed; the room ends when you end it, or after a day.
      </p>
      {sharing.mine ? <p class="dim">It shows your draft as it is now; later edits are not in it.</p> : null}
      <label for="room-title">Title</label>
      <input
        class="field"
        id="room-title"
        name="title"
        maxlength={120}
        autocomplete="off"
        defaultValue={sharing.playback.title}
      />
      <p class="dim">“Projector” opens what the class sees in a window of its own; what you see here stays yours.</p>
      <div role="status">{state}</div>
      <div class="room-form-end">
        <button class="btn primary" disabled={busy}>
          <Icon name="present" />
          Open the room
        </button>
      </div>
    </form>
  );
}

/** Where the room is that was opened, "" where what is edited has errors. */
async function open(sharing: Sharing, title: string) {
  const shared = await shareable(sharing);
  if (!shared) return "";
  const answer = await fetch("/api/rooms", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ scenario: shared.scenario, title, ...placeOf(sharing.address) }),
  });
  const made = await answer.json();
  if (!answer.ok) throw new Error(made.errors?.[0]?.message ?? `The server answered ${answer.status}.`);
  keepToken(made.id, made.lead_token);
  try {
    sessionStorage.setItem(INVITE, made.id);
  } catch {
    /* the links are behind "Invite" all the same */
  }
  return `/r/${made.id}/`;
}
