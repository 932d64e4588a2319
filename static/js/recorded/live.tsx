// "Open live": the scenario of a file on a podstep with an engine, by a link that holds it, or as a file to drop there.

import { useState } from "preact/hooks";
import { CopyRow } from "../kit/copyrow.tsx";
import { openDialog } from "../kit/dialog.tsx";
import { $ } from "../lib/dom.ts";
import { MOST_OPENED, pack, type Packed } from "../lib/packed.ts";
import { useAnswer } from "../workbench/view/asking.tsx";

const USUAL = "http://127.0.0.1:8000"; // of `make run`
const SERVER = /^https?:\/\/[^\s/?#]+/;

export function live(bundle: Packed, lesson = "") {
  if (document.querySelector("dialog.live-dialog")) return;
  const query = new URL(window.podstep?.href?.() ?? "", "http://file.invalid/").search.slice(1);
  const box = openDialog("Open live", () => (
    <Live bundle={{ ...bundle, query: query || bundle.query }} lesson={lesson} />
  ));
  box.classList.add("live-dialog");
}

function Live({ bundle, lesson }: { bundle: Packed; lesson: string }) {
  const [typed, setTyped] = useState($("[data-server]").dataset.server || USUAL);
  const fragment = useAnswer("fragment", () => pack(bundle))?.value;
  const server = SERVER.exec(typed.trim())?.[0];
  const file = `${bundle.title.replace(/[^\w.-]+/g, "-") || "scenario"}.yaml`;
  return (
    <>
      <p>
        {lesson
          ? "This file holds the lesson, its runs and the usual answers, and no engine. On the podstep that has this "
            + "lesson every answer is checked; its scenario opens on any, as a draft of yours."
          : "This file holds every answer of the run, and no engine. On a podstep the same scenario opens as a draft "
            + "of yours, in which everything can be changed and asked."}
      </p>
      <label class="share-row">
        <span>Server</span>
        <input
          class="field"
          value={typed}
          spellcheck={false}
          aria-invalid={!server}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      {server ? null : <p class="note error">The address of a server begins with http:// or https://.</p>}
      {server && lesson ? (
        <p>
          <a class="btn primary" href={`${server}${lesson}`} target="_blank" rel="noopener">
            Open the lesson there
          </a>
        </p>
      ) : null}
      {!fragment ? (
        <p class="dim" role="status">
          Packing…
        </p>
      ) : fragment.length > MOST_OPENED ? (
        <p class="dim">
          The scenario is too large for a link: drop its text, or this file, on that server's start page.
        </p>
      ) : server ? (
        <>
          <p>
            <a class={`btn${lesson ? "" : " primary"}`} href={`${server}/${fragment}`} target="_blank" rel="noopener">
              {lesson ? "Open its scenario there" : "Open there"}
            </a>
          </p>
          <CopyRow label="Link that holds the scenario" text={`${server}/${fragment}`} look="quiet" />
        </>
      ) : null}
      <p>
        <a class="btn" href={URL.createObjectURL(new Blob([bundle.text], { type: "text/yaml" }))} download={file}>
          {`Download ${file}`}
        </a>
      </p>
    </>
  );
}
