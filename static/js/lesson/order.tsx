import { useEffect, useRef } from "preact/hooks";
import { announce } from "../lib/dom.ts";
import { give, given, passed, type Option } from "./asked.ts";
import { Icon } from "./icon.tsx";
import { Inline } from "../kit/prose.tsx";
import { gettext } from "./words.ts";

/** A list to put in order: by its buttons, or by the arrow keys on a row. */
export const Order = ({ options }: { options: Option[] }) => {
  const list = useRef<HTMLOListElement>(null);
  const follow = useRef("");
  const keys = Array.isArray(given.value) ? given.value : options.map(({ key }) => key);
  useEffect(() => {
    if (given.value === null) give(options.map(({ key }) => key));
  }, [options]);
  useEffect(() => {
    const moved = list.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(follow.current)}"]`);
    if (follow.current) moved?.focus();
    follow.current = "";
  });
  const move = (from: number, by: number) => {
    const to = from + by;
    if (passed.value || to < 0 || to >= keys.length) return;
    const next = [...keys];
    const [taken] = next.splice(from, 1);
    next.splice(to, 0, taken);
    follow.current = taken;
    give(next);
    announce(gettext("{name} is number {place} of {all}.", { name: taken, place: to + 1, all: keys.length }));
  };
  return (
    <ol class="order-list" ref={list} aria-labelledby="task-title">
      {keys.map((key, place) => (
        <li
          key={key}
          data-key={key}
          tabIndex={0}
          aria-keyshortcuts="ArrowUp ArrowDown"
          onKeyDown={(event) => {
            const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (!by || event.target !== event.currentTarget) return;
            event.preventDefault();
            move(place, by);
          }}
        >
          <span class="num">{place + 1}</span>
          <span class="order-label">
            <Inline text={options.find((one) => one.key === key)?.label ?? key} />
          </span>
          <button
            type="button"
            class="btn quiet square"
            aria-label={gettext("{name} earlier", { name: key })}
            disabled={!place || passed.value}
            onClick={() => move(place, -1)}
          >
            <span class="turn-up">
              <Icon name="left" />
            </span>
          </button>
          <button
            type="button"
            class="btn quiet square"
            aria-label={gettext("{name} later", { name: key })}
            disabled={place === keys.length - 1 || passed.value}
            onClick={() => move(place, 1)}
          >
            <span class="turn-up">
              <Icon name="right" />
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
};
