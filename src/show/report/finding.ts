import { printable } from "#kit/text/terminal.ts";
import type { Cause } from "./explain-money.ts";
import { toolTitle } from "./titles.ts";

/** A notable fact about a session. */
export interface Finding {
  /** 0 to 1: how much of the session it concerns. */
  readonly weight: number;
  readonly text: string;
}

/** A part of the session that is smaller than this is no finding. */
export const MIN_SHARE = 0.1;

/** Words for the turn in which something happened. @param turn from 1; 0 if it is unknown, which gives no words */
export const inTurn = (turn: number): string => (turn > 0 ? ` in turn ${turn}` : "");

/** What preceded a model call, as text. */
export function describeCause(cause: Cause): string {
  switch (cause.kind) {
    case "prompt":
      return "the prompt";
    case "tool":
      return printable(toolTitle(cause.name, cause.mcpServer));
    case "several":
      return "several tools";
    default:
      return "an unknown step";
  }
}
