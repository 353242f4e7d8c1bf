/** The migration that stores why calls have no price, and of how many calls a sum is. */
export const PRICE_REASONS = `
-- Why the cost of a call is unknown, or a lower bound: NoPrice in model/price-list.ts. NULL in a row without a price: not known.
-- unpriced_calls: of a sum with some priced calls, end and partial cost of the others, as JSON
ALTER TABLE model_calls ADD COLUMN no_price TEXT;
-- Of a sum over several calls: their number; NULL: not reported. In the view, a sum without it is one record in sums_told
ALTER TABLE model_calls ADD COLUMN covered_calls INTEGER;
ALTER TABLE packed_usage ADD COLUMN no_price TEXT;
ALTER TABLE packed_usage ADD COLUMN unpriced_calls TEXT;
-- The tier of such calls was not stored, only that the public prices do not apply. Quotes inside texts are escaped
UPDATE model_calls SET body = replace(body, '"noListPrice":true', '"tier":"unknown"') WHERE instr(body, '"noListPrice":true') > 0;
UPDATE entries SET body = replace(body, '"noListPrice":true', '"tier":"unknown"') WHERE instr(body, '"noListPrice":true') > 0;
UPDATE positions SET memo = replace(memo, '"hasOtherPrice":true', '"tier":"unknown"') WHERE instr(memo, '"hasOtherPrice":true') > 0;
DROP VIEW usage;
CREATE VIEW usage AS
  SELECT session, end_ms AS time_ms, model, subagent,
    coalesce(covered_calls, json_extract(body, '$.covers') IS NULL) AS calls,
    covered_calls IS NULL AND json_extract(body, '$.covers') IS NOT NULL AS sums_told,
    coalesce(covered_calls, 1) * (input IS NULL OR output IS NULL) AS without_usage,
    coalesce(covered_calls, 1) * (cost_nano_usd IS NULL OR no_price IS NOT NULL) AS unpriced,
    coalesce(covered_calls, 1) * (complete = 0) AS incomplete, input, output, cache_read, cache_write,
    json_extract(body, '$.usage.cacheWrite5m') AS cache_write_5m,
    json_extract(body, '$.usage.cacheWrite1h') AS cache_write_1h,
    json_extract(body, '$.usage.reasoning') AS reasoning, cost_nano_usd,
    max(0, end_ms - json_extract(body, '$.startMs')) AS duration_ms, no_price
  FROM model_calls
  UNION ALL SELECT session, time_ms, model, subagent, calls, sums_told, without_usage, unpriced, incomplete,
    input, output, cache_read, cache_write, cache_write_5m, cache_write_1h, reasoning, cost_nano_usd, duration_ms, no_price
  FROM packed_usage;
`;
