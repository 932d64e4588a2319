import { toast } from "../lib/dom.ts";
import { Button } from "./button.tsx";
import { nodesOf } from "./node.tsx";

type Offer = [text: string, act: () => unknown, icon?: string];

/** A notice with buttons on it; each takes it away and does what it says. */
export function offering(text: string, offers: Offer[], options: { name?: string; ms?: number } = {}) {
  const note = toast(text, options);
  for (const [label, act, icon] of offers) {
    const press = () => {
      note?.remove();
      return act();
    };
    note?.append(
      ...nodesOf(
        <Button look="small" icon={icon} act={press}>
          {label}
        </Button>,
      ),
    );
  }
  return note;
}
