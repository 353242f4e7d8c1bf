import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Database } from "#store/database.ts";
import { settledFileCount, settledToolNames } from "#store/session-list.ts";
import type { SessionSummary } from "./session-summary.ts";

/** What a session is called, from what is stored of it. */
export interface SessionTitle {
  readonly branch?: string;
  /** Files that tools wrote. Absent: none, or unknown. */
  readonly changedFiles?: number;
  /** The tools it used most, most calls first. */
  readonly tools: readonly string[];
  /** First line of the first prompt, read from the agent's own file when it is shown; never stored, never sent. */
  readonly prompt?: string;
}

/** The title of a stored session, without its prompt. */
export function titleOf(db: Database, { stored, facts }: Pick<SessionSummary, "stored" | "facts">): SessionTitle {
  const branch = facts.repository?.branch ?? stored.branch;
  const changedFiles = settledFileCount(db, stored.id);
  return {
    ...(branch !== undefined && { branch }),
    ...(changedFiles > 0 && { changedFiles }),
    // A call whose name is unknown says nothing about the session
    tools: settledToolNames(db, stored.id, MAX_TOOLS).filter((name) => name !== "unknown"),
  };
}

/** The prompt; without one, or behind it, branch, changed files and tools. Empty if nothing is known. */
export function titleText({ prompt, branch, changedFiles, tools }: SessionTitle): string {
  const work = [
    ...(branch === undefined ? [] : [branch]),
    ...(changedFiles === undefined ? [] : [`${plural(changedFiles, "file")} changed`]),
    ...(tools.length === 0 ? [] : [tools.map((tool) => toolTitle(tool)).join(", ")]),
  ];
  return [...(prompt === undefined ? [] : [prompt]), ...work].map(printable).join(" · ");
}

/** For lists that show the branch elsewhere: the prompt, or else what the session did. */
export const shortTitle = ({ prompt, branch: _, ...work }: SessionTitle): string =>
  prompt === undefined ? titleText(work) : printable(prompt);

/**
 * What a tool is called for people: `tracker: find_issue` for an MCP server's tool that its agent calls
 * `mcp__tracker__find_issue`, other names as they are. What follows the name, such as a command, stays.
 *
 * @param server the MCP server, if known: its name may contain `__`
 */
export function toolTitle(name: string, server?: string): string {
  if (server !== undefined) {
    for (const prefix of [`mcp__${server}__`, `${server}__`]) {
      if (name.startsWith(prefix) && name.length > prefix.length) return `${server}: ${name.slice(prefix.length)}`;
    }
  }
  return name.replace(/^mcp__(.+?)__(?=.)/, (_, named: string) => `${server ?? named}: `);
}

// --- internal ---

const MAX_TOOLS = 3;
