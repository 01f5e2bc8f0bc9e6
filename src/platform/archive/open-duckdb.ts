/** DuckDB in this process, loaded at its first use: an installation without an archive needs neither its files nor its memory. */
import { createRequire } from 'node:module'
import type * as NodeApi from '@duckdb/node-api'

export interface DuckDb {
  run(statement: string): Promise<void>
  rows(statement: string): Promise<Value[][]>
  /** Rows as they are read, some thousands at once. */
  stream(statement: string): AsyncIterable<Value[][]>
  close(): void
}

export type Value = string | number | bigint | boolean | null

export class DuckDbMissing extends Error {}

/** Beyond it DuckDB sorts in `tempDir`. */
const MEMORY_MAX = '384MB'

/** Opens a database in memory. It reads and writes local files only, and loads no extension. */
export async function openDuckDb(tempDir: string): Promise<DuckDb> {
  const { DuckDBInstance } = await load()
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: MEMORY_MAX,
    threads: '1',
    temp_directory: tempDir,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await connection.run(`set timezone = 'UTC'`)
  return {
    async run(statement) {
      await connection.run(statement)
    },
    async rows(statement) {
      return (await connection.runAndReadAll(statement)).getRowsJS() as Value[][]
    },
    async *stream(statement) {
      const result = await connection.stream(statement)
      for await (const rows of result.yieldRowsJs()) yield rows as Value[][]
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

export function isDuckDbInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('@duckdb/node-api')
    return true
  } catch {
    return false
  }
}

async function load(): Promise<typeof NodeApi> {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw new DuckDbMissing(
      'the optional package @duckdb/node-api is not installed for this platform: run npm ci without --omit=optional',
      { cause: error },
    )
  }
}

/** A text as a literal of SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
