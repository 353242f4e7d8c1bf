import { isIP } from "node:net";
import { connect, createSecureContext, type SecureContext } from "node:tls";
import {
  type ChannelCredentials,
  Client,
  type ClientOptions,
  credentials,
  type experimental,
  logVerbosity,
  Metadata,
  type MetadataValue,
  type ServiceError,
  setLogVerbosity,
  status,
} from "@grpc/grpc-js";
import type { HttpProxy } from "./proxy.ts";
import type { TlsFiles } from "./tls-files.ts";

/** The end of one call, from the server or from the library if there was no response. */
export interface GrpcReply {
  /** A status code of gRPC; 0 is OK. */
  readonly code: number;
  /** E.g. "UNAVAILABLE". */
  readonly name: string;
  /** The server's message, or the library's. */
  readonly details: string;
  /** False if nothing came from the server: the status is the library's. */
  readonly isAnswered: boolean;
  /** Whether the server began a response message. */
  readonly hasBegun: boolean;
  /** The response message; empty unless the code is 0. */
  readonly data: Uint8Array;
  /** google.rpc.Status, if the server sent one. */
  readonly statusDetails?: Uint8Array;
  /** The header `date`, if there is one. */
  readonly date?: string;
}

/** Where calls go, and what all of them send. */
interface GrpcDestination {
  readonly url: URL;
  readonly tls: TlsFiles;
  /** http: only. Absent for a direct connection. */
  readonly proxy?: HttpProxy;
  readonly headers: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly isCompressed: boolean;
}

/** One connection, opened by the first call. */
export interface GrpcChannel {
  /**
   * A unary call with messages that are encoded already. Never rejects.
   *
   * @param signal cancels the call
   */
  call(method: string, message: Uint8Array, timeoutMs: number, signal: AbortSignal): Promise<GrpcReply>;
  close(): void;
}

/**
 * Opens a channel with grpc-js, the library below OpenTelemetry's gRPC exporters. The library's own reading of variables for proxies,
 * certificates, retries and logging is off: our settings decide.
 *
 * @throws for headers that gRPC cannot send
 */
export function openGrpcChannel(destination: GrpcDestination): GrpcChannel {
  const { url, tls, proxy, userAgent, isCompressed } = destination;
  // It would print addresses and errors to stderr, which is the agent's
  setLogVerbosity(logVerbosity.NONE);
  const metadata = toMetadata(destination.headers);
  const authority = authorityOf(url);
  const options: ClientOptions = {
    "grpc.primary_user_agent": userAgent,
    "grpc.default_compression_algorithm": isCompressed ? GZIP : 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": MAX_ANSWER_BYTES,
    ...(proxy !== undefined && throughProxy(proxy, authority)),
  };
  const address = proxy === undefined ? authority : authorityOf(new URL(proxy.url));
  const secure = url.protocol === "https:";
  // With a context of ours the library ignores GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, which a repository could set
  const client = new Client(
    `dns:${address}`,
    secure ? secureCredentials(url, createSecureContext(tls)) : credentials.createInsecure(),
    options,
  );
  return {
    call: (method, message, timeoutMs, signal) => call(client, { method, message, metadata, timeoutMs, signal }),
    close: () => client.close(),
  };
}

// --- internal ---

/** `compressionAlgorithms.gzip`, which is a const enum in the library's types. */
const GZIP = 2;
/** Responses of OTLP have some hundred bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** An IP address is no server name (RFC 6066). The library sends it as one, and newer versions of Node refuse that. */
function secureCredentials(url: URL, secureContext: SecureContext): ChannelCredentials {
  const made = credentials.createFromSecureContext(secureContext);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) === 0) return made;
  const createConnector = made._createSecureConnector.bind(made);
  made._createSecureConnector = (...options) => {
    const connector = createConnector(...options);
    return {
      connect: (tcp) =>
        new Promise<experimental.SecureConnectResult>((resolve, reject) => {
          const socket = connect({ socket: tcp, host, secureContext, ALPNProtocols: ["h2"] });
          socket.once("secureConnect", () => resolve({ socket, secure: true }));
          socket.on("error", reject);
        }),
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  };
  return made;
}

interface Call {
  readonly method: string;
  readonly message: Uint8Array;
  readonly metadata: Metadata;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

function call(client: Client, { method, message, metadata, timeoutMs, signal }: Call): Promise<GrpcReply> {
  return new Promise((resolve) => {
    let headers: Metadata | undefined;
    const done = (error: ServiceError | null, data: Buffer | undefined) => {
      signal.removeEventListener("abort", cancel);
      resolve(toReply(error, data, headers));
    };
    const options = { deadline: Date.now() + timeoutMs };
    const running = client.makeUnaryRequest(method, asBuffer, asBuffer, Buffer.from(message), metadata, options, done);
    running.on("metadata", (received: Metadata) => {
      headers = received;
    });
    const cancel = () => running.cancel();
    signal.addEventListener("abort", cancel, { once: true });
  });
}

const asBuffer = (bytes: Buffer): Buffer => bytes;

function toReply(error: ServiceError | null, data: Buffer | undefined, headers: Metadata | undefined): GrpcReply {
  const code = error?.code ?? status.OK;
  const trailers = error?.metadata;
  const statusDetails = trailers?.get("grpc-status-details-bin")[0];
  const date = [headers, trailers].flatMap((received) => received?.get("date") ?? [])[0];
  return {
    code,
    name: status[code] ?? "UNKNOWN",
    details: error?.details ?? "",
    isAnswered: headers !== undefined || Object.keys(trailers?.getMap() ?? {}).length > 0,
    hasBegun: headers !== undefined,
    data: data ?? new Uint8Array(),
    ...(statusDetails instanceof Buffer && { statusDetails }),
    ...(typeof date === "string" && { date }),
  };
}

/** Names that end in `-bin` hold bytes, as text in base64. */
function toMetadata(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) {
    const sent: MetadataValue = name.toLowerCase().endsWith("-bin") ? Buffer.from(value, "base64") : value;
    metadata.set(name, sent);
  }
  return metadata;
}

function throughProxy(proxy: HttpProxy, authority: string): ClientOptions {
  const { username, password } = new URL(proxy.url);
  const credentialsOf = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    "grpc.http_connect_target": `dns:${authority}`,
    ...((username !== "" || password !== "") && { "grpc.http_connect_creds": credentialsOf }),
  };
}

/** Host and port; the library's default port is 443 for every scheme. */
const authorityOf = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
