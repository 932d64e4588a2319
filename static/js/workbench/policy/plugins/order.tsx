// The order in which plugins run at each extension point.

import { Button } from "../../../kit/button.tsx";
import { plural } from "../../../lib/quantity.ts";
import { Folded, Part } from "../controls.tsx";
import { MovableList, MovableRow, moved } from "../order.tsx";
import { Wrong, type Panel } from "./wrong.tsx";

export const OrderPart = ({ panel }: { panel: Panel }) => (
  <Part id="order" title="Order" hint="at filter, evaluation of a node stops at its first failure">
    {Object.entries(panel.profile.points)
      .filter(([, names]) => names.length > 1)
      .map(([point, names]) => (
        <OfPoint key={point} panel={panel} point={point} names={names} />
      ))}
  </Part>
);

function OfPoint({ panel, point, names }: { panel: Panel; point: string; names: string[] }) {
  const { form, plugins, at, act } = panel;
  const { editable } = form;
  const usual = plugins.default[point]?.filter((name) => names.includes(name)) ?? [];
  const key = `order:${point}`;
  const put = (order: string[], words: string) => act(key, "plugins", `${at}/${point}`, JSON.stringify(order), words);
  const move = (from: number, to: number) =>
    put(moved(names, from, to), `${names[from]} at place ${to + 1} of ${point}`);
  const summary = (
    <>
      <b>{point}</b>
      <span class="dim">{` ${plural(names.length, "plugin")}`}</span>
    </>
  );
  return (
    <Folded class="point" open={form.open} name={key} summary={summary}>
      <MovableList move={move}>
        {names.map((name, i) => (
          <MovableRow key={name} name={name} at={i} size={names.length} off={!editable}>
            <div class="what">
              <span class="name">{name}</span>
            </div>
          </MovableRow>
        ))}
      </MovableList>
      {editable && usual.length === names.length && usual.join() !== names.join() ? (
        <Button look="small" data-control={`${key}:default`} act={() => put(usual, `the default order of ${point}`)}>
          Default order
        </Button>
      ) : null}
      <Wrong panel={panel} control={key} />
    </Folded>
  );
}
