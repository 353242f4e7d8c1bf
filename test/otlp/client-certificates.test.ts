import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { certificateFindings } from "#check/health/checks/endpoint.ts";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
import { networkFailure } from "#send/network/network-reason.ts";
import { certificatesIn, validity } from "#send/network/tls-files.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { useCertificates } from "../support/certificates.ts";
import { killGroup } from "../support/kill-group.ts";
import { otlpSettings } from "../support/otlp-settings.ts";
import { until } from "../support/program.ts";
import { spanRecord } from "./records.ts";

const certificates = useCertificates();
const ended = { certPath: "", keyPath: "" };
beforeAll(() => Object.assign(ended, endedClient()));

let stop = (): void => {};
afterEach(() => {
  stop();
  stop = () => {};
});

describe("a server that refuses the client's certificate", () => {
  test.each([
    ["tls1_3", "http/json"],
    ["tls1_2", "http/json"],
    ["tls1_3", "grpc"],
    ["tls1_2", "grpc"],
  ] as const)("over %s and %s: says which certificate, and when it is valid", async (version, protocol) => {
    const url = await serve(version);
    const { ca, stranger } = certificates;
    const sent = async ({ certPath, keyPath }: typeof ended) => {
      const pair = { clientCertificatePath: certPath, clientKeyPath: keyPath };
      const signal: Partial<OtlpSignalSettings> = { protocol, certificatePath: ca.certPath, ...pair };
      const sender = createSender(otlpSettings({ url }, signal), { version: "0.1.0" });
      const outcome = await sender.sendSpans([spanRecord()]);
      sender.close();
      return outcome;
    };
    expect(await sent(ended)).toMatchObject({
      status: "retry",
      reason: expect.stringMatching(
        /refused the client certificate: it has expired|the client certificate has expired/,
      ),
      remedy: expect.stringMatching(/^renew otlp\.clientCertificate, .* from 2020-01-01 00:00Z to 2020-01-02 00:00Z$/),
    });
    // In TLS 1.3 the request can be on its way before the refusal, and then the connection is only broken
    const foreign = await sent(stranger);
    expect(foreign).toMatchObject({ status: "retry" });
    expect(JSON.stringify(foreign)).not.toMatch(/begin otlp\.endpoint with http:/);
    if (version === "tls1_2") {
      expect(foreign).toMatchObject({
        reason: expect.stringMatching(/refused the client certificate: the server does not know its authority/),
        remedy: expect.stringMatching(/^set otlp\.clientCertificate .* signed by "stranger"$/),
      });
    }
  });
});

const URL_SHOWN = "https://collector.example:4318/v1/traces";
const eproto = (text: string, code = "EPROTO") =>
  Object.assign(new Error(`write EPROTO 40A7:error:0A000415:SSL routines:ssl3_read_bytes:${text}\n`), { code });

describe("TLS alerts", () => {
  test.each([
    [42, "it was not accepted"],
    [44, "it was revoked"],
    [45, "it has expired by the server's clock"],
    [46, "it was not accepted"],
    [48, "the server does not know its authority"],
  ])("%i about a certificate that is valid here, in both forms of Node", (alert, why) => {
    for (const code of ["EPROTO", "ERR_SSL_TLSV1_ALERT_SOMETHING"]) {
      const error = eproto(`tlsv1 alert:../ssl/record/rec_layer_s3.c:1590:SSL alert number ${alert}`, code);
      const failure = networkFailure(error, URL_SHOWN, { tls: { cert: certificates.client.cert } });
      expect(failure.reason).toBe(`${URL_SHOWN} refused the client certificate: ${why} (TLS alert ${alert})`);
      expect(failure.remedy).toMatch(/^set otlp\.clientCertificate to one that the backend accepts: .*signed by "ca"$/);
    }
  });

  test("without a client certificate the same alerts mean that one is required", () => {
    for (const alert of [40, 42, 116]) {
      for (const code of ["EPROTO", "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"]) {
        const failure = networkFailure(eproto(`x:SSL alert number ${alert}`, code), URL_SHOWN);
        expect(failure.reason).toMatch(/requires? a client certificate/);
        expect(failure.remedy).toBe("set otlp.clientCertificate and otlp.clientKey");
      }
    }
  });

  test.each([
    ["tlsv1 alert protocol version:../x.c:1590:SSL alert number 70", false],
    ["tlsv1 unrecognized name:../x.c:1590:SSL alert number 112", false],
    ["unsupported protocol:../x.c:1947", false],
    ["tls_process_ske_dhe:dh key too small:../x.c:2100", false],
    ["wrong version number:../x.c:354", true],
    ["packet length too long:../x.c:654", true],
  ])("%s: leaving TLS is suggested only if the peer has none: %s", (text, hasNoTls) => {
    const { remedy } = networkFailure(eproto(text), URL_SHOWN);
    expect(remedy?.includes("begin otlp.endpoint with http://")).toBe(hasNoTls);
  });
});

