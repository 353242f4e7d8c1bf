import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type EditKind, writesOfCall } from "../shared/payload/tool-writes.ts";

/** Files that the editor changed. */
export function toFileWrites(payload: unknown, { events: [event] }: PayloadFacts): readonly FileWrite[] {
  const p = asObject(payload);
  const response = asObject(p?.["tool_response"]);
  if (event?.type !== "tool.end" || response?.["is_error"] === true) return [];
  return writesOfEditor(event.data?.tool_name, p?.["tool_input"], response) ?? [];
}

/**
 * The same from a call in an event file.
 *
 * @param observed the observation, which says whether a written file was there before
 */
export function writesOfEditor(
  name: string | undefined,
  given: unknown,
  observed?: Readonly<Record<string, unknown>>,
): readonly FileWrite[] | undefined {
  const kind = COMMANDS.get(asString(asObject(given)?.["command"]) ?? "");
  if (name === undefined || kind === undefined || !EDITORS.has(name)) return undefined;
  const isNew = kind === "whole" && name === "file_editor" && observed?.["prev_exist"] === false;
  return writesOfCall({ [name]: isNew ? "create" : kind }, name, given);
}

/** What an observation alone says of the editor's call; `undefined` if it does not name the file, or has not the written text. */
export function writesObserved(name: unknown, value: unknown): readonly FileWrite[] | undefined {
  const observed = asObject(value);
  const text = asString(observed?.["new_content"]);
  if (observed?.["is_error"] === true || observed?.["command"] !== "create" || text === undefined) return undefined;
  return writesOfEditor(asString(name), { ...observed, file_text: text }, observed);
}

// --- internal ---

const EDITORS: ReadonlySet<string> = new Set(["file_editor", "planning_file_editor"]);

const COMMANDS: ReadonlyMap<string, EditKind> = new Map([
  ["create", "whole"],
  ["str_replace", "part"],
  ["insert", "part"],
  ["undo_edit", "part"],
]);
