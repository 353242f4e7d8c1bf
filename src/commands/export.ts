import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Context } from "#config/context.ts";
import { writeFileAtomic } from "#config/files.ts";
import type { CaptureLevel } from "#core/model/capture.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printable } from "#kit/text/terminal.ts";
import { exportPage } from "#show/view/export.ts";
import { readPageFiles } from "#show/view/page-files.ts";
import type { Database } from "#store/database.ts";
import { chosenSession } from "#store/sessions/find-session.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { withSessionNamed } from "./named-change.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";

interface ExportOptions extends RefreshOption {
  /** Path of the file; `-`: standard output. @default the argument, or the session's id, with `.html` */
  readonly output?: string;
  /** How much the file contains, at most what is stored. */
  readonly capture: CaptureLevel;
  /** Replace an existing file. */
  readonly force: boolean;
  /** Holds `dist`. */
  readonly packageRoot: string;
}

/**
 * `openhook-otel export`: one session as a page in a single file, to show it to others.
 *
 * @param session id, the beginning of one, or `<source>/<id>`, each also with the ending `.html`. @default the latest active session
 * @returns exit code: 0
 * @throws UserError when there is no such session, or the file exists
 */
export async function exportSession(
  session: string | undefined,
  options: ExportOptions,
  context: Context,
): Promise<number> {
  const { output, capture, force, packageRoot } = options;
  const { behind, agents, loaded } = await refreshed(options, context);
  const protection = await protectionOf(loaded.config.redaction, context.places.home);
  const files = readPageFiles(join(packageRoot, "dist", "view"));
  const file = session?.endsWith(".html") === true ? session : undefined;
  // `<source>/<id>.html` is a session, any other path a file that is named after one
  const isPath = file !== undefined && !agents.some(({ source }) => file === `${source}/${basename(file)}`);
  const name = isPath ? basename(file, ".html") : session?.replace(/\.html$/, "");
  const make = (db: Database) => {
    const stored = chosenSession(db, name);
    if (stored === undefined) return undefined;
    const idle = { nowMs: context.now(), idleTimeoutMs: loaded.config.session.idleTimeoutMs };
    const deps = { agents, files, level: capture, protection, idle, settings: spanSettings({ loaded }) };
    return { name: stored.sessionId.slice(0, NAME_LENGTH), page: exportPage(db, stored, deps) };
  };
  const made = await withSessionNamed(name, context, () => withOpenStore(context, make)).catch((error: unknown) => {
    // Not the newest one instead: a wrong id would show others a session that was not meant
    if (!isPath || !(error instanceof UserError) || error.code !== "E_SESSION") throw error;
    const newest = `to write that one: ${suggest("export --output FILE")}`;
    throw new UserError(error.code, `${error.message}; ${newest}`, error.exitCode);
  });
  if (made === undefined) throw new UserError("E_EMPTY", await noStoreMessage(context, behind), 1);
  if (output === "-") {
    context.stdout.write(made.page);
    return 0;
  }
  const path = resolve(context.cwd, output ?? (isPath ? file : `${safeName(made.name)}.html`));
  if (!force && existsSync(path)) {
    throw new UserError("E_EXISTS", `${JSON.stringify(path)} exists: use --force to replace it, or --output`, 1);
  }
  await writeFileAtomic(path, made.page);
  const size = Math.ceil(Buffer.byteLength(made.page) / 1024);
  context.stdout.write(
    `Wrote ${printable(path)} (${size} KB, capture level ${capture}). It needs no server and no network.\n`,
  );
  return 0;
}

// --- internal ---

const NAME_LENGTH = 8;

/** Ids come from agents and may contain anything. */
const safeName = (id: string): string => id.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "_") || "session";
