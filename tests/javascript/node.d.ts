// What is Node's is of any type: its declarations are no dependency of podstep. The browser's modules are checked.

declare module "node:*";
declare const process: { env: Record<string, string | undefined> };
declare const Buffer: any;
type Buffer = any;
