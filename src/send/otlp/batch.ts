/** Limits of one request. */
interface RequestBounds {
  readonly maxRecords: number;
  /** An estimate; the sender checks the real size. */
  readonly maxBytes: number;
}

/**
 * Splits rows into requests, in order, reading at most one row beyond a request. A row that exceeds `maxBytes` becomes a
 * separate request, because only its encoded size shows whether it is too large.
 *
 * @param rows read one by one, so that memory is needed for one request only, however long the outbox is
 * @param bytesOf estimate for one row
 */
export async function* intoRequests<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  bounds: RequestBounds,
  bytesOf: (row: Row) => number,
): AsyncGenerator<readonly [Row, ...Row[]], void, void> {
  let request: [Row, ...Row[]] | undefined;
  let bytes = 0;
  for await (const row of rows) {
    const rowBytes = bytesOf(row);
    if (request !== undefined && (request.length >= bounds.maxRecords || bytes + rowBytes > bounds.maxBytes)) {
      yield request;
      request = undefined;
      bytes = 0;
    }
    if (request === undefined) request = [row];
    else request.push(row);
    bytes += rowBytes;
  }
  if (request !== undefined) yield request;
}

/** Bytes of a record as JSON: close to a JSON request, and more than protobuf needs. */
export function estimatedBytes(record: unknown): number {
  return Buffer.byteLength(JSON.stringify(record));
}

/** Both halves of a request that was too large, in order; the first has the odd row. */
export function halves<Row>(request: readonly Row[]): readonly [readonly Row[], readonly Row[]] {
  const middle = Math.ceil(request.length / 2);
  return [request.slice(0, middle), request.slice(middle)];
}
