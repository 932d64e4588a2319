// A KubeSchedulerConfiguration: its profiles, and at each extension point the plugins that run, in order, on and off,
// with weights and arguments.

import { useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import type { CataloguePlugin, Framework, FrameworkProfile } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { PLUGIN_ARGUMENTS } from "./arguments.ts";
import { Folded, Part, Switch } from "./controls.tsx";
import type { PolicyForm } from "./form.ts";
import { pluginForm } from "./forms.tsx";
import { MovableList, MovableRow, moved } from "./order.tsx";
import { ProfileBar } from "./profile_bar.tsx";
import { Weight } from "./weight.tsx";

const OPEN = ["filter", "score"]; // points that are open at first
const REORDER = new Set(["filter", "score", "preFilter", "preScore"]);

/** What the parts of a profile are drawn from. */
type Shown = { form: PolicyForm; at: number; profile: FrameworkProfile; known: CataloguePlugin[]; open: Set<string> };

export function Profiles({ form, framework }: { form: PolicyForm; framework: Framework }) {
  const { profiles, version, points } = framework;
  const [chosen, select] = useState(0);
  const open = useRef(new Set(OPEN)).current;
  const at = Math.min(chosen, profiles.length - 1);
  const profile = profiles[at];
  if (!profile) return null;
  const known = form.catalogue.plugins.filter(({ versions }) => versions.includes(version));
  const shown = { form, at, profile, known, open };
  return (
    <Part id="profiles" class="profiles" title="Profiles" hint={`${version}, ${plural(profiles.length, "profile")}`}>
      <ProfileBar profiles={profiles} at={at} editable={form.editable} change={form.change} select={select} />
      {points.includes("multiPoint") ? <Everywhere {...shown} /> : null}
      {points
        .filter((point) => point !== "multiPoint")
        .map((point) => (
          <Point key={point} {...shown} point={point} />
        ))}
    </Part>
  );
}

type HeadedProps = { open: Set<string>; point: string; hint: string; children: preact.ComponentChildren };

const Headed = ({ open, point, hint, children }: HeadedProps) => {
  const summary = (
    <>
      <b>{point}</b>
      <span class="dim">{` ${hint}`}</span>
    </>
  );
  return (
    <Folded class="point" open={open} name={point} control={`point:${point}`} summary={summary}>
      {children}
    </Folded>
  );
};

/** multiPoint: a plugin wherever it works. */
const Everywhere = ({ form, at, profile, known, open }: Shown) => (
  <Headed open={open} point="multiPoint" hint="wherever a plugin works">
    <ul class="policy-rows">
      {known.map(({ name, points }) => {
        const on = points.filter((point) => profile.points[point]?.some(([one]) => one === name));
        const act = (value: boolean) => {
          const to = value ? "on" : "off";
          form.change("plugin", `${at}/multiPoint/${name}`, to, `${name} ${to} at all its points`);
        };
        return (
          <li key={name} class={on.length ? "" : "off"}>
            <div class="what">
              <span class="name">{name}</span>
              <small class="dim">
                {on.length && on.length < points.length ? `only at ${on.join(", ")}` : points.join(", ")}
              </small>
            </div>
            <Switch control={`0:multiPoint:${name}`} label={name} on={on.length > 0} off={!form.editable} act={act} />
          </li>
        );
      })}
    </ul>
  </Headed>
);

function Point({ point, ...shown }: Shown & { point: string }) {
  const { form, at, profile, known, open } = shown;
  const running = profile.points[point] ?? [];
  const names = running.map(([name]) => name);
  const off = known.filter(({ name, points }) => points.includes(point) && !names.includes(name));
  const orders = form.editable && REORDER.has(point) && running.length > 1;
  const written = profile.written[point];
  const listed = written?.disabled.includes("*")
    ? "all plugins of this point"
    : (["enabled", "disabled"] as const)
        .filter((which) => written?.[which].length)
        .map((which) => `${which}: ${written?.[which].join(", ")}`)
        .join("; ");
  const toggle = (name: string, on: boolean) => {
    const act = (value: boolean) => {
      const to = value ? "on" : "off";
      form.change("plugin", `${at}/${point}/${name}`, to, `${name} ${to} at ${point}`);
    };
    return <Switch control={`${point}:${name}`} label={`${name} at ${point}`} on={on} off={!form.editable} act={act} />;
  };
  const move = (from: number, to: number) => {
    const words = `${names[from]} at place ${to + 1} of ${point}`;
    form.change("plugins", `${at}/${point}`, JSON.stringify(moved(names, from, to)), words);
  };
  return (
    <Headed open={open} point={point} hint={running.length ? plural(running.length, "plugin") : "nothing runs"}>
      {listed ? <p class="dim fine">{`Written here: ${listed}.`}</p> : null}
      {point === "filter" ? (
        <p class="dim fine">They run in this order, and evaluation stops at a node’s first failure.</p>
      ) : null}
      {running.length ? (
        <MovableList move={move}>
          {running.map(([name, weight], i) => {
            const what = <What {...shown} point={point} name={name} weight={weight} />;
            return orders ? (
              <MovableRow key={name} name={name} at={i} size={running.length} after={toggle(name, true)}>
                {what}
              </MovableRow>
            ) : (
              <li key={name} data-name={name}>
                <span class="place num">{i + 1}</span>
                {what}
                {toggle(name, true)}
              </li>
            );
          })}
        </MovableList>
      ) : null}
      {off.length ? (
        <ul class="policy-rows">
          {off.map(({ name }) => (
            <li key={name} class="off">
              <div class="what">
                <span class="name">{name}</span>
              </div>
              {toggle(name, false)}
            </li>
          ))}
        </ul>
      ) : null}
    </Headed>
  );
}

type WhatProps = Shown & { point: string; name: string; weight: number };

function What({ form, at, profile, known, point, name, weight }: WhatProps) {
  const plugin = known.find((one) => one.name === name);
  const evaluates = point === "filter" || point === "score";
  const rule = point === "filter" ? plugin?.predicates.join(", ") : point === "score" ? plugin?.priority : "";
  const written = profile.arguments[name];
  const ask = () =>
    pluginForm(name, written, (value) => form.attempt("arguments", `${at}/${name}`, value, `arguments of ${name}`));
  return (
    <div class="what">
      <span class="name" title={plugin?.differs.join("; ")}>
        {name}
      </span>
      <small class="dim">{rule || (evaluates ? "nothing is evaluated" : "")}</small>
      {name in PLUGIN_ARGUMENTS && form.editable && (evaluates || plugin?.points[0] === point) ? (
        <Button
          look="link fine"
          data-control={`arguments:${point}:${name}`}
          aria-label={`Arguments of ${name}`}
          act={ask}
        >
          {written ? "arguments (given)" : "arguments"}
        </Button>
      ) : written ? (
        <small class="dim">with arguments</small>
      ) : null}
      {point === "score" ? (
        <Weight
          control={`weight:${name}`}
          name={name}
          weight={weight}
          editable={form.editable}
          act={(to) => form.change("weight", `${at}/${name}`, to, `${name} ${to === "0" ? "off" : `weight ${to}`}`)}
        />
      ) : null}
    </div>
  );
}
