import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { keyedDigest } from "#collect/drain/audit.ts";
import { auditKey } from "#collect/drain/open-audit.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { linksIn } from "#core/audit/entry.ts";
import { headIn, isSignedBy, signedHead } from "#core/audit/head.ts";
import type { AuditHead, AuditLink } from "#core/audit/record.ts";
import { type AuditVerdict, verifyChain } from "#core/audit/verify.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { messageOf, UserError } from "#kit/errors.ts";
import { plural } from "#kit/text/figures.ts";
import { auditChain, auditHead, auditLinks } from "#store/audit.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { noStoreMessage } from "./no-store-message.ts";

/** What the arguments of `openhook-otel audit` mean. */
export type AuditCommand =
  | { readonly kind: "head"; readonly sign?: string }
  | {
      readonly kind: "verify";
      readonly head?: string;
      readonly file?: string;
      readonly publicKey?: string;
      readonly json: boolean;
    }
  | { readonly kind: "digest"; readonly text: string };

/**
 * `openhook-otel audit`: where the audit trail ends, whether anybody changed it, and the digest of a text.
 *
 * @returns exit code: 0; of `verify` 1 if something is wrong
 * @throws UserError if there is no trail, or a file cannot be read
 */
export async function audit(command: AuditCommand, context: Context): Promise<number> {
  if (command.kind === "digest") return digest(command.text, context);
  const stored = withOpenStore(context, (db) => ({
    links: auditLinks(db),
    head: auditHead(db),
    chain: auditChain(db),
  }));
  if (command.kind === "verify" && command.file !== undefined) return verifyFile(command, stored?.links ?? [], context);
  if (stored === undefined) throw new UserError("E_EMPTY", await noStoreMessage(context), 1);
  if (command.kind === "head") {
    const head = { ...stored.head, chain: stored.chain ?? null, time: new Date(context.now()).toISOString() };
    const { sign } = command;
    const written = sign === undefined ? head : withKey(sign, context, (key) => signedHead(head, key));
    context.stdout.write(`${JSON.stringify(written)}\n`);
    return 0;
  }
  return report(verifyChain(stored.links, [stored.head, ...headsIn(command, context)]), command, context);
}

// --- internal ---

type Verify = Extract<AuditCommand, { kind: "verify" }>;

/** What was exported or sent must be what is here, as far as it goes. On another machine it is followed by itself. */
function verifyFile(command: Verify, stored: readonly AuditLink[], context: Context): number {
  const links = linksIn(textOf(command.file ?? "-", context));
  const [first, last] = [links[0]?.seq, links.at(-1)?.seq];
  if (first === undefined) throw new UserError("E_EMPTY", "the file has no records of an audit trail", 1);
  const known = stored.filter(({ seq }) => seq === first - 1 || seq === last);
  return report(verifyChain(links, [...known, ...headsIn(command, context)]), command, context);
}

function report(verdict: AuditVerdict, { json }: Verify, { stdout }: Context): number {
  if (json) stdout.write(`${JSON.stringify(verdict)}\n`);
  else if (verdict.ok) {
    const { seq, hash } = verdict.head;
    stdout.write(`${plural(verdict.records, "record")}, the chain is whole up to ${hash}@${seq}\n`);
  } else stdout.write(`record ${verdict.seq}: ${verdict.fault}: ${verdict.reason}\n`);
  return verdict.ok ? 0 : 1;
}

const headsIn = ({ head, publicKey }: Verify, context: Context): readonly AuditHead[] =>
  head === undefined ? [] : [headOf(head, publicKey, context)];

/** The text is redacted as in the trail, so that equal texts have equal digests. */
async function digest(text: string, context: Context): Promise<number> {
  const loaded = await loadConfig(context);
  const { redact } = await protectionOf(loaded.config.redaction, context.places.home);
  const key = await auditKey({ loaded, places: context.places }, (line) => {
    throw new UserError("E_CONFIG", line, 1);
  });
  if (key !== undefined) context.stdout.write(`${keyedDigest(key, redact(text))}\n`);
  return 0;
}

function textOf(path: string, context: Context): string {
  try {
    return readFileSync(path === "-" ? 0 : resolve(context.cwd, path), "utf8");
  } catch (error) {
    throw new UserError("E_FILE", `cannot read ${JSON.stringify(path)}: ${messageOf(error)}`);
  }
}

function withKey<T>(path: string, context: Context, use: (pem: string) => T): T {
  const pem = textOf(path, context);
  try {
    return use(pem);
  } catch {
    // The library's message could quote the key
    throw new UserError("E_KEY", `${JSON.stringify(path)} is no Ed25519 key in PEM`);
  }
}

/** `HASH@SEQ`, or a file that `audit head` wrote. */
function headOf(given: string, publicKey: string | undefined, context: Context): AuditHead {
  const [, hash, seq] = /^([0-9a-f]{64})@(\d{1,15})$/.exec(given) ?? [];
  if (hash !== undefined && publicKey === undefined) return { hash, seq: Number(seq) };
  if (hash !== undefined) throw new UserError("E_USAGE", "--public-key needs a signed head: --head FILE");
  const head = headIn(textOf(given, context));
  if (head === undefined)
    throw new UserError("E_USAGE", `${JSON.stringify(given)} is no head: HASH@SEQ, or a file that audit head wrote`);
  if (publicKey !== undefined && !withKey(publicKey, context, (key) => isSignedBy(head, key)))
    throw new UserError("E_SIGNATURE", `${JSON.stringify(given)} is not signed with that key`, 1);
  return head;
}
