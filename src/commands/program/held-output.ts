import type { Output } from "#kit/safe-output.ts";

/** An output that can keep what is written until the command has finished. */
export interface HeldOutput extends Output {
  /** From now on, text is kept instead of written. */
  hold(): void;
  /** Later text is written again. @returns the text that was kept; `undefined` without `hold` before */
  take(): string | undefined;
}

/** Adds `hold` and `take` to an output. What they keep is discarded unless the caller writes it. */
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
