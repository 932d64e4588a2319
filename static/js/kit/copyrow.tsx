import { useState } from "preact/hooks";
import { copy } from "../lib/dom.ts";
import { Button } from "./button.tsx";
import { focused } from "./focus.ts";

type CopyRowProps = { label: string; text: string; look?: string; focus?: boolean };

/** A text with a button that copies it. */
export function CopyRow({ label, text, look = "primary", focus = false }: CopyRowProps) {
  const [done, setDone] = useState<boolean | null>(null);
  return (
    <div class="copy-row">
      <input
        ref={focus ? focused : undefined}
        class="field"
        readOnly
        value={text}
        aria-label={label}
        onFocus={(event) => event.currentTarget.select()}
      />
      {/* No label: it would hide "Copied" from a screen reader. */}
      <Button
        look={look}
        title={`Copy: ${label}`}
        icon={done === null ? "copy" : done ? "check" : "warn"}
        act={async () => setDone(await copy(text))}
      >
        {done === null ? "Copy" : "Copied"}
      </Button>
    </div>
  );
}
