import type { Agent } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asArray, asObject, asString, type Fields } from "./json.ts";
import { writeOfContent, writesOfPatch } from "./patches.ts";

/**
 * What a tool does with the file that its arguments name. `create`: writes a new one; `whole`: writes all of it, whether it was there
 * is unknown; `part`: changes it; `write`: changes or creates it; `delete`; `patch`: has a patch of `apply_patch`.
 */
export type EditKind = "create" | "whole" | "part" | "write" | "delete" | "patch";

/** Tools that change files, by the agent's names. */
export type Editors = Readonly<Record<string, EditKind>>;

/** Files that a call changes, by its arguments. @returns `undefined` for other tools, and without a file's name */
export function writesOfCall(
  tools: Editors,
  name: string | undefined,
  given: unknown,
): readonly FileWrite[] | undefined {
  const input = asObject(given);
  if (name === undefined || input === undefined || !Object.hasOwn(tools, name)) return undefined;
  const writes = writesOf(tools[name], input);
  return writes.length === 0 ? undefined : writes;
}

/** Reads the same in the payload of a call's end. */
export const writesOfTools =
  (tools: Editors): NonNullable<Agent["toFileWrites"]> =>
  (payload, { events: [event] }) => {
    if (event?.type !== "tool.end") return [];
    const p = asObject(payload);
    const input = [p?.["tool_input"], p?.["toolInput"], p?.["tool_info"]]
      .map(asObject)
      .find((one) => one !== undefined);
    return writesOfCall(tools, event.data?.tool_name, input) ?? [];
  };

// --- internal ---

const PATHS = ["path", "file_path", "filePath", "target_file", "notebook_path"] as const;
const TEXTS = ["content", "contents", "file_text"] as const;

function writesOf(kind: EditKind | undefined, input: Fields): readonly FileWrite[] {
  if (kind === "patch") return writesOfPatch(first(input, ["input", "patch"]) ?? "");
  // Some tools name several files
  const several = asArray(input["files"] ?? input["replacements"]).flatMap((one) =>
    typeof one === "string" ? one : (first(asObject(one) ?? {}, PATHS) ?? []),
  );
  const single = first(input, PATHS);
  const paths = [...new Set(single === undefined ? several : [single])];
  return paths.flatMap((path): readonly FileWrite[] => {
    switch (kind) {
      case "create":
        return [writeOfContent({ path, operation: "create" }, first(input, TEXTS) ?? "", true)];
      case "whole":
        return [writeOfContent({ path }, first(input, TEXTS) ?? "", false)];
      case "part":
        return [{ path, operation: "update" }];
      case "delete":
        return [{ path, operation: "delete" }];
      default:
        return [{ path }];
    }
  });
}

const first = (fields: Fields, names: readonly string[]): string | undefined =>
  names.map((name) => asString(fields[name])).find((one) => one !== undefined && one !== "");
