// Where a room goes next: a shared scenario by its address, or an example. Its own address and code stay.

import { useState } from "preact/hooks";
import { openDialog } from "../../kit/dialog.tsx";
import { focused } from "../../kit/focus.ts";
import { Icon } from "../../kit/icon.tsx";
import { refusalOf } from "../../lib/socket.ts";
import { useAnswer } from "../view/asking.tsx";
import type { Room } from "./room.ts";

const SHARED = /\/s\/([A-Za-z0-9_-]+)\/?$/;

type Examples = { examples: { slug: string; title: string }[] };

/** The scenario and the step of an address. */
function placeOf(address: string) {
  const url = URL.parse(address, location.origin);
  const scenario = url && SHARED.exec(url.pathname)?.[1];
  return scenario ? { scenario, step: url.searchParams.get("step") ?? "" } : null;
}

export const travel = (room: Room) =>
  openDialog("Go to another scenario", () => <Travel room={room} />).classList.add("room-dialog");

function Travel({ room }: { room: Room }) {
  const [wrong, setWrong] = useState("");
  const found = useAnswer<Examples>("examples", async () => (await fetch("/examples.json")).json());
  const go = async (address: string) => {
    const place = placeOf(address);
    if (!place) return setWrong("Write the address of a shared scenario, as Share gives it: …/s/…/.");
    await room.travel(place.scenario, place.step).catch((error) => setWrong(refusalOf(error).message));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void go(String(new FormData(event.currentTarget as HTMLFormElement).get("to")).trim());
  };
  const goToExample = async (slug: string) =>
    go((await fetch(`/examples/${slug}/`, { method: "HEAD" }).catch(() => null))?.url ?? "");
  return (
    <>
      <p class="dim">All viewers follow. The room keeps its address, its code and its results.</p>
      <form class="room-form" onSubmit={submit}>
        <label for="travel-to">Address of a shared scenario</label>
        <input ref={focused} class="field" id="travel-to" name="to" autocomplete="off" required maxlength={500} />
        <div class="room-form-end">
          <button class="btn primary">Go there</button>
        </div>
      </form>
      <div role="alert">{wrong ? <p class="note error">{wrong}</p> : null}</div>
      <h3>Or an example</h3>
      <div class="room-kinds room-places">
        {found?.value?.examples.map(({ slug, title }) => (
          <button type="button" class="room-kind" onClick={() => void goToExample(slug)}>
            <Icon name="play" />
            <b>{title}</b>
          </button>
        )) ?? <p class="dim">{found ? "The examples could not be loaded." : "Loading the examples…"}</p>}
      </div>
    </>
  );
}
