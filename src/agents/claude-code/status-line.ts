import { compareVersions, parseVersion } from "../shared/payload/version.ts";
import { appendTo, type Json, nodeAt, parseDocument, plainOf, removeAt, replaceAt } from "../shared/settings/jsonc.ts";

// https://code.claude.com/docs/en/statusline: one command per user, in `statusLine` of the settings, read 2026-11-27

/** Whether the status line in a settings text is ours; `undefined`: there is none. The text is valid JSON with comments. */
export function statusLineOwner(text: string): "ours" | "other" | undefined {
  const node = nodeAt(parseDocument(bodyOf(text)), ["statusLine"]);
  if (node === undefined) return undefined;
  const command = nodeAt(node, ["command"]);
  const line = command === undefined ? undefined : plainOf(command);
  return typeof line === "string" && IS_OURS.test(line) ? "ours" : "other";
}

/**
 * Sets our status line, unless the user has another one.
 *
 * @param version of the agent, if it is known
 * @returns the same string if nothing had to change
 */
export function addStatusLine(text: string, command: string, version: string | undefined): string {
  const refreshes = compareVersions(parseVersion(version ?? "") ?? "0", REFRESHES_SINCE) >= 0;
  const value: Json = { type: "command", command, ...(refreshes && { refreshInterval: REFRESH_S }) };
  const owner = statusLineOwner(text);
  if (owner === "other") return text;
  const body = bodyOf(text);
  const bom = text.slice(0, text.length - body.length);
  if (owner === undefined) return bom + appendTo(body, [], "statusLine", value);
  const line = nodeAt(parseDocument(body), ["statusLine", "command"]);
  return line !== undefined && plainOf(line) === command
    ? text
    : bom + replaceAt(body, ["statusLine", "command"], command);
}

/** Removes our status line. @returns the same string if there is none; `undefined` if only an empty object would be left */
export function removeStatusLine(text: string): string | undefined {
  if (bodyOf(text).trim() === "" || statusLineOwner(text) !== "ours") return text;
  const body = bodyOf(text);
  const left = removeAt(body, ["statusLine"]);
  return /^\s*\{\s*\}\s*$/.test(left) ? undefined : text.slice(0, text.length - body.length) + left;
}

// --- internal ---

/** The agent draws the line when a turn ends, before the drain that the turn's end starts: without this, figures are a turn old. */
const REFRESH_S = 10;
const REFRESHES_SINCE = "2.1.97";

/** The program, or our mark if its folder has another name: see `statusLineCommandOf`. */
const IS_OURS = /openhook-otel[/\\]statusline(?![\w./\\-])|#openhook-otel(?:\s*$|& exit 0$)/;

const bodyOf = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text);
