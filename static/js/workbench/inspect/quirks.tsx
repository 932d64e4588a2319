// Notices of the quirks of v1.11 that changed something in a cycle.

import { Icon } from "../../kit/icon.tsx";
import type { Light } from "../../lib/protocol.js";

const PARTS: Record<string, string> = {
  predicates: "verdicts of predicates",
  priorities: "scores",
  preemption: "what preemption tried",
  decision: "the decision",
};

const listed = (names: string[]) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** A notice for each quirk that changed `part` of the cycle, any part without one. */
export function Quirks({ light, part = "" }: { light: Light; part?: string }) {
  const quirks = light.quirks.filter(([, changed]) => !part || changed.includes(part));
  if (!quirks.length) return null;
  return (
    <div class="quirk-notes" role="group" aria-label="Quirks of v1.11 in this cycle">
      {quirks.map(([id, changed, text]) => (
        <div class="note warning quirk">
          <Icon name="warn" />
          <div>
            <strong>{`A quirk of v1.11 changed ${listed(changed.map((name) => PARTS[name] ?? name))}`}</strong>
            <p>{text}</p>
            <a href={`/reference/predicates/#quirk-${encodeURIComponent(id)}`} target="_blank" rel="noopener">
              {id}
              <span class="sr">, opens the reference in another page</span>
            </a>
          </div>
        </div>
      ))}
    </div>
  );
}
