// Share, "Embed": the code of a frame that shows the same view on another page.

import { useState } from "preact/hooks";
import { CopyRow } from "../../kit/copyrow.tsx";
import { Named, type Shared } from "./common.tsx";

const HEIGHTS: [value: string, label: string][] = ["480", "640", "800"].map((value) => [value, `${value} pixels`]);
const VIEWS: [value: string, label: string][] = [
  ["", "everything"],
  ["stage", "the stage"],
  ["matrix", "the matrix"],
  ["story", "the story"],
];
const SIGNS: Record<string, string> = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };

const quoted = (text: string) => text.replace(/[&"<>]/g, (sign) => SIGNS[sign] ?? sign);

export async function embed(shared: Shared) {
  const framed = (await shared.path()).replace(/^\/s\//, "/e/");
  return <Embed link={shared.link(framed)} title={shared.title || "podstep"} />;
}

function addressOf(link: string, view: string, locked: boolean) {
  const url = new URL(link, location.origin);
  url.searchParams.delete("present");
  if (view) url.searchParams.set("view", view);
  if (locked) url.searchParams.set("lock", "1");
  return url.href.replaceAll("%2F", "/").replaceAll("%3A", ":");
}

function Embed({ link, title }: { link: string; title: string }) {
  const [view, setView] = useState("");
  const [height, setHeight] = useState("640");
  const [locked, setLocked] = useState(false);
  const address = addressOf(link, view, locked);
  const code =
    `<iframe src="${quoted(address)}" title="${quoted(title)}" width="100%"`
    + ` height="${height}" loading="lazy" frameborder="0"></iframe>`;
  return (
    <>
      <p class="dim">
        The same view inside your own page, without the menus around it. Readers can step through it there.
      </p>
      <CopyRow label="Embed code" text={code} />
      <Choice label="Shows" options={VIEWS} value={view} choose={setView} />
      <label class="share-check">
        <input type="checkbox" checked={locked} onChange={(event) => setLocked(event.currentTarget.checked)} />
        Lock the step: readers cannot leave it
      </label>
      <Choice label="Height" options={HEIGHTS} value={height} choose={setHeight} />
      <p class="dim">
        A frame sends its height to the page around it; the documentation of the protocol has the script.
      </p>
      <p>
        <a target="_blank" rel="noopener" href={address}>
          See how it looks
        </a>
      </p>
    </>
  );
}

type ChoiceProps = { label: string; options: [string, string][]; value: string; choose: (value: string) => void };

const Choice = ({ label, options, value, choose }: ChoiceProps) => (
  <Named name={label}>
    <select class="field share-select" aria-label={label} value={value} onChange={(e) => choose(e.currentTarget.value)}>
      {options.map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  </Named>
);
