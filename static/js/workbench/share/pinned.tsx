// A private link keeps what was decided when it was made. Where the engine decides otherwise now, that is shown, and
// both outcomes are shown.

import { Button } from "../../kit/button.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { nodesOf } from "../../kit/node.tsx";
import { toast } from "../../lib/dom.ts";
import type { LinkCheck, PinnedOutcome } from "../../lib/protocol.js";
import { count, plural, short } from "../../lib/quantity.ts";
import type { Playback } from "../playback/playback.ts";

const ROWS: [label: string, of: (outcome: PinnedOutcome) => string][] = [
  ["Pod", ({ pod }) => short(pod)],
  ["Result", ({ result }) => result],
  ["Node", ({ node }) => node ?? "none"],
  ["Nominated node", ({ nominated }) => nominated ?? "none"],
  ["Victims", ({ victims }) => victims.map(short).join(", ") || "none"],
];

/** Say where what is on screen is not what the link showed when it was made. */
export async function checkPinned(playback: Playback) {
  const { link } = playback.source;
  if (!link) return;
  let found: LinkCheck;
  try {
    found = await playback.socket.call("link.check", { link });
  } catch (error) {
    playback.failed(error);
    return;
  }
  if (found.same || !found.first) return;
  const note = toast(
    `${plural(found.differing, "cycle")} of ${count(found.compared)} ${found.differing === 1 ? "was" : "were"} decided `
      + "differently when this link was created.",
    { name: "warn", ms: 0 },
  );
  const buttons = (
    <>
      <Button look="small" act={() => both(found, playback)}>
        Show both
      </Button>
      <Button look="small quiet" act={() => note?.remove()}>
        Dismiss
      </Button>
    </>
  );
  note?.append(...nodesOf(buttons));
}

function both({ first, pinned, current, changed }: LinkCheck, playback: Playback) {
  if (!first) return;
  const { index, then, now } = first;
  openDialog("Then and now", (close) => (
    <>
      <p>{`Cycle ${index} is the first with a different decision.`}</p>
      <table class="pinned">
        <thead>
          <tr>
            <td />
            <th scope="col">{`Then, podstep ${pinned.engine}`}</th>
            <th scope="col">{`Now, podstep ${current.engine}`}</th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([label, of]) => (
            <tr>
              <th scope="row">{label}</th>
              <td>{then ? of(then) : "no such cycle"}</td>
              <td>{now ? of(now) : "no such cycle"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {changed.length ? <p class="dim">{`Also changed: ${changed.join(", ")}.`}</p> : null}
      <div class="room-form-end">
        <Button
          look="primary"
          act={() => {
            close();
            playback.goto(index);
          }}
        >
          {`Go to cycle ${index}`}
        </Button>
      </div>
    </>
  ));
}
