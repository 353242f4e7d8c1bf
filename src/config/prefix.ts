/** What our own variables begin with. */
export const PREFIX = "OPENHOOK_OTEL_";
