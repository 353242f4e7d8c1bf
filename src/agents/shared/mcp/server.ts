import type { InstallTarget } from "#core/model/installer.ts";
import type { McpCommand, McpRegistration } from "#core/model/mcp-registration.ts";
import { type Editor, type Entry, JSON_EDITOR, withEntries, withoutEntries } from "../native/edits.ts";
import type { Json } from "../settings/jsonc.ts";

/** The name under which agents know our server. */
export const SERVER_NAME = "openhook-otel";

type PathOf = (target: InstallTarget) => string | Promise<string>;

/** Agents with an object of servers in a JSON file. @param entryOf a server as this agent writes it */
export const jsonServer = (pathOf: PathOf, member = "mcpServers", entryOf: (command: McpCommand) => Json = plain) =>
  serverIn(JSON_EDITOR, pathOf, (command) => [[[member, SERVER_NAME], entryOf(command)]]);

/** @param entriesOf the same paths for every command */
export const serverIn = (
  editor: Editor,
  pathOf: PathOf,
  entriesOf: (command: McpCommand) => readonly Entry[],
): McpRegistration => ({
  path: async (target) => pathOf(target),
  add: (text, command) => withEntries(editor, text, entriesOf(command)),
  remove(text, original) {
    // As it is now: where the program is may have changed
    const found = entriesOf({ command: "", args: [] }).flatMap(([path]): readonly Entry[] => {
      const value = editor.get(text, path);
      return value === undefined ? [] : [[path, value]];
    });
    const isOurs = found.some(([, value]) => JSON.stringify(value).includes(SERVER_NAME));
    return isOurs ? withoutEntries(editor, text, original, found) : text;
  },
});

// --- internal ---

function plain({ command, args }: McpCommand): Json {
  return { command, args: [...args] };
}
