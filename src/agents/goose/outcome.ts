import type { ToolStatus } from "../../model/transcript.ts";
import type { PartRow } from "./rows.ts";

/** How a call ended. */
export function outcomeOf({ isFailed, error }: PartRow): { readonly status: ToolStatus } {
  if (!isFailed) return { status: "success" };
  return { status: DENIED.test(error ?? "") ? "denied" : "error" };
}

// --- internal ---

/** By a hook, by the user, or by the mode in which no tool runs. */
const DENIED = /Tool call denied by policy hook\b|The user has declined to run this tool|denied by the user\b/i;
