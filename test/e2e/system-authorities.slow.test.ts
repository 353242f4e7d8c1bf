// Slow: only `npm run test:all` runs it. The operating system's authorities, with the built program; otlp/tls.test.ts has the
// others.
//
// A backend whose certificate only the operating system's authorities know; on Linux, SSL_CERT_FILE replaces them.
import * as tls from "node:tls";
import { beforeAll, expect, test } from "vitest";
import { startGrpcReceiver } from "../receiver/grpc-receiver.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import { ensureBuilt, HOOK_ALONE, Machine, RecordedAgent } from "../support/program.ts";

const certificates = useCertificates();
beforeAll(ensureBuilt);

const canReadThem = "getCACertificates" in tls;

test.each([
  ["http/protobuf", startReceiver],
  ["grpc", startGrpcReceiver],
] as const)(
  "%s: is trusted where Node can read them, and refused with the remedies elsewhere",
  async (protocol, start) => {
    const machine = new Machine();
    const receiver: Receiver = await start({ tls: certificates.server });
    const drain = (more: Readonly<Record<string, string>>) =>
      machine.drain([], { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, OPENHOOK_OTEL_OTLP_PROTOCOL: protocol, ...more });
    try {
      await new RecordedAgent(machine, "parallel-tools").work(HOOK_ALONE);
      const untrusted = expect.stringMatching(/not signed by an authority known here.*the system's authorities/);
      const stranger = { SSL_CERT_FILE: certificates.stranger.certPath };
      expect(await drain(stranger)).toMatchObject({ sent: 0, waiting: 11, problems: [untrusted, untrusted] });
      expect(receiver.requests).toEqual([]);

      const known = { SSL_CERT_FILE: certificates.ca.certPath };
      const named = { ...known, OPENHOOK_OTEL_OTLP_CERTIFICATE: certificates.stranger.certPath };
      expect(await drain(named)).toMatchObject({ sent: 0, waiting: 11 });
      expect(await drain(known)).toMatchObject(canReadThem ? { sent: 11, problems: [] } : { sent: 0, waiting: 11 });
      expect(receiver.spans).toHaveLength(canReadThem ? 11 : 0);
    } finally {
      await machine.remove();
      await receiver.close();
    }
  },
);

test("reconcile trusts the system's authorities too", async () => {
  const machine = new Machine();
  const receiver: Receiver = await startReceiver({ tls: certificates.server });
  try {
    await new RecordedAgent(machine, "parallel-tools").work(HOOK_ALONE);
    await machine.drain();
    const reconcile = (path: string) =>
      machine
        .run(["reconcile", "--jaeger", receiver.url], { env: { SSL_CERT_FILE: path } })
        .then(({ stderr }) => stderr);
    const untrusted = /cannot query Jaeger: .*not signed by an authority known here/;
    expect(await reconcile(certificates.stranger.certPath)).toMatch(untrusted);
    const known = expect(await reconcile(certificates.ca.certPath));
    if (canReadThem) known.not.toMatch(/cannot query/);
    else known.toMatch(untrusted);
  } finally {
    await machine.remove();
    await receiver.close();
  }
});
