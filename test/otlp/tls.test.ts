import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ExportOutcome, OtlpSignalSettings } from "#core/model/settings.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import { otlpSettings } from "../support/otlp-settings.ts";
import { spanRecord } from "./records.ts";

const certificates = useCertificates();
let receiver: Receiver | undefined;
afterEach(() => receiver?.close());

async function send(
  to: Receiver | { readonly url: string },
  signal: Partial<OtlpSignalSettings>,
): Promise<ExportOutcome> {
  const sender = createSender(otlpSettings(to, signal), { version: "0.1.0" });
  const outcome = await sender.sendSpans([spanRecord()]);
  sender.close();
  return outcome;
}

test("a server with a certificate of the configured authority is trusted", async () => {
  receiver = await startReceiver({ tls: certificates.server });
  expect(await send(receiver, { certificatePath: certificates.ca.certPath })).toEqual({ status: "ok", rejected: 0 });
  expect(receiver.spans).toHaveLength(1);
});

test("a server with a certificate of an unknown authority is not trusted", async () => {
  receiver = await startReceiver({ tls: certificates.server });
  const reason = `the certificate of ${receiver.url}/v1/traces is not signed by an authority known here`;
  const remedy = expect.stringMatching(/otlp\.certificate .* NODE_EXTRA_CA_CERTS/);
  expect(await send(receiver, {})).toEqual({ status: "retry", reason, remedy });
  expect(await send(receiver, { certificatePath: certificates.stranger.certPath })).toEqual({
    status: "retry",
    reason,
    remedy,
  });
  expect(receiver.requests).toHaveLength(0);
});

test("a server with a certificate for another host is not trusted", async () => {
  receiver = await startReceiver({ tls: certificates.otherHost });
  const reason = `the certificate of ${receiver.url}/v1/traces is for another host name`;
  expect(await send(receiver, { certificatePath: certificates.ca.certPath })).toEqual({
    status: "retry",
    reason,
    remedy: "set otlp.endpoint to a host name in the certificate",
  });
});

test("a client certificate is sent if required, and a missing one is reported", async () => {
  receiver = await startReceiver({ tls: { ...certificates.server, clientCa: certificates.ca.cert } });
  const { client, stranger, ca } = certificates;
  const pair = { clientCertificatePath: client.certPath, clientKeyPath: client.keyPath };
  expect(await send(receiver, { certificatePath: ca.certPath, ...pair })).toEqual({ status: "ok", rejected: 0 });
  expect(receiver.spans).toHaveLength(1);

  const without = await send(receiver, { certificatePath: ca.certPath });
  expect(without).toMatchObject({ status: "retry" });
  const wrong = { clientCertificatePath: stranger.certPath, clientKeyPath: stranger.keyPath };
  expect(await send(receiver, { certificatePath: ca.certPath, ...wrong })).toMatchObject({ status: "retry" });
  expect(receiver.spans).toHaveLength(1);
});

test("https to a plain http server is reported as such", async () => {
  receiver = await startReceiver();
  const url = receiver.url.replace("http:", "https:");
  expect(await send({ url }, {})).toEqual({
    status: "retry",
    reason: `the TLS handshake with ${url}/v1/traces failed`,
    remedy: "if the backend has no TLS, begin otlp.endpoint with http://",
  });
});

test("http to a TLS server is a broken connection or a rejection, not a success", async () => {
  receiver = await startReceiver({ tls: certificates.server });
  const outcome = await send({ url: receiver.url.replace("https:", "http:") }, {});
  expect(outcome.status).toMatch(/^(?:retry|refused)$/);
});

test.each([
  ["certificatePath", "CA certificate"],
  ["clientCertificatePath", "client certificate"],
  ["clientKeyPath", "client key"],
] as const)("a missing or broken %s is named, and nothing is sent", async (setting, what) => {
  receiver = await startReceiver({ tls: certificates.server });
  const { client, ca, dir } = certificates;
  const good = { certificatePath: ca.certPath, clientCertificatePath: client.certPath, clientKeyPath: client.keyPath };
  const missing = join(dir, "nowhere.pem");
  expect(await send(receiver, { ...good, [setting]: missing })).toEqual({
    status: "refused",
    reason: `cannot read the ${what} ${JSON.stringify(missing)}: there is no such file`,
  });
  const broken = join(dir, "broken.pem");
  writeFileSync(broken, "no PEM here\n");
  expect(await send(receiver, { ...good, [setting]: broken })).toEqual({
    status: "refused",
    reason: `the ${what} ${JSON.stringify(broken)} is not in PEM form, or needs a passphrase`,
  });
  expect(receiver.requests).toHaveLength(0);
});

test("a client certificate requires a key, and a key a certificate", async () => {
  receiver = await startReceiver({ tls: certificates.server });
  const { client, server } = certificates;
  expect(await send(receiver, { clientKeyPath: client.keyPath })).toEqual({
    status: "refused",
    reason: `the client key ${JSON.stringify(client.keyPath)} is set without a client certificate: set both or neither`,
  });
  const mixed = { clientCertificatePath: client.certPath, clientKeyPath: server.keyPath };
  expect(await send(receiver, mixed)).toMatchObject({
    status: "refused",
    reason: expect.stringMatching(/client\.pem" and the client key ".*server-key\.pem" do not belong together$/),
  });
});
