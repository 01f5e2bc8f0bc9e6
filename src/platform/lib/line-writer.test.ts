import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLineWriter } from './line-writer.ts'

async function openFile(): Promise<{ path: string; fd: number }> {
  const path = join(await mkdtemp(join(tmpdir(), 'catraca-lines-')), 'lines')
  return { path, fd: openSync(path, 'a') }
}

test('every line is there once and in order when the writer is closed, also those that come meanwhile', async () => {
  const { path, fd } = await openFile()
  const writer = createLineWriter(fd)
  const lines = Array.from({ length: 2_000 }, (_, index) => `{"place":${index}}`)
  for (const line of lines.slice(0, 1_500)) writer.write(line)
  const closing = writer.close()
  for (const line of lines.slice(1_500)) writer.write(line)
  await closing
  assert.equal(await readFile(path, 'utf8'), lines.map((line) => `${line}\n`).join(''))
  assert.equal(writer.lost, 0)
  closeSync(fd)
})

test('two writers of one file never mix their lines', async () => {
  const { path, fd } = await openFile()
  const writers = [createLineWriter(fd), createLineWriter(fd)]
  const lineOf = (writer: number, index: number): string =>
    `${writer} ${index} ${String(writer).repeat(150)}`
  for (let index = 0; index < 500; index++)
    for (const [number, writer] of writers.entries()) writer.write(lineOf(number, index))
  await Promise.all(writers.map((writer) => writer.close()))
  const written = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  for (const number of [0, 1])
    assert.deepEqual(
      written.filter((text) => text.startsWith(`${number} `)),
      Array.from({ length: 500 }, (_, index) => lineOf(number, index)),
    )
  closeSync(fd)
})

test('lines that the descriptor does not take, and lines beyond the memory for them, are counted', async () => {
  const full = openSync('/dev/full', 'w')
  const writer = createLineWriter(full)
  for (let index = 0; index < 100; index++) writer.write('a line')
  await writer.close()
  assert.equal(writer.lost, 100)
  const long = 'x'.repeat(4_000)
  for (let index = 0; index < 5_000; index++) writer.write(long)
  assert.ok(writer.lost > 100, 'the memory is not bounded')
  while (writer.lost < 5_100) await sleep(10)
  assert.equal(writer.lost, 5_100)
  closeSync(full)
})
