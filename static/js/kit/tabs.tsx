import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { tabs } from "../workbench/tabs.js";

type TabsProps = {
  label: string;
  /** The panel's, and the beginning of the tabs'. */
  id: string;
  class?: string;
  options: [key: string, text: string][];
  value: string;
  onChange: (key: string) => void;
  children?: ComponentChildren;
};

/** A strip of tabs, and the panel of the one that is open. */
export function Tabs({ label, id, class: className, options, value, onChange, children }: TabsProps) {
  const strip = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const made = useRef<ReturnType<typeof tabs>>(null);
  useLayoutEffect(() => {
    made.current ??= tabs(strip.current, options, panel.current, onChange);
    made.current.select(value);
  }, [value]);
  return (
    <>
      <div ref={strip} class="tabs" role="tablist" aria-label={label} />
      <div ref={panel} class={className} id={id}>
        {children}
      </div>
    </>
  );
}
