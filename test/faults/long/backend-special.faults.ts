// Backend faults that need a special setup: certificates, names, other hosts, proxies, poisoned spans.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { type Certificates, type Pair, useCertificates } from "../../support/certificates.ts";
import { ensureBuilt, HOOK_ALONE, Machine, RECORDINGS, RecordedAgent } from "../../support/program.ts";
import {
  addressOf,
  expectAllById,
  expectExactCounters,
  expectNoSecret,
  HEADERS,
  INPUT_TOKENS,
  SPANS,
  tokensOf,
  undergo,
  withSession,
} from "../backend-run.ts";
import { behaving, receiving } from "../backend-server.ts";
import { fillOutbox, startCounter } from "../backlog.ts";
import { record } from "../record.ts";

const LONG = 120_000;
const certificates = useCertificates();
let expired: Pair;
beforeAll(async () => {
  await ensureBuilt();
  expired = makeExpired(certificates);
}, 120_000);

async function withReceiver<T>(work: (receiver: Receiver) => Promise<T>): Promise<T> {
  const receiver = await startReceiver();
  try {
    return await work(receiver);
  } finally {
    await receiver.close();
  }
}

/** One row of the table for each fault, however many variants it has. */
const rows = new Map<string, { runs: number; eventsIn: number }>();
function passed(fault: string, eventsIn = SPANS): void {
  const row = rows.get(fault) ?? { runs: 0, eventsIn: 0 };
  rows.set(fault, { runs: row.runs + 1, eventsIn: row.eventsIn + eventsIn });
}
afterAll(() => {
  for (const [fault, row] of rows) record({ area: "backend", fault, ...row, lost: 0, duplicates: 0 });
});

describe.concurrent("TLS", { timeout: LONG }, () => {
  const cases: readonly (readonly [string, (c: Certificates) => Pair, RegExp])[] = [
    ["certificate has expired", () => expired, /the certificate of .* has expired/],
    ["certificate is for another host", (c) => c.otherHost, /is for another host name/],
    ["certificate of an unknown authority", (c) => c.stranger, /not signed by an authority known here/],
  ];
  test.each(cases)("%s: reported, and everything arrives once it is replaced", async (name, pairOf, says) => {
    const trusted = { OPENHOOK_OTEL_OTLP_CERTIFICATE: certificates.ca.certPath };
    const start = () => receiving({ tls: pairOf(certificates) }, { tls: certificates.server });
    const result = await undergo({ name, start, says, env: trusted });
    if (result !== undefined) record(result);
  });

  test("plain HTTP to a TLS port, and TLS to a plain one: nothing is sent until the address is corrected", () =>
    withSession(async (machine) => {
      const tls = await startReceiver({ tls: certificates.server });
      const plain = await startReceiver();
      try {
        const env = { OPENHOOK_OTEL_OTLP_CERTIFICATE: certificates.ca.certPath, OPENHOOK_OTEL_OTLP_TIMEOUT_MS: "700" };
        const at = (url: string) => machine.drain([], { ...env, OPENHOOK_OTEL_OTLP_ENDPOINT: url });
        expect(await at(tls.url.replace("https:", "http:"))).toMatchObject({ sent: 0, waiting: SPANS });
        const report = await at(plain.url.replace("http:", "https:"));
        expect(String(report["problems"])).toMatch(
          /TLS handshake .* failed; if the backend has no TLS, begin otlp\.endpoint with http:/,
        );
        expect(await at(tls.url)).toMatchObject({ sent: SPANS, waiting: 0, problems: [] });
        expectAllById(tls.spans, false);
        expectExactCounters(tls.metricPoints);
        passed("HTTP to a TLS port, TLS to an HTTP port");
      } finally {
        await tls.close();
        await plain.close();
      }
    }));
});

