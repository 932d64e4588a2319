// Which kube-scheduler answers, at the top of the workbench: shown of every scenario, and chosen for one's own draft.

import { render } from "preact";
import { Button } from "../../kit/button.tsx";
import { $ } from "../../lib/dom.ts";
import { releaseOf, releases } from "../../lib/releases.ts";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

/** Show it, where the page has a place for it. */
export function showRelease(view: View) {
  const place: HTMLElement | null = $("[data-release]");
  follow(view.store.scenario, () => {
    if (!place || !view.playback.release) return;
    const draw = () => render(<Release view={view} redraw={draw} />, place);
    draw();
    place.hidden = false;
  });
}

function Release({ view, redraw }: { view: View; redraw: () => void }) {
  const { settings, playback } = view;
  const { release, offered } = playback;
  const hint = releaseOf(release).about;
  if (!settings?.mine)
    return (
      <span class="pill" title={offered ? `${hint}. The nodes’ kubelets are ${offered}` : hint}>
        {`kube-scheduler ${runningIn(view).join(", ")}${offered ? `, kubelets ${offered}` : ""}`}
      </span>
    );
  const choose = async (chosen: string) => {
    if (settings.dirty()) settings.blocked();
    else await settings.change([["setting", "scheduler", chosen]], `kube-scheduler ${chosen} answers`);
    redraw(); // what is in force, where it was not changed
  };
  return (
    <>
      {offered ? (
        <Button
          look="small"
          title={`The nodes’ kubelets are ${offered}, and kube-scheduler ${release} answers`}
          act={() => void choose(offered)}
        >
          {`Use ${offered}, as the kubelets`}
        </Button>
      ) : null}
      <select
        class="field release-choice"
        aria-label="kube-scheduler"
        title={`${hint}. Another one simulates the draft again`}
        value={release}
        onChange={(event) => void choose(event.currentTarget.value)}
      >
        {releases().map(({ name, about }) => (
          <option key={name} value={name} title={about}>
            {`kube-scheduler ${name}`}
          </option>
        ))}
      </select>
    </>
  );
}

/** The release, and those that other schedulers of the list run beside it. */
function runningIn({ playback: { release, schedulers } }: View): string[] {
  const beside = (schedulers?.listed ?? []).map(({ runs }) => runs).filter((runs) => /^v\d/.test(runs));
  return [...new Set([release, ...beside])].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
