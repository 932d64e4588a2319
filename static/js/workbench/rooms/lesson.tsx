// The lesson that a room teaches: where it is, what the stop says, and for who leads the way on and the question.

import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import type { RoomLesson } from "../../lib/protocol.js";
import { follow, reads, type Store } from "../playback/store.ts";
import type { Room } from "./room.ts";

const SMALL = "(max-width: 760px), (max-height: 640px)"; // where the text takes too much from the stage

export function showLesson(host: HTMLElement, room: Room, store: Store) {
  follow(store.room, () => (host.title = room.lesson?.title ?? ""));
  render(<Stop room={room} />, host);
}

function Stop({ room }: { room: Room }) {
  reads(room.store.room);
  const open = useRef(!matchMedia(SMALL).matches).current;
  const { lesson, leads, state } = room;
  if (!lesson) return null;
  const at = lesson.stops.findIndex(([key]) => key === lesson.stop);
  return (
    <>
      {lesson.away ? (
        <p class="lesson-away dim">
          {`Away from the lesson “${lesson.title}”, stop ${at + 1} of ${lesson.stops.length}`}
        </p>
      ) : (
        <details open={open}>
          <summary>
            <span class="num dim">{`${at + 1} of ${lesson.stops.length}`}</span>
            <b>{lesson.heading}</b>
          </summary>
          <Prose html={lesson.text} />
        </details>
      )}
      <div class="lesson-acts">{leads && state === "here" ? <Acts room={room} lesson={lesson} at={at} /> : null}</div>
    </>
  );
}

/** HTML that the server makes of Markdown without HTML; the parser runs nothing of it. */
function Prose({ html }: { html: string }) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    host.current?.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  }, [html]);
  return <div ref={host} class="lesson-text prose" />;
}

type ActsProps = { room: Room; lesson: RoomLesson; at: number };

function Acts({ room, lesson: { stops, stop, revealed, away }, at }: ActsProps) {
  const [key, , asks] = stops[at] ?? ["", "", false];
  const asked = room.question?.kind === "lesson" && room.question.stop === stop;
  const open = asks && !asked && !revealed.includes(key);
  const way = (label: string, icon: string, to: number, look = "") => {
    const [stop, title] = stops[to] ?? [];
    return stop ? (
      <Button look={look} icon={icon} label={`${label}: ${title}`} title={title} act={() => room.goTo(stop)}>
        <span>{label}</span>
      </Button>
    ) : null;
  };
  if (away) return way("Back to the lesson", "left", at, "primary");
  return (
    <>
      {way("Back", "left", at - 1)}
      {asks ? (
        <Button look={open ? "primary" : ""} icon="help" disabled={asked} act={() => room.ask({ kind: "lesson" })}>
          <span>Ask the question</span>
        </Button>
      ) : null}
      {way("Next stop", "right", at + 1, open || asked ? "" : "primary")}
      <a class="btn" href={`/r/${room.id}/class/`} target="_blank" rel="noopener">
        <Icon name="people" />
        Your class
      </a>
    </>
  );
}
