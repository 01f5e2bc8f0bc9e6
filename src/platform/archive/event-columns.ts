/**
 * The columns of `usage_events`, in the order of the table, and their types here and in files. Whole numbers stay whole
 * numbers, times have their microseconds, and JSON is the database's own text: what is read back hashes to the same.
 */
import { sql, type RawBuilder } from 'kysely'

interface EventColumn {
  readonly name: string
  readonly type: string
  readonly fileType: string
  /** The conversion from and to text that the file has. */
  readonly isJson?: true
}

const uuid = { type: 'uuid', fileType: 'uuid' }
const text = { type: 'text', fileType: 'varchar' }
const int4 = { type: 'int4', fileType: 'integer' }
const int8 = { type: 'int8', fileType: 'bigint' }
const bool = { type: 'bool', fileType: 'boolean' }
const time = { type: 'timestamptz', fileType: 'timestamptz' }
const json = { type: 'jsonb', fileType: 'varchar', isJson: true } as const

export const SESSION_COLUMN = 'session_id'

export const EVENT_COLUMNS: readonly EventColumn[] = Object.entries({
  id: uuid,
  customer_id: uuid,
  api_key_id: uuid,
  request_id: uuid,
  // Sealed in files.
  session_id: { type: 'text', fileType: 'blob' },
  model_id: text,
  upstream_id: text,
  is_stream: bool,
  outcome: { type: 'call_outcome', fileType: 'varchar' },
  reason: text,
  usage_kind: { type: 'usage_kind', fileType: 'varchar' },
  prompt_tokens: int4,
  cached_tokens: int4,
  cache_write_tokens: int4,
  completion_tokens: int4,
  reasoning_tokens: int4,
  held_nano_brl: int8,
  cost_upstream_pico_usd: int8,
  cost_billed_nano_brl: int8,
  price_id: int4,
  fx_rate_id: int4,
  fx_rate_e4: int4,
  markup_e4: int4,
  first_byte_ms: int4,
  duration_ms: int4,
  created_at: time,
  settled_at: time,
  units: json,
  attempts: json,
  team_id: uuid,
  corrects_id: uuid,
  in_budget: bool,
  in_cap: bool,
  in_caps: { type: 'int2', fileType: 'smallint' },
  held_price_id: int4,
}).map(([name, types]) => ({ name, ...types }))

/**
 * Selects event `e` as a line of JSON without its session, which stands beside it: the form in which rows are written
 * to files.
 */
export const EVENT_LINE: RawBuilder<string> = sql`(select row_to_json(r)::text from (select ${sql.join(
  EVENT_COLUMNS.filter(({ name }) => name !== SESSION_COLUMN).map(({ name, isJson }) =>
    isJson
      ? sql`${sql.ref(`e.${name}`)}::text as ${sql.ref(name)}`
      : sql`${sql.ref(`e.${name}`)} as ${sql.ref(name)}`,
  ),
)}) r)`

/** Returns the rows of `usage_events` that are in these lines of JSON. Without lines it has no rows. */
export function eventsIn(lines: readonly string[]): RawBuilder<unknown> {
  const columns = EVENT_COLUMNS.map(
    ({ name, type, isJson }) => sql`${sql.ref(name)} ${sql.raw(isJson ? 'text' : type)}`,
  )
  const values = EVENT_COLUMNS.map(({ name, isJson }) =>
    isJson ? sql`${sql.ref(name)}::jsonb as ${sql.ref(name)}` : sql.ref(name),
  )
  return sql`(select ${sql.join(values)}
    from json_to_recordset(${`[${lines.join(',')}]`}::json) as lines(${sql.join(columns)}))`
}
