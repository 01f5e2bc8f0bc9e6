import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { findFreePort } from './find-free-port.ts'

test('a port that was given to one caller is given to no other, also of the same range', async () => {
  const mine = [await findFreePort(), await findFreePort()]
  // Another copy of the module, which searches from the same port on.
  const other = new Worker(
    `import { parentPort } from 'node:worker_threads'
    const { findFreePort } = await import(${JSON.stringify(import.meta.resolve('./find-free-port.ts'))})
    parentPort.postMessage([await findFreePort(), await findFreePort()])`,
    { eval: true },
  )
  const [theirs] = (await once(other, 'message')) as [number[]]
  await other.terminate()
  assert.equal(new Set([...mine, ...theirs]).size, 4)
})
