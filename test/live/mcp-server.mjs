// An MCP server on stdin and stdout with one tool, which fails for what is not sold.
import { createInterface } from "node:readline";

const TOOL = {
  name: "lookup_price",
  description: "The price of an item",
  inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
};

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "shop", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [TOOL] }),
  "tools/call": ({ arguments: { item } }) =>
    item === "unicorn"
      ? { content: [{ type: "text", text: "not sold here" }], isError: true }
      : { content: [{ type: "text", text: "12.50 EUR" }] },
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = RESULTS[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: `no ${method}` } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
