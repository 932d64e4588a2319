// The Cache tab where the cache is off: what it is, what would stand here, and how to switch it on.

import { Icon } from "../../kit/icon.tsx";
import type { View } from "../view/view.ts";

const SHOWS = [
  "which answers came from the cache, and which were evaluated",
  "what each event invalidated, with the row of the table that defines it",
  "stale hits: the cached answer beside the true one, and the event that was missed",
];

export function CacheOff({ view, why, gone }: { view: View; why: string; gone: boolean }) {
  return (
    <div class="cache-off">
      <div class="empty">
        <Icon name="server" />
        <b>{gone ? "Opportunistic batching" : "The equivalence cache is off."}</b>
        <span class="why-off">{why.replace(/^The equivalence cache is off\.\s*/, "")}</span>
        {gone ? null : (
          <>
            <ul class="shows" aria-label="What is shown here if it is on">
              {SHOWS.map((text) => (
                <li>
                  <Icon name="check" />
                  {text}
                </li>
              ))}
            </ul>
            {ways(view)}
          </>
        )}
      </div>
    </div>
  );
}

/** How to switch it on, by who may. */
function ways(view: View) {
  const { settings } = view;
  if (settings?.mine) {
    const dirty = settings.dirty();
    const way = (label: string, hint: string, className: string, changes: string[][], words: string) => (
      <button
        type="button"
        class={`btn ${className}`}
        disabled={dirty}
        title={hint}
        onClick={() => settings.change(changes, words)}
      >
        {label}
      </button>
    );
    return [
      <div class="ways">
        {way(
          "Switch it on",
          "cache: sound, every row of the invalidation table",
          "primary",
          [["setting", "cache", "sound"]],
          "The cache is on, with every row",
        )}
        {way(
          "As in v1.11, with the audit",
          "cache: v1.11 and audit: true, to see where it was wrong",
          "",
          [
            ["setting", "cache", "v1.11"],
            ["setting", "audit", "true"],
          ],
          "The cache is on as in v1.11, with the audit",
        )}
      </div>,
      <span class="fine">
        {dirty
          ? "The YAML has changes that are not applied: apply or discard them first."
          : "Both write the scenario’s SimulationSettings; the Policy tab has all of them."}
      </span>,
    ];
  }
  if (settings?.canFork)
    return [
      <div class="ways">
        <button type="button" class="btn primary" onClick={settings.fork}>
          <Icon name="fork" />
          Fork to switch it on
        </button>
      </div>,
      <span class="fine">Shared scenarios never change; your copy can.</span>,
    ];
  return (
    <span class="fine">
      A bundle switches it on with <code>cache: sound</code>
      {" in its SimulationSettings."}
    </span>
  );
}
