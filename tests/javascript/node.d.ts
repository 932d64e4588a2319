// What the tests use of Node, whose own types are no dependency of podstep.

declare module "node:assert/strict" {
  const assert: {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(value: unknown, message?: string): asserts value;
  };
  export default assert;
}

declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
}

declare module "node:test" {
  export function describe(name: string, tests: () => void): void;
  export function it(name: string, test: () => void | Promise<void>): void;
}

declare const process: { env: Record<string, string | undefined> };