describe.concurrent("addresses", { timeout: LONG }, () => {
  test("a host name that does not exist; the corrected one is tried immediately, also by a hook's drain", () =>
    withReceiver((receiver) =>
      withSession(async (machine) => {
        const wrong = { OPENHOOK_OTEL_OTLP_ENDPOINT: "http://collector.invalid:4318" };
        const report = await machine.drain([], wrong);
        expect(report).toMatchObject({ sent: 0, waiting: SPANS });
        expect(String(report["problems"])).toMatch(/host name of .*collector\.invalid/);
        await machine.ok(["drain", "--quiet"], { env: { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url } });
        expectAllById(receiver.spans, false);
        expectExactCounters(receiver.metricPoints);
        passed("host name that does not exist");
      }),
    ));

  test.each([301, 302, 307, 308])("%i to another host: not followed, and reported", (status) =>
    withReceiver((other) =>
      withSession(async (machine) => {
        const backend = await behaving(() => ({
          status,
          headers: { location: `${other.url}/v1/traces?key=elsewhere` },
        }));
        try {
          const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: addressOf(backend.url), OPENHOOK_OTEL_OTLP_HEADERS: HEADERS };
          const report = await machine.drain([], env);
          expect(report).toMatchObject({ sent: 0, waiting: SPANS });
          expect(String(report["problems"])).toContain(
            `redirects to ${other.url}/v1/traces (${status}), and redirects are not followed`,
          );
          expect(other.requests).toHaveLength(0);
          expectNoSecret(machine, JSON.stringify(report));
          const well = await backend.heal();
          expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0 });
          expectAllById(well.spans, false);
          passed("redirects to another host (301, 302, 307, 308): not followed");
        } finally {
          await backend.close();
        }
      }),
    ),
  );

  test("HTTP_PROXY and HTTPS_PROXY do not divert exports to this machine", () =>
    withReceiver((receiver) =>
      withSession(async (machine) => {
        let proxied = 0;
        const proxy = createServer((_, response) => {
          proxied++;
          response.end();
        }).on("connect", (_, socket) => {
          proxied++;
          socket.destroy();
        });
        proxy.listen(0, "127.0.0.1");
        await once(proxy, "listening");
        const address = proxy.address();
        const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
        const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
        const env = Object.fromEntries(names.map((name) => [name, url]));
        const report = await machine.drain([], { ...env, OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url });
        proxy.close();
        expect(report).toMatchObject({ sent: SPANS, waiting: 0, problems: [] });
        expect(proxied).toBe(0);
        passed("HTTP_PROXY and HTTPS_PROXY are set, the backend is on this machine: reached directly");
      }),
    ));
});

describe.concurrent("retries", { timeout: LONG }, () => {
  test.each(["99999999999999999999", "86400", "Fri, 31 Dec 9999 23:59:59 GMT"])(
    "Retry-After: %s counts as an hour, and another destination is tried immediately",
    (retryAfter) =>
      withReceiver((receiver) =>
        withSession(async (machine) => {
          receiver.setBehaviour(() => ({ status: 429, headers: { "retry-after": retryAfter } }));
          const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
          await machine.drain([], env);
          const requestCount = receiver.requests.length;
          const status = JSON.parse(await machine.ok(["status", "--json"], { env }));
          const untilMs = Date.parse(status.delivery.traces.not_before) - Date.now();
          expect(untilMs).toBeGreaterThan(3_000_000);
          expect(untilMs).toBeLessThanOrEqual(3_600_000);
          receiver.setBehaviour(undefined);
          const report = await machine.drain([], env);
          expect(String(report["problems"])).toMatch(/traces: not sent, the backend asked to wait until \d{4}-/);
          expect(receiver.requests).toHaveLength(requestCount);
          const other = { ...env, OPENHOOK_OTEL_OTLP_HEADERS: "authorization=Bearer another" };
          expect(await machine.drain([], other)).toMatchObject({ sent: SPANS, waiting: 0 });
          expectAllById(receiver.spans, false);
          passed("Retry-After of a day, of centuries, of the year 9999: treated as an hour");
        }),
      ),
  );

  test.each(["-5", "soon", "0", "Wed, 21 Oct 2015 07:28:00 GMT"])("Retry-After: %s is ignored", (retryAfter) =>
    withReceiver((receiver) =>
      withSession(async (machine) => {
        receiver.setBehaviour(() => ({ status: 503, headers: { "retry-after": retryAfter } }));
        const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
        expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: SPANS });
        receiver.setBehaviour(undefined);
        expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0 });
        passed("Retry-After that is past, negative, zero or invalid");
      }),
    ),
  );

  test("hooks' drains skip an unreachable backend; a user's drain tries immediately", () =>
    withReceiver((receiver) =>
      withSession(async (machine) => {
        receiver.setBehaviour(() => ({ status: 503 }));
        const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
        // A user's drain always tries; after the fifth failure in a row hooks wait for two minutes at least
        for (let n = 1; n <= 5; n++) {
          expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: SPANS });
          expect(receiver.requests.filter(({ path }) => path === "/v1/traces")).toHaveLength(n);
        }
        const requestCount = receiver.requests.length;
        for (let n = 0; n < 3; n++) await machine.ok(["drain", "--quiet"], { env });
        expect(receiver.requests).toHaveLength(requestCount);
        receiver.setBehaviour(undefined);
        await machine.ok(["drain", "--quiet"], { env });
        expect(receiver.spans).toHaveLength(0);
        expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0 });
        expectAllById(receiver.spans, false);
        passed("unreachable for long: drains that hooks start skip it");
      }),
    ));
});

