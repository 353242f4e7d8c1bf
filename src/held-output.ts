import type { Output } from "./safe-output.ts";

/** An output that can keep what is written until the command has finished. */
export interface HeldOutput extends Output {
  /** From now on, nothing is written. */
  hold(): void;
  /** Ends this. @returns what was written meanwhile; `undefined`: it was not held */
  take(): string | undefined;
}

export function holdable(output: Output): HeldOutput {
  let held: string[] | undefined;
  return {
    write: (text) => (held === undefined ? output.write(text) : held.push(text)),
    ...(output.rewrite !== undefined && { rewrite: (text: string) => output.rewrite?.(text) }),
    get isTTY() {
      return output.isTTY;
    },
    get columns() {
      return output.columns;
    },
    hold() {
      held ??= [];
    },
    take() {
      const text = held?.join("");
      held = undefined;
      return text;
    },
  };
}
