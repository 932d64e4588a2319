// The head of the Policy tab: whose policy it is, where changes land, and why there can be none.

import type { ComponentChildren } from "preact";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Segmented } from "../../kit/segmented.tsx";
import { count } from "../../lib/quantity.ts";
import type { PolicyOptions } from "./options.ts";

/** Where changes land. */
export type Landing = {
  /** The shown cycle, and how many changes led to what is in force there. */
  index: number;
  number: number;
  /** The step after which a change lands ("": the start; null: none can be made); whether that is the shown cycle. */
  moment: string | null;
  here: boolean;
  /** The kind of the document that is written; whether the release runs its default plugins. */
  kind: string | undefined;
  defaults: boolean;
  release: string;
  /** An operation put it in force. */
  restarted: boolean;
  land: (here: boolean) => void;
  toStart: () => void;
};

type HeadProps = { warnings: string[]; place: Landing; options: PolicyOptions };

export function Head({ warnings, place, options }: HeadProps) {
  const { index, moment, kind, defaults, number } = place;
  const here = place.here && moment;
  const written = kind
    ? `This scenario's ${kind}.`
    : defaults
      ? `No configuration of its own: the default plugins of kube-scheduler ${place.release}.`
      : "No Policy of its own: the DefaultProvider’s predicates and priorities.";
  return (
    <>
      <div class="policy-head">
        <span class="dim">{here ? `After cycle ${count(index)}` : number ? "In force at this cycle" : written}</span>
      </div>
      {options.mine && index > 0 ? (
        <div class="policy-when">
          <span class="dim">Changes land</span>
          <Segmented
            label="Changes land"
            options={[
              ["start", "at the start"],
              ["here", `after cycle ${count(index)}`],
            ]}
            value={place.here ? "here" : "start"}
            onChange={(when) => place.land(when === "here")}
          />
        </div>
      ) : null}
      {here ? (
        <p class="dim fine">
          An operation restarts the scheduler: its queue is rebuilt, its caches are empty, its tie-break counter is 0.
        </p>
      ) : null}
      <Hindrance place={place} options={options} />
      {warnings.map((text) => (
        <div class="note warning">
          <Icon name="warn" />
          <span>{text}</span>
        </div>
      ))}
    </>
  );
}

const Warning = ({ children }: { children: ComponentChildren }) => (
  <div class="note">
    <Icon name="warn" />
    <div>{children}</div>
  </div>
);

/** Why nothing can be changed here, and what can be done; nothing where it can. */
function Hindrance({ place, options }: { place: Landing; options: PolicyOptions }) {
  const { mine, canFork, onFork, onText, dirty } = options;
  if (place.restarted)
    return (
      <Warning>
        <strong>The scheduler was restarted before this cycle.</strong>
        <p>
          It runs this since then, by an operation of the scenario; to change it, edit the operation, or apply changes
          after this cycle.
        </p>
        <Button look="small" act={place.toStart}>
          To the policy at the start
        </Button>
      </Warning>
    );
  if (!mine)
    return (
      <div class="note">
        <span class="grow">
          {canFork ? "This scenario never changes. Fork it to change its policy." : "This scenario is read-only."}
        </span>
        {canFork ? (
          <Button icon="fork" data-policy-fork act={onFork}>
            Fork to change
          </Button>
        ) : null}
      </div>
    );
  if (dirty())
    return (
      <Warning>
        <p>The YAML has changes that are not applied. Apply or discard them first.</p>
        <Button look="small" act={onText}>
          To the YAML
        </Button>
      </Warning>
    );
  return null;
}
