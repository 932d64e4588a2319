// Share: what is on screen as a link, a private link, a frame, or whole in a link, a panel each.

import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { Tabs } from "../../kit/tabs.tsx";
import { $ } from "../../lib/dom.ts";
import type { Address } from "../address/address.ts";
import { useAnswer } from "../view/asking.tsx";
import type { Build } from "../build/build.ts";
import { exportDeck, exportView } from "../film/exporting.tsx";
import type { Playback } from "../playback/playback.ts";
import { Refused, type Shared } from "./common.tsx";
import { Contents } from "./contents.tsx";
import { embed } from "./embed.tsx";
import { recordingFile } from "./file.tsx";
import { link } from "./link.tsx";
import { privately } from "./private.tsx";
import { whole } from "./whole.tsx";
import type { View } from "../view/view.ts";

type Workbench = { playback: Playback; view: View; build: Build; mine: boolean };
export type Sharing = Workbench & { address: Address; bundleUrl: string };

type Panel = { label: string; show: (shared: Shared) => Promise<ComponentChild>; waiting?: string };

const PANELS: Record<string, Panel> = {
  link: { label: "Link", show: link, waiting: "Creating an immutable copy…" },
  private: { label: "Private", show: privately },
  embed: { label: "Embed", show: embed },
  whole: { label: "Self-contained", show: whole, waiting: "Packing…" },
  file: { label: "File", show: recordingFile },
};

/**
 * The address on which a scenario is shared: of a room that of its scenario, of everything else the page's own; of a
 * draft an immutable copy is made.
 */
export async function shareable({ playback, view, build, mine }: Workbench, without: string[] = []) {
  const { scenario, draft = "", revision = 0 } = playback.source;
  if (!mine) return { path: scenario ? `/s/${scenario}/` : location.pathname, token: "", scenario: scenario ?? "" };
  if (!(await build.settle())) return null;
  const step = playback.wanted > playback.cycles ? "end" : String(playback.wanted);
  const asked = { draft, base: revision, step, tab: view.tab, without: without.join(" ") };
  const answer = await playback.socket.call("draft.share", asked);
  return {
    path: new URL(answer.url, location.origin).pathname,
    token: answer.deleteToken,
    scenario: answer.scenario,
  };
}

/** Open the dialog, once pending edits are applied. */
export async function share(sharing: Sharing) {
  const { playback, address, build, mine, bundleUrl } = sharing;
  if (mine && !(await build.settle())) return;
  let made: ReturnType<typeof shareable> | null = null;
  let token = "";
  let without: string[] = [];
  const shared: Shared = {
    playback,
    title: (mine ? $("input[data-title]")?.value : "") || playback.title,
    bundleUrl,
    path: async () => {
      made ??= shareable(sharing, without).catch((error) => {
        made = null;
        throw error;
      });
      const found = await made;
      if (!found) throw new Error("what is being edited has errors; correct them first.");
      token = found.token;
      return found.path;
    },
    token: () => token,
    without: () => without,
    leaveOut: (parts) => {
      without = parts;
      made = null;
    },
    link: (path) => address.link(path),
    query: () => new URL(address.link("/"), location.origin).search.slice(1),
    settle: () => (mine ? build.settle() : Promise.resolve(true)),
  };
  const box = openDialog("Share this view", (close) => (
    <>
      <Ways shared={shared} mine={mine} />
      <Files sharing={sharing} leave={close} />
    </>
  ));
  box.classList.add("share-dialog");
}

function Ways({ shared, mine }: { shared: Shared; mine: boolean }) {
  const [key, open] = useState("link");
  const [without, setWithout] = useState(shared.without());
  const [agreed, agree] = useState(!mine); // to what the link contains
  const { run, link: linked, side } = shared.playback.source;
  const lacking = [linked && "private", (run || linked || side) && "embed"];
  const offered = Object.entries(PANELS).filter(([name]) => !lacking.includes(name));
  const { show, waiting } = PANELS[key] as Panel;
  const asks = key === "private" || key === "file";
  const shows = agreed || asks;
  const answer = useAnswer(shows ? key : "", () => show(shared));
  const here = answer?.key === key && shows ? answer : null;
  const choose = (parts: string[]) => {
    shared.leaveOut(parts);
    setWithout(parts);
  };
  const options = offered.map(([name, { label }]): [string, string] => [name, label]);
  return (
    <Tabs label="Ways to share" id="share" class="share-panel" options={options} value={key} onChange={open}>
      <div class="share-panel-body" key={key}>
        {mine && (asks || !agreed) ? (
          <Contents
            playback={shared.playback}
            named={key !== "private"}
            without={without}
            choose={choose}
            make={asks ? undefined : () => agree(true)}
          />
        ) : null}
        {here?.value ?? null}
        {here?.error ? <Refused what="It could not be shared" why={here.error} /> : null}
        {here || !waiting || !shows ? null : (
          <p class="dim" role="status">
            {waiting}
          </p>
        )}
      </div>
    </Tabs>
  );
}

const FILES: [label: string, open: (sharing: Sharing) => unknown][] = [
  ["Picture…", ({ playback, view }) => exportView(playback, view.tab)],
  ["Slide deck…", ({ playback }) => exportDeck(playback)],
  ["Video or GIF…", async ({ playback }) => (await import("../film/dialog.ts")).exportFilm(playback)],
];

/** The way to the files that can be had of what is on screen. */
const Files = ({ sharing, leave }: { sharing: Sharing; leave: () => void }) => (
  <div class="share-files" role="group" aria-label="As a file">
    <span class="dim">As a file</span>
    {FILES.map(([label, open]) => (
      <Button
        key={label}
        act={() => {
          leave();
          return open(sharing);
        }}
      >
        {label}
      </Button>
    ))}
  </div>
);
