import type { TranscriptEntry } from "#core/model/transcript.ts";
import { encodeFacts } from "#core/packed/facts.ts";
import type { Database } from "./database.ts";
import { packedFacts } from "./packed.ts";
import { numbers } from "./rows.ts";

/** Packed sessions with calls that report their tokens and have no price, or only a part of it. */
export const packedWithoutPrice = (db: Database): readonly number[] =>
  numbers(db, "SELECT DISTINCT session FROM packed_usage WHERE unpriced > without_usage");

/** How a packed session loses its names. */
interface PackedChanges {
  readonly entry: (entry: TranscriptEntry) => TranscriptEntry;
  readonly tool: (
    name: string,
    mcpServer: string | undefined,
  ) => { readonly name: string; readonly mcpServer: string | undefined };
}

/**
 * Changes the facts of a packed session and the names in its sums. Old versions are overwritten on disk. Call it inside a
 * transaction.
 *
 * @returns whether any changed; false for any other session
 */
export function rewritePacked(db: Database, session: number, changes: PackedChanges): boolean {
  const facts = packedFacts(db, session);
  if (facts === undefined) return false;
  db.prepare("PRAGMA secure_delete = ON").get();
  const [before, after] = [encodeFacts(facts), encodeFacts(facts.map(changes.entry))];
  if (after !== before) db.prepare("UPDATE packed SET body = ? WHERE session = ?").run(after, session);
  const hasTools = rewriteTools(db, session, changes);
  return after !== before || hasTools;
}

/** Folders of the packed sessions that keep names. */
export const packedFolders = (db: Database): readonly { readonly cwd: string }[] =>
  db
    .prepare(
      `SELECT DISTINCT cwd FROM sessions WHERE cwd IS NOT NULL AND capture IS NOT 'none'
         AND id IN (SELECT session FROM packed)`,
    )
    .all()
    .map((row) => ({ cwd: String(row["cwd"]) }));

// --- internal ---

function rewriteTools(db: Database, session: number, { tool }: PackedChanges): boolean {
  const update = db.prepare("UPDATE packed_tools SET name = ?, mcp_server = ?, skill = NULL WHERE rowid = ?");
  let hasChanged = false;
  for (const row of db
    .prepare("SELECT rowid AS id, name, mcp_server, skill FROM packed_tools WHERE session = ?")
    .all(session)) {
    const [name, server] = [String(row["name"]), row["mcp_server"] === null ? undefined : String(row["mcp_server"])];
    const changed = tool(name, server);
    if (changed.name === name && changed.mcpServer === server && row["skill"] === null) continue;
    update.run(changed.name, changed.mcpServer ?? null, Number(row["id"]));
    hasChanged = true;
  }
  return hasChanged;
}
