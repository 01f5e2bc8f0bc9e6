// deep: months that leave to an archive
/** The store of a bucket, against a server that checks each signature as S3 does. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MissingFile } from '../../src/platform/archive/archive-store.ts'
import { openS3Store, type S3Settings } from '../../src/platform/archive/s3-store.ts'
import { startFakeS3, type FakeS3 } from './fake-s3.ts'

let bucket: FakeS3
let settings: S3Settings

before(async () => {
  bucket = await startFakeS3()
  settings = bucket.settings
})

after(() => {
  bucket.close()
})

test('files are stored, read, listed and removed', async () => {
  const store = openS3Store(settings)
  const path = join(await mkdtemp(join(tmpdir(), 'catraca-s3-')), 'file')
  await writeFile(path, Buffer.from([0, 1, 2, 250]))
  const names = ['a', 'b', 'c'].map((name) => `usage/2025-03-run/${name}.parquet`)
  for (const name of names) await store.put(name, path)
  assert.deepEqual(await store.list('usage/2025-03-run'), names)
  assert.deepEqual(await store.list('usage/2025-04-run'), [])
  const file = await store.take(names[0] as string, 4)
  assert.deepEqual(await readFile(file.path), await readFile(path))
  await file.release()
  await assert.rejects(readFile(file.path), { code: 'ENOENT' })
  await store.remove(names[0] as string)
  await assert.rejects(store.take(names[0] as string, 4), MissingFile)
  assert.deepEqual(await store.list('usage/2025-03-run'), names.slice(1))
})

test('a wrong secret is refused, and said so', async () => {
  const store = openS3Store({ ...settings, secretAccessKey: 'another' })
  await assert.rejects(store.take('usage/a', 4), /403 SignatureDoesNotMatch/)
})

test('a list that has names of other folders, or never ends, is refused', async () => {
  const store = openS3Store(settings)
  bucket.listsAll = true
  try {
    await assert.rejects(store.list('usage/2025-04-run'), /a list of folder\/usage\/2025-04-run\//)
    for (const name of ['d', 'e'])
      bucket.objects.set(`/bucket/folder/usage/2025-03-run/${name}.parquet`, Buffer.of(1))
    await assert.rejects(store.list('usage/2025-03-run'), /has .* after folder\/usage\/2025-03-run/)
  } finally {
    bucket.listsAll = false
  }
})

test('an answer that drips, or never ends, is cut', async () => {
  const store = openS3Store(settings)
  const path = join(await mkdtemp(join(tmpdir(), 'catraca-s3-')), 'file')
  await writeFile(path, 'whole')
  const name = 'usage/2025-05-run/a'
  await store.put(name, path)
  try {
    bucket.more = 'drips'
    const hasty = openS3Store(settings, { timeoutMs: 300 })
    await assert.rejects(hasty.take(name, 1_000), { name: /Timeout/ })
    await assert.rejects(hasty.list('usage/2025-05-run'), { name: /Timeout/ })

    bucket.more = 'floods'
    const file = await store.take(name, 5)
    const { size } = await stat(file.path)
    assert.ok(size > 5 && size < 1_000_000, `${size}`)
    await file.release()
    await assert.rejects(store.list('usage/2025-05-run'), /is too long/)
    const stranger = openS3Store({ ...settings, secretAccessKey: 'another' })
    await assert.rejects(
      stranger.take(name, 5),
      ({ message }: Error) => /403 SignatureDoesNotMatch/.test(message) && message.length < 500,
    )
  } finally {
    bucket.more = undefined
  }
})
