// What an operator's verb is about.

/**
 * What a verb is about: the kind of its targets, the targets as the server reads them, and what they are called.
 * `domain`: all nodes of a label, or several; `cordoned` and `failed` of a node are null where it is not one node.
 */
export type About = {
  kind: string;
  targets: string[];
  label: string;
  domain?: boolean;
  cordoned?: boolean | null;
  failed?: boolean | null;
};
