// A form in a dialog, which says what is wrong beside its buttons.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { Icon } from "../../kit/icon.tsx";

type Asked = {
  title: string;
  /** What the button says. */
  label: string;
  content: ComponentChildren;
  /** Puts it in force; what is wrong, or "". */
  run: (form: HTMLFormElement) => Promise<string>;
  /** What else can be done. */
  more?: [label: string, act: () => Promise<unknown>] | undefined;
};

export function ask(asked: Asked) {
  const box = openDialog(asked.title, (close) => <Form {...asked} close={close} />);
  box.classList.add("argument-dialog");
  box.querySelector<HTMLElement>("form :is(input:not([type=checkbox]), select, textarea)")?.focus();
}

function Form({ label, content, run, more, close }: Asked & { close: () => void }) {
  const [problem, setProblem] = useState("");
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setProblem("");
    const wrong = await run(event.currentTarget as HTMLFormElement);
    if (wrong) setProblem(wrong);
    else close();
  };
  return (
    <form class="argument-form" onSubmit={submit}>
      {content}
      <p class="stale-text" role="alert">
        {problem}
      </p>
      <div class="edit-bar">
        <button class="btn primary">
          <Icon name="check" />
          {label}
        </button>
        <Button look="quiet" act={close}>
          Cancel
        </Button>
        <span class="grow" />
        {more ? (
          <Button look="danger" act={() => more[1]().then(close)}>
            {more[0]}
          </Button>
        ) : null}
      </div>
    </form>
  );
}
