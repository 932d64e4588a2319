// What a room asks in dialogs: whom to invite, what one is called, who takes over, and whether it is over.

import type { ComponentChildren } from "preact";
import { Button, attempt } from "../../kit/button.tsx";
import { CopyRow } from "../../kit/copyrow.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { qrCode } from "../../kit/qr.tsx";
import { toast } from "../../lib/dom.ts";
import type { PeopleInRoom } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { useAnswer } from "../view/asking.tsx";
import type { Room } from "./room.ts";

/** Where the six letters are typed. */
export const joinAt = (room: Room) => `${new URL(room.watchUrl).host}/j/`;

export function invite(room: Room) {
  const box = openDialog("Invite", () => (
    <div class="room-invite">
      <div class="room-code">{qrCode(room.watchUrl, "QR code of the link for viewers")}</div>
      <div class="share-rows">
        {room.code ? (
          <p class="room-join">
            <span>{joinAt(room)}</span>
            <b aria-label={`Code: ${[...room.code].join(" ")}`}>{room.code}</b>
          </p>
        ) : (
          <p class="room-address">{room.watchUrl.replace(/^https?:\/\//, "")}</p>
        )}
        <CopyRow label="Link for viewers" text={room.watchUrl} focus />
        {room.invite ? (
          <p class="dim">Viewers scan the code, type the address with its six letters, or open this link.</p>
        ) : (
          <p class="note warn" role="alert">
            <span>
              This link leads only to this machine ({location.hostname}). Start podstep with{" "}
              <code>make run HOST=0.0.0.0</code> so that others in your network can join.
            </span>
          </p>
        )}
        {room.leadUrl ? (
          <details class="token">
            <summary>Lead from another device</summary>
            <p class="dim">Anyone with this link can lead the room. Keep it private.</p>
            <CopyRow label="Leader’s link" text={room.leadUrl} look="quiet" />
          </details>
        ) : null}
      </div>
    </div>
  ));
  box.classList.add("room-dialog", "inviting");
}

export function askName(room: Room) {
  const box = openDialog("Your name", (close) => {
    const save = async (event: Event) => {
      event.preventDefault();
      await room.rename((box.querySelector("input") as HTMLInputElement).value.trim());
      close();
    };
    return (
      <form class="room-form" onSubmit={save}>
        <label for="room-name">Optional. The leader sees it and can hand over to you.</label>
        <input class="field" id="room-name" maxlength={40} autocomplete="nickname" defaultValue={room.name} />
        <div class="room-form-end">
          <button class="btn primary">Save</button>
        </div>
      </form>
    );
  });
  box.querySelector("input")?.select();
}

export const handOver = (room: Room) =>
  openDialog("Hand over", (close) => (
    <ul class="room-people">
      <People room={room} close={close} />
    </ul>
  ));

function People({ room, close }: { room: Room; close: () => void }) {
  const answer = useAnswer<PeopleInRoom>("people", () => room.socket.call("room.people", {}));
  if (!answer) return <li class="dim">Loading the viewers…</li>;
  if (!answer.value) return <li class="note error">{answer.error}</li>;
  const others = answer.value.people.filter(([person]) => person !== room.person);
  const unnamed = Math.max(0, answer.value.watching - others.length);
  const hand = async (person: string, name: string) => {
    await attempt(() => room.hand(person).then(() => toast(`${name} leads now.`)));
    close();
  };
  return (
    <>
      {others.map(([person, name]) => (
        <li key={person}>
          <span>{name}</span>
          <Button icon="hand" aria-label={`Hand over to ${name}`} act={() => hand(person, name)}>
            Hand over
          </Button>
        </li>
      ))}
      {others.length ? null : <li>No viewer has given a name yet.</li>}
      {unnamed ? (
        <li class="dim">
          {`${count(unnamed)} more ${unnamed === 1 ? "watches" : "watch"} without a name: `
            + "they can give one by pressing “Your name”."}
        </li>
      ) : null}
    </>
  );
}

export const askEnd = (room: Room) =>
  openDialog("End the room?", (close) => (
    <>
      <p>{`${plural(room.watching, "viewer")} will stay where they are. An ended room cannot be reopened.`}</p>
      <Ends>
        <Button act={close}>Keep it</Button>
        <Button look="danger" act={() => room.end().then(close)}>
          End it for everyone
        </Button>
      </Ends>
    </>
  ));

const Ends = ({ children }: { children: ComponentChildren }) => <div class="room-form-end">{children}</div>;