test("dates and names are read from every certificate of a file, in order", () => {
  const text = `comment\n${readFileSync(ended.certPath, "utf8")}\n${certificates.ca.cert}`;
  const [first, second] = certificatesIn(text);
  expect(first).toMatchObject({ subject: '"ended"', issuer: '"ca"', problem: "has expired" });
  expect(first && validity(first)).toBe("valid from 2020-01-01 00:00Z to 2020-01-02 00:00Z");
  expect(second).toMatchObject({ subject: '"ca"' });
  expect(second).not.toHaveProperty("problem");
  expect(certificatesIn(certificates.ca.cert, 0)).toMatchObject([{ problem: "is not valid yet" }]);
  expect(certificatesIn("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")).toEqual([]);
});

test("doctor reports certificates that are not valid, or end soon for their length", async () => {
  const { client, ca, stranger, dir } = certificates;
  const bundle = join(dir, "bundle.pem");
  writeFileSync(bundle, readFileSync(ended.certPath, "utf8") + ca.cert);
  const findings = async (more: Partial<OtlpSignalSettings>, inHours = 0, url = "https://x.example") => {
    const found = [];
    const nowMs = Date.now() + inHours * 3_600_000;
    for await (const one of certificateFindings(otlpSettings({ url }, more), nowMs)) found.push(one);
    return found.map(({ level, text, todo }) => `${level}: ${text}; ${todo}`);
  };
  const all = { clientCertificatePath: client.certPath, certificatePath: ca.certPath };
  expect(await findings(all)).toEqual([]);
  expect(await findings(all, 20)).toEqual([
    expect.stringMatching(
      /^remark: "client" in otlp\.clientCertificate \(".*client\.pem"\) ends in 3 hours: it is valid from .*; renew it/,
    ),
    expect.stringMatching(/^remark: "ca" in otlp\.certificate \(".*ca\.pem"\) ends in 3 hours: .*; replace the file/),
  ]);
  expect(await findings({ clientCertificatePath: ended.certPath })).toEqual([
    expect.stringMatching(/^broken: "ended" in otlp\.clientCertificate .* has expired: it is valid from 2020-01-01 /),
  ]);
  expect(await findings(all, -48)).toHaveLength(2);
  // A former authority beside the present one is usual
  expect(await findings({ certificatePath: bundle })).toEqual([]);
  expect(await findings({ certificatePath: bundle }, 48)).toHaveLength(2);
  expect(await findings({ certificatePath: join(dir, "none.pem") }, 48)).toEqual([]);
  expect(await findings({ certificatePath: stranger.certPath }, 48, "http://x.example")).toEqual([]);
});

/** A TLS server that demands a certificate of the test authority, which Node's cannot: it sends no alert. */
async function serve(version: string): Promise<string> {
  const port = await freePort();
  const { server, ca } = certificates;
  const args = `s_server -accept 127.0.0.1:${port} -${version} -alpn h2,http/1.1 -Verify 1 -verify_return_error -quiet`;
  const files = ["-cert", server.certPath, "-key", server.keyPath, "-CAfile", ca.certPath];
  const child = spawn("openssl", [...args.split(" "), ...files], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  stop = () => killGroup(child, "SIGKILL");
  await once(child, "spawn");
  await until("it listens", async () => (await isFree(port)) === false);
  return `https://127.0.0.1:${port}`;
}

const listenOn = (port: number): Promise<number | undefined> =>
  new Promise((done) => {
    const probe = createServer().once("error", () => done(undefined));
    probe.listen(port, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => done(typeof address === "object" ? address?.port : undefined));
    });
  });
const freePort = async (): Promise<number> => (await listenOn(0)) ?? 0;
const isFree = async (port: number): Promise<boolean> => (await listenOn(port)) !== undefined;

/** `openssl ca` is the only command of every version that takes dates. */
function endedClient() {
  const { dir, ca } = certificates;
  const at = (name: string) => join(dir, name);
  mkdirSync(at("issued"));
  writeFileSync(at("index"), "");
  writeFileSync(at("serial"), "01\n");
  const names = `database=${at("index")}\nserial=${at("serial")}\nnew_certs_dir=${at("issued")}`;
  writeFileSync(
    at("ca.cnf"),
    `[ca]\ndefault_ca=d\n[d]\n${names}\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n`,
  );
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", at("ended-key.pem")];
  execFileSync("openssl", ["req", ...key, "-subj", "/CN=ended", "-out", at("ended.csr")], { stdio: "pipe" });
  const files = ["-cert", ca.certPath, "-keyfile", ca.keyPath, "-in", at("ended.csr"), "-out", at("ended.pem")];
  const dates = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"];
  execFileSync("openssl", ["ca", "-batch", "-notext", "-config", at("ca.cnf"), ...files, ...dates], { stdio: "pipe" });
  return { certPath: at("ended.pem"), keyPath: at("ended-key.pem") };
}
