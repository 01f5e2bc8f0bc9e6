/**
 * `test/acceptance/specification.md` against the tests and against `/v1/openapi.json`: a row names a test that exists, and
 * no operation, query parameter or code of a refusal is without a row.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeRefusal } from './harness/make-refusal.ts'
import { refusals } from '../src/gateway/calls/refusal.ts'
import { startGateway } from './harness/gateway.ts'
import { operationsOf, readOpenApi, type Operation } from './harness/operations.ts'
import { testNames } from './harness/test-names.ts'

const root = join(import.meta.dirname, '..')

interface Row {
  readonly text: string
  readonly file: string
  /** As a template it has `…` for each value. */
  readonly name: string
  /** Of the table that the test goes through. */
  readonly entry: string | undefined
}

const gateway = await startGateway()
after(() => gateway.stop())
const rows = await readRows()
const texts = rows.map(({ text }) => text).join('\n')
const operations = [...operationsOf(await readOpenApi(gateway.node.baseUrl)).values()]

async function readRows(): Promise<Row[]> {
  const page = await readFile(join(root, 'test/acceptance/specification.md'), 'utf8')
  // The matrix of accesses is generated; `test/http/access.test.ts` compares it.
  const lines = (page.split('<!-- access matrix')[0] ?? '').split('\n')
  const cells = lines
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, first]) => first !== 'row' && !/^-+$/.test(first ?? ''))
  return cells.map((row) => {
    const [before, text = '', file = '', test = '', end, ...more] = row
    assert.deepEqual([before, end, more], ['', '', []], `three cells: ${row.join(' | ')}`)
    const [name = '', entry] = test.split(' › ')
    return { text, file, name, entry }
  })
}

/** A key of an object, or the first of a list, at the beginning of a line. */
function hasEntry(source: string, entry: string): boolean {
  const text = entry.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^\\s*(?:\\[\\s*(['"])${text}\\1,|(['"]?)${text}\\2:)`, 'm').test(source)
}

test('every row names a test that there is', async () => {
  assert.ok(rows.length > 250, `${rows.length} rows`)
  const sources = new Map<string, string>()
  for (const { file } of rows)
    sources.set(file, sources.get(file) ?? (await readFile(join(root, file), 'utf8')))
  const names = new Map([...sources].map(([file, source]) => [file, testNames(source)]))
  const lost = rows.filter(
    ({ file, name, entry }) =>
      !names.get(file)?.has(name) ||
      (entry !== undefined && !hasEntry(sources.get(file) as string, entry)),
  )
  assert.deepEqual(lost, [])
})

test('no row is empty, and none is there twice', () => {
  for (const row of rows)
    assert.ok(row.text && /\.(?:test|client)\.ts$/.test(row.file) && row.name, row.text)
  const seen = new Set<string>()
  const twice = rows.filter(({ text }) => seen.size === seen.add(text).size)
  assert.deepEqual(twice, [])
})

test('each complaint has a row; the fifteenth, of size, is measured by hand', () => {
  const listed = rows.flatMap(
    ({ text }) => /^(\d{1,2}(?:, \d{1,2})*): /.exec(text)?.[1]?.split(', ') ?? [],
  )
  const numbers = new Set(listed.map(Number))
  assert.deepEqual(
    [...numbers].sort((a, b) => a - b),
    Array.from({ length: 14 }, (_, index) => index + 1),
  )
})

test('every operation has a row', () => {
  const without = operations.filter(({ name }) => !texts.includes(`\`${name}\``))
  assert.deepEqual(
    without.map(({ name }) => name),
    [],
  )
})

/** As the description of an answer lists them, behind its words. */
function refusalsOf({ described }: Operation): string[] {
  return Object.entries(described.responses).flatMap(([status, { description }]) => {
    const codes = description.split('. ').at(-1) as string
    return Number(status) < 400 || codes.endsWith('.')
      ? []
      : codes.split(', ').map((code) => `${status} ${code}`)
  })
}

test('every refusal has a row, of every operation and of the proxy format', () => {
  const ofProxy = Object.entries(refusals).map((each) => {
    const { status, code } = makeRefusal(each)
    return `${status} ${code}`
  })
  const all = new Set([...operations.flatMap(refusalsOf), ...ofProxy])
  assert.ok(all.size > 30, [...all].join('\n'))
  assert.deepEqual(
    [...all].filter((refusal) => !texts.includes(`\`${refusal}\``)),
    [],
  )
})

test('every query parameter has a row, with its default and its bounds where it has them', () => {
  const without: string[] = []
  for (const { name, described } of operations) {
    for (const { in: place, name: field, schema } of described.parameters ?? []) {
      if (place !== 'query') continue
      const { minimum, maximum, default: byDefault } = schema
      const bounds = `default ${String(byDefault)}, ${minimum} to ${maximum}`
      const of = rows.filter(({ text }) => text.includes(`\`${name}?${field}\``))
      const areBoundsStated = minimum === undefined || of.some(({ text }) => text.includes(bounds))
      if (of.length === 0 || !areBoundsStated) without.push(`${name}?${field}: ${bounds}`)
    }
  }
  assert.deepEqual(without, [])
})
