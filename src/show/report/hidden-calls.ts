import type { SessionView } from "./session-view.ts";

/** Calls that are no part of the conversation: compaction, memory and other work of the agent. The totals include them. */
export const hiddenCalls = ({ calls }: SessionView): SessionView["calls"] =>
  calls.filter(({ call }) => call.purpose !== undefined);
