// What an editor of text is made with.

/** `context` and `beside` are of the editor that completes; see code.ts. */
export type EditorOptions = {
  label: string;
  placeholder?: string;
  readOnly?: boolean;
  describedBy?: string;
  onInput?: () => void;
  context?: string;
  beside?: () => string | undefined | Promise<string>;
};
