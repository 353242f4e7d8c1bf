import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { type AuditHead, canonical } from "./record.ts";

/** A head as `audit head` prints it; a signature is that of everything else. */
export interface WrittenHead extends AuditHead {
  readonly chain: string | null;
  /** When it was printed, in ISO 8601. */
  readonly time: string;
  /** Ed25519, base64. */
  readonly signature?: string;
}

/** @param privateKey in PEM @throws if it is no key */
export const signedHead = (head: WrittenHead, privateKey: string): WrittenHead => ({
  ...head,
  signature: sign(null, Buffer.from(canonical(head)), createPrivateKey(privateKey)).toString("base64"),
});

/** Whether a head was signed with a key. @param publicKey in PEM @throws if it is no key */
export function isSignedBy({ signature, ...head }: WrittenHead, publicKey: string): boolean {
  const key = createPublicKey(publicKey);
  return signature !== undefined && verify(null, Buffer.from(canonical(head)), key, Buffer.from(signature, "base64"));
}

/** A head from its text. @returns `undefined` if it is none */
export function headIn(text: string): WrittenHead | undefined {
  try {
    const head = JSON.parse(text) as WrittenHead;
    return Number.isSafeInteger(head.seq) && /^[0-9a-f]{64}$/.test(head.hash) ? head : undefined;
  } catch {
    return undefined;
  }
}
