// The descheduler in the Policy tab: when it runs, and the plugins of each profile of its policy with their arguments.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import type { Descheduler, DeschedulerPlugin, DeschedulerProfile } from "../../lib/protocol.js";
import { ByWord, NumberField, Part, Setting, Switch } from "./controls.tsx";
import type { PolicyForm, Refusal } from "./form.ts";
import { argumentsForm } from "./plugins/dialog.tsx";
import { isWritten, shown, valueAt } from "./plugins/values.ts";

const MOST_PASSES = 1000;
const MOST_SECONDS = 86_400;
const REFERENCE = "/reference/descheduler/";
const ALWAYS = "filter"; // the point of what runs in any case

type DeschedulerProps = {
  form: PolicyForm;
  descheduler: Descheduler | null;
  /** Changes land at a step, where they have no effect. */
  landing: boolean;
};

/** Its controls, or where the scenario has no descheduler what adds one. */
export function DeschedulerPart({ form: given, descheduler, landing }: DeschedulerProps) {
  const form = { ...given, editable: given.settable && !landing };
  if (!descheduler) return form.editable ? <Adding form={form} /> : null;
  const { interval, passes, dryRun, profiles } = descheduler;
  const set = (key: string, value: string, words: string) => form.change("descheduler", key, value, words);
  return (
    <Framed>
      {landing ? <p class="dim fine">It is settled from the start: choose that changes land at the start.</p> : null}
      <Setting name="Seconds between passes">
        <NumberField
          form={form}
          control="descheduler-interval"
          value={interval}
          min={1}
          max={MOST_SECONDS}
          label="Seconds between passes"
          act={(value) => set("interval", `${value}s`, `a pass every ${value} s`)}
        />
      </Setting>
      <Setting name="Passes at most">
        <NumberField
          form={form}
          control="descheduler-passes"
          value={passes}
          min={1}
          max={MOST_PASSES}
          label="Passes at most"
          act={(value) => set("passes", value, `at most ${value} passes`)}
        />
      </Setting>
      <Setting name="Dry run: evict nothing">
        <Switch
          control="descheduler-dryRun"
          on={dryRun}
          off={!form.editable}
          act={(on) => set("dryRun", String(on), `dry run ${on ? "on" : "off"}`)}
        />
      </Setting>
      {profiles.map((given, at) => (
        <Profile key={at} form={form} given={given} at={at} several={profiles.length > 1} />
      ))}
      {profiles.length ? null : <p class="dim fine">A policy of v1alpha1 is edited in the YAML.</p>}
      {form.editable ? <Acts form={form} profiles={profiles} /> : null}
    </Framed>
  );
}

const Framed = ({ children }: { children: ComponentChildren }) => (
  <Part
    id="descheduler"
    title="Descheduler"
    hint={
      <a class="fine" href={REFERENCE}>
        what it does
      </a>
    }
    target
  >
    {children}
  </Part>
);

const Adding = ({ form }: { form: PolicyForm }) => (
  <Framed>
    <p class="dim fine">
      None runs. One evicts pods at an interval from where they should no longer be, and their controllers create
      replacements.
    </p>
    <Button
      look="small"
      data-control="descheduling"
      act={() => form.change("descheduling", "", "on", "a descheduler with LowNodeUtilization, every 5 minutes")}
    >
      Add a descheduler
    </Button>
  </Framed>
);

function Acts({ form, profiles }: { form: PolicyForm; profiles: DeschedulerProfile[] }) {
  const names = new Set(profiles.map(({ name }) => name));
  let next = `profile-${profiles.length + 1}`;
  while (names.has(next)) next += "-2";
  return (
    <div class="descheduler-acts">
      {profiles.length ? (
        <Button
          look="small"
          data-control="descheduler-profile"
          act={() => form.change("descheduler-profile", "+", next, `the profile ${next}`)}
        >
          Add a profile
        </Button>
      ) : null}
      <Button
        look="small quiet"
        data-control="descheduling-off"
        act={() => form.change("descheduling", "", "", "no descheduler")}
      >
        Remove the descheduler
      </Button>
    </div>
  );
}

type ProfileProps = { form: PolicyForm; given: DeschedulerProfile; at: number };

function Profile({ form, given, at, several }: ProfileProps & { several: boolean }) {
  const name = given.name || String(at + 1);
  const title = several ? `Profile ${name}` : "Plugins";
  return (
    <section class="descheduler-profile" aria-label={title}>
      <h4>
        {title}
        {form.editable && several ? (
          <Button
            look="link fine"
            aria-label={`Remove the profile ${name}`}
            act={() => form.change("descheduler-profile", String(at), "", `without the profile ${given.name}`)}
          >
            remove
          </Button>
        ) : null}
      </h4>
      <ul class="descheduler-plugins" aria-label={`${title} of the descheduler`}>
        {form.catalogue.descheduler.map((row) => (
          <Plugin key={row.name} form={form} given={given} at={at} row={row} />
        ))}
      </ul>
    </section>
  );
}

type PluginProps = ProfileProps & { row: DeschedulerPlugin };

function Plugin({ form, given, at, row }: PluginProps) {
  const { name, point, words } = row;
  const [wrong, setWrong] = useState("");
  const always = point === ALWAYS;
  const on = always || given.enabled.includes(name);
  const toggle = async (to: boolean) =>
    setWrong(await form.ask("strategy", `${at}/${name}`, to ? "on" : "", `${name} ${to ? "on" : "off"}`));
  return (
    <li data-name={name}>
      <label class="policy-setting">
        <span>
          <b>
            <ByWord name={name} />
          </b>
          <small class="dim">{` ${point}: ${words}`}</small>
        </span>
        {always ? null : (
          <Switch
            control={`descheduler-${at}/${name}`}
            label={`Enable ${name}`}
            on={on}
            off={!form.editable}
            act={toggle}
          />
        )}
      </label>
      {on ? <Written form={form} given={given} at={at} row={row} /> : null}
      <p class="wrong fine" role="alert">
        {wrong}
      </p>
    </li>
  );
}

/** The arguments that are written, and a button for all of them. */
function Written({ form, given, at, row }: PluginProps) {
  const key = `${at}/${row.name}`;
  const args = given.arguments[row.name] ?? {};
  const change = async (value: string) =>
    relative(await form.attempt("strategy", key, value || "{}", `the arguments of ${row.name}`));
  return (
    <div class="descheduler-arguments">
      <dl>
        {row.arguments
          .filter((one) => isWritten(one, args))
          .map((one) => (
            <>
              <dt>{one.path}</dt>
              <dd>{shown(one, valueAt(args, one.path)) || "none"}</dd>
            </>
          ))}
      </dl>
      {form.editable ? (
        <Button
          look="link fine"
          data-control={`descheduler-args-${key}`}
          aria-label={`Arguments of ${row.name}`}
          act={() => argumentsForm(row, args, change)}
        >
          Arguments…
        </Button>
      ) : null}
    </div>
  );
}

/** A refusal with paths within the arguments. */
const relative = (refusal: Refusal | null) =>
  refusal && {
    ...refusal,
    errors: refusal.errors.map((one) => ({ ...one, path: one.path.replace(/^.*?\.args\.?/, "") })),
  };
