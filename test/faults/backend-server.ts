import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { startGrpcReceiver } from "../receiver/grpc-receiver.ts";
import { type Behaviour, type Receiver, type ReceiverOptions, startReceiver } from "../receiver/receiver.ts";

/** A failing backend that recovers on the same port. */
export interface Backend {
  readonly port: number;
  /** The address of a healthy one. */
  readonly url: string;
  /** What was received before the recovery; `undefined` if nothing could be. */
  readonly ill?: Receiver;
  /** Makes it healthy. @returns the receiver from now on; the caller closes only the backend */
  heal(): Promise<Receiver>;
  close(): Promise<void>;
}

/** A receiver with given answers. */
export async function behaving(behaviour: Behaviour, options: ReceiverOptions = {}): Promise<Backend> {
  const receiver = await startReceiver({ ...options, behaviour });
  return {
    port: receiver.port,
    url: receiver.url,
    ill: receiver,
    heal: async () => {
      receiver.setBehaviour(undefined);
      return receiver;
    },
    close: () => receiver.close(),
  };
}

/** A receiver of gRPC with given answers. */
export async function behavingGrpc(behaviour: Behaviour): Promise<Backend> {
  const receiver = await startGrpcReceiver({ behaviour });
  return {
    port: receiver.port,
    url: receiver.url,
    ill: receiver,
    heal: async () => {
      receiver.setBehaviour(undefined);
      return receiver;
    },
    close: () => receiver.close(),
  };
}

/** A receiver with other options than the one after the recovery: another certificate, smaller bodies. */
export async function receiving(options: ReceiverOptions, healthy: ReceiverOptions = {}): Promise<Backend> {
  const ill = await startReceiver(options);
  return replaced(ill.port, () => ill.close(), healthy, ill);
}

/** Any TCP server. @param start the receiver after the recovery */
export async function raw(
  onConnection: (socket: Socket) => void,
  start: (options: ReceiverOptions) => Promise<Receiver> = startReceiver,
): Promise<Backend> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}).on("close", () => sockets.delete(socket)));
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  };
  return replaced(portOf(server), stop, {}, undefined, start);
}

/** No listener. */
export async function absent(): Promise<Backend> {
  const backend = await raw(() => {});
  await backend.close();
  return replaced(backend.port, async () => {});
}

/**
 * A host that does not answer a SYN: a stopped process whose connection queue is full.
 *
 * @returns `undefined` if the system completes connections anyway
 */
export async function unreachable(): Promise<Backend | undefined> {
  const script = `require("node:net").createServer().listen({port: 0, host: "127.0.0.1", backlog: 1}, function () {
    console.log(this.address().port) })`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [firstLine] = await once(child.stdout, "data");
  const port = Number(String(firstLine));
  child.kill("SIGSTOP");
  const fillers: Socket[] = [];
  const close = async (): Promise<void> => {
    for (const socket of fillers) socket.destroy();
    await end(child);
  };
  while (fillers.length < 20) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    fillers.push(socket);
    const isConnected = await Promise.race([once(socket, "connect").then(() => true), after(300).then(() => false)]);
    if (!isConnected) return replaced(port, close);
  }
  await close();
  return undefined;
}

// --- internal ---

/** `stop` ends the failing server; then a receiver uses its port. */
function replaced(
  port: number,
  stop: () => Promise<void>,
  healthy: ReceiverOptions = {},
  ill?: Receiver,
  start: (options: ReceiverOptions) => Promise<Receiver> = startReceiver,
): Backend {
  let stopping: Promise<void> | undefined;
  let well: Receiver | undefined;
  const stopOnce = (): Promise<void> => (stopping ??= stop());
  return {
    port,
    url: `${healthy.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    ...(ill !== undefined && { ill }),
    async heal() {
      await stopOnce();
      well = await start({ ...healthy, port });
      return well;
    },
    async close() {
      await stopOnce();
      await well?.close();
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

const after = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
