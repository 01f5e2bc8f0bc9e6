/** The rows of a customer can be found without reading anybody else's, as docs/cells.md needs it. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

/** Tables of customers whose column leads to the customer through no foreign key. */
const BY_COLUMN: Readonly<Record<string, string>> = {
  // A user has the e-mail address of its customer.
  sign_in_users: 'email',
  customers: 'id',
  // A key or a team.
  archived_spends: 'subject_id',
}

interface Table {
  readonly columns: readonly string[]
  readonly references: readonly string[]
}

async function readSchema(): Promise<Map<string, Table>> {
  const schema = await readFile(
    new URL('../../src/platform/db/schema.sql', import.meta.url),
    'utf8',
  )
  return new Map(
    Array.from(
      schema.matchAll(/^create (?:unlogged )?table (\w+) \(\n(.*?)\n\)/gms),
      ([, name = '', body = '']) => [
        name,
        {
          columns: Array.from(body.matchAll(/^ {2}(\w+) /gm), ([, column = '']) => column),
          references: Array.from(body.matchAll(/ REFERENCES (\w+)/g), ([, table = '']) => table),
        },
      ],
    ),
  )
}

async function readClasses(): Promise<Record<'customer' | 'cell' | 'everywhere', string[]>> {
  const text = await readFile(new URL('../../docs/cells.md', import.meta.url), 'utf8')
  const namesOf = (start: string): string[] => {
    const row = text.split('\n').find((line) => line.startsWith(`| ${start}: `)) ?? ''
    return Array.from(row.matchAll(/`(\w+)`/g), ([, name = '']) => name)
  }
  return {
    customer: namesOf('customer'),
    cell: namesOf('cell'),
    everywhere: namesOf('everywhere'),
  }
}

test('every table belongs to a customer, to a cell or to all cells', async () => {
  const schema = await readSchema()
  const classes = await readClasses()
  assert.ok(schema.size > 70)
  assert.deepEqual(Object.values(classes).flat().sort(), [...schema.keys()].sort())
})

test('every row of a customer leads to its customer', async () => {
  const schema = await readSchema()
  const { customer } = await readClasses()
  const leads = (name: string, seen: readonly string[] = []): boolean => {
    const table = schema.get(name)
    if (!table || seen.includes(name) || !customer.includes(name)) return false
    if (table.columns.includes('customer_id')) return true
    if (table.columns.includes(BY_COLUMN[name] ?? '-')) return true
    return table.references.some((other) => leads(other, [...seen, name]))
  }
  assert.deepEqual(
    customer.filter((name) => !leads(name)),
    [],
  )
})

test('requests for a hold and for its outcome name their customer', async () => {
  const types = await readFile(
    new URL('../../src/money/ledger/sql/types.sql', import.meta.url),
    'utf8',
  )
  for (const type of ['ledger_attempt', 'ledger_resolution']) {
    const [, fields = ''] = new RegExp(`create type ${type} as \\((.*?)\\);`, 's').exec(types) ?? []
    assert.match(fields, /\bcustomer_id uuid\b/, type)
  }
})
