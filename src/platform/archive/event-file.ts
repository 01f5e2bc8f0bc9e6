/** One Parquet file of usage events: its writer, and what is read from it. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EVENT_COLUMNS, SESSION_COLUMN } from './event-columns.ts'
import { literal, type DuckDb } from './open-duckdb.ts'

/** Small groups: those of other customers are skipped when one is read. */
const ROW_GROUP = 20_480

/** An event as `EVENT_LINE` has it, with its sealed session. */
export interface EventLine {
  readonly line: string
  readonly session: Buffer | null
}

/** Writes lines as a sorted file; the lines wait in `dir` meanwhile, not in memory. */
export async function writeEventFile(
  duckDb: DuckDb,
  dir: string,
  lines: AsyncIterable<readonly EventLine[]>,
): Promise<string> {
  const linesPath = join(dir, 'events.ndjson')
  const path = join(dir, 'events.parquet')
  await pipeline(Readable.from(textOf(lines)), createWriteStream(linesPath))
  const types = EVENT_COLUMNS.map(({ name }) => `${name}: 'varchar'`).join(', ')
  const columns = EVENT_COLUMNS.map(({ name, fileType }) =>
    name === SESSION_COLUMN ? `unhex(${name}) as ${name}` : `${name}::${fileType} as ${name}`,
  ).join(', ')
  await duckDb.run(`
    copy (
      select ${columns} from read_json(${literal(linesPath)}, format = 'newline_delimited', columns = {${types}})
      order by customer_id, created_at, id
    ) to ${literal(path)} (format parquet, compression zstd, row_group_size ${ROW_GROUP})`)
  return path
}

async function* textOf(batches: AsyncIterable<readonly EventLine[]>): AsyncGenerator<string> {
  for await (const lines of batches) {
    if (lines.length === 0) continue
    yield lines
      .map(({ line, session }) =>
        session
          ? `${line.slice(0, -1)},"${SESSION_COLUMN}":"${session.toString('hex')}"}\n`
          : `${line}\n`,
      )
      .join('')
  }
}

/** The rows of files as lines of JSON without their session. */
export const FILE_LINE = `to_json({${EVENT_COLUMNS.filter(({ name }) => name !== SESSION_COLUMN)
  .map(({ name, fileType }) => `${name}: ${fileType === 'timestamptz' ? `${name}::varchar` : name}`)
  .join(', ')}})::varchar`

export function filesOf(paths: readonly string[]): string {
  // DuckDB would read a path as a pattern, and a folder such as `customer_id=1` as a column.
  const exact = paths.map((path) => literal(path.replaceAll(/[*?[]/g, '[$&]')))
  return `read_parquet([${exact.join(', ')}], hive_partitioning = false)`
}

export interface FileDigest {
  readonly bytes: number
  readonly sha256: Buffer
}

export async function digestFile(path: string): Promise<FileDigest> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { bytes: (await stat(path)).size, sha256: hash.digest() }
}

/** The sums of one account over a file. */
export interface AccountSums {
  readonly customerId: string
  readonly events: string
  readonly billedNanoBrl: string
  readonly costPicoUsd: string
}

export async function sumAccounts(duckDb: DuckDb, path: string): Promise<AccountSums[]> {
  const rows = await duckDb.rows(`
    select customer_id::varchar, count(*)::varchar, sum(cost_billed_nano_brl)::varchar,
      sum(cost_upstream_pico_usd)::varchar
    from ${filesOf([path])} group by 1 order by 1`)
  return rows.map(([customerId, events, billed, cost]) => ({
    customerId: String(customerId),
    events: String(events),
    billedNanoBrl: String(billed),
    costPicoUsd: String(cost),
  }))
}

export function hashAccounts(sums: readonly AccountSums[]): Buffer {
  const hash = createHash('sha256')
  for (const { customerId, events, billedNanoBrl, costPicoUsd } of sums)
    hash.update(`${customerId}|${events}|${billedNanoBrl}|${costPicoUsd}\n`)
  return hash.digest()
}
