// percentageOfNodesToScore: of all profiles, and of one.

import { Button } from "../../../kit/button.tsx";
import { ByWord } from "../controls.tsx";
import { Wrong, type Panel } from "./wrong.tsx";

const FIELD = "percentageOfNodesToScore";
const DOES =
  "Filtering stops when this share of all nodes fits. Default and 0: adaptive, from 50 % down to 5 % as the cluster "
  + "grows. At least 100 feasible nodes are always looked for.";

export function NodesToScore({ panel }: { panel: Panel }) {
  const { plugins, profile, at } = panel;
  const several = plugins.profiles.length > 1 || profile.percentage !== null;
  const all = several ? `${FIELD}, all profiles` : FIELD;
  return (
    <>
      <Share panel={panel} control="nodes" label={all} of="" value={plugins.percentage} />
      {several ? (
        <Share
          panel={panel}
          control="own-nodes"
          label={`${FIELD}, ${profile.name}`}
          of={String(at)}
          value={profile.percentage}
        />
      ) : null}
      <p class="policy-does dim" id="policy-nodes-does">
        {DOES}
      </p>
    </>
  );
}

type ShareProps = { panel: Panel; control: string; label: string; of: string; value: number | null };

function Share({ panel, control, label, of, value }: ShareProps) {
  const { form, act, wrong } = panel;
  const set = (to: string) =>
    act(control, "percentage", of, to, to === "" ? `${label}: the default` : `${label} ${to}`);
  return (
    <>
      <div class="policy-setting">
        <label for={`policy-${control}`}>
          <ByWord name={label} />
        </label>
        <span class="with-default">
          {value === null ? (
            <small class="dim">default</small>
          ) : (
            <Button
              look="link fine"
              data-control={`${control}:default`}
              aria-label={`Default of ${label}`}
              disabled={!form.editable}
              act={() => set("")}
            >
              default
            </Button>
          )}
          <input
            class="field weight num"
            id={`policy-${control}`}
            inputMode="numeric"
            placeholder={of ? "as above" : "0"}
            value={value ?? ""}
            data-control={control}
            aria-describedby="policy-nodes-does"
            aria-invalid={wrong.control === control || undefined}
            disabled={!form.editable}
            onChange={(event) => set(event.currentTarget.value.trim())}
          />
        </span>
      </div>
      <Wrong panel={panel} control={control} />
    </>
  );
}
