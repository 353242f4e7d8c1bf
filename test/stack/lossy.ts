import { createServer, request } from "node:http";

/** A proxy before an endpoint that forwards requests and loses the responses. */
export interface LossyWay {
  readonly url: string;
  /** Requests that the endpoint accepted with 200 and whose response was lost. */
  readonly lost: number;
  close(): Promise<void>;
}

/** @param endpoint OTLP over HTTP, without TLS */
export async function startLossyWay(endpoint: string): Promise<LossyWay> {
  let lost = 0;
  const server = createServer((incoming, response) => {
    const { method, headers, url = "" } = incoming;
    const onward = request(`${endpoint}${url}`, { method, headers }, (answer) => {
      answer.resume();
      answer.on("end", () => {
        if (answer.statusCode === 200) lost++;
        response.destroy();
      });
    });
    onward.on("error", () => response.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    get lost() {
      return lost;
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
