import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { defined } from "#kit/objects.ts";
import { asArray, asCount, asObject, asString, type Fields } from "../payload/json.ts";
import { writeOfContent, writesOfDiff } from "../payload/patches.ts";

/**
 * Files that `write`, `edit` and `apply_patch` changed, from the result's metadata. Our plugin sends diffs without the texts of their
 * lines, and of a written file the number of lines.
 */
export function toFileWrites(payload: unknown, { events }: PayloadFacts): readonly FileWrite[] {
  const p = asObject(payload);
  const metadata = asObject(asObject(p?.["output"])?.["metadata"]);
  if (events[0]?.type !== "tool.end" || metadata === undefined) return [];
  return writesOfMetadata(metadata, asObject(asObject(p?.["input"])?.["args"]));
}

/** The same from the metadata and arguments in the database. */
export function writesOfMetadata(metadata: Fields, args: Fields | undefined): readonly FileWrite[] {
  const written = asString(metadata["filepath"]);
  if (written !== undefined && typeof metadata["exists"] === "boolean") {
    return [wholeFile(written, metadata["exists"], args)];
  }
  const files = metadata["files"];
  if (Array.isArray(files)) return asArray(files).flatMap((file) => changesOf(asObject(file) ?? {}));
  const edited = asObject(metadata["filediff"]);
  const path = asString(edited?.["file"]);
  if (edited === undefined || path === undefined) return [];
  const target = { path, operation: "update" as const };
  const diff = asString(metadata["diff"]) ?? asString(edited["diff"]) ?? asString(edited["patch"]);
  return diff === undefined ? [{ ...target, ...countsOf(edited) }] : writesOfDiff(target, diff);
}

// --- internal ---

function wholeFile(path: string, existed: boolean, args: Fields | undefined): FileWrite {
  const target = { path, operation: existed ? "update" : "create" } as const;
  if (typeof args?.["content"] === "string") return writeOfContent(target, args["content"], !existed);
  const lines = asCount(args?.["lines"]);
  if (lines === undefined) return target;
  return {
    ...target,
    ...(lines > 0 && { startLine: 1, endLine: lines }),
    ...(!existed && { added: lines, removed: 0 }),
  };
}

/** One file of `apply_patch`. A moved file is deleted and created. */
function changesOf(file: Fields): readonly FileWrite[] {
  const path = asString(file["filePath"]) ?? asString(file["relativePath"]);
  const moved = asString(file["movePath"]);
  if (path === undefined) return [];
  const diff = asString(file["diff"]) ?? asString(file["patch"]);
  const changed = (target: Pick<FileWrite, "path" | "operation">): readonly FileWrite[] =>
    diff === undefined ? [{ ...target, ...countsOf(file) }] : writesOfDiff(target, diff);
  switch (file["type"]) {
    case "add":
      return changed({ path, operation: "create" });
    case "delete":
      return [{ path, operation: "delete" }];
    case "move":
      return moved === undefined
        ? changed({ path })
        : [{ path, operation: "delete" }, ...changed({ path: moved, operation: "create" })];
    default:
      return changed({ path, operation: "update" });
  }
}

const countsOf = (file: Fields): Pick<FileWrite, "added" | "removed"> =>
  defined({ added: asCount(file["additions"]), removed: asCount(file["deletions"]) });
