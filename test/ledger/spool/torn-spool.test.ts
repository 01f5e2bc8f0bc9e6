// deep: generated faults of a disk
import assert from 'node:assert/strict'
import { copyFile, mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from '../../harness/fast-check.ts'
import type { ResolutionRow } from '../../../src/money/ledger/resolution.ts'
import { openSpool } from '../../../src/money/ledger/spool/spool.ts'
import { frameRow } from '../../../src/money/ledger/spool/record-frames.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { effort, seedOr } from '../../harness/effort.ts'
import { createFailingDisk } from './failing-disk.ts'
import { recordEvents, spoolFolder, testRow } from './spool-rows.ts'

/** Does not wait for the syncs. */
const { disk } = createFailingDisk(() => 0)

/** No process has this pid. */
const DEAD = '999999999.1'

test('a file that is truncated at any byte replays the records before, and keeps records that are appended later', async () => {
  const { path, rows, ends } = await writtenSpool(3)
  const whole = await readFile(path)
  const firstByte = ends.at(-2) as number
  for (let size = firstByte; size <= whole.length; size++) {
    const dir = await spoolFolder()
    const copy = join(dir, `${DEAD}-${createId()}.0.spool`)
    await copyFile(path, copy)
    await truncate(copy, size)
    const before = await replayed(dir, { append: [testRow()] })
    const kept = ends.filter((end) => end <= size).length
    assert.deepEqual(before.rows.slice(0, kept), rows.slice(0, kept), `cut at ${size}`)
    assert.equal(before.rows.length, kept + 1, `cut at ${size}`)
    assert.equal(before.setAsideCount, 0, 'what was never acknowledged is no bad record')
    assert.deepEqual(await readdir(dir), [], 'nothing is left')
  }
})

test('among any garbage, each complete record is replayed, and the rest is set aside', async () => {
  const { path, rows, ends } = await writtenSpool(6)
  const whole = await readFile(path)
  const wholePlaces = Array.from(whole, (_, place) => place)
  const damage = fc.record({
    at: fc.nat(whole.length - 1),
    removed: fc.nat(40),
    inserted: fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      // Resembles a record.
      fc.constantFrom('\x1e', '\n', `\x1e00000010`, '\x1effffffffffffffff{}\n', '{"id":"x"}\n'),
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (damages) => {
      // The place in the whole file of each byte that is left; damages may overlap.
      let places: (number | undefined)[] = wholePlaces
      let bytes: Buffer = whole
      for (const { at, removed, inserted } of damages) {
        const added = Buffer.from(inserted)
        const end = Math.min(bytes.length, at + removed)
        bytes = Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(end)])
        places = [
          ...places.slice(0, at),
          ...Array.from(added, () => undefined),
          ...places.slice(end),
        ]
      }
      // An insertion between two records damages neither.
      const isWhole = ends.map((stop, index) => {
        const start = ends[index - 1] ?? 0
        const first = places.indexOf(start)
        return (
          first >= 0 &&
          wholePlaces.slice(start, stop).every((place) => places[first + place - start] === place)
        )
      })
      const dir = await spoolFolder()
      await writeFile(join(dir, `${DEAD}-${createId()}.0.spool`), bytes)
      const { rows: got, events, setAsideCount } = await replayed(dir)
      const gotIds = new Set(got.map(({ id }) => id))
      rows.forEach(({ id }, index) => {
        if (isWhole[index]) assert.ok(gotIds.has(id), `record ${index} is replayed`)
      })
      for (const row of got)
        assert.deepEqual(
          row,
          rows.find(({ id }) => id === row.id),
        )
      const alarms = events.filter((event) => event === 'spool_record_unreadable').length
      assert.equal(alarms, setAsideCount > 0 ? 1 : 0, 'one alarm for the file')
      const inRecords = got.reduce((sum, row) => sum + Buffer.byteLength(frameRow(row)), 0)
      const left = bytes.length - inRecords - (await bytesSetAside(dir))
      if (!events.includes('spool_tail_cut')) assert.equal(left, 0, 'every byte is somewhere')
      assert.deepEqual(
        (await readdir(dir)).filter((name) => name !== 'set-aside'),
        [],
        'nothing waits behind a bad record',
      )
    }),
    { numRuns: effort({ ordinary: 60, full: 5_000 }), seed: seedOr(14) },
  )
})

test('a bad record is set aside on the disk, and the next process counts it too', async () => {
  const { path, rows } = await writtenSpool(3)
  const bytes = await readFile(path)
  const middle = bytes.indexOf(rows[1]?.id as string)
  bytes[middle] = (bytes[middle] as number) ^ 1
  const dir = await spoolFolder()
  await writeFile(join(dir, `${DEAD}-${createId()}.0.spool`), bytes)
  const first = await replayed(dir)
  assert.deepEqual(first.rows, [rows[0], rows[2]])
  assert.equal(first.setAsideCount, 1)
  assert.equal((await replayed(dir)).setAsideCount, 1)
  const [name] = await readdir(join(dir, 'set-aside'))
  const aside = await readFile(join(dir, 'set-aside', name as string), 'utf8')
  assert.ok(aside.includes(`"customer_id":"${rows[1]?.customer_id}"`))
})

async function bytesSetAside(dir: string): Promise<number> {
  const folder = join(dir, 'set-aside')
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A file of so many rows, and the position where each record ends. */
async function writtenSpool(
  count: number,
): Promise<{ path: string; rows: ResolutionRow[]; ends: number[] }> {
  const dir = await spoolFolder()
  const { log } = recordEvents()
  const spool = await openSpool({
    dir,
    nodeId: createId(),
    log,
    disk,
    replay: async () => 'unreachable',
  })
  const rows = Array.from({ length: count }, () => testRow())
  for (const row of rows) await spool.append(row)
  await spool.close()
  const [name] = await readdir(dir)
  const path = join(dir, name as string)
  const bytes = await readFile(path)
  const ends: number[] = []
  for (let at = bytes.indexOf('\n'); at >= 0; at = bytes.indexOf('\n', at + 1)) ends.push(at + 1)
  assert.equal(ends.length, count)
  return { path, rows, ends }
}

/** The rows that a new process on the folder replays. */
async function replayed(
  dir: string,
  { append = [] }: { append?: ResolutionRow[] } = {},
): Promise<{ rows: ResolutionRow[]; events: string[]; setAsideCount: number }> {
  const rows: ResolutionRow[] = []
  const { log, events } = recordEvents()
  await mkdir(dir, { recursive: true })
  const spool = await openSpool({
    dir,
    nodeId: createId(),
    log,
    disk,
    async replay(row) {
      rows.push(row)
      return 'taken'
    },
  })
  for (const row of append) await spool.append(row)
  await spool.replayAll()
  assert.equal(spool.length, 0)
  await spool.close()
  return { rows, events, setAsideCount: spool.setAsideCount }
}
