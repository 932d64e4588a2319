import { useLayoutEffect, useRef } from "preact/hooks";

/** The place of an element that a module draws by itself, as a canvas; null for none. */
export function Hosted({ element, class: name = "hosted" }: { element: HTMLElement | null; class?: string }) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => host.current?.replaceChildren(...(element ? [element] : [])), [element]);
  return <div ref={host} class={name} />;
}
