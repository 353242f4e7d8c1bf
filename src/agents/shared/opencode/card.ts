import type { Agent, PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { contentOfEvents } from "../payload/content.ts";
import { asArray, asObject } from "../payload/json.ts";
import { variantAdapter } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import type { Variant } from "./variant.ts";

/** What differs between the cards of variants. */
type Own = Required<Pick<Agent, "docs" | "own" | "transcript" | "installer">> &
  Pick<Agent, "configured" | "mcpServer" | "native" | "nativeExport"> & { readonly versions: string };

/** The card of OpenCode or of a program that is built from its code. */
export function variantCard(variant: Variant, { versions, ...own }: Own) {
  const adapter = variantAdapter(variant);
  return {
    ...own,
    ...adapter,
    title: variant.title,
    emits: ["file.write", ...adapter.emits],
    tokens: "transcript",
    hooksNameAgents: true,
    capabilities: {
      basis: "recorded",
      versions,
      subagents: true,
      sessionIds: "native",
      callIds: "native",
      eventIds: "payload",
    },
    sessionsBelow: [`.local/share/${variant.source}`],
    environment: ["XDG_DATA_HOME", variant.databaseVariable],
    // Seen with OpenCode 1.18.33 and Kilo 7.7.7, which also sets OPENCODE: commands do not get the session's id
    inCommands: { mark: `${variant.source.toUpperCase()}_PID`, inOwnHooks: true },
    unreadFormats: async (query) => (await import("./transcript.ts")).unreadFormats(variant, query),
    // In its desktop app and on the web
    hasTerminals: true,
    toContent,
    toFileWrites,
  } satisfies Agent;
}

// --- internal ---

/** Content of a payload. Our plugin sends none: at levels that store content, it is read from the database. */
function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload);
  const input = asObject(p?.["input"]) ?? {};
  const output = asObject(p?.["output"]) ?? {};
  const part = asObject(asObject(asObject(input["event"])?.["properties"])?.["part"]);
  const state = asObject(part?.["state"]) ?? {};
  const texts = asArray(output["parts"]).flatMap((one) => {
    const { text, synthetic, ignored } = asObject(one) ?? {};
    return typeof text === "string" && synthetic !== true && ignored !== true ? [text] : [];
  });
  const args = asObject(output["args"]) ?? asObject(input["args"]) ?? asObject(state["input"]);
  return contentOfEvents(events, {
    prompt: texts.join("\n"),
    // The only argument that our plugin sends is the tool name of a call that OpenCode could not parse
    arguments: args === undefined || Object.keys(args).length === 0 ? undefined : args,
    result: output["output"] ?? state["error"],
  });
}
