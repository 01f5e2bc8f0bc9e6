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

/** The page names the tables that stay; every other one is of a customer, and moves. */
async function readClasses(): Promise<Record<'cell' | 'everywhere', string[]>> {
  const text = await readFile(new URL('../../docs/cells.md', import.meta.url), 'utf8')
  const namesOf = (start: string): string[] => {
    const row = text.split('\n').find((line) => line.startsWith(`| ${start}: `)) ?? ''
    return Array.from(row.matchAll(/`(\w+)`/g), ([, name = '']) => name)
  }
  return {
    cell: namesOf('cell'),
    everywhere: namesOf('everywhere'),
  }
}

test('the tables of a cell and of all cells are there, each in one class', async () => {
  const schema = await readSchema()
  const { cell, everywhere } = await readClasses()
  assert.ok(cell.length > 20 && everywhere.length > 5)
  const named = [...cell, ...everywhere]
  assert.equal(new Set(named).size, named.length)
  assert.deepEqual(
    named.filter((name) => !schema.has(name)),
    [],
  )
})

test('every row of any other table leads to its customer', async () => {
  const schema = await readSchema()
  const { cell, everywhere } = await readClasses()
  const customer = [...schema.keys()].filter(
    (name) => !cell.includes(name) && !everywhere.includes(name),
  )
  assert.ok(customer.length > 50)
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
