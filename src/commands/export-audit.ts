import type { Context } from "#config/context.ts";
import { entriesOf } from "#core/audit/entry.ts";
import { auditLines } from "#core/audit/formats.ts";
import type { AuditFormat } from "#core/audit/record.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { timeOf } from "#kit/text/times.ts";
import { VERSION } from "#kit/version.ts";
import { auditChain, auditLinks } from "#store/audit.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { saveExport } from "./export-trace.ts";
import { noStoreMessage } from "./no-store-message.ts";

export interface ExportAuditOptions {
  readonly format: AuditFormat;
  /** Only records of this time and later. */
  readonly since?: string;
  /** Path of the file. @default standard output */
  readonly output?: string;
  readonly force: boolean;
}

/**
 * `openhook-otel export audit`: the audit trail, one record per line; of `otlp`, one request per line.
 *
 * @returns exit code: 0
 * @throws UserError if there is nothing to write
 */
export async function exportAudit(options: ExportAuditOptions, context: Context): Promise<number> {
  const stored = withOpenStore(context, (db) => ({ links: auditLinks(db), chain: auditChain(db) ?? "" }));
  if (stored === undefined) throw new UserError("E_EMPTY", await noStoreMessage(context), 1);
  const sinceMs = options.since === undefined ? undefined : timeOf("--since", options.since, context.now());
  const all = entriesOf(stored.links, stored.chain);
  const entries = sinceMs === undefined ? all : all.filter(({ record }) => Date.parse(record.time) >= sinceMs);
  if (entries.length === 0)
    throw new UserError("E_EMPTY", `no records; ${suggest("config set audit.enabled true")} keeps an audit trail`, 1);
  const text = [...auditLines(entries, options.format, VERSION)].map((line) => `${line}\n`).join("");
  if (options.output === undefined || options.output === "-") context.stdout.write(text);
  else await saveExport(text, options.output, plural(entries.length, "record"), options.force, context);
  return 0;
}
