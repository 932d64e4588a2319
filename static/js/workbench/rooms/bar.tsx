// The bar of a room: who leads, how many watch, and what one can do. Its place is kept from the first paint on.

import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { toast } from "../../lib/dom.ts";
import { count } from "../../lib/quantity.ts";
import { ask } from "./ask.tsx";
import { askEnd, askName, handOver, invite, joinAt } from "./dialogs.tsx";
import type { Follow } from "./follow.ts";
import type { Room } from "./room.ts";
import { reads } from "../playback/store.ts";
import { travel } from "./travel.tsx";

type BarProps = { room: Room; follow: Follow; alone: () => string };

/** Show the bar in `host`; `alone` returns the address at which one goes on alone. */
export function showBar(host: HTMLElement, room: Room, follow: Follow, alone: () => string) {
  room.roleChanged.on((role) => toast(role === "lead" ? "You are leading now." : "You are following now."));
  room.failed.on(({ message }) => toast(message, { name: "warn", ms: 6000 }));
  host.replaceChildren(); // what has kept its place
  render(<Bar room={room} follow={follow} alone={alone} />, host);
}

function Bar({ room, follow, alone }: BarProps) {
  reads(room.store.room);
  const name = useRef<HTMLButtonElement>(null);
  const focused = document.activeElement as HTMLElement | null;
  useLayoutEffect(() => {
    if (focused?.hidden && name.current?.hidden === false) name.current.focus();
  });
  const { leads, owner, state } = room;
  const here = state === "here";
  const over = state === "ended";
  const lead = here && leads;
  const button = (icon: string, label: string, shown: boolean, act: () => unknown, look = "", more = {}) => (
    <Button look={look} icon={icon} label={label} hidden={!shown} act={act} {...more}>
      <span>{label}</span>
    </Button>
  );
  const spot = () => {
    if (!follow.toggleSpot())
      toast("Select a node, or click a cell of a matrix: the spotlight goes there.", { name: "spot", ms: 5000 });
  };
  return (
    <>
      <span class="room-count" hidden={over}>
        <Icon name="people" />
        <b class="num">{here ? count(room.watching) : "–"}</b>
        <span>watching</span>
      </span>
      <span class={follow.lost ? "room-state lost" : "room-state"} role="status">
        {stateOf(room, follow)}
      </span>
      {lead && room.lost ? (
        <span class="room-lost" role="status">
          <a href={`/r/${room.id}/class/`} target="_blank" rel="noopener">
            <Icon name="warn" />
            {`${count(room.lost)} cannot follow`}
          </a>
        </span>
      ) : null}
      <span class="grow" />
      {room.projects && here && room.code ? (
        <span class="room-at">
          {`${joinAt(room)} `}
          <b aria-label={`Code: ${[...room.code].join(" ")}`}>{room.code}</b>
        </span>
      ) : null}
      {button("here", "Rejoin", here && !leads && !room.projects && !follow.attached, () => follow.rejoin(), "primary")}
      {button("redo", "Reload", here && follow.lost !== "", () => location.reload(), "primary")}
      {button("redo", "Try again", state === "joining" && room.refusal !== "", () => room.join())}
      <a
        class="btn primary"
        href={alone()}
        hidden={!over}
        onClick={(event) => {
          event.currentTarget.href = alone(); // one may have stepped on
        }}
      >
        Continue on your own
      </a>
      {button("hand", "Lead again", here && owner && !leads, () => room.takeLead())}
      {button("edit", "Your name", here && !leads && !room.projects, () => askName(room), "quiet", { ref: name })}
      {button("help", "Ask", lead, () => ask(room))}
      {button("spot", "Spotlight", lead, spot, "", { "aria-pressed": follow.spot !== null })}
      {button("external", "Go to", lead, () => travel(room))}
      <a class="btn room-projector" href={`/r/${room.id}/projector/`} target="podstep-projector" hidden={!lead}>
        <Icon name="screen" />
        <span>Projector</span>
      </a>
      {button("hand", "Hand over", lead, () => handOver(room))}
      {button("close", "End", lead && owner, () => askEnd(room), "danger")}
      {button("share", "Invite", lead, () => invite(room), "primary")}
    </>
  );
}

function stateOf(room: Room, follow: Follow) {
  const { state, refusal, leads } = room;
  if (state === "ended") return "The room has ended.";
  if (state === "joining") return refusal || "Joining the room…";
  if (state === "away") return "Connection lost. Reconnecting…";
  if (leads) return "You lead";
  if (follow.lost) return `This page cannot follow the leader: ${follow.lost}.`;
  return follow.attached ? (room.projects ? (room.now?.title ?? "") : "You follow") : "Not following";
}
