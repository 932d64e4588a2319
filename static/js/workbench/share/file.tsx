// Share, "File": the whole run as one HTML file that steps without a server.

import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { plural } from "../../lib/quantity.ts";
import { bytes } from "../../lib/progress.ts";
import { Refused, type Shared } from "./common.tsx";

const NAMED = /filename="([^"]+)"/;
const FORGET_AFTER = 60_000; // milliseconds, in which a browser has begun to save it

export async function recordingFile(shared: Shared) {
  if (!(await shared.settle())) throw new Error("What is being edited has errors; correct them first.");
  return <RecordingFile shared={shared} />;
}

function addressOf({ playback: { source }, query, without }: Shared) {
  const { draft, scenario, run, link, side } = source;
  const [kind, id] = Object.entries({ draft, scenario, run, link, side }).find(([, id]) => id) ?? [];
  return `/recording?${new URLSearchParams({ source: `${kind}:${id}`, query: query(), without: without().join(" ") })}`;
}

function RecordingFile({ shared }: { shared: Shared }) {
  const [state, setState] = useState({ busy: false, said: "", refused: "" });
  const { cycles, nodes } = shared.playback;
  const save = async () => {
    setState({ busy: true, said: "Recording every step…", refused: "" });
    try {
      const answer = await fetch(addressOf(shared));
      if (!answer.ok) throw new Error(await answer.text());
      const file = await answer.blob();
      const href = URL.createObjectURL(file);
      const name = NAMED.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "recording.html";
      Object.assign(document.createElement("a"), { href, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(href), FORGET_AFTER);
      setState({ busy: false, said: `Saved ${name}, ${bytes(file.size)}.`, refused: "" });
    } catch (error) {
      setState({ busy: false, said: "", refused: (error as Error).message });
    }
  };
  return (
    <>
      <p class="dim">
        {`One HTML file with all ${plural(cycles, "cycle")} of ${plural(nodes.names.length, "node")}: it opens from a `
          + "disk, an issue or a wiki, steps both ways with every tab, and asks no server. Editing, and a Why? that is "
          + "not in it, open it live."}
      </p>
      <p>
        <Button look="primary" act={save} disabled={state.busy}>
          Save as HTML
        </Button>
      </p>
      <p class="dim" role="status">
        {state.said}
      </p>
      {state.refused ? <Refused what="It could not be recorded" why={state.refused} /> : null}
    </>
  );
}
