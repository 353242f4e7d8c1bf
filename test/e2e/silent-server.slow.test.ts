// Slow: only `npm run test:all` runs it. Servers that accept a connection and never answer; otlp/send.test.ts has the outcomes.
import { createServer, type Socket } from "node:net";
import { beforeAll, describe, test } from "vitest";
import { ensureBuilt, HOOK_ALONE, Machine, RecordedAgent } from "../support/program.ts";

beforeAll(ensureBuilt);

const COLLECTOR = "collector.example";
/** Settings by what has to answer: a proxy, or the backend itself. */
const SILENT: Readonly<Record<string, (address: string) => Readonly<Record<string, string>>>> = {
  "a proxy on the way to https": (address) => ({
    OPENHOOK_OTEL_OTLP_ENDPOINT: `https://${COLLECTOR}:4318`,
    OPENHOOK_OTEL_OTLP_PROXY: `http://${address}`,
  }),
  "a proxy on the way to gRPC": (address) => ({
    OPENHOOK_OTEL_OTLP_ENDPOINT: `http://${COLLECTOR}:4317`,
    OPENHOOK_OTEL_OTLP_PROTOCOL: "grpc",
    OPENHOOK_OTEL_OTLP_PROXY: `http://${address}`,
  }),
  "a server of https": (address) => ({ OPENHOOK_OTEL_OTLP_ENDPOINT: `https://${address}` }),
  "a server of gRPC with TLS": (address) => ({
    OPENHOOK_OTEL_OTLP_ENDPOINT: `https://${address}`,
    OPENHOOK_OTEL_OTLP_PROTOCOL: "grpc",
  }),
};
/** After the time for a request; then it says nothing more either. */
const LATE_MS = 1_400;

const CASES = Object.keys(SILENT).flatMap((what) => [
  [what, "never answers"] as const,
  [what, "answers CONNECT when the time is over"] as const,
]);

describe.concurrent.each(CASES)("%s that %s", (what, how) => {
  test("the drain ends, although the connection stays open", async ({ expect }) => {
    const server = await startSilent(how === "never answers" ? undefined : LATE_MS);
    const machine = new Machine();
    try {
      await new RecordedAgent(machine, "basic").work(HOOK_ALONE);
      const env = { ...SILENT[what]?.(server.address), OPENHOOK_OTEL_OTLP_TIMEOUT_MS: "1000" };
      const { sent, waiting } = await machine.drain([], env);
      expect(sent).toBe(0);
      expect(waiting).toBeGreaterThan(0);
    } finally {
      await server.close();
      await machine.remove();
    }
  });
});

/** A server that accepts every connection and keeps it. */
async function startSilent(lateMs: number | undefined) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      if (lateMs === undefined || !bytes.toString("latin1").startsWith("CONNECT")) return;
      setTimeout(() => socket.write("HTTP/1.1 200 OK\r\n\r\n"), lateMs);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    address: `127.0.0.1:${address.port}`,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
