// One span and one count as openhook-otel sends them, for tests of whether anything arrives

export const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

export const trace = (spanId = "00f067aa0ba902b7") => ({
  resourceSpans: [
    {
      resource: RESOURCE,
      scopeSpans: [
        {
          scope: { name: "openhook-otel" },
          spans: [
            {
              traceId: TRACE,
              spanId,
              name: "chat",
              kind: 3,
              startTimeUnixNano: nowNs(),
              endTimeUnixNano: nowNs(),
              attributes: attributes({ "gen_ai.usage.input_tokens": 24_873 }),
              status: {},
            },
          ],
        },
      ],
    },
  ],
});

export const metrics = () => ({
  resourceMetrics: [
    {
      resource: RESOURCE,
      scopeMetrics: [
        {
          scope: { name: "openhook-otel" },
          metrics: [
            {
              name: "openhook.token.usage",
              unit: "{token}",
              sum: {
                aggregationTemporality: 2,
                isMonotonic: true,
                dataPoints: [
                  {
                    startTimeUnixNano: `${Date.now() - 60_000}000000`,
                    timeUnixNano: nowNs(),
                    asInt: "24873",
                    attributes: attributes({ "openhook.token.type": "input" }),
                  },
                ],
              },
            },
          ],
        },
      ],
    },
  ],
});

// --- internal ---

const nowNs = (): string => `${Date.now()}000000`;

const attributes = (values: Readonly<Record<string, string | number>>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: `${value}` },
  }));

const RESOURCE = {
  attributes: attributes({
    "service.name": "claude-code",
    "service.namespace": "coding-agents",
    "service.instance.id": "machine-1",
  }),
};
