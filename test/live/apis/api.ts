import type { ServerResponse } from "node:http";
import type { Reply, ToolUse, Usage } from "../script.ts";

/** A model provider's wire format. */
export interface Api {
  /** The path of a request to the model. */
  readonly path: RegExp;
  /** Responses to other requests of the API, by the end of their path. */
  readonly asides?: Readonly<Record<string, unknown>>;
  /** Prefix of tool call ids. Absent: the API has none, the agent creates its own. */
  readonly callIdPrefix?: string;
  /** Which parts of its sums have a separate figure. */
  readonly reports: { readonly cacheWrites?: true; readonly reasoning?: true; readonly cacheMisses?: true };
  read(body: Json, path: string): ModelRequest;
  send(response: ServerResponse, answer: Answer): void;
  failure(status: number): { readonly body: Json; readonly headers?: Readonly<Record<string, string>> };
}

export type Json = Readonly<Record<string, unknown>>;

/** What requests of all formats contain. */
export interface ModelRequest {
  readonly model: string;
  readonly streams: boolean;
  readonly system: string;
  readonly tools: readonly string[];
}

/** A scripted reply with the ids of this answer. */
export interface Answer extends Required<Pick<Reply, "usage">>, Pick<Reply, "reasoning" | "text"> {
  readonly id: string;
  readonly model: string;
  readonly streams: boolean;
  readonly tools: readonly (ToolUse & { readonly id: string })[];
}

/** Sums as most APIs send them: input includes cache reads and writes, output includes reasoning. */
export const sums = ({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage) => ({
  input: input + cacheRead + cacheWrite,
  output: output + reasoning,
  cacheRead,
  cacheWrite,
  reasoning,
});

/** The text of content: a string, or a list of parts. */
export const textOf = (content: unknown): string => [content].flat().map(textOfPart).join("\n");

export function sendJson(response: ServerResponse, value: unknown, status = 200, headers: Json = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers } as Record<string, string>);
  response.end(JSON.stringify(value));
}

/** Opens an event stream. @returns a function that writes one event */
export function eventStream(response: ServerResponse, headers: Json = {}): (data: unknown, event?: string) => void {
  const all = { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers };
  response.writeHead(200, all as Record<string, string>);
  return (data, event) => {
    response.write(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  };
}

// --- internal ---

function textOfPart(part: unknown): string {
  if (typeof part === "string") return part;
  if (typeof part !== "object" || part === null || !("text" in part)) return "";
  return String(part.text);
}
