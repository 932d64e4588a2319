// An object from a form: the YAML that it adds is seen while one types, and so is what is wrong, at its field.

import type { Form, FormDraft } from "../../lib/protocol.js";
import type { Edit } from "../edit/edit.ts";
import type { View } from "../view/view.ts";
import { DocumentPanel } from "./panel.tsx";

const NAMES = 20; // tried until one is free
let forms: Form[] | null = null; // the server's table, asked for once

/** Open the form of a kind. */
export async function openForm(view: View, edit: Edit, kind: string) {
  try {
    forms ??= (await view.playback.socket.call("forms.list", {})).forms;
  } catch (error) {
    view.playback.failed(error);
  }
  const form = forms?.find((row) => row.kind === kind);
  if (form) await new ObjectForm(view, edit, form).open();
}

class ObjectForm extends DocumentPanel<FormDraft> {
  readonly rows;
  readonly #form;

  constructor(view: View, edit: Edit, form: Form) {
    super(view, edit);
    this.#form = form;
    this.rows = form.fields;
    const texts = this.rows.map((row): [string, string] => [row.name, row.default]);
    this.typed.value = { ...Object.fromEntries(texts), name: this.#example };
  }

  get #example() {
    return this.rows.find(({ name }) => name === "name")?.placeholder ?? "";
  }

  async open() {
    await this.openAs(this.#form.title);
    await this.#named();
  }

  /** Begin with a name that is free, to be typed over. */
  async #named() {
    for (let number = 2; number <= NAMES; number += 1) {
      const tried = this.typed.value.name;
      await this.ask();
      const taken = this.answer.value?.errors.some(
        ({ field, message }) => field === "name" && message.includes("exists already"),
      );
      if (this.typed.value.name !== tried || !taken) return;
      const name = `${this.#example}-${number}`;
      this.typed.value = { ...this.typed.value, name };
      const input = this.at("name");
      if (!input) return;
      input.value = name; // at once, to be selected
      input.select();
    }
  }

  request() {
    return this.view.playback.socket.call("form.draft", { ...this.asked, kind: this.#form.kind });
  }

  protected show(answer: FormDraft) {
    this.know({ ...answer.known });
    super.show(answer);
  }
}
