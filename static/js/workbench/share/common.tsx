// What the panels of the Share dialog share.

import type { ComponentChildren } from "preact";
import type { Playback } from "../playback/playback.ts";

/**
 * What the dialog shares: `path()` resolves with the address of an immutable scenario, which it makes of a draft the
 * first time; `link(path)` is the view on screen on such a path.
 */
export type Shared = {
  playback: Playback;
  title: string;
  bundleUrl: string;
  path: () => Promise<string>;
  token: () => string;
  /** What of a draft's text is left out, and another choice, of which a new link is made. */
  without: () => string[];
  leaveOut: (parts: string[]) => void;
  link: (path: string) => string;
  query: () => string;
  settle: () => Promise<boolean>;
};

/** A name above what it names. */
export const Named = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div class="share-row">
    <h3>{name}</h3>
    {children}
  </div>
);

/** A refusal, in words. */
export const Refused = ({ what, why }: { what: string; why: string }) => (
  <p class="note error" role="alert">{`${what}: ${why}`}</p>
);
