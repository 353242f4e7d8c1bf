// OpenHook v0.1 §4 (discovery), read 2026-11-21
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { OPENHOOK_VERSION } from "#core/model/envelope-types.ts";
import type { Registration } from "#core/model/installer.ts";
import { asArray, asString } from "../shared/payload/json.ts";
import {
  type EntryFile,
  entriesOfOurs,
  type OwnEntries,
  putEntries,
  removeEntries,
} from "../shared/settings/entries.ts";
import { nodeAt, parseDocument, plainOf } from "../shared/settings/jsonc.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { isOurCommand } from "../shared/settings/settings.ts";

/** The discovery file in a project's root, the only location in the specification. */
export default oneFile({
  scopes: ["project"],
  path: (_scope, { project }) => join(project, FILE),
  add: (text, registration) => putEntries(text, entries(registration), DISCOVERY_FILE),
  remove: (text) => removeEntries(text, DISCOVERY_FILE),
  registered: (text) =>
    entriesOfOurs(text, DISCOVERY_FILE).flatMap((entry) => {
      const events = asArray(entry["events"]).flatMap((event) => asString(event) ?? []);
      return events.length > 0 ? events : ["*"];
    }),
  async check(files) {
    const text = files[0]?.text;
    const version = text === undefined ? undefined : versionIn(text);
    if (text === undefined || version === OPENHOOK_VERSION) return [];
    const found = version === undefined ? "no OpenHook version" : `OpenHook ${version}`;
    return [{ level: "remark", text: `${FILE} has ${found}; senders may ignore it, we use ${OPENHOOK_VERSION}` }];
  },
  // There is no program to detect, only the project's file
  detect: async ({ project }) => ({
    present: await stat(join(project, FILE)).then(
      (found) => found.isFile(),
      () => false,
    ),
  }),
});

// --- internal ---

const FILE = ".openhook.json";

const DISCOVERY_FILE: EntryFile = {
  emptyDocument: { openhook: OPENHOOK_VERSION },
  lists: () => [["hooks"]],
  isOurs: (entry) => isOurCommand(asString(entry["command"]) ?? ""),
  removesEmpty: false,
  hooksOnly: true,
};

/** All events. The second entry only starts the drain; duplicate envelopes are deduplicated by their id. */
const entries = ({ command }: Registration): readonly OwnEntries[] => [
  {
    path: ["hooks"],
    entries: [
      { command: command({ source: "openhook", drain: "no" }), events: ["*"], async: true },
      { command: command({ source: "openhook", drain: "yes" }), events: ["session.end"], async: true },
    ],
  },
];

function versionIn(text: string): string | undefined {
  try {
    const node = nodeAt(parseDocument(text.replace(/^\uFEFF/, "")), ["openhook"]);
    return node === undefined ? undefined : asString(plainOf(node));
  } catch {
    return undefined;
  }
}
