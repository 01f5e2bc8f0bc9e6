import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from '../../harness/fast-check.ts'
import { openDeliveryNotes } from '../../../src/money/ledger/deliveries/delivery-notes.ts'
import { NOTE_BYTES, readNotes } from '../../../src/money/ledger/deliveries/note-format.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { recordEvents } from '../spool/spool-rows.ts'

const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'catraca-notes-'))

async function openNotes(dir: string) {
  const { log, events } = recordEvents()
  return { notes: await openDeliveryNotes({ dir, nodeId: createId(), log }), events }
}

test('the files have every noted answer, in order, with its amount', async () => {
  const amount = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const some = fc.array(fc.tuple(fc.uuid(), amount), { maxLength: 5_000, size: 'max' })
  await fc.assert(
    fc.asyncProperty(some, async (given) => {
      const dir = await folder()
      const { notes, events } = await openNotes(dir)
      for (const [holdId, billed] of given) notes.note(holdId, billed)
      await notes.close()
      assert.equal(notes.lostCount, 0)
      assert.deepEqual(events, [])
      const names = await readdir(dir)
      const read =
        names.length === 0 ? [] : readNotes(await readFile(join(dir, names[0] as string))).notes
      assert.deepEqual(
        read.map(({ holdId, deliveredNanoBrl }) => [holdId, deliveredNanoBrl]),
        given,
      )
      assert.ok(names.every((name) => name.endsWith('.done')))
    }),
    { numRuns: 20 },
  )
})

test('a file that is truncated or damaged anywhere loses only the notes at that place', async () => {
  const dir = await folder()
  const { notes } = await openNotes(dir)
  const ids = Array.from({ length: 5 }, () => createId())
  for (const id of ids) notes.note(id, 7n)
  await notes.close()
  const [name] = await readdir(dir)
  const bytes = await readFile(join(dir, name as string))
  for (let at = 0; at < bytes.length; at++) {
    const whole = Math.floor(at / NOTE_BYTES)
    const cut = readNotes(bytes.subarray(0, at))
    assert.deepEqual(
      cut.notes.map(({ holdId }) => holdId),
      ids.slice(0, whole),
    )
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] as number) ^ 1
    const read = readNotes(damaged)
    assert.deepEqual(
      read.notes.map(({ holdId }) => holdId),
      ids.toSpliced(whole, 1),
    )
    assert.equal(read.badCount, 1)
  }
})

test('when the disk fails, later notes are still written, and lost notes are counted and raise an alarm', async () => {
  const dir = await folder()
  const { notes, events } = await openNotes(dir)
  await rm(dir, { recursive: true })
  for (let count = 0; count < 10; count++) notes.note(createId(), 1n)
  await notes.flush()
  assert.equal(notes.lostCount, 10)
  assert.ok(events.includes('delivery_notes_lost'))
  const again = await openNotes(dir)
  await again.notes.close()
  const id = createId()
  notes.note(id, 5n)
  await notes.close()
  const [name] = await readdir(dir)
  assert.deepEqual(readNotes(await readFile(join(dir, name as string))).notes, [
    { holdId: id, deliveredNanoBrl: 5n },
  ])
})
