import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** Paths of two PEM files. */
export interface Pair {
  readonly certPath: string;
  readonly keyPath: string;
  readonly cert: string;
  readonly key: string;
}

/** A test certificate authority and the certificates it signed; all valid for one day. */
export interface Certificates {
  readonly dir: string;
  readonly ca: Pair;
  /** For 127.0.0.1 only. */
  readonly server: Pair;
  /** Issued for another host name. */
  readonly otherHost: Pair;
  readonly client: Pair;
  /** An authority that signed none of them. */
  readonly stranger: Pair;
}

/** Certificates for the tests of a file or a suite: made before the first of them, removed after the last one. */
export function useCertificates(): Certificates {
  const certificates: Partial<ReturnType<typeof makeCertificates>> = {};
  beforeAll(() => void Object.assign(certificates, makeCertificates()));
  afterAll(() => certificates.remove?.());
  return certificates as Certificates;
}

/** Makes certificates with the openssl command, in a temporary directory. */
export function makeCertificates(): Certificates & { readonly remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), "openhook-certificates-"));
  const openssl = (args: string) => execFileSync("openssl", args.split(" "), { cwd: dir, stdio: "pipe" });
  const pair = (name: string): Pair => {
    const certPath = join(dir, `${name}.pem`);
    const keyPath = join(dir, `${name}-key.pem`);
    return { certPath, keyPath, cert: readFileSync(certPath, "utf8"), key: readFileSync(keyPath, "utf8") };
  };
  const requestOf = (name: string) =>
    `req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${name}-key.pem -subj /CN=${name}`;
  const authority = (name: string): Pair => {
    openssl(`${requestOf(name)} -x509 -days 1 -out ${name}.pem`);
    return pair(name);
  };
  const signed = (name: string, subjectAltName: string): Pair => {
    openssl(`${requestOf(name)} -out ${name}.csr`);
    writeFileSync(join(dir, `${name}.ext`), `subjectAltName=${subjectAltName}\n`);
    const byAuthority = "-CA ca.pem -CAkey ca-key.pem -CAcreateserial";
    openssl(`x509 -req -in ${name}.csr ${byAuthority} -days 1 -extfile ${name}.ext -out ${name}.pem`);
    return pair(name);
  };
  return {
    dir,
    ca: authority("ca"),
    server: signed("server", "IP:127.0.0.1"),
    otherHost: signed("other-host", "DNS:collector.example"),
    client: signed("client", "DNS:laptop.example"),
    stranger: authority("stranger"),
    remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }),
  };
}