describe.concurrent("spans that a backend never accepts", { timeout: LONG }, () => {
  const BACKLOG = 3_000;
  // An answer of 500 looks like a failing backend: finding one bad span takes a dozen drains
  const cases = [
    [400, [0, 700, 1_999]],
    [413, [0, 700, 1_999]],
    [500, [700]],
  ] as const;

  test.each(cases)(
    "%i for requests with spans %j of 3,000: all others arrive, those stay queued and are reported",
    (status, bad) =>
      withSession(async (machine) => {
        await machine.drain();
        const counter = await startCounter((response, _, places) => {
          if (!places.some((place) => bad.some((one) => one === place))) return false;
          response.writeHead(status).end();
          return true;
        });
        try {
          const env = {
            OPENHOOK_OTEL_OTLP_ENDPOINT: counter.url,
            OPENHOOK_OTEL_OUTBOX_MAX_SPANS_PER_SECOND: "1000000",
          };
          await machine.drain([], env);
          fillOutbox(machine, BACKLOG);
          counter.places.length = 0;
          let report = await machine.drain([], env);
          for (let n = 0; n < 60 && report["waiting"] !== bad.length; n++) report = await machine.drain([], env);
          expect(report).toMatchObject({ waiting: bad.length });
          expect(String(report["problems"])).toContain(`answered ${status}`);
          expect(new Set(counter.places).size).toBe(BACKLOG - bad.length);
          expect(counter.places).toHaveLength(BACKLOG - bad.length);
          record({
            area: "backend",
            fault: `answers ${status} to requests with ${bad.length === 1 ? "one span" : "one of three spans"} of 3,000`,
            runs: 1,
            eventsIn: BACKLOG,
            lost: 0,
            duplicates: 0,
            note: "refused spans stay queued behind all others and are reported; all others arrive",
          });
        } finally {
          await counter.close();
        }
      }),
  );
});

test(
  "counters over an outage: the last values arrive, the start stays, a partial success changes nothing",
  async () => {
    await withReceiver(async (receiver) => {
      const machine = new Machine();
      try {
        const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
        const work = async (name: string): Promise<Record<string, unknown>> => {
          await new RecordedAgent(machine, name).work(HOOK_ALONE);
          return machine.drain([], env);
        };
        expect(await work("parallel-tools")).toMatchObject({ metricsSent: true });
        expect(tokensOf(receiver)).toBe(INPUT_TOKENS);

        receiver.setBehaviour(() => ({ status: 503 }));
        const away = [await work("basic"), await work("thinking")];
        for (const report of away) expect(report).toMatchObject({ sent: 0, metricsSent: false });
        const waiting = Number(away[1]?.["waiting"]);

        const partial = { rejected: 3, message: "three points too many" };
        receiver.setBehaviour(({ path }) => (path === "/v1/metrics" ? { partial } : undefined));
        const report = await machine.drain([], env);
        // Sums, histograms and gauges are sent again separately, and of each the receiver rejects three
        expect(report).toMatchObject({ sent: waiting, rejected: 9, waiting: 0 });
        expect(String(report["problems"])).toContain(partial.message);

        receiver.setBehaviour(undefined);
        expect(await machine.drain([], env)).toMatchObject({ problems: [] });
        expectExactCounters(receiver.metricPoints, INPUT_TOKENS + inputTokensOf("basic") + inputTokensOf("thinking"));
        expect(receiver.spans).toHaveLength(SPANS + waiting);
        expect(receiver.spansById().size).toBe(SPANS + waiting);
        passed("counters over an outage of two sessions, then a partial success", SPANS + waiting);
      } finally {
        await machine.remove();
      }
    });
  },
  LONG,
);

// --- internal ---

const inputTokensOf = (name: string): number =>
  Number(JSON.parse(readFileSync(join(RECORDINGS, name, "expected.json"), "utf8")).sessions[0].totals.input);

/** For 127.0.0.1, expired yesterday. */
function makeExpired({ dir }: Certificates): Pair {
  const [request, cert, key] = ["expired.csr", "expired.pem", "expired-key.pem"].map((name) => join(dir, name));
  if (request === undefined || cert === undefined || key === undefined) throw new Error("three names");
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: dir, stdio: "pipe" });
  openssl(
    "req",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    key,
    "-out",
    request,
    "-subj",
    "/CN=expired",
  );
  writeFileSync(join(dir, "index.txt"), "");
  writeFileSync(join(dir, "serial"), "01\n");
  const settings = [
    "[ca]",
    "default_ca=own",
    "[own]",
    "dir=.",
    "database=index.txt",
    "serial=serial",
    "new_certs_dir=.",
    "default_md=sha256",
    "policy=any",
    "x509_extensions=names",
    "[any]",
    "commonName=supplied",
    "[names]",
    "subjectAltName=IP:127.0.0.1",
  ];
  writeFileSync(join(dir, "ca.cnf"), `${settings.join("\n")}\n`);
  const span = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"];
  openssl(
    "ca",
    "-batch",
    "-config",
    "ca.cnf",
    "-cert",
    "ca.pem",
    "-keyfile",
    "ca-key.pem",
    ...span,
    "-in",
    request,
    "-out",
    cert,
    "-notext",
  );
  return { certPath: cert, keyPath: key, cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}
