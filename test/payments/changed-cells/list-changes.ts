/**
 * What a superuser could change in a table, read from the catalog, so that a new column is tried, too: each cell of a few
 * rows, in several ways by its type, each of these rows deleted, and a forged copy of each inserted.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../../src/platform/db/open.ts'

export interface Change {
  readonly table: string
  /** `*` for a deleted or forged row. */
  readonly column: string
  /** `+1`, `null`, `another id`, … */
  readonly how: string
  readonly row: Readonly<Record<string, unknown>>
  readonly statement: RawBuilder<unknown>
}

interface Column {
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly isUnique: boolean
  /** The other words that a check or an enumeration allows. */
  readonly words: readonly string[]
}

/** Tables of the product, without the months of `usage_events`. */
export async function listTables(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select t.table_name as name from information_schema.tables t
    join pg_class c on c.oid = format('public.%I', t.table_name)::regclass and not c.relispartition
    where t.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1`.execute(db)
  return rows.map(({ name }) => name)
}

async function listColumns(db: Database, table: string): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select c.column_name as name, c.data_type as type, c.is_nullable = 'YES' as "isNullable",
      exists (select from pg_index i where i.indrelid = a.attrelid and i.indisunique and a.attnum = any (i.indkey))
        as "isUnique",
      coalesce(
        (select array_agg(enumlabel::text order by enumsortorder) from pg_enum where enumtypid = a.atttypid),
        (select array_agg(distinct word[1]) from pg_constraint k
          cross join regexp_matches(pg_get_constraintdef(k.oid), '''([a-z_]+)''::text', 'g') as word
          where k.conrelid = a.attrelid and k.contype = 'c' and k.conkey = array[a.attnum]
            and pg_get_constraintdef(k.oid) not like '%~%'),
        '{}') as words
    from information_schema.columns c
    join pg_attribute a on a.attrelid = format('public.%I', c.table_name)::regclass and a.attname = c.column_name
    where c.table_schema = 'public' and c.table_name = ${table} order by c.ordinal_position`.execute(
    db,
  )
  return rows
}

/** One row of each kind and state, at most `rowsMax`. */
export async function listChanges(db: Database, table: string, rowsMax: number): Promise<Change[]> {
  const columns = await listColumns(db, table)
  const kinds = columns.filter(({ name, words }) => words.length > 0 || KINDS.has(name))
  const { rows } = await sql<{ place: string; row: Record<string, unknown> }>`
    select place, row from (
      select distinct on (${sql.join([sql`1::int`, ...kinds.map(({ name }) => sql.ref(`t.${name}`))])})
        format('%s %s', t.tableoid, t.ctid) as place, to_jsonb(t) as row
      from ${sql.table(table)} t
    ) one order by md5(row::text) limit ${rowsMax}`.execute(db)
  return rows.flatMap(({ place, row }) => {
    const [tableId, at] = place.split(' ') as [string, string]
    const isIt = sql`${sql.table(table)}.tableoid = ${tableId}::oid and ${sql.table(table)}.ctid = ${at}::tid`
    const of = (column: string, how: string, statement: RawBuilder<unknown>): Change => ({
      table,
      column,
      how,
      row,
      statement,
    })
    return [
      ...columns.flatMap((column) =>
        waysToChange(table, column, row).map(([how, value]) =>
          of(
            column.name,
            how,
            sql`update ${sql.table(table)} set ${sql.ref(column.name)} = ${value}
              where ${isIt} and ${sql.ref(column.name)} is distinct from ${value}`,
          ),
        ),
      ),
      of('*', 'deleted', sql`delete from ${sql.table(table)} where ${isIt}`),
      of('*', 'forged', forge(table, columns, isIt)),
    ]
  })
}

/** Beside those of a few words. */
const KINDS = new Set(['reason', 'action', 'deleted_at'])

type Way = readonly [how: string, value: RawBuilder<unknown>]

function waysToChange(table: string, column: Column, row: Change['row']): Way[] {
  const { name, type, words, isNullable } = column
  const cell = sql.ref(name)
  const value = row[name]
  const toNull: Way[] = isNullable && value !== null ? [['null', sql`null`]] : []
  if (words.length > 0)
    return [
      ...toNull,
      ...words
        .filter((word) => word !== value)
        .map((word): Way => [word, type === 'text' ? sql`${word}::text` : sql.lit(word)]),
    ]
  const another = sql`coalesce((select o.${cell} from ${sql.table(table)} o
    where o.${cell} <> ${sql.table(table)}.${cell} order by 1 limit 1), gen_random_uuid())`
  switch (type) {
    case 'bigint':
    case 'integer':
    case 'smallint':
    case 'numeric':
      return [
        ...toNull,
        ['+1', sql`coalesce(${cell}, 0) + 1`],
        ...(value === null || value === 0 ? [] : [['x10', sql`${cell} * 10`] as Way]),
      ]
    case 'boolean':
      return [...toNull, ['not', sql`not coalesce(${cell}, false)`]]
    case 'uuid':
      return [...toNull, ['another id', another]]
    case 'timestamp with time zone':
    case 'date': {
      const by = type === 'date' ? sql`1` : sql`interval '1 hour'`
      return value === null || JSON.stringify(value).includes('infinity')
        ? [['set', sql`now()`]]
        : [...toNull, ['later', sql`${cell} + ${by}`], ['earlier', sql`${cell} - ${by}`]]
    }
    case 'bytea':
      return [...toNull, ['another', sql`sha256(coalesce(${cell}, ''))`]]
    case 'jsonb':
      return [
        ...toNull,
        ['another', sql`coalesce(regexp_replace(${cell}::text, '[1-8]', '9'), '{"x": 1}')::jsonb`],
      ]
    case 'ARRAY':
      return [...toNull, ['empty', sql`'{}'`]]
    default:
      return [...toNull, ['another text', sql`coalesce(${cell}, '') || 'x'`]]
  }
}

/** A copy with other ids where they must be unique. */
function forge(
  table: string,
  columns: readonly Column[],
  isIt: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const values = columns.map(({ name, type, isUnique, words }) => {
    const cell = sql.ref(name)
    if (!isUnique || words.length > 0 || name === 'processor' || name === 'reason') return cell
    switch (type) {
      case 'uuid':
        return sql`gen_random_uuid()`
      case 'bigint':
      case 'integer':
        return sql`${cell} + 1000`
      case 'timestamp with time zone':
        return sql`${cell} - interval '1 hour'`
      case 'date':
        return sql`(${cell} - interval '1 month')::date`
      case 'bytea':
        return sql`sha256(${cell})`
      case 'boolean':
        return cell
      default:
        return sql`${cell} || 'x'`
    }
  })
  return sql`insert into ${sql.table(table)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
    overriding system value select ${sql.join(values)} from ${sql.table(table)} where ${isIt}`
}
